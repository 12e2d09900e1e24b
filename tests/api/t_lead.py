#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two hosts with the same bot: one of them leads it, the other one stands by and takes over."""
import json
import os
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from bus import Member, done, equal, natsd, note, ok, short_leases, skip_without_server, stored, until  # noqa: E402
from people import TelegramPeople, outcomes  # noqa: E402
from shown import is_marked  # noqa: E402
from talk import WEBHOOK_SECRETS, Fake, telegram  # noqa: E402

TTL_S = 5


def bot(host, name="tg"):
    status, text = host.run("status", "--json")
    found = [i for i in json.loads(text)["instances"] if i["name"] == name] if status == 0 else []
    return found[0] if found else {}


def leads(host):
    return bot(host).get("stands_by") is False


def await_leader(*hosts):
    """The host that leads, and another one."""
    found = until(lambda: [h for h in hosts if leads(h)], "one host leads the bot")
    equal(len(found), 1, "exactly one host leads the bot")
    return found[0], next(h for h in hosts if h is not found[0])


def answered(people, *questions):
    for question in questions:
        until(lambda q=question: outcomes(people, q), f"{question.id} is answered")
    equal([len(outcomes(people, q)) for q in questions], [1] * len(questions), "each message has one answer")


def elected(fake, people, a, b):
    leader, other = await_leader(a, b)
    answered(people, people.ask(0, "t1", "tools=1"))
    pollers = [v for v in fake.violations() if v["rule"] == "two-pollers"]
    equal(pollers, [], "one host polls")
    until(lambda: bot(other).get("leader") == leader.name, "the other host knows the leader")
    ok("standby" in other.run("status")[1] and f"led by host {leader.name}" in other.run("status")[1],
       "turncast status tells it", other.run("status")[1])
    until(lambda: "tg" in other.run("hosts")[1], "turncast hosts shows the leaders")
    equal([h.metric('turncast_lead{instance="tg"}') for h in (leader, other)], [1, 0], "the metrics show the leader")
    equal(other.status("GET", "/readyz", key="ann"), 200, "a host that stands by is ready")
    status, text = other.run("restart", "tg")
    ok(status != 0 and "another host runs it" in text, "turncast restart names the host that runs the instance", text)
    hooks = [other.status("POST", f"/hooks/{name}/x", body={}) for name in ("tg", "t", "tgx")]
    equal(hooks, [503, 404, 404], "a webhook request to a host that stands by is refused temporarily")
    equal(bot(other, "log").get("stands_by"), None, "an instance without a service runs on each host")
    return leader, other


def handed_over(people, leader, other):
    """A host that exits releases its leases."""
    begin = time.monotonic()
    equal(leader.stop(), 0, "the leader ends")
    until(lambda: leads(other), "the other host takes over")
    note(f"taken over {time.monotonic() - begin:.1f} s after the end began")
    answered(people, people.ask(1, "t2", "tools=1"))
    leader.start()
    leader.await_bus()
    until(lambda: bot(leader).get("leader") == other.name, "the restarted host stands by")


def drained(people, leader, other):
    """A draining host passes the bot to another one at once."""
    begin = time.monotonic()
    equal(leader.run("drain")[0], 0, "the leader drains")
    until(lambda: leads(other), "the other host takes over")
    ok(time.monotonic() - begin < TTL_S, "the other host takes over before the lease expires", time.monotonic() - begin)
    answered(people, people.ask(1, "t10", "tools=1"))
    until(lambda: bot(leader).get("leader") == other.name, "the draining host stands by, and knows the leader")
    equal(leader.run("drain", "--undo")[0], 0, "the first host works again")
    equal(other.run("drain")[0], 0, "the other one drains")
    until(lambda: leads(leader), "the first host leads again")
    answered(people, people.ask(2, "t11", "tools=1"))
    equal(other.run("drain", "--undo")[0], 0, "both hosts work")
    until(lambda: bot(other).get("leader") == leader.name, "one host leads")


def finals(hook):
    return [e["body"]["turn"] for e in hook.state()["events"] if e["body"]["type"] == "turn.final"]


def forwarded(hook, a, b):
    """The leader delivers the outcome of a turn on a host that stands by."""
    until(lambda: [bot(h, "wh").get("stands_by") for h in (a, b)].count(False) == 1, "one host leads the webhook")
    other = b if bot(a, "wh")["stands_by"] is False else a
    turns = [host.begin(f"id=w{n}")["id"] for n, host in enumerate((a, b, other))]
    until(lambda: set(turns) <= set(finals(hook)), "the webhook receives the outcomes of the turns of both hosts")
    until(lambda: json.loads(other.run("status", "--json")[1])["outbox"]["queued"] == 0, "the other host has handed over its outbox")
    equal([finals(hook).count(t) for t in turns], [1, 1, 1], "each outcome is delivered once")


