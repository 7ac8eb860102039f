"""The built program as a user meets it: help, refusals, exit codes, layers, outputs, invariances.

usage: command_line_test.py TALLELE SOURCE_FOLDER
"""

import filecmp
import gzip
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TALLELE, SOURCE = (os.path.abspath(p) for p in sys.argv[1:3])
del sys.argv[1:3]


def tallele(*arguments, env=None):
    return subprocess.run([TALLELE, *arguments], capture_output=True, text=True,
                          env={**os.environ, **(env or {})})


class WithCohort(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = cls.temporary.name
        done = tallele("simulate", "--out", cls.path("c"), "--people", "600", "--variants", "400",
                       "--array-variants", "50", "--quantitative", "3", "--binary", "0",
                       "--gapped-traits", "2", "--causal", "5", "--missing-calls", "0.02")
        assert done.returncode == 0, done.stderr

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder, name)

    def base(self, prefix, **changes):
        options = {"--bgen": self.path("c.bgen"), "--sample": self.path("c.sample"),
                   "--phenoFile": self.path("c_pheno.tsv"), "--pred": self.path("c_pred.list"),
                   "--covarFile": self.path("c_covar.tsv"), "--catCovarList": "batch",
                   "--out": self.path(prefix)}
        for name, value in changes.items():
            options["--" + name] = value
        return ["regenie"] + [w for k, v in options.items() if v is not None for w in (k, v)]

    def expect(self, code, words, *arguments):
        done = tallele(*arguments)
        text = done.stdout + done.stderr
        self.assertEqual(done.returncode, code, f"{arguments}\n{text}")
        for word in words:
            self.assertIn(word, text, f"{arguments}\n{text}")
        if code in (1, 2):
            errors = [line for line in done.stderr.splitlines() if line.startswith("Error: ")]
            self.assertEqual(len(errors), 1, done.stderr)
        return text


class Help(WithCohort):
    def test_help_answers_without_inputs(self):
        self.expect(0, ["regenie", "inspect", "simulate", "Exit codes"], "--help")
        text = self.expect(0, ["--bgen", "--minMAC", "[5]", "Predictions"], "regenie", "--help")
        self.assertLessEqual(max(map(len, text.splitlines())), 100)
        self.expect(0, ["--people"], "simulate", "--help")
        self.expect(0, ["--json"], "inspect", "--help")
        self.expect(0, ["tallele", "instruction set in use"], "--version")

    def test_the_reference_page_is_current(self):
        done = tallele("help", "--markdown")
        with open(os.path.join(SOURCE, "docs", "reference", "regenie-options.md")) as page:
            self.assertEqual(done.stdout, page.read(),
                             "run: tallele help --markdown > docs/reference/regenie-options.md")

    def test_the_instruction_set_can_be_forced(self):
        done = tallele("--version", env={"TALLELE_CPU_TARGET": "scalar"})
        self.assertIn("instruction set in use: scalar", done.stdout)
        self.assertEqual(tallele("--version", env={"TALLELE_CPU_TARGET": "sse9"}).returncode, 2)


