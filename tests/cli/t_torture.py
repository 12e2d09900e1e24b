# SPDX-License-Identifier: MIT
"""The n-th call of a kind fails, for n = 1, 2, 3…: memory, reading, writing, opening, syncing,
connecting, forking, loading. Whatever fails, the program ends by itself with a status that is
documented, leaves no process behind, and a turn that had begun has ended where it could be told.

    python3 tests/cli/t_torture.py [SCENARIO [GROUP [N [FOR]]]]    one of them, with what it says"""
import ctypes
import json
import multiprocessing
import os
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(os.environ["TURNCAST_SRCDIR"]).resolve()
BUILD = pathlib.Path(os.environ["TURNCAST_BUILDDIR"]).resolve()
for folder in ("fake", "tap"):
    sys.path.insert(0, str(SOURCE / "tests" / folder))

from drive import SANITIZED, Fake, Timeout  # noqa: E402  (its folder is known from here on)
from tap import done, equal, ok  # noqa: E402

LONG = os.environ.get("TURNCAST_LONG") == "1"
SEED = int(os.environ.get("TURNCAST_SEED", 0)) or (int(time.time()) if LONG else 7)
GROUPS = ("memory", "write", "read", "open", "sync", "connect", "fork", "dlopen")
EACH = {"memory": 10, "write": 8, "read": 8, "open": 8}  # of the short form; of others:
FEW = 4
FEWER = {"serve": 3}  # of every group
MANY = 60  # of every group in the long form, which lasts about ten minutes; all would be a day
PATIENCE_S = 10  # until an answer comes in spite of all; then the host is stopped
FOR_EVER = 1 << 40
DEADLINE_S = 60  # a program under a sanitizer is slow
DOCUMENTED = {0, 1, 2, 3, 4, 130}
NO_MEMORY = 4
# Who ends the program when it goes without: a sanitizer in a thread's first steps, and the C
# library where a thread first touches a variable of its own of a library that was loaded late.
NOT_OURS = (
    "Sanitizer: CHECK failed: sanitizer_",
    "cannot allocate memory for thread-local data: ABORT",
)
PR_SET_CHILD_SUBREAPER = 36


class Run:
    """One run of the program in its own folder."""

    def __init__(self, name, group, at, times):
        self.name = f"{name}, {group} {at or 'counted'}{' and on' if times > 1 else ''}"
        self.group, self.at, self.times = group, at, times
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="turncast-torture."))
        self.faults = []
        self.status = None
        self.seen = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def environment(self):
        counted = self.folder / "seen"
        counted.write_bytes(bytes(8))
        options = os.environ.get("ASAN_OPTIONS", "")
        kept = ("PATH", "LC_ALL", "MALLOC_PERTURB_", "TURNCAST_SHIM", "TURNCAST_PLUGIN_PATH")
        return {name: os.environ[name] for name in kept if name in os.environ} | {
            "HOME": str(self.folder),
            "XDG_STATE_HOME": str(self.folder),
            "ASAN_OPTIONS": f"{options}:verify_asan_link_order=0",
            "LD_PRELOAD": str(BUILD / "tests" / "fault" / "torture.so"),
            "TORTURE_CALL": self.group,
            "TORTURE_AT": str(self.at),
            "TORTURE_FOR": str(self.times),
            "TORTURE_SEEN": str(counted),
        }

    def configure(self, more=""):
        sinks = more + "".join(
            f'{name} : {{ plugin = "jsonl"; path = "{self.folder}/{name}"; visibility = "all"; }};'
            for name in ("one", "two")
        )
        talker = BUILD / "tests" / "fake" / "talker"
        config = self.folder / "turncast.conf"
        config.write_text(
            f"""agents : {{ main : {{ command = ["{talker}"]; attempts = 1;
    exit_grace_s = 1; term_grace_s = 1; }}; }};
state_directory = "{self.folder}/state";
plugins : {{ instances : {{ {sinks}
    log : {{ plugin = "audit"; path = "{self.folder}/audit"; }}; }}; }};
"""
        )
        config.chmod(0o600)
        return config

    def start(self, *words):
        with open(self.folder / "out", "ab") as out, open(self.folder / "err", "ab") as err:
            return subprocess.Popen(
                [BUILD / "turncast", *words],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env=self.environment(),
            )

    def finish(self, process):
        try:
            self.status = process.wait(DEADLINE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            self.faults.append(f"it did not end within {DEADLINE_S} s")
        self.seen = struct.unpack("q", (self.folder / "seen").read_bytes())[0]
        self.judge()

    def go(self, *words):
        self.finish(self.start(*words))

    def said(self):
        return (self.folder / "err").read_text(errors="replace")

    def judge(self):
        if any(words in self.said() for words in NOT_OURS):
            return
        if self.status is not None and self.status not in DOCUMENTED:
            self.faults.append(f"it ended with status {self.status}")
        if any(word in self.said() for word in ("Sanitizer", "runtime error:")):
            self.faults.append("a sanitizer found something")

    def judge_told(self):
        """The call that failed may have been a write or an opening of these files."""
        stories = [story_of(self.folder / name) for name in ("one", "two")]
        begun = [s for s in stories if "start" in s]
        if self.times > 1 or self.status in (None, NO_MEMORY) or not begun:
            return
        if not any(is_whole(s) for s in begun):
            self.faults.append(f"no instance was told a whole turn: {stories}")


def story_of(file):
    lines = file.read_text().splitlines() if file.exists() else []
    try:
        return [json.loads(line)["type"] for line in lines]
    except ValueError:
        return ["(broken)"]


def is_whole(kinds):
    outcomes = [k for k in kinds if k in ("final", "error")]
    return kinds[0] == "start" and kinds[-1] == "done" and len(outcomes) == 1


def children():
    found = []
    for task in pathlib.Path("/proc/self/task").iterdir():
        found += (task / "children").read_text().split()
    return found


def reap_all():
    """Returns the names of the processes that the program has left and that are still running."""
    deadline = time.monotonic() + 5
    while True:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return []
        if time.monotonic() > deadline:
            break
        time.sleep(0.01)
    left = []
    for pid in children():
        left.append(pathlib.Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " "))
        os.kill(int(pid), signal.SIGKILL)
        os.waitpid(int(pid), 0)
    return left


