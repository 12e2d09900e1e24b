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
    """What is wanted, and the configuration."""
    text = (SOURCE / "tests" / "conf" / "wrong.txt").read_text()
    for case in text.split("\n= ")[1:]:
        wanted, rest = [], case
        while True:
            line, rest = rest.split("\n", 1)
            wanted.append(line.replace("{plugins}", PLUGINS))
            if not rest.startswith("+ "):
                break
            rest = rest[2:]
        yield wanted, rest


def check(path, *arguments):
    command = [str(BUILD / "turncast"), "check", *arguments, str(path)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


with tempfile.TemporaryDirectory(prefix="turncast-wrong.") as folder:
    file = pathlib.Path(folder) / "turncast.conf"
    count = 0
    for wanted, text in cases():
        file.write_text(text)
        file.chmod(0o600)
        said = check(file)
        lines = [f"{file}:{line}" for line in wanted]
        equal(said.stdout.splitlines(), lines, wanted[0])
        equal((said.returncode, said.stderr), (2, ""), "  with status 2")
        found = json.loads(check(file, "--json").stdout)["findings"]
        whole = all(f["file"] == str(file) and f["line"] and f["remedy"] for f in found)
        ok(whole and len(found) == len(wanted), "  each with a place and a remedy", found)
        count += 1
    ok(count >= 50, f"{count} configurations")
done()
