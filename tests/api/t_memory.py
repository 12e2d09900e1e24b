#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The memory of a turn in the host while its agent is silent, so that a thousand of them can run."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from door import BUILD, LOG, Door, done, note, ok, until  # noqa: E402

TURNS = 200
BUDGET_KIB = 40 if os.environ.get("TURNCAST_TEST_BUS") == "1" else 30  # what is published of it, too
PLACES = (f"conversations : {{ max_turns = {2 * TURNS}; per_user = {2 * TURNS}; "
          "debounce_ms = 0; drain_s = 0; };")
PROGRAM = (BUILD / "turncast").read_bytes()
if b"__asan_init" in PROGRAM or b"__tsan_init" in PROGRAM:
    print("1..0 # SKIP a sanitizer has its own idea of memory")
    sys.exit(0)


def begin(host, turns, before=0):
    """Begins turns that run silently."""
    for _ in range(turns):
        if host.status("POST", "/turns", key="ann", body={"prompt": "tools=1 hang"}) != 202:
            ok(False, "a turn is accepted")
    until(lambda: host.events.read_bytes().count(b'"type":"tool_result"') == before + turns,
          "each turn has used a tool")


def measure(instances):
    """KiB per turn. Bursts of a busy machine leave free memory behind, so the least of three measurements."""
    taken = []
    while not taken or (min(taken) > BUDGET_KIB and len(taken) < 3):
        taken.append(measure_once(instances))
        note(f"{taken[-1]:.1f} KiB a turn")
    return min(taken)


def measure_once(instances):
    with Door(instances=instances, extra=LOG + PLACES) as host:
        until(host.has_started, "all instances have started")
        begin(host, 20)
        before = host.memory_kib()
        begin(host, TURNS, 20)
        return (host.memory_kib() - before) / TURNS


for name, others in (("one instance", 0), ("three instances", 2)):
    taken = measure("".join(f'n{i} : {{ plugin = "null"; }};' for i in range(others)))
    ok(taken <= BUDGET_KIB, f"{name}: at most {BUDGET_KIB} KiB per silent turn")
done()
