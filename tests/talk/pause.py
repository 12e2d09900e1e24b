# SPDX-License-Identifier: MIT
"""Connectors start, end, hang and crash while a turn streams: the event loop is never blocked.

t_pause_process.py and t_pause_thread.py run these scenarios, one for each isolation mode. Wherever
possible a connector waits for a file that the test creates after it has seen enough events, so that
a slow machine changes nothing. The longest silence of the stream is printed."""
import json
import pathlib
import shutil
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "api"))

from door import BUILD, Door, done, equal, note, ok, until  # noqa: E402

FAULT = BUILD / "tests" / "fault"
ENOUGH = 10  # events of the stream
FOREVER_MS = 600000


class Watched(threading.Thread):
    """A turn that says something every 0.2 s, followed from another thread."""

    def __init__(self, host):
        super().__init__(daemon=True)
        self.host = host
        self.id = host.begin("id=stream tools=100000 ms=200")["id"]
        self.times = []
        self.start()
        until(lambda: len(self.times) > 2, "the turn streams")

    def run(self):
        try:
            stream = self.host.follow(f"/turns/{self.id}/events")
            while stream.next() is not None:
                self.times.append(time.monotonic())
        except (EOFError, OSError):
            pass

    def goes_on(self, what):
        """Checks that the stream of the turn goes on from now on."""
        before = len(self.times)
        until(lambda: len(self.times) >= before + ENOUGH, f"the stream goes on while {what}", 30)
        ok(len(self.times) >= before + ENOUGH, f"{what}: the stream goes on")

    def longest(self, since):
        times = [since] + [t for t in self.times if t >= since]
        return max((b - a for a, b in zip(times, times[1:])), default=0.0)


class Later(threading.Thread):
    """A command on the running host; its status and output when it has ended."""

    def __init__(self, host, *words):
        super().__init__(daemon=True)
        self.host, self.words, self.result = host, words, None
        self.start()

    def run(self):
        self.result = self.host.run(*self.words)


class Stage:
    """A host with the instance `still`, which no test changes, and the instances of the test."""

    def __init__(self, isolation, **instances):
        self.isolation = isolation
        self.wanted = instances
        self.host = Door(instances=self._text())
        self.gates = self.host.folder
        self.seen = 0

    def _text(self):
        text = f'still : {{ plugin = "{FAULT / "waits.so"}"; isolation = "{self.isolation}"; }};'
        for name, options in self.wanted.items():
            lines = {"plugin": str(FAULT / "waits.so"), "isolation": self.isolation, **options}
            lines.setdefault("init_ms", FOREVER_MS)
            text += f"{name} : {{ "
            text += " ".join(f"{key} = {json.dumps(value)};" for key, value in lines.items())
            text += " };"
        return text

    def rewrite(self, **changed):
        """Writes the configuration that the next reload reads."""
        before = self._text()
        self.wanted.update(changed)
        for name in [n for n, options in self.wanted.items() if options is None]:
            del self.wanted[name]
        text = self.host.config.read_text()
        assert before in text
        self.host.config.write_text(text.replace(before, self._text()))

    def gate(self, name):
        return str(self.host.folder / name)

    def open(self, name):
        pathlib.Path(self.gate(name)).touch()

    def mark(self):
        self.seen = len(self.host.log())

    def said(self):
        return self.host.log()[self.seen :]

    def await_said(self, text, what):
        until(lambda: text in self.said(), what, 30)


def answers(host, what):
    equal(host.status("GET", "/healthz"), 200, f"{what}: /healthz")
    equal(host.status("GET", "/turns", key="ann"), 200, f"{what}: GET")


def ends(later, what):
    until(lambda: later.result is not None, f"{what} is answered", 60)
    return later.result or (None, "")


def told_of(stage, name, turn):
    """What instance `name` said that it was told of a turn."""
    mark = f"instance {name}: told "
    return [
        line.split(mark)[1].split(" of ")[0]
        for line in stage.said().splitlines()
        if mark in line and line.endswith(turn)
    ]


def is_whole(told):
    """Whether each run of the instance was told the turn from its start, the last one all of it."""
    runs = [[]]
    for kind in told:
        if kind in ("start", "resumed"):
            runs.append([])
        else:
            runs[-1].append(kind)
    whole = ["final", "done"]
    return told[:1] == ["start"] and runs[-1] == whole and all(r == whole[: len(r)] for r in runs)


