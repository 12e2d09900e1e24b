#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns over HTTP: begin, follow, resume, cancel, queue, and the streams of followers when the host exits."""
import json
import os
import sqlite3
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from door import BUILD, LOG, Door, Stream, done, equal, http_group, ok, until  # noqa: E402

ALL = LOG + "visibility : { show_tools = true; show_thinking = true; };"
OVER = ("final", "error", "cancelled", "merged")


def lines(items):
    return [data for _, event, data in items if event == "message"]


def kinds(items):
    return [json.loads(data)["type"] for data in lines(items)]


def answer(items):
    """The text of the outcome."""
    found = [json.loads(line) for line in lines(items)]
    return next(event["payload"]["text"] for event in found if event["type"] == "final")


def ends_well(items):
    return kinds(items).count("final") == 1 and kinds(items)[-1:] == ["done"]


def written(host, turn):
    """The events of the turn in the log of the connector `log`."""
    text = host.events.read_text() if host.events.exists() else ""
    return [line for line in text.splitlines() if json.loads(line)["correlation_id"] == turn]


def test_follow(host):
    status, headers, text = host.ask("POST", "/turns", key="ann",
                                     body={"prompt": "id=live tools=5 ms=20"})
    turn = json.loads(text)
    equal(status, 202, "a turn is begun")
    equal(headers["location"], f"/turns/{turn['id']}", "the response has the address of the turn")
    ok(turn["agent"] == "main" and turn["source"] == "http" and turn["task"].startswith("id=live")
       and turn["state"] in ("waiting", "running") and turn["last_seq"] >= 0
       and 0 <= time.time() * 1000 - turn["created_ms"] < 60000, "it is told as it is", turn)
    items = host.follow(headers["location"] + "/events").rest()
    seqs = [ident for ident, _, _ in items]
    equal(seqs, list(range(1, len(seqs) + 1)), "the events are numbered by their ids")
    equal([json.loads(line)["seq"] for line in lines(items)], seqs, "the events have their own sequence numbers")
    ok(kinds(items)[0] == "start" and ends_well(items)
       and kinds(items).count("tool_call") == 5, "from start to done", kinds(items))
    until(lambda: len(written(host, turn["id"])) == len(items), "the connector has all events")
    equal(lines(items), written(host, turn["id"]), "the events are equal to those of the connector")
    over = host.await_state(turn["id"], "final")
    ok(over["tools"] == 5 and over["cost_usd"] == 0.0125 and over["last_seq"] == seqs[-1]
       and over["created_ms"] <= over["started_ms"] <= over["ended_ms"], "it is told as it was",
       over)
    equal(host.follow(headers["location"] + "/events").rest(), items, "an ended turn is streamed again")
    return turn["id"], items


def test_resume(host, turn, items):
    path = f"/turns/{turn}/events"
    for after in range(len(items) + 1):
        found = host.follow(path, Last_Event_ID=str(after)).rest()
        if found != items[after:]:
            equal(found, items[after:], f"the stream is resumed after {after}")
            break
    else:
        ok(True, "a stream is resumed after each event with exactly the rest")
    for ident in ("-1", "x", "", "1x", "99999999999999999999999", " 2"):
        found = host.follow(path, Last_Event_ID=ident).rest()
        ok(found in (items, [], items[2:]), f"an invalid id ({ident!r}) does no harm", found)
    live = host.begin("id=cut tools=30 ms=15")["id"]
    found, cuts = [], 0
    while not found or json.loads(found[-1][2])["type"] != "done":
        stream = host.follow(f"/turns/{live}/events",
                             Last_Event_ID=str(found[-1][0] if found else 0))
        for _ in range(7):
            if (item := stream.next()) is None:
                break
            found.append(item)
        stream.close()
        cuts += 1
    until(lambda: len(written(host, live)) == len(found), "the connector has all events")
    equal(lines(found), written(host, live), "a stream that is cut repeatedly has each event once")
    ok(cuts > 10, f"the stream had {cuts} connections")


def test_crowd(host):
    """A client that reads slowly delays no other client."""
    turn = host.begin("id=crowd tools=4 ms=300 chars=3000000")["id"]
    path = f"/turns/{turn}/events"
    slow = Stream(host.port, path, "ann", {}, buffer=8192)
    quick = [host.follow(path) for _ in range(20)]
    began = time.monotonic()
    all_items = [stream.rest() for stream in quick]
    ok(all(items == all_items[0] for items in all_items)
       and ends_well(all_items[0]), "20 readers get the same")
    ok(len(answer(all_items[0])) > 3000000, "the events include an outcome of three megabytes")
    ok(time.monotonic() - began < 60, "the other clients do not wait for the slow one")
    slow.widen()
    equal(slow.rest(), all_items[0], "the slow client gets all events")


