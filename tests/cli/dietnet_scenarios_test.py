"""Accuracy of upstream's model of panel D (bn24-d) on its 465 test people when the cohort is worse than
the panel: SNPs absent, alleles swapped or on the other strand, calls missing, people from elsewhere.

Bands are the mean +- 3 sd that upstream's own model gave over 20 draws (10 for missing calls).

usage: dietnet_scenarios_test.py TALLELE SOURCE_FOLDER
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

TALLELE, SOURCE = (os.path.abspath(p) for p in sys.argv[1:3])
del sys.argv[1:3]
SHARED = os.environ.get("TALLELE_SHARED", os.path.join(SOURCE, "..", "shared"))
MODEL = os.path.join(SHARED, "fixtures", "dietnet", "bn24-d")
SNPS = 5000
try:
    import h5py
    import numpy
except ImportError:
    numpy = None


def dietnet(*arguments):
    done = subprocess.run([TALLELE, "dietnet", *arguments], capture_output=True, text=True)
    assert done.returncode == 0, (arguments, done.stderr)
    return done.stdout + done.stderr


@unittest.skipUnless(numpy is not None and os.path.isdir(MODEL),
                     "NumPy, h5py or the shared fixtures are absent")
class Scenarios(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        with open(cls.path("model.bim"), "w") as file:
            file.writelines(f"1\trs{j}\t0\t{j + 1}\tA\tG\n" for j in range(SNPS))
        dietnet("import-package", "--checkpoint", os.path.join(MODEL, "best_model.pt"), "--embedding",
                os.path.join(MODEL, "embedding_fold0.npz"), "--stats",
                os.path.join(MODEL, "input_stats_fold0.npz"), "--dataset",
                os.path.join(MODEL, "dataset.hdf5"), "--bim", cls.path("model.bim"), "--out",
                cls.path("model"))
        split = numpy.load(os.path.join(MODEL, "partition.npz"), allow_pickle=True)
        test = numpy.asarray(split["folds_indexes"][0][2], dtype=int)
        with h5py.File(os.path.join(MODEL, "dataset.hdf5")) as file:
            cls.genotypes = file["inputs"][()][test].astype(numpy.int8)
            names = [name.decode() for name in file["class_label_names"][()]]
            cls.labels = [names[c] for c in file["class_labels"][()][test]]
        cls.unchanged = cls.score("unchanged", cls.genotypes)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @classmethod
    def path(cls, name):
        return os.path.join(cls.temporary.name, name)

    @classmethod
    def score(cls, name, genotypes, snps=None, letters=None, *more):
        """Rows of the table of predictions for a fileset; `genotypes` count the first letter."""
        snps = range(SNPS) if snps is None else snps
        letters = letters or [("A", "G")] * len(snps)
        codes = numpy.array([3, 2, 0, 1], dtype=numpy.uint8)[genotypes.T]  # by 0, 1, 2, -1
        codes = numpy.pad(codes, ((0, 0), (0, -codes.shape[1] % 4))).reshape(len(snps), -1, 4)
        with open(cls.path(name + ".bed"), "wb") as file:
            file.write(b"\x6c\x1b\x01")
            file.write((codes << [0, 2, 4, 6]).sum(axis=2).astype(numpy.uint8).tobytes())
        with open(cls.path(name + ".bim"), "w") as file:
            file.writelines(f"1\tx{j}\t0\t{j + 1}\t{a}\t{b}\n" for j, (a, b) in zip(snps, letters))
        with open(cls.path(name + ".fam"), "w") as file:
            file.writelines(f"0 P{i} 0 0 0 -9\n" for i in range(len(genotypes)))
        cls.said = dietnet("predict", "--model", cls.path("model"), "--plink", cls.path(name),
                           "--out", cls.path(name + ".tsv"), *more)
        with open(cls.path(name + ".tsv.matched/match_summary.json")) as file:
            cls.summary = json.load(file)
        with open(cls.path(name + ".tsv")) as file:
            lines = [line.rstrip("\n").split("\t") for line in file]
        return [dict(zip(lines[0], line)) for line in lines[1:]]

    def accuracy(self, rows):
        return numpy.mean([row["vote_class"] == label for row, label in zip(rows, self.labels)])

    def test_s1_every_rule_in_one_fileset(self):
        """A line for each row of the rules, scattered and in reverse among plain ones: status, counts
        and the table of predictions, which is that of a cohort written in the model's own letters."""
        people = len(self.genotypes)
        zero, two = (numpy.full(people, v, dtype=numpy.int8) for v in (0, 2))
        worse = self.genotypes[:, 15].copy()
        worse[:9] = -1
        as_missing = numpy.where(self.genotypes[:, 21] < 0, -1, 0).astype(numpy.int8)

        def turned(j):
            column = self.genotypes[:, j]
            return numpy.where(column < 0, column, 2 - column)

        # Model SNP: its alleles where they are not A and G; the cohort's lines (place and name where
        # they are not the model's and x); expected status; the value, when it is not the cohort's own.
        same = [self.genotypes[:, j] for j in range(23)]
        here = [("1", j + 1, f"x{j}") for j in range(23)]
        rules = [
            (0, None, [(*here[0], "A", "G", same[0])], "exact"),
            (1, None, [(*here[1], "G", "A", turned(1))], "swapped"),
            (2, None, [(*here[2], "T", "C", same[2])], "flipped"),
            (3, None, [(*here[3], "C", "T", turned(3))], "flipped_swapped"),
            (4, ("A", "T"), [(*here[4], "A", "T", same[4])], "exact"),
            (5, ("C", "G"), [(*here[5], "G", "C", turned(5))], "swapped"),
            (6, None, [(*here[6], "0", "G", zero)], "one_allele"),
            (7, None, [(*here[7], "0", "A", zero)], "one_allele"),
            (8, None, [(*here[8], ".", "C", zero)], "one_allele"),
            (9, None, [(*here[9], "A", "C", same[9])], "mismatch"),
            (10, ("AT", "A"), [(*here[10], "A", "AT", turned(10))], "swapped"),
            (11, ("AT", "A"), [(*here[11], "TA", "T", same[11])], "mismatch"),
            (12, None, [("1", 900012, "rs12", "A", "G", same[12])], "exact"),
            (13, None, [("1", 900013, "rs13", "A", "C", same[13])], "absent"),
            (14, None, [("1", 15, "of another style", "A", "G", same[14])], "exact"),
            (15, None, [(*here[15], "A", "G", worse), (*here[15], "A", "G", same[15])], "exact"),
            (16, None, [(*here[16], "G", "A", zero), (*here[16], "A", "G", same[16])], "exact"),
            (17, None, [], "absent"),
            (18, None, [("X", 19, "x18", "A", "G", same[18])], "exact"),
            (19, None, [(*here[19], "a", "g", same[19])], "exact"),
            (20, None, [("chr1", 21, "x20", "A", "G", same[20])], "exact"),
            (21, None, [(*here[21], "A", "G", same[21]), (*here[21], "A", "G", as_missing)], "exact"),
            (22, None, [(*here[22], "0", "0", zero)], "mismatch"),
        ]
        model = [["1", f"rs{j}", j + 1, "A", "G"] for j in range(SNPS)]
        model[18][0] = "23"
        lines = [("1", j + 1, f"x{j}", "A", "G", self.genotypes[:, j]) for j in range(23, SNPS)]
        for number, (j, alleles, cohort, _) in enumerate(rules):
            if alleles:
                model[j][3:] = alleles
            at = len(lines) - 200 * number
            lines[at:at] = cohort
        with open(self.path("rules_model.bim"), "w") as file:
            file.writelines(f"{c}\t{name}\t0\t{p}\t{a}\t{b}\n" for c, name, p, a, b in model)
        dietnet("import-package", "--checkpoint", os.path.join(MODEL, "best_model.pt"), "--embedding",
                os.path.join(MODEL, "embedding_fold0.npz"), "--stats",
                os.path.join(MODEL, "input_stats_fold0.npz"), "--classes", self.classes_file(),
                "--bim", self.path("rules_model.bim"), "--out", self.path("rules_model"))
        codes = numpy.array([3, 2, 0, 1], dtype=numpy.uint8)[numpy.array([x[5] for x in lines])]
        codes = numpy.pad(codes, ((0, 0), (0, -people % 4))).reshape(len(lines), -1, 4)
        with open(self.path("rules.bed"), "wb") as file:
            file.write(b"\x6c\x1b\x01")
            file.write((codes << [0, 2, 4, 6]).sum(axis=2).astype(numpy.uint8).tobytes())
        with open(self.path("rules.bim"), "w") as file:
            file.writelines(f"{c}\t{name.replace(' ', '_')}\t0\t{p}\t{a}\t{b}\n"
                            for c, p, name, a, b, _ in lines)
        with open(self.path("rules.fam"), "w") as file:
            file.writelines(f"0 P{i} 0 0 0 -9\n" for i in range(people))
        said = dietnet("predict", "--model", self.path("rules_model"), "--plink", self.path("rules"),
                       "--work-dir", self.path("rules"), "--out", self.path("rules.tsv"))
        self.assertIn("another genome build", said)
        with open(self.path("rules/match_report.tsv")) as file:
            report = [line.rstrip("\n").split("\t") for line in file]
        status = report[0].index("status")
        self.assertEqual([row[status] for row in report[1:24]], [rule[3] for rule in rules])
        self.assertEqual({row[status] for row in report[24:]}, {"exact"})
        chosen = report[0].index("cohort_row")
        self.assertEqual([report[1 + j][chosen] for j in (15, 16, 21)],
                         [str(1 + next(i for i, x in enumerate(lines) if x[5] is wanted))
                          for wanted in (same[15], same[16], same[21])])
        with open(self.path("rules/match_summary.json")) as file:
            summary = json.load(file)
        for key, count in {"people": people, "model_snps": SNPS, "matched": SNPS - 5,
                           "exact": SNPS - 13, "swapped": 3, "flipped": 2, "one_allele": 3,
                           "ambiguous": 2, "ambiguous_dropped": 0, "mismatch": 3, "absent": 2,
                           "several_candidates": 3, "found_by_id": 1, "other_position": 1}.items():
            self.assertEqual(summary[key], count, key)
        plain = self.genotypes.copy()
        plain[:, 6], plain[:, 7], plain[:, 8] = zero, two, zero
        kept = [j for j in range(SNPS) if j not in (9, 11, 13, 17, 22)]
        expected = self.score("plain", plain[:, kept], kept)
        with open(self.path("rules.tsv")) as file:
            rows = [line.rstrip("\n").split("\t") for line in file]
        self.assertEqual([dict(zip(rows[0], row)) for row in rows[1:]], expected)

    def classes_file(self):
        with h5py.File(os.path.join(MODEL, "dataset.hdf5")) as file:
            names = [name.decode() for name in file["class_label_names"][()]]
        with open(self.path("classes.txt"), "w") as file:
            file.writelines(name + "\n" for name in names)
        return self.path("classes.txt")

    def test_s2_swaps_and_flips_that_match_mends_give_the_unchanged_table(self):
        for share in (0, 0.01, 0.05, 0.25, 1):
            rng = numpy.random.default_rng(int(100 * share))
            swapped, flipped = rng.random(SNPS) < share, rng.random(SNPS) < 0.05
            genotypes = self.genotypes.copy()
            turned = 2 - genotypes
            genotypes[:, swapped] = numpy.where(genotypes < 0, genotypes, turned)[:, swapped]
            letters = []
            for s, f in zip(swapped, flipped):
                pair = ("T", "C") if f else ("A", "G")
                letters.append(pair[::-1] if s else pair)
            self.assertEqual(self.score("s2", genotypes, None, letters), self.unchanged, share)
            self.assertEqual(self.summary["flipped"], flipped.sum())
            self.assertEqual(self.summary["swapped"], (swapped & ~flipped).sum())

    def test_s2_swaps_that_nothing_tells_of_cost_what_they_cost_upstream(self):
        for share, mean, sd in ((0.01, .819, .011), (0.05, .717, .025), (0.10, .457, .040)):
            chosen = numpy.random.default_rng(7).choice(SNPS, int(share * SNPS), replace=False)
            genotypes = self.genotypes.copy()
            columns = genotypes[:, chosen]
            genotypes[:, chosen] = numpy.where(columns < 0, columns, 2 - columns)
            found = self.accuracy(self.score("hidden", genotypes))
            self.assertLess(abs(found - mean), 3 * sd, (share, found))

    def test_s3_absent_snps(self):
        for share, mean, sd in ((0.1, .819, .010), (0.5, .714, .020), (0.8, .552, .018),
                                (0.9, .446, .022), (0.95, .379, .021), (0.99, .218, .018)):
            rng = numpy.random.default_rng(3)
            kept = numpy.sort(rng.choice(SNPS, round((1 - share) * SNPS), replace=False))
            rows = self.score("s3", self.genotypes[:, kept], kept)
            found = self.accuracy(rows)
            self.assertLess(abs(found - mean), 3 * sd, (share, found))
            self.assertAlmostEqual(self.summary["scale"], SNPS / len(kept))
            self.assertEqual("fewer than 1,000" in self.said, len(kept) < 1000)
        # Without the scale the network falls to one class.
        rows = self.score("s3", self.genotypes[:, kept], kept, None, "--scale", "1")
        self.assertEqual(len({row["vote_class"] for row in rows}), 1)

    def test_s4_missing_calls(self):
        for share, mean, sd in ((0.01, .826, .003), (0.05, .814, .007), (0.20, .749, .014)):
            genotypes = self.genotypes.copy()
            genotypes[numpy.random.default_rng(5).random(genotypes.shape) < share] = -1
            genotypes[0] = -1
            rows = self.score("s4", genotypes)
            found = self.accuracy(rows)
            # Two people of 465 more: the bands are of few draws, and one person has no call.
            self.assertLess(abs(found - mean), 3 * sd + 2 / 465, (share, found))
            self.assertEqual(self.summary["scale"], 1)
        # Nothing but biases is left of a person without calls, whatever the others hold.
        alone = self.score("s4", numpy.full((1, SNPS), -1, dtype=numpy.int8), None, None)
        names = [name for name in rows[0] if name.startswith("prob_")]
        self.assertEqual([rows[0][n] for n in names], [alone[0][n] for n in names])

    def test_s6_people_of_two_populations_are_less_certain(self):
        """Half of the SNPs of one person and half of another's, from two continents."""
        rng = numpy.random.default_rng(9)
        labels = numpy.array(self.labels)
        groups = [numpy.flatnonzero(labels == name) for name in ("CHB", "YRI")]
        pairs = [rng.choice(group, 100) for group in groups]
        mixed = numpy.where(rng.random((100, SNPS)) < 0.5, *(self.genotypes[p] for p in pairs))
        rows = self.score("s6", mixed)
        sources = [self.unchanged[i] for group in groups for i in group]
        for name, sign in (("entropy", 1), ("max_probability", -1)):
            of_mixed, of_sources = (numpy.median([float(row[name]) for row in table])
                                    for table in (rows, sources))
            self.assertGreater(sign * of_mixed, sign * of_sources, name)


if __name__ == "__main__":
    unittest.main()
