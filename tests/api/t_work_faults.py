#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns on other hosts during faults: gateways and runners that are killed, stopped or disconnected before or
during a turn."""
import contextlib
import json
import os
import signal
import sqlite3
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from bus import Member, done, equal, natsd, ok, skip_without_server, until  # noqa: E402
from people import TelegramPeople, outcomes  # noqa: E402
from talk import Fake, telegram  # noqa: E402
from work import agents, events, kinds, runs, session, told  # noqa: E402

RUN = ["r1", "r2"]
LIMITS = "lost_after_s = 1; move_after_s = 1;"
GATEWAY = f'roles = ["gateway"]; {LIMITS}'
ACK_WAIT_S = 5


def short_redelivery(server):
    """Makes the queue deliver a message to another host after five seconds without an acknowledgement."""
    client = server.client()
    for name in ("any-main", "host-r1", "host-r2"):
        info = json.loads(client.request(f"$JS.API.CONSUMER.INFO.TC_WORK.{name}", "").data)
        config = dict(info["config"], ack_wait=ACK_WAIT_S * 10**9)
        body = json.dumps({"stream_name": "TC_WORK", "config": config})
        answer = json.loads(client.request(f"$JS.API.CONSUMER.DURABLE.CREATE.TC_WORK.{name}", body).data)
        ok("error" not in answer, f"the consumer {name} redelivers early", answer)
    client.close()


def starts(host, turn):
    """For each start event of the turn, whether it is marked as resumed."""
    return [e["payload"].get("resumed", False) for e in events(host, turn) if e["type"] == "start"]


def notices(host, turn):
    return [e["payload"]["code"] for e in events(host, turn) if e["type"] == "notice"]


def ends(host, turn):
    """The outcomes of the turn: the code of an error, or None for an answer."""
    return [e["payload"].get("code") for e in events(host, turn) if e["type"] in ("final", "error")]


def begun(server, g, runners, words, **more):
    """Begins a turn; returns it and its host."""
    turn = g.begin(words, **more)["id"]
    until(lambda: runs(server, turn) and "start" in kinds(g, turn), f"a turn runs: {words}")
    return turn, runners[runs(server, turn)]


def dies_before_it_is_stored(server, g):
    """The gateway is killed before the servers have a turn: the turn begins after the restart."""
    had = g.begin("id=s9", conversation="early")["id"]
    g.await_state(had, "final")
    server.kill()
    g.await_bus("disconnected")
    first = g.begin("id=s0 tools=1", conversation="early")["id"]
    g.await_state(first, "running")
    equal(kinds(g, first), [], "without the servers no event of a turn is shown")
    second = g.begin("id=s1", conversation="early")["id"]
    g.kill()
    server.start()
    g.start()
    g.await_bus()
    g.await_state(first, "final")
    ok(g.turn(first)["answer"].startswith("Answer s0"), "a turn that no host had received begins after the restart of its gateway")
    g.await_state(second, "final")
    until(lambda: kinds(g, second)[-1:] == ["done"], "the next turn ends afterwards")
    equal(starts(g, first), [False], "no event of the turn was shown before")
    equal((session(g, first), session(g, second)), (session(g, first),) * 2, "both turns have one session")


def cancelled_before_it_is_stored(server, g):
    """Without the servers a turn that no other host has can be cancelled at once."""
    had = g.begin("id=c0", conversation="cancel")["id"]
    g.await_state(had, "final")
    server.kill()
    g.await_bus("disconnected")
    turn = g.begin("id=c1", conversation="cancel")["id"]
    g.await_state(turn, "running")
    equal(g.status("POST", f"/turns/{turn}/cancel", key="ann"), 202, "a turn is cancelled while the servers are down")
    g.await_state(turn, "cancelled")
    until(lambda: kinds(g, turn)[-1:] == ["done"], "the turn ends without the servers")
    server.start()
    g.await_bus()
    equal(runs(server, turn), None, "no host receives the turn afterwards")


def dies_while_it_runs(server, g, runners):
    turn, where = begun(server, g, runners, "id=p1 tools=2 gated", conversation="again")
    g.kill()
    g.start()
    g.await_bus()
    until(lambda: len(starts(g, turn)) == 2, "the restarted gateway shows the turn from its beginning")
    where.let_go("p1", 3)
    g.await_state(turn, "final")
    equal(starts(g, turn), [False, True], "the second start is marked as resumed")


def stopped(server, g, runners):
    """A runner is stopped until it counts as lost, and then continues."""
    turn, where = begun(server, g, runners, "id=z1 tools=1 gated", conversation="still")
    where.process.send_signal(signal.SIGSTOP)
    where.let_go("z1", 2)
    g.await_state(turn, "error")
    until(lambda: kinds(g, turn)[-1:] == ["done"], "a turn of a stopped host ends")
    equal(ends(g, turn), ["host_lost"], "its host counts as lost")
    where.process.send_signal(signal.SIGCONT)
    late = until(lambda: g.turn(turn).get("late_result"), "the continued host reports its result")
    ok(late.startswith("Answer z1"), "the result is the late result of the turn", late)
    equal((g.turn(turn)["state"], ends(g, turn)), ("error", ["host_lost"]), "the turn has no second outcome")
    ok(kinds(g, turn)[-1] == "done", "no event follows the end")
    until(lambda: where.knows(turn).get("late_result") == late, "the other host has the late result")
    until(lambda: not agents(where), "no agent is left")
    after = g.begin("id=z2", conversation="still")["id"]
    g.await_state(after, "final")
    until(lambda: kinds(g, after)[-1:] == ["done"], "the next turn of the conversation ends")
    equal((kinds(g, after)[0], notices(g, after).count("late_result")), ("start", 1), "the next turn has the notice once")
    equal(where.metric("turncast_turns_late_total"), 1, "the host that ran the turn counts the late result")
    where.await_bus()


def fenced(server, g, runners):
    """Another publisher takes over the events of a turn: its host ends the agent."""
    turn, where = begun(server, g, runners, "id=f1 tools=2 gated", conversation="fence")
    run = turn[:14] + "r" + turn[15:]
    rogue = server.client()
    subject = f"tc.ev.{where.name}.{run}"

    def last():
        m = rogue.request("$JS.API.DIRECT.GET.TC_EV", json.dumps({"last_by_subj": subject}))
        return json.loads(m.data.split(b"\n")[0])["last"] if m.data else 0

    until(last, "its first events are stored")
    head = {"v": 1, "from": {"host": "h9", "boot": "rogue", "n": 1}, "after": last(), "last": last() + 1}
    event = {"type": "narration", "payload": {"text": "Of another publisher."}, "ts": 1.5, "correlation_id": run,
             "seq": last() + 1}
    stored = rogue.request(subject, f"{json.dumps(head)}\n{json.dumps(event)}\n").json()
    ok("seq" in stored, "the server has the event of the other publisher", stored)
    rogue.close()
    where.let_go("f1", 1)
    until(lambda: "another publisher has taken its events over; ending its agent" in where.log(), "the log of the host reports the takeover")
    until(lambda: not agents(where), "the host has ended the agent")
    g.await_state(turn, "error", "cancelled")
    until(lambda: kinds(g, turn)[-1:] == ["done"], "the turn ends")
    equal(kinds(g, turn).count("done"), 1, "once")


def dies_before_its_claim(server, g, runners):
    """A runner takes a message from the queue and is killed before it has written that it begins the turn."""
    thief = server.client()

    def queued():
        return json.loads(thief.request("$JS.API.STREAM.INFO.TC_WORK", "").data)["state"]["messages"]

    until(lambda: queued() == 0, "no earlier turn is in the queue")
    for r in runners.values():
        r.stop()
    turn = g.begin("id=q1")["id"]
    until(lambda: queued() == 1, "a turn waits in the queue")
    thief.publish("$JS.API.CONSUMER.MSG.NEXT.TC_WORK.any-main", json.dumps({"batch": 1}), f"{thief.inbox}.taken")
    taken = thief.next(30, "tc.work.any.main")
    ok(taken and turn.encode() in taken.data, "a host takes the turn")
    thief.close()
    for r in runners.values():
        r.start()
        r.await_bus()
    short_redelivery(server)
    g.await_state(turn, "final")
    ok(runs(server, turn) in runners, "another host runs the turn after the first one is lost")
    until(lambda: kinds(g, turn)[-1:] == ["done"], "the turn is shown to its end")
    equal(ends(g, turn), [None], "it has one outcome")


def chat_is_told(server, g, runners, people):
    """Notices about a conversation are shown in its chat, in the events of its connector."""
    first = people.ask(0, "m1", "tools=1")
    until(lambda: outcomes(people, first), "a user is answered")

    def turn_of(word):
        return next((e["correlation_id"] for e in told(g) if e["type"] == "start" and word in e["payload"]["task"]), None)

    where = runners[runs(server, turn_of("id=m1"))]
    people.fake.control("message", {"from": people.ids[0], "text": "/new"})
    anew = people.ask(0, "m4", "tools=1")
    until(lambda: outcomes(people, anew), "the user is answered after /new")
    equal(runs(server, turn_of("id=m4")), where.name, "the same host answers")
    ok(session(g, turn_of("id=m4")) != session(g, turn_of("id=m1")), "the turn has a new session")
    where.stop()
    second = people.ask(0, "m2", "tools=1")
    until(lambda: outcomes(people, second), "the user is answered after the host of the conversation was lost")
    turn = turn_of("id=m2")
    until(lambda: kinds(g, turn)[-1:] == ["done"], "another host answers")
    equal((notices(g, turn), kinds(g, turn).count("start")), (["session_moved"], 1), "the notice about the move follows the start")
    other = next(r for r in runners.values() if r is not where)
    other.stop()
    third = people.ask(1, "m3", "tools=1")
    until(lambda: turn_of("id=m3"), "a turn without a host is shown after 30 seconds")
    turn = turn_of("id=m3")
    equal(notices(g, turn), ["bus_wait"], "the notice has the reason")
    for r in (where, other):
        r.start()
        r.await_bus()
    until(lambda: outcomes(people, third), "the turn is answered when a host is there")
    until(lambda: kinds(g, turn)[-1:] == ["done"], "the turn is shown to its end")
    equal((kinds(g, turn).count("start"), notices(g, turn)), (1, ["bus_wait", "bus_begun"]), "the turn has started once")
    begun = next(e for e in events(g, turn) if e["payload"].get("code") == "bus_begun")
    said = begun["payload"].get("x", {})
    equal((said.get("model"), said.get("task")), ("talker-1", None), "the data of the agent's start is shown when it begins")
    equal(begun["session_id"], session(g, turn), "the start has the session")
    equal([len(outcomes(people, q)) for q in (first, second, third)], [1, 1, 1], "each message has one answer")


def cut_while_stored():
    """The connection breaks while the servers are given a message of a person whose conversation is at home on
    another host: its gateway does not know whether they have it, and leaves the turn to that host. On servers that
    have no position of another bot."""
    with natsd.NatsServer() as server, Fake("telegram") as fake:
        cable = natsd.Cable(server.port)
        people = TelegramPeople(fake, 1)
        with Member("g4", cable.url(), hosts=["r4"], bus=GATEWAY, instances=telegram(fake, allow=people.ids)) as g, \
                Member("r4", server.url(), hosts=["r4"]) as r:
            for host in (g, r):
                host.await_bus()
            first = people.ask(0, "w1", "tools=1")
            until(lambda: outcomes(people, first), "a conversation is at home on a runner")
            cable.cut_at(b"PUB tc.turn.new.tg.")
            second = people.ask(0, "w2", "tools=1")
            until(lambda: -2 in pids(g), "a turn is for another host, which may know of it")
            equal(cable.open, False, "the gateway has no connection")
            cable.mend()
            until(lambda: outcomes(people, second), "the turn is answered when the gateway is connected again")
            equal([len(outcomes(people, q)) for q in (first, second)], [1, 1], "once")
            equal((g.stop(), r.stop()), (0, 0), "both hosts end as they should")


def pids(host):
    """What the journal has in the place of an agent's PID, of each turn that runs."""
    with contextlib.closing(sqlite3.connect(f"file:{host.state}/state.db?mode=ro", uri=True)) as db:
        return [pid for (pid,) in db.execute("select agent_pid from turn where state = 'running'")]


