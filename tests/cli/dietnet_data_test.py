"""The data side of `tallele dietnet` from the command line: files are compared with the shared fixtures
and opened with NumPy and h5py where those are installed.

usage: dietnet_data_test.py TALLELE SOURCE_FOLDER
"""

import os
import subprocess
import sys
import tempfile


def run(tallele, *words, code=0):
    done = subprocess.run([tallele, *words], capture_output=True, text=True)
    assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


def fixtures_folder(source):
    shared = os.environ.get("TALLELE_SHARED", os.path.join(source, "..", "shared"))
    return os.path.join(shared, "fixtures", "dietnet", "tiny")


def check_tiny(tallele, tiny, folder):
    """Upstream's text tables through every step; upstream's arrays, bit for bit."""
    import h5py
    import numpy

    data, folds = os.path.join(folder, "d.h5"), os.path.join(folder, "folds.npz")
    run(tallele, "dietnet", "create-dataset", "--genotypes", tiny + "/genotypes.tsv", "--labels",
        tiny + "/labels.tsv", "--counted-allele", "last", "--out", data)
    with h5py.File(data) as ours, h5py.File(tiny + "/dataset.hdf5") as theirs:
        assert set(ours) == set(theirs), (set(ours), set(theirs))
        for name in theirs:
            assert ours[name].dtype == theirs[name].dtype, name
            assert ours[name].chunks is None
            assert numpy.array_equal(ours[name][()], theirs[name][()]), name
    run(tallele, "dietnet", "pack-genotypes", "--dataset", data)
    assert "equal in every genotype" in run(tallele, "dietnet", "inspect", "--verify", data)
    run(tallele, "dietnet", "partition", "--dataset", data, "--seed", "23", "--out", folds)
    ours = numpy.load(folds, allow_pickle=True)
    theirs = numpy.load(tiny + "/partition_unbalanced_seed23.npz", allow_pickle=True)
    for fold in range(5):
        for part, name in enumerate(("train", "valid", "test")):
            assert ours["folds_indexes"][fold, part] == theirs["folds_indexes"][fold, part]
            assert list(ours[f"{name}_{fold}"]) == list(theirs["folds_indexes"][fold, part])
            assert numpy.array_equal(ours["folds_samples"][fold, part],
                                     theirs["folds_samples"][fold, part])
    partition = tiny + "/partition_seed_a.npz"
    stats, embedding = os.path.join(folder, "s.npz"), os.path.join(folder, "e.npz")
    run(tallele, "dietnet", "compute-input-stats", "--dataset", data, "--partition", partition,
        "--out", stats)
    run(tallele, "dietnet", "generate-embedding", "--dataset", data, "--partition", partition,
        "--out", embedding)
    theirs = numpy.load(tiny + "/input_stats.npz")
    assert numpy.array_equal(numpy.load(stats)["means_by_fold"], theirs["means_by_fold"])
    assert numpy.allclose(numpy.load(stats)["sd_by_fold"], theirs["sd_by_fold"], rtol=5e-14, atol=0)
    assert numpy.array_equal(numpy.load(embedding)["emb"],
                             numpy.load(tiny + "/embedding.npz")["emb"])


def check_partition_shapes(tallele, tiny, folder):
    """Equally long lists, which NumPy keeps as one array of three axes, and arrays instead of lists:
    the same statistics; a name that is not the row's is found in each."""
    import h5py
    import numpy

    data, stats = tiny + "/dataset.hdf5", os.path.join(folder, "shapes.npz")
    with h5py.File(data) as file:
        names, genotypes = file["samples"][()], file["inputs"][()].astype(float)
    folds = [numpy.array_split(numpy.roll(numpy.arange(177), 40 * f), 3) for f in range(2)]
    genotypes[genotypes < 0] = numpy.nan
    means = numpy.array([numpy.nanmean(genotypes[lists[0]], axis=0) for lists in folds])

    def save(path, kind, wrong=None):
        rows, samples = (numpy.empty((2, 3), dtype=object) for _ in range(2))
        for f, lists in enumerate(folds):
            for part, rows_of in enumerate(lists):
                rows[f, part] = [int(i) for i in rows_of] if kind == "lists" else rows_of
                samples[f, part] = names[rows_of].copy()
        if wrong:
            samples[wrong][3] = b"somebody"
        if kind.startswith("flat"):
            value = (lambda x: x) if kind == "flat, of NumPy's scalars" else (lambda x: x.item())
            rows, samples = (
                numpy.array([[[value(x) for x in numpy.asarray(part)] for part in fold]
                             for fold in table], dtype=object) for table in (rows, samples))
            assert rows.shape == (2, 3, 59) == samples.shape
        numpy.savez(path, folds_indexes=rows, folds_samples=samples)

    partition = os.path.join(folder, "shapes_partition.npz")
    words = ["dietnet", "compute-input-stats", "--dataset", data, "--partition", partition, "--out",
             stats]
    for kind in ("lists", "arrays", "flat", "flat, of NumPy's scalars"):
        save(partition, kind)
        run(tallele, *words)
        assert numpy.allclose(numpy.load(stats)["means_by_fold"], means, rtol=1e-14, atol=0), kind
        save(partition, kind, wrong=(1, 2))
        text = run(tallele, *words, code=1)
        assert "fold 1, test list" in text and "entry 3" in text, (kind, text)
        assert "somebody" not in text