def restart_that_waits(stage, turn, what):
    """Its init does not return until the gate is open; a turn that begins meanwhile is told whole."""
    stage.mark()
    since = time.monotonic()
    first = Later(stage.host, "restart", "slow")
    stage.await_said("instance slow: init waits", f"{what}: its init begins")
    second = Later(stage.host, "restart", "slow")
    turn.goes_on(f"{what}: its init waits")
    answers(stage.host, what)
    short = stage.host.begin("id=short")["id"]
    stage.host.await_state(short, "final")
    ok(first.result is None and second.result is None, f"{what}: is not answered before")
    note(f"{what}: longest silence {turn.longest(since):.2f} s")
    stage.open("slow")
    equal(ends(first, what)[0], 0, f"{what}: is answered when it runs")
    equal(ends(second, what)[0], 0, f"{what}: the second one waits for the first")
    # Once more if the second restart comes before its end.
    until(lambda: is_whole(told_of(stage, "slow", short)), f"{what}: told whole")
    ok("done" in told_of(stage, "slow", short), f"{what}: told the end", stage.said())
    until(lambda: "resumed" in told_of(stage, "slow", turn.id), f"{what}: told that it goes on")


def init_that_crashes(stage, turn, what):
    """The reload is refused, and what ran runs again."""
    stage.rewrite(slow={"init": stage.gate("crash"), "crash": True}, other={"init": "/"})
    stage.mark()
    since = time.monotonic()
    reload = Later(stage.host, "reload")
    stage.await_said("instance slow: init waits", f"{what}: its init begins")
    turn.goes_on(f"{what}: its init waits")
    answers(stage.host, what)
    note(f"{what}: longest silence {turn.longest(since):.2f} s")
    short = stage.host.begin("id=short")["id"]
    stage.host.await_state(short, "final")
    stage.open("crash")
    status, text = ends(reload, what)
    ok(status == 1 and "previous configuration still active" in text, f"{what}: refused", text)
    until(lambda: "done" in told_of(stage, "slow", short), f"{what}: told the end", 30)
    told = told_of(stage, "slow", short)
    ok(told in (["resumed", "final", "done"], ["start", "final", "done"]), f"{what}: once", told)
    names = [i["name"] for i in status_of(stage.host)["instances"]]
    equal(sorted(names), ["log", "slow", "still"], f"{what}: what ran runs, and nothing else")
    stage.rewrite(slow={"init": stage.gate("slow")}, other=None)


def status_of(host):
    return json.loads(host.run("status", "--json")[1])


def teardown_that_hangs(stage, turn, what):
    """Only the client that asked for the change waits for the instance, for 5 s."""
    stage.rewrite(slow={"init": stage.gate("slow"), "end": stage.gate("never")})
    equal(stage.host.run("reload")[0], 0, f"{what}: one with such a teardown")
    stage.mark()
    before, since = len(turn.times), time.monotonic()
    later = Later(stage.host, "restart", "slow")
    equal(ends(later, what)[0], 0, f"{what}: it starts again")
    told = len(turn.times) - before
    took = time.monotonic() - since
    ok(told >= 5, f"{what}: the stream goes on", f"{told} events in {took:.1f} s")
    note(f"{what}: {took:.1f} s, longest silence {turn.longest(since):.2f} s")
    has = "did not stop in time" in stage.said()
    ok(has, f"{what}: that it did not end is told")
    stage.rewrite(slow={"init": stage.gate("slow")})
    ends(Later(stage.host, "reload"), what)


def constructor_that_hangs(stage, turn, what):
    """A new file is tried in a process of its own, for 5 s."""
    module = stage.host.folder / "new.so"
    shutil.copy(FAULT / "loads_hangs.so", module)
    module.chmod(0o755)
    stage.rewrite(added={"plugin": str(module)})
    before, since = len(turn.times), time.monotonic()
    status, text = ends(Later(stage.host, "reload"), what)
    told = len(turn.times) - before
    took = time.monotonic() - since
    ok(status == 1 and "a constructor did not return" in text, f"{what}: refused", text)
    ok(told >= 5, f"{what}: the stream goes on", f"{told} events in {took:.1f} s")
    note(f"{what}: {took:.1f} s, longest silence {turn.longest(since):.2f} s")
    stage.rewrite(added=None)


