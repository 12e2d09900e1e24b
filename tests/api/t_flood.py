#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Agents that write without a pause delay other turns only: those are answered, and flooding turns can be
cancelled."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from door import LOG, Door, done, equal  # noqa: E402

FLOODS = 3
PLACES = "conversations : { max_turns = 8; per_user = 8; debounce_ms = 0; drain_s = 0; };"


def hear_one(host, name):
    host.await_state(host.begin(f"tools=3 id={name}")["id"], "final")


with Door(extra=LOG + PLACES) as host:
    floods = [host.begin(f"flood id=flood-{i}")["id"] for i in range(FLOODS)]
    hear_one(host, "first")
    for i in range(3):
        hear_one(host, f"calm-{i}")
    states = [host.turn(turn)["state"] for turn in floods]
    equal(states, ["running"] * FLOODS, "other turns end while turns flood")
    cancelled = host.status("POST", f"/turns/{floods[0]}/cancel", key="ann", body={})
    equal(cancelled, 202, "a flooding turn is cancelled")
    host.await_state(floods[0], "cancelled")
    for i in range(1, FLOODS):
        host.let_go(f"flood-{i}")
        host.await_state(floods[i], "final")
done()
