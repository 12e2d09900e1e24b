# SPDX-License-Identifier: MIT
"""What the tests of published agents share: the scripted model, and a stage on which an agent runs
with its shipped configuration and a home folder of its own."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ["TURNCAST_SRCDIR"]).resolve()
BUILD = pathlib.Path(os.environ["TURNCAST_BUILDDIR"]).resolve()
for folder in ("tap", "api"):
    sys.path.insert(0, str(SOURCE / "tests" / folder))

import door  # noqa: E402  (its folder is known from here on)
from door import Door, LOG, done, equal, ok, until  # noqa: E402,F401

LONG = os.environ.get("TURNCAST_LONG") == "1"
PATIENCE_S = 180
OVER = ("final", "error", "cancelled", "merged")
INSTALLED = BUILD / "tests" / "agents"
KEYS = {"ann": ("ann-0123456789abcdef", ["submit", "cancel", "watch", "answer"])}
door.KEYS.update(KEYS)


# Where the native program of a package lies: the install scripts, which link it, are not run.
NATIVE = {"claude": "@anthropic-ai/claude-code-linux-*/claude", "opencode": "opencode-linux-*/bin/opencode"}


def program(name, more=False):
    """The installed program of that name, or None."""
    folder = INSTALLED / ("more" if more else "") / "node_modules"
    found = sorted(folder.glob(NATIVE.get(name, f".bin/{name}")))
    return found[0] if found else None


class Model:
    """tests/fake/model.py, until the end of the block."""

    def __enter__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-B", SOURCE / "tests" / "fake" / "model.py"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline().split()[1])
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()


class Ran:
    """One `turncast run`: status, what it printed, and its events."""

    def __init__(self, status, said, events):
        self.status = status
        self.said = said
        self.events = events

    def payloads(self, kind):
        """Of the agent itself, not of its sub-agents."""
        return [e["payload"] for e in self.events if e["type"] == kind and "agent" not in e]

    def finals(self):
        return [p["text"] for p in self.payloads("final")]

    def codes(self):
        """Of its notices."""
        return [p.get("code") for p in self.payloads("notice")]

    def usage(self):
        return [p for p in self.payloads("usage") if p["scope"] == "turn"]

class Stage:
    """A home, a working folder and a state directory. Below the build folder, because Codex refuses a
    home below the folder for temporary files."""

    def __init__(self, agent, command, variables):
        """agent: the name of its file in share/agents; variables: NAME=value, added to its env_set."""
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="stage.", dir=INSTALLED))
        self.home = self.folder / "home"
        self.work = self.folder / "work"
        self.home.mkdir()
        self.work.mkdir()
        self.shipped = (SOURCE / "share" / "agents" / f"{agent}.conf").read_text()
        self.variables = variables
        self.environment = {**os.environ, "HOME": str(self.home), "TMPDIR": "/tmp",
                            "PATH": f"{command.parent}:{os.environ['PATH']}"}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        equal(self.processes(), [], "no process of the agents is left")
        shutil.rmtree(self.folder, ignore_errors=True)

    @contextlib.contextmanager
    def changed(self, old, new):
        """The shipped configuration says `new` instead of `old`, in the block."""
        shipped = self.shipped
        self.shipped = shipped.replace(old, new)
        ok(self.shipped != shipped, f"the shipped configuration says {old}")
        try:
            yield
        finally:
            self.shipped = shipped

    def agents(self, *variables, flags=(), options=""):
        """The group `agents` of the shipped configuration, with more of each."""
        text = "\n".join(line for line in self.shipped.splitlines() if not line.startswith("#"))
        given = "".join(f"{json.dumps(pair)}, " for pair in (*self.variables, *variables))
        text = text.replace("env_set = [", f"env_set = [{given}")
        more = "".join(f", {json.dumps(flag)}" for flag in flags)
        text = re.sub(r"(command = \[[^]]*)\]", lambda m: f"{m[1]}{more}]", text)
        return text.replace("dialect =", f'cwd = "{self.work}"; {options} dialect =')

    @contextlib.contextmanager
    def running(self, prompt, *variables, words=(), **more):
        """A process of `turncast run` that may be signalled, and a function that waits for its end."""
        config = self.folder / "turncast.conf"
        events = self.folder / "events.jsonl"
        config.write_text(f'state_directory = "{self.folder / "state"}";\n'
                          + self.agents(*variables, **more))
        events.write_text("")
        process = subprocess.Popen(
            [BUILD / "turncast", "run", "-c", config, "-p", f"jsonl,path={events}", *words, prompt],
            env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)

        def rest():
            said = process.communicate(timeout=PATIENCE_S)[0]
            lines = events.read_text().splitlines()
            return Ran(process.returncode, said, [json.loads(line) for line in lines])

        try:
            yield process, rest
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                process.communicate()

    def run(self, prompt, *variables, **more):
        with self.running(prompt, *variables, **more) as (_, rest):
            return rest()

    def serve(self, *variables, extra="", **more):
        """A host that listens and has this agent alone, for `with`."""
        host = Door(http=door.http_group(KEYS), extra=LOG + extra)
        text = host.config.read_text()
        mine = self.agents(*variables, **more).split("{", 1)[1].rsplit("}", 1)[0]
        name = re.match(r"\s*(\w+)", mine)[1]
        text = re.sub(r"agents : \{.*?\}; {2}\};", lambda _: f"agents : {{ {mine} }};", text, flags=re.S)
        host.config.write_text(text.replace('default_agent = "main"', f'default_agent = "{name}"'))
        host.environment = lambda: {**self.environment, "XDG_STATE_HOME": str(host.folder)}
        return host

    def pids(self, mark=None):
        """Of processes that have this in their environment (its home), and have not ended."""
        mark = (mark or f"HOME={self.home}").encode()
        found = set()
        for environ in pathlib.Path("/proc").glob("[0-9]*/environ"):
            try:
                if mark in environ.read_bytes().split(b"\0"):
                    found.add(int(environ.parent.name))
            except OSError:
                pass
        return found

    def processes(self):
        """What they are."""
        found = []
        for pid in self.pids():
            with contextlib.suppress(OSError):
                found.append(pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()[:200])
        return found


def explain(ran):
    """What it printed, in comments, when a test failed."""
    return f"status {ran.status}\n{ran.said[-2000:]}\n" + "\n".join(map(str, ran.events[-12:]))[:4000]


def ends_well(ran, texts, what):
    """Status 0, one final, and each of the texts told once, in order."""
    ok((ran.status, ran.finals()) == (0, texts[-1:]), f"{what}: status and answer", explain(ran))
    told = [p.get("text") for p in ran.payloads("message") if p["role"] == "assistant"]
    equal([text for text in told if text in texts], texts, f"{what}: every text is told, in order")


def fails(ran, words, what):
    """Status 1, one error that has these words, and no answer."""
    errors = [p["message"] for p in ran.payloads("error")]
    ok(ran.status == 1 and not ran.finals() and len(errors) == 1 and words.lower() in errors[0].lower(),
       f"{what}: one error, and no answer", explain(ran))


# ---- what an agent asks, on a host ----


def asked(host, turn, count=1):
    """The open requests of a turn, once there are so many."""
    last = {}

    def look():
        last.update(host.turn(turn))
        return len(last.get("requests", [])) == count or last["state"] in OVER

    until(look, f"{count} open requests", PATIENCE_S)
    return last.get("requests", [])


def decide(host, turn, request, **body):
    return host.status("POST", f"/turns/{turn}/requests/{request['id']}", key="ann", body=body)


def outcome(host, turn):
    """State of a turn once it has ended, and its events."""
    until(lambda: host.turn(turn)["state"] in OVER, "the turn ends", PATIENCE_S)
    lines = [json.loads(data) for _, _, data in host.follow(f"/turns/{turn}/events").rest()]
    return host.turn(turn)["state"], Ran(0, host.log(), lines)


# ---- cases of every agent that asks ----


def check_approvals(host, stage, script, denied="The end"):
    """It asks before it runs the command that `script` (a format of the fake model's script) makes it
    run, and does what was decided. denied: its answer then."""
    for choice, done_it, answer in (("allow", True, "The end"), ("deny", False, denied)):
        mark = stage.work / choice
        turn = host.begin(f"DO {script(f'touch {mark}')} | say The end")["id"]
        requests = asked(host, turn)
        ok([(r["kind"], f"touch {mark}" in r["subject"]) for r in requests] == [("approval", True)],
           f"{choice}: it asks before it acts", requests)
        ok(not mark.exists(), f"{choice}: it waits")
        for request in requests:
            equal(decide(host, turn, request, choice=choice), 200, f"{choice}: is accepted")
        state, ran = outcome(host, turn)
        ok((state, ran.finals()) == ("final", [answer]), f"{choice}: the turn goes on to its end",
           explain(ran))
        equal(mark.exists(), done_it, f"{choice}: is what happens")


def check_question(host, script):
    """It asks for a colour, and takes the answer."""
    turn = host.begin(f"DO {script} | say Noted")["id"]
    requests = asked(host, turn)
    equal([(r["kind"], [q["prompt"] for q in r.get("questions", [])]) for r in requests],
          [("ask", ["Which colour?"])], "a question is asked")
    for request in requests:
        question = request["questions"][0]["id"]
        equal(decide(host, turn, request, choice="answer", answers={question: "Blue"}), 200,
              "its answer is accepted")
    state, ran = outcome(host, turn)
    ok((state, ran.finals()) == ("final", ["Noted"]), "and the turn goes on", explain(ran))


def check_stop(host, stage, asks=True):
    """A turn is stopped while its command runs. asks: the command has to be allowed."""
    began = stage.work / "began"
    turn = host.begin(f"DO bash touch {began}; sleep 600 | say Never")["id"]
    for request in asked(host, turn) if asks else ():
        decide(host, turn, request, choice="allow")
    until(began.exists, "the command runs")
    host.ask("POST", f"/turns/{turn}/cancel", key="ann", body={})
    state, ran = outcome(host, turn)
    ok((state, len(ran.payloads("done"))) == ("cancelled", 1), "a turn that is stopped is cancelled, once",
       explain(ran))