class Refusals(WithCohort):
    def test_unknown_words_are_errors_with_a_suggestion(self):
        self.expect(2, ["unknown command"], "regeny")
        self.expect(2, ["--phenoFil", "--phenoFile"], *self.base("r"), "--phenoFil", "x")
        self.expect(2, ["belongs to no option"], *self.base("r"), "stray")
        self.expect(2, ["--peple", "--people"], "simulate", "--peple", "3")

    def test_options_of_regenie_that_are_not_here_are_refused_by_name(self):
        for option in ("--compute-all", "--pgen", "--t2e",
                       "--print-vcov", "--condition-list", "--interaction", "--set-list", "--loocv",
                       "--force-impute", "--apply-rerint", "--use-prs", "--nb", "--skip-dosage-comp",
                       "--t-test", "--extract-or", "--tpheno-file", "--vc-tests", "--compute-corr"):
            self.expect(2, [option], *self.base("r"), option)
        self.expect(2, ["step 1", "REGENIE"], *self.base("r"), "--step", "1")

    def test_options_of_binary_traits_need_binary_traits(self):
        for option in (["--firth"], ["--spa"], ["--cc12"], ["-1"], ["--pThresh", "0.01"],
                       ["--minCaseCount", "5"], ["--binary-fallback", "spa"], ["--af-cc"]):
            self.expect(2, [option[0], "--bt"], *self.base("r"), *option)

    def test_impossible_values_of_binary_options(self):
        for words, arguments in (
                (["--approx", "--firth"], ["--approx"]), (["--firth", "--spa"], ["--firth", "--spa"]),
                (["--pThresh"], ["--pThresh", "0"]), (["--pThresh"], ["--pThresh", "1"]),
                (["--firth-se"], ["--firth-se"]), (["--firth-se"], ["--firth-se", "--spa"]),
                (["--binary-fallback", "--firth"], ["--binary-fallback", "spa", "--firth"]),
                (["--skip-fast-firth"], ["--skip-fast-firth", "--firth"]),
                (["--htp", "--no-split"], ["--htp", "X", "--no-split"]),
                (["--exact-p"], ["--exact-p"]), (["--apply-rint"], ["--apply-rint"]),
                (["--no-split", "parquet"], ["--no-split", "--format", "parquet"])):
            self.expect(2, words, *self.base("r"), "--bt", *arguments)

    def test_keys_of_the_binary_solvers_that_mean_nothing_here_are_refused(self):
        for key in ("firth_batch_size", "firth_candidate_capacity", "binary_minimum_variance",
                    "binary_minimum_probability", "binary_null_coefficient_tolerance",
                    "binary_relative_variance_tolerance"):
            with open(self.path("k.toml"), "w") as file:
                file.write(f"[compute]\n{key} = 1\n")
            self.expect(2, [key, "Delete the line"], *self.base("r"), "--config",
                        self.path("k.toml"))

    def test_impossible_values_and_combinations(self):
        for words, arguments in (
                (["--minMAC"], ["--minMAC", "0.1"]), (["--minINFO"], ["--minINFO", "2"]),
                (["--threads"], ["--threads", "0"]), (["--bsize"], ["--bsize", "many"]),
                (["--ignore-pred"], ["--ignore-pred"]), (["--test"], ["--test", "both"]),
                (["--bed"], ["--bed", self.path("c_array")]),
                (["--keep", "--remove"], ["--keep", self.path("c.sample"), "--remove",
                                          self.path("c.sample")]),
                (["range"], ["--range", "1-2"]), (["--strict", "value"], ["--strict=false"]),
                (["--bsize", "100", "200"], ["--bsize", "100", "--bsize", "200"]),
                (["--gz", "--format"], ["--gz", "--format", "parquet"])):
            self.expect(2, words, *self.base("r"), *arguments)
        self.expect(2, ["--out"], *self.base("r", out=None))
        self.expect(2, ["--pred"], *self.base("r", pred=None))
        self.expect(2, ["--bgen"], *self.base("r", bgen=None, sample=None))
        self.expect(1, ["nowhere"], *self.base("r", bgen=self.path("nowhere.bgen")))
        self.assertFalse([n for n in os.listdir(self.folder) if n.startswith("r")])

    def test_a_damaged_genotype_file_is_named_with_the_byte(self):
        with open(self.path("c.bgen"), "rb") as whole, open(self.path("cut.bgen"), "wb") as cut:
            cut.write(whole.read()[:-1000])
        self.expect(1, ["cut.bgen", "byte"], *self.base("damaged", bgen=self.path("cut.bgen")))