def cut_off(server, loss):
    """A host that runs turns of others loses the servers, and no one else does."""
    cable = natsd.Cable(server.port)
    with Member("g3", server.url(), hosts=["r3"], bus=GATEWAY) as g, \
            Member("r3", cable.url(), hosts=["r3"], bus=f'{LIMITS} on_loss = "{loss}";') as r:
        for host in (g, r):
            host.await_bus()
        turn, _ = begun(server, g, {"r3": r}, f"id={loss}1 tools=2 gated")
        cable.cut()
        r.await_bus("disconnected")
        if loss == "kill":
            until(lambda: not agents(r), "bus.on_loss = kill: the agent ends")
        g.await_state(turn, "error")
        until(lambda: kinds(g, turn)[-1:] == ["done"], "a turn ends whose host is cut off")
        equal(ends(g, turn), ["host_lost"], "which counts as lost")
        if loss == "finish":
            ok(agents(r), "bus.on_loss = finish: the agent works on")
            r.let_go(f"{loss}1", 3)
            until(lambda: not agents(r), "to its end")
        cable.mend()
        r.await_bus()
        late = until(lambda: g.turn(turn).get("late_result"), "its result is told when the host is back")
        wanted = "Answer finish1" if loss == "finish" else "The turn was stopped because the host that ran it lost"
        ok(late.startswith(wanted), f"bus.on_loss = {loss}: {late}")
        equal(ends(g, turn), ["host_lost"], "the turn has one outcome")
        equal((g.stop(), r.stop()), (0, 0), "both hosts end as they should")


