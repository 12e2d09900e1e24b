#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Several hosts when something fails: publishers that come in between, NATS servers that die, stop, lose
what they had or are not what they should be, connections that are cut, and two hosts of one name."""
import contextlib
import json
import os
import pathlib
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from bus import Door, Member, done, equal, natsd, ok, skip_without_server, until  # noqa: E402


def texts(lines):
    """The texts of narration."""
    events = [json.loads(line) for line in lines]
    return [e["payload"]["text"] for e in events if e["type"] == "narration"]


def batch(turn, after, events):
    """The events of the turn as another publisher would publish them."""
    head = {"v": 1, "from": {"host": "h9", "boot": "rogue", "n": 1}, "after": after, "last": after + len(events)}
    lines = [{"type": kind, "payload": payload, "ts": 1.5, "correlation_id": turn, "seq": after + i + 1}
             for i, (kind, payload) in enumerate(events)]
    return "".join(json.dumps(x) + "\n" for x in [head, *lines])


def next_of(client, host):
    """The next batch that this host publishes, as (head, events), refused or not."""
    while m := client.next(match="tc.ev."):
        head, *events = [json.loads(line) for line in m.data.splitlines()]
        if head["from"]["host"] == host:
            return head, events
    return None, []


def fenced(server, a, b):
    """What the servers refuse is shown to nobody: another publisher takes a turn over, while the agent waits and
    all that it has told is stored."""
    turn = a.begin("id=f1 gated")["id"]
    b.knows(turn, "running")
    live = b.follow(f"/turns/{turn}/events")
    seen = live.next()
    equal((json.loads(seen[2])["type"], a.turn(turn)["last_seq"]), ("start", 1), "the other host shows what is stored")
    rogue = server.client()
    rogue.subscribe(f"tc.ev.h1.{turn}")
    rogue.publish(f"tc.ev.h1.{turn}", batch(turn, 1, [("narration", {"text": "Of the other publisher."})]))
    a.let_go("f1")
    until(lambda: a.metric("turncast_bus_fenced_total") == 1, "the host of the turn learns that it is fenced")
    head, events = next_of(rogue, "h1")
    ok(head and head["after"] == 1 and events[0]["type"] in ("step", "narration"),
       "its publish, which was refused, is seen by who listens to the subject that is published to", (head, events))
    end = [("final", {"text": "The end."}), ("done", {"reason": "completed"})]
    rogue.publish(f"tc.ev.h1.{turn}", batch(turn, 2, end))
    lines = [seen[2]] + [d for _, kind, d in live.rest() if kind == "message"]
    equal(texts(lines), ["Of the other publisher."], "the other host shows what the servers have taken")
    equal([json.loads(d)["type"] for d in lines], ["start", "narration", "final", "done"],
          "and nothing of what they have refused")
    later = [d for _, d in b.all_events(turn)]
    equal(later, lines, "also to a client that asks later")
    ok("taken this turn over" in a.log(), "the host of the turn says so in its log")
    rogue.close()


def restarted(server, a, b):
    """The server dies during a turn and is started again."""
    turn = a.begin("id=r1 tools=3 gated")["id"]
    b.knows(turn, "running")
    live = b.follow(f"/turns/{turn}/events")
    first = live.next()
    server.kill()
    until(lambda: a.bus()["state"] == "disconnected", "the host knows that the server is gone")
    equal(a.ask("GET", "/readyz", key="ann")[::2], (200, b'{"status":"ready","degraded":["bus"]}\n'),
          "a host without the bus is ready, and says what it lacks")
    a.let_go("r1", 2)
    alone = a.begin("id=r2")["id"]
    a.await_state(alone, "final")
    ok(True, "turns go on without the server")
    ok(a.metric("turncast_bus_outbox_age_seconds") > 0, "a metric tells for how long the oldest message waits")
    status, text = a.run("hosts")
    ok(status == 0 and "The bus does not answer: disconnected" in text, "turncast hosts says so", text)
    server.start()
    a.await_bus()
    a.let_go("r1", 2)
    equal([first[2]] + [d for _, _, d in live.rest()], [d for _, d in a.all_events(turn)],
          "the other host shows all of it when the server is back")
    b.knows(alone, "final")
    ok(b.turn(alone)["answer"].startswith("Answer r2"), "also what was begun and ended meanwhile")


def emptied(server, a, b):
    """The server has lost all of its data."""
    before = a.begin("id=e0")["id"]
    b.knows(before, "final")
    turn = a.begin("id=e1 tools=3 gated")["id"]
    b.knows(turn, "running")
    live = b.follow(f"/turns/{turn}/events")
    first = live.next()
    server.kill()
    server.forget()
    a.let_go("e1", 2)
    server.start()
    a.await_bus()
    b.await_bus()
    with Member("h3", server.url()) as c:
        c.await_bus()
        c.knows(turn, "running")
        a.let_go("e1", 2)
        wanted = [d for _, d in a.all_events(turn)]
        equal([first[2]] + [d for _, _, d in live.rest()], wanted, "who followed a turn misses nothing")
        equal([d for _, d in c.all_events(turn)], wanted, "a host that comes later gets all from the turn's host")
        b.knows(turn, "final")
        equal(b.turn(turn)["answer"], a.turn(turn)["answer"], "every host learns how the turn has ended")
        c.knows(before, "final")
        ok(True, "also of a turn that was over before")
    equal(a.metric("turncast_bus_dropped_total"), 0, "nothing was dropped")


def stopped(server, a, b):
    """The server is stopped (SIGSTOP): no host waits for it."""
    server.stop()
    turn = a.begin("id=w1 tools=1")["id"]
    a.await_state(turn, "final")
    ok(True, "turns go on while the server stands still")
    equal(b.status("GET", "/healthz"), 200, "and so does HTTP")
    server.go_on()
    b.knows(turn, "final")
    ok(b.turn(turn)["answer"].startswith("Answer w1"), "what was published meanwhile arrives")


def cut(server, a):
    """The connection of one host breaks, again and again, while it follows a turn."""
    cable = natsd.Cable(server.port)
    with Member("h4", cable.url()) as c:
        c.await_bus()
        turn = a.begin("id=k1 tools=6 gated")["id"]
        c.knows(turn, "running")
        live = c.follow(f"/turns/{turn}/events")
        for _ in range(3):
            cable.cut()
            until(lambda: c.bus()["state"] == "disconnected", "the connection is gone")
            a.let_go("k1", 2)
            cable.mend()
            c.await_bus()
        a.let_go("k1", 1)
        equal([d for _, _, d in live.rest()], [d for _, d in a.all_events(turn)],
              "a connection that breaks costs a viewer nothing")
        cable.cut()
        until(lambda: c.bus()["state"] == "disconnected", "the connection is gone")
        other = a.begin("id=k2 hang")["id"]
        status, _, text = c.ask("POST", f"/turns/{other}/cancel", key="ann")
        equal(status, 404, "what a host without a connection does not know it says")
        a.ask("POST", f"/turns/{other}/cancel", key="ann")


def large(a, b):
    """An event that is larger than a message may be."""
    turn = a.begin("id=l1 chars=1500000")["id"]
    b.knows(turn, "final")
    lines = [json.loads(d) for _, d in b.all_events(turn)]
    final = [e for e in lines if e["type"] == "final"]
    ok(len(final) == 1 and "bytes left out" in final[0]["payload"]["text"], "a long answer is cut in its middle")
    equal(lines[-1]["type"], "done", "and the turn ends as it should")


def filled(server, b):
    """Nothing more can be stored beside what the streams may grow to: a host that starts again uses what is there."""
    client = server.client()
    size, made, refused = 1 << 45, [], 0
    while size >= 1 << 30:
        name = f"FILL{len(made)}"
        told = client.api(f"STREAM.CREATE.{name}", {"name": name, "subjects": [f"fill.{name}"], "retention": "limits",
                                                    "storage": "file", "max_bytes": size})
        refused = told.get("error", {}).get("err_code", 0)
        made += [] if refused else [name]
        size //= 2 if refused else 1
    equal(refused, 10047, "the server has promised all of its storage")
    b.kill()
    b.start()
    b.await_bus()
    ok(True, "a host that starts again joins")
    for name in made:
        client.api(f"STREAM.DELETE.{name}")
    client.close()


def overtaken(server, b):
    """A host's entry is not renewed, though its connection holds: it does not read all turns once more, which would
    keep busy servers busy."""
    client = server.client()
    client.subscribe("$JS.API.DIRECT.GET.TC_STATE")
    client.subscribe("$KV.tc_host.h2")
    client.publish("$KV.tc_host.h2", "{}")
    until(lambda: "did not renew the entry" in b.log() or 'another host named "h2"' in b.log(), "its entry is another one")
    client.request("$JS.API.STREAM.PURGE.KV_tc_host", json.dumps({"filter": "$KV.tc_host.h2"}))
    b.await_bus()
    client.request("$JS.API.INFO")
    asked = [m for m in client.waiting if m.subject.startswith("$JS.API.DIRECT.GET.TC_STATE")]
    equal(len(asked), 0, "a host that joins again by the same connection reads no turns")
    client.close()


def narrow():
    """A server that refuses the events that hosts publish."""
    with natsd.NatsServer(f"max_payload: {64 << 10}") as server, Member("h5", server.url()) as host:
        host.await_bus("unusable")
        ok("takes messages of at most 65536 bytes; set max_payload" in host.bus()["reason"], "too small messages are refused",
           host.bus())
        turn = host.begin("id=n1 chars=200000")["id"]
        host.await_state(turn, "final")
        ok(True, "the host works alone")


def start_second(server):
    """A second host with the same name: it waits for as long as a lease can last."""
    second = Member("h1", server.url())
    second.start()
    return second


def refused_name(a, second):
    until(lambda: second.process.poll() is not None, "the second host of one name ends")
    equal(second.process.wait(), 2, "with the status of a wrong configuration")
    ok('another host named "h1" is on the bus' in second.log() and "set host.name" in second.log(),
       "and says why", second.log())
    second.process = None
    second.close()
    equal(a.bus()["state"], "active", "the first one goes on")


def wrong_stream(server):
    """A stream that exists before the host, without the setting `republish` that turncast needs."""
    client = server.client()
    client.api("STREAM.CREATE.BAD_EV", {"name": "BAD_EV", "subjects": ["bad.ev.>"], "retention": "limits",
                                        "storage": "file", "allow_direct": True, "discard": "old"})
    with Member("h5", server.url(), bus='prefix = "bad";') as c:
        c.await_bus("unusable")
        ok("stream BAD_EV has another republish than turncast needs" in c.bus()["reason"], "a stream that cannot be used is refused",
           c.bus())
        equal(c.status("GET", "/readyz", key="ann"), 200, "the host works alone meanwhile")
        status, text = c.run("doctor")
        ok("stream BAD_EV has another republish" in text, "turncast doctor says so, too", text)
        client.api("STREAM.DELETE.BAD_EV")
        c.await_bus()
        ok(True, "without it the host joins by itself")
    client.close()


def other_limits(server):
    """A stream that exists before the host, with a lower limit than turncast allows."""
    client = server.client()
    client.api("STREAM.CREATE.LESS_EV", {
        "name": "LESS_EV", "subjects": ["less.ev.>"], "retention": "limits", "storage": "file", "allow_direct": True,
        "discard": "old", "max_msgs_per_subject": 3, "republish": {"src": "less.ev.>", "dest": "less.live.>"}})
    client.close()
    with Member("h5", server.url(), bus='prefix = "less";') as a, Member("h6", server.url(), bus='prefix = "less";') as b:
        a.await_bus()
        b.await_bus()
        ok("stream LESS_EV has other limits: max_age 0 instead of 86400000000000" in a.log(), "other limits are told", a.log())
        status, text = a.run("doctor")
        ok("stream LESS_EV has other limits" in text, "by turncast doctor, too", text)
        turn = a.begin("id=m1 tools=4 ms=30")["id"]
        b.knows(turn, "final")
        equal(b.all_events(turn), a.all_events(turn), "and hosts use the stream")


OTHERS = 10000


def stored(client, stream, count):
    return until(lambda: client.request(f"$JS.API.STREAM.INFO.{stream}").json().get("state", {}).get("messages", 0) >= count,
                 f"{count} messages are in {stream}")


def crowded(server, a, b):
    """Servers that others use, too: ten thousand subjects of theirs, and as many turns of hosts that are gone."""
    client = server.client()
    client.api("STREAM.CREATE.OTHER", {"name": "OTHER", "subjects": ["other.>"], "retention": "limits", "storage": "file"})
    before = client.request("$JS.API.STREAM.INFO.TC_EV").json()["state"]["messages"]
    for n in range(OTHERS):
        client.publish(f"other.{n}", "x")
        client.publish(f"tc.ev.h0.{n}", batch(str(n), 0, [("start", {}), ("done", {"reason": "completed"})]))
    ok(stored(client, "OTHER", OTHERS), f"{OTHERS} subjects of others are in use")
    ok(stored(client, "TC_EV", before + OTHERS), f"and {OTHERS} of turns")
    with Member("h9", server.url()) as c:
        c.await_bus()
        ok(True, "a host joins")
        turn = c.begin("id=o1 tools=2 gated")["id"]
        b.knows(turn, "running")
        live = b.follow(f"/turns/{turn}/events")
        for n in range(OTHERS):
            client.publish(f"other.{n}", "y")
        c.let_go("o1", 3)
        equal([d for _, _, d in live.rest()], [d for _, d in c.all_events(turn)], "and its turn is shown on another one")
        for host in (a, b, c):
            equal((host.bus()["state"], host.metric("turncast_bus_dropped_total")), ("active", 0), f"{host.name} has lost nothing")
    client.close()


def threads(host):
    return sorted(p.read_text().strip() for p in pathlib.Path(f"/proc/{host.process.pid}/task").glob("*/comm"))


def connections(host):
    """The established TCP connections of the host, from /proc/net/tcp."""
    own = set()
    for file in pathlib.Path(f"/proc/{host.process.pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # closed since
            own.add(os.readlink(file).removeprefix("socket:[").removesuffix("]"))
    lines = pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]
    return [line for line in lines if line.split()[3] == "01" and line.split()[9] in own]


def absent(a):
    """Without the group `bus` in the configuration, no part of the bus is active."""
    with Door() as alone:
        until(alone.has_started, "the host has started")
        maps = pathlib.Path(f"/proc/{alone.process.pid}/maps").read_text()
        ok("libnats" not in maps, "a host without a bus has no libnats in memory")
        ok("tc-bus" not in threads(alone), "no thread for it")
        equal(connections(alone), [], "and no connection")
        status, text = alone.run("hosts")
        equal((status, text.strip().rsplit(": ", 1)[-1]), (1, "the configuration has no bus."), "turncast hosts says so")
        ok("bus" not in json.loads(alone.run("status", "--json")[1]), "turncast status says nothing of it")
        ok("turncast_bus" not in alone.ask("GET", "/metrics", key="ann")[2].decode(), "nor do the metrics")
    maps = pathlib.Path(f"/proc/{a.process.pid}/maps").read_text()
    ok("tc-bus" in threads(a) and "libnats" in maps and connections(a), "a host with one has all of it")


if not skip_without_server():
    with natsd.NatsServer() as nats:
        with Member("h1", nats.url()) as one, Member("h2", nats.url()) as two:
            one.await_bus()
            two.await_bus()
            twin = start_second(nats)
            wrong_stream(nats)
            other_limits(nats)
            crowded(nats, one, two)
            filled(nats, two)
            overtaken(nats, two)
            narrow()
            fenced(nats, one, two)
            large(one, two)
            cut(nats, one)
            absent(one)
            refused_name(one, twin)
            restarted(nats, one, two)
            emptied(nats, one, two)
            stopped(nats, one, two)
    done()
