"""Measures scans beside their floor and writes the table of docs/performance.md.

    python3 bench/scan_bench.py --tallele build/tallele --floor build/inflate_floor --work DIR
                                [--people 50000,200000] [--repeats 3] [--write docs/performance.md]

Everything is CPU time (user + system) of the process, from one run on one machine, the
alternatives interleaved and the median taken. Start-up and null models are excluded by taking the
difference between a scan of all variants and one of a short window of the same file.
"""

import argparse
import datetime
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import time

WINDOW_SHARE = 10  # the short scan covers one tenth of the variants
MARKS = ("<!-- scan table: begin -->", "<!-- scan table: end -->")


def run(command, env=None):
    """CPU seconds, wall seconds and peak megabytes of one command; stops on failure."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               env={**os.environ, **(env or {})})
    output = process.stdout.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"failed: {' '.join(command)}\n{output}")
    return usage.ru_utime + usage.ru_stime, time.monotonic() - start, usage.ru_maxrss / 1024


def simulate(arguments, people, variants):
    """A cohort with the benchmark's mix of frequencies, 20 covariates, 20 traits, 10 with gaps."""
    prefix = os.path.join(arguments.work, f"n{people}")
    if os.path.exists(prefix + ".bgen"):
        return prefix
    run([arguments.tallele, "simulate", "--out", prefix, "--seed", "7", "--people", str(people),
         "--variants", str(variants), "--chromosomes", "1", "--maf-mix", "0.5,0.2,0.3",
         "--compression-level", "6", "--array-variants", "0", "--quantitative", "20",
         "--binary", "0", "--gapped-traits", "10", "--gap-share", "0.05", "--pcs", "18",
         "--batches", "0"])
    return prefix


def positions(arguments, prefix):
    listing = json.loads(subprocess.run([arguments.tallele, "inspect", prefix + ".bgen", "--json"],
                                        capture_output=True, text=True, check=True).stdout)
    return listing


def scan_command(arguments, prefix, traits, threads, window=None):
    out = os.path.join(arguments.work, "scan")
    shutil.rmtree(out + ".tallele", ignore_errors=True)
    names = [f"QT{k}" for k in ([1] if traits == 1 else range(1, 21))]
    command = [arguments.tallele, "regenie", "--bgen", prefix + ".bgen", "--sample",
               prefix + ".sample", "--phenoFile", prefix + "_pheno.tsv", "--phenoColList",
               ",".join(names), "--covarFile", prefix + "_covar.tsv", "--pred",
               prefix + "_pred.list", "--threads", str(threads), "--quiet", "--format", "parquet",
               "--minMAC", "0.5", "--out", out]
    return command + (["--extract", window] if window else [])


