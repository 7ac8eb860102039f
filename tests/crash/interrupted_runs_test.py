"""Runs of the built program that are stopped by real signals, and the commands around them: resume,
overwrite, check-run and batch. Expected results come from an uninterrupted run.

usage: interrupted_runs_test.py TALLELE
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TALLELE = os.path.abspath(sys.argv[1])
del sys.argv[1]
SLOW = {**os.environ, "TALLELE_CPU_TARGET": "scalar"}


class WithCohort(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = cls.temporary.name
        cls.run_tool("simulate", "--out", cls.path("c"), "--people", "2500", "--variants", "6600",
                     "--chromosomes", "22", "--array-variants", "0", "--quantitative", "3",
                     "--binary", "0", "--gapped-traits", "3", "--causal", "5")
        cls.run_tool(*cls.arguments("reference"))
        cls.reference = cls.results("reference")

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder, name)

    @classmethod
    def run_tool(cls, *words, code=0, env=None):
        done = subprocess.run([TALLELE, *words], capture_output=True, text=True, env=env)
        assert done.returncode == code, f"{words}\n{done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    @classmethod
    def arguments(cls, out, *more):
        return ["regenie", "--bgen", cls.path("c.bgen"), "--sample", cls.path("c.sample"),
                "--phenoFile", cls.path("c_pheno.tsv"), "--pred", cls.path("c_pred.list"),
                "--covarFile", cls.path("c_covar.tsv"), "--catCovarList", "batch", "--format",
                "both", "--write-samples", "--out", cls.path(out), *more]

    @classmethod
    def results(cls, out):
        found = {}
        for root, _, files in os.walk(cls.path(out + ".tallele")):
            for name in files:
                if name.endswith(".parquet") and not name.startswith("."):
                    path = os.path.join(root, name)
                    with open(path, "rb") as file:
                        found[os.path.relpath(path, cls.path(out + ".tallele"))] = file.read()
        for k in (1, 2, 3):
            for end in (".regenie", ".regenie.ids"):
                with open(cls.path(f"{out}_QT{k}{end}"), "rb") as file:
                    found[f"QT{k}{end}"] = file.read()
        return found

    def start(self, *words):
        return subprocess.Popen([TALLELE, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, env=SLOW)

    def wait_for_parts(self, out, count, process):
        folder = self.path(out + ".tallele/trait_0003_QT3/parts")
        while process.poll() is None:
            if os.path.isdir(folder) and len([n for n in os.listdir(folder) if n[0] != "."]) >= count:
                return
            time.sleep(0.002)


class Kills(WithCohort):
    def test_a42_sigkill_at_random_times(self):
        chance = random.Random(5)
        kills = 0
        for trial in range(12):
            out = f"k{trial}"
            more = []
            for _ in range(chance.randint(1, 3)):
                process = self.start(*self.arguments(out, "--threads", str(chance.randint(1, 2)),
                                                     "--bsize", str(chance.randint(1, 40)), *more))
                time.sleep(chance.uniform(0.02, 0.8))
                process.kill()
                process.communicate()
                kills += process.returncode == -signal.SIGKILL
                if os.path.exists(self.path(out + ".tallele")):
                    more = ["--resume"]
            self.run_tool(*self.arguments(out, *more))
            self.assertEqual(self.results(out).keys(), self.reference.keys())
            self.assertTrue(self.results(out) == self.reference, out)
            self.run_tool("check-run", self.path(out + ".tallele"))
            shutil.rmtree(self.path(out + ".tallele"))
        print(f"{kills} real kills in 12 trials")
        self.assertGreater(kills, 6)

    def stop(self, out, number):
        process = self.start(*self.arguments(out, "--threads", "1", "--bsize", "1"))
        self.wait_for_parts(out, 2, process)
        begin = time.time()
        process.send_signal(number)
        _, errors = process.communicate()
        self.assertLess(time.time() - begin, 10)
        return process.returncode, errors

    def test_a48_signals_commit_tell_how_to_resume_and_exit_with_their_code(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            out = f"s{code}"
            returned, errors = self.stop(out, number)
            self.assertEqual(returned, code, errors)
            self.assertIn("resume with: tallele regenie", errors)
            with open(self.path(out + ".tallele/trait_0001_QT1/run_manifest.json")) as file:
                manifest = json.load(file)
            self.assertEqual(manifest["run"]["status"], "interrupted")
            self.assertEqual(manifest["run"]["signal"], int(number))
            self.assertGreaterEqual(len(manifest["parts"]), 2)
            self.run_tool("check-run", self.path(out + ".tallele"), code=3)
            command = errors.split("resume with: tallele ")[1].splitlines()[0].split()
            self.assertIn("From earlier attempts", self.run_tool(*command))
            self.assertTrue(self.results(out) == self.reference)
            self.assertIn("finished already", self.run_tool(*command))

    def test_a48_a_second_signal_stops_at_once_without_harm(self):
        process = self.start(*self.arguments("twice", "--threads", "1", "--bsize", "1"))
        self.wait_for_parts("twice", 1, process)
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGTERM)
        process.communicate()
        self.assertIn(process.returncode, (-signal.SIGTERM, 143))
        self.run_tool(*self.arguments("twice", "--resume"))
        self.assertTrue(self.results("twice") == self.reference)

    def test_two_processes_on_one_folder(self):
        process = self.start(*self.arguments("both", "--threads", "1", "--bsize", "1"))
        self.wait_for_parts("both", 1, process)
        for how in ("--resume", "--overwrite"):
            text = self.run_tool(*self.arguments("both", how), code=2)
            self.assertIn("another run works in this folder", text)
        process.kill()
        process.communicate()
        self.run_tool(*self.arguments("both", "--resume"))
        self.assertTrue(self.results("both") == self.reference)


class DryRuns(WithCohort):
    def test_a_dry_run_forecasts_and_writes_nothing(self):
        before = sorted(os.listdir(self.folder))
        text = self.run_tool(*self.arguments("dry", "--dry-run"))
        self.assertIn("chromosome 22: 300 variants", text)
        self.assertIn("MB of memory", text)
        self.assertEqual(sorted(os.listdir(self.folder)), before)
        self.run_tool(*self.arguments("dry", "--dry-run", "--covarCol", "batch,nothing"),
                      code=1)


class BinaryTraits(unittest.TestCase):
    def test_a42_binary_traits_resume_with_their_columns_text_and_counts(self):
        with tempfile.TemporaryDirectory() as folder:
            path = lambda name: os.path.join(folder, name)
            WithCohort.run_tool("simulate", "--out", path("b"), "--people", "1500", "--variants",
                                "1500", "--chromosomes", "15", "--array-variants", "0",
                                "--quantitative", "0", "--binary", "2", "--gapped-traits", "2")
            words = ["regenie", "--bt", "--firth", "--approx", "--af-cc", "--bgen", path("b.bgen"),
                     "--sample", path("b.sample"), "--phenoFile", path("b_pheno.tsv"), "--pred",
                     path("b_pred.list"), "--threads", "1", "--bsize", "2", "--format", "both"]
            whole = WithCohort.run_tool(*words, "--out", path("whole"))
            process = subprocess.Popen([TALLELE, *words, "--out", path("cut")], env=SLOW,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            parts = path("cut.tallele/trait_0001_BT1/parts")
            while process.poll() is None and not (os.path.isdir(parts) and len(os.listdir(parts)) > 4):
                time.sleep(0.002)
            process.kill()
            process.wait()
            text = WithCohort.run_tool("regenie", *words[1:], "--out", path("cut"), "--resume",
                                       "--pThresh", "0.01", code=2)
            self.assertIn("p_threshold", text)
            cut = WithCohort.run_tool(*words, "--out", path("cut"), "--resume")
            for k in (1, 2):
                with open(path(f"whole_BT{k}.regenie")) as a, open(path(f"cut_BT{k}.regenie")) as b:
                    self.assertEqual(a.read(), b.read())
                for name in os.listdir(path(f"whole.tallele/trait_000{k}_BT{k}/parts")):
                    with open(path(f"whole.tallele/trait_000{k}_BT{k}/parts/{name}"), "rb") as a, \
                            open(path(f"cut.tallele/trait_000{k}_BT{k}/parts/{name}"), "rb") as b:
                        self.assertEqual(a.read(), b.read())
            corrected = lambda text: [l for l in text.splitlines() if " corrected (" in l]
            self.assertTrue(corrected(whole))
            self.assertEqual(corrected(whole), corrected(cut))

    def test_a42_tables_with_htp_of_binary_traits_resume_after_a_real_kill(self):
        with tempfile.TemporaryDirectory() as folder:
            path = lambda name: os.path.join(folder, name)
            WithCohort.run_tool("simulate", "--out", path("b"), "--people", "1500", "--variants",
                                "1500", "--chromosomes", "15", "--array-variants", "0",
                                "--quantitative", "0", "--binary", "2", "--gapped-traits", "2")
            words = ["regenie", "--bt", "--firth", "--approx", "--htp", "X", "--gz", "--bgen",
                     path("b.bgen"), "--sample", path("b.sample"), "--phenoFile",
                     path("b_pheno.tsv"), "--pred", path("b_pred.list"), "--threads", "1",
                     "--bsize", "2", "--format", "both"]
            WithCohort.run_tool(*words, "--out", path("whole"))
            process = subprocess.Popen([TALLELE, *words, "--out", path("cut")], env=SLOW,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            parts = path("cut.tallele/trait_0001_BT1/parts")
            while process.poll() is None and not (os.path.isdir(parts) and len(os.listdir(parts)) > 4):
                time.sleep(0.002)
            process.kill()
            process.wait()
            self.assertIn("From earlier attempts",
                          WithCohort.run_tool(*words, "--out", path("cut"), "--resume"))
            for k in (1, 2):
                with open(path(f"whole_BT{k}.regenie.gz"), "rb") as a, \
                        open(path(f"cut_BT{k}.regenie.gz"), "rb") as b:
                    self.assertEqual(a.read(), b.read())
            self.assertFalse(os.path.exists(path("cut.tallele/trait_0001_BT1/text")))
            WithCohort.run_tool("check-run", path("cut.tallele"))
            self.assertIn("finished already",
                          WithCohort.run_tool(*words, "--out", path("cut"), "--resume"))


class Folders(WithCohort):
    def test_a41_a43_a45_refusals_and_finished_runs(self):
        text = self.run_tool(*self.arguments("reference"), code=2)
        self.assertIn("--resume", text)
        text = self.run_tool(*self.arguments("reference", "--resume", "--minMAC", "6"), code=2)
        self.assertIn("min_mac", text)
        self.assertIn("'6'", text)
        self.run_tool(*self.arguments("reference", "--resume", "--overwrite"), code=2)
        begin = time.time()
        self.assertIn("finished already", self.run_tool(*self.arguments("reference", "--resume")))
        self.assertLess(time.time() - begin, 1)

    def test_a46_check_run_lists_what_is_wrong(self):
        self.run_tool(*self.arguments("checked"))
        folder = self.path("checked.tallele/trait_0002_QT2/parts")
        parts = sorted(os.listdir(folder))
        os.remove(os.path.join(folder, parts[0]))
        with open(os.path.join(folder, parts[1]), "r+b") as file:
            file.seek(50)
            file.write(b"!")
        text = self.run_tool("check-run", self.path("checked.tallele"), code=1)
        self.assertIn(parts[0], text)
        self.assertIn(parts[1], text)
        self.assertIn("2 problems", text)
        self.run_tool("check-run", self.path("checked.tallele/trait_0001_QT1"))
        self.run_tool("check-run", self.path("nowhere"), code=1)
        self.run_tool("check-run", code=2)


class Errors(WithCohort):
    def test_a59_errors_are_one_line_with_their_place_and_code_and_leave_nothing(self):
        damaged = self.path("damaged.bgen")
        with open(self.path("c.bgen"), "rb") as whole, open(damaged, "wb") as cut:
            cut.write(whole.read()[:5000])
        with open(self.path("bad.tsv"), "w") as file:
            file.write("FID IID QT1\n1 1\n")
        with open(self.path("bad.toml"), "w") as file:
            file.write("[input]\ncolour = 1\n")
        with open(self.path("inner.toml"), "w") as file:
            file.write(f'[output]\noutput_run_directory = "{self.path("inner")}"\n')
        os.mkdir(self.path("inner"))
        before = sorted(os.listdir(self.folder))
        cases = (
            (1, "nowhere.tsv", ["--phenoFile", self.path("nowhere.tsv")]),
            (1, "bad.tsv", ["--phenoFile", self.path("bad.tsv")]),
            (1, "damaged.bgen", ["--bgen", damaged]),
            (1, "no_such_column", ["--covarColList", "batch,no_such_column"]),
            (1, "no/such/folder", ["--out", self.path("no/such/folder/x")]),
            (2, "colour", ["--config", self.path("bad.toml")]),
            (2, "--minMAC", ["--minMAC", "-3"]),
            (2, "inside the run directory",
             ["--out", self.path("inner/x"), "--config", self.path("inner.toml")]),
        )
        for code, words, change in cases:
            arguments = self.arguments("failed")
            if change[0] in arguments:
                at = arguments.index(change[0])
                arguments[at:at + 2] = []
            done = subprocess.run([TALLELE, *arguments, *change], capture_output=True, text=True)
            errors = [line for line in done.stderr.splitlines() if line.startswith("Error: ")]
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertEqual(len(errors), 1, done.stderr)
            self.assertEqual(done.stderr.splitlines()[-1], errors[0])
            self.assertIn(words, errors[0])
            self.assertEqual(sorted(os.listdir(self.folder)), before, change)


class Memory(unittest.TestCase):
    # Blocks of genotypes are the only large things in memory, and their number does not grow with
    # the file: ten times the variants must not show. Decoded, they would be 144 MB more.
    def test_a55_peak_memory_does_not_grow_with_the_genotype_file(self):
        people = 20000
        with tempfile.TemporaryDirectory() as folder:
            peaks = []
            for variants in (400, 4000):
                prefix = os.path.join(folder, f"v{variants}")
                WithCohort.run_tool("simulate", "--out", prefix, "--people", str(people),
                                    "--variants", str(variants), "--chromosomes", "2",
                                    "--array-variants", "0", "--quantitative", "1", "--binary", "0")
                words = [TALLELE, "regenie", "--bgen", prefix + ".bgen", "--sample",
                         prefix + ".sample", "--phenoFile", prefix + "_pheno.tsv", "--ignore-pred",
                         "--out", prefix + "_r", "--threads", "2", "--bsize", "32"]
                # A sanitizer holds freed memory back, which is not the program's.
                options = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"
                process = subprocess.Popen(words, stdout=subprocess.DEVNULL,
                                           env={**os.environ, "ASAN_OPTIONS": options})
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
                self.assertEqual(process.returncode, 0)
                peaks.append(usage.ru_maxrss * 1024)
            growth = peaks[1] - peaks[0]
            print(f"peak memory {peaks[0] >> 20} MB for 400 variants, {peaks[1] >> 20} MB for 4000")
            self.assertLess(growth, 0.2 * (4000 - 400) * people * 2)


class TelemetryModes(WithCohort):
    def test_a57_a58_modes_write_the_same_results(self):
        for mode in ("off", "progress", "profile"):
            out = "t_" + mode
            self.run_tool(*self.arguments(out, "--telemetry", mode))
            self.assertTrue(self.results(out) == self.reference, mode)
            logs = self.path(out + ".tallele/logs")
            self.assertEqual(os.path.exists(logs), mode != "off")
            if mode == "off":
                self.run_tool("profile-report", self.path(out + ".tallele"), code=1)
                continue
            with open(os.path.join(logs, "events.jsonl")) as file:
                text = file.read()
            events = [json.loads(line) for line in text.splitlines()]
            names = [event["event"] for event in events]
            self.assertEqual(names[0], "run_started")
            self.assertEqual(names[-2:], ["run_finished", "log_closed"])
            self.assertEqual(names.count("chromosome_started"), 22)
            self.assertEqual(names.count("chromosome_finished"), 22)
            with open(self.path("c.sample")) as file:
                people = [line.split()[1] for line in file.readlines()[2:]]
            self.assertFalse([p for p in people if f'"{p}"' in text])
            self.assertEqual(os.path.exists(os.path.join(logs, "profile.json")), mode == "profile")
        report = self.run_tool("profile-report", self.path("t_profile.tallele"))
        self.assertIn("products and tests", report)
        text_only = self.arguments("x", "--telemetry", "profile")
        text_only[text_only.index("both")] = "regenie"
        self.run_tool(*text_only, code=2)


class Batches(WithCohort):
    def config(self, name, out, extra="", folder=None):
        with open(self.path(name), "w") as file:
            run_folder = f'output_run_directory = "{folder}"\n' if folder else ""
            file.write(f'[input]\nbgen = "{self.path("c.bgen")}"\nsample = "{self.path("c.sample")}"\n'
                       f'pheno_file = "{self.path("c_pheno.tsv")}"\npheno_columns = ["QT1"]\n'
                       f'ignore_pred = true\n[output]\nout = "{out}"\n{run_folder}{extra}')
        return ["--config", self.path(name)]

    def test_a49_order_and_stop_at_the_first_failure(self):
        damaged = self.path("cut.bgen")
        with open(self.path("c.bgen"), "rb") as whole, open(damaged, "wb") as cut:
            cut.write(whole.read()[:-1000])
        first = self.config("1.toml", self.path("b1"))
        second = self.config("2.toml", self.path("b2"))
        with open(self.path("2.toml")) as file:
            text = file.read().replace(self.path("c.bgen"), damaged)
        with open(self.path("2.toml"), "w") as file:
            file.write(text)
        third = self.config("3.toml", self.path("b3"))
        self.assertIn("not started", self.run_tool("batch", *first, *second, *third, code=1))
        self.assertTrue(os.path.exists(self.path("b1.tallele/trait_0001_QT1/run_manifest.json")))
        self.assertFalse(os.path.exists(self.path("b3.tallele")))
        fourth = self.config("4.toml", self.path("b4"))
        text = self.run_tool("batch", *third, *fourth)
        self.assertLess(text.index("Run 1 of 2"), text.index("Run 2 of 2"))
        a, b = (self.path(f"{out}.tallele/trait_0001_QT1/parts") for out in ("b3", "b4"))
        self.assertEqual(subprocess.run(["diff", "-rq", a, b]).returncode, 0)

    def test_a49_everything_is_checked_before_anything_starts(self):
        first = self.config("g.toml", self.path("g1"))
        os.symlink(self.folder, self.path("alias"))
        for words, other in (
                ("one place", self.config("h0.toml", self.path("g1"))),
                ("one place", self.config("h1.toml", self.path("alias/g1"))),
                ("one place", self.config("h2.toml", self.path("missing/../g1"))),
                ("one place", self.config("h3.toml", self.path("h1"),
                                          folder=self.path("g1.tallele/inside"))),
                ("cpu_threads", self.config("h4.toml", self.path("h1"),
                                            "[compute]\ncpu_threads = 999\n")),
                ("unknown key", self.config("h5.toml", self.path("h1"), "colour = 1\n")),
                ("nowhere", ["--config", self.path("nowhere.toml")])):
            text = self.run_tool("batch", *first, *other, code=1 if words == "nowhere" else 2)
            self.assertIn(words, text)
        self.run_tool("batch", code=2)
        self.run_tool("batch", *first, "--minMAC", "5", code=2)
        self.assertFalse([n for n in os.listdir(self.folder) if n.startswith(("g1", "h1.tallele"))])


if __name__ == "__main__":
    unittest.main()
