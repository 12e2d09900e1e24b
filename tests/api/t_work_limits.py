#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""More turns than other hosts can run: all slots of the runners are taken, and the work queue is full."""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from bus import Member, done, equal, natsd, ok, skip_without_server, until  # noqa: E402
from work import agents, events, kinds, runs, session  # noqa: E402

SLOTS = 2
TURNS = 20
RUN = ["r1", "r2"]
GATEWAY = 'roles = ["gateway"];'
MANY = "conversations : { per_user = 100; };"


def runners_of(server, turns):
    """The hosts of the turns that have begun."""
    found = {t: runs(server, t) for t in turns}
    return {t: host for t, host in found.items() if host}


def at_work(host):
    """The turns of the agent processes of a host."""
    found = set()
    for pid in agents(host):
        try:
            with open(f"/proc/{pid}/environ", "rb") as f:
                found |= {v for v in f.read().split(b"\0") if v.startswith(b"TURNCAST_TURN=")}
        except OSError:
            pass
    return found


def crowd(server, g, runners):
    """Twenty messages at once for two hosts with two slots each."""
    turns = [g.begin(f"id=c{n} tools=1 gated", conversation=f"c{n}")["id"] for n in range(TURNS)]
    until(lambda: len(runners_of(server, turns)) == SLOTS * len(runners), "all slots are taken")
    most, ended = dict.fromkeys(runners, 0), set()
    while len(ended) < TURNS:
        begun = runners_of(server, turns)
        for name in runners:
            most[name] = max(most[name], len(at_work(runners[name])), sum(begun[t] == name for t in begun if t not in ended))
        turn = next(t for t in turns if t in begun and t not in ended)
        runners[begun[turn]].let_go(f"c{turns.index(turn)}", 2)
        g.await_state(turn, "final")
        ended.add(turn)
        wanted = min(TURNS, len(ended) + SLOTS * len(runners))
        if not until(lambda: len(runners_of(server, turns)) >= wanted, f"a free slot is taken ({len(ended)})"):
            break
    equal(most, dict.fromkeys(runners, SLOTS), "a host never has more turns than slots")
    answers = [g.turn(t).get("answer", "") for t in turns]
    equal([a.split(" ")[1] for a in answers if a.startswith("Answer ")], [f"c{n}" for n in range(TURNS)], "all messages are answered")
    until(lambda: all(kinds(g, t)[-1:] == ["done"] for t in turns), "all turns are shown")
    equal({len([e for e in events(g, t) if e["type"] == "final"]) for t in turns}, {1}, "once")
    return turns


def affinity(server, g, turns):
    """The next message of each conversation runs on the host of the first one, in its session, also at once."""
    later = [g.begin(f"id=d{n}", conversation=f"c{n}")["id"] for n in range(TURNS)]
    for turn in later:
        g.await_state(turn, "final")
    equal([runs(server, t) for t in later], [runs(server, t) for t in turns], "the conversations stay on their hosts")
    equal([session(g, t) for t in later], [session(g, t) for t in turns], "the conversations keep their sessions")


def full(server):
    """A turn for a full work queue ends with an error."""
    client = server.client()
    with Member("g2", server.url(), hosts=["r3"], bus=GATEWAY) as g:
        g.await_bus()
        config = json.loads(client.request("$JS.API.STREAM.INFO.TC_WORK", "").data)["config"]
        answer = client.api("STREAM.UPDATE.TC_WORK", dict(config, max_msgs=1))
        ok("error" not in answer, "the queue holds one message", answer)
        first = g.begin("id=f1")["id"]
        until(lambda: json.loads(client.request("$JS.API.STREAM.INFO.TC_WORK", "").data)["state"]["messages"] == 1, "a turn waits in the queue")
        second = g.begin("id=f2", conversation="second")["id"]
        g.await_state(second, "error")
        until(lambda: kinds(g, second)[-1:] == ["done"], "the next turn ends")
        error = next(e["payload"] for e in events(g, second) if e["type"] == "error")
        equal((error["code"], error["message"]),
              ("queue_full", "Too many turns wait for other hosts. Please send your message again later."), "with the reason")
        third = g.begin("id=f3", conversation="second")["id"]
        g.await_state(third, "running")
        with Member("r3", server.url(), hosts=["r3"]) as r:
            r.await_bus()
            for turn in (first, third):
                g.await_state(turn, "final")
            ok(True, "a waiting turn runs when a host is there")
            equal(runs(server, second), None, "the turn that has ended does not run")
    client.close()


if not skip_without_server():
    with natsd.NatsServer() as nats, \
            Member("g1", nats.url(), hosts=RUN, bus=GATEWAY, extra=MANY) as gate, \
            Member("r1", nats.url(), hosts=RUN, agent=f"slots = {SLOTS};") as one, \
            Member("r2", nats.url(), hosts=RUN, agent=f"slots = {SLOTS};") as two:
        for member in (gate, one, two):
            member.await_bus()
        both = {"r1": one, "r2": two}
        affinity(nats, gate, crowd(nats, gate, both))
        equal((gate.stop(), one.stop(), two.stop()), (0, 0, 0), "all hosts exit with status 0")
        full(nats)
    done()
