#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Clients that disconnect before their turn ends: a client that returns in time joins its turn, and a turn
without a returning client is cancelled."""
import http.client
import json
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from ag_ui_run import Run, run_input  # noqa: E402
from door import Door, done, equal, http_group, secret, until  # noqa: E402

CHAT = "/v1/chat/completions"


class Chat:
    """Requests a completion without waiting for the answer."""

    def __init__(self, host, text, **headers):
        body = {"model": "main", "messages": [{"role": "user", "content": text}]}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.connection = http.client.HTTPConnection("127.0.0.1", host.port, timeout=60)
        self.connection.request(
            "POST", CHAT, json.dumps(body),
            {"Content-Type": "application/json", "Authorization": f"Bearer {secret('ann')}", **named})

    def answer(self):
        answer = self.connection.getresponse()
        return answer.status, json.loads(answer.read())

    def leave(self):
        self.connection.close()


def connections(host):
    text = host.ask("GET", "/metrics", key="ann")[2].decode()
    lines = dict(line.split(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    return int(lines["turncast_http_connections"])


def newest(host, state):
    return until(lambda: next((t for t in host.turns()[:1] if t["state"] == state), None),
                 f"the newest turn is {state}")


def test_back():
    """Waits briefly without a client, much shorter than the grace time."""
    with Door(http=http_group(disconnect_grace_s=3600)) as host:
        for name, headers in (("a key", {"Idempotency_Key": "k"}),
                              ("a count of tries", {"X_Stainless_Retry_Count": "1"})):
            id_ = name.replace(" ", "-")
            first = Chat(host, f"id={id_} tools=1 gated", **{**headers, "X_Try": "1"})
            turn = newest(host, "running")["id"]
            alone = connections(host)
            first.leave()
            until(lambda: connections(host) < alone, "the host detects the disconnect")
            equal(host.turn(turn)["state"], "running", f"{name}: the turn goes on")
            second = Chat(host, f"id={id_} tools=1 gated", **headers)
            host.let_go(id_)
            status, answer = second.answer()
            equal((status, answer["id"]), (200, f"chatcmpl-{turn}"),
                  f"{name}: a returning client gets the running turn")
            equal(len([t for t in host.turns() if id_ in t["task"]]), 1, f"{name}: one agent ran")
        body = run_input("id=run tools=1 gated")
        run = Run(host, body)
        run.await_type("RUN_STARTED")
        turn = newest(host, "running")["id"]
        run.leave()
        again = Run(host, body)
        host.let_go("run")
        equal(again.rest()[-1]["type"], "RUN_FINISHED", "a returning client of AG-UI gets its run")
        equal(host.turn(turn)["state"], "final", "the run is the same turn")
        equal(host.stop(), 0, "the host exits with status 0")


def test_over():
    """The turn is cancelled after the grace time; with a grace time of 0, at once."""
    for grace in (0, 1):
        with Door(http=http_group(disconnect_grace_s=grace)) as host:
            first = Chat(host, "id=left hang", Idempotency_Key="k")
            turn = newest(host, "running")["id"]
            first.leave()
            equal(host.await_state(turn, "cancelled", "final", "error")["state"], "cancelled",
                  f"{grace} s: a turn without a returning client is cancelled")
            second = Chat(host, "id=left hang", Idempotency_Key="k")
            until(lambda: host.turns()[0]["id"] != turn, "the same request is another turn afterwards")
            second.leave()
            equal(host.stop(), 0, "the host exits with status 0")


def test_joined():
    """A client that has come back keeps the turn even after the grace time."""
    with Door(http=http_group(disconnect_grace_s=6)) as host:
        first = Chat(host, "id=kept tools=1 gated", Idempotency_Key="k")
        turn = newest(host, "running")["id"]
        alone = connections(host)
        first.leave()
        until(lambda: connections(host) < alone, "the host detects the disconnect")
        second = Chat(host, "id=kept tools=1 gated", Idempotency_Key="k")
        time.sleep(7)
        equal(host.turn(turn)["state"], "running", "the turn still runs")
        host.let_go("kept")
        equal(second.answer()[0], 200, "the returned client is answered")
        equal(host.stop(), 0, "the host exits with status 0")


def test_shutdown():
    """A host that is stopped does not wait for the grace time."""
    with Door(http=http_group(disconnect_grace_s=3600),
              extra='log : { level = "info"; }; conversations : { drain_s = 0; };') as host:
        first = Chat(host, "id=left hang")
        newest(host, "running")
        first.leave()
        equal(host.stop(), 0, "a host whose client has just disconnected exits with status 0")


for test in (test_back, test_over, test_joined, test_shutdown):
    test()
done()
