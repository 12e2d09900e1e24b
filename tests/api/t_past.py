#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Outcomes of turns from before a restart: by id, and for a repeated request, which runs no agent. The times of
turns are not changed by a restart."""
import json
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from ag_ui_run import Run, run_input, text_of  # noqa: E402
from door import Door, done, equal, ok, until  # noqa: E402

CHAT = "/v1/chat/completions"
COMPLETION = {"model": "main", "messages": [{"role": "user", "content": "id=chat"}]}


def now_ms():
    return int(time.time() * 1000)


def complete(host, **more):
    return host.ask("POST", CHAT, key="ann", body={**COMPLETION, **more}, Idempotency_Key="chat")


def run(host):
    client = Run(host, run_input("id=run"))
    return client.status, client.rest()


def keyed(name):
    return {"Idempotency_Key": name}


def begin_all(host):
    """A turn of each kind, by name, as shown before the restart."""
    answered = host.begin("id=answered tools=2", headers=keyed("answered"))["id"]
    failed = host.begin("id=failed fail", headers=keyed("failed"))["id"]
    stopped = host.begin("id=stopped hang", headers=keyed("stopped"))["id"]
    host.await_state(stopped, "running")
    host.status("POST", f"/turns/{stopped}/cancel", key="ann", body={})
    for turn in (answered, failed, stopped):
        host.await_state(turn, "final", "error", "cancelled")
    names = {"answered": answered, "failed": failed, "stopped": stopped}
    return {name: host.turn(turn) for name, turn in names.items()}


def check_told(host, before, began):
    for name, live in before.items():
        past = host.turn(live["id"])
        for key in ("id", "agent", "conversation", "source", "state", "code", "task", "tools",
                    "answer", "error", "usage", "cost_usd"):
            equal(past.get(key), live.get(key), f"{name}: {key} is unchanged")
        ok(began <= past["created_ms"] <= past["started_ms"] <= past["ended_ms"] <= now_ms(),
           f"{name}: the times are those of the turn", past)
        again = host.begin(live["task"], headers=keyed(name))
        equal((again["id"], again["state"]), (live["id"], live["state"]),
              f"{name}: the same key returns the same turn")
        equal(again.get("answer"), live.get("answer"), f"{name}: the answer is unchanged")
        equal(host.status("GET", f"/turns/{live['id']}", key="bob"), 404, f"{name}: another key does not see the turn")
        equal(host.status("GET", f"/turns/{live['id']}", key="eve"), 200,
              f"{name}: a key with the grant watch sees the turn")
    equal(host.status("GET", "/turns/00000000-0000-4000-8000-000000000000", key="ann"), 404,
          "an unknown turn is not found")
    equal(host.status("POST", "/turns", key="bob", body={"prompt": "id=other"}, **keyed("answered")),
          202, "the same key of another client is another turn")


def check_live(before):
    answered = before["answered"]
    ok(answered["answer"].startswith("Answer answered of"), "a turn has its answer", answered)
    equal((answered["usage"]["input_tokens"], answered["usage"]["output_tokens"]), (12000, 345),
          "a turn has its usage")
    equal((before["failed"]["state"], "broken" in before["failed"]["error"]), ("error", True),
          "a failed turn has its error")
    equal(before["stopped"]["state"], "cancelled", "a stopped turn has no answer")


def test_past():
    began = now_ms()
    with Door() as host:
        before = begin_all(host)
        check_live(before)
        whole = json.loads(complete(host)[2])
        told = run(host)[1]
        equal(host.stop(), 0, "the host exits with status 0")
        host.start()
        check_told(host, before, began)

        status, _, text = complete(host)
        again = json.loads(text)
        equal(status, 200, "a repeated completion is answered")
        for key in ("id", "choices", "usage"):
            equal(again[key], whole[key], f"the {key} is unchanged")
        status = complete(host, stream=True)[0]
        equal(status, 200, "another body is another completion")
        status, again = run(host)
        equal((status, [e["type"] for e in again][0], again[-1]["type"]),
              (200, "RUN_STARTED", "RUN_FINISHED"), "the same run again ends as it did")
        equal(text_of(again), text_of(told), "a repeated run has the same text")
        until(lambda: all(t["state"] == "final" for t in host.turns()), "all turns have ended")
        equal(sorted(t["task"] for t in host.turns()), ["id=chat", "id=other"],
              "no agent was run again")
        equal(host.stop(), 0, "the host exits with status 0")


def test_stream():
    """A streamed completion that is repeated after a restart."""
    def stream(host):
        status, _, text = host.ask("POST", CHAT, key="ann", body={**COMPLETION, "stream": True},
                                   Idempotency_Key="stream")
        chunks = [line[6:] for line in text.decode().splitlines() if line.startswith("data: ")]
        equal((status, chunks[-1]), (200, "[DONE]"), "the stream ends with [DONE]")
        return "".join(c["delta"].get("content", "") for chunk in chunks[:-1]
                       for c in json.loads(chunk)["choices"])

    with Door() as host:
        before = stream(host)
        host.kill()
        host.start()
        equal(stream(host), before, "a repeated stream has the same answer")
        equal(host.turns(), [], "no agent was run again")


def test_waiting():
    """A kill of the host does not change when a turn was accepted and when it began."""
    with Door(extra='log : { level = "info"; }; conversations : { max_turns = 1; };') as host:
        runs = host.begin("id=runs hang")["id"]
        host.await_state(runs, "running")
        waits = host.begin("id=waits")["id"]
        created = {turn: host.turn(turn)["created_ms"] for turn in (runs, waits)}
        time.sleep(0.1)
        host.kill()
        killed = now_ms()
        host.start()
        for turn in (runs, waits):
            told = host.await_state(turn, "error", "final")
            ok(abs(told["created_ms"] - created[turn]) <= killed - created[turn],
               "it was accepted before", (told, created[turn]))
            ok(told["created_ms"] < killed, "the waiting turn was accepted before the kill", (told, killed))
        ok(host.turn(runs)["started_ms"] < killed, "the running turn began before the kill")
        ok("interrupted because turncast restarted" in host.turn(runs)["error"], "the running turn has the error of the restart")
        host.stop()
        host.start()
        told = host.turn(runs)
        equal((told["state"], told["code"]), ("error", "host_restart"), "the turn is unchanged after another restart")
        equal(host.stop(), 0, "the host exits with status 0")


test_past()
test_stream()
test_waiting()
done()
