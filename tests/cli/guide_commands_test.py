"""Runs every block of the guides that is marked as tested, in one folder per guide, with `tallele`
on the PATH. A block is marked by a line <!-- tested --> in front of its ```sh fence.

usage: guide_commands_test.py TALLELE SOURCE_FOLDER
"""

import glob
import os
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"<!-- tested -->\n```sh\n(.*?)```", re.S)


def main():
    tallele, source = (os.path.abspath(p) for p in sys.argv[1:3])
    environment = {**os.environ, "PATH": os.path.dirname(tallele) + ":" + os.environ["PATH"],
                   "TALLELE_SOURCE": source}
    total = 0
    for guide in sorted(glob.glob(os.path.join(source, "docs", "guide", "*.md"))):
        with open(guide) as file:
            blocks = BLOCK.findall(file.read())
        with tempfile.TemporaryDirectory() as folder:
            for block in blocks:
                total += 1
                done = subprocess.run(["bash", "-euo", "pipefail", "-c", block], cwd=folder,
                                      env=environment, capture_output=True, text=True)
                if done.returncode != 0:
                    print(f"{guide}: this block fails\n{block}\n{done.stdout}\n{done.stderr}")
                    sys.exit(1)
    if total == 0:
        sys.exit("no guide has a tested block")
    print(f"{total} blocks ran")


if __name__ == "__main__":
    main()
