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
