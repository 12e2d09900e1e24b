#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two hosts on one bus: each shows, answers and cancels the turns of the other."""
import http.client
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import door  # noqa: E402
from bus import Member, done, equal, natsd, ok, skip_without_server, until  # noqa: E402


def shown(a, b):
    """A page on b shows a turn of a: the list of turns, its events from any position on, its outcome."""
    listed = b.follow("/turns/events")
    turn = a.begin("id=s1 tools=3 gated")["id"]
    first = {}
    while first.get("id") != turn:
        first = listed.json()
    equal((first["host"], first["agent"], first["task"]), ("h1", "main", "id=s1 tools=3 gated"),
          "the list of turns on the other host has the turn and its host")
    ok("host" not in a.turn(turn), "the host of the turn shows no host name")
    b.knows(turn, "running")
    live = b.follow(f"/turns/{turn}/events")
    begun = live.next()
    equal((begun[0], json.loads(begun[2])["type"]), (1, "start"), "events arrive while the turn runs")
    half = a.follow(f"/turns/{turn}/events")
    seen = [half.next() for _ in range(3)]
    half.close()
    later = b.follow(f"/turns/{turn}/events", Last_Event_ID=str(seen[-1][0]))
    a.let_go("s1", 4)
    rest = later.rest()
    all_a = a.all_events(turn)
    equal([e[0] for e in seen] + [e[0] for e in rest], [seq for seq, _ in all_a],
          "a client continues at the other host without a gap or a repetition")
    equal([(begun[0], begun[2])] + [(i, d) for i, _, d in live.rest()], all_a,
          "both hosts show the same bytes, without hidden events")
    equal(b.all_events(turn), all_a, "both hosts show the same bytes after the end")
    b.await_state(turn, "final")
    equal(b.turn(turn)["answer"], a.turn(turn)["answer"], "the other host has the answer")
    equal(b.turn(turn)["usage"], a.turn(turn)["usage"], "the other host has the usage")
    listed.close()


def outcome_alone(a, b):
    """The other host shows the outcome of a turn that no client has followed there."""
    turn = a.begin("id=o1")["id"]
    b.knows(turn, "final")
    ok(b.turn(turn)["answer"].startswith("Answer o1"), "the outcome is fetched on request")
    equal(b.status("GET", f"/turns/{turn}", key="bob"), 404, "a key that may not see the turn gets 404")
    equal(b.status("GET", "/turns/00000000-0000-4000-8000-000000000000", key="ann"), 404,
          "an unknown turn is unknown on every host")


def chat(port, prompt, retry=0):
    """Requests a streamed chat completion, and returns the connection."""
    body = {"model": "main", "stream": True, "messages": [{"role": "user", "content": prompt}]}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("POST", "/v1/chat/completions", json.dumps(body),
                       {"Authorization": f"Bearer {door.secret('ann')}", "Content-Type": "application/json",
                        "X-Stainless-Retry-Count": str(retry)})
    return connection


def states(host, prompt):
    return [t["state"] for t in host.turns() if t["task"] == prompt]


def chat_again(a, b):
    """A client whose host does not answer repeats its request at the other host: it joins the running turn."""
    joined, left = "id=c1 tools=1 gated", "id=c2 tools=1 gated"
    clients = [chat(a.port, joined), chat(a.port, left)]
    for prompt in (joined, left):
        until(lambda: states(b, prompt) == ["running"], "the other host knows the turn of the chat completion")
    second = chat(b.port, joined, retry=1)
    answer = second.getresponse()
    equal(answer.status, 200, "the other host accepts the repeated request")
    answer.readline()
    for client in clients:
        client.close()
    until(lambda: states(a, left) == ["cancelled"], "a turn without a client is cancelled")
    equal(states(a, joined), ["running"], "a turn with a client on another host continues")
    a.let_go("c1", 2)
    text = answer.read().decode()
    ok("Answer c1" in text and text.rstrip().endswith("[DONE]"), "the client gets the answer from the other host", text[-300:])
    until(lambda: states(b, joined) == ["final"], "the turn has ended")
    equal(states(a, joined), ["final"], "there is one turn")
    second.close()


def asking(a, b, prompt):
    turn = a.begin(prompt, agent="asker")["id"]
    until(lambda: b.turn(turn).get("requests"), "the other host knows the request")
    return turn, b.turn(turn)["requests"][0]


