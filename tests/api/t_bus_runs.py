#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs that other programs request through NATS, by tirea's protocol: which host accepts them, refused
requests, and runs whose client disconnects or whose connection is lost."""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import door  # noqa: E402
from ag_ui_run import run_input  # noqa: E402
from bus import Member, done, equal, http_group, natsd, ok, skip_without_server, until  # noqa: E402

SUBJECT = "agentos.ag-ui.runs"
ENDS = ("RUN_FINISHED", "RUN_ERROR")


def serving(name, url, *, runs="", grace_s=60, **http):
    return Member(name, url, bus=f'runs : {{ key = "ann"; {runs} }};',
                  http=http_group(disconnect_grace_s=grace_s, **http))


class Client:
    """A client with its own connection, which it can close."""

    def __init__(self, server):
        self.wire = server.client()
        self.n = 0

    def ask(self, message, subject=SUBJECT, reply=None):
        """Publishes a request; returns the subject of the reply."""
        self.n += 1
        reply = reply or f"{self.wire.inbox}.{self.n:04}"  # none is the beginning of another
        data = message if isinstance(message, (str, bytes)) else json.dumps(message)
        self.wire.publish(subject, data, reply)
        return reply

    def run(self, prompt, thread="t-1", run="r-1", agent=None, **more):
        request = run_input(prompt, thread=thread, run=run)
        return self.ask({"request": request, **({"agentId": agent} if agent else {})}, **more)

    def messages(self, reply):
        """Reads the events until the run has ended."""
        found = []
        while not found or found[-1].json()["type"] not in ENDS:
            m = self.wire.next(30, reply)
            if not m or m.status:
                raise AssertionError(f"no end of the run, but {m and m.status}: {found[-1:]}")
            found.append(m)
        return found

    def events(self, reply):
        return [m.json() for m in self.messages(reply)]

    def refusal(self, message, **more):
        """The error code in the only event of the reply."""
        events = self.events(self.ask(message, **more))
        return events[0]["code"] if len(events) == 1 and events[0]["type"] == "RUN_ERROR" else events

    def await_service(self, subject=SUBJECT):
        until(lambda: self.wire.request(subject, "{}").status != 503, f"a host serves {subject}")


def own_turns(host):
    """The turns of the host, without those of other hosts."""
    return [t for t in host.turns() if "host" not in t]


def await_running(host):
    """The turn of this host that runs."""
    return until(lambda: [t for t in own_turns(host) if t["state"] == "running"], "a run")[0]["id"]


def text_of(events):
    return "".join(e.get("delta", "") for e in events if e["type"] == "TEXT_MESSAGE_CONTENT")


def taken_by_one(client, a, b):
    replies = [client.run(f"id=q{i}", thread=f"q-{i}") for i in range(20)]
    for reply in replies:
        client.events(reply)
    count = [sum(t["task"].startswith("id=q") for t in own_turns(host)) for host in (a, b)]
    equal(sum(count), 20, "each request is accepted by one host")
    ok(all(count), "both hosts accept requests", count)
    messages = client.messages(client.run("id=own", thread="own", subject=f"{SUBJECT}.h2"))
    equal({m.headers.get("Turncast-Host") for m in messages}, {"h2"}, "a host can be requested by its name")
    equal([t["task"] for t in own_turns(b) if t["task"] == "id=own"], ["id=own"], "the named host runs the turn")


def in_order(client):
    events = client.events(client.run("id=many tools=400", thread="many", agent="main"))
    results = [e for e in events if e["type"] == "TOOL_CALL_RESULT"]
    equal(len(results), 400, "all events of a long run arrive")
    starts = [e["toolCallId"] for e in events if e["type"] == "TOOL_CALL_START"]
    equal([e["toolCallId"] for e in results], starts, "the events are in order")
    ok("Answer many" in text_of(events), "the answer is complete")


def refused(client, host):
    equal(client.refusal("no JSON"), "invalid_json", "a message that is not JSON is refused")
    equal(client.refusal("[]"), "invalid_json", "a message that is not an object is refused")
    equal(client.refusal({"agentId": "main"}), "invalid_value", "a message without a request is refused")
    equal(client.refusal({"agentId": 7, "request": run_input("x")}), "invalid_value", "a wrong agentId is refused")
    equal(client.refusal({"agentId": "nobody", "request": run_input("x")}), "no_such_agent", "an unknown agent is refused")
    equal(client.refusal({"agentId": "../turns", "request": run_input("x")}), "no_such_agent",
          "a name that is a path is refused")
    equal(client.refusal({"request": {"threadId": "t"}}), "invalid_value", "an input without a runId is refused")
    equal(client.refusal({"request": run_input("x" * 70000)}), "body_too_large", "a message that is too large is refused")
    equal(len(own_turns(host)), 0, "no refused request began a turn")


def reply_subjects(client, host):
    inbox = f"{client.wire.inbox}.named"
    client.wire.publish(SUBJECT, json.dumps({"request": run_input("id=named", thread="named"), "replySubject": inbox}))
    ok("Answer named" in text_of(client.events(inbox)), "events are sent to replySubject")
    client.wire.publish(SUBJECT, json.dumps({"request": run_input("id=nowhere")}))
    until(lambda: "missing reply subject" in host.log(), "a request without a reply subject is logged")
    for reply in ("$JS.API.STREAM.DELETE.TC_EV", "tc.h.h1.cancel", "_INBOX.>", "_INBOX..x", "other.place"):
        client.ask({"request": run_input("id=evil"), "replySubject": reply}, reply=reply)
    until(lambda: host.log().count("not permitted by bus.runs.replies") == 5,
          "reply subjects that are not permitted are logged")
    equal([t["task"] for t in own_turns(host)], ["id=named"], "no refused request began a turn")
    equal(client.wire.api("STREAM.INFO.TC_EV")["config"]["name"], "TC_EV", "nothing was sent to the forbidden subjects")


def limited(client, host):
    first = client.run("id=l1 tools=1 gated", thread="l1")
    await_running(host)
    equal(client.refusal({"request": run_input("id=l2", thread="l2")}), "too_many_runs", "a run above runs.max is refused")
    host.let_go("l1", 2)
    client.events(first)
    ok("Answer l3" in text_of(client.events(client.run("id=l3", thread="l3"))), "another run is accepted afterwards")


def client_leaves(server, host):
    client = Client(server)
    client.run("id=gone tools=3 gated", thread="gone")
    turn = await_running(host)
    client.wire.close()
    host.let_go("gone", 2)
    host.await_state(turn, "cancelled")
    ok(True, "a turn whose client disconnected is cancelled at the next event")


def connection_lost(server, host, client):
    reply = client.run("id=lost tools=2 gated", thread="lost")
    turn = await_running(host)
    server.kill()
    host.await_bus("disconnected")
    host.let_go("lost", 1)
    server.start()
    again = Client(server)
    again.wire.subscribe(reply)
    events = again.events(reply)
    equal([(e["type"], e["code"]) for e in events], [("RUN_ERROR", "connection_lost")],
          "a run that loses the connection ends with an error after the reconnect")
    again.await_service()
    host.let_go("lost", 3)
    events = again.events(again.run("id=lost tools=2 gated", thread="lost"))
    ok(events[0]["type"] == "RUN_STARTED" and "Answer lost" in text_of(events),
       "a repeated run returns the events from the beginning")
    equal([t["id"] for t in own_turns(host)], [turn], "the repeated run belongs to the same turn")


def reloaded(client, host):
    config = host.config.read_text()
    host.config.write_text(config.replace('runs : { key = "ann"; ', 'runs : { key = "ann"; ag_ui = false; '))
    status, text = host.run("reload")
    equal(status, 0, "a reload that disables runs succeeds")
    # A request that comes while the host stops to serve the subject may get no reply.
    until(lambda: getattr(client.wire.request(SUBJECT, "{}"), "status", None) == 503, "the subject is not served after the reload")
    host.config.write_text(config)
    host.run("reload")
    client.await_service()
    ok(True, "the subject is served again after another reload")


def too_large():
    with natsd.NatsServer("max_payload: 32768") as server, serving("h1", server.url()) as host:
        client = Client(server)
        client.await_service()
        events = client.events(client.run("id=big chars=60000", thread="big"))
        equal(events[-1].get("code"), "event_too_large", "an event that the server refuses ends the run")
        ok("max_payload" in events[-1]["message"], "the error has the reason", events[-1])


def main():
    if skip_without_server():
        return
    door.KEYS["ann"] = ("ann-0123456789abcdef", ["submit", "cancel", "watch", "answer"])
    with natsd.NatsServer() as server:
        with serving("h1", server.url(), visibility="all") as a, serving("h2", server.url(), visibility="all") as b:
            client = Client(server)
            for name in ("h1", "h2"):
                client.await_service(f"{SUBJECT}.{name}")
            taken_by_one(client, a, b)
            in_order(client)
        with serving("h3", server.url(), runs="max = 1;", grace_s=0, max_body=65536) as host:
            client = Client(server)
            client.await_service()
            refused(client, host)
            reply_subjects(client, host)
            limited(client, host)
            client_leaves(server, host)
            reloaded(client, host)
        with serving("h4", server.url()) as host:
            client = Client(server)
            client.await_service()
            connection_lost(server, host, client)
    too_large()
    done()


main()
