"""Packages and predictions as a user meets them, with the model of upstream: import, check, predict,
export, and what is refused.

usage: dietnet_model_test.py TALLELE SOURCE_FOLDER
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile

TALLELE, SOURCE = (os.path.abspath(p) for p in sys.argv[1:3])
del sys.argv[1:3]
SHARED = os.environ.get("TALLELE_SHARED", os.path.join(SOURCE, "..", "shared"))
MODEL = os.path.join(SHARED, "fixtures", "dietnet", "bn24-d")


def dietnet(*arguments):
    return subprocess.run([TALLELE, "dietnet", *arguments], capture_output=True, text=True)


@unittest.skipUnless(os.path.isdir(MODEL), "no shared fixtures")
class WithModel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = cls.temporary.name
        done = dietnet("import-package", "--checkpoint", cls.model("best_model.pt"), "--embedding",
                       cls.model("embedding_fold0.npz"), "--stats",
                       cls.model("input_stats_fold0.npz"), "--seed", "78", "--dataset",
                       cls.model("dataset.hdf5"), "--partition", cls.model("partition.npz"),
                       "--out", cls.path("packages"))
        assert done.returncode == 0, done.stderr

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @staticmethod
    def model(name):
        return os.path.join(MODEL, name)

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder, name)

    def predict(self, out, *more):
        return dietnet("predict", "--model", self.path("packages"), "--dataset",
                       self.model("dataset.hdf5"), "--out", self.path(out), *more)

    def table(self, name):
        with open(self.path(name)) as file:
            lines = [line.rstrip("\n").split("\t") for line in file]
        return [dict(zip(lines[0], line)) for line in lines[1:]]

    def test_check_has_upstreams_accuracy_and_its_bounds_decide_the_exit_code(self):
        check = ["check", "--packages", self.path("packages"), "--dataset",
                 self.model("dataset.hdf5")]
        done = dietnet(*check, "--min-accuracy", "0.82", "--max-accuracy", "0.83")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("383 of 465", done.stdout)
        self.assertEqual(dietnet(*check, "--min-accuracy", "0.9").returncode, 1)
        # import-package was told the dataset, so check finds it.
        self.assertIn("383 of 465", dietnet("check", "--packages", self.path("packages")).stdout)

    def test_predictions_and_their_check(self):
        done = self.predict("p.tsv", "--per-model", "--min-probability", "0.5")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = self.table("p.tsv")
        self.assertEqual(len(rows), 2322)
        for row in rows:
            low = float(row["max_probability"]) < 0.5
            self.assertEqual(row["predicted_class"] == "unassigned", low)
            self.assertEqual(row["seed_78_fold_0"], row["vote_class"])
        with open(self.path("labels.tsv"), "w") as file:
            file.write("sample\tlabel\n")
            file.writelines(f"{row['IID']}\t{row['vote_class']}\n" for row in rows)
        self.predict("all.tsv")
        done = dietnet("check", "--predictions", self.path("all.tsv"), "--labels",
                       self.path("labels.tsv"), "--partition-file", self.model("partition.npz"),
                       "--fold", "0", "--min-accuracy", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("465 of 465", done.stdout)

    def study(self, name, *more, packages="packages", code=0):
        done = dietnet("missing-study", "--packages", self.path(packages), "--dataset",
                       self.model("dataset.hdf5"), "--out", self.path(name + ".tsv"), "--details",
                       self.path(name + "_details.tsv"), *more)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stderr

    def test_absent_snps_cost_what_they_cost_upstream(self):
        """Accuracy of this model in PyTorch, mean and sd over 20 random sets of absent SNPs. Two
        means of 20 differ by less than 3 sd * sqrt(2 / 20)."""
        upstream = {"0.1": (.819, .010), "0.5": (.714, .020), "0.8": (.552, .018),
                    "0.9": (.446, .022), "0.95": (.379, .021), "0.99": (.218, .018)}
        self.study("study", "--fractions", ",".join(upstream), "--seed", "7")
        ours = {row["missing"]: float(row["accuracy"]) for row in self.table("study.tsv")}
        self.assertEqual(list(ours), ["0", *upstream])
        self.assertAlmostEqual(ours["0"], 383 / 465, places=12)
        for fraction, (mean, sd) in upstream.items():
            self.assertAlmostEqual(ours[fraction], mean, delta=3 * sd * (2 / 20) ** 0.5)
        rows = self.table("study_details.tsv")
        self.assertEqual(len(rows), 1 + 6 * 20)
        for row in rows:
            left = round(5000 * (1 - float(row["missing"])))
            self.assertEqual(int(row["snps_left"]), left)
            self.assertAlmostEqual(float(row["scale"]), 5000 / left, places=12)

    def test_a_study_of_absent_snps_does_not_depend_on_threads_and_other_models(self):
        same = ["--fractions", "0.25,0.9", "--repeats", "3"]
        self.study("one", *same, "--threads", "1")
        self.study("two", *same, "--threads", "2")
        for name in ("{}.tsv", "{}_details.tsv"):
            with open(self.path(name.format("one"))) as one, \
                    open(self.path(name.format("two"))) as two:
                self.assertEqual(one.read(), two.read())
        for seed in ("78", "79"):
            done = dietnet("import-package", "--checkpoint", self.model("best_model.pt"),
                           "--embedding", self.model("embedding_fold0.npz"), "--stats",
                           self.model("input_stats_fold0.npz"), "--seed", seed, "--dataset",
                           self.model("dataset.hdf5"), "--partition", self.model("partition.npz"),
                           "--out", self.path("pair"))
            self.assertEqual(done.returncode, 0, done.stderr)
        self.study("pair", *same, packages="pair")
        alone = self.table("one_details.tsv")
        both = self.table("pair_details.tsv")
        for seed in ("78", "79"):
            rows = [row for row in both if row["model"] == f"seed_{seed}_fold_0"]
            for row in rows:
                row["model"] = "seed_78_fold_0"
            self.assertEqual(rows, alone)

    def test_what_a_study_of_absent_snps_refuses(self):
        self.assertIn("between 0 and 1", self.study("x", "--fractions", "0.5,1", code=2))
        self.assertIn("'a half'", self.study("x", "--fractions", "a half", code=2))
        self.assertIn("repeat", self.study("x", "--repeats", "0", code=2))
        self.assertIn("--partition", self.study("x", "--set", "train", code=2))
        self.assertFalse(os.path.exists(self.path("x.tsv")))

    def test_threads_do_not_change_a_byte(self):
        texts = []
        for threads in ("1", "2"):
            self.assertEqual(self.predict("t.tsv", "--threads", threads).returncode, 0)
            with open(self.path("t.tsv"), "rb") as file:
                texts.append(file.read())
        self.assertEqual(texts[0], texts[1])

    def test_parquet_has_the_values_of_the_table(self):
        try:
            import pyarrow.parquet as parquet
        except ImportError:
            self.skipTest("pyarrow is not installed")
        self.assertEqual(self.predict("q.tsv", "--parquet", self.path("q.parquet")).returncode, 0)
        table = parquet.read_table(self.path("q.parquet")).to_pydict()
        rows = self.table("q.tsv")
        self.assertEqual(list(table), list(rows[0]))
        self.assertEqual(table["IID"], [row["IID"] for row in rows])
        for name in ("prob_YRI", "entropy"):
            for exact, text in zip(table[name], rows):
                self.assertAlmostEqual(exact, float(text[name]), delta=1e-5 * abs(exact) + 1e-12)

    def test_a_killed_run_leaves_no_table_and_continues(self):
        command = [TALLELE, "dietnet", "predict", "--model", self.path("packages"), "--dataset",
                   self.model("dataset.hdf5"), "--out", self.path("k.tsv")]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.2)
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.assertEqual(subprocess.run(command, capture_output=True).returncode, 0)
        self.assertEqual(self.predict("whole.tsv").returncode, 0)
        with open(self.path("k.tsv"), "rb") as one, open(self.path("whole.tsv"), "rb") as other:
            self.assertEqual(one.read(), other.read())
        self.assertFalse(os.path.exists(self.path("k.tsv.parts")))

    def test_inspect_describes_packages_and_datasets_as_json(self):
        """Numbers of the fixture's README; names of people must not be among them."""
        done = dietnet("inspect", "--json", self.path("packages"))
        self.assertEqual(done.returncode, 0, done.stderr)
        about = json.loads(done.stdout)
        self.assertEqual((about["kind"], len(about["classes"])), ("packages", 24))
        (model,) = about["models"]
        self.assertEqual((model["seed"], model["fold"], model["epoch"]), (78, 0, 300))
        self.assertEqual((model["snps"], model["dataset_people"]), (5000, 2322))
        self.assertEqual((model["test_people"], model["has_alleles"]), (465, False))
        self.assertIn("WITHOUT alleles", dietnet("inspect", self.path("packages")).stdout)
        about = json.loads(dietnet("inspect", "--json", self.model("dataset.hdf5")).stdout)
        self.assertEqual((about["kind"], about["people"], about["snps"]), ("dataset", 2322, 5000))
        self.assertEqual(sum(item["people"] for item in about["classes"]), 2322)
        self.assertNotIn("samples", about)

    def test_export_goes_back_in(self):
        done = dietnet("export-package", "--model", self.path("packages"), "--out",
                       self.path("export"))
        self.assertEqual(done.returncode, 0, done.stderr)
        done = dietnet("import-package", "--wrapper", self.path("export"), "--out",
                       self.path("again"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(os.listdir(self.path("again"))), 2)

    def test_alleles_beside_the_dataset_are_taken(self):
        dataset = self.path("dataset.h5")
        os.symlink(self.model("dataset.hdf5"), dataset)
        done = dietnet("import-package", "--checkpoint", self.model("best_model.pt"), "--embedding",
                       self.model("embedding_fold0.npz"), "--stats",
                       self.model("input_stats_fold0.npz"), "--dataset", dataset, "--out",
                       self.path("bare"))
        self.assertIn("without alleles", done.stdout)
        with open(dataset + ".bim", "w") as file:
            file.writelines(f"1\t{name}\t0\t{i + 1}\tA\tG\n"
                            for i, name in enumerate(self.snp_names()))
        done = dietnet("import-package", "--checkpoint", self.model("best_model.pt"), "--embedding",
                       self.model("embedding_fold0.npz"), "--stats",
                       self.model("input_stats_fold0.npz"), "--dataset", dataset, "--out",
                       self.path("with_alleles"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("without alleles", done.stdout)

    def write_cohort(self, name, genotypes, samples):
        """A fileset of the model's SNPs with A1 and A2 swapped at every second one."""
        import numpy

        lines, rows = [], []
        for j in range(genotypes.shape[1]):
            copies = genotypes[:, j].astype(int)
            swapped = j % 2 == 1
            alleles = ("G", "A") if swapped else ("A", "G")
            lines.append(f"2\trs{j}\t0\t{j + 1}\t{alleles[0]}\t{alleles[1]}\n")
            first = numpy.where(copies < 0, -1, 2 - copies if swapped else copies)
            codes = numpy.choose(first + 1, [1, 3, 2, 0])  # missing, 0, 1, 2 copies of A1
            codes = numpy.pad(codes, (0, -len(codes) % 4)).reshape(-1, 4)
            rows.append((codes << [0, 2, 4, 6]).sum(axis=1).astype("uint8").tobytes())
        with open(self.path(name + ".bed"), "wb") as file:
            file.write(b"\x6c\x1b\x01" + b"".join(rows))
        with open(self.path(name + ".bim"), "w") as file:
            file.writelines(lines)
        with open(self.path(name + ".fam"), "w") as file:
            file.writelines(f"0 {name} 0 0 0 -9\n" for name in samples)

    def import_with_letters(self):
        with open(self.path("training.bim"), "w") as file:
            file.writelines(f"chr2\trs{j}\t0\t{j + 1}\tA\tG\n" for j in range(5000))
        done = dietnet("import-package", "--checkpoint", self.model("best_model.pt"), "--embedding",
                       self.model("embedding_fold0.npz"), "--stats",
                       self.model("input_stats_fold0.npz"), "--bim", self.path("training.bim"),
                       "--out", self.path("lettered"))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_killed_run_over_a_fileset_continues_without_matching_again(self):
        """Also: a changed fileset is matched again."""
        try:
            import h5py
            import numpy
        except ImportError:
            self.skipTest("h5py and NumPy are not installed")
        with h5py.File(self.model("dataset.hdf5")) as file:
            genotypes = numpy.tile(file["inputs"][()], (8, 1))  # five blocks of 4,096 people
        samples = [f"P{i}" for i in range(len(genotypes))]
        self.write_cohort("many", genotypes, samples)
        self.import_with_letters()

        def command(out, work):
            return [TALLELE, "dietnet", "predict", "--model", self.path("lettered"), "--plink",
                    self.path("many"), "--work-dir", self.path(work), "--out", self.path(out)]

        process = subprocess.Popen(command("many.tsv", "work"), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        parts, store = self.path("many.tsv.parts"), self.path("work/matched.store")
        while process.poll() is None:
            if os.path.isdir(parts) and any(n.endswith(".block") for n in os.listdir(parts)):
                process.kill()
                break
            time.sleep(0.001)
        process.wait()
        self.assertFalse(os.path.exists(self.path("many.tsv")), "ended before it was killed")
        before = os.stat(store)
        again = subprocess.run(command("many.tsv", "work"), capture_output=True, text=True)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn("unchanged since it was matched", again.stdout)
        self.assertIn("of 5 blocks of people were there", again.stdout + again.stderr)
        after = os.stat(store)
        self.assertEqual((before.st_ino, before.st_mtime_ns), (after.st_ino, after.st_mtime_ns))
        whole = subprocess.run(command("whole.tsv", "fresh"), capture_output=True, text=True)
        self.assertEqual(whole.returncode, 0, whole.stderr)
        self.assertNotIn("unchanged", whole.stdout)
        self.assertIn("swapped at 50.0 %", again.stdout + again.stderr)
        with open(self.path("many.tsv"), "rb") as one, open(self.path("whole.tsv"), "rb") as other:
            self.assertEqual(one.read(), other.read())
        self.write_cohort("many", genotypes[::-1], samples)
        changed = subprocess.run(command("many.tsv", "work"), capture_output=True, text=True)
        self.assertEqual(changed.returncode, 0, changed.stderr)
        self.assertNotIn("unchanged", changed.stdout)
        last, first = self.table("many.tsv")[-1], self.table("whole.tsv")[0]
        self.assertEqual({**last, "IID": ""}, {**first, "IID": ""})

    def test_a_fileset_with_swapped_alleles_gets_the_scores_of_the_dataset(self):
        try:
            import h5py
        except ImportError:
            self.skipTest("h5py is not installed")
        with h5py.File(self.model("dataset.hdf5")) as file:
            genotypes = file["inputs"][:301]
            samples = [name.decode() for name in file["samples"][:301]]
        self.write_cohort("cohort", genotypes, samples)
        self.import_with_letters()
        done = dietnet("predict", "--model", self.path("lettered"), "--plink", self.path("cohort"),
                       "--out", self.path("cohort.tsv"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2,500 swapped", done.stdout)
        self.assertEqual(self.predict("direct.tsv").returncode, 0)
        matched, direct = self.table("cohort.tsv"), self.table("direct.tsv")[:301]
        for row, other in zip(matched, direct, strict=True):
            self.assertEqual({**row, "FID": ""}, {**other, "FID": ""})

    def snp_names(self):
        """From the package: a list of fixed-width names behind the header of snp_names.npy."""
        inputs = next(name for name in os.listdir(self.path("packages"))
                      if name.endswith(".inputs.npz"))
        with zipfile.ZipFile(os.path.join(self.path("packages"), inputs)) as archive:
            raw = archive.read("snp_names.npy")
        length = int.from_bytes(raw[8:10], "little")
        width = int(raw[10:10 + length].decode().split("|S")[1].split("'")[0])
        data = raw[10 + length:]
        return [data[i:i + width].rstrip(b"\0").decode() for i in range(0, len(data), width)]

    def test_refusals_say_what_to_do(self):
        for words, arguments in [
            (["no command", "predict"], ["predct"]),
            (["--out"], ["import-package", "--checkpoint", "x"]),
            (["--embedding"], ["import-package", "--checkpoint", "x", "--out", "y"]),
            (["no model packages"], ["predict", "--model", self.folder, "--dataset", "d", "--out",
                                     self.path("x.tsv")]),
            (["--model"], ["predict", "--modl", "x"]),
            (["either"], ["check"]),
        ]:
            done = dietnet(*arguments)
            self.assertIn(done.returncode, (1, 2), arguments)
            errors = [line for line in done.stderr.splitlines() if line.startswith("Error: ")]
            self.assertEqual(len(errors), 1, done.stderr)
            for word in words:
                self.assertIn(word, errors[0])


if __name__ == "__main__":
    unittest.main()
