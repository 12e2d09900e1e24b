#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two hosts on one bus, each with its own store: both continue a conversation in one session, but never at
once, also when a host is killed, when the bus is down, and when it has lost its data. Each agent records when
it ran."""
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "api"))

from bus import Member, done, equal, natsd, ok, skip_without_server, until  # noqa: E402
from door import http_group  # noqa: E402
from lives import Completion, Lives, begin_gated, let_go, locked_agent  # noqa: E402

TTL_S = 5
BUCKET = {"name": "KV_tc_host", "subjects": ["$KV.tc_host.>"], "retention": "limits", "storage": "file",
          "allow_direct": True, "discard": "new", "max_age": TTL_S * 10**9, "max_msgs_per_subject": 1,
          "duplicate_window": TTL_S * 10**9}


def own_states(host):
    return [t["state"] for t in host.turns()
            if t.get("host", host.name) == host.name and t["state"] in ("waiting", "running")]


def waits(host, text, conversation, what):
    turn = Completion(host, text, conversation)
    until(lambda: own_states(host) == ["waiting"], what)
    return turn


def session_of(turn, what):
    """The session of the agent that answered."""
    return turn.succeeds(what).split(" of ")[1].split(":")[0]


def together(a, b, folder, lives, _cable, _nats):
    asked = [Completion(host, f"id={name}{i}", "chat") for i in range(3) for name, host in (("a", a), ("b", b))]
    said = [c.succeeds(c.text) for c in asked]
    ok(all(said), "messages to both hosts: each was answered", said)
    lives.check(len(lives.intervals()), "messages to both hosts")
    first = begin_gated(a, folder, "one", "chat")
    second = waits(b, "id=two", "chat", "the turn of the other host waits")
    let_go(folder, "one")
    found = [session_of(first, "the first"), session_of(second, "the second")]
    equal(found[0], found[1], "both answers are from one session")
    equal(session_of(Completion(a, "id=three", "chat"), "the first host again"), found[0], "the first host again")
    lives.check(3, "turns one after another")


def told(a, _b, _folder, _lives, _cable, _nats):
    """The commands for operators show what is shared."""
    shared = "visibility, locks and sessions of conversations by the bus"
    for words in ("status", "check", "doctor"):
        ok(shared in a.run(words)[1], f"turncast {words} shows what is shared, and by what")


def killed(a, b, folder, lives, _cable, _nats):
    first = begin_gated(a, folder, "dies", "killed")
    second = waits(b, "id=after", "killed", "the other host waits")
    a.kill()
    second.succeeds("the other host after the killed host is lost")
    first.result()
    lives.check(2, "a host that was killed")
    a.start()
    a.await_bus()
    first = begin_gated(a, folder, "dies2", "killed")
    a.kill()
    a.start()
    a.await_bus()
    Completion(a, "id=own", "killed").succeeds("the lock of the earlier process of the host")
    first.result()
    Completion(b, "id=other", "killed").succeeds("the other host takes the lock afterwards")
    lives.check(3, "a host that takes its own lock again")


def cut(a, b, folder, lives, cable, _nats):
    """A host without a connection finishes its turns and continues conversations with the last state it knew."""
    first = begin_gated(a, folder, "cut", "cut")
    cable.cut()
    a.await_bus("disconnected")
    second = waits(b, "id=second", "cut", "the other host waits while the first one is cut off")
    let_go(folder, "cut")
    first.succeeds("a turn during which the connection was lost")
    Completion(a, "id=mine", "cut").succeeds("the next message to the host that had the conversation last")
    cable.mend()
    a.await_bus()
    second.succeeds("the other host after the first one is back")
    lives.check(3, "a host that was cut off")
    cable.cut()
    a.await_bus("disconnected")
    unknown = waits(a, "id=unknown", "new", "without its connection, a conversation that it never had waits")
    cable.mend()
    unknown.succeeds("the waiting message")
    lives.check(1, "a conversation that waited for the bus")


def lost(a, b, folder, lives, cable, _nats):
    """A host is disconnected longer than lost_after_s: the session of the turn that it still runs is not stored."""
    first = begin_gated(a, folder, "lost", "lost")
    cable.cut()
    a.await_bus("disconnected")
    Completion(b, "id=instead", "lost").succeeds("the other host after the first one is lost")
    cable.mend()
    a.await_bus()
    first.fails("lock_lost", "the turn of a host that was lost")
    let_go(folder, "lost")
    Completion(a, "id=again", "lost").succeeds("the host that is back continues the session of the other one")
    lives.path.write_text("")


def emptied(a, b, folder, lives, _cable, nats):
    """The servers lose their data while a turn runs."""
    first = begin_gated(a, folder, "empty", "empty")
    nats.kill()
    nats.forget()
    nats.start()
    b.await_bus()
    second = waits(b, "id=next", "empty", "the other host waits behind a turn that the servers have forgotten")
    a.await_bus()
    let_go(folder, "empty")
    first.succeeds("the running turn")
    second.succeeds("the turn of the other host")
    lives.check(2, "servers that have lost their data")


def alone(url, nats, folder, lives):
    """A host that has never seen another one starts turns without a connection."""
    with member("alone", url, folder) as host:
        host.await_bus()
        nats.kill()
        host.await_bus("disconnected")
        Completion(host, "id=x", "solo").succeeds("a conversation without the bus")
        nats.start()
        host.await_bus()
        Completion(host, "id=y", "solo").succeeds("a conversation with the bus")
    lives.check(2, "a host alone")


def member(name, url, folder, lost_s=60):
    return Member(name, url, bus=f"lost_after_s = {lost_s};", agents=locked_agent(folder), http=http_group())


def short_leases(nats):
    """Creates the bucket with leases of five seconds, so that no test waits long."""
    client = nats.client()
    client.api("STREAM.CREATE.KV_tc_host", BUCKET)
    client.close()


def both(cases, lost_s):
    with tempfile.TemporaryDirectory(prefix="turncast-lock.") as name, natsd.NatsServer() as nats:
        folder = pathlib.Path(name)
        short_leases(nats)
        lives, cable = Lives(folder / "lives"), natsd.Cable(nats.port)
        with member("a", cable.url(), folder, lost_s) as a, member("b", nats.url(), folder, lost_s) as b:
            for host in (a, b):
                host.await_bus()
            until(lambda: all("1 other host" in h.log() for h in (a, b)), "the hosts know each other")
            for case in cases:
                case(a, b, folder, lives, cable, nats)


def main():
    both([together, told, cut, emptied], 60)
    both([killed, lost], 3)
    with tempfile.TemporaryDirectory(prefix="turncast-lock.") as name, natsd.NatsServer() as nats:
        folder = pathlib.Path(name)
        alone(nats.url(), nats, folder, Lives(folder / "lives"))
    done()


if not skip_without_server():
    main()
