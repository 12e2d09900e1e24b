# SPDX-License-Identifier: MIT
"""Helpers of tests in which several hosts run one conversation: agents that record when they ran, and chat
completions in the background."""
import json
import sys
import threading

from door import BUILD, equal, ok, until

# The talker, in a process that notes every 10 ms that it lives; who kills the one kills both.
WITNESS = r'''
import os, subprocess, sys, time
record = open(sys.argv[1], "ab", buffering=0)
agent = subprocess.Popen(sys.argv[2:])
while True:
    record.write(b"%d %d\n" % (os.getpid(), time.monotonic_ns()))
    try:
        status = agent.wait(0.01)
        break
    except subprocess.TimeoutExpired:
        pass
record.write(b"%d %d\n" % (os.getpid(), time.monotonic_ns()))
sys.exit(status)
'''


class Lives:
    """The running times that the agents have recorded."""

    def __init__(self, path):
        self.path = path

    def intervals(self):
        found = {}
        for line in self.path.read_text().splitlines():
            pid, at = map(int, line.split())
            first, last = found.get(pid, (at, at))
            found[pid] = (min(first, at), max(last, at))
        return sorted(found.values())

    def check(self, count, what):
        """Checks that the given number of agents ran, one after another."""
        lives = self.intervals()
        equal(len(lives), count, f"{what}: agents")
        overlaps = [(a, b) for a, b in zip(lives, lives[1:]) if b[0] <= a[1]]
        equal(overlaps, [], f"{what}: never two at the same time")
        self.path.write_text("")


def locked_agent(folder):
    """The agent `locked`, a talker that records its running times in the given directory."""
    witness = folder / "witness.py"
    witness.write_text(WITNESS)
    (folder / "lives").touch()
    talker = [sys.executable, str(witness), str(folder / "lives"), str(BUILD / "tests/fake/talker"), "-g", str(folder)]
    return f"""locked : {{ command = {json.dumps(talker)}; resume = ["{{session_id}}"]; dialect = "claude";
    exit_grace_s = 1; term_grace_s = 1; attempts = 3; }};"""


class Completion(threading.Thread):
    """A chat completion in the background, with its status and answer."""

    def __init__(self, host, text, conversation):
        super().__init__(daemon=True)
        self.host, self.text, self.conversation = host, text, conversation
        self.status, self.answer = None, ""
        self.start()

    def run(self):
        body = {"model": "locked", "messages": [{"role": "user", "content": self.text}]}
        try:
            self.status, _, self.answer = self.host.ask("POST", "/v1/chat/completions", key="ann", body=body,
                                                        X_Conversation_Id=self.conversation)
        except OSError:  # of a host that was killed
            self.status = 0

    def result(self):
        self.join(90)
        return self.status, self.answer if isinstance(self.answer, str) else self.answer.decode()

    def succeeds(self, what):
        status, text = self.result()
        equal(status, 200, f"{what}: answered")
        return json.loads(text)["choices"][0]["message"]["content"] if status == 200 else text

    def fails(self, code, what):
        status, text = self.result()
        ok(status != 200 and code in text, f"{what}: {code}", (status, text))


def states(host):
    return [t["state"] for t in host.turns() if t["state"] in ("waiting", "running")]


def begin_gated(host, folder, id_, conversation):
    """Begins a turn whose agent waits until let_go."""
    turn = Completion(host, f"id={id_} gated tools=1", conversation)
    until(lambda: "running" in states(host), f"{id_} runs")
    until(lambda: (folder / "lives").stat().st_size, f"the agent of {id_} lives")
    return turn


def let_go(folder, id_):
    with open(folder / id_, "a", encoding="ascii") as gate:
        gate.write("x" * 9)
