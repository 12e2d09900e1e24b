#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A host that is asked to exit: its answers to health checks, and the ends of streams whose turn waits. None of
them ends as an empty success, and a turn that was not begun may be sent again."""
import http.client
import json
import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from ag_ui_run import Run, run_input  # noqa: E402
from door import Door, done, equal, ok, secret, until  # noqa: E402

CHAT = "/v1/chat/completions"
EXTRA = 'log : { level = "info"; }; conversations : { max_turns = 1; drain_s = 3600; };'


def body_of(text, **more):
    return {"model": "main", "messages": [{"role": "user", "content": text}], **more}


class Chat:
    """A streamed completion."""

    def __init__(self, host, text, request):
        self.connection = http.client.HTTPConnection("127.0.0.1", host.port, timeout=60)
        self.connection.request(
            "POST", CHAT, json.dumps(body_of(text, stream=True)),
            {"Content-Type": "application/json", "Authorization": f"Bearer {secret('ann')}",
             "Idempotency-Key": request})
        self.answer = self.connection.getresponse()
        self.status = self.answer.status

    def line(self):
        return self.answer.readline().decode().rstrip("\n")

    def rest(self):
        """The data of all events; the last one is [DONE]."""
        lines = self.answer.read().decode().splitlines()
        return [line[6:] for line in lines if line.startswith("data: ")]


def health(host):
    status, headers, text = host.ask("GET", "/healthz")
    return status, json.loads(text)["status"], headers.get("retry-after")


def states(host):
    return sorted(t["state"] for t in host.turns())


def refused(answer, what):
    status, headers, text = answer
    equal((status, json.loads(text)["error"]["code"]), (503, "shutting_down"), what)
    equal((headers["x-should-retry"], headers.get("retry-after")), ("true", "5"),
          "the refusal asks for a retry after 5 s")


def test_drain():
    with Door(extra=EXTRA) as host, ThreadPoolExecutor(1) as pool:
        equal(health(host), (200, "ok", None), "a host that serves is healthy")
        equal(host.status("GET", "/livez"), 200, "a host that serves is alive")
        runs = Chat(host, "id=run tools=1 gated", "run")
        until(lambda: states(host) == ["running"], "a completion runs")
        waits = Chat(host, "id=waits", "waits")
        equal((waits.status, waits.line()), (200, ": keep-alive"), "another one waits")
        whole = pool.submit(host.ask, "POST", CHAT, key="ann", body=body_of("id=whole"))
        run = Run(host, run_input("id=agui"))
        kept = host.begin("id=kept")["id"]
        until(lambda: states(host) == ["running"] + ["waiting"] * 4, "all other turns wait")
        events, turns = host.follow(f"/turns/{kept}/events"), host.follow("/turns/events")

        host.process.send_signal(signal.SIGTERM)
        chunks = waits.rest()
        ok(chunks and chunks[-1] == "[DONE]", "the waiting completion ends at once", chunks)
        equal(json.loads(chunks[-2])["error"]["code"], "host_shutdown", "the completion ends with host_shutdown")
        told = run.rest()
        equal([e["type"] for e in told], ["RUN_STARTED", "RUN_ERROR"], "the waiting run ends with an error")
        equal(told[-1].get("code"), "host_shutdown", "the run ends with host_shutdown")
        refused(whole.result(60), "a completion without a stream ends with 503")
        equal(health(host), (503, "draining", "5"), "a load balancer is told that the host is draining")
        equal(host.status("GET", "/livez"), 200, "the draining host is alive")
        refused(host.ask("POST", CHAT, key="ann", body=body_of("id=late", stream=True)),
                "a new completion is refused")
        refused(host.ask("POST", "/ag-ui", key="ann", body=run_input("id=late", run="r-2")),
                "a new run is refused")
        later = host.begin("id=later")["id"]

        host.let_go("run")
        equal(runs.rest()[-1], "[DONE]", "the running completion is streamed to its end")
        equal([(event, json.loads(data)["code"]) for _, event, data in events.rest()],
              [("shutdown", "host_shutdown")], "who follows a turn that waits is told why it ends")
        equal(turns.rest()[-1][1], "shutdown", "the stream of the list ends with shutdown")
        equal(host.process.wait(60), 0, "the host exits with status 0")
        host.process = None

        host.start()
        for turn in (kept, later):
            equal(host.await_state(turn, "final", "error")["state"], "final",
                  "an accepted turn is run after the restart")
        again = Chat(host, "id=waits", "waits").rest()
        ok(len(again) > 2 and not any("error" in json.loads(c) for c in again[:-1]),
           "the refused completion runs after the restart, with the same Idempotency-Key", again)
        equal(host.stop(), 0, "the host exits with status 0")


def test_kill():
    """The clients of a killed host are disconnected; they may send their waiting messages again."""
    with Door(extra=EXTRA) as host:
        Chat(host, "id=run hang", "run")
        until(lambda: states(host) == ["running"], "a completion runs")
        waits = Chat(host, "id=waits", "waits")
        equal(waits.line(), ": keep-alive", "another one waits")
        host.kill()
        host.start()
        equal(Chat(host, "id=waits", "waits").rest()[-1], "[DONE]", "a message that is sent again runs")
        equal(states(host), ["error", "final"], "the killed turn has failed")
        equal(host.stop(), 0, "the host exits with status 0")


test_drain()
test_kill()
done()
