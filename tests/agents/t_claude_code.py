# SPDX-License-Identifier: MIT
"""The real Claude Code, with a scripted model: what it answers is told whole, also when the answer
comes behind background work."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ["TURNCAST_SRCDIR"]).resolve()
BUILD = pathlib.Path(os.environ["TURNCAST_BUILDDIR"]).resolve()
sys.path.insert(0, str(SOURCE / "tests" / "tap"))

from tap import done, equal, ok  # noqa: E402  (its folder is known from here on)

CLAUDE = BUILD / "tests" / "agents" / "node_modules" / ".bin" / "claude"
PATIENCE_S = 120
FLAGS = ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
         "--include-partial-messages", "--permission-prompt-tool", "stdio", "--allowedTools=Bash,Agent"]
CASES = (
    # name, script, texts of the agent, calls of the model
    ("a text", "say Hello", ["Hello"], 1),
    ("a tool", "bash echo hi | say Done", ["Done"], 2),
    ("a sub-agent in the background",
     "agent wait 3 say 42 files | say INTERIM | say FINAL 42", ["INTERIM", "FINAL 42"], 4),
    ("a sub-agent that works for longer than exit_grace_s",
     "agent wait 9 say 42 files | say INTERIM | say FINAL 42", ["INTERIM", "FINAL 42"], 4),
    ("a sub-agent behind which nothing is to be said",
     "agent wait 3 say 42 files | say THE ANSWER | nothing", ["THE ANSWER"], 5),  # asked once more
    ("a command in the background", "bash sleep 3; echo out & | say INTERIM | say FINAL",
     ["INTERIM", "FINAL"], 3),
)


class Model:
    def __enter__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-B", SOURCE / "tests" / "fake" / "model.py"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline().split()[1])
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()


class Stage:
    def __init__(self, folder, port):
        self.folder = pathlib.Path(folder)
        self.events = self.folder / "events.jsonl"
        self.config = self.folder / "turncast.conf"
        for name in ("home", "work"):
            (self.folder / name).mkdir()
        self.set = [
            f"HOME={self.folder / 'home'}",
            f"ANTHROPIC_BASE_URL=http://127.0.0.1:{port}",
            "DISABLE_AUTOUPDATER=1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
            "CLAUDE_CODE_MAX_RETRIES=1",
        ]

    def run(self, prompt, *more):
        """Status, what it printed, events."""
        self.config.write_text(
            f'state_directory = "{self.folder / "state"}"; agents : {{ claude : {{'
            f" command = {json.dumps([str(CLAUDE), '-p', *FLAGS])}; dialect = \"claude\";"
            f' cwd = "{self.folder / "work"}"; env_set = {json.dumps([*self.set, *more])}; }}; }};')
        self.events.write_text("")
        ran = subprocess.run(
            [BUILD / "turncast", "run", "-c", self.config, "-p", f"jsonl,path={self.events}", prompt],
            capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        events = [json.loads(line) for line in self.events.read_text().splitlines()]
        return ran.returncode, ran.stdout + ran.stderr, events

    def prints(self, prompt):
        """What Claude Code itself prints for people."""
        env = {"PATH": os.environ["PATH"], **dict(pair.split("=", 1) for pair in self.set)}
        return subprocess.run(
            [CLAUDE, "-p", "--allowedTools=Bash,Agent", prompt],
            env={**env, "ANTHROPIC_API_KEY": "sk-fake"}, cwd=self.folder / "work",
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE_S,
            check=False).stdout

    def processes(self):
        """Of its own that are left."""
        mark = f"HOME={self.folder / 'home'}".encode()
        found = []
        for environ in pathlib.Path("/proc").glob("[0-9]*/environ"):
            try:
                if mark in environ.read_bytes().split(b"\0"):
                    found.append(environ.parent.name)
            except OSError:
                pass
        return found


def payloads(events, kind):
    return [e["payload"] for e in events if e["type"] == kind and "agent" not in e]


def check_case(stage, name, script, texts, calls):
    status, said, events = stage.run(
        f"DO {script}", "ANTHROPIC_API_KEY=sk-fake", "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS=1")
    equal(status, 0, f"{name}: status")
    equal([p["text"] for p in payloads(events, "final")], texts[-1:], f"{name}: the last answer")
    told = [p.get("text") for p in payloads(events, "message") if p["role"] == "assistant"]
    told = [text for text in told if text in texts]
    equal(told, texts, f"{name}: every answer is told")
    equal(stage.prints(f"DO {script}").strip(), "\n\n".join(texts), f"{name}: as Claude Code prints it")
    usage = [p for p in payloads(events, "usage") if p["scope"] == "turn"]
    equal(len(usage), 1, f"{name}: usage of the turn")
    paid = usage[0]["cost_usd"] / 0.00124 if usage else 0  # 100 tokens in, 42 out
    ok(abs(paid - calls) < 0.01, f"{name}: {calls} calls of the model are paid", usage)
    late = [p for p in payloads(events, "notice") if p["code"] == "late_event"]
    equal(late, [], f"{name}: nothing comes behind the outcome")
    equal(stage.processes(), [], f"{name}: no process is left")
    if status:
        print("# " + said.replace("\n", "\n# "), flush=True)


def check_without_states(stage):
    name, script, texts, _ = CASES[2]
    status, _, events = stage.run(f"DO {script}", "ANTHROPIC_API_KEY=sk-fake")
    equal((status, [p["text"] for p in payloads(events, "final")]), (0, texts[-1:]),
          f"{name}, without states of the session")


def check_failures(stage):
    status, said, _ = stage.run("DO say Hello")
    ok(status == 1 and "/login" in said, "nobody is logged in: said, and no success", said)
    status, said, _ = stage.run(
        "DO say Hello", "ANTHROPIC_API_KEY=sk-fake", "ANTHROPIC_BASE_URL=http://127.0.0.1:9")
    ok(status == 1 and "refused" in said, "nobody listens: said, and no success", said)
    equal(stage.processes(), [], "no process is left of them")


def main():
    if not CLAUDE.exists():
        print("1..0 # SKIP no Claude Code in tests/agents/node_modules: tools/check agents")
        return
    with Model() as model, tempfile.TemporaryDirectory(prefix="turncast-agents.") as folder:
        stage = Stage(folder, model.port)
        for case in CASES:
            check_case(stage, *case)
        check_without_states(stage)
        check_failures(stage)
    done()


main()