class Layers(WithCohort):
    def toml(self, text, name="run.toml"):
        with open(self.path(name), "w") as file:
            file.write(text)
        return self.path(name)

    def test_errors_name_line_key_and_the_nearest_one(self):
        for words, text in (
                (["line 2", "input.bgn", "bgen"], '[input]\nbgn = "x"\n'),
                (["[inputs]", "input"], '[inputs]\nbgen = "x"\n'),
                (["trait.bsize", "integer"], '[trait]\nbsize = "big"\n'),
                (["firth_newton_raphson_zero_start_iterations", "removed"],
                 "[compute]\nfirth_newton_raphson_zero_start_iterations = 100\n"),
                (["jax_cache_dir"], '[compute]\njax_cache_dir = "x"\n'),
                (["gpu"], '[compute]\ndevice = "gpu"\n'),
                (["telemetry", "profile", "off"], '[diagnostics]\ntelemetry = "loud"\n'),
                (["input.bsize", "[trait]"], "[input]\nbsize = 3\n"),
                (["line 1"], "[input\n")):
            self.expect(2, words, *self.base("t"), "--config", self.toml(text))
        self.expect(1, ["nofile.toml", "No such file"], *self.base("t"), "--config",
                    self.path("nofile.toml"))

    def test_flags_win_over_toml_and_the_effective_file_repeats_the_run(self):
        config = self.toml(f'[input]\nbgen = "{self.path("c.bgen")}"\nsample = '
                           f'"{self.path("c.sample")}"\npheno_file = "{self.path("c_pheno.tsv")}"\n'
                           f'pheno_columns = ["QT1", "QT2"]\npred = "{self.path("c_pred.list")}"\n'
                           f'min_mac = 50\n[output]\nout = "{self.path("e")}"\nformat = "both"\n'
                           '[metadata]\nwho = "anyone"\n')
        self.expect(0, [], "regenie", "--config", config, "--phenoCol", "QT2", "--minMAC", "5")
        self.assertFalse(os.path.exists(self.path("e_QT1.regenie")))
        os.rename(self.path("e_QT2.regenie"), self.path("first.regenie"))
        with open(self.path("e.tallele/effective_config.toml")) as file:
            effective = file.read().replace(self.path("e"), self.path("again"))
        self.expect(0, [], "regenie", "--config", self.toml(effective, "effective.toml"))
        self.assertTrue(filecmp.cmp(self.path("first.regenie"), self.path("again_QT2.regenie"),
                                    shallow=False))


