"""Held-out accuracy of the fast training engine against the faithful one: 5 folds x 2 seeds on two
simulated panels, the same files, partition and seeds, paired by fold. The fast engine's mean may be
lower by at most 0.008 plus two standard errors of the paired difference. Hours on two cores; a run
that was stopped goes on in the same work folder.

usage: train_accuracy_test.py TALLELE WORK_FOLDER [--panels A,D] [--folds 0-4] [--seeds 78,79]
                              [--threads 0]
"""

import argparse
import json
import os
import subprocess
import sys

try:
    import h5py
    import numpy
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

# Distance of populations within their continental group, and epochs: `ancestry.md` 8.1's panels.
PANELS = {"A": (0.006, 400), "D": (0.003, 300)}
ENGINES = ("upstream", "dietnet")
MARGIN = 0.008
CONFIG = """batch_size: 138
epochs: {epochs}
input_dropout: 0.95
dropout_main: 0.1
lr_aux: 0.0006
lr_main: 0.0003
learning_rate_annealing: 0.99
nb_hidden_u_aux: [100,100]
nb_hidden_u_main: [100]
patience: 2000
uniform_init_limit: 0.02
"""


class Panel:
    def __init__(self, name, arguments):
        self.name, self.arguments = name, arguments
        self.fst, self.epochs = PANELS[name]

    def path(self, suffix):
        return os.path.join(self.arguments.work, self.name + suffix)

    def tallele(self, *words):
        done = subprocess.run([self.arguments.tallele, *words], stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"FAILED: tallele {' '.join(words)}\n{done.stdout}")

    def make(self):
        if os.path.exists(self.path("_folds.npz")):
            return
        self.tallele("simulate", "ancestry", "--out", self.path("_panel"), "--snps", "5000",
                     "--fst", str(self.fst), "--seed", "1")
        self.tallele("dietnet", "create-dataset", "--plink", self.path("_panel"), "--labels",
                     self.path("_panel_labels.tsv"), "--out", self.path(".h5"))
        self.tallele("dietnet", "pack-genotypes", "--dataset", self.path(".h5"))
        self.tallele("dietnet", "partition", "--dataset", self.path(".h5"), "--balance-class",
                     "--seed", "124", "--out", self.path("_folds.npz"))

    def train(self, engine):
        with open(self.path(".yaml"), "w") as file:
            file.write(CONFIG.format(epochs=self.epochs))
        self.tallele("dietnet", "train", "--dataset", self.path(".h5"), "--partition",
                     self.path("_folds.npz"), "--config", self.path(".yaml"), "--seeds",
                     self.arguments.seeds, "--folds", self.arguments.folds, "--engine", engine,
                     "--threads", str(self.arguments.threads), "--out", self.path("_" + engine),
                     "--resume")

    def accuracies(self, engine, folds, seeds):
        """Shares of test people that get their class, (folds, seeds)."""
        table = numpy.zeros((len(folds), len(seeds)))
        for i, fold in enumerate(folds):
            for j, seed in enumerate(seeds):
                with open(os.path.join(self.path("_" + engine), f"seed_{seed}_fold_{fold}",
                                       "outcome.json")) as file:
                    outcome = json.load(file)
                table[i, j] = sum(outcome["test_right"]) / sum(outcome["test_people"])
        return table

    def naive_bayes(self, folds):
        """Mean accuracy of Hardy-Weinberg genotype frequencies of the training people."""
        with h5py.File(self.path(".h5")) as file:
            genotypes, labels = file["inputs"][()], file["class_labels"][()]
        lists = numpy.load(self.path("_folds.npz"), allow_pickle=True)["folds_indexes"]
        accuracies = []
        for fold in folds:
            train, _, test = (numpy.array(list(rows), int) for rows in lists[fold])
            scores = numpy.empty((len(test), labels.max() + 1))
            for c in range(labels.max() + 1):
                rows = genotypes[train[labels[train] == c]]
                observed = rows >= 0
                f = (numpy.where(observed, rows, 0).sum(0) + 0.5) / (2 * observed.sum(0) + 1)
                log = numpy.stack([2 * numpy.log1p(-f), numpy.log(2 * f * (1 - f)),
                                   2 * numpy.log(f), 0 * f])
                codes = numpy.where(genotypes[test] < 0, 3, genotypes[test])
                scores[:, c] = log[codes, numpy.arange(len(f))].sum(1)
            accuracies.append((scores.argmax(1) == labels[test]).mean())
        return numpy.mean(accuracies)


def whole_numbers(text):
    first, dash, last = text.partition("-")
    if dash:
        return list(range(int(first), int(last) + 1))
    return [int(word) for word in text.split(",")]


def compare(panel):
    """Prints the table of a panel; whether the fast engine holds its bound."""
    folds, seeds = (whole_numbers(text) for text in (panel.arguments.folds, panel.arguments.seeds))
    upstream, dietnet = (panel.accuracies(engine, folds, seeds) for engine in ENGINES)
    print(f"\nPanel {panel.name}: F = 5,000, FST {panel.fst}, {panel.epochs} epochs, naive Bayes "
          f"{panel.naive_bayes(folds):.4f}")
    print("| fold | upstream | dietnet | difference |\n| --- | --- | --- | --- |")
    differences = (dietnet - upstream).mean(axis=1)
    for fold, one, other, difference in zip(folds, upstream, dietnet, differences):
        print(f"| {fold} | {' '.join(f'{x:.4f}' for x in one)} | "
              f"{' '.join(f'{x:.4f}' for x in other)} | {difference:+.4f} |")
    error = differences.std(ddof=1) / len(folds) ** 0.5
    lowest = -(MARGIN + 2 * error)
    holds = differences.mean() >= lowest
    print(f"| mean | {upstream.mean():.4f} | {dietnet.mean():.4f} | {differences.mean():+.4f} "
          f"(SE {error:.4f}) |")
    print(f"{'passed' if holds else 'FAILED'}: the difference may not be below {lowest:.4f}")
    return holds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tallele", type=os.path.abspath)
    parser.add_argument("work", type=os.path.abspath)
    parser.add_argument("--panels", default="A,D")
    parser.add_argument("--folds", default="0-4")
    parser.add_argument("--seeds", default="78,79")
    parser.add_argument("--threads", type=int, default=0)
    arguments = parser.parse_args()
    os.makedirs(arguments.work, exist_ok=True)
    results = []
    for name in arguments.panels.split(","):
        panel = Panel(name, arguments)
        panel.make()
        for engine in ENGINES:
            panel.train(engine)
        results.append(compare(panel))
        sys.stdout.flush()
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