def replaced_file(stage, turn, what):
    """A new .so at the path of an instance, whose init waits."""
    module = stage.host.folder / "own.so"
    shutil.copy(FAULT / "waits.so", module)
    module.chmod(0o755)
    stage.rewrite(own={"plugin": str(module)})
    equal(ends(Later(stage.host, "reload"), what)[0], 0, f"{what}: one with a file of its own")
    turn = Watched(stage.host)  # which it knows
    copy = stage.host.folder / "own.new"
    shutil.copy(module, copy)
    copy.rename(module)
    stage.mark()
    equal(ends(Later(stage.host, "reload"), what)[0], 0, f"{what}: replaced")
    until(lambda: "instance own: init returns" in stage.said(), f"{what}: the new one runs")
    until(lambda: "resumed" in told_of(stage, "own", turn.id), f"{what}: told of the turn")
    turn.goes_on(what)


def while_it_runs(isolation):
    stage = Stage(isolation, slow={})
    with stage.host:
        turn = Watched(stage.host)
        stage.rewrite(slow={"init": stage.gate("slow")})
        stage.open("slow")
        equal(stage.host.run("reload")[0], 0, f"{isolation}: an init that waits for a file")
        pathlib.Path(stage.gate("slow")).unlink()
        restart_that_waits(stage, turn, f"{isolation}: restart")
        if isolation == "process":
            init_that_crashes(stage, turn, f"{isolation}: crash in init")
        teardown_that_hangs(stage, turn, f"{isolation}: teardown")
        constructor_that_hangs(stage, turn, f"{isolation}: constructor")
        replaced_file(stage, turn, f"{isolation}: new file")
        equal(stage.host.stop(120), 0, f"{isolation}: the host ends")


def at_the_start(isolation):
    """HTTP is answered and turns run before an instance is up; then it is told them whole."""
    what = f"{isolation}: start"
    stage = Stage(isolation, slow={})
    stage.rewrite(slow={"init": stage.gate("slow")})
    with stage.host:
        stage.await_said("instance slow: init waits", f"{what}: its init begins")
        answers(stage.host, what)
        short = stage.host.begin("id=short tools=2")["id"]
        stage.host.await_state(short, "final")
        found = [i for i in status_of(stage.host)["instances"] if i["name"] == "slow"]
        ok(found and found[0]["starting"], f"{what}: status tells that it starts", found)
        ok("host: serving" not in stage.said(), f"{what}: the host is not ready yet")
        stage.open("slow")
        stage.await_said("host: serving", f"{what}: now it is")
        until(lambda: "done" in told_of(stage, "slow", short), f"{what}: told the end")
        equal(told_of(stage, "slow", short), ["start", "final", "done"], f"{what}: whole")


def ends_in_the_middle(isolation):
    """The host is asked to end while an instance starts, and while one is restarted."""
    what = f"{isolation}: the end in the middle of"
    stage = Stage(isolation, slow={})
    stage.rewrite(slow={"init": stage.gate("never")})
    with stage.host as host:
        stage.await_said("instance slow: init waits", f"{what} the start")
        equal(host.stop(120), 0, f"{what} the start")
        stage.rewrite(slow={})
        stage.mark()
        host.start()
        stage.await_said("host: serving", f"{what} a restart: it serves")
        stage.rewrite(slow={"init": stage.gate("never")})
        stage.mark()
        reload = Later(host, "reload")
        stage.await_said("instance slow: init waits", f"{what} a reload")
        short = host.begin("id=short")["id"]
        host.await_state(short, "final")
        equal(host.stop(120), 0, f"{what} a reload")
        ends(reload, f"{what} a reload")
        stage.rewrite(slow={})
        stage.mark()
        host.start()
        until(lambda: "done" in told_of(stage, "slow", short), f"{what}: told later", 30)
        ok("done" in told_of(stage, "slow", short), f"{what}: the next host tells the turn")


def run_all(isolation):
    while_it_runs(isolation)
    at_the_start(isolation)
    ends_in_the_middle(isolation)
    done()
