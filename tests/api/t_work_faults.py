#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns on other hosts when something fails at a bad moment: gateways and runners that die, stop or are cut
off before or while a turn runs."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from bus import Member, done, equal, natsd, ok, skip_without_server, until  # noqa: E402
from people import TelegramPeople, messages, outcomes  # noqa: E402
from talk import Fake, telegram  # noqa: E402
from work import events, kinds, runs, session  # noqa: E402


def starts(host, turn):
    """Whether each start event of the turn says that a part of it was told before."""
    return [e["payload"].get("resumed", False) for e in events(host, turn) if e["type"] == "start"]


def dies_before_it_is_stored(server, g):
    """The gateway dies before the servers have a turn: nothing has begun, so it begins at the next start."""
    had = g.begin("id=s9", conversation="early")["id"]
    g.await_state(had, "final")
    server.kill()
    g.await_bus("disconnected")
    first = g.begin("id=s0 tools=1", conversation="early")["id"]
    g.await_state(first, "running")
    equal(kinds(g, first), [], "without the servers, nothing of a turn is told")
    second = g.begin("id=s1", conversation="early")["id"]
    g.kill()
    server.start()
    g.start()
    g.await_bus()
    g.await_state(first, "final")
    ok(g.turn(first)["answer"].startswith("Answer s0"), "a turn that no host had got begins when its gateway is back")
    g.await_state(second, "final")
    until(lambda: kinds(g, second)[-1:] == ["done"], "and then the one behind it")
    equal(starts(g, first), [False], "nothing of the turn had been told before")
    equal((session(g, first), session(g, second)), (session(g, first),) * 2, "both are of one session")


def dies_while_it_runs(server, g, runners):
    turn = g.begin("id=p1 tools=2 gated", conversation="again")["id"]
    until(lambda: "start" in kinds(g, turn), "a turn runs and is told")
    g.kill()
    g.start()
    g.await_bus()
    until(lambda: len(starts(g, turn)) == 2, "a gateway that is back tells it from its beginning")
    runners[runs(server, turn)].let_go("p1", 3)
    g.await_state(turn, "final")
    equal(starts(g, turn), [False, True], "and says that a part of it was told before")


if not skip_without_server():
    with natsd.NatsServer() as nats, Fake("telegram") as fake:
        RUN = ["r1", "r2"]
        CHATS = TelegramPeople(fake, 4)
        BUS = 'roles = ["gateway"]; lost_after_s = 1; move_after_s = 1;'
        with Member("g1", nats.url(), hosts=RUN, bus=BUS, instances=telegram(fake, debounce_ms=0)) as gate, \
                Member("r1", nats.url(), hosts=RUN) as r1, Member("r2", nats.url(), hosts=RUN) as r2:
            for host in (gate, r1, r2):
                host.await_bus()
            both = {"r1": r1, "r2": r2}
            try:
                dies_before_it_is_stored(nats, gate)
                dies_while_it_runs(nats, gate, both)
            except BaseException:
                print(gate.log(), r1.log(), r2.log())
                raise
            equal((gate.stop(), r1.stop(), r2.stop()), (0, 0, 0), "all hosts end as they should")
    done()
