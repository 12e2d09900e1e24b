# SPDX-License-Identifier: MIT
"""Every configuration of wrong.txt is refused by turncast check, with its line and a remedy."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ["TURNCAST_SRCDIR"])
BUILD = pathlib.Path(os.environ["TURNCAST_BUILDDIR"])
sys.path.insert(0, str(SOURCE / "tests" / "tap"))
from tap import done, equal, ok  # noqa: E402

PLUGINS = os.environ["TURNCAST_PLUGIN_PATH"]


def cases():
    """What is wanted, and the files: the first is the configuration."""
    text = (SOURCE / "tests" / "conf" / "wrong.txt").read_text()
    for case in text.split("\n= ")[1:]:
        wanted, rest = [], case
        while True:
            line, rest = rest.split("\n", 1)
            wanted.append(line.replace("{plugins}", PLUGINS))
            if not rest.startswith("+ "):
                break
            rest = rest[2:]
        yield wanted, files_of(rest)


def files_of(text):
    """Text, name and mode of each file; before a further one is a line "@@ NAME [MODE]"."""
    first, *more = text.split("\n@@ ")
    found = [("turncast.conf", 0o600, first)]
    for part in more:
        head, body = part.split("\n", 1)
        name, *mode = head.split()
        found.append((name, int(mode[0], 8) if mode else 0o600, body))
    return found


def write(folder, files):
    """The files of a case, and none of another; a name that ends with / is a folder."""
    for old in sorted(folder.rglob("*"), reverse=True):
        old.rmdir() if old.is_dir() else old.unlink()
    for name, mode, text in files:
        path = folder / name
        if name.endswith("/"):
            path.mkdir(exist_ok=True)
        else:
            path.parent.mkdir(mode=0o700, exist_ok=True)
            path.write_text(text)
        path.chmod(mode)


def check(path, *arguments):
    command = [str(BUILD / "turncast"), "check", *arguments, str(path)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


with tempfile.TemporaryDirectory(prefix="turncast-wrong.") as folder:
    file = pathlib.Path(folder) / "turncast.conf"
    count = 0
    for wanted, files in cases():
        write(pathlib.Path(folder), files)
        said = check(file)
        lines = [line.replace("{folder}", folder) for line in wanted]
        lines = [f"{file}:{line}" if line[0].isdigit() else f"{folder}/{line}" for line in lines]
        equal(said.stdout.splitlines(), lines, wanted[0])
        equal((said.returncode, said.stderr), (2, ""), "  with status 2")
        found = json.loads(check(file, "--json").stdout)["findings"]
        names = {f"{folder}/{name}".rstrip("/") for name, _, _ in files}
        whole = all(f["file"] in names and f["remedy"] for f in found)
        whole = whole and all(f["line"] or f["file"] != str(file) for f in found)
        ok(whole and len(found) == len(wanted), "  each with a place and a remedy", found)
        count += 1
    ok(count >= 125, f"{count} configurations")
done()
