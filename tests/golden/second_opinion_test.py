"""PLINK 2 and real people as second opinions on the built program.

PLINK's linear regression fits the variant in the model, REGENIE's score test does not: for the same
people and covariates BETA is the same, and with R^2 the share explained, CHISQ = (n-K) R^2 while
t^2 = (n-K-1) R^2 / (1-R^2).

usage: second_opinion_test.py TALLELE FIXTURES
"""

import math
import os
import random
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "derived"))
from linear_oracle import linear_test  # noqa: E402

TALLELE, FIXTURES = sys.argv[1:3]
del sys.argv[1:3]


def scan(folder, *arguments):
    out = os.path.join(folder, "scan")
    done = subprocess.run([TALLELE, "regenie", *arguments, "--ignore-pred", "--format", "regenie",
                           "--minMAC", "0.5", "--out", out], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(done.stdout + done.stderr)
    return out


def read_table(path):
    with open(path) as file:
        header = file.readline().lstrip("#").split()
        return [dict(zip(header, line.split())) for line in file]


class Plink(unittest.TestCase):
    def test_linear_regression_of_the_golden_cohort(self):
        golden = os.path.join(FIXTURES, "golden")
        with tempfile.TemporaryDirectory() as folder:
            out = scan(folder, "--bgen", f"{golden}/imputed.bgen", "--sample",
                       f"{golden}/imputed.sample", "--ref-first", "--phenoFile",
                       f"{golden}/phenotypes_qt.tsv", "--phenoCol", "QT1", "--covarFile",
                       f"{golden}/cov_num.tsv")
            ours = {(r["CHROM"], r["GENPOS"], r["ID"]): r for r in read_table(out + "_QT1.regenie")}
        compared = 0
        for row in read_table(os.path.join(golden, "plink2", "qt.QT1.glm.linear")):
            mine = ours.get((row["CHROM"], row["POS"], row["ID"]))
            if row["TEST"] != "ADD" or row["BETA"] == "NA" or mine is None:
                continue
            n = int(row["OBS_CT"])
            # PLINK drops missing calls where REGENIE fills them with the mean.
            if n != 2200 or int(mine["N"]) != n or mine["BETA"] == "NA":
                continue
            sign = 1 if row["A1"] == mine["ALLELE1"] else -1
            beta, se = sign * float(row["BETA"]), float(row["SE"])
            self.assertLessEqual(abs(float(mine["BETA"]) - beta), 2e-3 * se + 1e-4 * abs(beta), row)
            df, t2 = n - 6 - 1, (beta / se) ** 2
            chisq = (df + 1) * t2 / (t2 + df)
            self.assertLessEqual(abs(float(mine["CHISQ"]) - chisq), 2e-3 * chisq + 2e-3, row)
            compared += 1
        self.assertGreater(compared, 1000)


    def test_firth_regression_of_the_golden_cohort(self):
        """PLINK's Firth regression is the full model, as --firth without --approx is. BETA and SE
        agree; the test does not (PLINK's is Wald's, this one the likelihood ratio)."""
        golden = os.path.join(FIXTURES, "golden")
        with tempfile.TemporaryDirectory() as folder:
            out = scan(folder, "--bgen", f"{golden}/imputed.bgen", "--sample",
                       f"{golden}/imputed.sample", "--ref-first", "--phenoFile",
                       f"{golden}/phenotypes_bt12.tsv", "--phenoCol", "BT1", "--covarFile",
                       f"{golden}/cov_num.tsv", "--bt", "-1", "--firth", "--pThresh", "0.05")
            ours = {(r["CHROM"], r["GENPOS"], r["ID"]): r for r in read_table(out + "_BT1.regenie")}
        compared = 0
        for row in read_table(os.path.join(golden, "plink2", "bt12_firth.BT1.glm.firth")):
            mine = ours.get((row["CHROM"], row["POS"], row["ID"]))
            if row["TEST"] != "ADD" or mine is None or int(row["OBS_CT"]) != 2200:
                continue
            effect = row.get("BETA") or row.get("OR")
            if "NA" in (effect, mine["BETA"]) or float(mine["LOG10P"]) < 1.5:
                continue  # not certainly corrected
            sign = 1 if row["A1"] == mine["ALLELE1"] else -1
            beta = sign * (float(effect) if "BETA" in row else math.log(float(effect)))
            se = float(row.get("SE") or row["LOG(OR)_SE"])
            self.assertLessEqual(abs(float(mine["BETA"]) - beta), 5e-3 * se + 1e-3 * abs(beta), row)
            self.assertLessEqual(abs(float(mine["SE"]) - se), 5e-3 * se, row)
            compared += 1
        self.assertGreater(compared, 30)


class RegenieExample(unittest.TestCase):
    def test_the_file_that_regenie_ships(self):
        """Its predictions were zero. All but a few rows are uncorrected ones."""
        example = os.path.join(FIXTURES, "regenie-example")
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "scan")
            done = subprocess.run(
                [TALLELE, "regenie", "--step", "2", "--bt", "--firth", "--approx", "--pThresh",
                 "0.01", "--ignore-pred", "--bgen", f"{example}/example.bgen", "--phenoFile",
                 f"{example}/phenotype_bin.txt", "--phenoCol", "Y1", "--covarFile",
                 f"{example}/covariates.txt", "--remove", f"{example}/fid_iid_to_remove.txt",
                 "--bsize", "200", "--format", "regenie", "--out", out],
                capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            ours = read_table(out + "_Y1.regenie")
        theirs = read_table(os.path.join(example, "test_bin_out_firth_Y1.regenie"))
        self.assertEqual(len(ours), len(theirs))
        for mine, row in zip(ours, theirs):
            for column, text in row.items():
                if column in ("A1FREQ", "INFO", "BETA", "SE", "CHISQ", "LOG10P"):
                    got, want = float(mine[column]), float(text)
                    self.assertLessEqual(abs(got - want), 1e-4 * abs(want) + 1e-6, (mine, row))
                else:
                    self.assertEqual(mine[column], text)


class RealPeople(unittest.TestCase):
    def test_a_simulated_trait_in_the_1000_genomes(self):
        prefix = os.path.join(FIXTURES, "1kg-phase1", "1kg")
        with open(prefix + ".fam") as file:
            people = [line.split()[:2] for line in file]
        with open(prefix + ".bim") as file:
            variants = [line.split() for line in file]
        with open(prefix + ".bed", "rb") as file:
            bed = file.read()
        width = (len(people) + 3) // 4

        def counts(v):
            codes = [bed[3 + v * width + p // 4] >> (2 * (p % 4)) & 3 for p in range(len(people))]
            return [{0: 2, 1: None, 2: 1, 3: 0}[c] for c in codes]

        rng = random.Random(4)
        causal = counts(7000)
        trait = [100 + 2 * (g or 0) + rng.gauss(0, 2) for g in causal]
        age = [rng.uniform(20, 70) for _ in people]
        with tempfile.TemporaryDirectory() as folder:
            with open(folder + "/pheno", "w") as file, open(folder + "/covar", "w") as covar:
                file.write("FID IID T\n")
                covar.write("FID IID age\n")
                for (fid, iid), y, a in zip(people, trait, age):
                    file.write(f"{fid} {iid} {y!r}\n")
                    covar.write(f"{fid} {iid} {a!r}\n")
            out = scan(folder, "--bed", prefix, "--phenoFile", folder + "/pheno", "--covarFile",
                       folder + "/covar")
            rows = {r["ID"]: r for r in read_table(out + "_T.regenie")}
        zero = [0.0] * len(people)
        for v in list(range(3, len(variants), 700)) + [7000]:
            dosage = counts(v)
            if len({g for g in dosage if g is not None}) < 2:
                continue
            want, got = linear_test([age], trait, zero, dosage), rows[variants[v][1]]
            for column, value in want.items():
                tolerance = 2e-5 * abs(value) + (1e-6 * want["SE"] if column == "BETA" else 1e-7)
                self.assertLessEqual(abs(float(got[column]) - value), tolerance, (v, column))
        self.assertEqual(max(rows.values(), key=lambda r: -math.inf if r["LOG10P"] == "NA" else
                             float(r["LOG10P"]))["GENPOS"], variants[7000][3])


if __name__ == "__main__":
    unittest.main()
