#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The host that leads a webhook is killed with events that the endpoint has not accepted: the next leader posts each of
them once, when the killed host is back and stands by."""
import collections
import contextlib
import json
import os
import sqlite3
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from bus import Member, done, equal, natsd, note, ok, short_leases, skip_without_server, until  # noqa: E402
from t_lead import bot  # noqa: E402
from talk import WEBHOOK_SECRETS, Fake  # noqa: E402

TTL_S = 5
POINT = "after-request-stored"
Row = collections.namedtuple("Row", "turn lane kind state attempts in_doubt body")


def rows(host):
    """The rows of the webhook in the journal of the host, in their order."""
    with contextlib.closing(sqlite3.connect(f"file:{host.state}/state.db?mode=ro", uri=True)) as db:
        found = db.execute("select turn, lane, kind, state, attempts, in_doubt, body from outbox where conn='wh' order by pos, sub")
        return [Row(*row) for row in found]


def offers(host):
    with contextlib.closing(sqlite3.connect(f"file:{host.state}/state.db?mode=ro", uri=True)) as db:
        return db.execute("select value from kv where key = 'offer:wh'").fetchall()


def leads(host):
    return bot(host, "wh").get("stands_by") is False


class Pair:
    def __init__(self, server, fake, hosts):
        self.server, self.fake, self.hosts = server, fake, hosts
        self.count = 0

    def roles(self):
        until(lambda: [leads(h) for h in self.hosts].count(True) == 1, "one host leads the webhook")
        return sorted(self.hosts, key=leads, reverse=True)

    def refuse(self, hold=0):
        """The endpoint accepts nothing. hold: the number of requests that it does not answer at first. Few attempts are
        made meanwhile, because the connector waits longer after each attempt that was in flight when its host died."""
        if hold:
            self.fake.control("fault", {"do": "hold", "done": False, "times": hold})
        self.fake.control("fault", {"do": "answer", "status": 429, "headers": {"Retry-After": "5"}, "times": 0})

    def accept(self):
        self.fake.control("clear")

    def leave_requests(self, leader, other):
        """Turns of both hosts leave requests in the journal of the leader, which is killed then; returns the rows."""
        turns = [host.begin(f"id=w{self.count}-{n}")["id"] for n, host in enumerate((leader, other, other))]
        self.count += 1
        for host, turn in zip((leader, other, other), turns):
            host.await_state(turn, "final")

        def are_made():
            made = rows(leader)
            return {r.turn for r in made} >= set(turns) and all(r.kind == "request" for r in made) and not rows(other)

        until(are_made, "the leader has made requests of all outcomes")
        leader.kill()
        return rows(leader)

    def posted(self):
        """How often the endpoint accepted each event, without the request of a killed host that was not answered."""
        calls = [c for c in self.fake.record() if c["kind"] == "call" and c.get("done") and "fault" not in c]
        return collections.Counter(c["headers"]["webhook-id"] for c in calls)

    def accepted(self, moved, what):
        """Each event of the rows is accepted once, and nothing is left."""
        self.accept()
        names = [event_id(row) for row in moved]
        until(lambda: set(names) <= set(self.posted()), f"the endpoint gets all events {what}")
        until(lambda: not any(rows(h) for h in self.hosts), f"no request is left {what}")
        equal({n: self.posted()[n] for n in names}, dict.fromkeys(names, 1), f"each event is posted once {what}")
        until(lambda: all(json.loads(h.run("status", "--json")[1])["outbox"]["queued"] == 0 for h in self.hosts), f"no delivery is pending {what}")
        equal([offers(h) for h in self.hosts], [[], []], f"no offer is left {what}")


def event_id(row):
    """The tag of a request of the webhook is the id of the event."""
    return row.body.decode().split('"tag":"')[1].split('"')[0]


def begin(host, **environment):
    host.process = None
    host.start(**environment)
    host.await_bus()


def requests_move(pair):
    """The requests of a killed leader move to the next one, and the one that was in flight is in doubt."""
    leader, other = pair.roles()
    client = pair.server.client()
    client.subscribe("tc.h.*.send")
    pair.refuse(hold=1)
    left = pair.leave_requests(leader, other)
    until(lambda: leads(other), "the other host takes over")
    begin(leader)
    until(lambda: len(rows(other)) == len(left), "the other host has all requests")
    until(lambda: not rows(leader), "the restarted host has no request")
    moved = rows(other)
    equal([(r.turn, r.lane, r.body) for r in moved], [(r.turn, r.lane, r.body) for r in left], "the requests are unchanged, in their order")
    in_flight = [m.in_doubt for m, was in zip(moved, left) if was.state == "sending"]
    ok(in_flight and all(in_flight), "a request that was in flight is in doubt", moved)
    ok(all(m.attempts >= was.attempts for m, was in zip(moved, left)), "attempts are counted on", moved)
    sent = []
    while message := client.next(0.2, "tc.h."):
        sent.append(message)
    client.close()
    equal([m.subject for m in sent], [f"tc.h.{other.name}.send"] * len(left), "each request was sent once to the leader")
    equal([m.data for m in sent for s in WEBHOOK_SECRETS if s.encode() in m.data], [], "no secret was sent")
    pair.accepted(left, "after a restart")
    return sent


def repeated(pair, message):
    """A request that is repeated after a lost reply is stored once; a host that does not lead knows that, too."""
    leader, other = pair.roles()
    pair.refuse()
    old = b"repeated"
    head, body = message.data.split(b"\n", 1)
    name = event_id(Row(*[None] * 6, body)).encode()
    body = body.replace(name, b"x" * len(name))
    head = head.replace(b'"id":"', b'"id":"%s-' % old)
    client = pair.server.client()

    def answers(host, data):
        return client.request(f"tc.h.{host.name}.send", data).json()

    equal(answers(other, head + b"\n" + body), {"ok": False, "why": "not_leader"}, "a host that does not lead refuses a request")
    equal([answers(leader, head + b"\n" + body) for _ in range(3)], [{"ok": True}] * 3, "the leader accepts it repeatedly")
    equal(len(rows(leader)), 1, "it is stored once")
    equal(answers(leader, b"nonsense"), {"ok": False, "why": "refused"}, "nonsense is refused")
    pair.accepted([Row(*[None] * 6, body)], "when it is repeated")
    equal(answers(leader, head + b"\n" + body), {"ok": True}, "a request that was posted is known")
    client.close()
    equal(rows(leader), [], "it is not stored again")


def killed_when_stored(pair):
    """The leader leaves requests to the next leader, which is killed when it has stored one of them. Returns both hosts,
    and the rows of the requests."""
    leader, other = pair.roles()
    other.stop()
    other.start(TURNCAST_CRASH_POINT=POINT)
    other.await_bus()
    pair.refuse()
    left = pair.leave_requests(leader, other)
    until(lambda: leads(other), "the other host takes over")
    begin(leader)
    until(lambda: other.process.poll() is not None, "the new leader is killed when it has stored a request")
    return leader, other, left


def lost_reply(pair):
    """The leader is killed between storing a request and its reply, and is back at once."""
    leader, other, left = killed_when_stored(pair)
    equal((len(rows(leader)), len(rows(other))), (len(left), 1), "both hosts have a request")
    begin(other)
    until(lambda: len(rows(leader)) + len(rows(other)) == len(left), "one host has each request")
    pair.accepted(left, "after a lost reply")


def asked_before_lead(pair):
    """The same, but the host that has offered the request leads next. It asks the other one before it posts."""
    leader, other, left = killed_when_stored(pair)
    until(lambda: leads(leader), "the host that offered the request leads again")
    until(lambda: rows(leader) and rows(leader)[0].in_doubt, "the request whose reply was lost is in doubt, because nobody answers")
    equal([r.in_doubt for r in rows(leader)][1:], [r.in_doubt for r in left][1:], "the others are not in doubt for that reason")
    begin(other)
    until(lambda: not rows(other), "the other host gives its copy back")
    pair.accept()
    names = [event_id(row) for row in left]
    until(lambda: set(names) <= set(pair.posted()) and not rows(leader), "the endpoint gets all events")
    equal([pair.posted()[n] for n in names[1:]], [1] * len(names[1:]), "each event that was not in doubt is posted once")
    ok(pair.posted()[names[0]] <= 2, "the event in doubt is posted at most twice, with one id", pair.posted())


if __name__ == "__main__" and not skip_without_server():
    with natsd.NatsServer() as nats, Fake("webhook") as hooks:
        short_leases(nats, "tc_lead", TTL_S)
        hook = f'wh : {{ plugin = "webhook"; url = "http://127.0.0.1:{hooks.port}/hook"; secret = "{WEBHOOK_SECRETS[0]}"; }};'
        with Member("h1", nats.url(), instances=hook) as one, Member("h2", nats.url(), instances=hook) as two:
            one.await_bus()
            two.await_bus()
            both = Pair(nats, hooks, [one, two])
            given = requests_move(both)
            repeated(both, given[0])
            if "crash points enabled" in one.run("--version")[1]:
                lost_reply(both)
                asked_before_lead(both)
            else:
                note("built without crash points: a lost reply is not tested")
    done()
