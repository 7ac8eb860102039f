"""Training against PyTorch: initial weights, ten steps tensor by tensor (weights, both moments of
Adam, running statistics), and `.pt` files that PyTorch loads into upstream's layout.

Random draws come from a twin of upstream's streams (PyTorch's generator without MKL) written with
NumPy, so that the comparison does not depend on how the installed PyTorch draws its dropout.

usage: dietnet_torch_test.py TALLELE SOURCE_FOLDER
"""

import glob
import os
import subprocess
import sys
import tempfile
import unittest

TALLELE, SOURCE = (os.path.abspath(p) for p in sys.argv[1:3])
del sys.argv[1:3]
SHARED = os.environ.get("TALLELE_SHARED", os.path.join(SOURCE, "..", "shared"))
TINY = os.path.join(SHARED, "fixtures", "dietnet", "tiny")
try:
    import h5py
    import numpy
    import torch
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
if not os.path.isdir(TINY):
    print("skipped: the shared fixtures are absent")
    sys.exit(77)
sys.path.insert(0, os.path.join(SOURCE, "tests", "support"))
import torch_network

FOLD = 0
SEED = 78


class UpstreamDraws:
    """PyTorch's CPU generator: 32-bit words of a Mersenne Twister seeded with the low 32 bits."""

    def __init__(self, seed):
        self.words_ = numpy.random.MT19937()
        self.words_._legacy_seeding(seed & 0xffffffff)

    def words(self, count):
        return self.words_.random_raw(count).astype(numpy.uint64)

    def long(self):
        high, low = self.words(2)
        return (int(high) << 32 | int(low)) % 2 ** 63

    def permutation(self, count):
        generator = UpstreamDraws(self.long())
        order = numpy.arange(count)
        for i, word in enumerate(generator.words(count - 1)):
            j = i + int(word) % (count - i)
            order[i], order[j] = order[j], order[i]
        return order

    def keep(self, shape, dropout):
        if dropout == 0:
            return numpy.ones(shape, bool)
        words = self.words(2 * int(numpy.prod(shape))).reshape(-1, 2)
        values = (words[:, 0] << numpy.uint64(32) | words[:, 1]) & numpy.uint64(2 ** 53 - 1)
        return (values.astype(numpy.float64) * 2.0 ** -53 < 1 - dropout).reshape(shape)

    def uniform(self, low, high, shape):
        """float32 values, rounded once."""
        words = (self.words(int(numpy.prod(shape))) & numpy.uint64(2 ** 24 - 1))
        unit = words.astype(numpy.float64) * 2.0 ** -24
        width = numpy.float64(numpy.float32(high) - numpy.float32(low))
        values = unit * width + numpy.float64(numpy.float32(low))
        return torch.from_numpy(values.astype(numpy.float32).reshape(shape))


def initialise(network, limit, draws):
    """Upstream's weights, in the order of its draws."""
    with torch.no_grad():
        for layer in network.aux_net.hidden_layers:
            draws.words(layer.weight.numel())
            layer.weight.copy_(draws.uniform(-limit, limit, layer.weight.shape))
        main = network.main_net
        for layer in [*main.hidden_layers, main.out]:
            draws.words(layer.weight.numel() + layer.bias.numel())
            bound = (6 / sum(layer.weight.shape)) ** 0.5
            layer.weight.copy_(draws.uniform(-bound, bound, layer.weight.shape))
            layer.bias.zero_()
        draws.words(main.fat_bias.numel())


class Fold:
    """Fold 0 of the tiny dataset, standardised."""

    def __init__(self):
        genotypes, self.labels = torch_network.read_genotypes(os.path.join(TINY, "dataset.hdf5"))
        stats = numpy.load(os.path.join(TINY, "input_stats.npz"))
        self.inputs = torch_network.standardise(genotypes, stats["means_by_fold"][FOLD],
                                                stats["sd_by_fold"][FOLD])
        self.labels = torch.from_numpy(self.labels)
        embedding = numpy.load(os.path.join(TINY, "embedding.npz"))["emb"][FOLD]
        self.descriptions = torch_network.descriptions_of(embedding)
        lists = numpy.load(os.path.join(TINY, "partition_seed_a.npz"), allow_pickle=True)
        self.train, self.valid, self.test = (numpy.array(list(rows), int)
                                             for rows in lists["folds_indexes"][FOLD])
        self.num_classes = int(self.labels.max()) + 1

    def network(self):
        return torch_network.DietNetwork(self.descriptions, [100, 100], [100], self.num_classes)