def write_plink(prefix, genotypes, alleles):
    """`genotypes` people x SNPs, copies of the first allele, -1 missing; SNP j is at 1:j+1."""
    import numpy

    codes = numpy.array([3, 2, 0, 1], dtype=numpy.uint8)[genotypes.T]  # by 0, 1, 2, -1
    padded = numpy.zeros((codes.shape[0], (codes.shape[1] + 3) // 4 * 4), dtype=numpy.uint8)
    padded[:, : codes.shape[1]] = codes
    four = padded.reshape(codes.shape[0], -1, 4)
    with open(prefix + ".bed", "wb") as file:
        file.write(b"\x6c\x1b\x01")
        file.write((four << numpy.array([0, 2, 4, 6], dtype=numpy.uint8)).sum(axis=2)
                   .astype(numpy.uint8).tobytes())
    with open(prefix + ".bim", "w") as file:
        for j, (first, second) in enumerate(alleles):
            file.write(f"1\tx{j}\t0\t{j + 1}\t{first}\t{second}\n")
    with open(prefix + ".fam", "w") as file:
        for i in range(genotypes.shape[0]):
            file.write(f"P{i} P{i} 0 0 0 -9\n")


def check_match(tallele, panel, folder):
    """The cohort of a real model with every third SNP swapped and every fifth on the other strand:
    predictions are those of the unchanged dataset."""
    import h5py

    with h5py.File(panel + "/dataset.hdf5") as file:
        genotypes, names = file["inputs"][()], [n.decode() for n in file["snp_names"][()]]
    with open(os.path.join(folder, "model.bim"), "w") as file:
        for j, name in enumerate(names):
            file.write(f"chr1\t{name}\t0\t{j + 1}\tA\tG\n")
    models, cohort = os.path.join(folder, "models"), os.path.join(folder, "cohort")
    run(tallele, "dietnet", "import-package", "--checkpoint", panel + "/best_model.pt",
        "--embedding", panel + "/embedding_fold0.npz", "--stats", panel + "/input_stats_fold0.npz",
        "--seed", "78", "--dataset", panel + "/dataset.hdf5", "--partition",
        panel + "/partition.npz", "--bim", os.path.join(folder, "model.bim"), "--out", models)
    alleles = []
    for j in range(len(names)):
        pair = ("T", "C") if j % 5 == 0 else ("A", "G")
        if j % 3 == 0:
            pair = pair[::-1]
            column = genotypes[:, j]
            column[column >= 0] = 2 - column[column >= 0]
        alleles.append(pair)
    write_plink(cohort, genotypes, alleles)
    tables = [os.path.join(folder, name) for name in ("one.tsv", "other.tsv")]
    run(tallele, "dietnet", "predict", "--model", models, "--dataset", panel + "/dataset.hdf5",
        "--out", tables[0])
    text = run(tallele, "dietnet", "predict", "--model", models, "--plink", cohort, "--work-dir",
               os.path.join(folder, "work"), "--out", tables[1])
    assert "swapped at" in text, text
    rows = []
    for table in tables:
        with open(table) as file:
            rows.append([line.split("\t")[2:] for line in file])
    assert rows[0] == rows[1]


def check_refusals(tallele, folder):
    run(tallele, "dietnet", "partition", "--balance-class", "--train-valid-ratio", "0.5", code=2)
    run(tallele, "dietnet", "match", code=2)
    for command in ("create-dataset", "pack-genotypes", "partition", "compute-input-stats",
                    "generate-embedding", "match", "inspect"):
        assert "--help" in run(tallele, "dietnet", command, "--help")
    bad = os.path.join(folder, "bad")
    with open(bad, "w") as file:
        file.write("TALLPK01 and nothing else")
    run(tallele, "dietnet", "inspect", bad, code=1)


def main():
    tallele, source = (os.path.abspath(p) for p in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        check_refusals(tallele, folder)
        tiny = fixtures_folder(source)
        try:
            import h5py  # noqa: F401
            import numpy  # noqa: F401
        except ImportError:
            print("skipped: NumPy or h5py is absent")
            return
        if not os.path.isdir(tiny):
            print("skipped: the shared fixtures are absent")
            return
        check_tiny(tallele, tiny, folder)
        check_partition_shapes(tallele, tiny, folder)
        check_match(tallele, os.path.join(tiny, "..", "bn24-d"), folder)


if __name__ == "__main__":
    main()
