#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Faults of the host's machine: a full disk, no descriptors, a clock that jumps, an unwritable log, a state
directory that is unusable, damaged, or in use. Running turns continue, and refusals have a reason."""
import contextlib
import errno
import os
import pathlib
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from door import BUILD, Door, done, equal, note, ok, until  # noqa: E402

FAKETIME = next(pathlib.Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
SANITIZED = b"__asan_init" in (BUILD / "turncast").read_bytes() or b"__tsan_init" in (
    BUILD / "turncast").read_bytes()


def skip(what, why):
    ok(True, f"{what} # SKIP {why}")


def person(folder):
    """The instance `talk`: it reads messages from the lines of one file, and writes deliveries to another."""
    plugin = BUILD / "tests" / "fault" / "talker.so"
    return (f'talk : {{ plugin = "{plugin}"; paths = ["{folder}"]; in = "{folder}/in"; out = "{folder}/told"; '
            f'grants = ["submit", "cancel"]; allow = (1); }};')


class Machine(Door):
    """A host with a user who writes to it; `wrap` comes before its command."""

    def __init__(self, *, wrap=(), environment=None, **more):
        self.wrap, self.more = list(wrap), environment or {}
        super().__init__(instances="@PERSON@", **more)
        self.config.write_text(self.config.read_text().replace("@PERSON@", person(self.folder)))
        (self.folder / "in").touch()

    def command(self):
        return [*self.wrap, *super().command()]

    def environment(self):
        return {**super().environment(), **self.more}

    def say(self, line):
        with open(self.folder / "in", "a", encoding="utf-8") as said:
            print(line, file=said)

    def told(self, start):
        """The first delivery to the user that begins with this text, or None."""
        path = self.folder / "told"
        lines = path.read_text().splitlines() if path.exists() else []
        return next((line for line in lines if line.startswith(start)), None)

    def limit(self, what, soft):
        hard = resource.prlimit(self.process.pid, what)[1]
        resource.prlimit(self.process.pid, what, (hard if soft is None else soft, hard))

    def refuse(self, code, what):
        status, headers, text = self.ask("POST", "/turns", key="ann", body={"prompt": "id=never"})
        equal((status, code in text.decode()), (503, True), what)
        equal(headers["x-should-retry"], "true", "the refusal asks for a retry")

    def row(self, turn):
        """State and error code of the turn in the journal, read from a copy because SQLite does not follow /proc."""
        with tempfile.TemporaryDirectory(prefix="turncast-copy.") as folder:
            for name in ("state.db", "state.db-wal"):
                shutil.copy(self.state / name, folder)
            with contextlib.closing(sqlite3.connect(pathlib.Path(folder) / "state.db")) as db:
                return db.execute("select state, code from turn where id=?", (turn,)).fetchone()

    def runs(self, prompt):
        turn = self.begin(prompt)["id"]
        self.await_state(turn, "running")
        return turn

    def cancel(self, turn):
        self.status("POST", f"/turns/{turn}/cancel", key="ann", body={})
        self.await_state(turn, "cancelled")

    def works(self, what):
        turn = self.begin("id=again")["id"]
        equal(self.await_state(turn, "final", "error")["state"], "final", what)

    def ends(self):
        equal(self.stop(), 0, "the host exits with status 0")


# ---- the disk


def test_size_limit():
    with Machine() as host:
        until(host.has_started, "all instances have started")
        first, second = host.runs("id=a hang"), host.runs("id=b tools=1 gated")
        host.limit(resource.RLIMIT_FSIZE, (host.state / "state.db-wal").stat().st_size)
        host.refuse("disk_full", "on a full disk (file size limit) no turn is accepted")
        host.say("m1 1 A hello")
        line = until(lambda: host.told("m1 "), "the user is answered")
        equal(line, "m1 full - The server's disk is full, so your message was not accepted. Please try again "
              "later.",
              "on a full disk the user is told that the message was refused")
        host.let_go("b")
        equal(host.await_state(second, "final", "error")["state"], "final", "the running turn continues")
        host.cancel(first)
        equal(host.row(first), ("running", None), "the outcome of the cancelled turn cannot be written")
        host.limit(resource.RLIMIT_FSIZE, None)
        host.works("the host works after space was freed")
        equal((host.row(first)[0], host.row(second)[0]), ("final", "final"),
              "the outcomes of the turns are on disk")
        ok("disk full: " in host.log(), "the log reports the full disk")
        host.ends()


def fill(folder):
    """Fills the disk with small files until nothing more can be written."""
    room = os.statvfs(folder)
    if room.f_blocks * room.f_frsize > 16 << 20:
        raise RuntimeError(f"{folder} is not the small disk")
    with open(folder / "fill", "wb", buffering=0) as file:
        for size in (65536, 4096, 512, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError as e:
                if e.errno != errno.ENOSPC:
                    raise


def small_disk(what, size="4m"):
    """A command whose state directory is a separate disk, or None."""
    script = f'mount -t tmpfs -o size={size},mode=0700 tmpfs "$0" && exec "$@"'
    probe = pathlib.Path("/tmp")
    if subprocess.run(["unshare", "-m", "sh", "-c", script, probe, "true"], check=False,
                      capture_output=True).returncode:
        skip(what, "no file system can be mounted here")
        return None
    return lambda state: ["unshare", "-m", "sh", "-c", script, state]


def test_full_disk():
    wrap = small_disk("a full disk")
    if not wrap:
        return
    host = Machine()
    host.wrap = wrap(host.state)
    with host:
        inside = pathlib.Path(f"/proc/{host.process.pid}/root{host.state}")
        host.state = inside
        first, second = host.runs("id=a hang"), host.runs("id=b tools=1 gated")
        fill(inside)
        host.refuse("disk_full", "on a full disk no turn is accepted")
        ok((inside / "reserve").exists(), "the reserve is not used for new turns")
        host.cancel(first)
        equal(host.row(first), ("final", None), "on a full disk an outcome is written into reserved space")
        ok(not (inside / "reserve").exists() and "used the reserved space" in host.log(),
           "the reserve was used, and the log reports it")
        host.let_go("b")
        equal(host.await_state(second, "final", "error")["state"], "final", "the running turn continues")
        (inside / "fill").unlink()
        host.works("the host works after space was freed")
        equal(host.row(second)[0], "final", "no outcome is lost")
        host.ends()


# ---- descriptors


def test_descriptors():
    with Machine() as host:
        turn = host.runs("id=a tools=1 gated")
        stream = host.follow(f"/turns/{turn}/events")
        stream.next()
        open_ = [int(fd) for fd in os.listdir(f"/proc/{host.process.pid}/fd")]
        host.limit(resource.RLIMIT_NOFILE, max(open_) + 1 if len(open_) == max(open_) + 1
                   else next(n for n in range(max(open_) + 2) if n not in open_))
        status, _, text = host.ask("GET", "/turns", key="ann")
        equal((status, b'"code":"too_many_connections"' in text), (503, True),
              "without a free descriptor a client gets 503, and an error object")
        host.say("m1 1 A id=b")
        host.let_go("a")
        stream.rest()
        until(lambda: host.row(turn) == ("final", None), "a running turn ends, and its outcome is on disk")
        host.limit(resource.RLIMIT_NOFILE, None)
        host.works("the host works when descriptors are free")
        ok(until(lambda: host.told("m1 "), "and so does the person's message"), "a message from a file is answered")
        host.ends()


# ---- the clock


def test_clock():
    if not FAKETIME or SANITIZED:
        skip("a clock that jumps", "no libfaketime, or a sanitizer that bears no other")
        return
    stamp = pathlib.Path(os.environ.get("TMPDIR", "/tmp")) / f"turncast-clock.{os.getpid()}"
    stamp.write_text("+0")
    try:
        jump(Machine(environment={
            "LD_PRELOAD": str(FAKETIME), "FAKETIME_TIMESTAMP_FILE": str(stamp),
            "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1", "FAKETIME_DONT_RESET": "1",
        }), stamp)
    finally:
        stamp.unlink()


def jump(host, stamp):
    with host:
        for id_, offset in (("ahead", "+400d"), ("back", "-400d")):
            turn = host.runs(f"id={id_} tools=4 ms=150 gated")
            began = time.monotonic()
            stamp.write_text(offset)
            host.let_go(id_, 4)
            equal(host.await_state(turn, "final", "error")["state"], "final",
                  f"the clock jumps by {offset}: a running turn continues")
            ok(time.monotonic() - began < 30, "the turn lasts as long as its agent works")
            host.works("the next turn ends")
        now = host.turn(turn)
        ok(now["started_ms"] > now["ended_ms"], "the clock has jumped: the turn ends before its start",
           (now["started_ms"], now["ended_ms"]))
        equal(host.run("dead", "list")[1], "No dead letters.\n", "no dead letter was created")
        host.kill()
        host.start()
        host.works("a turn ends after a kill under the other clock, too")
        host.ends()


# ---- logs and pipes


def test_logs():
    class Deaf(Machine):
        """The log of the host is discarded, so its port is read from its status."""

        def command(self):
            return ["sh", "-c", 'exec "$@" 2>/dev/full', "sh", *super().command()]

        def start(self):
            super(Door, self).start()
            until(lambda: self.run("status", "--json")[0] == 0, "the host answers")
            told = self.run("status", "--json")[1]
            self.port = int(told.split('"port":')[1].split(",")[0])

    with Deaf() as host:
        host.works("turns continue when the log cannot be written")
        host.process.send_signal(signal.SIGPIPE)
        host.works("SIGPIPE does not end the host")
        host.ends()


# ---- the state directory


class Refused(Machine):
    """A host whose start must fail; why() returns the exit status, the number of log lines and the last line."""

    def start(self):
        super(Door, self).start()

    def why(self):
        status = self.process.wait(30)
        self.process = None
        lines = self.log().splitlines()
        return status, len(lines), lines[-1] if lines else ""


def refused(prepare, wanted, what, wrap=()):
    host = Refused(wrap=wrap)
    prepare(host)
    with host:
        status, lines, text = host.why()
        equal((status, lines), (2, 1), f"{what}: the host does not start, and logs one line")
        ok(wanted in text, "the line has the reason", text)


def make_newer(host):
    with Machine() as other:
        other.works("a host with a new state works")
        other.stop()
        shutil.copy(other.state / "state.db", host.state)
    with sqlite3.connect(host.state / "state.db") as db:
        db.execute("pragma user_version=99")
    (host.state / "state.db").chmod(0o600)


def test_refused():
    refused(make_newer, "journal schema 99", "the state of a newer version is refused")
    if os.geteuid():
        skip("a state directory of another user is refused", "only root can give one away")
        return
    refused(lambda host: os.chown(host.state, 65534, 65534), "is owned by UID 65534",
            "a state directory of another user is refused")
    if small_disk("a read-only disk"):
        script = ('mount -t tmpfs -o mode=0700 tmpfs "$0" && mount -o remount,ro "$0" && exec "$@"')
        host = Refused()
        host.wrap = ["unshare", "-m", "sh", "-c", script, host.state]
        with host:
            status, lines, text = host.why()
            equal((status, lines), (2, 1), "a read-only disk: the host does not start, and logs one line")
            ok("Read-only file system" in text, "the line has the reason", text)


def test_two():
    with Machine() as host:
        status, text = host.run("serve")
        equal(status, 2, "a second host with the same state directory does not start")
        ok(f"is in use by another turncast (process {host.process.pid})" in text, "the error names the other process", text)
        host.works("the first host works")
        host.ends()


def spoil(path, how):
    data = bytearray(path.read_bytes())
    if how == "cut":
        del data[len(data) // 2:]
    elif how == "no database":
        data[:100] = b"\xa5" * 100
    else:
        for at in range(4096, len(data), 512):
            data[at] ^= 0x10
    path.write_bytes(data)


def test_damaged():
    for how in ("cut", "no database", "bits turned"):
        with Machine() as host:
            host.works("a host with a new state works")
            host.stop()
            spoil(host.state / "state.db", how)
            (host.state / "lock").write_text("1\n")  # as after a death
            host.start()
            ok(list(host.state.glob("state.db.bad.*")), f"{how}: the state is set aside")
            empty, rows = "starting with an empty journal" in host.log(), "recovered its readable rows: " in host.log()
            ok("moved to" in host.log(), "the log has an alarm", host.log())
            ok({"cut": rows, "no database": empty}.get(how, empty or rows), "the log has the number of recovered rows", host.log())
            host.works("the host works with the recovered state")
            host.ends()


for test in (test_size_limit, test_full_disk, test_descriptors, test_clock, test_logs,
             test_refused, test_two, test_damaged):
    began = time.monotonic()
    test()
    note(f"{test.__name__}: {time.monotonic() - began:.1f} s")
done()
