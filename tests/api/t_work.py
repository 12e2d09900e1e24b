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
    ok(where in runners, "the host has written that it runs the turn", where)
    until(lambda: kinds(g, turn)[-1:] == ["done"], "the connector of the gateway reads the end")
    seen = kinds(g, turn)
    equal((seen[0], seen[-1], seen.count("start"), seen.count("done")), ("start", "done", 1, 1),
          "each turn has one start and one end")
    equal([e["seq"] for e in events(g, turn)], sorted({e["seq"] for e in events(g, turn)}), "the events are in order")
    equal([kinds(r, turn) for r in runners.values()], [[], []], "the connectors of other hosts see nothing")
    equal([t["id"] for r in runners.values() for t in r.turns() if t.get("host") != "g1"], [],
          "other hosts show the turn as one of the gateway")


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
    equal(len(set(said)), 1, f"the turns of a conversation have one session: {said}")


def in_order(server, g, runners):
    """A message of a conversation waits for the turn before it."""
    one = g.begin("id=o1 tools=1 gated", conversation="order")["id"]
    g.await_state(one, "running")
    two = g.begin("id=o2", conversation="order")["id"]
    until(lambda: runs(server, one), "the first one has begun")
    equal((g.turn(two)["state"], runs(server, two)), ("waiting", None), "the second one waits on the gateway")
    runners[runs(server, one)].let_go("o1", 2)
    g.await_state(two, "final")
    until(lambda: kinds(g, two)[-1:] == ["done"], "both turns are shown")
    ended = [e["correlation_id"] for e in told(g) if e["type"] == "done"]
    ok(ended.index(one) < ended.index(two), "the second turn ends after the first")


def decided(g):
    """Requests of an agent are decided at the gateway."""
    heard = []
    for choice, state in (("allow", "final"), ("deny", "final")):
        turn = g.begin("run=df -h /srv", agent="asker")["id"]
        until(lambda: g.turn(turn).get("requests"), "the gateway has the request")
        request = g.turn(turn)["requests"][0]
        equal((request["tool"], request["subject"]), ("Bash", "df -h /srv"), "the request has the tool of the agent")
        status, _, text = g.ask("POST", f"/turns/{turn}/requests/{request['id']}", key="ann", body={"choice": choice})
        equal((status, json.loads(text)["decision"]), (200, choice), f"the request is decided: {choice}")
        g.await_state(turn, state, "error")
        until(lambda: kinds(g, turn)[-1:] == ["done"], "the turn is shown to its end")
        asked = [e["payload"] for e in events(g, turn) if e["type"] == "request"]
        equal([p["state"] for p in asked], ["open", "resolved"], "the request is shown once")
        equal((asked[1]["by"], asked[1]["decision"]), ("ann", choice), "the request has the decision and the user")
        last = [e["payload"] for e in events(g, turn) if e["type"] in ("final", "error")]
        heard.append(last[-1].get("text") or last[-1].get("message"))
    ok(heard[0] != heard[1], "the agent received both decisions", heard)


def cancelled(server, g, runners):
    turn = g.begin("id=x1 hang")["id"]
    until(lambda: runs(server, turn), "a turn runs")
    until(lambda: "start" in kinds(g, turn), "the start of the turn is shown")
    equal(g.status("POST", f"/turns/{turn}/cancel", key="ann"), 202, "the turn is cancelled at the gateway")
    g.await_state(turn, "cancelled")
    until(lambda: "done" in kinds(g, turn), "the end of the turn is shown")
    equal((kinds(g, turn).count("done"), kinds(g, turn)[-1]), (1, "done"), "the turn has one end")
    until(lambda: not any(agents(r) for r in runners.values()), "the agent of the turn has been ended")