# ---- programs


def replay(run):
    run.go("replay", "-c", run.configure(), SOURCE / "tests" / "cli" / "turn.jsonl")
    run.judge_told()


def turn(run):
    run.go("run", "-c", run.configure(), "tools=2 ms=10 id=torture")
    run.judge_told()


# An answer, an error, or the refusal of the message.
OUTCOMES = "Answer torture of|\u26a0|the disk is full"


def is_answered(fake, seconds):
    try:
        shown = {"visible": 1, "chat": PERSON, "from": "bot", "text": OUTCOMES}
        return bool(fake.wait(timeout=seconds, **shown))
    except Timeout:
        return False


def serve(run):
    """A user sends a message; this host or the next one answers, or the message is refused."""
    with Fake("telegram") as fake:
        config = run.configure(
            f'tg : {{ plugin = "telegram"; token = "123456:FAKE-telegram-token"; grants = ["submit"];'
            f' allow = ({PERSON}); api_base = "http://127.0.0.1:{fake.port}"; }};'
        )
        fake.control("message", {"from": PERSON, "text": "tools=1 ms=10 id=torture"})
        host = run.start("serve", "-c", config)
        deadline = time.monotonic() + PATIENCE_S
        answered = False
        while not answered and host.poll() is None and time.monotonic() < deadline:
            answered = is_answered(fake, 0.2)
        host.terminate()
        run.finish(host)
        if answered or is_answered(fake, 0):
            return
        run.group = "none"
        host = run.start("serve", "-c", config)
        if not is_answered(fake, DEADLINE_S):
            calls = [(e["method"], e["text"]) for e in fake.record() if e["kind"] == "call"]
            run.faults.append(f"nobody has answered; the service was asked {calls}")
        host.terminate()
        if host.wait(DEADLINE_S) != 0:
            run.faults.append("the next host does not end well")


PERSON = 1000
SCENARIOS = {"replay": replay, "run": turn, "serve": serve}


def one(job):
    name, group, at, times = job
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    with Run(name, group, at, times) as run:
        SCENARIOS[name](run)
        left = reap_all()
        if left:
            run.faults.append(f"processes are left: {left}")
        return run.name, run.seen, run.status, run.faults, run.said()


def places(name, group, count, chance):
    """Returns all places, or some of them, distributed evenly and including both ends."""
    wanted = MANY if LONG else FEWER.get(name) or EACH.get(group, FEW)
    wanted = max(3, wanted // 2) if SANITIZED else wanted  # each takes several times as long
    if count <= wanted:
        return range(1, count + 1)
    step = (count - 2) / (wanted - 2)
    inner = (2 + int((i + chance.random()) * step) for i in range(wanted - 2))
    return sorted({1, count, *(min(n, count - 1) for n in inner)})


def report(results, name):
    bad = [(run, faults, said) for run, _, _, faults, said in results if faults]
    for run, faults, said in bad:
        print(f"# {run}: {'; '.join(faults)}")
        for line in said.splitlines()[-12:]:
            print(f"#     {line}")
    statuses = sorted({r[2] for r in results if r[2] is not None})
    equal([run for run, *_ in bad], [], f"{name}: {len(results)} runs, ended with {statuses}")


def torture(pool, name, chance):
    counted = pool.map(one, [(name, group, 0, 1) for group in GROUPS])
    report(counted, f"{name}, nothing fails")
    equal([r[2] for r in counted if r[2] != 0], [], f"{name}: all runs succeed")
    ok(counted[0][1] > 0, f"{name}: calls are counted")
    for group, (_, count, *_) in zip(GROUPS, counted):
        jobs = [(name, group, at, 1) for at in places(name, group, count, chance)]
        jobs += [(name, group, job[2], FOR_EVER) for job in jobs[:: 1 if LONG else 4]]
        if jobs:
            report(pool.map(one, jobs, chunksize=1), f"{name}: {group}, {count} calls")


def main():
    words = sys.argv[1:]
    if len(words) > 2:
        job = (words[0], words[1], int(words[2]), int(words[3]) if len(words) > 3 else 1)
        name, seen, status, faults, said = one(job)
        print(f"{said}{name}: {seen} calls, status {status}, {faults}")
        return
    if "sanitize=thread" in (BUILD / "config.status").read_text():
        print("1..0 # SKIP the allocator is in the program itself")
        return
    print(f"# seed {SEED}")
    with multiprocessing.Pool(os.cpu_count()) as pool:
        for name in SCENARIOS:
            if not words or words[0] == name:
                torture(pool, name, random.Random(SEED))
    done()


if __name__ == "__main__":
    main()
