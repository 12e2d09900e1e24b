#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An agent that plays a recorded dialog: it speaks the agent's lines, and where the recording has
a line of the host, it waits for ours and checks that it means the same.

    dialog.py FILE [WORD=VALUE...]

FILE is of one of two forms, told apart by its first byte:
  - lines of JSON (NAME.dialog.jsonl): {"dir":"out"|"in","line":TEXT}, {"dir":"in","eof":true},
    {"signal":"SIGTERM"}, {"exit":STATUS}; other members, and objects without these, say nothing.
  - lines of text (NAME.dialog): "< " an agent's line, "> " the host's, "! eof", "! signal SIGTERM",
    "! exit STATUS", "! play NAME N": the next N lines of that file, beside this one, are the agent's.
The host's lines are numbered from 1, ends of file and signals among them.

What is the same: members in any order, numbers by value. An id that the host gave a request of its
own may be another one than in the recording; where the agent answers, it is put in. A member that
is null is one that is not there. Everything else that may differ is named:
  ignore=PATH      members at that place of any line of the host: params.clientInfo; a name is
                   looked for only where it stands, * is any name or place
  skip=N           line N is one that our host does not send: it is left out
  swap=N,JSON      instead of line N our host sends this, compared in the same way
  also=N,JSON      before line N our host sends this, too
  more=JSON        at the end our host sends this, too
  loose=N          lines N and N+1 may come in either order
  until=N          after line N, and what the agent says until the next line of the host, it is over
  quit             at its end the agent does not wait for the end of its input
What it does besides:
  report=FILE      results as TAP, one for each line of the host, and for the end
  deadline=S       how long each may take, 20
  exit=STATUS      instead of that of the recording (0)
  mark=WORD        nothing: WORD stands in the command line
After the last line stdin has to end, and nothing more may have come. The status is that of the
recording, but 97 when a line was not as it should be, 98 when it did not come. Behind a line that
was wrong the dialog goes on as if it had been right, so that the report has them all.
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
    """Steps as pairs: ("out", text), ("in", text), ("eof", None), ("signal", name)…"""
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
    """The steps, but the lines of other files instead of the steps that name them."""
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


# ---- what is the same ----

def pick(value, path):
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def without(value, path):
    """A copy of value without what is at path, and without members that are null."""
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
    """As ==, but true is not 1."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(equal(a[name], b[name]) for name in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(equal, a, b))
    return a == b and isinstance(a, bool) == isinstance(b, bool)


def request_id(message):
    """Where a request of the host has its id: a path, or None: it is none."""
    if isinstance(message, dict) and message.get("type") == "control_request":
        return ["request_id"]
    if isinstance(message, dict) and "method" in message and "id" in message:
        return ["id"]
    return None


def answer_id(message):
    """Where an answer of the agent has the id of what it answers."""
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
        self.ids = {}      # of the host's requests: as recorded, as they are
        self.input = b""
        self.ended = False
        self.signals = []
        self.results = 0
        self.failed = 0    # the status to end with
        self.report = open(words.one("report", os.devnull), "w", encoding="utf-8", buffering=1)

    # ---- what comes from the host ----

    def fill(self, until):
        left = until - time.monotonic()
        if left <= 0 or not select.select([0], [], [], left)[0]:
            raise Late()
        piece = os.read(0, 65536)
        self.input += piece
        self.ended = not piece

    def read_line(self):
        """The next line of the host; None: its end."""
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

    def tell(self, good, what, got=None, wanted=None):
        self.results += 1
        self.report.write("%s %d - %s\n" % ("ok" if good else "not ok", self.results, what))
        if not good:
            self.failed = self.failed or WRONG
            for word, value in (("got", got), ("wanted", wanted)):
                text = value if isinstance(value, str) else json.dumps(value)
                self.report.write("#  %-7s %s\n" % (word, text.replace("\n", "\n# ")))

    def same(self, got, wanted):
        """Whether they mean the same, and what was compared; remembers the id of a request."""
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
            self.tell(False, what, "the end of its input", text)
            return
        try:
            got = json.loads(line)
        except ValueError:
            self.tell(line.rstrip("\n") == text, what, line, text)
            return
        good, got, wanted = self.same(got, json.loads(text))
        self.tell(good and line.endswith("\n"), what, got, wanted)

    # ---- the dialog ----

    def say(self, text):
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

    def hear(self, n, kind, value):
        for text in self.words.numbered("also", n):
            self.check(self.read_line(), text, "before line %d" % n)
        if str(n) in self.words.all("skip"):
            return
        if kind == "signal":
            self.wait_signal(value)
            self.tell(True, "line %d: %s" % (n, value))
        elif kind == "eof":
            line = self.read_line()
            self.tell(line is None, "line %d: the end" % n, line, "the end of its input")
        else:
            swapped = self.words.numbered("swap", n)
            self.check(self.read_line(), swapped[0] if swapped else value, "line %d" % n)

    def hear_both(self, n, first, second):
        """Two lines in either order: they are told apart by trying."""
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
                self.say(value)
            elif kind != "exit":
                if until and n >= until:
                    break
                n += 1
                if n in loose:
                    self.hear_both(n, value, next(v for k, v in self.steps[at + 1:] if k == "in"))
                    heard = n + 1
                elif n > heard:
                    self.hear(n, kind, value)

    def close(self):
        for text in self.words.all("more"):
            self.check(self.read_line(), text, "at the end")
        if self.words.all("quit"):
            return
        left = self.read_line()
        self.tell(left is None, "then its input ends", left, "the end of its input")

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
            self.tell(False, "in time")
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
