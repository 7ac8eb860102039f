"""tallele dietnet train: the same files for any threads, jobs, loader and source of genotypes, and
after kills and interruptions; upstream's result files; refusals; accuracy on panel D.

usage: dietnet_train_test.py TALLELE SOURCE_FOLDER
"""

import fcntl
import filecmp
import glob
import json
import os
import pty
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

TALLELE, SOURCE = (os.path.abspath(p) for p in sys.argv[1:3])
del sys.argv[1:3]
SHARED = os.environ.get("TALLELE_SHARED", os.path.join(SOURCE, "..", "shared"))
FIXTURES = os.path.join(SHARED, "fixtures", "dietnet")
TINY = os.path.join(FIXTURES, "tiny")
try:
    import h5py
    import numpy
except ImportError:
    numpy = None


def config(path, **changes):
    """Upstream's configuration of train_dropout with some keys changed."""
    with open(os.path.join(TINY, "train_dropout", "config.yaml")) as file:
        lines = [line for line in file if line.split(":")[0] not in changes]
    with open(path, "w") as file:
        file.writelines(lines + [f"{key}: {value}\n" for key, value in changes.items()])
    return path


@unittest.skipUnless(numpy is not None and os.path.isdir(TINY),
                     "NumPy, h5py or the shared fixtures are absent")
