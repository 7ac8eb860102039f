"""The published release as a user gets it: from a server on loopback that serves a small fake
release, or from a folder; and every way in which a download goes wrong.

usage: dietnet_published_test.py TALLELE SOURCE_FOLDER
"""

import gzip
import hashlib
import http.server
import io
import os
import re
import shutil
import ssl
import subprocess
import sys
import tarfile
import tempfile
import threading
import unittest
import zipfile

TALLELE, SOURCE = (os.path.abspath(p) for p in sys.argv[1:3])
del sys.argv[1:3]
SHARED = os.environ.get("TALLELE_SHARED", os.path.join(SOURCE, "..", "shared"))
MODEL = os.path.join(SHARED, "fixtures", "dietnet", "bn24-d")
ARCHIVE = "Dietnet_inference.tar.gz"
SNPS = 5000


def dietnet(*arguments, **environment):
    return subprocess.run([TALLELE, "dietnet", *arguments], capture_output=True, text=True,
                          env={**os.environ, **environment})


def md5(content):
    return hashlib.md5(content).hexdigest()


class Server:
    """Serves `files`. `breaks`: for each coming answer, after how many bytes the connection ends."""

    def __init__(self, files, certificate=None):
        self.files, self.breaks, self.ranges, self.requests, self.status = files, [], True, [], 0
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                outer.answer(self)

            def log_message(self, *_):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        scheme = "http"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.http.socket = context.wrap_socket(self.http.socket, server_side=True)
            scheme = "https"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        self.url = f"{scheme}://127.0.0.1:{self.http.server_port}/files"

    def answer(self, handler):
        name, asked = os.path.basename(handler.path), handler.headers.get("Range")
        self.requests.append((name, asked))
        if self.status or name not in self.files:
            handler.send_error(self.status or 404)
            return
        content, begin = self.files[name], 0
        if asked and self.ranges:
            begin = int(re.fullmatch(r"bytes=(\d+)-", asked).group(1))
            if begin >= len(content):
                handler.send_response(416)
                handler.send_header("Content-Range", f"bytes */{len(content)}")
                handler.send_header("Content-Length", "0")
                handler.end_headers()
                return
        handler.send_response(206 if begin else 200)
        if begin:
            handler.send_header("Content-Range",
                                f"bytes {begin}-{len(content) - 1}/{len(content)}")
        handler.send_header("Content-Length", str(len(content) - begin))
        handler.end_headers()
        end = begin + self.breaks.pop(0) if self.breaks else len(content)
        handler.wfile.write(content[begin:end])

    def close(self):
        self.http.shutdown()
        self.http.server_close()


def one_row(npz, key, shape):
    """The .npy of an array with a first axis of length 1, without that axis."""
    with zipfile.ZipFile(npz) as archive:
        raw = archive.read(key + ".npy")
    assert raw[6] == 1, "NumPy 1.0 header"
    data = raw[10 + int.from_bytes(raw[8:10], "little"):]
    header = "{'descr': '<f8', 'fortran_order': False, 'shape': %s, }" % (shape,)
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + data


def bundle(folder):
    """The layout of the released bundle, with upstream's model as fold 1, repeats 1 and 2."""
    models, snps = os.path.join(folder, "DN_MODELS"), os.path.join(folder, "DN_SNPS")
    os.makedirs(models)
    os.makedirs(snps)
    for repeat in "12":
        shutil.copy(os.path.join(MODEL, "best_model.pt"),
                    os.path.join(models, f"weights_model1_{repeat}.pt"))
    with zipfile.ZipFile(os.path.join(models, "snps_emb_model1.npz"), "w") as archive:
        archive.writestr("emb.npy", one_row(os.path.join(MODEL, "embedding_fold0.npz"), "emb",
                                            (SNPS, 72)))
    with zipfile.ZipFile(os.path.join(models, "norm_stats_model1.npz"), "w") as archive:
        stats = os.path.join(MODEL, "input_stats_fold0.npz")
        archive.writestr("mean.npy", one_row(stats, "means_by_fold", (SNPS,)))
        archive.writestr("std.npy", one_row(stats, "sd_by_fold", (SNPS,)))
    with open(os.path.join(snps, "dietnet_snps.txt"), "w") as file:
        file.writelines(f"1:{j + 1}\n" for j in range(SNPS))
    with open(os.path.join(snps, "dummy.bim"), "w") as file:
        file.writelines(f"1\t1:{j + 1}\t0\t{j + 1}\tA\tG\n" for j in range(SNPS))


def tar_gz(folder, name, tar_format):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", compresslevel=1, format=tar_format) as archive:
        archive.add(folder, name)
    return out.getvalue()


