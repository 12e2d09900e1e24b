#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns that run on another host than the one that admitted them: a gateway, and two runners."""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from bus import Member, done, equal, natsd, ok, skip_without_server, until  # noqa: E402
from work import agents, events, kinds, runs, session, told  # noqa: E402


def answered(server, g, runners):
    turn = g.begin("id=w1 tools=2")["id"]
    g.await_state(turn, "final")
    ok(g.turn(turn)["answer"].startswith("Answer w1"), "a turn is answered by an agent of another host")
    where = runs(server, turn)
    ok(where in runners, "which has written that it runs it", where)
    until(lambda: kinds(g, turn)[-1:] == ["done"], "its connector is told")
    seen = kinds(g, turn)
    equal((seen[0], seen[-1], seen.count("start"), seen.count("done")), ("start", "done", 1, 1),
          "from start to done, once")
    equal([e["seq"] for e in events(g, turn)], sorted({e["seq"] for e in events(g, turn)}), "in order")
    equal([kinds(r, turn) for r in runners.values()], [[], []], "no connector of the other hosts is")
    equal([t["id"] for r in runners.values() for t in r.turns() if t.get("host") != "g1"], [],
          "and to them it is a turn of the gateway")


def at_home(server, g):
    """The turns of a conversation run on one host, in its session."""
    first = g.begin("id=h1", conversation="home")["id"]
    g.await_state(first, "final")
    where = [runs(server, first)]
    said = [session(g, first)]
    for n in (2, 3, 4):
        turn = g.begin(f"id=h{n}", conversation="home")["id"]
        g.await_state(turn, "final")
        where.append(runs(server, turn))
        said.append(session(g, turn))
    equal(len(set(where)), 1, f"the turns of a conversation run on one host: {where}")
    equal(len(set(said)), 1, f"in one session: {said}")


def in_order(server, g, runners):
    """What is sent to a conversation waits for the turn before."""
    one = g.begin("id=o1 tools=1 gated", conversation="order")["id"]
    g.await_state(one, "running")
    two = g.begin("id=o2", conversation="order")["id"]
    until(lambda: runs(server, one), "the first one has begun")
    equal((g.turn(two)["state"], runs(server, two)), ("waiting", None), "the second one waits on the gateway")
    runners[runs(server, one)].let_go("o1", 2)
    g.await_state(two, "final")
    until(lambda: kinds(g, two)[-1:] == ["done"], "both are told")
    ended = [e["correlation_id"] for e in told(g) if e["type"] == "done"]
    ok(ended.index(one) < ended.index(two), "and ends behind it")


def decided(g):
    """What an agent asks is decided at the gateway."""
    heard = []
    for choice, state in (("allow", "final"), ("deny", "final")):
        turn = g.begin("run=df -h /srv", agent="asker")["id"]
        until(lambda: g.turn(turn).get("requests"), "the gateway is asked")
        request = g.turn(turn)["requests"][0]
        equal((request["tool"], request["subject"]), ("Bash", "df -h /srv"), "for a tool of the agent")
        status, _, text = g.ask("POST", f"/turns/{turn}/requests/{request['id']}", key="ann", body={"choice": choice})
        equal((status, json.loads(text)["decision"]), (200, choice), f"it is decided: {choice}")
        g.await_state(turn, state, "error")
        until(lambda: kinds(g, turn)[-1:] == ["done"], "to the end")
        asked = [e["payload"] for e in events(g, turn) if e["type"] == "request"]
        equal([p["state"] for p in asked], ["open", "resolved"], "and told once")
        equal((asked[1]["by"], asked[1]["decision"]), ("ann", choice), "with who decided")
        last = [e["payload"] for e in events(g, turn) if e["type"] in ("final", "error")]
        heard.append(last[-1].get("text") or last[-1].get("message"))
    ok(heard[0] != heard[1], "the agent has heard both", heard)


def cancelled(server, g, runners):
    turn = g.begin("id=x1 hang")["id"]
    until(lambda: runs(server, turn), "a turn runs")
    until(lambda: "start" in kinds(g, turn), "and is told")
    equal(g.status("POST", f"/turns/{turn}/cancel", key="ann"), 202, "it is cancelled at the gateway")
    g.await_state(turn, "cancelled")
    until(lambda: "done" in kinds(g, turn), "to its end")
    equal((kinds(g, turn).count("done"), kinds(g, turn)[-1]), (1, "done"), "with one end")
    until(lambda: not any(agents(r) for r in runners.values()), "and its agent is gone")


