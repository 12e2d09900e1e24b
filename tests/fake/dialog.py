#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An agent that plays a recorded dialog: it writes the lines of the agent, and at each line of the
host it reads a line and checks that it is equivalent to the recorded one.

    dialog.py FILE [WORD=VALUE...]

FILE has one of two formats, which its first byte distinguishes:
  - lines of JSON (NAME.dialog.jsonl): {"dir":"out"|"in","line":TEXT}, {"dir":"in","eof":true},
    {"signal":"SIGTERM"}, {"exit":STATUS}; other members, and other objects, are ignored.
  - lines of text (NAME.dialog): "< " a line of the agent, "> " a line of the host, "! eof",
    "! signal SIGTERM", "! exit STATUS", "! play NAME N": the next N lines of the file NAME in the
    same folder are lines of the agent.
The lines of the host are numbered from 1, including ends of file and signals.

Lines are compared as JSON: the order of members is ignored, numbers are compared by value, and a
member that is null is equal to a missing one. The id of a request of the host may differ from the
recorded one; responses of the agent get the actual id. Other permitted differences:
  ignore=PATH      ignores members at this path in any line of the host, for example
                   params.clientInfo; * is any name or path
  skip=N           the host does not send line N
  swap=N,JSON      the host sends this instead of line N
  also=N,JSON      the host sends this before line N
  more=JSON        the host sends this after the last line
  loose=N          lines N and N+1 may arrive in either order
  until=N          the dialog ends after line N and the lines of the agent that follow it
  quit             the agent exits without waiting for the end of its input
Other options:
  report=FILE      writes results as TAP, one for each line of the host and one for the end
  deadline=S       the time limit for each line, 20
  exit=STATUS      the exit status instead of the recorded one (0)
  mark=WORD        ignored; makes the process identifiable by its command line
After the last line stdin must end without further lines. The exit status is the recorded one, 97
after a line that differed, or 98 after a missing line. The dialog continues after a line that
differed, so that the report has all of them.
"""
import json
import os
import select
import signal
import sys
import time

WRONG, LATE = 97, 98


class Late(Exception):
    pass


def read_recording(path):
    """Returns steps as pairs: ("out", text), ("in", text), ("eof", None), ("signal", name)…"""
    with open(path, encoding="utf-8", errors="surrogateescape", newline="\n") as f:
        lines = [line.rstrip("\n") for line in f]
    if not lines:
        return []
    steps = list(filter(None, map(of_json if lines[0].startswith("{") else of_text, lines)))
    return list(with_plays(steps, os.path.dirname(path)))


def of_json(line):
    step = json.loads(line)
    if "exit" in step:
        return ("exit", step["exit"])
    if "signal" in step:
        return ("signal", step["signal"])
    if step.get("dir") == "in":
        return ("eof", None) if step.get("eof") else ("in", step["line"])
    return ("out", step["line"]) if "line" in step else None


def of_text(line):
    if line[:2] in ("< ", "> "):
        return ("out" if line[0] == "<" else "in", line[2:])
    word, _, value = line[2:].partition(" ")
    return (word, int(value) if word == "exit" else value) if line[:2] == "! " else None


def with_plays(steps, folder):
    """Returns the steps, with lines of other files instead of the steps that name these files."""
    files = {}
    for kind, value in steps:
        if kind != "play":
            yield kind, value
            continue
        name, n = value.rsplit(" ", 1)
        if name not in files:
            files[name] = open(os.path.join(folder, name), encoding="utf-8",
                               errors="surrogateescape", newline="\n")
        for _ in range(int(n)):
            yield "out", files[name].readline().rstrip("\n")


# ---- comparison ----

def pick(value, path):
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def without(value, path):
    """Returns a copy of value without the member at path, and without members that are null."""
    if isinstance(value, list):
        rest = path[1:] if path and path[0] == "*" else None
        return [without(v, rest) for v in value]
    if not isinstance(value, dict):
        return value
    out = {}
    for name, member in value.items():
        here = bool(path) and path[0] in (name, "*")
        if member is None or (here and len(path) == 1):
            continue
        out[name] = without(member, path[1:] if here else None)
    return out


def equal(a, b):
    """Compares like ==, but True differs from 1."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(equal(a[name], b[name]) for name in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(equal, a, b))
    return a == b and isinstance(a, bool) == isinstance(b, bool)


def request_id(message):
    """Returns the path of the id in a request of the host, or None if the message is no request."""
    if isinstance(message, dict) and message.get("type") == "control_request":
        return ["request_id"]
    if isinstance(message, dict) and "method" in message and "id" in message:
        return ["id"]
    return None


def answer_id(message):
    """Returns the path of the id of the request in a response of the agent."""
    if isinstance(message, dict) and message.get("type") == "control_response":
        return ["response", "request_id"]
    if isinstance(message, dict) and "id" in message and "method" not in message:
        return ["id"]
    return None


def key(value):
    return json.dumps(value)