class Train(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def words(self, out, settings, *more, dataset=None):
        return [TALLELE, "dietnet", "train", "--dataset",
                dataset or os.path.join(TINY, "dataset.hdf5"), "--partition",
                os.path.join(TINY, "partition_seed_a.npz"), "--config", settings, "--out",
                self.path(out), *more]

    def train(self, out, settings, *more, code=0, dataset=None):
        done = subprocess.run(self.words(out, settings, *more, dataset=dataset),
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout + done.stderr

    def files(self, out):
        """Everything that a run leaves, but the lock, the state before the last, where the data lie
        and the events, which hold times."""
        names = glob.glob("**/*", root_dir=self.path(out), recursive=True)
        return sorted(name for name in names if os.path.isfile(os.path.join(self.path(out), name))
                      and not name.endswith("state.previous.npz")
                      and not name.startswith(("logs", "dataset-")))

    def events(self, path):
        with open(self.path(path)) as file:
            lines = [json.loads(line) for line in file]
        for line in lines:
            self.assertEqual(set(line), {"schema", "event", "level", "time", "run", "fields"})
        return [(line["event"], line["fields"], line["run"]) for line in lines]

    def table(self, out, seed=78, fold=0):
        with open(os.path.join(self.path(out), f"seed_{seed}_fold_{fold}", "epochs.tsv")) as file:
            lines = [line.rstrip("\n").split("\t") for line in file]
        return [dict(zip(lines[0], line)) for line in lines[1:]]

    def expect_equal(self, one, other):
        self.assertEqual(self.files(one), self.files(other))
        for name in self.files(one):
            self.assertTrue(filecmp.cmp(os.path.join(self.path(one), name),
                                        os.path.join(self.path(other), name), shallow=False),
                            f"{name} differs between {one} and {other}")

    def test_threads_jobs_loader_and_source_change_no_byte(self):
        dataset = self.path("copy.hdf5")
        shutil.copy(os.path.join(TINY, "dataset.hdf5"), dataset)
        subprocess.run([TALLELE, "dietnet", "pack-genotypes", "--dataset", dataset], check=True,
                       capture_output=True)
        for dropout in (0.5, 0.97):
            for engine in ("dietnet", "upstream"):
                settings = config(self.path("c.yaml"), input_dropout=dropout, epochs=4)
                same = ["--seeds", "78,79", "--folds", "0-1", "--engine", engine]
                one = f"one_{engine}_{dropout}"
                self.train(one, settings, *same, "--threads", "1", "--jobs", "1", "--loader",
                           "plain", "--inputs", "memmap")
                ways = {"ram": ["--threads", "2", "--jobs", "2", "--inputs", "ram"],
                        "packed": ["--threads", "2", "--jobs", "1", "--inputs", "packed"]}
                for name, way in ways.items():
                    other = f"{name}_{engine}_{dropout}"
                    self.train(other, settings, *same, *way,
                               dataset=dataset if name == "packed" else None)
                    self.expect_equal(one, other)
                alone = f"alone_{engine}_{dropout}"
                self.train(alone, settings, "--seeds", "79", "--folds", "1", "--engine", engine)
                for name in self.files(alone):
                    self.assertTrue(filecmp.cmp(os.path.join(self.path(one), name),
                                                os.path.join(self.path(alone), name),
                                                shallow=False), name)

    def stop_and_resume(self, engine, how):
        settings = config(self.path("c.yaml"), epochs=400, patience=400, batch_size=10)
        same = ["--seeds", "78", "--folds", "0,2", "--engine", engine]
        self.train("whole", settings, *same)
        resumes = 0
        arguments = ["--checkpoint-seconds", "0.05" if how == signal.SIGKILL else "1000"]
        while resumes < 50:
            process = subprocess.Popen(
                self.words("parts", settings, *same, *arguments,
                           *(["--resume"] if resumes else [])),
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            time.sleep(0.25 + 0.05 * resumes)
            process.send_signal(how)
            text = process.communicate()[1]
            if process.returncode == 0:
                break
            self.assertEqual(process.returncode, {signal.SIGKILL: -9, signal.SIGTERM: 143}[how],
                             text)
            if how == signal.SIGTERM:
                self.assertIn("--resume", text)
            resumes += 1
        self.assertGreater(resumes, 0, "the run ended before it could be stopped")
        self.assertEqual(process.returncode, 0)
        self.expect_equal("whole", "parts")

    def test_killed_runs_resume_to_the_same_bytes(self):
        self.stop_and_resume("dietnet", signal.SIGKILL)

    def test_interrupted_runs_resume_to_the_same_bytes(self):
        self.stop_and_resume("upstream", signal.SIGTERM)

    def test_a_damaged_state_falls_back_to_the_one_before(self):
        settings = config(self.path("c.yaml"), epochs=6, patience=50)
        self.train("whole", settings, "--checkpoint-seconds", "0", "--folds", "0")
        shutil.copytree(self.path("whole"), self.path("damaged"))
        model = os.path.join(self.path("damaged"), "seed_78_fold_0")
        os.remove(os.path.join(model, "outcome.json"))
        state = os.path.join(model, "state.npz")
        with open(state, "r+b") as file:
            file.truncate(os.path.getsize(state) // 2)
        text = self.train("damaged", settings, "--checkpoint-seconds", "0", "--folds", "0",
                          "--resume")
        self.assertIn("state.previous.npz (epoch 5)", text)
        self.expect_equal("whole", "damaged")

    def test_refusals_say_what_to_do(self):
        settings = config(self.path("c.yaml"), epochs=2)
        self.train("out", settings, "--folds", "0")
        self.assertIn("--resume", self.train("out", settings, "--folds", "0", code=2))
        self.assertIn("finished before", self.train("out", settings, "--folds", "0", "--resume"))
        other = config(self.path("d.yaml"), epochs=2, lr_main=0.5)
        text = self.train("out", other, "--folds", "0", "--resume", code=1)
        self.assertIn("lr_main 0.5", text)
        self.assertIn("0.0003", text)
        self.assertIn("no fold 7", self.train("x", settings, "--folds", "7", code=2))
        self.assertIn("GPU", self.train("x", settings, "--gpus", "2", code=1))
        self.assertIn("pack-genotypes", self.train("x", settings, "--inputs", "packed", code=2))
        self.assertIn("regression_labels", self.train("x", settings, "--task", "regression",
                                                      code=1))

    def test_a_loss_that_is_no_number_stops_that_model_only(self):
        settings = config(self.path("c.yaml"), epochs=3)
        stats = dict(numpy.load(os.path.join(TINY, "input_stats.npz")))
        stats["sd_by_fold"] = stats["sd_by_fold"].copy()
        stats["sd_by_fold"][0, :] = 1e-42
        numpy.savez(self.path("stats.npz"), **stats)
        text = self.train("out", settings, "--folds", "0,1", "--engine", "upstream",
                          "--input-stats", self.path("stats.npz"), code=3)
        self.assertIn("epoch 1, batch", text)
        self.assertIn("largest gradient", text)
        self.assertTrue(os.path.exists(os.path.join(self.path("out"), "seed_78_fold_1.model.npz")))

    def test_events_tell_every_epoch_and_how_it_ended(self):
        """The events against the table of epochs and the schema of docs/formats/training.md."""
        settings = config(self.path("c.yaml"), epochs=5)
        for engine in ("dietnet", "upstream"):
            self.train(engine, settings, "--folds", "0,1", "--engine", engine)
            events = self.events(f"{engine}/logs/events.jsonl")
            names = [name for name, _, _ in events]
            first = names.index("run_started")
            self.assertEqual(set(names[:first]), {"warning"})  # no alleles
            self.assertEqual(names[-2:], ["run_finished", "log_closed"])
            self.assertEqual(len({run for _, _, run in events}), 1)
            started = events[first][1]
            self.assertEqual((started["models"], started["engine"], started["resume"]),
                             (2, engine, False))
            for fold in (0, 1):
                fields = {name: [f for event, f, _ in events
                                 if event == name and f["fold"] == fold]
                          for name in ("model_started", "epoch", "model_finished")}
                self.assertEqual([len(fields[name]) for name in fields], [1, 5, 1])
                table = self.table(engine, fold=fold)
                for epoch, row in zip(fields["epoch"], table[1:]):
                    pairs = {"epoch": "epoch", "train_loss": "train_mode_loss",
                             "train_accuracy": "train_mode_acc", "valid_loss": "valid_loss",
                             "valid_accuracy": "valid_acc", "lr_aux": "lr_aux_after",
                             "lr_main": "lr_main_after"}
                    if engine == "upstream":
                        pairs |= {"train_eval_loss": "train_eval_loss",
                                  "train_eval_accuracy": "train_eval_acc"}
                    else:
                        self.assertNotIn("train_eval_loss", epoch)
                    for ours, theirs in pairs.items():
                        self.assertEqual(epoch[ours], float(row[theirs]), ours)
                    self.assertEqual(epoch["saved_best"], row["saved_best"] == "1")
                    self.assertAlmostEqual(
                        epoch["people_a_second"] * epoch["seconds_an_epoch"],
                        fields["model_started"][0]["training_people"], places=6)
                    self.assertAlmostEqual(
                        epoch["seconds_left_at_most"],
                        (5 - epoch["epoch"]) * epoch["seconds_an_epoch"], places=9)
                finished = fields["model_finished"][0]
                self.assertEqual((finished["status"], finished["epochs"]), ("completed", 5))
                with open(os.path.join(self.path(engine), f"seed_78_fold_{fold}",
                                       "outcome.json")) as file:
                    self.assertEqual(finished["test_loss"], json.load(file)["test_loss"])
            self.assertEqual(events[-2][1]["status"], "completed")
        self.train("none", settings, "--folds", "0", "--events", "off")
        self.assertFalse(os.path.exists(self.path("none/logs")))
        self.train("refused", settings, "--folds", "9", code=2)
        self.assertFalse(os.path.exists(self.path("refused")))

    def test_events_of_an_interrupted_run_go_on_in_the_same_file(self):
        settings = config(self.path("c.yaml"), epochs=400, patience=400, batch_size=10)
        process = subprocess.Popen(self.words("out", settings, "--folds", "0"),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        log = self.path("out/logs/events.jsonl")
        while not os.path.exists(log):
            time.sleep(0.02)
        with open(log) as file:
            while '"event":"epoch"' not in file.readline():
                time.sleep(0.002)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(), 143)
        stopped = self.events("out/logs/events.jsonl")
        by_name = {name: fields for name, fields, _ in stopped}
        self.assertEqual(by_name["model_finished"]["status"], "interrupted")
        self.assertEqual((by_name["run_finished"]["status"], by_name["run_finished"]["signal"]),
                         ("interrupted", 15))
        self.train("out", settings, "--folds", "0", "--resume")
        events = self.events("out/logs/events.jsonl")
        self.assertEqual(events[:len(stopped)], stopped)
        self.assertEqual(len({run for _, _, run in events}), 2)
        epochs = [fields["epoch"] for name, fields, _ in events if name == "epoch"]
        self.assertEqual(epochs, list(range(1, 401)))
        self.train("out", settings, "--folds", "0", "--resume")
        last = [fields for name, fields, _ in self.events("out/logs/events.jsonl")
                if name == "model_finished"][-1]
        self.assertEqual(last["status"], "finished_before")

    def test_a_terminal_shows_a_line_for_every_model(self):
        """Two models at once: their lines stand above each other and are redrawn in place, no
        wider than the terminal. Elsewhere no control character is written."""
        settings = config(self.path("c.yaml"), epochs=300, patience=300, batch_size=10)
        main, other = pty.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
        process = subprocess.Popen(self.words("out", settings, "--folds", "0,1", "--jobs", "2"),
                                   stdout=subprocess.PIPE, stderr=other)
        os.close(other)
        text = b""
        while select.select([main], [], [], 60)[0]:
            try:
                piece = os.read(main, 65536)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            text += piece
        os.close(main)
        plain = process.stdout.read().decode()
        process.stdout.close()
        self.assertEqual(process.wait(), 0)
        frames = [frame.split("\r\n") for frame in text.decode().split("\033[J")]
        whole = [frame for frame in frames if len(frame) >= 3
                 and frame[0].startswith("seed 78 fold 0  epoch ")
                 and frame[1].startswith("seed 78 fold 1  epoch ")]
        self.assertTrue(whole, text)
        for frame in whole:
            self.assertLess(max(len(line.split("\r")[0]) for line in frame), 60)
            self.assertIn("epochs at most", frame[2])
        self.assertIn("\r\033[2A", text.decode())  # from the third line back to the first
        self.assertIn("seed 78 fold 1: 300 epochs, best", plain)
        self.assertNotIn("\033", plain)
        self.assertNotIn("\033", self.train("plain", settings, "--folds", "0"))

    def test_result_files_are_upstreams(self):
        reference = os.path.join(TINY, "train_dropout")
        self.train("out", os.path.join(reference, "config.yaml"), "--folds", "0", "--engine",
                   "upstream", "--save-pt")
        (results,) = glob.glob(os.path.join(self.path("out"), "RESULTS_*"))
        for name in ("test_results_epoch12.npz", "train_results_epoch1.npz",
                     "valid_results_epoch1.npz"):
            ours, theirs = (numpy.load(os.path.join(folder, name))
                            for folder in (results, reference))
            self.assertEqual(set(ours.files), set(theirs.files))
            for key in theirs.files:
                self.assertEqual(ours[key].dtype.kind, theirs[key].dtype.kind, key)
                if key == "scores":
                    numpy.testing.assert_allclose(ours[key], theirs[key], atol=2e-5)
                else:
                    numpy.testing.assert_array_equal(ours[key], theirs[key])

    def test_a_regression_and_the_plain_network_learn(self):
        dataset = self.path("values.hdf5")
        shutil.copy(os.path.join(TINY, "dataset.hdf5"), dataset)
        with h5py.File(dataset, "r+") as file:
            classes = file["class_labels"][()]
            file["regression_labels"] = (classes == 2) * 2.0 - 1.0
        settings = config(self.path("c.yaml"), epochs=30, patience=30, lr_aux=0.003, lr_main=0.003)
        for model in ("dietnet", "mlp"):
            self.train(model, settings, "--folds", "0", "--task", "regression", "--model", model,
                       dataset=dataset)
            (table,) = glob.glob(os.path.join(self.path(model), "seed_*", "epochs.tsv"))
            rows = [line.rstrip("\n").split("\t") for line in open(table)][1:]
            losses = [float(row[5]) for row in rows]
            self.assertLess(min(losses), losses[0] / 2, model)
            (results,) = glob.glob(os.path.join(self.path(model), "RESULTS_*", "test_*.npz"))
            self.assertNotIn("scores", numpy.load(results).files)
        self.train("classes", settings, "--folds", "0", "--model", "mlp", "--save-pt")
        (table,) = glob.glob(os.path.join(self.path("classes"), "seed_*", "epochs.tsv"))
        self.assertGreater(float(open(table).readlines()[-1].split("\t")[6]), 80)

    def check(self, packages, *more, code=0):
        done = subprocess.run([TALLELE, "dietnet", "check", "--packages", self.path(packages),
                               *more], capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_packages_are_checked_as_they_are(self):
        settings = config(self.path("c.yaml"), epochs=12)
        self.train("out", settings, "--seeds", "78,79")
        self.check("out", "--dataset", os.path.join(TINY, "dataset.hdf5"), "--min-accuracy", "0.9")

    def test_packages_know_their_dataset(self):
        """Accuracy as with --dataset, wherever one stands; a dataset that moved, packages that moved
        and a dataset that is another one are said with the option that helps."""
        settings = config(self.path("c.yaml"), epochs=2)
        os.makedirs(self.path("data"))
        dataset = self.path("data/values.hdf5")
        shutil.copy(os.path.join(TINY, "dataset.hdf5"), dataset)
        self.train("out", settings, "--folds", "0,1", dataset=dataset)
        (location,) = glob.glob(os.path.join(self.path("out"), "dataset-*.json"))
        with open(location) as file:
            self.assertNotIn(self.folder, file.read())
        named = self.check("out", "--dataset", dataset)
        self.assertEqual(self.check("out").replace(f"Dataset: {dataset}\n", ""), named)
        here = subprocess.run([TALLELE, "dietnet", "check", "--packages", "."], text=True,
                              capture_output=True, cwd=self.path("out"))
        self.assertEqual(here.stdout.replace("Dataset: ../data/values.hdf5\n", ""), named)
        words = [TALLELE, "dietnet", "evaluate", "--packages", self.path("out"), "--out"]
        subprocess.run([*words, self.path("a.npz")], check=True, capture_output=True)
        subprocess.run([*words, self.path("b.npz"), "--dataset", dataset], check=True,
                       capture_output=True)
        self.assertTrue(filecmp.cmp(self.path("a.npz"), self.path("b.npz"), shallow=False))

        os.rename(dataset, self.path("moved.hdf5"))
        text = self.check("out", code=1)
        self.assertIn(f"{dataset}: the training dataset of the packages is not where it was", text)
        self.assertIn("178 people", text)
        self.assertIn("--dataset FILE", text)
        self.assertEqual(self.check("out", "--dataset", self.path("moved.hdf5")), named)

        shutil.copy(self.path("moved.hdf5"), dataset)
        with h5py.File(dataset, "r+") as file:  # somebody else got the class of a test person
            labels = file["class_labels"]
            labels[3] = (labels[3] + 1) % 6
        for more in ([], ["--dataset", dataset]):
            text = self.check("out", *more, code=1)
            self.assertIn("not the dataset that the models were trained on", text)
        # Rows of a partition may be those of other data.
        self.check("out", "--dataset", dataset, "--partition",
                   os.path.join(TINY, "partition_seed_a.npz"))

        os.remove(location)
        self.assertIn("--dataset FILE", self.check("out", code=2))

    def test_packages_of_different_datasets_are_not_checked_together(self):
        settings = config(self.path("c.yaml"), epochs=1)
        other = self.path("other.hdf5")
        shutil.copy(os.path.join(TINY, "dataset.hdf5"), other)
        with h5py.File(other, "r+") as file:
            file["samples"][0] = b"somebody"
        self.train("out", settings, "--folds", "0")
        partition = self.path("rows.npz")
        folds = numpy.load(os.path.join(TINY, "partition_seed_a.npz"), allow_pickle=True)
        numpy.savez(partition, folds_indexes=folds["folds_indexes"])  # names would not fit
        words = self.words("out", settings, "--folds", "1", dataset=other)
        words[words.index("--partition") + 1] = partition
        subprocess.run(words, check=True, capture_output=True)
        text = self.check("out", code=2)
        self.assertIn("different datasets", text)
        self.assertIn("--folds", text)
        self.check("out", "--folds", "1")

    def test_evaluate_gives_upstreams_scores(self):
        """The trained package against PyTorch's scores of the test people; hidden layers by their one
        property that needs no weights: logits are an affine function of them."""
        reference = os.path.join(TINY, "train_dropout")
        self.train("out", os.path.join(reference, "config.yaml"), "--folds", "0", "--engine",
                   "upstream")

        def evaluate(*more, code=0):
            words = [TALLELE, "dietnet", "evaluate", "--packages", self.path("out"), "--dataset",
                     os.path.join(TINY, "dataset.hdf5"), "--out", self.path("e.npz"), *more]
            done = subprocess.run(words, capture_output=True, text=True)
            self.assertEqual(done.returncode, code, done.stderr)
            return done.stderr if code else numpy.load(self.path("e.npz"))

        ours = evaluate()
        theirs = numpy.load(os.path.join(reference, "test_results_epoch12.npz"))
        logits = ours["seed_78_fold_0.logits"]
        scores = numpy.exp(logits) / numpy.exp(logits).sum(axis=1, keepdims=True)
        numpy.testing.assert_allclose(scores, theirs["scores"], atol=2e-5)
        numpy.testing.assert_array_equal(ours["seed_78_fold_0.samples"], theirs["samples"])
        numpy.testing.assert_array_equal(ours["seed_78_fold_0.labels"], theirs["labels"])
        self.assertIn("--partition", evaluate("--set", "train", code=2))
        everyone = evaluate("--set", "all")
        hidden = everyone["seed_78_fold_0.hidden"]
        self.assertEqual(hidden.shape, (178, 100))
        table = numpy.hstack([hidden, numpy.ones((len(hidden), 1))])
        logits = everyone["seed_78_fold_0.logits"]
        fitted = table @ numpy.linalg.lstsq(table, logits, rcond=None)[0]
        numpy.testing.assert_allclose(fitted, logits, atol=1e-6)
        partition = numpy.load(os.path.join(TINY, "partition_seed_a.npz"), allow_pickle=True)
        train = evaluate("--set", "train", "--partition",
                         os.path.join(TINY, "partition_seed_a.npz"))
        numpy.testing.assert_array_equal(train["seed_78_fold_0.samples"],
                                         partition["folds_indexes"][0][0])

    def test_panel_d_reaches_upstreams_accuracy(self):
        """Upstream: 0.824 of the test people of fold 0; its repeats scatter from 0.78 to 0.89."""
        panel = os.path.join(FIXTURES, "bn24-d")
        arguments = self.words("d", os.path.join(panel, "config.yaml"), "--folds", "0",
                               "--input-stats", os.path.join(panel, "input_stats_fold0.npz"),
                               "--embedding", os.path.join(panel, "embedding_fold0.npz"),
                               "--seeds", "78", dataset=os.path.join(panel, "dataset.hdf5"))
        arguments[arguments.index("--partition") + 1] = os.path.join(panel, "partition.npz")
        done = subprocess.run(arguments, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        (accuracy,) = [float(line.split()[5]) for line in done.stdout.splitlines()
                       if line.split()[:2] == ["78", "0"]]
        self.assertGreater(accuracy, 78)
        self.assertLess(accuracy, 89)


if __name__ == "__main__":
    unittest.main()
