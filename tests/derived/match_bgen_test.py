"""What `tallele dietnet match` makes of a BGEN: every call of the matched store against fractions worked
out from the numbers that were stored, for 8 and 16 bits, phased and not, haploid and missing.

The store is read by docs/formats/packed-store.md; nothing here knows how the program decodes or rounds.

usage: match_bgen_test.py TALLELE SOURCE_FOLDER
"""

import os
import random
import struct
import subprocess
import sys
import tempfile
import unittest
from fractions import Fraction

from bgen_bytes import Variant, write_bgen

TALLELE, SOURCE = (os.path.abspath(p) for p in sys.argv[1:3])
del sys.argv[1:3]
SHARED = os.environ.get("TALLELE_SHARED", os.path.join(SOURCE, "..", "shared"))
MODEL = os.path.join(SHARED, "fixtures", "dietnet", "bn24-d")
MODEL_SNPS = 5000
PEOPLE = 101  # not a multiple of 4
MISSING = 3

# Alleles of the cohort for a model that counts A against G: whether copies of the first are counted.
SPELLINGS = [(("A", "G"), True), (("G", "A"), False), (("T", "C"), True), (("C", "T"), False)]


def dietnet(*arguments):
    return subprocess.run([TALLELE, "dietnet", *arguments], capture_output=True, text=True)


def genotype_probabilities(call, denominator, phased):
    """Exact probabilities of 2, 1 and 0 first alleles; a haploid carrier has two copies, as in PLINK."""
    share = [Fraction(value, denominator) for value in call]
    if len(share) == 1:
        return share[0], Fraction(0), 1 - share[0]
    if phased:
        one, other = share
        return one * other, one * (1 - other) + other * (1 - one), (1 - one) * (1 - other)
    return share[0], share[1], 1 - share[0] - share[1]


def expected_code(call, denominator, phased, limit, counts_first):
    if call is None:
        return MISSING
    for copies, share in zip((2, 1, 0), genotype_probabilities(call, denominator, phased)):
        if share >= limit:
            return copies if counts_first else 2 - copies
    return MISSING


def random_call(rng, top, limit, phased, haploid):
    """Often near certainty, often just at, above or below the limit, sometimes anything."""
    if rng.random() < 0.05:
        return None
    edge = int(limit * top)  # a whole number for the limits below
    value = rng.choice([top, top, 0, edge, edge - 1, edge + 1, top - edge, top - edge - 1,
                        rng.randint(0, top)])
    if haploid:
        return (value,)
    if phased:
        return value, rng.choice([top, 0, edge, rng.randint(0, top)])
    rest = rng.choice([top - value, 0, rng.randint(0, top - value)])
    return (value, rest) if rng.random() < 0.5 else (rest, value)


def make_variants(rng, bits, limit):
    """Every second model SNP from the first: some of chromosome 1, the rest of X with haploid men."""
    variants, spellings = [], []
    for j in range(0, 160, 2):
        on_x, phased = j >= 100, j % 6 == 0
        alleles, counts_first = SPELLINGS[j // 2 % 4]
        calls = [random_call(rng, 2 ** bits - 1, limit, phased, on_x and i % 2 == 1)
                 for i in range(PEOPLE)]
        if on_x:  # a missing man is stored as haploid too
            ploidy = [1 if i % 2 == 1 else 2 for i in range(PEOPLE)]
        else:
            ploidy = [2] * PEOPLE
        variants.append(Variant("X" if on_x else "01", j + 1, f"v{j}", alleles, calls, bits, phased,
                                ploidy))
        spellings.append(counts_first)
    return variants, spellings


def read_store(path):
    """Rows of genotype codes, and the sections."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"TALLPK01" and data[-8:] == b"TALLPK01"
    people, snps, stride = struct.unpack("<3Q", data[8:32])
    rows = []
    for i in range(people):
        row = data[64 + i * stride:64 + (i + 1) * stride]
        rows.append([row[j // 4] >> 2 * (j % 4) & 3 for j in range(snps)])
    at, sections = 64 + people * stride, {}
    end = at + struct.unpack("<Q", data[-16:-8])[0]
    while at < end:
        name, content = struct.unpack("<2Q", data[at:at + 16])
        at += 16
        sections[data[at:at + name].decode()] = data[at + name:at + name + content].decode()
        at += name + content
    return rows, sections


@unittest.skipUnless(os.path.isdir(MODEL), "no shared fixtures")
class MatchBgen(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        bim = cls.path("model.bim")
        with open(bim, "w") as file:
            file.writelines(f"{'chr1' if j < 100 else '23'}\trs{j}\t0\t{j + 1}\tA\tG\n"
                            for j in range(MODEL_SNPS))
        done = dietnet("import-package", "--checkpoint", os.path.join(MODEL, "best_model.pt"),
                       "--embedding", os.path.join(MODEL, "embedding_fold0.npz"), "--stats",
                       os.path.join(MODEL, "input_stats_fold0.npz"), "--bim", bim, "--out",
                       cls.path("model"))
        assert done.returncode == 0, done.stderr

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @classmethod
    def path(cls, name):
        return os.path.join(cls.temporary.name, name)

    def match(self, bgen, work, *more):
        return dietnet("match", "--model", self.path("model"), "--bgen", bgen, "--work-dir", work,
                       "--min-correlation", "-1", *more)

    def check(self, bits, limit, compression="zlib"):
        rng = random.Random(bits)
        variants, spellings = make_variants(rng, bits, limit)
        bgen, work = self.path(f"c{bits}.bgen"), self.path(f"work{bits}")
        write_bgen(bgen, variants, PEOPLE, compression, [f"P{i}" for i in range(PEOPLE)])
        done = self.match(bgen, work, "--min-call-probability", str(float(limit)))
        self.assertEqual(done.returncode, 0, done.stderr)
        rows, sections = read_store(os.path.join(work, "matched.store"))
        self.assertEqual(sections["model_snps"].split(), [str(j) for j in range(0, 160, 2)])
        self.assertEqual([line.split("\t")[1] for line in sections["people"].splitlines()],
                         [f"P{i}" for i in range(PEOPLE)])
        seen = set()
        for k, (variant, counts_first) in enumerate(zip(variants, spellings)):
            for i, call in enumerate(variant.calls):
                code = expected_code(call, 2 ** bits - 1, variant.phased, limit, counts_first)
                self.assertEqual(rows[i][k], code, (variant.name, i, call))
                seen.add(code)
        self.assertEqual(seen, {0, 1, 2, MISSING})
        self.assertEqual([name for name in os.listdir(work) if "tmp" in name], [])

    def test_calls_of_8_bits(self):
        self.check(8, Fraction(4, 5))  # 204 of 255 is the limit itself

    def test_calls_of_16_bits(self):
        self.check(16, Fraction(4, 5), "none")  # 52,428 of 65,535

    def test_a_limit_that_lets_two_genotypes_through_is_refused(self):
        rng = random.Random(1)
        variants, _ = make_variants(rng, 8, Fraction(4, 5))
        write_bgen(self.path("l.bgen"), variants, PEOPLE, sample_ids=[f"P{i}" for i in range(PEOPLE)])
        for limit in ("0.5", "1.01"):
            done = self.match(self.path("l.bgen"), self.path("l"), "--min-call-probability", limit)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertFalse(os.path.exists(self.path("l/matched.store")))


if __name__ == "__main__":
    unittest.main()