def noted_away(host):
    """When the journal has last noted that a conversation is at home on another host."""
    with contextlib.closing(sqlite3.connect(f"file:{host.state}/state.db?mode=ro", uri=True)) as db:
        return db.execute("select max(at) from kv where key glob 'away:*'").fetchone()[0]


def alone(server, loss):
    """A gateway that runs agents itself, too, loses the servers."""
    hosts = ["b1", "b2"]
    strict = f'{LIMITS} on_loss = "{loss}";'
    with Member("b1", server.url(), hosts=hosts, bus=strict, agent="slots = 1;") as b, \
            Member("b2", server.url(), hosts=hosts) as other:
        b.await_bus()
        other.await_bus()
        first = b.begin("id=b1 tools=1 gated", conversation="own")["id"]
        until(lambda: "start" in kinds(b, first), "a turn runs on its own host")
        moved = b.begin("id=b2", conversation="other")["id"]
        b.await_state(moved, "final")
        equal((runs(server, first), runs(server, moved)), (None, "b2"), "and one on another, for which there was no slot")
        noted = until(lambda: noted_away(b), "the journal has where that conversation is at home")
        again = b.begin("id=b3", conversation="other")["id"]
        b.await_state(again, "final")
        until(lambda: noted_away(b) > noted, "and has it anew with each turn, so it is not forgotten")
        b.let_go("b1", 2)
        b.await_state(first, "final")
        server.kill()
        b.await_bus("disconnected")
        if loss == "finish":
            here = b.begin("id=b4", conversation="own")["id"]
            b.await_state(here, "final")
            equal(session(b, here), session(b, first), "without the servers a conversation goes on at its host")
            new = b.begin("id=b5", conversation="new")["id"]
            b.kill()
            b.start()
            here = b.begin("id=b6", conversation="own")["id"]
            b.await_state(here, "final")
            equal(session(b, here), session(b, first), "also when that was started again")
            waits = b.begin("id=b7", conversation="other")["id"]
        else:
            until(lambda: b.bus().get("for_ms", 0) >= 1100, "the servers are away for bus.lost_after_s")
            new, waits = None, b.begin("id=b7", conversation="own")["id"]
        b.await_state(waits, "running")
        until(lambda: "bus_wait" in notices(b, waits), f"bus.on_loss = {loss}: a turn waits, and says so")
        equal((kinds(b, waits)[0], agents(b)), ("start", []), "behind its start; no agent has begun it")
        if new:
            equal((b.turn(new)["state"], kinds(b, new)), ("waiting", []), "a conversation that no host has had waits, too")
        server.start()
        b.await_bus()
        b.await_state(waits, "final")
        equal(session(b, waits), session(b, moved if loss == "finish" else first),
              "it goes on in its session when the servers are back")
        equal(kinds(b, waits).count("start"), 1, "it starts once")
        if new:
            b.await_state(new, "final")
            equal(kinds(b, new).count("start"), 1, "and the new conversation begins")
        equal((b.stop(), other.stop()), (0, 0), "both hosts end as they should")