class Dialog:
    def __init__(self, path, words):
        self.words = words
        self.steps = read_recording(path)
        self.ids = {}      # of requests of the host: the recorded id -> the actual id
        self.input = b""
        self.ended = False
        self.signals = []
        self.results = 0
        self.failed = 0    # the exit status
        self.report = open(words.one("report", os.devnull), "w", encoding="utf-8", buffering=1)

    # ---- input from the host ----

    def fill(self, until):
        left = until - time.monotonic()
        if left <= 0 or not select.select([0], [], [], left)[0]:
            raise Late()
        piece = os.read(0, 65536)
        self.input += piece
        self.ended = not piece

    def read_line(self):
        """Returns the next line of the host; None: end of file."""
        until = time.monotonic() + float(self.words.one("deadline", "20"))
        while b"\n" not in self.input and not self.ended:
            self.fill(until)
        line, newline, self.input = self.input.partition(b"\n")
        return (line + newline).decode("utf-8", "surrogateescape") if line or newline else None

    def wait_signal(self, name):
        signo = getattr(signal, name)
        until = time.monotonic() + float(self.words.one("deadline", "20"))
        while signo not in self.signals:
            left = until - time.monotonic()
            if left <= 0:
                raise Late()
            got = signal.sigtimedwait([signo], left)
            if got:
                self.signals.append(got.si_signo)

    # ---- results ----

    def report_result(self, good, what, got=None, wanted=None):
        self.results += 1
        self.report.write("%s %d - %s\n" % ("ok" if good else "not ok", self.results, what))
        if not good:
            self.failed = self.failed or WRONG
            for word, value in (("got", got), ("wanted", wanted)):
                text = value if isinstance(value, str) else json.dumps(value)
                self.report.write("#  %-7s %s\n" % (word, text.replace("\n", "\n# ")))

    def same(self, got, wanted):
        """Returns whether both are equivalent, and the compared values; records the id of a
        request."""
        paths = [p.split(".") for p in self.words.all("ignore")]
        id_path = request_id(wanted)
        if id_path and request_id(got) == id_path:
            self.ids[key(pick(wanted, id_path))] = pick(got, id_path)
            paths.append(id_path)
        for path in paths + [[]]:
            got, wanted = without(got, path), without(wanted, path)
        return equal(got, wanted), got, wanted

    def check(self, line, text, what):
        if line is None:
            self.report_result(False, what, "the end of its input", text)
            return
        try:
            got = json.loads(line)
        except ValueError:
            self.report_result(line.rstrip("\n") == text, what, line, text)
            return
        good, got, wanted = self.same(got, json.loads(text))
        self.report_result(good and line.endswith("\n"), what, got, wanted)

    # ---- the dialog ----

    def write_line(self, text):
        try:
            message = json.loads(text)
        except ValueError:
            message = None
        path = answer_id(message)
        mine = path and self.ids.get(key(pick(message, path)))
        if mine is not None and mine != pick(message, path):
            place = message
            for name in path[:-1]:
                place = place[name]
            place[path[-1]] = mine
            text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
        data = (text + "\n").encode("utf-8", "surrogateescape")
        while data:
            data = data[os.write(1, data):]

    def expect_line(self, n, kind, value):
        for text in self.words.numbered("also", n):
            self.check(self.read_line(), text, "before line %d" % n)
        if str(n) in self.words.all("skip"):
            return
        if kind == "signal":
            self.wait_signal(value)
            self.report_result(True, "line %d: %s" % (n, value))
        elif kind == "eof":
            line = self.read_line()
            self.report_result(line is None, "line %d: the end" % n, line, "the end of its input")
        else:
            swapped = self.words.numbered("swap", n)
            self.check(self.read_line(), swapped[0] if swapped else value, "line %d" % n)

    def expect_two_lines(self, n, first, second):
        """Accepts two lines in either order."""
        lines = [self.read_line(), self.read_line()]
        try:
            crossed = not self.same(json.loads(lines[0]), json.loads(first))[0]
        except (TypeError, ValueError):
            crossed = False
        for i, text in enumerate((first, second)):
            self.check(lines[i ^ crossed], text, "line %d" % (n + i))

    def play(self):
        loose = [int(n) for n in self.words.all("loose")]
        until = int(self.words.one("until", "0"))
        n, heard = 0, 0
        for at, (kind, value) in enumerate(self.steps):
            if kind == "out":
                self.write_line(value)
            elif kind != "exit":
                if until and n >= until:
                    break
                n += 1
                if n in loose:
                    self.expect_two_lines(n, value, next(v for k, v in self.steps[at + 1:] if k == "in"))
                    heard = n + 1
                elif n > heard:
                    self.expect_line(n, kind, value)

    def close(self):
        for text in self.words.all("more"):
            self.check(self.read_line(), text, "at the end")
        if self.words.all("quit"):
            return
        left = self.read_line()
        self.report_result(left is None, "then its input ends", left, "the end of its input")

    def status(self):
        recorded = [value for kind, value in self.steps if kind == "exit"]
        return self.failed or int(self.words.one("exit", str(recorded[0] if recorded else 0)))

    def run(self):
        signal.pthread_sigmask(signal.SIG_BLOCK, [
            getattr(signal, value) for kind, value in self.steps if kind == "signal"])
        try:
            self.play()
            self.close()
        except Late:
            self.report_result(False, "in time")
            self.failed = LATE
        self.report.write("1..%d\n" % self.results)
        return self.status()


class Words:
    KNOWN = {"ignore", "skip", "swap", "also", "more", "loose", "until", "report", "deadline",
             "quit", "exit", "mark"}

    def __init__(self, words):
        self.pairs = [tuple(w.partition("=")[::2]) for w in words]
        for name, _ in self.pairs:
            if name not in self.KNOWN:
                sys.exit("dialog.py: unknown word %s" % name)

    def all(self, name):
        return [value for n, value in self.pairs if n == name]

    def one(self, name, default):
        return (self.all(name) or [default])[-1]

    def numbered(self, name, n):
        pairs = (value.partition(",")[::2] for value in self.all(name))
        return [text for number, text in pairs if int(number) == n]


if __name__ == "__main__":
    sys.exit(Dialog(sys.argv[1], Words(sys.argv[2:])).run())