def answered(a, b):
    turn, request = asking(a, b, "run=df -h /srv")
    equal((request["tool"], request["subject"], request["turn"]), ("Bash", "df -h /srv", turn), "the turn has the request")
    equal([r["id"] for r in json.loads(b.ask("GET", "/requests", key="ann")[2])["requests"]], [request["id"]],
          "the list of requests has the request")
    path = f"/turns/{turn}/requests/{request['id']}"
    status, _, text = b.ask("POST", path, key="ann", body={"choice": "nonsense"})
    equal(status, 400, "the host of the turn refuses an unknown choice")
    equal(b.status("POST", f"/turns/{turn}/requests/nothing", key="ann", body={"choice": "deny"}), 404,
          "an unknown request is not found")
    equal(b.status("POST", path, key="eve", body={"choice": "deny"}), 403, "the grant is checked on the host with the key")
    status, _, text = b.ask("POST", path, key="ann", body={"choice": "allow"})
    equal((status, json.loads(text)["decision"]), (200, "allow"), "a request is answered from the other host")
    a.await_state(turn, "final")
    b.await_state(turn, "final")
    lines = [json.loads(line) for _, line in b.all_events(turn)]
    ok(any(e["type"] == "request" and e["payload"].get("by") == "ann" for e in lines), "clients see who decided")
    status, _, text = b.ask("POST", path, key="ann", body={"choice": "deny"})
    equal((status, json.loads(text)["error"]["code"]), (409, "decided"), "a late decision is refused")
    turn, request = asking(a, b, "run=ls /tmp")
    status, text = b.run("answer", "--list")
    ok(status == 0 and "ls /tmp" in text, "turncast answer lists the request on the other host", text)
    status, text = b.run("answer", request["id"], "deny")
    equal(status, 0, f"turncast answer decides the request: {text}")
    a.await_state(turn, "final", "error")


def cancelled(a, b):
    turn = a.begin("id=x1 hang")["id"]
    b.knows(turn, "running")
    status, _, text = b.ask("POST", f"/turns/{turn}/cancel", key="ann")
    equal((status, json.loads(text)["id"]), (202, turn), "a turn is cancelled from the other host")
    a.await_state(turn, "cancelled")
    b.await_state(turn, "cancelled")
    status, _, text = b.ask("POST", f"/turns/{turn}/cancel", key="ann")
    equal((status, json.loads(text)["error"]["code"]), (409, "over"), "a second cancel is refused")
    blocks = a.begin("id=x2 hang", conversation="x")["id"]
    waits = a.begin("id=x3", conversation="x")["id"]
    b.knows(blocks, "running")
    b.knows(waits, "waiting")
    live = b.follow(f"/turns/{waits}/events")
    equal(b.status("POST", f"/turns/{waits}/cancel", key="ann"), 202, "a waiting turn is cancelled from the other host")
    equal(live.rest(), [], "a follower of the waiting turn reads the end")
    status, text = b.run("cancel", blocks)
    equal(status, 0, f"turncast cancel cancels a turn of another host: {text.strip()}")
    b.await_state(blocks, "cancelled")


def told(a, b):
    """The output of the commands for operators."""
    status, text = b.run("hosts")
    ok(status == 0 and "h1 " in text and "h2 " in text and "(this host)" in text, "turncast hosts lists both", text)
    status, text = a.run("status")
    ok("bus" in text and "active" in text and "as h1" in text, "turncast status shows the bus", text)
    ok(a.metric("turncast_bus_up") == 1 and a.metric("turncast_bus_batches_total") > 0, "the metrics show the bus")
    equal(a.metric("turncast_bus_fenced_total"), 0, "no turn was fenced")
    ok(a.metric("turncast_bus_publish_seconds_count") >= a.metric("turncast_bus_batches_total"),
       "the metrics have the storage time of the servers")
    ok(b.metric("turncast_bus_lag_seconds_count") > 0 and b.metric("turncast_bus_lag_seconds_sum") < 600,
       "the metrics have the delay of events from the other host")
    equal(a.metric("turncast_bus_outbox_age_seconds"), 0, "no message waits to be stored")
    turns = json.loads(b.run("status", "--json")[1])["turns"]
    equal([t for t in turns if t.get("host")], [], "turncast status lists the host's own turns")
    status, text = a.run("doctor")
    ok('answers, with JetStream; this host is "h1"' in text, "turncast doctor checks the bus", text)


def gone(a, b):
    """The host of a turn is killed: the other host reports that, and shows the outcome of the turn after a restart."""
    turn = a.begin("id=g1 tools=1 gated")["id"]
    b.knows(turn, "running")
    live = b.follow(f"/turns/{turn}/events")
    seen = [live.next(), live.next()]
    a.kill()

    def refusal():
        status, _, text = b.ask("POST", f"/turns/{turn}/cancel", key="ann")
        return status, json.loads(text)["error"]["message"]

    # The NATS server may take a moment to notice that the host is dead.
    ok(until(lambda: refusal() == (503, 'The turn runs on host "h1", which is not there.'), "the refusal"),
       "the error names the missing host")
    a.start()
    a.await_bus()
    found = [json.loads(d) for _, _, d in live.rest()]
    equal([e["type"] for e in found][-3:], ["start", "error", "done"], "the end of the turn comes from the restarted host")
    equal(found[-2]["payload"]["code"], "host_restart", "the turn ended as interrupted")
    numbers = [e[0] for e in seen] + [e["seq"] for e in found]
    equal(numbers, sorted(set(numbers)), "the end follows all earlier events")
    b.await_state(turn, "error")


if not skip_without_server():
    with natsd.NatsServer() as server:
        with Member("h1", server.url()) as one, Member("h2", server.url()) as other:
            one.await_bus()
            other.await_bus()
            for test in (shown, outcome_alone, answered, cancelled, chat_again, told, gone):
                test(one, other)
            equal((one.stop(), other.stop()), (0, 0), "both hosts exit with status 0")
    done()
