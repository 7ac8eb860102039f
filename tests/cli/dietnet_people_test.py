"""Who is who in `tallele dietnet`: people that stand twice in tables and genotype files are refused with
file and lines and without their names, before anything is written; labels and regression values reach
the dataset.

usage: dietnet_people_test.py TALLELE SOURCE_FOLDER
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

TALLELE, SOURCE = (os.path.abspath(p) for p in sys.argv[1:3])
del sys.argv[1:3]
sys.path.insert(0, os.path.join(SOURCE, "tests", "derived"))
from bgen_bytes import Variant, write_bed, write_bgen  # noqa: E402

try:
    import h5py
    import numpy
except ImportError:
    h5py = None

CONFIG = """batch_size: 16
epochs: 2
patience: 2
input_dropout: 0.1
dropout_main: 0.1
lr_aux: 0.001
lr_main: 0.001
learning_rate_annealing: 0.99
nb_hidden_u_aux: [10]
nb_hidden_u_main: [10]
uniform_init_limit: 0.02
"""
SNPS = 40


def run(*words):
    return subprocess.run([TALLELE, *words], capture_output=True, text=True)


class People(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = cls.temporary.name
        cls.made("simulate", "ancestry", "--out", cls.path("panel"), "--snps", str(SNPS),
                 "--size-factor", "0.1")

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

    @classmethod
    def model(cls):
        """A model of the panel, trained once for the tests that need one."""
        if not os.path.isdir(cls.path("model")):
            cls.made("dietnet", "create-dataset", "--plink", cls.path("panel"), "--labels",
                     cls.path("panel_labels.tsv"), "--out", cls.path("panel.h5"))
            cls.made("dietnet", "partition", "--dataset", cls.path("panel.h5"), "--balance-class",
                     "--out", cls.path("folds.npz"))
            cls.write("c.yaml", CONFIG)
            cls.made("dietnet", "train", "--dataset", cls.path("panel.h5"), "--partition",
                     cls.path("folds.npz"), "--config", cls.path("c.yaml"), "--seeds", "1",
                     "--folds", "0", "--out", cls.path("model"))
        return cls.path("model")

    @classmethod
    def write(cls, name, text):
        with open(cls.path(name), "w") as file:
            file.write(text)
        return cls.path(name)

    @classmethod
    def cohort(cls, name, people, blank_line_before=None):
        """A fileset with the panel's SNPs and these (FID, IID) pairs."""
        with open(cls.path("panel.bim")) as file:
            snps = [line.split() for line in file]
        variants = [(s[0], s[1], s[3], s[4], s[5], [(i + j) % 3 for i in range(len(people))])
                    for j, s in enumerate(snps)]
        write_bed(cls.path(name), [(fid, iid, 0) for fid, iid in people], variants)
        if blank_line_before is not None:
            with open(cls.path(name + ".fam")) as file:
                lines = file.readlines()
            lines.insert(blank_line_before, "\n")
            cls.write(name + ".fam", "".join(lines))
        return cls.path(name)

    def refused(self, words, *expected, secret):
        done = run("dietnet", *words)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        for text in expected:
            self.assertIn(text, done.stderr)
        self.assertNotIn(secret, done.stdout + done.stderr)

    def create(self, out, **changes):
        """Words of create-dataset, options changed by name."""
        options = {"plink": self.path("panel"), "labels": self.path("panel_labels.tsv"),
                   "out": self.path(out)}
        options.update({key.replace("_", "-"): value for key, value in changes.items()})
        words = ["create-dataset"]
        for key, value in options.items():
            words += [] if value is None else [f"--{key}"] if value is True else [f"--{key}", value]
        return words

    def test_twice_in_a_label_table(self):
        """Also with equal labels, and where one of the lines has no label."""
        for again in ("SECRET\tB", "SECRET\tA", "SECRET\tNA"):
            table = self.write("twice.tsv", "IID\tpop\nSECRET\tA\nP2\tA\n\n" + again + "\n")
            self.refused(self.create("x.h5", labels=table), "twice.tsv, line 5", "on line 2",
                         secret="SECRET")
            self.assertFalse(os.path.exists(self.path("x.h5")))

    def test_twice_in_a_table_of_values(self):
        values = self.write("v.tsv", "IID\tx\nSECRET\t1\nSECRET\t1\n")
        self.refused(self.create("x.h5", regression_labels=values), "v.tsv, line 3", "on line 2",
                     secret="SECRET")

    def test_twice_in_a_fam_given_to_create_dataset(self):
        people = [("F1", "P1"), ("F2", "SECRET"), ("F3", "P3"), ("F4", "SECRET")]
        fileset = self.cohort("families", people, blank_line_before=1)
        labels = self.write("families.tsv", "FID\tIID\tpop\nF1\tP1\tA\nF2\tSECRET\tA\nF3\tP3\tB\n"
                            "F4\tSECRET\tB\n")
        words = self.create("families.h5", plink=fileset, labels=labels)
        self.refused(words, "families.fam, lines 3 and 5", "same IID", "--family-in-samples",
                     "1 of 4 people", secret="SECRET")
        self.assertFalse(os.path.exists(self.path("families.h5")))
        # Families tell them apart, in the genotypes and in the labels.
        self.made("dietnet", *words, "--family-in-samples")
        if h5py is None:
            return
        with h5py.File(self.path("families.h5")) as file:
            self.assertEqual(list(file["samples"][()]),
                             [b"F1_P1", b"F2_SECRET", b"F3_P3", b"F4_SECRET"])
            self.assertEqual(list(file["class_labels"][()]), [0, 0, 1, 1])

    def test_twice_in_a_fam_given_to_match_and_predict(self):
        fileset = self.cohort("twins", [("F", "SECRET"), ("F", "P"), ("F", "SECRET")])
        words = ["--model", self.model(), "--plink", fileset, "--work-dir", self.path("twins")]
        table = ["--out", self.path("twins.tsv")]
        for command in (["match", *words], ["predict", *words, *table],
                        ["pack-genotypes", "--plink", fileset, "--out", self.path("t.store")]):
            self.refused(command, "twins.fam, lines 1 and 3", "same FID and IID", "1 of 3 people",
                         secret="SECRET")
        for name in ("twins/matched.store", "twins.tsv", "t.store"):
            self.assertFalse(os.path.exists(self.path(name)), name)

    def test_twice_on_request(self):
        fileset = self.cohort("asked", [("F", "P"), ("F", "Q"), ("F", "P")])
        words = ["--model", self.model(), "--work-dir", self.path("asked")]
        self.made("dietnet", "match", *words, "--plink", fileset, "--allow-duplicates",
                  "--min-correlation", "-1")
        self.made("dietnet", "predict", *words, "--out", self.path("asked.tsv"))
        with open(self.path("asked.tsv")) as file:
            self.assertEqual([line.split("\t")[1] for line in file][1:], ["P", "Q", "P"])
        # What was matched on request is not taken by a run without it.
        self.refused(["predict", *words, "--plink", fileset, "--out", self.path("b.tsv")],
                     "lines 1 and 3", secret="F P")

    def test_the_same_iid_in_two_families_is_no_duplicate_for_match(self):
        fileset = self.cohort("cousins", [("F1", "P"), ("F2", "P")])
        self.made("dietnet", "match", "--model", self.model(), "--plink", fileset, "--work-dir",
                  self.path("cousins"), "--min-correlation", "-1")

    def bgen(self, name, samples):
        with open(self.path("panel.bim")) as file:
            snps = [line.split() for line in file]
        variants = [Variant(s[0], int(s[3]), s[1], (s[4], s[5]), [(255, 0), (0, 255), (0, 0)])
                    for s in snps]
        write_bgen(self.path(name), variants, 3, sample_ids=samples)
        return self.path(name)

    def test_twice_in_a_bgen(self):
        bgen = self.bgen("ids.bgen", ["P", "SECRET", "SECRET"])
        labels = self.write("ids.tsv", "IID\tpop\nP\tA\nSECRET\tB\n")
        expected = ["ids.bgen, people 2 and 3", "1 of 3 people"]
        self.refused(self.create("x.h5", plink=None, bgen=bgen, labels=labels), *expected,
                     secret="SECRET")
        self.refused(["match", "--model", self.model(), "--bgen", bgen, "--work-dir",
                      self.path("ids")], *expected, secret="SECRET")

    def test_twice_in_a_sample_file(self):
        bgen = self.bgen("anonymous.bgen", None)
        sample = self.write("twice.sample", "ID_1 ID_2 missing\n0 0 0\nF SECRET 0\nF Q 0\n"
                            "F SECRET 0\n")
        labels = self.write("s.tsv", "IID\tpop\nSECRET\tA\nQ\tB\n")
        self.refused(self.create("x.h5", plink=None, bgen=bgen, sample=sample, labels=labels),
                     "twice.sample, line 5", "line 3", secret="SECRET")
        sample = self.write("families.sample", "ID_1 ID_2 missing\n0 0 0\nF SECRET 0\nF Q 0\n"
                            "G SECRET 0\n")
        self.refused(self.create("x.h5", plink=None, bgen=bgen, sample=sample, labels=labels),
                     "families.sample, lines 3 and 5", secret="SECRET")

    def test_twice_in_a_table_of_genotypes(self):
        labels = self.write("g_labels.tsv", "IID\tpop\nSECRET\tA\nQ\tB\n")
        table = self.write("g.tsv", "id\ta\tb\nSECRET\t0\t1\nQ\t0\t2\nSECRET\t1\t1\n")
        words = self.create("x.h5", plink=None, genotypes=table, labels=labels)
        self.refused(words, "g.tsv, line 4", "on line 2", secret="SECRET")
        self.write("g.tsv", "id\ta\tSNP\tSNP\nSECRET\t0\t1\t1\n")
        self.refused(words, "g.tsv, line 1, column 4", "in column 3", secret="SECRET")

    def test_twice_in_tables_given_to_check(self):
        predictions = self.write("p.tsv", "IID\tpredicted_class\nSECRET\tA\nQ\tB\nSECRET\tA\n")
        labels = self.write("truth.tsv", "IID\tpop\nSECRET\tA\nQ\tB\n")
        words = ["check", "--predictions", predictions, "--labels", labels]
        self.refused(words, "p.tsv, line 4", "on line 2", secret="SECRET")
        self.write("p.tsv", "IID\tpredicted_class\nSECRET\tA\nQ\tB\n")
        self.write("truth.tsv", "IID\tpop\nSECRET\tA\nSECRET\tA\nQ\tB\n")
        self.refused(words, "truth.tsv, line 3", "on line 2", secret="SECRET")

    @unittest.skipIf(h5py is None, "h5py is absent")
    def test_twice_in_a_dataset_given_to_predict(self):
        self.model()
        shutil.copy(self.path("panel.h5"), self.path("same.h5"))
        with h5py.File(self.path("same.h5"), "r+") as file:
            file["samples"][7] = file["samples"][2]
            secret = file["samples"][2].decode()
        self.refused(["predict", "--model", self.model(), "--dataset", self.path("same.h5"),
                      "--out", self.path("same.tsv")], "same.h5, samples", "rows 2 and 7",
                     secret=f"'{secret}'")

    def values(self, name, lines):
        with open(self.path("panel.fam")) as file:
            people = [line.split()[1] for line in file]
        return people, self.write(name, "IID\theight\tother\n" + "".join(
            f"{person}\t{lines.get(i, i / 8 - 3)}\tx\n" for i, person in enumerate(people)))

    @unittest.skipIf(h5py is None, "h5py is absent")
    def test_regression_values_reach_the_dataset_and_the_training(self):
        people, table = self.values("height.tsv", {5: "-1e-30", 6: "+3.5"})
        self.made("dietnet", *self.create("height.h5", regression_labels=table,
                                          regression_column="height"))
        expected = numpy.arange(len(people)) / 8 - 3
        expected[5:7] = -1e-30, 3.5
        with h5py.File(self.path("height.h5")) as file:
            values = file["regression_labels"]
            self.assertEqual((values.dtype, values.chunks), (numpy.dtype("<f8"), None))
            self.assertEqual(len(file.attrs) + len(values.attrs), 0)
            numpy.testing.assert_array_equal(values[()], expected)
            self.assertEqual(len(file["class_labels"]), len(people))
        self.made("dietnet", "partition", "--dataset", self.path("height.h5"), "--balance-class",
                  "--out", self.path("height.npz"))
        self.write("h.yaml", CONFIG)
        text = self.made("dietnet", "train", "--dataset", self.path("height.h5"), "--partition",
                         self.path("height.npz"), "--config", self.path("h.yaml"), "--seeds", "1",
                         "--folds", "0", "--task", "regression", "--out", self.path("height"))
        self.assertIn("test loss", text)
        with h5py.File(self.made_without_values()) as file:
            self.assertNotIn("regression_labels", file)

    def made_without_values(self):
        self.made("dietnet", *self.create("plain.h5"))
        return self.path("plain.h5")

    @unittest.skipIf(h5py is None, "h5py is absent")
    def test_people_without_a_value_are_counted_listed_and_dropped(self):
        people, table = self.values("gaps.tsv", {3: "NA", 10: "", 11: "NA"})
        words = self.create("gaps.h5", regression_labels=table, regression_column="height",
                            list_unlabelled=self.path("gaps.txt"))
        self.refused(words, f"3 of {len(people)} without a value", "gaps.tsv", "--drop-unlabelled",
                     secret=f" {people[3]} ")
        with open(self.path("gaps.txt")) as file:
            self.assertEqual(file.read().split(), [people[3], people[10], people[11]])
        self.made("dietnet", *words, "--drop-unlabelled")
        with h5py.File(self.path("gaps.h5")) as file:
            self.assertEqual(len(file["samples"]), len(people) - 3)
            kept = [i for i in range(len(people)) if i not in (3, 10, 11)]
            numpy.testing.assert_array_equal(file["regression_labels"][()],
                                             numpy.array(kept) / 8 - 3)

    def test_values_that_are_none_are_located(self):
        for text in ("tall", "inf", "nan", "1e39", "1,5"):
            _, table = self.values("bad.tsv", {4: text})
            self.refused(self.create("bad.h5", regression_labels=table,
                                     regression_column="height"),
                         "bad.tsv, line 6", f"'{text}'", "finite", secret="SECRET")
            self.assertFalse(os.path.exists(self.path("bad.h5")))

    def test_options_that_do_not_fit_are_refused(self):
        for words, expected in ((self.create("x.h5", regression_column="a"), "--regression-labels"),
                                (self.create("x.h5", labels=None), "--labels"),
                                (self.create("x.h5", plink=None, genotypes="g",
                                             family_in_samples=True), "--family-in-samples"),
                                (["predict", "--model", "m", "--work-dir", "w", "--out", "o",
                                  "--allow-duplicates"], "--plink")):
            done = run("dietnet", *words)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(expected, done.stderr)


if __name__ == "__main__":
    unittest.main()
