#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A host was killed after a turn had ended, and before it had published that: at its next start it publishes the end, so
that other hosts do not show the turn as running."""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from bus import Member, done, equal, natsd, ok, skip_without_server, until  # noqa: E402


def publish_as_running(server, turn):
    """As the earlier life of the host did when the turn began."""
    client = server.client()
    state = client.request("$JS.API.DIRECT.GET.TC_STATE", json.dumps({"last_by_subj": f"tc.state.h1.{turn}"})).json()
    state["turn"].update(state="running", ended_ms=0)
    state["from"]["boot"] = "0123456789abcdef"
    stored = client.request(f"tc.state.h1.{turn}", json.dumps(state)).json()
    client.close()
    ok("seq" in stored, "the servers have the turn as running", stored)


if __name__ == "__main__" and not skip_without_server():
    with natsd.NatsServer() as nats, Member("h1", nats.url()) as one, Member("h2", nats.url()) as two:
        one.await_bus()
        two.await_bus()
        turns = {}
        for state, words in (("final", "tools=1 ms=1"), ("error", "fail")):
            turns[state] = one.begin(words)["id"]
            two.knows(turns[state], "final", "error")
        found = {state: two.knows(turn)["state"] for state, turn in turns.items()}
        equal(found, {"final": "final", "error": "error"}, "one turn has an answer, one has failed")
        one.kill()
        two.stop()
        for turn in turns.values():
            publish_as_running(nats, turn)
        two.start()
        for turn in turns.values():
            two.knows(turn, "running")
        one.start()
        for state, turn in turns.items():
            equal(two.knows(turn, "final", "error")["state"], found[state], "the host publishes the end of the turn")
            until(lambda t=turn: two.all_events(t), "the events of the turn are read to their end")
        equal((one.stop(), two.stop()), (0, 0), "both hosts end well")
    done()
