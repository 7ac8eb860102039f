"""Protects: pyarrow, DuckDB and Polars read our Parquet parts and find what was written.

Makes a REGENIE text with random numbers, has `write_dataset` turn it into a dataset, and compares
every value that each reader returns with the text. Exit code 77 means skipped.
"""

import gzip
import math
import os
import random
import subprocess
import sys
import tempfile

COLUMNS = ("CHROM GENPOS ID ALLELE0 ALLELE1 A1FREQ INFO N BETA SE CHISQ LOG10P "
           "CORRECTION_METHOD CORRECTION_STATUS TEST INFO_RATIO STATUS_REASON "
           "VARIANT_INDEX").split()
HEADER = "CHROM GENPOS ID ALLELE0 ALLELE1 A1FREQ INFO N TEST BETA SE CHISQ LOG10P EXTRA"


def random_lines(count):
    """Lines of a REGENIE text: chromosomes 1, 2 and 3, some tests failed, some INFO missing."""
    rng = random.Random(5)
    six = lambda x: f"{x:.6g}"
    for i in range(count):
        chromosome = 1 + 3 * i // count
        alleles = rng.choice(["A C", "G T", "A AGGT"])
        info = "NA" if i % 11 == 0 else six(rng.random())
        statistics = [six(rng.gauss(0, 1)), six(rng.random()), six(rng.expovariate(1)),
                      six(rng.expovariate(1))]
        if i % 13 == 0:
            statistics = ["NA"] * 4
        yield (f"{chromosome} {i * 37 + 1} rs{i} {alleles} {six(rng.random())} {info} "
               f"{2000 - i % 7} ADD {' '.join(statistics)} NA")


def expected_rows(lines):
    """What a reader must return, by column, straight from the text."""
    number = lambda text, missing: missing if text == "NA" else float(text)
    for index, line in enumerate(lines):
        f = line.split()
        if f[0] == "3":
            continue
        failed = f[11] == "NA"
        yield (f[0], int(f[1]), f[2], f[3], f[4], float(f[5]), number(f[6], None), int(f[7]),
               *(number(x, math.nan) for x in f[9:13]), "score",
               "failed" if failed else "success", f[8], None,
               "no_variance" if failed else "", index)


def read_pyarrow(folder):
    import pyarrow.parquet as pq
    table = pq.read_table(folder)
    assert table.column_names == COLUMNS, table.column_names
    return list(zip(*(column.to_pylist() for column in table.columns)))


def read_duckdb(folder):
    import duckdb
    query = f"SELECT * FROM read_parquet('{folder}/*.parquet') ORDER BY VARIANT_INDEX"
    return duckdb.sql(query).fetchall()


def read_polars(folder):
    import polars
    frame = polars.read_parquet(f"{folder}/*.parquet")
    assert frame.columns == COLUMNS, frame.columns
    return frame.rows()


def same(a, b):
    return a == b or (isinstance(a, float) and isinstance(b, float)
                      and math.isnan(a) and math.isnan(b))


def compare(name, found, expected):
    assert len(found) == len(expected), f"{name}: {len(found)} rows, expected {len(expected)}"
    for row, (got, want) in enumerate(zip(found, expected)):
        for column, a, b in zip(COLUMNS, got, want, strict=True):
            assert same(a, b), f"{name}: row {row}, {column}: {a!r}, expected {b!r}"
    print(f"{name}: {len(found)} rows agree")


def main(program):
    readers = {}
    for name, reader in (("pyarrow", read_pyarrow), ("duckdb", read_duckdb),
                         ("polars", read_polars)):
        try:
            __import__(name)
            readers[name] = reader
        except ImportError:
            print(f"{name}: not installed, not tried")
    if not readers:
        return 77
    lines = list(random_lines(60_000))
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "source.regenie")
        with open(source, "w") as stream:
            stream.write("\n".join([HEADER, *lines]) + "\n")
        prefix = os.path.join(folder, "out")
        parts = subprocess.run([program, source, prefix], check=True, capture_output=True,
                               text=True).stdout.strip()
        assert len(os.listdir(parts)) == 3, os.listdir(parts)
        expected = list(expected_rows(lines))
        for name, reader in readers.items():
            compare(name, reader(parts), expected)
        text = gzip.open(prefix + "_T.regenie.gz", "rt").read()
        assert text == "\n".join([HEADER, *lines[:len(expected)]]) + "\n", "text differs"
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