def test_gap(host):
    """A turn with more events than the host keeps."""
    turn = host.begin("id=much tools=1 gated chars=9000000")["id"]
    stream = host.follow(f"/turns/{turn}/events")
    first = stream.next()
    equal(json.loads(first[2])["type"], "start", "a follower reads the first event")
    stream.close()
    host.let_go("much")
    host.await_state(turn, *OVER)
    items = host.follow(f"/turns/{turn}/events", Last_Event_ID="1").rest()
    ident, event, data = items[0]
    told = json.loads(data)
    seqs = [ident for ident, _, _ in items[1:]]
    ok(event == "gap" and told["from"] == 2 and told["to"] == ident == seqs[0] - 1,
       "what is forgotten is told first", (items[0], seqs))
    equal(kinds(items[1:])[-1], "done", "the end of the turn is kept")
    again = host.follow(f"/turns/{turn}/events", Last_Event_ID=str(ident)).rest()
    equal(again, items[1:], "a stream after the gap has no gap")


def test_list(host):
    before = [t["id"] for t in host.turns()]
    watched = host.follow("/turns/events")
    equal([watched.json()["id"] for _ in before], before, "the list begins with the existing turns")
    a = host.begin("id=a tools=1 ms=50", conversation="list")["id"]
    b = host.begin("id=b fail", conversation="list")["id"]
    states = []
    while [s for s in states if s[0] == b][-1:] != [(b, "error")]:
        t = watched.json()
        states.append((t["id"], t["state"]))
    for turn, end in ((a, "final"), (b, "error")):
        equal([s for i, s in states if i == turn], ["waiting", "running", end], "the list has each change of a turn")
    ok(states.index((a, "final")) < states.index((b, "running")),
       "the turns of a conversation run one after another", states)
    watched.close()
    equal([t["id"] for t in host.turns()], [b, a, *before], "the list has the newest first")
    equal(len(json.loads(host.ask("GET", "/turns?limit=2", key="ann")[2])["turns"]), 2, "limit=2")
    ok(host.turn(b)["code"], "an error has its code")


def test_queue(host):
    first = host.begin("id=one gated", conversation="c")
    second = host.begin("id=two", conversation="c")
    host.let_go("one")
    ok(second["state"] == "waiting" and first["id"] != second["id"], "each message has a separate turn")
    texts = []
    for turn in (first, second):
        items = host.follow(f"/turns/{turn['id']}/events").rest()
        texts.append(answer(items))
    sessions = [text.split(" of ")[1].split(":")[0] for text in texts]
    ok(sessions[0] == sessions[1] and sessions[0].startswith("talk-"),
       "the second turn continues the session of the first", texts)
    items = host.follow(f"/turns/{host.begin('id=three', key='bob', conversation='c')['id']}/events",
                        "bob").rest()
    ok(sessions[0] not in answer(items), "a conversation of another key with the same name is another conversation")


def test_agents(host):
    first = host.begin("id=main hang", conversation="both")["id"]
    host.await_state(first, "running")
    second = host.begin("id=other", conversation="both", agent="other")["id"]
    equal(host.await_state(second, *OVER)["agent"], "other",
          "a conversation of another agent with the same name is another conversation")
    equal(host.turn(first)["state"], "running", "the turn of the other agent does not wait")
    host.status("POST", f"/turns/{first}/cancel", key="ann", body={})


def test_cancel(host):
    def cancel(turn):
        return host.status("POST", f"/turns/{turn}/cancel", key="ann", body={})

    runs, *wait = [host.begin(f"id=n{i} hang", conversation="stop")["id"] for i in range(4)]
    host.await_state(runs, "running")
    followed = host.follow(f"/turns/{wait[1]}/events")
    equal(cancel(wait[1]), 202, "a waiting turn is cancelled")
    equal(host.turn(wait[1])["state"], "cancelled", "the waiting turn is cancelled at once")
    equal(followed.next(), None, "a follower of the cancelled turn reads the end")
    equal([host.turn(t)["state"] for t in (runs, wait[0], wait[2])],
          ["running", "waiting", "waiting"], "and the others go on")
    equal(cancel(wait[1]), 409, "a second cancel is refused")
    equal(cancel(wait[2]), 202, "the last waiting turn is cancelled")
    equal(cancel(runs), 202, "a running turn is cancelled")
    ok(host.await_state(runs, "cancelled"), "the running turn has the state cancelled")
    host.await_state(wait[0], "running")
    equal(cancel(wait[0]), 202, "the next turn has begun")
    host.await_state(wait[0], *OVER)
    equal(cancel(runs), 409, "the cancel of an ended turn is refused")