class TorchTraining:
    """Ten steps of upstream's loop on one fold."""

    def __init__(self, fold, settings):
        self.fold, self.settings = fold, settings
        self.draws = UpstreamDraws(SEED)
        self.network = fold.network()
        initialise(self.network, settings["uniform_init_limit"], self.draws)
        self.optimisers = self.network.optimisers(settings["lr_aux"], settings["lr_main"])
        self.draws.long()  # the evaluation before the first epoch

    def run_epoch(self):
        """Training pass; the draws of the passes after it."""
        self.network.train()
        self.draws.long()
        order = self.fold.train[self.draws.permutation(len(self.fold.train))]
        for first in range(0, len(order), self.settings["batch_size"]):
            self.step(order[first:first + self.settings["batch_size"]])
        self.draws.long()
        self.draws.long()
        self.draws.long()
        for optimiser in self.optimisers:
            optimiser.param_groups[0]["lr"] *= self.settings["learning_rate_annealing"]

    def step(self, people):
        masks = {}

        def drop(layer, values):
            dropout = self.settings["input_dropout" if layer == 0 else "dropout_main"]
            if layer not in masks:
                masks[layer] = torch.from_numpy(self.draws.keep(tuple(values.shape), dropout))
            return values * masks[layer] / (1 - dropout)

        for optimiser in self.optimisers:
            optimiser.zero_grad()
        logits = self.network(self.fold.inputs[people], drop)
        torch.nn.functional.cross_entropy(logits, self.fold.labels[people]).backward()
        for optimiser in self.optimisers:
            optimiser.step()

    def tensors(self):
        """Everything by the names of state.npz, weights as inputs x outputs."""
        tensors = {}
        for name, parameter in self.network.named_parameters():
            for optimiser in self.optimisers:
                if parameter in optimiser.state:
                    tensors["first_moments/" + name] = optimiser.state[parameter]["exp_avg"]
                    tensors["second_moments/" + name] = optimiser.state[parameter]["exp_avg_sq"]
            tensors["weights/" + name] = parameter.detach()
        norms = [self.network.main_net.bn_fatLayer, *self.network.main_net.bn]
        for layer, norm in enumerate(norms):
            tensors[f"weights/norm_{layer}.running_mean"] = norm.running_mean
            tensors[f"weights/norm_{layer}.running_var"] = norm.running_var
        return {name: (tensor.T if tensor.dim() == 2 else tensor[None, :]).numpy()
                for name, tensor in tensors.items()}


