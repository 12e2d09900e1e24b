#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`turncast check` accepts the configurations that the manual pages of connectors show, as they are: only
the files and variables that they name are made."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ["TURNCAST_SRCDIR"])
TURNCAST = pathlib.Path(os.environ["TURNCAST_BUILDDIR"]) / "turncast"
INSTANCE = re.compile(r"\s*[\w-]+ *[=:] *\{")
# Options that an instance needs in addition to those of the block.
FRAME = 'http : {{ listen = "127.0.0.1:8089"; }};\n{agents}plugins : {{ instances : {{\n{text}\n}}; }};\n'
AGENTS = 'agents : { claude : { command = ["/bin/true"]; }; };\n'


def blocks(page):
    """Returns the literal blocks of the page as formatted text."""
    text = re.sub(r'^\.\\".*\n', "", page.read_text(), flags=re.MULTILINE)
    for block in re.findall(r"^\.Bd -literal.*?\n(.*?)^\.Ed", text, re.MULTILINE | re.DOTALL):
        yield block.replace(r"\(dq", '"').replace(r"\&", "").replace(r"\e", "\\")


def configuration(block):
    """Completes the block to a whole configuration; None if the block is not a configuration."""
    if re.match(r"\s*(http|plugins|agents|host|visibility) *[:=]", block):
        return ("" if "agents" in block else AGENTS) + block
    if INSTANCE.match(block) and block.rstrip().endswith("};"):
        return FRAME.format(text=block, agents=AGENTS)
    return None


SECRET = "https://example.org/a-secret-of-the-test"  # used as a token, a topic or an address


def prepare(text, folder):
    """Creates the files that a configuration names in the folder, and returns the configuration."""
    for name in set(re.findall(r'file:([^"\s]+)', text)):
        path = folder / pathlib.Path(name).name
        path.write_text(f"{SECRET}\n")
        path.chmod(0o600)
        text = text.replace(f"file:{name}", f"file:{path}")
    for name in re.findall(r'"\./([^"]+)"', text):
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o700)
    return text.replace("/var/log/turncast", str(folder))


def check(text):
    """Returns the exit status and the output of `turncast check`."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        path = folder / "turncast.conf"
        path.write_text(prepare(text, folder))
        path.chmod(0o600)
        secrets = {variable: SECRET for variable in re.findall(r"env:(\w+)", text)}
        env = {**os.environ, **secrets, "HOME": name, "XDG_STATE_HOME": name}
        done = subprocess.run(
            [TURNCAST, "check", "-c", path], env=env, capture_output=True, text=True, timeout=60, check=False
        )
        return done.returncode, done.stdout + done.stderr


def main():
    number, failed = 0, 0
    for page in sorted(SOURCE.glob("plugins/*/turncast-*.7")):
        for nth, block in enumerate(blocks(page), 1):
            text = configuration(block)
            if text is None:
                continue
            status, said = check(text)
            number += 1
            failed += status != 0
            print(f"{'ok' if status == 0 else 'not ok'} {number} - {page.name}: block {nth} is a valid configuration")
            if status != 0:
                print("\n".join(f"# {line}" for line in (text + said).splitlines()))
    number += 1
    status, said = check(FRAME.format(text='ntfy : { topik = "a"; };', agents=AGENTS))
    failed += status == 0
    print(f"{'not ok' if status == 0 else 'ok'} {number} - a wrong configuration is reported")
    print(f"1..{number}")
    return failed > 0


sys.exit(main())
