#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A kill of the host during turns of API clients: each turn is on disk before its client is answered, and ends
as host_restart in the logs that saw it and for the client that returns. On a full disk a client is refused."""
import http.client
import json
import os
import sqlite3
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from door import Door, done, equal, ok, secret, until, written  # noqa: E402

CHAT = {"model": "main", "messages": [{"role": "user", "content": "id=chat hang"}], "stream": True}
RUN = {
    "threadId": "t", "runId": "r", "state": {}, "tools": [], "context": [], "forwardedProps": {},
    "messages": [{"id": "m", "role": "user", "content": "id=run hang"}],
}


class Post:
    """A client whose answer is a stream of events."""

    def __init__(self, host, path, body, **headers):
        self.connection = http.client.HTTPConnection("127.0.0.1", host.port, timeout=30)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.connection.request(
            "POST", path, json.dumps(body),
            {"Content-Type": "application/json", "Authorization": f"Bearer {secret('ann')}", **named},
        )
        self.answer = self.connection.getresponse()

    def text(self):
        return self.answer.read().decode()


def turns(host):
    """source: (state, code) of each turn on disk."""
    with sqlite3.connect(f"file:{host.state}/state.db?mode=ro", uri=True) as db:
        return {source: (state, code)
                for source, state, code in db.execute("select source, state, code from turn")}


def brief(event):
    """The type of the event, with its code or reason."""
    more = event["payload"]
    return event["type"], more.get("resumed") or more.get("code") or more.get("reason")


def logged(host, turn):
    """The events of the turn in the log."""
    found = [json.loads(line) for line in written(host.events)]
    return [brief(event) for event in found if event["correlation_id"] == turn]


TOLD = [("start", True), ("error", "host_restart"), ("done", "error")]


def begin_all(host):
    """Begins a turn of each kind of client; returns the id of the first."""
    keyed = {"Idempotency_Key": "k"}
    turn = host.begin("id=turn hang", headers=keyed)["id"]
    ok("http" in turns(host), "a turn is on disk before 202")
    host.await_state(turn, "running")
    chat = Post(host, "/v1/chat/completions", CHAT, X_Request_Id="c")
    ok("openai" in turns(host), "a completion is on disk before its first byte")
    run = Post(host, "/ag-ui", RUN, Accept="text/event-stream")
    ok("ag-ui" in turns(host), "a run is on disk before its first event")
    until(lambda: [state for state, _ in turns(host).values()] == ["running"] * 3, "all turns run")
    ids = {t["source"]: t["id"] for t in host.turns()}
    until(lambda: all(logged(host, ids[source]) for source in ids), "all turns are in the log")
    return ids, (chat, run)


def check_told(host, ids):
    until(lambda: all(logged(host, turn)[-3:] == TOLD for turn in ids.values()), "the log has the end of all turns")
    for source, turn in ids.items():
        equal(logged(host, turn).count(TOLD[1]), 1, f"{source}: the log has one end")
    equal(set(turns(host).values()), {("error", "host_restart")}, "all turns ended with host_restart")


def check_clients(host, ids):
    turn = ids["http"]
    shown = host.turn(turn)
    equal((shown["state"], shown["code"], shown["source"]), ("error", "host_restart", "http"),
          "the client of the turn reads its outcome")
    equal(host.status("GET", f"/turns/{turn}", key="bob"), 404, "another key does not see the turn")
    again = host.begin("id=turn hang", headers={"Idempotency_Key": "k"})
    equal(again["id"], turn, "the same key returns the same turn")
    for after in (None, "57"):
        more = {"Last_Event_ID": after} if after else {}
        items = host.follow(f"/turns/{turn}/events", **more).rest()
        equal([brief(json.loads(item[2])) for item in items], TOLD, f"its events, after {after}")
    text = Post(host, "/v1/chat/completions", CHAT, X_Request_Id="c").text()
    ok("turncast restarted" in text, "a repeated completion returns the end", text)
    text = Post(host, "/ag-ui", RUN, Accept="text/event-stream").text()
    ok("RUN_ERROR" in text and "turncast restarted" in text, "a repeated run returns the end", text)


def test_restart():
    with Door() as host:
        ids, _ = begin_all(host)
        host.kill()
        host.start()
        check_told(host, ids)
        check_clients(host, ids)
        equal(host.stop(), 0, "the host exits with status 0")
        host.start()
        for source, turn in ids.items():
            equal(logged(host, turn).count(TOLD[1]), 1, f"{source}: the end is not logged again after another restart")


test_restart()
done()
