"""Runs the built program on small made-up cohorts and compares every printed number with the
definition of the test (linear_oracle.py). Covers what REGENIE's reference files lack:
chromosome X, haploid calls, sex, dominant and recessive quantitative tests, --minINFO, --minMAC,
several traits with gaps, people and chromosomes without predictions, phased and 16-bit data,
skipped variants, filters.

usage: derived_cases_test.py PATH_TO_TALLELE
"""

import math
import os
import random
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from bgen_bytes import Variant, write_bed, write_bgen  # noqa: E402
from linear_oracle import linear_test  # noqa: E402

TALLELE = sys.argv.pop(1) if len(sys.argv) > 1 else "tallele"
NUM_PEOPLE = 61
X_PAR, X_NON_PAR = 500_000, 50_000_000


def random_call(rng, frequency, top):
    """A diploid call as (P two, P one) in units of 1/top, with some uncertainty."""
    copies = sum(rng.random() < frequency for _ in range(2))
    certain = [0, 0, 0]
    certain[2 - copies] = top
    blur = rng.randrange(0, top // 4)
    certain[2 - copies] -= blur
    certain[rng.randrange(3)] += blur
    return (certain[0], certain[1])


class Cohort:
    """Made-up people with genotypes of every kind that the reader knows."""

    def __init__(self):
        rng = random.Random(20)
        self.people = [(f"F{i % 7}", f"P{i}", 1 + i % 2) for i in range(NUM_PEOPLE)]
        self.age = [rng.gauss(50, 10) for _ in self.people]
        self.pc = [rng.gauss(0, 1) for _ in self.people]
        self.traits = {
            "T1": [None if rng.random() < 0.15 else rng.gauss(50, 3) for _ in self.people],
            "T2": [None if i % 5 == 0 else rng.gauss(1000, 100) for i in range(NUM_PEOPLE)],
            "T3": [rng.gauss(0, 1) for _ in self.people],
        }
        self.variants = self._variants(rng)
        self.loco = {
            name: {c: [rng.gauss(0, 0.3) for _ in self.people] for c in (1, 2, 23)}
            for name in self.traits
        }
        self.not_in_loco = {"T1": {3, 17}, "T2": set(), "T3": set()}

    def _variants(self, rng):
        out = []
        for k in range(12):
            calls = [random_call(rng, 0.1 + 0.07 * k, 255) for _ in self.people]
            if k % 3 == 0:
                calls[5 + k] = None
                calls[20 + k] = None
            out.append(Variant("1", 1000 + k, f"v1_{k}", ("A", "C"), calls))
        rare = [(0, 0)] * NUM_PEOPLE
        rare[7], rare[30] = (0, 255), (0, 200)
        out.append(Variant("1", 2000, "rare", ("G", "T"), rare))
        noisy = [(64, 127)] * 30 + [(60, 128)] * (NUM_PEOPLE - 30)
        out.append(Variant("1", 2100, "noisy", ("G", "T"), noisy))
        out.append(Variant("1", 2200, "three", ("A", "C", "G"),
                           [(255, 0, 0, 0, 0)] * NUM_PEOPLE, ploidy=[2] * NUM_PEOPLE))
        out.append(Variant("1", 2300, "triploid", ("A", "C"), [(255, 0, 0)] * NUM_PEOPLE,
                           ploidy=[3] * NUM_PEOPLE))
        deep = [random_call(rng, 0.3, 65535) for _ in self.people]
        deep[11] = None
        out.append(Variant("2", 100, "bits16", ("A", "C"), deep, bits=16))
        odd = [random_call(rng, 0.4, (1 << 21) - 1) for _ in self.people]
        out.append(Variant("2", 150, "bits21", ("A", "C"), odd, bits=21))
        phased = [(rng.randrange(256), rng.randrange(256)) for _ in self.people]
        phased[40] = None
        out.append(Variant("2", 200, "phased", ("A", "C"), phased, phased=True))
        out.append(self._x_variant(rng, "X", X_PAR, "x_par", haploid=False))
        out.append(self._x_variant(rng, "chrX", X_NON_PAR, "x_haploid", haploid=True))
        return out

    def _x_variant(self, rng, chrom, pos, name, haploid):
        calls = []
        for _, _, sex in self.people:
            if haploid and sex == 1:
                calls.append((rng.choice([0, 20, 255, 240]),))
            else:
                calls.append(random_call(rng, 0.35, 255))
        return Variant(chrom, pos, name, ("A", "C"), calls)

    def write(self, folder, compression="zlib"):
        path = lambda name: os.path.join(folder, name)  # noqa: E731
        write_bgen(path("g.bgen"), self.variants, NUM_PEOPLE, compression)
        with open(path("g.sample"), "w") as f:
            f.write("ID_1 ID_2 missing sex\n0 0 0 D\n")
            for fid, iid, sex in self.people:
                f.write(f"{fid} {iid} 0 {sex}\n")
        with open(path("pheno.txt"), "w") as f:
            f.write("FID IID " + " ".join(self.traits) + "\n")
            order = list(range(NUM_PEOPLE))
            random.Random(3).shuffle(order)
            for i in order:
                cells = ["NA" if t[i] is None else repr(t[i]) for t in self.traits.values()]
                f.write(" ".join([*self.people[i][:2], *cells]) + "\n")
        with open(path("covar.txt"), "w") as f:
            f.write("FID\tIID\tage\tpc\n")
            for i, (fid, iid, _) in enumerate(self.people):
                f.write(f"{fid}\t{iid}\t{self.age[i]!r}\t{self.pc[i]!r}\n")
        with open(path("pred.list"), "w") as f:
            for k, name in enumerate(self.traits):
                f.write(f"{name} loco_{k + 1}.loco\n")
                self._write_loco(path(f"loco_{k + 1}.loco"), name)

    def _write_loco(self, path, name):
        there = [i for i in range(NUM_PEOPLE) if i not in self.not_in_loco[name]]
        with open(path, "w") as f:
            f.write("FID_IID " + " ".join("_".join(self.people[i][:2]) for i in there) + " \n")
            for chrom, values in self.loco[name].items():
                cells = ["NA" if values[i] is None else repr(values[i]) for i in there]
                f.write(f"{chrom} " + " ".join(cells) + " \n")


def copies_of_first(variant, call, model="additive"):
    """Dosage (or coding) of the first allele of one call, from the stored numerators."""
    if call is None:
        return None
    top = (1 << variant.bits) - 1
    if len(call) == 1:
        p = call[0] / top
        return 2 * p if model == "additive" else p
    a, b = call[0] / top, call[1] / top
    if variant.phased:
        two, one = a * b, a * (1 - b) + b * (1 - a)
    else:
        two, one = a, b
    return {"additive": 2 * two + one, "dominant": two + one, "recessive": two}[model]


def impute_info(variant, calls):
    """1 - sum of variances / expected, one term for each diploid or haploid call."""
    top = (1 << variant.bits) - 1
    variance = expected = total = people = 0.0
    for call in calls:
        if call is None:
            continue
        people += 1
        total += copies_of_first(variant, call)
        if len(call) == 1:
            p = call[0] / top
            variance += p * (1 - p)
            expected += 1
        elif variant.phased:
            variance += sum(c / top * (1 - c / top) for c in call)
            expected += 2
        else:
            two, one = call[0] / top, call[1] / top
            variance += 4 * two + one - (2 * two + one) ** 2
            expected += 2
    f = total / (2 * people)
    return 1.0 if f in (0.0, 1.0) else 1 - variance / (expected * f * (1 - f))


def read_regenie(path):
    with open(path) as f:
        header = f.readline().split()
        return {row[2]: dict(zip(header, row)) for row in (line.split() for line in f)}


def run(*arguments, code=0):
    done = subprocess.run([TALLELE, "regenie", *arguments], capture_output=True, text=True)
    if done.returncode != code:
        raise AssertionError(f"exit {done.returncode}, expected {code}\n{' '.join(arguments)}\n"
                             f"{done.stdout}\n{done.stderr}")
    return done.stdout + done.stderr


class DerivedCases(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cohort = Cohort()
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = cls.temporary.name
        cls.cohort.write(cls.folder)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def path(self, name):
        return os.path.join(self.folder, name)

    def scan(self, name, *extra, pred=True, code=0):
        """Runs all traits; returns the text rows by trait and id."""
        arguments = ["--step", "2", "--qt", "--bgen", self.path("g.bgen"), "--sample",
                     self.path("g.sample"), "--phenoFile", self.path("pheno.txt"), "--covarFile",
                     self.path("covar.txt"), "--bsize", "7", "--format", "regenie", "--out",
                     self.path(name), *extra]
        arguments += ["--pred", self.path("pred.list")] if pred else ["--ignore-pred"]
        self.log = run(*arguments, code=code)
        return {t: read_regenie(self.path(f"{name}_{t}.regenie")) for t in self.cohort.traits
                if os.path.exists(self.path(f"{name}_{t}.regenie"))}

    def members(self, trait, chrom, pred=True, keep=lambda i: True):
        c = self.cohort
        gone = c.not_in_loco[trait] if pred else set()
        return [i for i in range(NUM_PEOPLE)
                if c.traits[trait][i] is not None and i not in gone and keep(i)
                and (not pred or c.loco[trait][chrom][i] is not None)]

    def expected(self, trait, variant, model="additive", ref_first=False, pred=True,
                 keep=lambda i: True):
        c = self.cohort
        chrom = 23 if "X" in variant.chrom else int(variant.chrom)
        people = self.members(trait, chrom, pred, keep)
        calls = [variant.calls[i] for i in people]
        if ref_first:
            top = {"additive": 2, "dominant": 1, "recessive": 1}[model]
            other = {"additive": "additive", "dominant": "recessive", "recessive": "dominant"}
            dosage = [copies_of_first(variant, x, other[model]) for x in calls]
            dosage = [None if d is None else top - d for d in dosage]
        else:
            dosage = [copies_of_first(variant, x, model) for x in calls]
        loco = [c.loco[trait][chrom][i] if pred else 0.0 for i in people]
        row = linear_test([[c.age[i] for i in people], [c.pc[i] for i in people]],
                          [c.traits[trait][i] for i in people], loco, dosage)
        additive = [copies_of_first(variant, x) for x in calls]
        seen = [a for a in additive if a is not None]
        freq = math.fsum(seen) / (2 * len(seen))
        row["A1FREQ"] = 1 - freq if ref_first else freq
        row["INFO"] = impute_info(variant, calls)
        return row

    def compare(self, found, expected, what):
        for column, value in expected.items():
            if column == "INFO" and value < 0:
                self.assertEqual(found[column], "NA", what)
                continue
            got = float(found[column])
            if column in ("BETA", "SE"):
                tolerance = 2e-5 * abs(value) + 1e-6 * expected["SE"]
            else:
                tolerance = 2e-5 * abs(value) + 1e-7
            self.assertLessEqual(abs(got - value), tolerance, f"{what}: {column} {got} {value}")

    def variants_tested(self):
        return [v for v in self.cohort.variants if v.name not in ("three", "triploid")]

    def test_every_kind_of_call_with_gaps_and_predictions(self):
        rows = self.scan("plain", "--minMAC", "0.5")
        for trait in self.cohort.traits:
            for v in self.variants_tested():
                self.compare(rows[trait][v.name], self.expected(trait, v), f"{trait} {v.name}")
            self.assertNotIn("three", rows[trait])
            self.assertNotIn("triploid", rows[trait])

    def test_second_allele_is_the_effect_with_ref_first(self):
        rows = self.scan("reffirst", "--minMAC", "0.5", "--ref-first")
        for trait in self.cohort.traits:
            for v in self.variants_tested():
                self.compare(rows[trait][v.name], self.expected(trait, v, ref_first=True),
                             f"{trait} {v.name}")
                self.assertEqual(rows[trait][v.name]["ALLELE1"], v.alleles[1])

    def test_dominant_and_recessive(self):
        for model, label in (("dominant", "DOM"), ("recessive", "REC")):
            for flags in ([], ["--ref-first"]):
                name = model + str(len(flags))
                rows = self.scan(name, "--minMAC", "0.5", "--test", model, *flags)
                for trait in self.cohort.traits:
                    for v in self.variants_tested():
                        if v.name == "rare" or v.name not in rows[trait]:
                            continue
                        want = self.expected(trait, v, model, ref_first=bool(flags))
                        self.compare(rows[trait][v.name], want, f"{name} {trait} {v.name}")
                        self.assertEqual(rows[trait][v.name]["TEST"], label)
                    self.assertGreater(len(rows[trait]), 10)

    def test_minor_allele_count_is_the_trait_s_own_and_halves_males_on_x(self):
        threshold = 1.5
        rows = self.scan("mac", "--minMAC", str(threshold))
        for trait in self.cohort.traits:
            people = self.members(trait, 1)
            rare = next(v for v in self.cohort.variants if v.name == "rare")
            count = sum(copies_of_first(rare, rare.calls[i]) for i in people)
            self.assertEqual("rare" in rows[trait], count >= threshold, trait)
        x = next(v for v in self.cohort.variants if v.name == "x_haploid")
        mac = self.minor_allele_count(x, halve_males=True)
        for limit, there in ((mac - 0.01, True), (mac + 0.01, False)):
            rows = self.scan(f"xmac{there}", "--minMAC", repr(limit), "--par-region", "hg38")
            self.assertEqual("x_haploid" in rows["T3"], there)

    def minor_allele_count(self, variant, halve_males):
        """Of T3's people on X; `halve_males`: a man has one copy, as outside the PARs."""
        share = {i: 0.5 if halve_males and self.cohort.people[i][2] == 1 else 1.0
                 for i in self.members("T3", 23)}
        count = sum(copies_of_first(variant, variant.calls[i]) * s for i, s in share.items())
        return min(count, 2 * sum(share.values()) - count)

    def test_the_par_region_decides_where_males_are_halved(self):
        """Men are halved inside the window alone, and the window moves no other number."""
        variants = {v.name: v for v in self.cohort.variants if v.name.startswith("x_")}
        for region, inside in (("hg38", "x_haploid"), ("b37", "x_haploid"),
                               ("b36", "x_haploid"), (f"{X_PAR - 9},{X_PAR + 9}", "x_par")):
            for name, variant in variants.items():
                mac = self.minor_allele_count(variant, halve_males=name == inside)
                other = self.minor_allele_count(variant, halve_males=name != inside)
                self.assertGreater(abs(mac - other), 1)
                for limit, there in ((mac - 0.01, True), (mac + 0.01, False)):
                    what = f"{region} {name} {limit}"
                    rows = self.scan(f"par_{region}_{name}_{there}", "--minMAC", repr(limit), "--par-region",
                                     region)
                    self.assertEqual(name in rows["T3"], there, what)
                    if there:
                        self.compare(rows["T3"][name], self.expected("T3", variant), what)

    def test_min_info_uses_the_raw_value(self):
        rows = self.scan("info", "--minMAC", "0.5", "--minINFO", "0.6")
        for trait in self.cohort.traits:
            for v in self.variants_tested():
                info = self.expected(trait, v)["INFO"]
                if v.name == "rare" or abs(info - 0.6) < 1e-6:
                    continue
                self.assertEqual(v.name in rows[trait], info >= 0.6, f"{trait} {v.name} {info}")

    def test_a_trait_alone_prints_the_same_bytes(self):
        self.scan("together", "--minMAC", "0.5")
        for trait in self.cohort.traits:
            self.scan("alone_" + trait, "--minMAC", "0.5", "--phenoCol", trait)
            with open(self.path(f"together_{trait}.regenie")) as a, \
                    open(self.path(f"alone_{trait}_{trait}.regenie")) as b:
                self.assertEqual(a.read(), b.read())

    def test_people_filters(self):
        with open(self.path("keep.txt"), "w") as f:
            for fid, iid, _ in self.cohort.people[:50]:
                f.write(f"{fid} {iid}\n")
        with open(self.path("remove.txt"), "w") as f:
            for fid, iid, _ in self.cohort.people[:6]:
                f.write(f"{fid} {iid}\n")
        cases = {
            "keep": (["--keep", self.path("keep.txt")], lambda i: i < 50),
            "remove": (["--remove", self.path("remove.txt")], lambda i: i >= 6),
            "male": (["--sex-specific", "male"], lambda i: self.cohort.people[i][2] == 1),
            "female": (["--sex-specific", "female"], lambda i: self.cohort.people[i][2] == 2),
        }
        for name, (flags, keep) in cases.items():
            rows = self.scan("filter_" + name, "--minMAC", "0.5", *flags, pred=False)
            for v in self.variants_tested():
                if v.name == "rare":
                    continue
                want = self.expected("T3", v, pred=False, keep=keep)
                self.compare(rows["T3"][v.name], want, f"{name} {v.name}")

    def test_variant_filters(self):
        with open(self.path("ids.txt"), "w") as f:
            f.write("v1_1\nv1_5 trailing words\nphased\n")
        both = ["--minMAC", "0.5"]
        self.assertEqual(set(self.scan("e", *both, "--extract", self.path("ids.txt"))["T3"]),
                         {"v1_1", "v1_5", "phased"})
        left = set(self.scan("x", *both, "--exclude", self.path("ids.txt"))["T3"])
        self.assertFalse(left & {"v1_1", "v1_5", "phased"})
        self.assertIn("v1_2", left)
        self.assertEqual(set(self.scan("c", *both, "--chr", "2")["T3"]),
                         {"bits16", "bits21", "phased"})
        self.assertEqual(set(self.scan("cx", *both, "--chr", "X")["T3"]), {"x_par", "x_haploid"})
        self.assertEqual(set(self.scan("r", *both, "--range", "1:1002-1004")["T3"]),
                         {"v1_2", "v1_3", "v1_4"})

    def test_na_predictions_mask_that_chromosome(self):
        saved = self.cohort.loco["T2"][2]
        self.cohort.loco["T2"][2] = [None if i in (1, 2, 8) else v for i, v in enumerate(saved)]
        try:
            self.cohort.write(self.folder)
            rows = self.scan("na", "--minMAC", "0.5")
            for v in self.variants_tested():
                self.compare(rows["T2"][v.name], self.expected("T2", v), v.name)
        finally:
            self.cohort.loco["T2"][2] = saved
            self.cohort.write(self.folder)

    def test_skipped_variants_are_counted_and_named(self):
        self.scan("skip", "--minMAC", "0.5")
        with open(self.path("skip.log")) as f:
            log = f.read()
        self.assertIn("three", log)
        self.assertIn("triploid", log)

    def test_a_trait_that_cannot_be_analysed_ends_alone(self):
        with open(self.path("pheno.txt")) as f:
            lines = f.read().splitlines()
        path = self.path("pheno_bad.txt")
        with open(path, "w") as f:
            f.write(lines[0] + " FLAT AGE GONE\n")
            ages = {p[1]: a for p, a in zip(self.cohort.people, self.cohort.age)}
            for line in lines[1:]:
                f.write(f"{line} 5 {ages[line.split()[1]]!r} NA\n")
        out = run("--bgen", self.path("g.bgen"), "--sample", self.path("g.sample"), "--phenoFile",
                  path, "--covarFile", self.path("covar.txt"), "--ignore-pred", "--format",
                  "regenie", "--minMAC", "0.5", "--out", self.path("bad"), code=3)
        for name in ("FLAT", "AGE", "GONE"):
            self.assertIn(name, out)
            self.assertFalse(os.path.exists(self.path(f"bad_{name}.regenie")))
        rows = read_regenie(self.path("bad_T3.regenie"))
        v = self.cohort.variants[0]
        self.compare(rows[v.name], self.expected("T3", v, pred=False), v.name)

    def test_hard_calls(self):
        rng = random.Random(8)
        variants = []
        for k in range(9):
            counts = [sum(rng.random() < 0.3 for _ in range(2)) for _ in self.cohort.people]
            if k % 2:
                counts[k] = None
            variants.append(("1" if k < 6 else "23", f"b{k}", 100 + k, "A", "G", counts))
        write_bed(self.path("hard"), self.cohort.people, variants)
        run("--bed", self.path("hard"), "--phenoFile", self.path("pheno.txt"), "--covarFile",
            self.path("covar.txt"), "--pred", self.path("pred.list"), "--format", "regenie",
            "--minMAC", "0.5", "--out", self.path("bed"))
        for trait in self.cohort.traits:
            rows = read_regenie(self.path(f"bed_{trait}.regenie"))
            for chrom, name, _, _, _, counts in variants:
                people = self.members(trait, int(chrom))
                c = self.cohort
                want = linear_test([[c.age[i] for i in people], [c.pc[i] for i in people]],
                                   [c.traits[trait][i] for i in people],
                                   [c.loco[trait][int(chrom)][i] for i in people],
                                   [counts[i] for i in people])
                self.compare(rows[name], want, f"{trait} {name}")
                self.assertNotIn("INFO", rows[name])


if __name__ == "__main__":
    unittest.main()