def three_hosts(server, fake):
    people = TelegramPeople(fake, 4)
    with Member("g1", server.url(), hosts=RUN, bus=GATEWAY, instances=telegram(fake, allow=people.ids)) as g, \
            Member("r1", server.url(), hosts=RUN) as r1, Member("r2", server.url(), hosts=RUN) as r2:
        both = {"r1": r1, "r2": r2}
        try:
            for host in (g, r1, r2):
                host.await_bus()
            dies_before_it_is_stored(server, g)
            cancelled_before_it_is_stored(server, g)
            dies_while_it_runs(server, g, both)
            dies_before_its_claim(server, g, both)
            fenced(server, g, both)
            stopped(server, g, both)
            chat_is_told(server, g, both, people)
        except BaseException:
            print(g.log(), r1.log(), r2.log())
            raise
        equal((g.stop(), r1.stop(), r2.stop()), (0, 0, 0), "all hosts exit with status 0")


PARTS = {"hosts": lambda server, fake: three_hosts(server, fake),
         "finish": lambda server, _: cut_off(server, "finish"), "kill": lambda server, _: cut_off(server, "kill"),
         "alone": lambda server, _: alone(server, "finish"), "strict": lambda server, _: alone(server, "kill"),
         "stored": lambda *_: cut_while_stored()}

if not skip_without_server():
    with natsd.NatsServer() as nats, Fake("telegram") as bot:
        for name, run in PARTS.items():
            if name in (sys.argv[1:] or PARTS):
                run(nats, bot)
    done()