def nobody(server, g, runners):
    """Without a runner a turn waits, and can be cancelled."""
    for r in runners.values():
        r.stop()
    waits, gone = g.begin("id=n1")["id"], g.begin("id=n2")["id"]
    queued = server.client()
    until(lambda: json.loads(queued.request("$JS.API.STREAM.INFO.TC_WORK", "").data)["state"]["messages"] == 2,
          "turns wait in the queue")
    equal(g.status("POST", f"/turns/{gone}/cancel", key="ann"), 202, "one is cancelled before a host has it")
    g.await_state(gone, "cancelled")
    for r in runners.values():
        r.start()
        r.await_bus()
    g.await_state(waits, "final")
    until(lambda: json.loads(queued.request("$JS.API.STREAM.INFO.TC_WORK", "").data)["state"]["messages"] == 0,
          "and the queue is empty when runners are back")
    equal(runs(server, gone) and kinds(g, gone)[-1:], kinds(g, gone)[-1:] if runs(server, gone) else None,
          "what was cancelled has one end")
    ok(not any(agents(r) for r in runners.values()), "and no agent")
    queued.close()


def gateway_dies(server, g, runners):
    """The gateway dies: the turn goes on, and is told when the gateway is back."""
    turn = g.begin("id=g1 tools=2 gated", conversation="dies")["id"]
    until(lambda: runs(server, turn), "a turn runs")
    until(lambda: "start" in kinds(g, turn), "and is told")
    waits = g.begin("id=g2", conversation="dies")["id"]
    g.kill()
    runners[runs(server, turn)].let_go("g1", 1)
    g.start()
    g.await_bus()
    g.await_state(turn, "running")
    runners[runs(server, turn)].let_go("g1", 2)
    g.await_state(turn, "final")
    ok(g.turn(turn)["answer"].startswith("Answer g1"), "a gateway that is back tells the answer")
    until(lambda: kinds(g, turn)[-1:] == ["done"], "to its connectors, too")
    equal((kinds(g, turn).count("final"), kinds(g, turn).count("done")), (1, 1), "once")
    g.await_state(waits, "final")
    turn = g.begin("id=g3 tools=1 gated")["id"]
    until(lambda: runs(server, turn) and "start" in kinds(g, turn), "another turn runs")
    equal(g.stop(), 0, "the gateway ends without waiting for it")
    where = runners[runs(server, turn)]
    where.let_go("g3", 2)
    until(lambda: not agents(where), "which ends meanwhile")
    g.start()
    g.await_bus()
    g.await_state(turn, "final")
    ok(g.turn(turn)["answer"].startswith("Answer g3"), "and is told at the next start")


def emptied(server, g, runners):
    """The servers lose what they had: a turn that runs goes on, and none begins twice."""
    turn = g.begin("id=e1 tools=2 gated")["id"]
    until(lambda: runs(server, turn) and "start" in kinds(g, turn), "a turn runs")
    where = runners[runs(server, turn)]
    server.kill()
    server.forget()
    server.start()
    for host in (g, *runners.values()):
        host.await_bus()
    until(lambda: runs(server, turn) == where.name, "its host says again that it runs it")
    where.let_go("e1", 3)
    g.await_state(turn, "final")
    ok(g.turn(turn)["answer"].startswith("Answer e1"), "it is answered")
    after = g.begin("id=e2")["id"]
    g.await_state(after, "final")


def runner_dies(server, g, runners):
    """A runner dies in the middle of a turn."""
    turn = g.begin("id=d1 tools=1 gated", conversation="lost")["id"]
    until(lambda: runs(server, turn) and "start" in kinds(g, turn), "a turn runs")
    where = runners[runs(server, turn)]
    where.kill()
    g.await_state(turn, "error")
    error = [e for e in events(g, turn) if e["type"] == "error"]
    equal([e["payload"]["code"] for e in error], ["host_lost"], "its loss is told")
    until(lambda: kinds(g, turn)[-1:] == ["done"], "to the end")
    after = g.begin("id=d2", conversation="lost")["id"]
    g.await_state(after, "final")
    ok(runs(server, after) != where.name, "the conversation goes on at another host")
    equal(g.metric("turncast_turns_lost_total"), 1, "and is counted")
    where.start()
    where.await_bus()
    until(lambda: not agents(where), "what was left of its agent is gone")


if not skip_without_server():
    with natsd.NatsServer() as nats:
        RUN = ["r1", "r2"]
        with Member("g1", nats.url(), hosts=RUN, bus='roles = ["gateway"]; lost_after_s = 1; move_after_s = 1;') as gate, \
                Member("r1", nats.url(), hosts=RUN) as r1, Member("r2", nats.url(), hosts=RUN) as r2:
            for host in (gate, r1, r2):
                host.await_bus()
            both = {"r1": r1, "r2": r2}
            try:
                answered(nats, gate, both)
                at_home(nats, gate)
                in_order(nats, gate, both)
                decided(gate)
                cancelled(nats, gate, both)
                nobody(nats, gate, both)
                gateway_dies(nats, gate, both)
                emptied(nats, gate, both)
                runner_dies(nats, gate, both)
            except BaseException:
                print(gate.log(), r1.log(), r2.log())
                raise
            equal((gate.stop(), r1.stop(), r2.stop()), (0, 0, 0), "all hosts exit with status 0")
    done()
