"""The SLURM scripts of cluster/, run by bash as the scheduler would: prep, training as an array, scoring;
a variable that is unset is named.

usage: cluster_test.py TALLELE SOURCE_FOLDER
"""

import os
import subprocess
import sys
import tempfile
import unittest

TALLELE, SOURCE = (os.path.abspath(p) for p in sys.argv[1:3])
del sys.argv[1:3]
CLUSTER = os.path.join(SOURCE, "cluster")
CONFIG = """batch_size: 32
epochs: 6
patience: 6
input_dropout: 0.5
dropout_main: 0.1
lr_aux: 0.0012
lr_main: 0.0006
learning_rate_annealing: 0.99
nb_hidden_u_aux: [20, 20]
nb_hidden_u_main: [20]
uniform_init_limit: 0.02
"""


class Cluster(unittest.TestCase):
    def run_script(self, name, code=0, **variables):
        environment = {"PATH": os.environ["PATH"], "TALLELE_CLUSTER": CLUSTER, **variables}
        done = subprocess.run(["bash", os.path.join(CLUSTER, name)], env=environment,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_variables_that_are_unset_are_named(self):
        for name in ("prep.sbatch", "train.sbatch", "predict.sbatch"):
            text = self.run_script(name, code=2)
            self.assertIn("Set TALLELE: the tallele program", text)
            for line in text.splitlines():
                self.assertRegex(line, r"^Set TALLELE\w*: \S")
        text = self.run_script("prep.sbatch", code=2, TALLELE=TALLELE)
        self.assertNotIn("Set TALLELE:", text)

    def test_from_a_dataset_to_predictions(self):
        with tempfile.TemporaryDirectory() as folder:
            def path(name):
                return os.path.join(folder, name)

            for words in (["simulate", "ancestry", "--out", path("panel"), "--snps", "600",
                           "--size-factor", "0.2"],
                          ["dietnet", "create-dataset", "--plink", path("panel"), "--labels",
                           path("panel_labels.tsv"), "--out", path("panel.h5")]):
                subprocess.run([TALLELE, *words], check=True, capture_output=True)
            with open(path("train.yaml"), "w") as file:
                file.write(CONFIG)
            variables = {"TALLELE": TALLELE, "TALLELE_DATASET": path("panel.h5"),
                         "TALLELE_PARTITION": path("folds.npz"), "TALLELE_STATS": path("stats.npz"),
                         "TALLELE_EMBEDDING": path("embedding.npz"),
                         "TALLELE_CONFIG": path("train.yaml"), "TALLELE_MODELS": path("models"),
                         "TALLELE_SEEDS": "78 79", "TALLELE_FOLDS": "3",
                         "TALLELE_COHORT": path("panel"), "TALLELE_WORK": path("work"),
                         "TALLELE_PREDICTIONS": path("predictions.tsv")}
            self.run_script("prep.sbatch", **variables)
            for task in range(6):
                self.run_script("train.sbatch", **variables, SLURM_ARRAY_TASK_ID=str(task))
            text = self.run_script("train.sbatch", **variables, SLURM_ARRAY_TASK_ID="5")
            self.assertIn("finished before", text)
            self.run_script("train.sbatch", code=2, **variables, SLURM_ARRAY_TASK_ID="6")
            models = [name for name in os.listdir(path("models")) if name.endswith(".model.npz")]
            self.assertEqual(len(models), 6)
            self.run_script("predict.sbatch", **variables)
            lines = []
            for name in ("panel.fam", "predictions.tsv"):
                with open(path(name)) as file:
                    lines.append(len(file.readlines()))
            self.assertEqual(lines[1], lines[0] + 1)


if __name__ == "__main__":
    unittest.main()
