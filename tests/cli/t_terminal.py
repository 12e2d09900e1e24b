#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of turncast run at a real terminal: requests of the agent are answered by keys, whatever
standard input is; ctrl-C interrupts; and the modes of the terminal are restored, however the turn
ends."""
import contextlib
import fcntl
import json
import os
import pathlib
import pty
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time

SOURCE = pathlib.Path(os.environ["TURNCAST_SRCDIR"]).resolve()
BUILD = pathlib.Path(os.environ["TURNCAST_BUILDDIR"]).resolve()
sys.path.insert(0, str(SOURCE / "tests" / "tap"))

from tap import done, equal, ok  # noqa: E402

AGENT = str(BUILD / "tests" / "fake" / "agent")
PATIENCE_S = 60
READ_S = 0.45  # until a key counts


def line(**members):
    return "text=" + json.dumps(members)


INIT = line(type="system", subtype="init", session_id="s-1", model="m")
RESULT = line(type="result", subtype="success", is_error=False, result="it is done",
              session_id="s-1", num_turns=1)
ABORTED = line(type="result", subtype="error_during_execution", is_error=True, session_id="s-1",
               num_turns=1)


def asks(request, tool="Bash", **arguments):
    return line(type="control_request", request_id=request, request={
        "subtype": "can_use_tool", "tool_name": tool, "input": arguments})


QUESTIONS = asks("q-1", "AskUserQuestion", questions=[
    {"question": "Which colour?", "header": "Paint", "multiSelect": False,
     "options": [{"label": "Red"}, {"label": "Blue"}]},
    {"question": "Which parts?", "header": "Parts", "multiSelect": True,
     "options": [{"label": "Door"}, {"label": "Roof"}, {"label": "Wall"}]},
    {"question": "What else?", "header": "More", "multiSelect": False, "options": []}])


class Terminal:
    """`turncast run` with these words of the fake agent, in a session with a terminal."""

    def __init__(self, *words, message="hello", stdin=None, more=()):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="turncast-terminal."))
        self.said = self.folder / "said"
        mark = f"mark=terminal-{os.getpid()}-{self.folder.name}"
        command = json.dumps([AGENT, mark, INIT, f"tee={self.said}", *words], ensure_ascii=False)
        config = self.folder / "turncast.conf"
        config.write_text(f"""agents : {{ main : {{ command = {command};
    exit_grace_s = 20.0; term_grace_s = 20.0; attempts = 1; }}; }};
