"""The Diet Network as plain PyTorch code, dense as upstream computes it, and its data. For
tests/oracle and for bench/train_torch.py; needs PyTorch, NumPy and h5py.
"""

import re

import h5py
import numpy
import torch
from torch import nn


class AuxiliaryNetwork(nn.Module):
    """Descriptions (SNPs, columns) to fat-layer weights (SNPs, units): tanh after every layer."""

    def __init__(self, columns, widths):
        super().__init__()
        self.hidden_layers = nn.ModuleList(
            nn.Linear(inputs, outputs, bias=False)
            for inputs, outputs in zip([columns, *widths], widths))

    def forward(self, descriptions):
        for layer in self.hidden_layers:
            descriptions = torch.tanh(layer(descriptions))
        return descriptions


class MainNetwork(nn.Module):
    def __init__(self, fat_width, widths, outputs):
        super().__init__()
        self.fat_bias = nn.Parameter(torch.zeros(fat_width))
        self.bn_fatLayer = nn.BatchNorm1d(fat_width)
        self.out = nn.Linear([fat_width, *widths][-1], outputs)
        self.hidden_layers = nn.ModuleList(
            nn.Linear(i, o) for i, o in zip([fat_width, *widths], widths))
        self.bn = nn.ModuleList(nn.BatchNorm1d(width) for width in widths)

    def forward(self, inputs, fat_weight, drop):
        """`drop(layer, values)`: dropout of inputs (layer 0) and of hidden layers (1, 2, ...)."""
        hidden = drop(0, inputs) @ fat_weight + self.fat_bias
        hidden = drop(1, self.bn_fatLayer(torch.relu(hidden)))
        for layer, (linear, norm) in enumerate(zip(self.hidden_layers, self.bn)):
            hidden = drop(layer + 2, norm(torch.relu(linear(hidden))))
        return self.out(hidden)


class DietNetwork(nn.Module):
    """Parameters carry upstream's names. `descriptions`: (SNPs, columns), float32."""

    def __init__(self, descriptions, auxiliary, widths, outputs):
        super().__init__()
        self.descriptions = descriptions
        self.aux_net = AuxiliaryNetwork(descriptions.shape[1], auxiliary)
        self.main_net = MainNetwork(auxiliary[-1], widths, outputs)

    def forward(self, inputs, drop=lambda layer, values: values):
        return self.main_net(inputs, self.aux_net(self.descriptions), drop)

    def optimisers(self, lr_aux, lr_main):
        return (torch.optim.Adam(self.aux_net.parameters(), lr=lr_aux),
                torch.optim.Adam(self.main_net.parameters(), lr=lr_main))


class PlainNetwork(nn.Module):
    """The baseline without auxiliary network, with upstream's names."""

    def __init__(self, num_snps, widths, outputs):
        super().__init__()
        sizes = [num_snps, *widths]
        self.hidden_layers = nn.ModuleList(nn.Linear(i, o) for i, o in zip(sizes, widths))
        self.bn = nn.ModuleList(nn.BatchNorm1d(width) for width in widths)
        self.out = nn.Linear(widths[-1], outputs)

    def forward(self, inputs):
        for linear, norm in zip(self.hidden_layers, self.bn):
            inputs = norm(torch.relu(linear(inputs)))
        return self.out(inputs)


def descriptions_of(embedding):
    """Columns divided by their Euclidean norm over the SNPs, summed in double."""
    values = embedding.astype(numpy.float32).astype(numpy.float64)
    norms = numpy.sqrt((values ** 2).sum(axis=0)).astype(numpy.float32)
    norms[norms == 0] = 1
    return torch.from_numpy(embedding.astype(numpy.float32) / norms)


def read_genotypes(dataset):
    """int8 genotypes (people, SNPs) and the class of each person."""
    with h5py.File(dataset) as file:
        return file["inputs"][()], file["class_labels"][()]


def standardise(genotypes, mean, sd):
    """(x - mean) / sd in float32, 0 for missing calls."""
    mean, sd = mean.astype(numpy.float32), sd.astype(numpy.float32)
    values = numpy.where(genotypes < 0, mean, genotypes.astype(numpy.float32))
    return torch.from_numpy((values - mean) / sd)


def read_config(path):
    """Upstream's flat YAML as far as its configurations go: numbers and lists of whole numbers."""
    settings = {}
    with open(path) as file:
        for line in file:
            name, _, value = line.split("#")[0].partition(":")
            if not value.strip():
                continue
            if "[" in value:
                settings[name.strip()] = [int(item) for item in re.findall(r"\d+", value)]
            else:
                number = float(value)
                settings[name.strip()] = int(number) if number.is_integer() else number
    return settings