def test_idempotency(host):
    keyed = {"Idempotency_Key": "k-1"}
    first = host.begin("id=keyed", headers=keyed)["id"]
    equal(host.begin("id=keyed", headers=keyed)["id"], first, "the same Idempotency-Key returns the same turn")
    host.await_state(first, "final")
    equal(host.begin("id=other", headers=keyed)["id"], first, "the same Idempotency-Key returns the ended turn")
    ok(host.begin("id=keyed", key="bob", headers=keyed)["id"] != first, "the Idempotency-Key of another key is another turn")


def sessions(host):
    with sqlite3.connect(f"file:{host.state}/state.db?mode=ro", uri=True) as db:
        return [key for (key,) in db.execute("select key from kv where key like 'session:%'")]


def test_switches(host):
    turn = host.begin("/hide-tools id=quiet tools=1")["id"]
    items = host.follow(f"/turns/{turn}/events").rest()
    ok("tool_call" not in kinds(items) and "/hide" not in lines(items)[0],
       "a token in the prompt is not part of its text, and applies to followers", kinds(items))
    ok(host.turn(turn)["tools"] == 1, "the hidden tool was called")
    status, _, text = host.ask("POST", "/turns", key="ann", body={"prompt": "/show-tools"})
    ok(status == 200 and json.loads(text)["visibility"]["show_tools"] is True,
       "nothing but a switch is no turn", (status, text))


def test_end():
    host = Door(extra=LOG + "conversations : { max_turns = 2; per_user = 2; };")
    with host:
        turns = [host.begin(f"id=end{i} tools=2 gated", conversation=f"e{i}")["id"]
                 for i in range(2)]
        waits = host.begin("id=later", conversation="e9")["id"]
        gone = host.begin("id=never", conversation="e9")["id"]
        host.status("POST", f"/turns/{gone}/cancel", key="ann", body={})
        streams = [host.follow(f"/turns/{turn}/events") for turn in turns]
        for stream in streams:
            stream.next()
        listed, waiting = host.follow("/turns/events"), host.follow(f"/turns/{waits}/events")
        began = time.monotonic()
        host.process.terminate()
        until(lambda: "shutting down" in host.log(), "the host exits")
        for i in range(2):
            host.let_go(f"end{i}", 2)
        found = [stream.rest() for stream in streams]
        for items in found:
            ok(ends_well(items),
               "a running turn is continued and streamed to its end when the host exits", kinds(items))
        equal([event for _, event, _ in (listed.rest()[-1], *waiting.rest())], ["shutdown"] * 2,
              "other streams end with an event about the exit")
        equal(host.process.wait(30), 0, "the host exits with status 0")
        ok(time.monotonic() - began < 30, "soon")
        host.process = None
        host.start()
        items = host.follow(f"/turns/{waits}/events").rest()
        ok(ends_well(items), "a waiting turn runs after the restart")
        equal(host.status("GET", f"/turns/{waits}", key="ann"), 200, "the client of the waiting turn sees it")
        equal(host.status("GET", f"/turns/{waits}", key="bob"), 404, "another key does not see the waiting turn")
        equal(host.turn(gone)["state"], "cancelled", "a cancelled turn stays cancelled")


def test_deaf_end():
    """Clients that do not read do not delay the exit of the host."""
    with Door() as host:
        turn = host.begin("id=deaf chars=3500000")["id"]
        host.await_state(turn, "final")
        deaf = Stream(host.port, f"/turns/{turn}/events", "ann", {}, buffer=8192)
        lists = [host.follow("/turns/events") for _ in range(50)]
        began = time.monotonic()
        equal(host.stop(), 0, "the host exits with status 0 although clients do not read")
        ok(time.monotonic() - began < 20, "soon")
        ok(all(stream.rest() is not None for stream in lists), "the lists end")
        deaf.close()


def test_all():
    with Door(http=http_group(visibility="all")) as host:
        turn = host.begin("/hide-tools id=all tools=1")["id"]
        ok("tool_call" in kinds(host.follow(f"/turns/{turn}/events").rest()),
           "visibility = all: hidden tool calls are streamed")


def test_throwaway():
    with Door() as host:
        host.await_state(host.begin("id=thrown")["id"], "final")
        host.await_state(host.begin("id=kept", conversation="mine")["id"], "final")
        equal(host.stop(), 0, "the host exits with status 0")
        found = sessions(host)
        ok(len(found) == 1 and "mine" in found[0], "a turn without a conversation stores no session",
           found)


OTHER = f'other : {{ command = ["{BUILD}/tests/fake/talker"]; }};'
with Door(extra=ALL, agents=OTHER) as door:
    test_resume(door, *test_follow(door))
    test_crowd(door)
    test_gap(door)
    test_list(door)
    test_queue(door)
    test_agents(door)
    test_cancel(door)
    test_idempotency(door)
    test_switches(door)
    equal(door.stop(), 0, "the host exits with status 0")
test_all()
test_throwaway()
test_end()
test_deaf_end()
done()