class Scans(WithCohort):
    def test_outputs_of_a_regenie_command_line(self):
        text = self.expect(0, ["lambda GC", "top hit", "QT3", "rows"], *self.base("s"), "--step", "2",
                           "--qt", "--bsize", "100", "--gz", "--write-samples", "--print-pheno")
        self.assertIn("people", text.lower())
        with gzip.open(self.path("s_QT1.regenie.gz"), "rt") as file:
            header = file.readline().split()
        self.assertEqual(header, "CHROM GENPOS ID ALLELE0 ALLELE1 A1FREQ INFO N TEST BETA SE CHISQ "
                                 "LOG10P EXTRA".split())
        with open(self.path("s_QT2.regenie.ids")) as file:
            ids = file.read()
        self.assertTrue(ids.startswith("QT2\tNA\n") and not ids.endswith("\n"))
        self.assertEqual(len(ids.splitlines()), 571)
        self.assertTrue(os.path.exists(self.path("s.log")))
        parts = os.listdir(self.path("s.tallele/trait_0001_QT1/parts"))
        self.assertEqual(len(parts), 5)
        self.assertFalse([p for p in parts if p.startswith(".")])
        self.expect(2, ["s.tallele", "--out"], *self.base("s"))

    def test_bytes_do_not_depend_on_how_the_work_is_done(self):
        reference = None
        for name, extra, env in (
                ("a", ["--threads", "1", "--bsize", "1"], {}),
                ("b", ["--threads", "2", "--bsize", "7"], {}),
                ("d", ["--threads", "4"], {}),
                ("f", ["--phenoColList", "QT2"], {}),
                ("g", [], {"TALLELE_CPU_TARGET": "scalar"})):
            done = tallele(*self.base("i" + name), "--format", "both", "--quiet", *extra, env=env)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout, "")
            with open(self.path(f"i{name}_QT2.regenie"), "rb") as file:
                content = file.read()
            reference = reference or content
            self.assertEqual(content, reference, name)

    def test_a_text_only_run_tells_what_it_replaces_and_can_be_repeated(self):
        arguments = [*self.base("w"), "--format", "regenie", "--phenoCol", "QT1"]
        self.assertNotIn("is replaced", self.expect(0, [], *arguments))
        self.expect(0, ["w_QT1.regenie", "is replaced"], *arguments)
        self.assertFalse(os.path.exists(self.path("w.tallele")))
        os.rename(self.path("w_QT1.regenie"), self.path("w_first.regenie"))
        self.expect(0, [], "regenie", "--config", self.path("w.effective_config.toml"))
        self.assertTrue(filecmp.cmp(self.path("w_first.regenie"), self.path("w_QT1.regenie"),
                                    shallow=False))

    def test_column_lists_ranges_and_repeats(self):
        for k, extra in enumerate((["--phenoCol", "QT1", "--phenoCol", "QT3"],
                                   ["--phenoColList", "QT1, QT3"],
                                   ["--phenoColList", "QT{1:3}", "--phenoExcludeList", "QT2"])):
            self.expect(0, [], *self.base(f"l{k}"), "--format", "regenie", *extra)
            self.assertTrue(os.path.exists(self.path(f"l{k}_QT3.regenie")))
            self.assertFalse(os.path.exists(self.path(f"l{k}_QT2.regenie")))

    def test_values_that_look_like_switches(self):
        self.expect(0, [], *self.base("v1"), "--missing-code", "-1", "--format", "regenie")
        self.expect(0, [], *self.base("v2"), "--gz=false", "--format", "regenie")
        self.assertTrue(os.path.exists(self.path("v2_QT1.regenie")))
        self.assertFalse(os.path.exists(self.path("v2_QT1.regenie.gz")))

    def test_gzip_in_a_configuration_brings_text_files(self):
        with open(self.path("gzip.toml"), "w") as file:
            file.write("[output]\ngzip = true\n")
        self.expect(0, [], *self.base("y"), "--config", self.path("gzip.toml"))
        self.assertTrue(os.path.exists(self.path("y_QT1.regenie.gz")))

    def test_a_trait_without_predictions_is_partial(self):
        with open(self.path("two.list"), "w") as file:
            for k in (1, 2):
                file.write(f"QT{k} {self.path(f'c_{k}.loco')}\n")
        self.expect(3, ["QT3"], *self.base("p", pred=self.path("two.list")), "--format", "regenie")
        self.assertTrue(os.path.exists(self.path("p_QT1.regenie")))

    def test_a_full_disk_fails_and_leaves_no_result(self):
        limit = "ulimit -f 4; " + " ".join(
            [TALLELE, *self.base("full"), "--format", "regenie", "--minMAC", "0.5"])
        done = subprocess.run(["bash", "-c", "trap '' XFSZ; " + limit], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertFalse(os.path.exists(self.path("full_QT1.regenie")))

    def test_inspect(self):
        shown = json.loads(self.expect(0, [], "inspect", self.path("c.bgen"), "--json"))
        self.assertEqual((shown["samples"], shown["variants"], shown["bits"]), (600, 400, [8]))
        self.assertEqual(list(shown["chromosomes"]), ["1", "2", "3", "4", "5"])
        self.expect(0, ["PLINK", "hard calls", "600"], "inspect", self.path("c_array"))
        self.expect(1, ["not a BGEN"], "inspect", self.path("c_pheno.tsv"))


class Interruption(WithCohort):
    def test_sigterm_stops_with_143_and_no_text_file(self):
        done = tallele("simulate", "--out", self.path("big"), "--people", "20000", "--variants",
                       "6000", "--array-variants", "0", "--quantitative", "1", "--binary", "0")
        self.assertEqual(done.returncode, 0, done.stderr)
        command = [TALLELE, "regenie", "--bgen", self.path("big.bgen"), "--phenoFile",
                   self.path("big_pheno.tsv"), "--ignore-pred", "--threads", "1", "--bsize", "1",
                   "--format", "regenie", "--out", self.path("stopped")]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env={**os.environ, "TALLELE_CPU_TARGET": "scalar"})
        while not os.path.exists(self.path("stopped.log")) and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        process.communicate()
        self.assertEqual(process.returncode, 143)
        self.assertFalse(os.path.exists(self.path("stopped_QT1.regenie")))


if __name__ == "__main__":
    unittest.main()