@unittest.skipUnless(os.path.isdir(MODEL), "no shared fixtures")
class Published(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.bundle = os.path.join(cls.temporary.name, "bundle")
        bundle(cls.bundle)
        cls.archive = tar_gz(cls.bundle, "Dietnet_inference", tarfile.GNU_FORMAT)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def setUp(self):
        self.dest = tempfile.mkdtemp(dir=self.temporary.name)
        self.server = Server({ARCHIVE: self.archive})
        self.addCleanup(lambda: self.server.close())

    def get(self, *more, digest=None, **environment):
        return dietnet("published", "--dest", self.dest, "--md5",
                       f"{ARCHIVE}={digest or md5(self.archive)}", *more, **environment)

    def download(self, *more, **keywords):
        return self.get("--url", self.server.url, *more, **keywords)

    def path(self, *names):
        return os.path.join(self.dest, *names)

    def check(self, done):
        """The packages have upstream's accuracy on upstream's test set."""
        self.assertEqual(done.returncode, 0, done.stderr)
        check = dietnet("check", "--packages", self.path("packages"), "--dataset",
                        os.path.join(MODEL, "dataset.hdf5"), "--partition",
                        os.path.join(MODEL, "partition.npz"), "--seeds", "78")
        self.assertIn("383 of 465", check.stdout, check.stderr)

    def refused(self, done, *words):
        self.assertEqual(done.returncode, 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertFalse(os.path.exists(self.path("packages")))

    def test_a_download_becomes_packages_and_is_not_repeated(self):
        done = self.download()
        self.check(done)
        self.assertIn("2 models, not the 15", done.stderr)
        with open(self.path("download", ARCHIVE), "rb") as file:
            self.assertEqual(file.read(), self.archive)
        self.assertEqual(sorted(os.listdir(self.path("download"))),
                         ["Dietnet_inference", ARCHIVE])
        self.assertEqual(self.download().returncode, 0)
        self.assertEqual(len(self.server.requests), 1)

    def test_a_broken_download_is_continued_at_its_byte(self):
        self.server.breaks = [100000, 50000]
        self.check(self.download())
        asked = [request[1] for request in self.server.requests]
        self.assertEqual(asked, [None, "bytes=100000-", "bytes=150000-"])

    def test_the_next_call_continues_what_was_left(self):
        self.server.breaks = [100000, 0]
        self.refused(self.download("--retries", "0"), "broke off", "100,000 bytes", "again")
        self.assertEqual(os.listdir(self.path("download")), [ARCHIVE + ".part"])
        self.check(self.download())
        self.assertEqual(self.server.requests[-1][1], "bytes=100000-")

    def test_a_server_without_ranges_sends_everything_again(self):
        self.server.ranges, self.server.breaks = False, [100000]
        done = self.download()
        self.check(done)
        self.assertIn("first byte", done.stdout)

    def test_a_whole_partial_file_needs_no_more_bytes(self):
        os.makedirs(self.path("download"))
        with open(self.path("download", ARCHIVE + ".part"), "wb") as file:
            file.write(self.archive)
        self.check(self.download())
        self.assertEqual(len(self.server.requests), 1)

    def test_pieces_of_different_files_are_fetched_from_the_beginning(self):
        os.makedirs(self.path("download"))
        for left in (b"x" * 100000, b"x" * (len(self.archive) + 9)):
            with open(self.path("download", ARCHIVE + ".part"), "wb") as file:
                file.write(left)
            done = self.download()
            self.check(done)
            self.assertIn("does not fit together", done.stderr)
            shutil.rmtree(self.path("download"))
            os.makedirs(self.path("download"))

    def test_a_wrong_digest_keeps_nothing(self):
        wrong = "0" * 32
        self.refused(self.download(digest=wrong), md5(self.archive), wrong, "--md5")
        self.assertEqual(os.listdir(self.path("download")), [])
        # Without --md5 the digest of the real release is expected.
        done = dietnet("published", "--dest", self.dest, "--url", self.server.url)
        self.refused(done, "f0439ccc546d170f1aec38271cfd7442")

    def test_a_file_that_the_server_lacks_is_named(self):
        self.server.files = {}
        self.refused(self.download(), "does not have the file", "404", ARCHIVE, "--url")
        self.assertEqual(os.listdir(self.path("download")), [])

    def test_a_busy_server_is_asked_again(self):
        self.server.status = 503
        self.refused(self.download("--retries", "1"), "503", "broke off")
        self.assertEqual(len(self.server.requests), 2)

    def test_without_a_server_the_way_by_hand_is_named(self):
        url = self.server.url
        self.server.close()
        self.server = Server({})
        self.refused(self.get("--url", url), ARCHIVE, "--from")
        self.refused(self.get("--url", "ftp://127.0.0.1/files"), "--from")

    def test_certificates_are_checked(self):
        key, certificate = self.path("key.pem"), self.path("certificate.pem")
        try:
            subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout",
                            key, "-out", certificate, "-days", "2", "-subj", "/CN=127.0.0.1",
                            "-addext", "subjectAltName=IP:127.0.0.1"], check=True,
                           capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            self.skipTest("openssl cannot make a certificate here")
        self.server.close()
        self.server = Server({ARCHIVE: self.archive}, (certificate, key))
        self.refused(self.download(), "certificate")
        self.check(self.download(CURL_CA_BUNDLE=certificate))

    def test_a_folder_of_downloads_is_taken(self):
        with open(self.path(ARCHIVE), "wb") as file:
            file.write(self.archive)
        self.refused(self.get("--from", self.dest, digest="1" * 32), md5(self.archive))
        self.check(self.get("--from", self.dest))
        self.assertEqual(self.server.requests, [])

    def test_an_unpacked_folder_is_taken(self):
        for place in (self.bundle, self.path("somewhere")):
            if place != self.bundle:
                shutil.copytree(self.bundle, os.path.join(place, "Dietnet_inference"))
            self.check(self.get("--from", place))
            shutil.rmtree(self.path("packages"))
        self.assertFalse(os.path.exists(self.path("download")))
        self.refused(self.get("--from", self.path("nowhere")), ARCHIVE)

    def test_the_training_part_needs_a_digest_and_lies_where_scripts_expect_it(self):
        training = os.path.join(self.temporary.name, "training")
        os.makedirs(training, exist_ok=True)
        long = "f" * 120 + ".txt"  # beyond the 100 bytes of a plain header
        for name in ("dataset.hdf5", long):
            with open(os.path.join(training, name), "w") as file:
                file.write(name)
        name = "Dietnet_training.tar.gz"
        for tar_format in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT, tarfile.USTAR_FORMAT):
            if tar_format == tarfile.USTAR_FORMAT:
                os.remove(os.path.join(training, long))
            self.server.files[name] = tar_gz(training, "Dietnet_training", tar_format)
            done = self.download("--training")
            self.assertEqual(done.returncode, 2)
            self.assertIn("--md5 " + name, done.stderr)
            done = self.download("--training", "--md5", f"{name}={md5(self.server.files[name])}")
            self.check(done)
            unpacked = self.path("download", "Dietnet_training")
            self.assertEqual(sorted(f for f in os.listdir(unpacked) if f[0] != "."),
                             sorted(os.listdir(training)))
            with open(os.path.join(unpacked, "dataset.hdf5")) as file:
                self.assertEqual(file.read(), "dataset.hdf5")
            shutil.rmtree(self.path("download"))

    def unpack(self, content):
        self.server.files[ARCHIVE] = content
        done = self.download(digest=md5(content))
        self.assertEqual([n for n in os.listdir(self.path("download")) if n != ARCHIVE], [])
        shutil.rmtree(self.path("download"))
        return done

    def test_damaged_and_hostile_archives_leave_nothing(self):
        half = len(self.archive) // 2
        self.refused(self.unpack(self.archive[:half]), "ends early", ARCHIVE)
        self.refused(self.unpack(b"<html>no archive</html>" * 100), "no tar archive")
        plain = gzip.decompress(self.archive)
        self.refused(self.unpack(gzip.compress(plain[:len(plain) // 2], 1)), "ends early")
        self.refused(self.unpack(gzip.compress(plain[:520] + b"?" + plain[521:], 1)),
                     "damaged after 0 files")
        for name, kind in [("../escaped", tarfile.REGTYPE), ("/tmp/escaped", tarfile.REGTYPE),
                           ("a/../../escaped", tarfile.REGTYPE), ("link", tarfile.SYMTYPE),
                           ("hard", tarfile.LNKTYPE), ("pipe", tarfile.FIFOTYPE)]:
            out = io.BytesIO()
            with tarfile.open(fileobj=out, mode="w:gz") as archive:
                entry = tarfile.TarInfo(name)
                entry.type, entry.linkname = kind, "/etc/passwd"
                archive.addfile(entry)
            self.refused(self.unpack(out.getvalue()), name,
                         "outside" if kind == tarfile.REGTYPE else "link or device")
        self.assertFalse(os.path.exists(self.path("escaped")))

    def test_a_foreign_folder_is_not_replaced(self):
        os.makedirs(self.path("download", "Dietnet_inference"))
        self.refused(self.download(), "in the way", "--from")

    def test_refusals_of_words(self):
        for words, arguments in [("--dest", ["published"]),
                                 ("FILE=HEX", ["published", "--dest", "d", "--md5", "abc"]),
                                 ("32 hex", ["published", "--dest", "d", "--md5", ARCHIVE + "=ab"]),
                                 ("no file", ["published", "--dest", "d", "--md5", "x=" + "0" * 32])]:
            done = dietnet(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    unittest.main()
