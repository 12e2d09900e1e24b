#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns on other hosts when something fails at a bad moment: gateways and runners that die, stop or are cut
off before or while a turn runs."""
import json
import os
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from bus import Member, done, equal, natsd, ok, skip_without_server, until  # noqa: E402
from people import TelegramPeople, messages, outcomes  # noqa: E402
from talk import Fake, telegram  # noqa: E402
from work import agents, events, kinds, runs, session  # noqa: E402

ACK_WAIT_S = 5


def short_redelivery(server):
    """The queue gives a message to another host when it has heard nothing of it for five seconds."""
    client = server.client()
    for name in ("any-main", "host-r1", "host-r2"):
        info = json.loads(client.request(f"$JS.API.CONSUMER.INFO.TC_WORK.{name}", "").data)
        config = dict(info["config"], ack_wait=ACK_WAIT_S * 10**9)
        body = json.dumps({"stream_name": "TC_WORK", "config": config})
        answer = json.loads(client.request(f"$JS.API.CONSUMER.DURABLE.CREATE.TC_WORK.{name}", body).data)
        ok("error" not in answer, f"the consumer {name} redelivers early", answer)
    client.close()


def starts(host, turn):
    """Whether each start event of the turn says that a part of it was told before."""
    return [e["payload"].get("resumed", False) for e in events(host, turn) if e["type"] == "start"]


def ends(host, turn):
    """Its outcomes: the code of an error, or None for an answer."""
    return [e["payload"].get("code") for e in events(host, turn) if e["type"] in ("final", "error")]


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


def begun(server, g, runners, words, **more):
    """A turn that runs, and the host on which."""
    turn = g.begin(words, **more)["id"]
    until(lambda: runs(server, turn) and "start" in kinds(g, turn), f"a turn runs: {words}")
    return turn, runners[runs(server, turn)]


def dies_before_its_claim(server, g, runners):
    """A runner takes a message of the queue and dies before it has written that it begins the turn."""
    thief = server.client()
    for r in runners.values():
        r.stop()
    turn = g.begin("id=q1")["id"]
    until(lambda: json.loads(thief.request("$JS.API.STREAM.INFO.TC_WORK", "").data)["state"]["messages"] == 1,
          "a turn waits in the queue")
    thief.publish("$JS.API.CONSUMER.MSG.NEXT.TC_WORK.any-main", json.dumps({"batch": 1}), f"{thief.inbox}.taken")
    taken = thief.next(30, "tc.work.any.main")
    ok(taken and turn.encode() in taken.data, "a host takes it")
    thief.close()
    for r in runners.values():
        r.start()
        r.await_bus()
    short_redelivery(server)
    g.await_state(turn, "final")
    ok(runs(server, turn) in runners, "another host runs it when the first one is not heard of any more")
    until(lambda: kinds(g, turn)[-1:] == ["done"], "to its end")
    equal(ends(g, turn), [None], "it has one outcome")


def fenced(server, g, runners):
    """Another publisher has the events of a turn: its host ends the agent."""
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
    rogue.publish(subject, f"{json.dumps(head)}\n{json.dumps(event)}\n")
    rogue.close()
    where.let_go("f1", 1)
    until(lambda: "another publisher has taken its events over; ending its agent" in where.log(), "its host says so")
    until(lambda: not agents(where), "and has ended the agent")
    g.await_state(turn, "error", "cancelled")
    until(lambda: kinds(g, turn)[-1:] == ["done"], "the turn ends")
    equal(kinds(g, turn).count("done"), 1, "once")


def stopped(server, g, runners):
    """A runner stands still for so long that it counts as lost, and goes on then."""
    turn, where = begun(server, g, runners, "id=z1 tools=1 gated", conversation="still")
    where.process.send_signal(signal.SIGSTOP)
    where.let_go("z1", 2)
    g.await_state(turn, "error")
    until(lambda: kinds(g, turn)[-1:] == ["done"], "a turn ends whose host stands still")
    equal(ends(g, turn), ["host_lost"], "its host counts as lost")
    where.process.send_signal(signal.SIGCONT)
    until(lambda: where.metric("turncast_turns_late_total") == 1, "its result comes too late when the host goes on")
    until(lambda: not agents(where), "no agent is left")
    equal((g.turn(turn)["state"], ends(g, turn)), ("error", ["host_lost"]), "and it has no second outcome")
    after = g.begin("id=z2", conversation="still")["id"]
    g.await_state(after, "final")
    where.await_bus()


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
                dies_before_its_claim(nats, gate, both)
                fenced(nats, gate, both)
                stopped(nats, gate, both)
            except BaseException:
                print(gate.log(), r1.log(), r2.log())
                raise
            equal((gate.stop(), r1.stop(), r2.stop()), (0, 0, 0), "all hosts end as they should")
    done()