class DietNetTorch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        torch.set_num_threads(1)
        cls.fold = Fold()

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name

    def config(self, **changes):
        settings = torch_network.read_config(os.path.join(TINY, "train_dropout", "config.yaml"))
        settings |= {"patience": 1000, "seed": SEED, **changes}
        with open(os.path.join(self.folder, "c.yaml"), "w") as file:
            file.writelines(f"{name}: {value}\n" for name, value in settings.items())
        return settings

    def train(self, out, *more, dataset=os.path.join(TINY, "dataset.hdf5")):
        out = os.path.join(self.folder, out)
        done = subprocess.run(
            [TALLELE, "dietnet", "train", "--dataset", dataset, "--partition",
             os.path.join(TINY, "partition_seed_a.npz"), "--input-stats",
             os.path.join(TINY, "input_stats.npz"), "--embedding",
             os.path.join(TINY, "embedding.npz"), "--config", os.path.join(self.folder, "c.yaml"),
             "--out", out, "--folds", str(FOLD), "--checkpoint-seconds", "0", *more],
            capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return out

    def expect_tensors(self, state, torch_state, when):
        """The difference of two float32 computations: relative to the largest entry of a tensor."""
        ours = numpy.load(state)
        self.assertEqual({name for name in ours.files if not name.startswith(("best/", "state",
                                                                               "epochs"))},
                         set(torch_state))
        for name, theirs in torch_state.items():
            difference = abs(ours[name] - theirs).max()
            self.assertLessEqual(difference, 2e-5 * abs(theirs).max() + 1e-12, (when, name))

    def test_initial_weights_are_pytorchs(self):
        """Against PyTorch's own generator and initialisers: bit for bit."""
        self.config(epochs=1)
        out = self.train("out", "--engine", "upstream")
        ours = numpy.load(os.path.join(out, f"seed_{SEED}_fold_{FOLD}", "state.previous.npz"))
        torch.manual_seed(SEED)
        limit = self.config()["uniform_init_limit"]
        weights = {}
        columns = self.fold.descriptions.shape[1]
        for i, inputs in enumerate((columns, 100)):
            layer = torch.nn.Linear(inputs, 100, bias=False)
            weights[f"aux_net.hidden_layers.{i}.weight"] = torch.nn.init.uniform_(
                layer.weight, -limit, limit)
        for name, outputs in (("hidden_layers.0", 100), ("out", self.fold.num_classes)):
            layer = torch.nn.Linear(100, outputs)
            weights[f"main_net.{name}.weight"] = torch.nn.init.xavier_uniform_(layer.weight)
        for name, weight in weights.items():
            numpy.testing.assert_array_equal(ours["weights/" + name], weight.detach().numpy().T)

    def ten_steps(self, engine, **changes):
        """One batch an epoch: the state after every step."""
        settings = self.config(batch_size=len(self.fold.train), **changes)
        theirs = TorchTraining(self.fold, settings)
        for step in range(1, 11):
            theirs.run_epoch()
            self.config(batch_size=len(self.fold.train), **changes, epochs=step)
            out = self.train(f"{engine}_{step}", "--engine", engine)
            self.expect_tensors(os.path.join(out, f"seed_{SEED}_fold_{FOLD}", "state.npz"),
                                theirs.tensors(), f"step {step}")

    def test_ten_steps_with_dropout(self):
        self.ten_steps("upstream", input_dropout=0.5, dropout_main=0.1)

    def test_ten_steps_with_much_input_dropout(self):
        """So much that only kept genotypes are computed."""
        self.ten_steps("upstream", input_dropout=0.97, dropout_main=0.1)

    def test_ten_steps_without_dropout(self):
        """Without dropout and with one batch an epoch both engines do the same."""
        for engine in ("upstream", "dietnet"):
            with self.subTest(engine):
                self.ten_steps(engine, input_dropout=0.0, dropout_main=0.0)

    def test_an_epoch_of_ten_batches(self):
        """The order of people, a shorter last batch, and masks drawn batch by batch."""
        settings = self.config(batch_size=11, epochs=1)
        self.assertEqual(-(-len(self.fold.train) // 11), 10)
        theirs = TorchTraining(self.fold, settings)
        theirs.run_epoch()
        out = self.train("out", "--engine", "upstream")
        self.expect_tensors(os.path.join(out, f"seed_{SEED}_fold_{FOLD}", "state.npz"),
                            theirs.tensors(), "ten batches")

    def load(self, out, name):
        (path,) = glob.glob(os.path.join(out, "RESULTS_*", name))
        try:
            return torch.load(path, weights_only=False)
        except TypeError:  # PyTorch before 1.13
            return torch.load(path)

    def test_checkpoints_load_into_upstreams_layout(self):
        """best_model.pt gives the test scores that were written beside it; last_model.pt counts."""
        self.config(epochs=8, batch_size=20)
        out = self.train("out", "--engine", "upstream", "--save-pt")
        best, last = self.load(out, "best_model.pt"), self.load(out, "last_model.pt")
        self.assertEqual(list(best), ["epoch", "model_state_dict", "best_results"])
        self.assertEqual(set(best["best_results"]), {"mean_loss", "mean_acc"})
        self.assertEqual({type(value) for value in best["best_results"].values()}, {float})
        self.assertEqual(list(last), ["epoch", "model_state_dict", "patience"])
        self.assertEqual(last["epoch"], 8)
        self.assertEqual(last["patience"], 8 - best["epoch"])
        network = self.fold.network()
        self.assertEqual(list(network.state_dict()), list(best["model_state_dict"]))
        network.load_state_dict(last["model_state_dict"])
        network.load_state_dict(best["model_state_dict"])
        for name, tensor in network.state_dict().items():
            self.assertEqual(tensor.dtype, best["model_state_dict"][name].dtype)
        steps = best["epoch"] * -(-len(self.fold.train) // 20)
        self.assertEqual(int(network.main_net.bn_fatLayer.num_batches_tracked), steps)
        network.eval()
        with torch.no_grad():
            scores = torch.softmax(network(self.fold.inputs[self.fold.test]), dim=1).numpy()
        (results,) = glob.glob(os.path.join(out, "RESULTS_*", "test_results_*.npz"))
        numpy.testing.assert_allclose(numpy.load(results)["scores"], scores, atol=2e-6)

    def test_checkpoints_of_the_plain_network_and_of_a_regression_load(self):
        for model, task in (("mlp", "classification"), ("dietnet", "regression")):
            dataset = os.path.join(self.folder, "values.hdf5")
            with h5py.File(os.path.join(TINY, "dataset.hdf5")) as source, \
                    h5py.File(dataset, "w") as copy:
                for name in source:
                    source.copy(name, copy)
                copy["regression_labels"] = self.fold.labels.numpy() * 1.0
            self.config(epochs=3, batch_size=20)
            out = self.train(model + task, "--model", model, "--task", task, "--engine",
                             "upstream", "--save-pt", dataset=dataset)
            outputs = 1 if task == "regression" else self.fold.num_classes
            network = (torch_network.PlainNetwork(300, [100], outputs) if model == "mlp" else
                       torch_network.DietNetwork(self.fold.descriptions, [100, 100], [100], outputs))
            network.load_state_dict(self.load(out, "best_model.pt")["model_state_dict"])
            network.eval()
            with torch.no_grad():
                values = network(self.fold.inputs[self.fold.test]).numpy()
            (results,) = glob.glob(os.path.join(out, "RESULTS_*", "test_results_*.npz"))
            preds = numpy.load(results)["preds"]
            want = values[:, 0] if task == "regression" else values.argmax(axis=1)
            numpy.testing.assert_allclose(preds, want, atol=2e-5)


if __name__ == "__main__":
    unittest.main()
