"""Data and settings at the edges, and what users of the original program ran into: SNPs that do not vary,
classes that are too small or absent, arrays of other data, warnings before a training, packages and
cohorts that do not belong together. tests/ancestry.md says which case is which.

usage: dietnet_limits_test.py TALLELE SOURCE_FOLDER
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

TALLELE, SOURCE = (os.path.abspath(p) for p in sys.argv[1:3])
del sys.argv[1:3]
try:
    import h5py
    import numpy
except ImportError:
    numpy = None

SNPS = 300
CONFIG = {"batch_size": 16, "epochs": 2, "patience": 2, "input_dropout": 0.1, "dropout_main": 0.1,
          "lr_aux": 0.001, "lr_main": 0.001, "learning_rate_annealing": 0.99,
          "nb_hidden_u_aux": "[10]", "nb_hidden_u_main": "[10]", "uniform_init_limit": 0.02}


def run(*words, cwd=None):
    return subprocess.run([TALLELE, "dietnet", *words], capture_output=True, text=True, cwd=cwd)


@unittest.skipIf(numpy is None, "NumPy or h5py is absent")
class Limits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = cls.temporary.name
        subprocess.run([TALLELE, "simulate", "ancestry", "--out", cls.path("panel"), "--snps",
                        str(SNPS), "--size-factor", "0.1"], check=True, capture_output=True)
        # Continents instead of populations: three classes.
        groups = {"YRI": "AFR", "ESN": "AFR", "GWD": "AFR", "LWK": "AFR", "MSL": "AFR",
                  "CHB": "EAS", "CHS": "EAS", "JPT": "EAS", "CDX": "EAS", "KHV": "EAS",
                  "TSI": "EUR", "FIN": "EUR", "IBS": "EUR", "CEUGBR": "EUR"}
        with open(cls.path("panel_labels.tsv")) as file:
            lines = [line.rstrip("\n").split("\t") for line in file]
        with open(cls.path("labels.tsv"), "w") as file:
            file.write("IID\tcontinent\n")
            file.writelines(f"{name}\t{groups.get(label, 'NA')}\n" for name, label in lines[1:])
        with open(cls.path("panel.bim")) as file:
            cls.snps = [line.split()[1] for line in file]
        cls.made("create-dataset", "--plink", cls.path("panel"), "--labels", cls.path("labels.tsv"),
                 "--drop-unlabelled", "--out", cls.path("d.h5"))
        cls.made("partition", "--dataset", cls.path("d.h5"), "--balance-class", "--out",
                 cls.path("folds.npz"))
        cls.config("c.yaml")
        cls.trained("models")

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder, name)

    @classmethod
    def made(cls, *words):
        done = run(*words)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout + done.stderr

    def refused(self, *words, code=1):
        done = run(*words)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stderr

    @classmethod
    def config(cls, name, **changes):
        with open(cls.path(name), "w") as file:
            file.writelines(f"{key}: {value}\n" for key, value in {**CONFIG, **changes}.items())
        return cls.path(name)

    @classmethod
    def words(cls, out, *more, **changes):
        options = {"dataset": cls.path("d.h5"), "partition": cls.path("folds.npz"),
                   "config": cls.path("c.yaml"), "seeds": "1", "folds": "0", "out": cls.path(out),
                   **{key.replace("_", "-"): value for key, value in changes.items()}}
        return ["train", *(word for key, value in options.items() for word in ("--" + key, value)),
                *more]

    @classmethod
    def trained(cls, out, *more, **changes):
        return cls.made(*cls.words(out, *more, **changes))

    def changed_dataset(self, name, change):
        shutil.copy(self.path("d.h5"), self.path(name))
        with h5py.File(self.path(name), "r+") as file:
            change(file)
        return self.path(name)

    def scores(self, models, dataset, *more):
        self.made("predict", "--model", models, "--dataset", dataset, "--out", self.path("p.tsv"),
                  *more)
        with open(self.path("p.tsv")) as file:
            rows = [line.rstrip("\n").split("\t") for line in file]
        first = rows[0].index("prob_AFR")
        return rows[0][first:], [row[first:] for row in rows[1:]]

    def statistics(self):
        if not os.path.exists(self.path("stats.npz")):
            for command, out in (("compute-input-stats", "stats.npz"),
                                 ("generate-embedding", "emb.npz")):
                self.made(command, "--dataset", self.path("d.h5"), "--partition",
                          self.path("folds.npz"), "--out", self.path(out))
        return dict(numpy.load(self.path("stats.npz"))), numpy.load(self.path("emb.npz"))["emb"]

    # S5, 6.7: SNPs without variation in training.
    def test_s5_snps_that_did_not_vary_count_nothing(self):
        def freeze(file):
            file["inputs"][:, 3] = 0
            file["inputs"][:, 7] = -1  # no calls: mean and sd are no numbers

        frozen = self.changed_dataset("frozen.h5", freeze)
        text = self.made("compute-input-stats", "--dataset", frozen, "--partition",
                         self.path("folds.npz"), "--out", self.path("frozen.npz"))
        self.assertIn("do not vary in some fold", text)
        stats = numpy.load(self.path("frozen.npz"))
        self.assertEqual((stats["means_by_fold"][0, 3], stats["sd_by_fold"][0, 3]), (0, 1e-6))
        self.assertTrue(numpy.isnan(stats["sd_by_fold"][:, 7]).all())
        self.trained("frozen", dataset=frozen)
        _, expected = self.scores(self.path("frozen"), frozen)
        for snp, values in ((3, 2), (3, -1), (7, 1), (7, 0)):
            def thaw(file, snp=snp, values=values):
                freeze(file)
                file["inputs"][:, snp] = values

            varied = self.changed_dataset("varied.h5", thaw)
            self.assertEqual(self.scores(self.path("frozen"), varied)[1], expected, (snp, values))
        # Upstream's arithmetic on request: the frozen SNP enters as 2e6 and swamps the rest, the
        # one without statistics makes it impossible.
        text = self.refused("predict", "--model", self.path("frozen"), "--dataset", frozen, "--out",
                            self.path("x.tsv"), "--faithful")
        self.assertIn(self.snps[7], text)
        self.assertIn("--faithful", text)

    def test_s5_a_class_of_three_people(self):
        def shrink(file):
            labels = file["class_labels"][()]
            few = numpy.flatnonzero(labels == 1)[3:]
            labels[few] = 2
            file["class_labels"][:] = labels

        small = self.changed_dataset("small.h5", shrink)
        self.made("partition", "--dataset", small, "--balance-class", "--out",
                  self.path("small.npz"))
        with h5py.File(small) as file:
            labels = file["class_labels"][()]
        folds = numpy.load(self.path("small.npz"), allow_pickle=True)["folds_indexes"]
        for fold in range(5):
            counts = [(labels[rows] == 1).sum() for rows in folds[fold]]
            # The rows of the few are in every fold's three lists together, once each.
            self.assertEqual(sum(counts), 3)
            words = self.words("small", dataset=small, partition=self.path("small.npz"),
                               folds=str(fold))
            if counts[0] == 0:
                self.assertIn(f"fold {fold} has nobody of class EAS", self.refused(*words))
            else:
                text = self.made(*words)
                self.assertIn(f"class EAS has {counts[0]} training people, fewer than 10", text)

    # 6.8
    def test_a_class_without_training_people_is_named(self):
        with h5py.File(self.path("d.h5")) as file:
            labels = file["class_labels"][()]
        lists = [list(map(int, numpy.flatnonzero(labels != 2))),
                 list(map(int, numpy.flatnonzero(labels == 2)))]
        table = numpy.empty((1, 3), dtype=object)
        table[0] = [lists[0][2:], lists[0][:2], lists[1]]
        numpy.savez(self.path("lacking.npz"), folds_indexes=table)
        for words in (["generate-embedding", "--dataset", self.path("d.h5"), "--partition",
                       self.path("lacking.npz"), "--out", self.path("x.npz")],
                      self.words("lacking", partition=self.path("lacking.npz"))):
            text = self.refused(*words)
            for part in ("lacking.npz", "fold 0", "class EUR", "--balance-class"):
                self.assertIn(part, text)
        self.assertFalse(os.path.exists(self.path("x.npz")))

    def test_statistics_and_embeddings_of_other_data_are_located(self):
        stats, embedding = self.statistics()
        bad = self.path("bad.npz")

        def train(flag):
            text = self.refused(*self.words("bad", **{flag: bad}))
            self.assertIn("bad.npz", text)
            shutil.rmtree(self.path("bad"), ignore_errors=True)
            return text

        def change(key, at, value):
            changed = {k: v.copy() for k, v in stats.items()}
            changed[key][0, at] = value
            numpy.savez(bad, **changed)

        change("means_by_fold", 4, 2.5)
        text = train("input_stats")
        for part in ("mean of SNP " + self.snps[4], "2.5", "0 to 2", "compute-input-stats"):
            self.assertIn(part, text)
        for value in (-1.0, numpy.inf):
            change("sd_by_fold", 4, value)
            self.assertIn("standard deviation of SNP " + self.snps[4], train("input_stats"))
        change("sd_by_fold", slice(None), numpy.nan)
        self.assertIn("no SNP varies", train("input_stats"))
        numpy.savez(bad, means_by_fold=stats["means_by_fold"])  # 6.19: before anything is trained
        self.assertIn("sd_by_fold", train("input_stats"))
        numpy.savez(bad, **{key: value[:, :-1] for key, value in stats.items()})
        text = train("input_stats")
        self.assertIn("299", text)
        self.assertIn("300", text)
        changed = embedding.copy()
        changed[0, 2, 8] = numpy.nan
        numpy.savez(bad, emb=changed)
        text = train("embedding")
        for part in (self.snps[2], "column 8", "no training samples"):
            self.assertIn(part, text)
        numpy.savez(bad, emb=embedding[:, :, :6])
        self.assertIn("3 for each class", train("embedding"))
        numpy.savez(bad, emb=embedding[:, :-1])
        self.assertIn("found 2691, expected 2700", train("embedding"))

    # 6.10, 6.31, 6.34, and input dropout that keeps too little
    def test_settings_that_make_trainings_fail_are_said_first(self):
        folds = numpy.load(self.path("folds.npz"), allow_pickle=True)["folds_indexes"]
        people = len(folds[0, 0])
        settings = self.config("w.yaml", batch_size=people - 1, input_dropout=0.95, epochs=1,
                               patience=1)
        text = self.trained("one_left", config=settings)
        self.assertIn("1 step(s) an epoch are too few", text)
        self.assertIn("last batch would hold one person", text)
        self.assertIn("keeps 15 SNPs", text)
        settings = self.config("w.yaml", learning_rate_annealing=0.5, epochs=30, patience=20)
        self.assertIn("from epoch 10 on the learning rates are below a thousandth",
                      self.trained("slow", config=settings))

    # 6.13
    def test_partitions_of_one_seed_are_equal_byte_by_byte(self):
        self.made("partition", "--dataset", self.path("d.h5"), "--balance-class", "--out",
                  self.path("again.npz"))
        with open(self.path("folds.npz"), "rb") as one, open(self.path("again.npz"), "rb") as other:
            self.assertEqual(one.read(), other.read())

    # 6.14: an N x N join of this size would take hours.
    def test_labels_of_half_a_million_people_are_joined_in_seconds(self):
        people = 500_000
        for name in ("many.bed", "many.bim", "many.fam", "many.tsv"):
            self.addCleanup(os.remove, self.path(name))
        with open(self.path("many.bed"), "wb") as file:
            file.write(b"\x6c\x1b\x01" + bytes([0b11100010]) * (people // 4))
        with open(self.path("many.bim"), "w") as file:
            file.write("1\ta\t0\t1\tA\tG\n")
        with open(self.path("many.fam"), "w") as file:
            file.writelines(f"{i} {i} 0 0 0 -9\n" for i in range(people))
        with open(self.path("many.tsv"), "w") as file:
            file.write("IID\tx\n")
            file.writelines(f"{i}\t{'AB'[i % 2]}\n" for i in range(2 * people - 1, -1, -1))
        start = time.monotonic()
        self.made("create-dataset", "--plink", self.path("many"), "--labels", self.path("many.tsv"),
                  "--out", self.path("many.h5"))
        self.assertLess(time.monotonic() - start, 60)
        with h5py.File(self.path("many.h5")) as file:
            self.assertTrue((file["class_labels"][()] == numpy.arange(people) % 2).all())

    # 6.18: upstream's folder names lack the batch size, so runs overwrite each other.
    def test_another_batch_size_does_not_overwrite(self):
        self.trained("batches")
        settings = self.config("b.yaml", batch_size=17)
        self.refused(*self.words("batches", config=settings), code=2)
        text = self.refused(*self.words("batches", "--resume", config=settings))
        self.assertIn("batch_size 17", text)

    # 6.24, 6.25: upstream's runs in one folder collide, and its prefix is a bare name.
    def test_runs_in_one_folder_do_not_collide_and_outputs_go_anywhere(self):
        names = ("one", "two", "three")
        os.makedirs(self.path("deep/er"))
        runs = [subprocess.Popen(
            [TALLELE, "dietnet", "predict", "--model", self.path("models"), "--plink",
             self.path("panel"), "--work-dir", "deep/" + name, "--out", f"deep/er/{name}.tsv",
             "--upstream-prefix", f"deep/er/{name}"], cwd=self.folder, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True) for name in names]
        for process in runs:
            _, text = process.communicate()
            self.assertEqual(process.returncode, 0, text)
        tables = set()
        for name in names:
            with open(self.path(f"deep/er/{name}.tsv")) as file:
                tables.add(file.read())
            self.assertTrue(os.path.exists(self.path(f"deep/er/{name}_dietnet_predictions.txt")))
            (result,) = os.listdir(self.path(f"deep/er/{name}_DIETNET_RESULTS_BY_MODEL"))
            self.assertEqual(result, f"{name}_model1_1_infered.npz")
        self.assertEqual(len(tables), 1)

    # 6.26, 6.29
    def test_classes_come_from_the_package_and_folds_share_their_inputs(self):
        header, rows = self.scores(self.path("models"), self.path("d.h5"))
        self.assertEqual(header, ["prob_AFR", "prob_EAS", "prob_EUR"])
        for row in rows:
            self.assertAlmostEqual(sum(map(float, row)), 1, delta=3e-6)
        self.trained("shared", seeds="1,2,3", folds="0,1")
        names = os.listdir(self.path("shared"))
        self.assertEqual(sum(name.endswith(".model.npz") for name in names), 6)
        self.assertEqual(sum(name.endswith(".inputs.npz") for name in names), 2)

    # 6.3, 6.20
    def test_a_dataset_in_another_order_is_refused(self):
        def swap(file):
            names = file["snp_names"][()]
            names[[5, 6]] = names[[6, 5]]
            file["snp_names"][:] = names

        text = self.refused("predict", "--model", self.path("models"), "--dataset",
                            self.changed_dataset("swapped.h5", swap), "--out", self.path("x.tsv"))
        for part in ("SNP 5 ", "found " + self.snps[6], "expected " + self.snps[5]):
            self.assertIn(part, text)

    def test_a_cohort_matched_with_another_model_is_refused(self):
        with open(self.path("panel.bim")) as file:
            lines = file.readlines()
        first = lines[0].split()
        first[4], first[5] = first[5], first[4]
        with open(self.path("other.bim"), "w") as file:
            file.writelines(["\t".join(first) + "\n"] + lines[1:])
        self.trained("others", bim=self.path("other.bim"))
        self.made("match", "--model", self.path("models"), "--plink", self.path("panel"),
                  "--work-dir", self.path("work"))
        words = ["predict", "--work-dir", self.path("work"), "--out", self.path("w.tsv"), "--model"]
        text = self.refused(*words, self.path("others"))
        self.assertIn("different models", text)
        self.assertIn("dietnet match", text)
        self.made(*words, self.path("models"))
        # Models of different alleles do not share a folder either.
        shutil.copytree(self.path("models"), self.path("mixed"))
        for name in os.listdir(self.path("others")):
            if name.endswith(".inputs.npz"):
                shutil.copy(self.path("others/" + name), self.path("mixed"))
            if name.endswith(".model.npz"):
                shutil.copy(self.path("others/" + name), self.path("mixed/a_" + name))
        self.assertIn("the same SNPs and alleles",
                      self.refused(*words[:-1], "--model", self.path("mixed")))

    def test_a_matched_cohort_that_was_cut_is_refused(self):
        self.made("match", "--model", self.path("models"), "--plink", self.path("panel"),
                  "--work-dir", self.path("cut"))
        store = self.path("cut/matched.store")
        with open(store, "r+b") as file:
            file.truncate(os.path.getsize(store) - 100)
        self.assertIn("matched.store", self.refused(
            "predict", "--model", self.path("models"), "--work-dir", self.path("cut"), "--out",
            self.path("x.tsv")))


if __name__ == "__main__":
    unittest.main()
