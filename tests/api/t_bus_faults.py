#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Several hosts during faults: concurrent publishers, NATS servers that are killed, stopped, lose data or are
misconfigured, connections that are cut, and two hosts with one name."""
import contextlib
import json
import os
import pathlib
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from bus import Door, Member, done, equal, natsd, ok, skip_without_server, until  # noqa: E402


def texts(lines):
    """The texts of narration events."""
    events = [json.loads(line) for line in lines]
    return [e["payload"]["text"] for e in events if e["type"] == "narration"]


def batch(turn, after, events):
    """The events of the turn as another publisher would publish them."""
    head = {"v": 1, "from": {"host": "h9", "boot": "rogue", "n": 1}, "after": after, "last": after + len(events)}
    lines = [{"type": kind, "payload": payload, "ts": 1.5, "correlation_id": turn, "seq": after + i + 1}
             for i, (kind, payload) in enumerate(events)]
    return "".join(json.dumps(x) + "\n" for x in [head, *lines])


def next_of(client, host):
    """The next batch that this host publishes, as (head, events), whether refused or not."""
    while m := client.next(match="tc.ev."):
        head, *events = [json.loads(line) for line in m.data.splitlines()]
        if head["from"]["host"] == host:
            return head, events
    return None, []


def fenced(server, a, b):
    """Events that the servers refuse are not shown: another publisher takes over a turn while the agent waits
    and all of its events are stored."""
    turn = a.begin("id=f1 gated")["id"]
    b.knows(turn, "running")
    live = b.follow(f"/turns/{turn}/events")
    seen = live.next()
    equal((json.loads(seen[2])["type"], a.turn(turn)["last_seq"]), ("start", 1), "the other host shows the stored events")
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
    equal(texts(lines), ["Of the other publisher."], "the other host shows the accepted events")
    equal([json.loads(d)["type"] for d in lines], ["start", "narration", "final", "done"],
          "the other host shows no refused event")
    later = [d for _, d in b.all_events(turn)]
    equal(later, lines, "a later client sees the same events")
    ok("taken this turn over" in a.log(), "the log of the host reports the takeover")
    rogue.close()


def restarted(server, a, b):
    """The server is killed during a turn and started again."""
    turn = a.begin("id=r1 tools=3 gated")["id"]
    b.knows(turn, "running")
    live = b.follow(f"/turns/{turn}/events")
    first = live.next()
    server.kill()
    until(lambda: a.bus()["state"] == "disconnected", "the host detects the lost connection")
    equal(a.ask("GET", "/readyz", key="ann")[::2], (200, b'{"status":"ready","degraded":["bus"]}\n'),
          "a host without the bus is ready, but degraded")
    a.let_go("r1", 2)
    alone = a.begin("id=r2")["id"]
    a.await_state(alone, "final")
    ok(True, "turns continue without the server")
    ok(a.metric("turncast_bus_outbox_age_seconds") > 0, "a metric has the age of the oldest unsent message")
    status, text = a.run("hosts")
    ok(status == 0 and "The bus does not answer: disconnected" in text, "turncast hosts reports the lost connection", text)
    server.start()
    a.await_bus()
    a.let_go("r1", 2)
    equal([first[2]] + [d for _, _, d in live.rest()], [d for _, d in a.all_events(turn)],
          "the other host shows all events after the restart of the server")
    b.knows(alone, "final")
    ok(b.turn(alone)["answer"].startswith("Answer r2"), "a turn that began and ended without the server is shown")


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
        equal([first[2]] + [d for _, _, d in live.rest()], wanted, "a follower misses no event")
        equal([d for _, d in c.all_events(turn)], wanted, "a host that joins later gets all events from the host of the turn")
        b.knows(turn, "final")
        equal(b.turn(turn)["answer"], a.turn(turn)["answer"], "every host knows the end of the turn")
        c.knows(before, "final")
        ok(True, "a turn that ended before is shown")
    equal(a.metric("turncast_bus_dropped_total"), 0, "no event was dropped")


def stopped(server, a, b):
    """The server is stopped (SIGSTOP): no host waits for it."""
    server.stop()
    turn = a.begin("id=w1 tools=1")["id"]
    a.await_state(turn, "final")
    ok(True, "turns continue while the server is stopped")
    equal(b.status("GET", "/healthz"), 200, "HTTP requests are answered while the server is stopped")
    server.go_on()
    b.knows(turn, "final")
    ok(b.turn(turn)["answer"].startswith("Answer w1"), "events published while the server was stopped arrive")


def cut(server, a):
    """The connection of one host is cut repeatedly while it follows a turn."""
    cable = natsd.Cable(server.port)
    with Member("h4", cable.url()) as c:
        c.await_bus()
        turn = a.begin("id=k1 tools=6 gated")["id"]
        c.knows(turn, "running")
        live = c.follow(f"/turns/{turn}/events")
        for _ in range(3):
            cable.cut()
            until(lambda: c.bus()["state"] == "disconnected", "the connection is lost")
            a.let_go("k1", 2)
            cable.mend()
            c.await_bus()
        a.let_go("k1", 1)
        equal([d for _, _, d in live.rest()], [d for _, d in a.all_events(turn)],
              "a follower misses no event after a cut")
        cable.cut()
        until(lambda: c.bus()["state"] == "disconnected", "the connection is lost")
        other = a.begin("id=k2 hang")["id"]
        status, _, text = c.ask("POST", f"/turns/{other}/cancel", key="ann")
        equal(status, 404, "a host without a connection does not know the turn")
        a.ask("POST", f"/turns/{other}/cancel", key="ann")


def large(a, b):
    """An event that exceeds the maximum size of a message."""
    turn = a.begin("id=l1 chars=1500000")["id"]
    b.knows(turn, "final")
    lines = [json.loads(d) for _, d in b.all_events(turn)]
    final = [e for e in lines if e["type"] == "final"]
    ok(len(final) == 1 and "bytes left out" in final[0]["payload"]["text"], "a long answer is cut in the middle")
    equal(lines[-1]["type"], "done", "the turn ends with done")


def filled(server, b):
    """No stream can be created, because the storage limit is reached: a restarted host uses the existing streams."""
    client = server.client()
    size, made, refused = 1 << 45, [], 0
    while size >= 1 << 30:
        name = f"FILL{len(made)}"
        told = client.api(f"STREAM.CREATE.{name}", {"name": name, "subjects": [f"fill.{name}"], "retention": "limits",
                                                    "storage": "file", "max_bytes": size})
        refused = told.get("error", {}).get("err_code", 0)
        made += [] if refused else [name]
        size //= 2 if refused else 1
    equal(refused, 10047, "the storage limit of the server is reached")
    b.kill()
    b.start()
    b.await_bus()
    ok(True, "a restarted host joins")
    for name in made:
        client.api(f"STREAM.DELETE.{name}")
    client.close()


def overtaken(server, b):
    """The entry of a host is not renewed although its connection works: the host does not read all turns again,
    which would load busy servers."""
    client = server.client()
    client.subscribe("$JS.API.DIRECT.GET.TC_STATE")
    client.subscribe("$KV.tc_host.h2")
    client.publish("$KV.tc_host.h2", "{}")
    until(lambda: "did not renew the entry" in b.log() or 'another host named "h2"' in b.log(), "the host detects that its entry was lost")
    client.request("$JS.API.STREAM.PURGE.KV_tc_host", json.dumps({"filter": "$KV.tc_host.h2"}))
    b.await_bus()
    client.request("$JS.API.INFO")
    asked = [m for m in client.waiting if m.subject.startswith("$JS.API.DIRECT.GET.TC_STATE")]
    equal(len(asked), 0, "a host that joins again with the same connection reads no turns")
    client.close()


def narrow():
    """A server that refuses the events that hosts publish."""
    with natsd.NatsServer(f"max_payload: {64 << 10}") as server, Member("h5", server.url()) as host:
        host.await_bus("unusable")
        ok("takes messages of at most 65536 bytes; set max_payload" in host.bus()["reason"], "a max_payload that is too small is refused",
           host.bus())
        turn = host.begin("id=n1 chars=200000")["id"]
        host.await_state(turn, "final")
        ok(True, "the host works without the bus")


def start_second(server):
    """A second host with the same name: it waits as long as a lease can last."""
    second = Member("h1", server.url())
    second.start()
    return second


def refused_name(a, second):
    until(lambda: second.process.poll() is not None, "the second host with the same name exits")
    equal(second.process.wait(), 2, "the exit status is that of a wrong configuration")
    ok('another host named "h1" is on the bus' in second.log() and "set host.name" in second.log(),
       "the log has the reason", second.log())
    second.process = None
    second.close()
    equal(a.bus()["state"], "active", "the first host continues")


def wrong_stream(server):
    """A stream that exists before the host, without the setting `republish` that turncast needs."""
    client = server.client()
    client.api("STREAM.CREATE.BAD_EV", {"name": "BAD_EV", "subjects": ["bad.ev.>"], "retention": "limits",
                                        "storage": "file", "allow_direct": True, "discard": "old"})
    with Member("h5", server.url(), bus='prefix = "bad";') as c:
        c.await_bus("unusable")
        ok("stream BAD_EV has another republish than turncast needs" in c.bus()["reason"], "an unusable stream is refused",
           c.bus())
        equal(c.status("GET", "/readyz", key="ann"), 200, "the host works without the bus meanwhile")
        status, text = c.run("doctor")
        ok("stream BAD_EV has another republish" in text, "turncast doctor reports the stream", text)
        client.api("STREAM.DELETE.BAD_EV")
        c.await_bus()
        ok(True, "the host joins after the stream was deleted")
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
        ok("stream LESS_EV has other limits: max_age 0 instead of 86400000000000" in a.log(), "the log reports different limits", a.log())
        status, text = a.run("doctor")
        ok("stream LESS_EV has other limits" in text, "turncast doctor reports different limits", text)
        turn = a.begin("id=m1 tools=4 ms=30")["id"]
        b.knows(turn, "final")
        equal(b.all_events(turn), a.all_events(turn), "hosts use the stream")


OTHERS = 10000


def stored(client, stream, count):
    return until(lambda: client.request(f"$JS.API.STREAM.INFO.{stream}").json().get("state", {}).get("messages", 0) >= count,
                 f"{count} messages are in {stream}")


def crowded(server, a, b):
    """Servers with other users: ten thousand subjects of them, and as many turns of hosts that no longer exist."""
    client = server.client()
    client.api("STREAM.CREATE.OTHER", {"name": "OTHER", "subjects": ["other.>"], "retention": "limits", "storage": "file"})
    before = client.request("$JS.API.STREAM.INFO.TC_EV").json()["state"]["messages"]
    for n in range(OTHERS):
        client.publish(f"other.{n}", "x")
        client.publish(f"tc.ev.h0.{n}", batch(str(n), 0, [("start", {}), ("done", {"reason": "completed"})]))
    ok(stored(client, "OTHER", OTHERS), f"{OTHERS} other subjects are stored")
    ok(stored(client, "TC_EV", before + OTHERS), f"{OTHERS} turns are stored")
    with Member("h9", server.url()) as c:
        c.await_bus()
        ok(True, "a host joins")
        turn = c.begin("id=o1 tools=2 gated")["id"]
        b.knows(turn, "running")
        live = b.follow(f"/turns/{turn}/events")
        for n in range(OTHERS):
            client.publish(f"other.{n}", "y")
        c.let_go("o1", 3)
        equal([d for _, _, d in live.rest()], [d for _, d in c.all_events(turn)], "another host shows a turn of the new host")
        for host in (a, b, c):
            equal((host.bus()["state"], host.metric("turncast_bus_dropped_total")), ("active", 0), f"{host.name} has dropped no event")
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
        ok("tc-bus" not in threads(alone), "a host without a bus has no thread for it")
        equal(connections(alone), [], "a host without a bus has no connection")
        status, text = alone.run("hosts")
        equal((status, text.strip().rsplit(": ", 1)[-1]), (1, "the configuration has no bus."), "turncast hosts reports that there is no bus")
        ok("bus" not in json.loads(alone.run("status", "--json")[1]), "turncast status has no bus")
        ok("turncast_bus" not in alone.ask("GET", "/metrics", key="ann")[2].decode(), "the metrics have no bus")
    maps = pathlib.Path(f"/proc/{a.process.pid}/maps").read_text()
    ok("tc-bus" in threads(a) and "libnats" in maps and connections(a), "a host with a bus has thread, library and connection")


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
