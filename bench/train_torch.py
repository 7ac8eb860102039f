"""Seconds per training epoch of a dense PyTorch loop, as upstream computes it, beside ours on the same
files: training pass, evaluation pass over the training people, validation pass, the auxiliary
network over all SNPs in every batch of each. PyTorch's genotypes are standardised float32 values in
memory (4 bytes a genotype), ours are 2-bit rows.

usage: train_torch.py --tallele BINARY --dataset FILE --partition FILE --config FILE
                      [--epochs 3] [--threads 2] [--fold 0]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

try:
    import h5py  # noqa: F401, for torch_network
    import numpy
    import torch
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests",
                                "support"))
import torch_network


def statistics(genotypes, labels, people):
    """Mean, sd and class-wise genotype frequencies of the training people."""
    rows = genotypes[people]
    values = numpy.where(rows < 0, numpy.nan, rows.astype(numpy.float64))
    mean, sd = numpy.nanmean(values, axis=0), numpy.nanstd(values, axis=0, ddof=1) + 1e-6
    classes = labels[people]
    embedding = numpy.stack([(rows[classes == c] == g).mean(axis=0)
                             for c in range(labels.max() + 1) for g in range(3)], axis=1)
    return mean, sd, embedding


class Loop:
    def __init__(self, arguments):
        self.settings = torch_network.read_config(arguments.config)
        genotypes, labels = torch_network.read_genotypes(arguments.dataset)
        folds = numpy.load(arguments.partition, allow_pickle=True)["folds_indexes"]
        self.train, self.valid, _ = (numpy.array(list(p), int) for p in folds[arguments.fold])
        mean, sd, embedding = statistics(genotypes, labels, self.train)
        self.inputs = torch_network.standardise(genotypes, mean, sd)
        self.labels = torch.from_numpy(labels)
        torch.manual_seed(78)
        self.network = torch_network.DietNetwork(
            torch_network.descriptions_of(embedding), self.settings["nb_hidden_u_aux"],
            self.settings["nb_hidden_u_main"], int(labels.max()) + 1)
        limit = self.settings["uniform_init_limit"]
        for layer in self.network.aux_net.hidden_layers:
            torch.nn.init.uniform_(layer.weight, -limit, limit)
        self.optimisers = self.network.optimisers(self.settings["lr_aux"],
                                                  self.settings["lr_main"])

    def drop(self, layer, values):
        name = "input_dropout" if layer == 0 else "dropout_main"
        return torch.nn.functional.dropout(values, self.settings[name])

    def batches(self, people):
        for first in range(0, len(people), self.settings["batch_size"]):
            yield people[first:first + self.settings["batch_size"]]

    def train_once(self):
        self.network.train()
        for batch in self.batches(self.train[torch.randperm(len(self.train)).numpy()]):
            for optimiser in self.optimisers:
                optimiser.zero_grad()
            logits = self.network(self.inputs[batch], self.drop)
            torch.nn.functional.cross_entropy(logits, self.labels[batch]).backward()
            for optimiser in self.optimisers:
                optimiser.step()

    def evaluate(self, people):
        """With gradients recorded, as upstream leaves them on."""
        self.network.eval()
        right = 0
        for batch in self.batches(people):
            right += int((self.network(self.inputs[batch]).argmax(1) == self.labels[batch]).sum())
        return right / len(people)

    def epoch(self):
        seconds = {}
        for name, work in (("train", self.train_once),
                           ("evaluate train", lambda: self.evaluate(self.train)),
                           ("validate", lambda: self.evaluate(self.valid))):
            start = time.perf_counter()
            self.accuracy = work()
            seconds[name] = time.perf_counter() - start
        return seconds


def ours(arguments, engine):
    """Mean seconds an epoch, from the events of the last epoch."""
    with tempfile.TemporaryDirectory() as folder:
        config = os.path.join(folder, "c.yaml")
        with open(arguments.config) as source, open(config, "w") as file:
            file.writelines(line for line in source if line.split(":")[0] != "epochs")
            file.write(f"\nepochs: {arguments.epochs}\n")
        events = os.path.join(folder, "events.jsonl")
        subprocess.run([arguments.tallele, "dietnet", "train", "--dataset", arguments.dataset,
                        "--partition", arguments.partition, "--config", config, "--seeds", "78",
                        "--folds", str(arguments.fold), "--engine", engine, "--threads",
                        str(arguments.threads), "--jobs", "1", "--events", events, "--out",
                        os.path.join(folder, "out")], check=True, capture_output=True)
        with open(events) as file:
            lines = [json.loads(line) for line in file]
    return [line["fields"] for line in lines if line["event"] == "epoch"][-1]["seconds_an_epoch"]


def main():
    parser = argparse.ArgumentParser()
    for name in ("tallele", "dataset", "partition", "config"):
        parser.add_argument("--" + name, required=True)
    for name, default in (("epochs", 3), ("threads", 2), ("fold", 0)):
        parser.add_argument("--" + name, type=int, default=default)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    loop = Loop(arguments)
    print(f"{len(loop.train)} training people, {loop.inputs.shape[1]} SNPs, "
          f"batch {loop.settings['batch_size']}, input dropout {loop.settings['input_dropout']}, "
          f"{arguments.threads} threads, PyTorch {torch.__version__}")
    # Half of PyTorch's epochs before ours and half after, so that a busy machine meets both.
    epochs = []
    for _ in range(arguments.epochs):
        epochs.append(loop.epoch())
    times = {engine: ours(arguments, engine) for engine in ("dietnet", "upstream")}
    for _ in range(arguments.epochs):
        epochs.append(loop.epoch())
    means = {name: sum(e[name] for e in epochs) / len(epochs) for name in epochs[0]}
    total = sum(means.values())
    parts = ", ".join(f"{name} {seconds:.3f}" for name, seconds in means.items())
    print(f"PyTorch, dense        {total:8.3f} s an epoch ({parts})")
    for engine, seconds in times.items():
        print(f"engine {engine:<14} {seconds:8.3f} s an epoch, {total / seconds:.1f} x")


if __name__ == "__main__":
    main()
