"""Runs the built program on small made-up case-control cohorts and compares every printed number
with the definition of the test (binary_oracle.py). Covers what REGENIE's reference files lack: gaps
that differ between traits, large offsets, deep and phased data, separation, traits that fail alone,
failed corrections, the 1/2 coding, and the layouts of the text files.

usage: binary_cases_test.py PATH_TO_TALLELE
"""

import gzip
import math
import os
import random
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from bgen_bytes import Variant, write_bgen  # noqa: E402
from binary_oracle import (approximate_firth, eigenvectors, exact_firth,  # noqa: E402
                           null_firth, score_test)

TALLELE = sys.argv.pop(1) if len(sys.argv) > 1 else "tallele"
PEOPLE = 150
OFFSETS = {"B1": lambda rng: rng.gauss(0, 1), "B2": lambda rng: 5 + rng.gauss(0, 0.5),
           "B3": lambda rng: -5 + rng.gauss(0, 0.5)}


def call(rng, frequency, top):
    copies = sum(rng.random() < frequency for _ in range(2))
    sure = [0, 0, 0]
    blur = rng.randrange(0, top // 6)
    sure[2 - copies] = top - blur
    sure[rng.randrange(3)] += blur
    return (sure[0], sure[1])


class Cohort:
    def __init__(self):
        rng = random.Random(7)
        self.ids = [(f"F{i}", f"P{i}") for i in range(PEOPLE)]
        self.age = [rng.gauss(55, 8) for _ in self.ids]
        self.pc = [rng.gauss(0, 1) for _ in self.ids]
        self.loco = {t: [make(rng) for _ in self.ids] for t, make in OFFSETS.items()}
        self.risk = [rng.random() for _ in self.ids]
        self.variants = [Variant("1", 100 + k, f"v{k}", ("A", "C"),
                                 [call(rng, 0.04 + 0.09 * k, 255) for _ in self.ids])
                         for k in range(11)]
        for k in (2, 5):
            for i in (3, 77, 110):
                self.variants[k].calls[i] = None
        deep = [call(rng, 0.3, 65535) for _ in self.ids]
        self.variants.append(Variant("1", 300, "bits16", ("A", "C"), deep, bits=16))
        phased = [(rng.randrange(256), rng.randrange(256)) for _ in self.ids]
        self.variants.append(Variant("1", 310, "phased", ("A", "C"), phased, phased=True))
        strong = [call(rng, 0.75 if r > 0.7 else 0.25, 255) for r in self.risk]
        self.variants.append(Variant("1", 320, "strong", ("A", "C"), strong))
        rare = [(0, 0)] * PEOPLE
        self.carriers = [i for i, r in enumerate(self.risk) if r > 0.93][:8]
        for i in self.carriers:
            rare[i] = (0, 255)
        self.variants.append(Variant("1", 330, "rare", ("A", "C"), rare))
        tiny = [(0, 0)] * PEOPLE
        for i in self.carriers[:4]:
            tiny[i] = (0, 1)
        self.variants.append(Variant("1", 340, "tiny", ("A", "C"), tiny))
        self.variants.append(Variant("1", 350, "constant", ("A", "C"), [(255, 0)] * PEOPLE))
        self.traits = {
            "B1": [int(r > 0.7) for r in self.risk],
            "B2": [int(r > 0.6) if i % 6 else None for i, r in enumerate(self.risk)],
            "B3": [int(r > 0.8) if i % 4 != 1 else None for i, r in enumerate(self.risk)],
        }

    def write(self, folder, traits=None, coding=(0, 1), covariates=None):
        path = lambda name: os.path.join(folder, name)  # noqa: E731
        write_bgen(path("g.bgen"), self.variants, PEOPLE)
        with open(path("g.sample"), "w") as f:
            f.write("ID_1 ID_2 missing\n0 0 0\n" + "".join(f"{a} {b} 0\n" for a, b in self.ids))
        traits = traits or self.traits
        with open(path("pheno.txt"), "w") as f:
            f.write("FID IID " + " ".join(traits) + "\n")
            for i, (fid, iid) in enumerate(self.ids):
                cells = ["NA" if t[i] is None else str(coding[t[i]]) for t in traits.values()]
                f.write(" ".join([fid, iid, *cells]) + "\n")
        covariates = covariates or {"age": self.age, "pc": self.pc}
        with open(path("covar.txt"), "w") as f:
            f.write("FID IID " + " ".join(covariates) + "\n")
            for i, (fid, iid) in enumerate(self.ids):
                f.write(" ".join([fid, iid, *(repr(c[i]) for c in covariates.values())]) + "\n")
        with open(path("pred.list"), "w") as f:
            for t in traits:
                f.write(f"{t} {t}.loco\n")
                with open(path(f"{t}.loco"), "w") as g:
                    g.write("FID_IID " + " ".join("_".join(x) for x in self.ids) + "\n1 ")
                    g.write(" ".join(map(repr, self.loco.get(t, [0.0] * PEOPLE))) + "\n")


def dosage(variant, value):
    if value is None:
        return None
    top = (1 << variant.bits) - 1
    return (value[0] + value[1]) / top if variant.phased else (2 * value[0] + value[1]) / top


def read_rows(path):
    with open(path) as f:
        header = f.readline().split()
        return {r[2]: dict(zip(header, r)) for r in (line.split() for line in f)}


class BinaryCases(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cohort = Cohort()

    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = self.temporary.name
        self.layout = "regenie"
        self.cohort.write(self.folder)

    def tearDown(self):
        self.temporary.cleanup()

    def path(self, name):
        return os.path.join(self.folder, name)

    def scan(self, name, *extra, code=0):
        done = subprocess.run(
            [TALLELE, "regenie", "--bt", "--bgen", self.path("g.bgen"), "--sample",
             self.path("g.sample"), "--phenoFile", self.path("pheno.txt"), "--covarFile",
             self.path("covar.txt"), "--minMAC", "0.5", "--format", self.layout, "--out",
             self.path(name), *([] if "--ignore-pred" in extra else ["--pred",
                                                                   self.path("pred.list")]),
             *extra], capture_output=True, text=True)
        self.log = done.stdout + done.stderr
        self.assertEqual(done.returncode, code, self.log)
        return {t: read_rows(self.path(f"{name}_{t}.regenie")) for t in ("B1", "B2", "B3")
                if os.path.exists(self.path(f"{name}_{t}.regenie"))}

    def inputs(self, trait, variant, pred=True):
        """Covariate rows, y, offset and mean-filled dosage of the people of a trait."""
        c = self.cohort
        people = [i for i in range(PEOPLE) if c.traits[trait][i] is not None]
        mean_age = sum(c.age) / PEOPLE
        rows = [[1.0, (c.age[i] - mean_age) / 10, c.pc[i]] for i in people]
        g = [dosage(variant, variant.calls[i]) for i in people]
        seen = [x for x in g if x is not None]
        mean = math.fsum(seen) / len(seen)
        self.mac = min(math.fsum(seen), 2 * len(seen) - math.fsum(seen))
        return (rows, [c.traits[trait][i] for i in people],
                [c.loco[trait][i] if pred else 0.0 for i in people],
                [mean if x is None else x for x in g])

    def compare(self, found, expected, tolerance, what):
        for column in ("BETA", "SE", "CHISQ"):
            got, want = float(found[column]), expected[column]
            slack = tolerance * abs(want) + (tolerance * expected["SE"] if column == "BETA" else 1e-7)
            self.assertLessEqual(abs(got - want), slack, f"{what}: {column} {got} {want}")

    def usable(self):
        return [v for v in self.cohort.variants if v.name not in ("constant", "tiny")]

    def test_score_with_gaps_offsets_and_every_depth(self):
        rows = self.scan("score")
        for trait in rows:
            for v in self.usable():
                want = score_test(*self.inputs(trait, v))
                self.compare(rows[trait][v.name], want, 2e-5, f"{trait} {v.name}")

    def test_a_trait_alone_prints_the_same_bytes(self):
        for flags in ([], ["--firth", "--approx", "--pThresh", "0.5"], ["--spa", "--pThresh", "0.5"]):
            self.scan("all", *flags)
            for trait in self.cohort.traits:
                self.scan("alone", *flags, "--phenoCol", trait, "--bsize", "3", "--threads", "1")
                with open(self.path(f"all_{trait}.regenie")) as a, \
                        open(self.path(f"alone_{trait}.regenie")) as b:
                    self.assertEqual(a.read(), b.read(), f"{trait} {flags}")

    def test_approximate_firth_over_everyone_is_the_penalised_maximum(self):
        rows = self.scan("firth", "--firth", "--approx", "--pThresh", "0.3", "--skip-fast-firth")
        corrected = 0
        for trait in rows:
            for v in self.usable():
                inputs = self.inputs(trait, v)
                score = score_test(*inputs)
                if score["CHISQ"] < 1.0743:  # p above 0.3
                    self.compare(rows[trait][v.name], score, 2e-5, v.name)
                    continue
                corrected += 1
                self.compare(rows[trait][v.name], approximate_firth(*inputs), 2e-3,
                             f"{trait} {v.name}")
        self.assertGreater(corrected, 8)

    def regenie_coefficients(self, trait):
        """The null Firth model in REGENIE's basis C V D^(-1/2), C'C = V D V': D^(1/2) V'a."""
        c = self.cohort
        rows, y, offset, _ = self.inputs(trait, c.variants[0])
        scaled = null_firth(rows, y, offset)
        mean_age = sum(c.age) / PEOPLE
        a = [scaled[0] - scaled[1] * mean_age / 10, scaled[1] / 10, scaled[2]]
        full = list(zip([1.0] * PEOPLE, c.age, c.pc))
        gram = [[math.fsum(r[i] * r[j] for r in full) for j in range(3)] for i in range(3)]
        return [math.sqrt(d) * sum(x * z for x, z in zip(v, a)) for d, v in eigenvectors(gram)]

    def stored(self, name, number=1):
        with open(self.path(f"{name}_{number}.firth")) as f:
            return [line.split() for line in f]

    FIRTH = ("--firth", "--approx", "--pThresh", "0.3")

    def test_null_firth_models_are_stored_as_regenie_stores_them(self):
        self.scan("w", *self.FIRTH, "--write-null-firth")
        with open(self.path("w_firth.list")) as f:
            lines = f.read().splitlines()
        self.assertEqual(lines, [f"B{k} {self.path(f'w_{k}.firth')}" for k in (1, 2, 3)])
        signs = None  # an eigenvector's sign is free, but the same for all traits
        for k in (1, 2, 3):
            (row,) = self.stored("w", k)
            self.assertEqual(row[0], "1")
            found = [float(x) for x in row[1:]]
            want = self.regenie_coefficients(f"B{k}")
            signs = signs or [1 if f * w > 0 else -1 for f, w in zip(found, want)]
            size = max(map(abs, want))
            for f, w, sign in zip(found, want, signs, strict=True):
                self.assertLess(abs(f - sign * w), 1e-3 * size, f"B{k} {found} {want}")

    def test_a_stored_null_firth_model_leads_to_the_same_rows(self):
        first = self.scan("w", *self.FIRTH, "--write-null-firth")
        again = self.scan("u", *self.FIRTH, "--write-null-firth", "--use-null-firth",
                          self.path("w_firth.list"))
        self.assertEqual({t: set(r) for t, r in first.items()}, {t: set(r) for t, r in again.items()})
        for trait, rows in first.items():
            for name, row in rows.items():
                for column, text in row.items():
                    if column in ("BETA", "SE", "CHISQ", "LOG10P") and text != "NA":
                        want = float(text)
                        self.assertLessEqual(abs(float(again[trait][name][column]) - want),
                                             1e-4 * abs(want) + 1e-9, f"{trait} {name} {column}")
                    else:
                        self.assertEqual(again[trait][name][column], text)
        for k in (1, 2, 3):
            for a, b in zip(self.stored("w", k)[0], self.stored("u", k)[0], strict=True):
                self.assertAlmostEqual(float(a), float(b), delta=1e-3)

    def test_stored_values_are_where_the_fit_starts(self):
        """Two iterations reach the maximum from itself, and from nowhere else."""
        short = (*self.FIRTH, "--maxiter-null", "2", "--phenoCol", "B2")
        self.scan("w", *self.FIRTH, "--phenoCol", "B2", "--write-null-firth", "--gz")
        with gzip.open(self.path("w_1.firth.gz"), "rt") as f:
            text = f.read()
        with open(self.path("moved_1.firth"), "w") as f:
            f.write(text)
        with open(self.path("relative.list"), "w") as f:
            f.write("B2 moved_1.firth\nUNKNOWN nowhere.firth\n")
        self.scan("cold", *short, code=3)
        self.assertIn("null Firth model did not converge", self.log)
        self.scan("gz", *short, "--use-null-firth", self.path("w_firth.list"))
        self.scan("warm", *short, "--use-null-firth", self.path("relative.list"))
        with open(self.path("moved_1.firth"), "w") as f:
            f.write(text.replace("1", "2", 1))  # of another chromosome
        self.scan("other", *short, "--use-null-firth", self.path("relative.list"), code=3)
        self.assertRegex(self.log, "B2, chromosome 1: no stored null Firth model")

    def test_a_trait_without_a_null_firth_model_is_not_listed(self):
        self.scan("w", *self.FIRTH, "--phenoColList", "B1,B2", "--maxiter-null", "2",
                  "--write-null-firth", code=3)
        with open(self.path("w_firth.list")) as f:
            self.assertEqual(f.read(), "")
        self.assertFalse(os.path.exists(self.path("w_1.firth")))

    def test_bad_stored_null_firth_models_are_named(self):
        for text, words in (("1 0.5 0.5\n", ("another number", "2 coefficients", "3")),
                            ("1 0.5 0.5 nan\n", ("coefficient", "nan")),
                            ("1 1 1 1\n1 1 1 1\n", ("twice", "bad_1.firth", "line 2")),
                            ("chrQ 1 1 1\n", ("chromosome", "chrQ"))):
            with open(self.path("bad_1.firth"), "w") as f:
                f.write(text)
            with open(self.path("bad.list"), "w") as f:
                f.write(f"B1 {self.path('bad_1.firth')}\n")
            self.scan("b", *self.FIRTH, "--use-null-firth", self.path("bad.list"), code=1)
            for word in words:
                self.assertIn(word, self.log)
        for text in ("B1\n", "B1 a\nB1 b\n", ""):
            with open(self.path("bad.list"), "w") as f:
                f.write(text)
            self.scan("b", *self.FIRTH, "--use-null-firth", self.path("bad.list"), code=1)
            self.assertIn("bad.list", self.log)
        for flags in (["--write-null-firth"], ["--firth", "--write-null-firth"],
                      ["--spa", "--use-null-firth", self.path("pred.list")]):
            self.scan("b", *flags, code=2)
            self.assertIn("--firth --approx", self.log)

    def test_a_resumed_run_stores_the_null_firth_models_of_all_chromosomes(self):
        whole = (*self.FIRTH, "--write-null-firth")
        self.layout = "parquet"
        self.scan("r", *whole)
        first = self.stored("r")
        os.remove(self.path("r_1.firth"))
        self.scan("r", *whole, "--resume")
        self.assertEqual(self.stored("r"), first)
        with open(self.path("r_1.firth"), "w") as f:
            f.write("1 0 0 0\n")
        self.scan("r", *self.FIRTH, "--use-null-firth",
                  self.path("r_firth.list"), "--resume", code=2)
        self.assertIn("null_firth_start", self.log)

    def test_exact_firth_is_the_penalised_maximum(self):
        rows = self.scan("exact", "--firth", "--pThresh", "0.3", "--phenoCol", "B1")
        for v in self.usable():
            inputs = self.inputs("B1", v)
            if score_test(*inputs)["CHISQ"] > 1.0743:
                self.compare(rows["B1"][v.name], exact_firth(*inputs), 2e-3, v.name)

    def test_firth_se_changes_se_alone(self):
        plain = self.scan("a", "--firth", "--approx", "--pThresh", "0.3")
        other = self.scan("b", "--firth", "--approx", "--pThresh", "0.3", "--firth-se")
        changed = 0
        for trait in plain:
            for name, row in plain[trait].items():
                twin = other[trait][name]
                if row == twin:
                    continue
                changed += 1
                self.assertEqual({**row, "SE": ""}, {**twin, "SE": ""})
                self.assertAlmostEqual(float(twin["SE"]) * math.sqrt(float(twin["CHISQ"])),
                                       abs(float(twin["BETA"])), delta=2e-5 * abs(float(twin["BETA"])))
        self.assertGreater(changed, 5)

    def test_allele_flip_turns_the_sign(self):
        for flags in ([], ["--firth", "--approx", "--pThresh", "0.5"], ["--spa", "--pThresh", "0.5"]):
            first = self.scan("first", *flags)
            second = self.scan("second", *flags, "--ref-first")
            for trait in first:
                for name, row in first[trait].items():
                    twin = second[trait][name]
                    for column in ("SE", "CHISQ", "LOG10P", "N"):
                        self.assertEqual(row[column], twin[column], f"{name} {column} {flags}")
                    if row["BETA"] != "NA":
                        self.assertAlmostEqual(float(row["BETA"]), -float(twin["BETA"]))

    def test_covariates_may_be_moved_scaled_and_repeated(self):
        plain = self.scan("plain", "--firth", "--approx")
        age, pc = self.cohort.age, self.cohort.pc
        self.cohort.write(self.folder, covariates={
            "age": [1e6 + 3 * a for a in age], "pc": [-0.01 * p for p in pc],
            "sum": [a + p for a, p in zip(age, pc)]})
        moved = self.scan("moved", "--firth", "--approx")
        for trait in plain:
            for name, row in plain[trait].items():
                for column in ("BETA", "SE", "CHISQ", "LOG10P"):
                    a, b = row[column], moved[trait][name][column]
                    if a != b:
                        self.assertAlmostEqual(float(a), float(b), delta=1e-4 * abs(float(a)) + 1e-7)

    def test_constant_variants_have_no_number(self):
        rows = self.scan("constant")
        for trait in rows:
            self.assertNotIn("constant", rows[trait])  # its minor allele count is 0
        tiny = self.scan("tiny", "--minMAC", "0.5")
        self.assertNotIn("tiny", tiny["B1"])

    def test_all_carriers_are_cases(self):
        self.assertTrue(all(self.cohort.traits["B1"][i] for i in self.cohort.carriers))
        rows = self.scan("carriers", "--firth", "--approx", "--pThresh", "0.5")
        row = rows["B1"]["rare"]
        self.assertEqual(row["EXTRA"], "NA")
        self.assertGreater(float(row["BETA"]), 0)
        self.assertLess(float(row["BETA"]), 20)

    def test_a_failed_correction_keeps_the_score_estimate(self):
        """One step and no more: nothing converges, and the row says so."""
        with open(self.path("limits.toml"), "w") as f:
            f.write("[compute]\nfirth_maximum_iterations = 4\nfirth_gradient_tolerance = 1e-12\n")
        score = self.scan("score")
        firth = self.scan("failed", "--firth", "--approx", "--pThresh", "0.3", "--config",
                          self.path("limits.toml"))
        failed = 0
        for trait in score:
            for name, row in score[trait].items():
                other = firth[trait][name]
                if other["EXTRA"] != "TEST_FAIL":
                    continue
                failed += 1
                self.assertEqual((other["BETA"], other["SE"]), (row["BETA"], row["SE"]))
                self.assertEqual((other["CHISQ"], other["LOG10P"]), ("NA", "NA"))
        self.assertGreater(failed, 3)
        self.assertIn("failed: not converged", self.log)

    def test_traits_that_cannot_be_analysed_end_alone(self):
        traits = dict(self.cohort.traits)
        traits["ONE_CLASS"] = [0] * PEOPLE
        traits["FEW"] = [int(i < 4) for i in range(PEOPLE)]
        traits["SPLIT"] = [int(a > 55) for a in self.cohort.age]  # a covariate tells them apart
        self.cohort.write(self.folder, traits=traits)
        rows = self.scan("mixed", "--ignore-pred", code=3)
        self.assertEqual(sorted(rows), ["B1", "B2", "B3"])
        for name, reason in (("ONE_CLASS", "same class"), ("FEW", "4 cases"), ("SPLIT", "separate")):
            self.assertFalse(os.path.exists(self.path(f"mixed_{name}.regenie")))
            self.assertRegex(self.log, f"{name}.*{reason}")
        self.cohort.write(self.folder)
        alone = self.scan("alone", "--ignore-pred")
        self.assertEqual(alone, rows)

    def write_loco(self, trait, rows):
        with open(self.path(f"{trait}.loco"), "w") as g:
            g.write("FID_IID " + " ".join("_".join(x) for x in self.cohort.ids) + "\n")
            for chromosome, values in rows.items():
                g.write(" ".join([chromosome, *map(repr, values)]) + "\n")

    def rare_level(self):
        """Level 2 of `batch` has no case of B1; `smoker` tells nothing."""
        batch = [i % 3 for i in range(PEOPLE)]
        traits = dict(self.cohort.traits)
        traits["B1"] = [0 if b == 2 else t for b, t in zip(batch, traits["B1"])]
        self.cohort.write(self.folder, traits=traits, covariates={
            "age": self.cohort.age, "batch": [b + 1 for b in batch],
            "smoker": [i // 7 % 2 for i in range(PEOPLE)]})

    def test_a_level_without_cases_is_named(self):
        self.rare_level()
        for flags, where in ((["--ignore-pred"], "B1: the"), ([], "B1: chromosome 1: the")):
            rows = self.scan("level", *flags, "--catCovarList", "batch", code=3)
            (line,) = {x[x.index(where):] for x in self.log.splitlines() if where in x}
            self.assertIn("batch=3 (50 people) has no case", line)
            for other in ("batch=1", "batch=2", "smoker"):
                self.assertNotIn(other, self.log)
            self.assertEqual(rows["B2"]["v3"]["EXTRA"], "NA")

    def test_a_value_of_a_numeric_covariate_without_controls_is_named(self):
        rare = [int(i < 9) for i in range(PEOPLE)]
        traits = {"B1": [1 if r else t for r, t in zip(rare, self.cohort.traits["B1"])]}
        self.cohort.write(self.folder, traits=traits,
                          covariates={"age": self.cohort.age, "centre": rare})
        self.scan("value", "--ignore-pred", code=1)
        self.assertIn("centre=1 (9 people) has no control", self.log)
        self.assertNotIn("centre=0", self.log)

    def test_a_chromosome_s_problem_is_told_once(self):
        """Chromosome 1 comes back after chromosome 2: its null models are fitted twice."""
        self.rare_level()
        chromosomes = ["1"] * 4 + ["2"] * 3 + ["1"] * 4
        variants = [Variant(c, 100 + k, f"w{k}", ("A", "C"), v.calls)
                    for k, (c, v) in enumerate(zip(chromosomes, self.cohort.variants))]
        write_bgen(self.path("g.bgen"), variants, PEOPLE)
        for trait, values in self.cohort.loco.items():
            self.write_loco(trait, {"1": values, "2": values[::-1]})
        self.scan("back", "--catCovarList", "batch", "--phenoColList", "B1,B2", code=3)
        for chromosome in "12":
            told = [x for x in self.log.splitlines() if f"chromosome {chromosome}: the cov" in x]
            # As it happens, and in the list at the end.
            self.assertEqual(len(told), 2, self.log)
            self.assertEqual(sum("was not fully analysed" in x for x in told), 1, self.log)

    def test_a_group_without_predictions_does_not_separate(self):
        """Controls alone in one half of a covariate; nobody of that half has predictions."""
        half = [float(i % 3 == 0) for i in range(PEOPLE)]
        trait = [0 if h else t for h, t in zip(half, self.cohort.traits["B1"])]
        self.cohort.write(self.folder, traits={"B1": trait},
                          covariates={"age": self.cohort.age, "half": half})
        self.scan("separated", "--ignore-pred", code=1)
        self.assertIn("separate", self.log)
        there = [i for i in range(PEOPLE) if not half[i]]
        with open(self.path("B1.loco"), "w") as g:
            g.write("FID_IID " + " ".join("_".join(self.cohort.ids[i]) for i in there) + "\n1 ")
            g.write(" ".join("0" for _ in there) + "\n")
        rows = self.scan("fine")
        self.assertEqual(rows["B1"]["v3"]["EXTRA"], "NA")
        self.assertEqual(rows["B1"]["v3"]["N"], str(len(there)))

    def test_predictions_of_absurd_size_are_named(self):
        with open(self.path("B1.loco"), "w") as g:
            g.write("FID_IID " + " ".join("_".join(x) for x in self.cohort.ids) + "\n1 ")
            g.write(" ".join("1e300" if i % 20 == 0 else "0.1" for i in range(PEOPLE)) + "\n")
        rows = self.scan("huge", "--phenoCol", "B1", code=3)
        self.assertRegex(self.log, "B1.*chromosome 1.*(predictions|converge|separate)")
        self.assertEqual({row["EXTRA"] for row in rows["B1"].values()}, {"TEST_FAIL"})

    def test_the_command_line_s_correction_replaces_the_file_s(self):
        wanted = self.scan("wanted", "--firth", "--approx")
        for text in ('fallback_method = "score_only"', "spa = true"):
            with open(self.path("c.toml"), "w") as f:
                f.write(f"[binary]\n{text}\n")
            self.assertEqual(self.scan("mine", "--config", self.path("c.toml"), "--firth",
                                       "--approx"), wanted)

    def test_idle_options_are_announced(self):
        self.scan("idle", "--pThresh", "0.1", "--maxstep-null", "5")
        self.assertIn("--pThresh does nothing", self.log)
        self.assertIn("--maxstep-null does nothing", self.log)

    def test_a_lower_case_limit_tests_the_trait(self):
        few = [int(i in (3, 40, 71, 99)) for i in range(PEOPLE)]
        self.cohort.write(self.folder, traits={"B1": few})
        self.cohort.traits["B1"], keep = few, self.cohort.traits["B1"]
        try:
            rows = self.scan("few", "--ignore-pred", "--minCaseCount", "3")
            for v in self.usable():
                self.compare(rows["B1"][v.name], score_test(*self.inputs("B1", v, pred=False)),
                             2e-5, v.name)
        finally:
            self.cohort.traits["B1"] = keep

    def test_the_fail_policy_ends_the_run(self):
        """An offset that no model can follow: null models of chromosome 1 fail."""
        with open(self.path("B2.loco"), "w") as g:
            g.write("FID_IID " + " ".join("_".join(x) for x in self.cohort.ids) + "\n1 ")
            g.write(" ".join("1e9" if (t or 0) else "-1e9" for t in self.cohort.traits["B2"]) + "\n")
        rows = self.scan("warned", "--af-cc", code=3)
        self.assertRegex(self.log, "B2.*chromosome 1")
        good = self.scan("good", "--af-cc", "--ignore-pred")
        for name, row in rows["B2"].items():
            for column in ("N", "N_CASES", "N_CONTROLS", "A1FREQ_CASES", "A1FREQ_CONTROLS"):
                self.assertEqual(row[column], good["B2"][name][column], f"{name} {column}")
        for row in rows["B2"].values():
            self.assertEqual((row["BETA"], row["LOG10P"], row["EXTRA"]), ("NA", "NA", "TEST_FAIL"))
        self.assertEqual(rows["B1"]["v3"]["EXTRA"], "NA")
        alone = self.scan("alone", "--phenoCol", "B2", "--firth", "--approx", code=3)
        self.assertEqual(set(alone), {"B2"})
        self.assertEqual({row["BETA"] for row in alone["B2"].values()}, {"NA"})
        with open(self.path("fail.toml"), "w") as f:
            f.write('[compute]\nnull_logistic_nonconvergence_policy = "fail"\n')
        self.scan("ended", "--config", self.path("fail.toml"), code=1)
        self.assertRegex(self.log, "B2.*chromosome 1")
        split = {**self.cohort.traits, "SPLIT": [int(a > 55) for a in self.cohort.age]}
        self.cohort.write(self.folder, traits=split)
        self.scan("before", "--ignore-pred", "--config", self.path("fail.toml"), code=1)
        self.assertRegex(self.log, "SPLIT.*separate")

    def test_the_effective_configuration_repeats_the_run(self):
        for flags in (["--firth", "--approx", "--firth-se", "--pThresh", "0.2", "--af-cc"],
                      ["--spa", "--maxstep-null", "10"], ["--binary-fallback", "firth_exact",
                                                          "--phenoCol", "B1"]):
            first = self.scan("first", *flags)
            again = subprocess.run([TALLELE, "regenie", "--config",
                                    self.path("first.effective_config.toml"), "--out",
                                    self.path("again")], capture_output=True, text=True)
            self.assertEqual(again.returncode, 0, again.stdout + again.stderr)
            for trait in first:
                self.assertEqual(read_rows(self.path(f"again_{trait}.regenie")), first[trait])

    def test_codings(self):
        plain = self.scan("zero_one")
        self.cohort.write(self.folder, coding=(1, 2))
        self.scan("refused", code=1)
        self.assertIn("--cc12", self.log)
        for flag in ("-1", "--cc12"):
            self.assertEqual(self.scan("one_two" + flag, flag), plain)
        self.cohort.write(self.folder)
        self.scan("other", "--cc12", code=1)
        self.assertIn("leave --cc12", self.log)

    def test_exchanging_cases_and_controls_turns_the_sign(self):
        # B1 alone: its offsets are turned as well, and the model is the mirror image.
        keep = self.cohort.loco["B1"]
        plain = self.scan("plain", "--firth", "--approx", "--pThresh", "0.4", "--phenoCol", "B1")
        self.cohort.loco["B1"] = [-x for x in keep]
        try:
            self.cohort.write(self.folder, traits={
                "B1": [None if t is None else 1 - t for t in self.cohort.traits["B1"]]})
            mirror = self.scan("mirror", "--firth", "--approx", "--pThresh", "0.4")
        finally:
            self.cohort.loco["B1"] = keep
        for name, row in plain["B1"].items():
            twin = mirror["B1"][name]
            for column in ("SE", "CHISQ", "LOG10P"):
                self.assertAlmostEqual(float(row[column]), float(twin[column]),
                                       delta=1e-4 * float(row[column]) + 1e-7)
            self.assertAlmostEqual(float(row["BETA"]), -float(twin["BETA"]),
                                   delta=1e-4 * abs(float(row["BETA"])) + 1e-7)

    def test_corrections_are_near_the_permutation_p_value(self):
        """Without covariates the cases among a rare variant's carriers are hypergeometric under
        permutation, so the permutation p-value is known exactly. The score test alone is far off."""
        rng = random.Random(5)
        people, cases, carriers = 800, 60, 16
        trait = [int(i < cases) for i in range(people)]
        variants = []
        for hits in (0, 1, 4, 5, 6, 8):
            calls = [(0, 0)] * people
            for i in rng.sample(range(cases), hits) + rng.sample(range(cases, people),
                                                                 carriers - hits):
                calls[i] = (0, 255)
            variants.append(Variant("1", 100 + hits, f"hits{hits}", ("A", "C"), calls))
        write_bgen(self.path("p.bgen"), variants, people)
        with open(self.path("p.sample"), "w") as f:
            f.write("ID_1 ID_2 missing\n0 0 0\n" + "".join(f"{i} {i} 0\n" for i in range(people)))
        with open(self.path("p.txt"), "w") as f:
            f.write("FID IID B\n" + "".join(f"{i} {i} {t}\n" for i, t in enumerate(trait)))

        def chance(k):
            return (math.comb(cases, k) * math.comb(people - cases, carriers - k)
                    / math.comb(people, carriers))

        expected = carriers * cases / people
        for flags in (["--firth", "--approx"], ["--spa"]):
            done = subprocess.run(
                [TALLELE, "regenie", "--bt", "--ignore-pred", "--bgen", self.path("p.bgen"),
                 "--sample", self.path("p.sample"), "--phenoFile", self.path("p.txt"), "--format",
                 "regenie", "--minMAC", "1", "--pThresh", "0.9", "--out", self.path("p"), *flags],
                capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            rows = read_rows(self.path("p_B.regenie"))
            for hits in (4, 5, 6, 8):
                exact = sum(chance(k) for k in range(carriers + 1)
                            if abs(k - expected) >= abs(hits - expected) - 1e-9)
                found = float(rows[f"hits{hits}"]["LOG10P"])
                self.assertLess(abs(found + math.log10(exact)), 0.15 * found + 0.3,
                                f"{flags} {hits} {found} {-math.log10(exact)}")

    def test_case_columns(self):
        rows = self.scan("af", "--af-cc")
        for trait in rows:
            for v in self.usable():
                people = [i for i in range(PEOPLE) if self.cohort.traits[trait][i] is not None
                          and v.calls[i] is not None]
                for value, column, number in ((1, "A1FREQ_CASES", "N_CASES"),
                                              (0, "A1FREQ_CONTROLS", "N_CONTROLS")):
                    there = [dosage(v, v.calls[i]) for i in people
                             if self.cohort.traits[trait][i] == value]
                    row = rows[trait][v.name]
                    self.assertEqual(int(row[number]), len(there))
                    self.assertAlmostEqual(float(row[column]), sum(there) / (2 * len(there)),
                                           delta=1e-6)

    def test_wide_text_has_the_split_numbers(self):
        split = self.scan("split", "--firth", "--approx")
        self.scan("wide", "--firth", "--approx", "--no-split")
        wide = read_rows(self.path("wide.regenie"))
        with open(self.path("wide.regenie.Ydict")) as f:
            self.assertEqual(f.read(), "Y1 B1\nY2 B2\nY3 B3\n")
        self.assertGreater(len(wide), 10)
        for name, row in wide.items():
            for k, trait in enumerate(("B1", "B2", "B3"), 1):
                for column in ("BETA", "SE", "CHISQ", "LOG10P"):
                    own = split[trait].get(name, {}).get(column, "NA")
                    self.assertEqual(row[f"{column}.Y{k}"], own, f"{name} {trait} {column}")

    def test_meta_analysis_table_of_a_score_test(self):
        """Without Firth the effect is the allelic odds ratio of the counts."""
        rows = self.scan("score")
        self.scan("htp", "--htp", "COHORT")
        with open(self.path("htp_B1.regenie")) as f:
            header = f.readline().rstrip("\n").split("\t")
            table = [dict(zip(header, line.rstrip("\n").split("\t"))) for line in f]
        self.assertEqual(len(table), len(rows["B1"]))
        for row in table:
            v = next(v for v in self.cohort.variants if v.name == row["Name"])
            counts = {0: [0, 0, 0], 1: [0, 0, 0]}
            for i, value in enumerate(v.calls):
                if value is not None:
                    counts[self.cohort.traits["B1"][i]][min(2, int(dosage(v, value) + 0.5))] += 1
            for y, name in ((1, "Cases"), (0, "Controls")):
                self.assertEqual([int(row[f"{name}_{k}"]) for k in ("Ref", "Het", "Alt")], counts[y])
            alt = {y: 2 * c[2] + c[1] + 0.5 for y, c in counts.items()}
            ref = {y: 2 * c[0] + c[1] + 0.5 for y, c in counts.items()}
            self.assertAlmostEqual(float(row["Effect"]), alt[1] * ref[0] / (ref[1] * alt[0]),
                                   delta=1e-5 * float(row["Effect"]))
            self.assertEqual(row["Model"], "ADD-WGR-LOG")
            p = 10 ** -float(rows["B1"][row["Name"]]["LOG10P"])
            self.assertAlmostEqual(float(row["Pval"]), p, delta=1e-3 * p)  # LOG10P has six digits


if __name__ == "__main__":
    unittest.main()
