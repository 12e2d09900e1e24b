# SPDX-License-Identifier: MIT
"""A terminal of a given size in tmux, and what a person sees on it."""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import time

SOURCE = pathlib.Path(os.environ["TURNCAST_SRCDIR"]).resolve()
BUILD = pathlib.Path(os.environ["TURNCAST_BUILDDIR"]).resolve()
HERE = SOURCE / "tests" / "terminal"
AGENT = BUILD / "tests" / "fake" / "agent"
PATIENCE_S = 60
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class Screen:
    """Runs a command of the shell; then the terminal stays, with nothing in it, until the end."""

    def __init__(self, command, columns=80, rows=40, **environment):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="turncast-screen."))
        self.socket = self.folder / "tmux"
        names = {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "HOME": str(self.folder),
                 "TURNCAST_PLUGIN_PATH": os.environ["TURNCAST_PLUGIN_PATH"], **environment}
        words = " ".join(f"{k}={shlex.quote(str(v))}" for k, v in names.items() if v is not None)
        unset = " ".join(f"-u {k}" for k, v in names.items() if v is None)
        self.ended = self.folder / "ended"
        script = f"trap : INT; env -u NO_COLOR {unset} {words} {command}; trap '' INT; : >{self.ended}; exec cat"
        self.tmux("new-session", "-d", "-x", str(columns), "-y", str(rows), "sh", "-c", script)

    def tmux(self, *words):
        return subprocess.run(["tmux", "-u", "-S", self.socket, "-f", "/dev/null", *words], check=True,
                              stdout=subprocess.PIPE, env={**os.environ, "LC_ALL": "C.UTF-8"},
                              timeout=PATIENCE_S).stdout.decode()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], check=False,
                       stderr=subprocess.DEVNULL)
        shutil.rmtree(self.folder, ignore_errors=True)

    def text(self, styled=False, wrapped=True):
        """The screen, and what was scrolled off it."""
        more = (["-e"] if styled else []) + ([] if wrapped else ["-J"])
        lines = self.tmux("capture-pane", "-p", "-S", "-500", *more)
        return "".join(line.rstrip() + "\n" for line in lines.rstrip("\n").split("\n"))

    def wait(self, condition):
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            found = condition()
            if found:
                return found
            time.sleep(0.02)
        return False

    def see(self, text):
        return bool(self.wait(lambda: text in self.text(wrapped=False)))

    def end(self):
        return bool(self.wait(self.ended.exists))

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def resize(self, columns, rows=40):
        self.tmux("resize-window", "-x", str(columns), "-y", str(rows))


def masked(text):
    """Without what is different each time: seconds of the live line, and its spinner."""
    text = re.sub(f"[{SPINNER}]", "*", text)
    text = re.sub(r"\b\d+ (s|min) (left|verbleiben)", r"N \1 \2", text)
    return re.sub(r"\b\d+s\b(?=( ·|$|\)))", "Ns", text, flags=re.M)


def replay(name, more="", visible="/show-tools /show-thinking"):
    return f"{BUILD}/turncast replay -d turncast {more} {HERE}/{name}.jsonl {visible}"


def agent(folder, *words, options=""):
    """A configuration with an agent that prints these lines, and the command that runs it."""
    command = ", ".join(f'"{w}"' for w in (str(AGENT), *[w.replace("\\", "\\\\").replace('"', '\\"')
                                                         for w in words]))
    config = pathlib.Path(folder) / "turncast.conf"
    config.write_text(f"""agents : {{ main : {{ command = [{command}];
    exit_grace_s = 20.0; attempts = 1; }}; }};
default_agent = "main"; state_directory = "{folder}/state";
plugins : {{ instances : {{ cli : {{ plugin = "cli"; {options} }}; }}; }};
""")
    return f"{BUILD}/turncast run -c {config} 'Go on. /show-tools'"