def ended_elsewhere(server, people, leader, other):
    """A turn continues while its host loses the bot: the next leader delivers its answer."""
    remembered = stored(server, "mem")
    question = people.ask(3, "t6", "tools=2 gated")
    leader.let_go("t6", 1)
    until(lambda: "part 2" in "".join(m["text"] for m in people.seen(question)), "the turn shows its progress")
    until(lambda: stored(server, "mem") > remembered, "the servers have the id of the progress message")
    leader.process.send_signal(signal.SIGSTOP)
    until(lambda: leads(other), "the other host takes over")
    leader.process.send_signal(signal.SIGCONT)
    until(lambda: bot(leader).get("stands_by"), "the continued host stands by")
    leader.let_go("t6", 2)
    answered(people, question)
    until(lambda: len(people.seen(question)) == 1, "the progress message is removed")


def died(people, leader, other):
    """The leader is killed during a turn: after its restart the next leader delivers the outcome."""
    question = people.ask(3, "t7", "tools=2 gated")
    until(lambda: people.seen(question), "the turn shows its progress")
    leader.kill()
    until(lambda: leads(other), "the other host takes over")
    answered(people, people.ask(1, "t8", "tools=1"))
    leader.start()
    leader.await_bus()
    answered(people, question)
    ok("⚠" in "".join(m["text"] for m in people.seen(question)), "the turn was interrupted")
    until(lambda: json.loads(leader.run("status", "--json")[1])["outbox"]["queued"] == 0, "no delivery is pending")


def back_at_once(people, leader):
    """The leader is killed during a turn, and is restarted before its lease expires."""
    question = people.ask(3, "t9", "tools=2 gated")
    until(lambda: people.seen(question), "the turn shows its progress")
    leader.kill()
    leader.start()
    answered(people, question)
    until(lambda: leads(leader), "the restarted host leads again")


def stopped(fake, people, leader, other):
    """The leader is stopped for longer than its lease, and continues."""
    # Of another conversation than the messages that follow: the stopped host may still have its lock.
    before = people.ask(3, "t3", "tools=1")
    answered(people, before)
    since = fake.last_seq()
    leader.process.send_signal(signal.SIGSTOP)
    begin = time.monotonic()
    asked = [people.ask(n, f"t4-{n}", "tools=1") for n in range(3)]
    until(lambda: leads(other), "the other host takes over")
    took = time.monotonic() - begin
    ok(took < TTL_S + 5, "the other host takes over within the lease and 5 seconds", took)
    answered(people, *asked)
    leader.process.send_signal(signal.SIGCONT)
    until(lambda: bot(leader).get("stands_by"), "the continued host stands by")
    later = [people.ask(n, f"t5-{n}", "tools=1") for n in range(3)]
    answered(people, *later, *asked)
    # The leader may have stopped before the servers knew that it had told this one.
    again = [m["text"] for m in outcomes(people, before)[1:] if not is_marked(m["text"])]
    equal(again, [], "a repeated message is marked")
    polled = [call["headers"]["host"] for call in fake.record(since) if call.get("method") == "getUpdates"]
    taken_over = [new for old, new in zip(polled, polled[1:]) if new != old]
    ok(len(taken_over) <= 1, "the continued host never polls again, so it confirms no message of the other", taken_over)
    ok("its lease was not renewed in time" in leader.log() or "leads it now" in leader.log(), "the log of the continued host has the reason")
    ok("did not stop in time" not in leader.log(), "the log does not blame the instance")
    equal(leader.run("dead", "list")[1].strip(), "No dead letters.", "there is no dead letter")


def each(server, fake):
    """lead = false: each host runs the instance."""
    with Member("h7", server.url(), instances=telegram(fake, allow=[1000], lead=False)) as c:
        c.await_bus()
        until(lambda: bot(c).get("starting") is False, "the instance runs")
        equal(bot(c).get("stands_by"), None, "the instance has no leader")


if __name__ == "__main__" and not skip_without_server():
    with natsd.NatsServer() as nats, Fake("telegram") as bots, Fake("webhook") as hooks:
        short_leases(nats, "tc_lead", TTL_S)
        crowd = TelegramPeople(bots, 4)
        # Each host names the service otherwise, so that the record of the fake tells who polls.
        hook = f'wh : {{ plugin = "webhook"; url = "http://127.0.0.1:{hooks.port}/hook"; secret = "{WEBHOOK_SECRETS[0]}"; }};'
        has = [telegram(bots, allow=crowd.ids, api_base=f"http://{name}:{bots.port}") + hook for name in ("127.0.0.1", "localhost")]
        with Member("h1", nats.url(), instances=has[0]) as one, Member("h2", nats.url(), instances=has[1]) as two:
            one.await_bus()
            two.await_bus()
            first, second = elected(bots, crowd, one, two)
            forwarded(hooks, one, two)
            drained(crowd, first, second)
            handed_over(crowd, first, second)
            stopped(bots, crowd, second, first)
            ended_elsewhere(nats, crowd, first, second)
            died(crowd, second, first)
            back_at_once(crowd, first)
        each(nats, bots)
    done()