def nobody(server, g, runners):
    """Without a runner a turn waits, and can be cancelled."""
    for r in runners.values():
        r.stop()
    waits, gone = g.begin("id=n1")["id"], g.begin("id=n2")["id"]
    queued = server.client()
    until(lambda: json.loads(queued.request("$JS.API.STREAM.INFO.TC_WORK", "").data)["state"]["messages"] == 2,
          "turns wait in the queue")
    equal(g.status("POST", f"/turns/{gone}/cancel", key="ann"), 202, "a turn is cancelled before a host has it")
    g.await_state(gone, "cancelled")
    for r in runners.values():
        r.start()
        r.await_bus()
    g.await_state(waits, "final")
    until(lambda: json.loads(queued.request("$JS.API.STREAM.INFO.TC_WORK", "").data)["state"]["messages"] == 0,
          "the queue is empty when runners are back")
    equal(runs(server, gone) and kinds(g, gone)[-1:], kinds(g, gone)[-1:] if runs(server, gone) else None,
          "the cancelled turn has one end")
    ok(not any(agents(r) for r in runners.values()), "no agent runs")
    queued.close()


def gateway_dies(server, g, runners):
    """The gateway is killed: the turn continues, and is shown when the gateway is back."""
    turn = g.begin("id=g1 tools=2 gated", conversation="dies")["id"]
    until(lambda: runs(server, turn), "a turn runs")
    until(lambda: "start" in kinds(g, turn), "the start of the turn is shown")
    waits = g.begin("id=g2", conversation="dies")["id"]
    g.kill()
    runners[runs(server, turn)].let_go("g1", 1)
    g.start()
    g.await_bus()
    g.await_state(turn, "running")
    runners[runs(server, turn)].let_go("g1", 2)
    g.await_state(turn, "final")
    ok(g.turn(turn)["answer"].startswith("Answer g1"), "the restarted gateway shows the answer")
    until(lambda: kinds(g, turn)[-1:] == ["done"], "the connector of the gateway reads the end")
    equal((kinds(g, turn).count("final"), kinds(g, turn).count("done")), (1, 1), "once")
    g.await_state(waits, "final")
    turn = g.begin("id=g3 tools=1 gated")["id"]
    until(lambda: runs(server, turn) and "start" in kinds(g, turn), "another turn runs")
    equal(g.stop(), 0, "the gateway exits without waiting for the turn")
    where = runners[runs(server, turn)]
    where.let_go("g3", 2)
    until(lambda: not agents(where), "the turn ends meanwhile")
    g.start()
    g.await_bus()
    g.await_state(turn, "final")
    ok(g.turn(turn)["answer"].startswith("Answer g3"), "the answer is shown after the restart")


def emptied(server, g, runners):
    """The servers lose their data: a running turn continues, and no turn begins twice."""
    turn = g.begin("id=e1 tools=2 gated")["id"]
    until(lambda: runs(server, turn) and "start" in kinds(g, turn), "a turn runs")
    where = runners[runs(server, turn)]
    server.kill()
    server.forget()
    server.start()
    for host in (g, *runners.values()):
        host.await_bus()
    until(lambda: runs(server, turn) == where.name, "the host writes again that it runs the turn")
    where.let_go("e1", 3)
    g.await_state(turn, "final")
    ok(g.turn(turn)["answer"].startswith("Answer e1"), "the turn is answered")
    after = g.begin("id=e2")["id"]
    g.await_state(after, "final")


def runner_dies(server, g, runners):
    """A runner is killed in the middle of a turn."""
    turn = g.begin("id=d1 tools=1 gated", conversation="lost")["id"]
    until(lambda: runs(server, turn) and "start" in kinds(g, turn), "a turn runs")
    where = runners[runs(server, turn)]
    where.kill()
    g.await_state(turn, "error")
    error = [e for e in events(g, turn) if e["type"] == "error"]
    equal([e["payload"]["code"] for e in error], ["host_lost"], "the loss of the host is shown")
    until(lambda: kinds(g, turn)[-1:] == ["done"], "the turn is shown to its end")
    after = g.begin("id=d2", conversation="lost")["id"]
    g.await_state(after, "final")
    ok(runs(server, after) != where.name, "the conversation continues on another host")
    equal(g.metric("turncast_turns_lost_total"), 1, "the lost turn is counted")
    where.start()
    where.await_bus()
    until(lambda: not agents(where), "the processes of its agent have been ended")


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