def window_file(arguments, prefix, variants):
    """Identifiers of the first tenth of the variants, from the truth of the simulation's naming."""
    path = prefix + ".window"
    command = [arguments.tallele, "inspect", prefix + ".bgen", "--list-variants",
               str(variants // WINDOW_SHARE)]
    with open(path, "w") as out:
        subprocess.run(command, stdout=out, check=True)
    return path


def cost(arguments, prefix, variants, traits, threads, env):
    """CPU microseconds per variant, and the peak memory of the long scan."""
    window = window_file(arguments, prefix, variants)
    short, _, _ = run(scan_command(arguments, prefix, traits, threads, window), env)
    full, wall, memory = run(scan_command(arguments, prefix, traits, threads), env)
    tested = variants - variants // WINDOW_SHARE
    return (full - short) / tested * 1e6, memory, wall


def floor_cost(arguments, prefix):
    done = subprocess.run([arguments.floor, prefix + ".bgen", "1"], capture_output=True, text=True,
                          check=True)
    return json.loads(done.stdout)["us_per_variant"]


def available_targets(arguments):
    text = subprocess.run([arguments.tallele, "--version"], capture_output=True, text=True,
                          check=True).stdout
    found = re.search(r"can run[^:]*: *(.*)", text) or re.search(r"available[^:]*: *(.*)", text)
    names = re.findall(r"scalar|avx512vnni|avxvnni|avx2|amx", found.group(1) if found else "")
    return [n for n in dict.fromkeys(names) if n != "scalar"] or ["scalar"]


def measure(arguments, people, variants):
    prefix = simulate(arguments, people, variants)
    targets = available_targets(arguments)
    floors, costs, memory = [], {}, {}
    for _ in range(arguments.repeats):
        floors.append(floor_cost(arguments, prefix))
        for target in targets:
            for traits in (1, 20):
                us, peak, _ = cost(arguments, prefix, variants, traits, 1,
                                   {"TALLELE_CPU_TARGET": target})
                costs.setdefault((target, traits), []).append(us)
                memory[(target, traits)] = peak
    floor = statistics.median(floors)
    rows = []
    for (target, traits), values in costs.items():
        us = statistics.median(values)
        rows.append(f"| {people:,} | {traits} | {target} | {floor:.0f} | {us:.0f} | "
                    f"{us / floor:.2f} | {memory[(target, traits)]:.0f} |")
    return rows, two_threads(arguments, prefix), floor


def two_threads(arguments, prefix):
    """Wall seconds of one process with two threads over two processes with one, same work."""
    ratios = []
    for _ in range(arguments.repeats):
        _, single, _ = run(scan_command(arguments, prefix, 1, 1))
        _, double, _ = run(scan_command(arguments, prefix, 1, 2))
        start = time.monotonic()
        pair = []
        for k in range(2):
            command = scan_command(arguments, prefix, 1, 1)
            command[command.index("--out") + 1] += str(k)
            shutil.rmtree(command[command.index("--out") + 1] + ".tallele", ignore_errors=True)
            pair.append(subprocess.Popen(command, stdout=subprocess.DEVNULL))
        if any(p.wait() for p in pair):
            sys.exit("a scan of the pair failed")
        both = time.monotonic() - start
        ratios.append((single / double, both / 2 / double))
    return [statistics.median(r[i] for r in ratios) for i in (0, 1)]


def cpu_name():
    with open("/proc/cpuinfo") as f:
        for line in f:
            if line.startswith("model name"):
                return line.split(":")[1].strip()
    return platform.processor()


def main():
    parser = argparse.ArgumentParser()
    for name in ("tallele", "floor", "work"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--people", default="50000,200000")
    parser.add_argument("--variants", default="6000,5000")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--write")
    arguments = parser.parse_args()
    os.makedirs(arguments.work, exist_ok=True)
    lines = [f"{datetime.date.today()}, {cpu_name()}, {os.cpu_count()} cores; `make bench`; median of "
             f"{arguments.repeats}, CPU us per variant, one thread, Parquet output included, start-up "
             "excluded.", "",
             "| people | traits | instruction set | floor | scan | scan / floor | peak MB |",
             "| --- | --- | --- | --- | --- | --- | --- |"]
    tail = []
    pairs = zip(arguments.people.split(","), arguments.variants.split(","))
    for people, variants in ((int(p), int(v)) for p, v in pairs):
        rows, (speedup, versus_pair), _ = measure(arguments, people, variants)
        lines += rows
        tail.append(f"{people:,} people, 1 trait: two threads are {speedup:.2f} x one thread, and reach "
                    f"{versus_pair:.2f} of two one-thread processes (wall time, start-up included).")
    table = "\n".join(lines + [""] + tail)
    print(table)
    if arguments.write:
        with open(arguments.write) as f:
            text = f.read()
        before, after = text.split(MARKS[0])[0], text.split(MARKS[1])[1]
        with open(arguments.write, "w") as f:
            f.write(before + MARKS[0] + "\n" + table + "\n" + MARKS[1] + after)


if __name__ == "__main__":
    main()
