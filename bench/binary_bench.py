"""Measures scans of binary traits beside their floor and writes their table of docs/performance.md.

    python3 bench/binary_bench.py --tallele build/bin/tallele --floor build/bench/inflate_floor
                                  --work DIR [--people 50000,200000] [--repeats 3] [--write FILE]

CPU time (user + system) of the process, alternatives interleaved, medians. Score tests: the difference
between all variants and a tenth of them, so that start-up and null models are excluded. Corrections:
the difference between a scan that corrects every row and one that corrects none, over the number of
corrected rows; common variants (MAF above 5 %) for dense candidates, rare ones (below 0.04 % of alleles
or 50 of them) for candidates over carriers alone.
"""

import argparse
import datetime
import json
import os
import re
import shutil
import statistics
import subprocess
import sys

from scan_bench import cpu_name, run

MARKS = ("<!-- binary table: begin -->", "<!-- binary table: end -->")


def simulate(arguments, name, people, variants, mix, prevalence, traits):
    prefix = os.path.join(arguments.work, f"{name}{people}")
    if not os.path.exists(prefix + ".bgen"):
        run([arguments.tallele, "simulate", "--out", prefix, "--seed", "9", "--people", str(people),
             "--variants", str(variants), "--chromosomes", "1", "--maf-mix", mix,
             "--compression-level", "6", "--array-variants", "0", "--quantitative", "0", "--binary",
             str(traits), "--prevalence", str(prevalence), "--pcs", "18", "--batches", "0"])
    return prefix


def scan(arguments, prefix, traits, *extra):
    """CPU seconds and the printed summary."""
    out = os.path.join(arguments.work, "scan")
    shutil.rmtree(out + ".tallele", ignore_errors=True)
    log = out + ".log"
    names = ",".join(f"BT{k}" for k in range(1, traits + 1))
    seconds, _, _ = run([arguments.tallele, "regenie", "--bt", "--bgen", prefix + ".bgen", "--sample",
                         prefix + ".sample", "--phenoFile", prefix + "_pheno.tsv", "--phenoColList",
                         names, "--covarFile", prefix + "_covar.tsv", "--pred",
                         prefix + "_pred.list", "--threads", "1", "--quiet", "--minMAC", "1", "--out",
                         out, *extra])
    with open(log) as file:
        return seconds, file.read()


def floor_cost(arguments, prefix):
    done = subprocess.run([arguments.floor, prefix + ".bgen", "1"], capture_output=True, text=True,
                          check=True)
    return json.loads(done.stdout)["us_per_variant"]


def score_rows(arguments, people, variants):
    prefix = simulate(arguments, "score", people, variants, "0.5,0.2,0.3", 0.1, 10)
    window = prefix + ".window"
    with open(window, "w") as file:
        subprocess.run([arguments.tallele, "inspect", prefix + ".bgen", "--list-variants",
                        str(variants // 10)], stdout=file, check=True)
    floors, costs = [], {1: [], 10: []}
    for _ in range(arguments.repeats):
        floors.append(floor_cost(arguments, prefix))
        for traits in costs:
            part, _ = scan(arguments, prefix, traits, "--extract", window)
            whole, _ = scan(arguments, prefix, traits)
            costs[traits].append((whole - part) / (variants - variants // 10) * 1e6)
    floor = statistics.median(floors)
    return [f"| {people:,} | {traits} | {floor:.0f} | {statistics.median(c):.0f} | "
            f"{statistics.median(c) / floor:.2f} |" for traits, c in costs.items()]


def correction_row(arguments, people, prevalence, kind):
    mix, variants = ("0,0,1", 400) if kind == "dense" else ("1,0,0", 3000)
    prefix = simulate(arguments, f"{kind}{prevalence}_", people, variants, mix, prevalence, 1)
    costs = []
    for _ in range(arguments.repeats):
        plain, _ = scan(arguments, prefix, 1, "--firth", "--approx", "--pThresh", "1e-300")
        firth, log = scan(arguments, prefix, 1, "--firth", "--approx", "--pThresh", "0.99999")
        found = re.search(r"([\d,]+) corrected .*; ([\d,]+) over carriers alone", log)
        corrected, sparse = (int(x.replace(",", "")) for x in found.groups())
        costs.append((firth - plain) / corrected * 1e6)
    return (f"| {people:,} | {prevalence:g} | {kind} | {corrected:,} | {sparse:,} | "
            f"{statistics.median(costs):.0f} |")


def main():
    parser = argparse.ArgumentParser()
    for name in ("tallele", "floor", "work"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--people", default="50000,200000")
    parser.add_argument("--variants", default="6000,4000")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--write")
    arguments = parser.parse_args()
    os.makedirs(arguments.work, exist_ok=True)
    people = [int(p) for p in arguments.people.split(",")]
    variants = [int(v) for v in arguments.variants.split(",")]
    lines = [f"{datetime.date.today()}, {cpu_name()}, {os.cpu_count()} cores; `make bench`; median of "
             f"{arguments.repeats}, one thread, 20 covariates, the default instruction set.", "",
             "| people | binary traits, score only | floor | CPU us a variant | scan / floor |",
             "| --- | --- | --- | --- | --- |"]
    for p, v in zip(people, variants):
        lines += score_rows(arguments, p, v)
    lines += ["", "| people | prevalence | candidates | corrected | over carriers | CPU us a "
              "corrected test |", "| --- | --- | --- | --- | --- | --- |"]
    for p in people:
        for prevalence in (0.1, 0.01, 0.001):
            for kind in ("dense", "rare"):
                lines.append(correction_row(arguments, p, prevalence, kind))
    table = "\n".join(lines)
    print(table)
    if arguments.write:
        with open(arguments.write) as file:
            text = file.read()
        before, after = text.split(MARKS[0])[0], text.split(MARKS[1])[1]
        with open(arguments.write, "w") as file:
            file.write(before + MARKS[0] + "\n" + table + "\n" + MARKS[1] + after)


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    main()
