# SPDX-License-Identifier: MIT
"""Connectors that crash, hang, exit, close all descriptors, write garbage, fail and delay, all at once, beside
healthy ones: the events of the healthy ones are the same as without them, except for ids and times, and no
process or descriptor is left."""
import ctypes
import json
import os
import pathlib
import re
import sys
import time

from talk import SOURCE, done, equal, note, ok, rounds, until, written

import on_bus

sys.path.insert(0, str(SOURCE / "tests" / "api"))

from door import LOG, Door  # noqa: E402  (its folder is known from here on)

TURNS = rounds(500)
AT_ONCE = 12
MORE_MB = 256  # a sanitizer keeps that much of what was freed
PR_SET_CHILD_SUBREAPER = 36
SICK = {
    "crashes": '{ what = "crash"; every = 3; }',
    "hangs": '{ what = "hang"; every = 5; }',
    "exits": '{ what = "exit"; every = 4; }',
    "closes": '{ what = "close"; every = 2; }',
    "lies": '{ what = "garbage"; every = 2; }',
    "errs": '{ what = "error"; rate = 0.5; }',
    "dawdles": '{ what = "delay"; rate = 0.2; delay_ms = 20; }',
    "leaks": '{ what = "leak"; bytes = 262144; }',
}
TIMES = re.compile(r'"(ts|duration_ms|api_ms|elapsed_ms|ttft_ms)":[-0-9.e+]+')


def instances(sick):
    text = (
        'well : { plugin = "jsonl"; isolation = "process"; visibility = "all";'
        ' path = "WELL"; paths = ["FOLDER"]; };'
    )
    for name, rule in sick.items():
        text += f'{name} : {{ plugin = "null"; isolation = "process"; callback_ms = 300;'
        text += f" chaos = {rule}; }};"
    return text


class Ward(Door):
    def __init__(self, sick):
        super().__init__(extra=LOG + "conversations : { max_turns = 12; per_user = 100; };")
        self.well = self.folder / "well"
        config = self.config.read_text()
        more = instances(sick).replace("WELL", str(self.well)).replace("FOLDER", str(self.folder))
        assert "instances : {" in config
        self.config.write_text(config.replace("instances : {", "instances : { " + more, 1))


class Ends:
    """The number of ended turns in the log."""

    def __init__(self, file):
        self.file = file
        self.count = self.read = 0

    def so_far(self):
        if self.file.exists():
            with open(self.file, "rb") as file:
                file.seek(self.read)
                whole = file.read().rpartition(b"\n")[0]
            self.read += len(whole)
            self.count += whole.count(b'{"type":"done"')
        return self.count


def ask_all(host):
    """turn -> its number, in the order of submission."""
    turns = {}
    ends = Ends(host.events)
    for number in range(TURNS):
        prompt = {"prompt": f"tools=2 ms=0 id=t{number}"}
        status, _, text = host.ask("POST", "/turns", key="ann", body=prompt)
        if status != 202:
            ok(False, "a turn is accepted", text)
            break
        turns[json.loads(text)["id"]] = number
        until(lambda: len(turns) - ends.so_far() < AT_ONCE, "fewer than the maximum number of turns run", 60)
    until(lambda: ends.so_far() == len(turns), "all turns end", 120)
    return turns


def told(file, turns):
    """number -> the events of that turn in the log of an instance, without ids and times."""
    stories = {number: [] for number in turns.values()}
    for line in written(file):
        event = json.loads(line)
        turn, session = event["correlation_id"], event["session_id"]
        text = TIMES.sub(r'"\1":0', line).replace(turn, "TURN")
        stories[turns[turn]].append(text.replace(session, "SESSION") if session else text)
    return stories


def children():
    pids = []
    for task in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{task}/children", encoding="ascii") as file:
            pids += file.read().split()
    return pids


def reaped():
    """The processes that the host left behind."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
    return set(map(int, children())) <= on_bus.server_pids()


def peak_mb(pid):
    """The maximum resident memory of the host."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmHWM:\s*(\d+)", status)[1]) >> 10


def live(sick):
    """The events of the healthy instances by number, the log of the host, and its memory."""
    with Ward(sick) as host:
        until(host.has_started, "all instances have started")
        files = host.open_files()
        began = time.monotonic()
        turns = ask_all(host)
        took = time.monotonic() - began
        until(lambda: host.well.read_text().count('{"type":"done"') == len(turns), "the instance well has all turns", 60)
        until(lambda: host.open_files() <= files + 2, "no descriptor is left", 30)
        said, size = host.log(), peak_mb(host.process.pid)
        equal(host.stop(), 0, "the host exits with status 0")
        until(reaped, "no process is left", 10)
        note(f"{len(turns)} turns beside {len(sick)} sick ones in {took:.1f} s, {size} MiB")
        return told(host.events, turns), told(host.well, turns), said, size


def main():
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    alone = live({})
    beside = live(SICK)
    equal(len(beside[0]), TURNS, "every turn was asked")
    equal([n for n, story in alone[0].items() if len(story) < 6], [], "each turn has all of its events")
    for index, name in enumerate(("in a thread", "in a process")):
        differ = [n for n, story in alone[index].items() if beside[index].get(n) != story]
        equal(differ[:5], [], f"{name}: the events are the same as without faulty connectors")
        for number in differ[:1]:
            for a, b in zip(alone[index][number], beside[index][number]):
                if a != b:
                    note(f"alone  {a}")
                    note(f"beside {b}")
    ok(beside[3] < 2 * alone[3] + MORE_MB, "the memory of the host did not grow", beside[3])
    for name in ("crashes", "hangs", "exits", "closes", "lies"):
        ok(f"instance {name}" in beside[2], f"the end of the connector {name} is logged")
    done()


main()