default_agent = "main"; state_directory = "{self.folder}/state";
plugins : {{ instances : {{ cli : {{ plugin = "cli"; color = "never"; }}; }}; }};
""")
        self.master, self.slave = pty.openpty()
        self.before = termios.tcgetattr(self.slave)
        self.out = open(self.folder / "out", "w+b")
        self.screen = ""
        self.mark = mark
        self.process = subprocess.Popen(
            [BUILD / "turncast", "run", "-c", config, *more, message], stdin=stdin or subprocess.DEVNULL,
            stdout=self.out, stderr=self.slave, start_new_session=True,
            env={**os.environ, "TERM": "xterm", "LOGNAME": "ann", "HOME": str(self.folder)},
            preexec_fn=lambda: fcntl.ioctl(2, termios.TIOCSCTTY, 1))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.out.close()
        os.close(self.master)
        os.close(self.slave)
        shutil.rmtree(self.folder, ignore_errors=True)

    def look(self, wait_s=0.0):
        while select.select([self.master], [], [], wait_s)[0]:
            self.screen += os.read(self.master, 65536).decode(errors="replace")
            wait_s = 0.0

    def see(self, text, times=1):
        until = time.monotonic() + PATIENCE_S
        while self.screen.count(text) < times and time.monotonic() < until:
            self.look(0.05)
        return self.screen.count(text) >= times

    def type(self, keys):
        os.write(self.master, keys.encode())

    def read_it(self):
        """The time that a person takes to read; keys count only after it."""
        time.sleep(READ_S)

    def agents(self):
        found = []
        for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                if self.mark.encode() in path.read_bytes().split(b"\0"):
                    found.append(int(path.parent.name))
        return found

    def end(self, what, wanted):
        try:
            self.look(0.1)
            deadline = time.monotonic() + PATIENCE_S
            while self.process.poll() is None and time.monotonic() < deadline:
                self.look(0.05)
            status = self.process.wait(1)
        except subprocess.TimeoutExpired:
            status = "it hangs"
        equal(status, wanted, f"{what}: the exit status")
        self.look(0.1)
        equal(termios.tcgetattr(self.slave), self.before, f"{what}: the modes of the terminal are restored")
        equal(self.agents(), [], f"{what}: no process of the agent is left")
        self.out.seek(0)
        return json.loads(self.out.read() or "{}")

    def answers(self):
        return self.said.read_text() if self.said.exists() else ""


def is_cooked(modes):
    return bool(modes[3] & termios.ICANON and modes[3] & termios.ECHO)


def test_allow():
    with Terminal(asks("r-1", command="rm -rf build"), "await=r-1", RESULT, "eof") as t:
        ok(t.see("[a]llow"), "a prompt is shown", t.screen)
        ok("│ rm -rf build" in t.screen, "the request is shown above the prompt", t.screen)
        ok(not is_cooked(termios.tcgetattr(t.slave)), "single keys are read without an echo")
        t.read_it()
        t.type("a")
        ok(t.see("allowed by ann"), "the decision is shown with its user", t.screen)
        result = t.end("allowed", 0)
        equal(result.get("result"), "it is done", "the result")
        ok('"behavior":"allow"' in t.answers(), "the agent gets the decision", t.answers())


def test_message_by_stdin():
    reader, writer = os.pipe()
    os.write(writer, b"aaaa\n")
    os.close(writer)
    with Terminal("await=aaaa", asks("r-1", command="make"), "await=r-1", RESULT, "eof",
                  message="-", stdin=reader, more=("-p", "cli")) as t:
        os.close(reader)
        ok(t.see("[a]llow"), "the message is read from standard input, and keys from the terminal",
           t.screen)
        t.read_it()
        t.type("dnot\x7ft now\n")
        t.end("denied", 0)
        answer = t.answers()
        ok('"behavior":"deny"' in answer and "not now" in answer, "the agent gets the reason", answer)


def test_questions():
    with Terminal(QUESTIONS, "await=q-1", RESULT, "eof") as t:
        ok(t.see("enter a number (1-2)"), "a question is shown", t.screen)
        ok("  2) Blue" in t.screen, "the question is shown with its options", t.screen)
        t.read_it()
        t.type("2\n")
        ok(t.see("enter numbers (1-3)"), "the next question is shown", t.screen)
        t.read_it()
        t.type("1, 3\n")
        ok(t.see("What else?"), "the last question is shown", t.screen)
        t.read_it()
        t.type("nothing, thanks\n")
        t.end("answered", 0)
        answer = t.answers()
        for text in ('"Which colour?":"Blue"', "Door", "Wall", "nothing, thanks"):
            ok(text in answer, f"the agent got {text}", answer)
        ok("Roof" not in answer.rsplit('"answers"', 1)[-1], "the agent gets no other option", answer)


def test_typed_ahead():
    with Terminal("ms=300", asks("r-1", command="one"), "await=r-1", asks("r-2", command="two"),
                  "await=r-2", RESULT, "eof") as t:
        t.type("aaa\na")
        ok(t.see("[a]llow"), "a prompt is shown", t.screen)
        t.type("a")
        time.sleep(0.2)
        equal(t.answers().count("behavior"), 0, "keys that were typed before the prompt are ignored")
        t.read_it()
        t.type("da\n")
        ok(t.see("│ two"), "the next request is shown", t.screen)
        t.type("a")
        t.read_it()
        equal(t.answers().count("behavior"), 1, "keys that were typed after an answer are ignored")
        t.type("a")
        t.end("typed ahead", 0)


def test_interrupt():
    with Terminal(asks("r-1", command="make"), "child=double", "await=interrupt", ABORTED,
                  "eof") as t:
        ok(t.see("[a]llow"), "a prompt is shown", t.screen)
        t.type("\x03")
        result = t.end("ctrl-C during a request", 130)
        equal((result.get("is_error"), result.get("cancelled")), (False, True),
              "a cancelled turn is not an error")
        ok("Complete: cancelled" in t.screen, "the cancellation is shown", t.screen)


def test_interrupt_twice():
    with Terminal("ignore=2", "ignore=15", "child=setsid", asks("r-1", command="make"),
                  "sleep") as t:
        ok(t.see("[a]llow"), "a prompt is shown", t.screen)
        t.type("dbecau")
        t.type("\x03")
        time.sleep(0.2)
        ok(t.process.poll() is None and t.agents(), "one ctrl-C does not kill the agent")
        t.type("\x03")
        t.end("ctrl-C twice", 130)


def test_agent_killed():
    with Terminal(asks("r-1", command="make"), "sleep") as t:
        ok(t.see("[a]llow"), "a prompt is shown", t.screen)
        for pid in t.agents():
            os.kill(pid, signal.SIGKILL)
        result = t.end("an agent that was killed", 1)
        equal(result.get("is_error"), True, "a killed agent is an error")


def test_ended():
    with Terminal(asks("r-1", command="make"), "sleep") as t:
        ok(t.see("[a]llow"), "a prompt is shown", t.screen)
        t.process.send_signal(signal.SIGTERM)
        time.sleep(0.2)  # two at once may be one, for which the agent has all its time
        t.process.send_signal(signal.SIGTERM)
        t.end("SIGTERM", 1)


def main():
    for test in (test_allow, test_message_by_stdin, test_questions, test_typed_ahead,
                 test_interrupt, test_interrupt_twice, test_agent_killed, test_ended):
        test()
    done()


main()
