#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Agents that run through NATS (transport.kind = "nats"): those of another turncast host, and those of a
gateway like tirea's, written from its documentation."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import door  # noqa: E402
from bus import Member, done, equal, http_group, natsd, ok, skip_without_server, until  # noqa: E402
from door import BUILD, Door  # noqa: E402

PASSWORD = "nats-Secret-4711"
USER = f'authorization {{ user: u, password: "{PASSWORD}" }}'
SUBJECT = "test.runs"


def agent(name, url, **more):
    transport = {"kind": "nats", "credentials": f"u:{PASSWORD}", "subject": SUBJECT, **more}
    keys = " ".join(f"{k} = {json.dumps(v)};" for k, v in transport.items())
    return (f'{name} : {{ transport : {{ url = ["{url}"]; {keys} }}; attempts = 1; exit_grace_s = 1;'
            " term_grace_s = 1; };")


class Near(Door):
    """A host whose agents run elsewhere."""

    def __init__(self, *agents):
        super().__init__(agents=" ".join(agents))

    def answer(self, prompt, **more):
        """Waits for the end of the turn, and returns it."""
        turn = self.begin(prompt, **more)["id"]
        self.await_state(turn, "final", "error", "cancelled")
        return self.turn(turn)


class Gateway:
    """A gateway that accepts one run after the other."""

    def __init__(self, server):
        self.wire = server.client(user="u", password=PASSWORD)
        self.wire.subscribe(SUBJECT)

    def take(self):
        """The next request, and the subject for its events."""
        m = self.wire.next(60, SUBJECT)
        return json.loads(m.data), m.reply

    def tell(self, reply, *events):
        for event in events:
            self.wire.publish(reply, json.dumps(event, indent=1))

    def is_heard(self, reply):
        self.wire.publish(reply, '{"type":"STEP_STARTED","stepName":"s"}', self.wire.inbox + ".probe")
        m = self.wire.next(0.2, self.wire.inbox + ".probe")
        return not (m and m.status == 503)


def started(request):
    return {"type": "RUN_STARTED", "threadId": request["request"]["threadId"], "runId": request["request"]["runId"]}


def said(text):
    return [{"type": "TEXT_MESSAGE_START", "messageId": "m", "role": "assistant"},
            {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": text},
            {"type": "TEXT_MESSAGE_END", "messageId": "m"}]


def finished(request):
    return {**started(request), "type": "RUN_FINISHED"}


def gateway_of_tirea(server, near):
    gateway = Gateway(server)
    turn = near.begin('Say "hi", ä', agent="far", conversation="c1")["id"]
    request, reply = gateway.take()
    run = request["request"]
    equal(request["agentId"], "assistant", "the request names the agent")
    equal([(m["role"], m["content"]) for m in run["messages"]], [("user", 'Say "hi", ä')],
          "the request has the message")
    ok(run["threadId"] and run["runId"] and run["tools"] == [], "the request has a thread and a run", run)
    gateway.tell(reply, started(request), *said("Hello."), finished(request))
    near.await_state(turn, "final")
    equal(near.turn(turn)["answer"], "Hello.", "the turn has the events of the run")
    near.begin("again", agent="far", conversation="c1")
    second, reply = gateway.take()
    equal(second["request"]["threadId"], run["threadId"], "the next turn of the conversation has the same thread")
    ok(second["request"]["runId"] != run["runId"], "the next turn has another run")
    gateway.tell(reply, started(second), {"type": "RUN_ERROR", "message": "No more money.", "code": "BROKE"})
    until(lambda: near.turns()[0]["state"] == "error", "an error of the run is an error of the turn")
    ok("No more money." in json.dumps(near.turn(near.turns()[0]["id"])), "the error has its text")
    return gateway


def cancelled(gateway, near):
    turn = near.begin("wait", agent="far")["id"]
    request, reply = gateway.take()
    gateway.tell(reply, started(request))
    near.await_state(turn, "running")
    ok(gateway.is_heard(reply), "the events of a run are listened to")
    equal(near.status("POST", f"/turns/{turn}/cancel", key="ann"), 202, "a turn is cancelled")
    near.await_state(turn, "cancelled")
    until(lambda: not gateway.is_heard(reply), "after a cancel the subject has no subscriber")


def silent(gateway, near):
    turn = near.answer("nothing comes", agent="quiet")
    gateway.take()
    equal(turn["state"], "error", "a run without an event ends with idle_timeout_s")


def text_of(turn):
    return json.dumps(turn.get("error", turn))


def nobody(near):
    turn = near.answer("hello", agent="nowhere")
    ok("nobody takes runs at the subject nobody.here" in text_of(turn), "a subject without a subscriber is reported", turn)


def connection_lost(server, gateway, near, cable):
    turn = near.begin("hello", agent="cabled")["id"]
    request, reply = gateway.take()
    gateway.tell(reply, started(request), *said("Half an"))
    until(lambda: "Half an" in near.events.read_text(), "the first events arrive")
    cable.cut()
    near.await_state(turn, "error")
    ok("connection to NATS was lost" in text_of(near.turn(turn)), "a run whose connection is lost fails",
       near.turn(turn))


def unreachable():
    port = natsd.free_port()
    found = subprocess.run(
        [BUILD / "turncast-remote", "nats", f"url=nats://127.0.0.1:{port}", "connect_ms=200"],
        input='{"type":"prompt","text":"hi"}\n', capture_output=True, text=True, check=False)
    told = [json.loads(line) for line in found.stdout.splitlines()]
    equal([t["remote"] for t in told], ["open", "error"], "without a server the turn fails")
    equal((told[-1]["code"], told[-1]["message"]),
          ("remote_unreachable", "cannot connect to the NATS servers: no server can be reached"), "and says why")


def another_host(server):
    """An agent of one host is an agent of another host."""
    runs = 'credentials = "u:%s"; runs : { key = "ann"; };' % PASSWORD
    with Member("h1", server.url(), bus=runs, http=http_group(disconnect_grace_s=0, visibility="all")) as far, \
            Near(agent("far", server.url(), subject="agentos.ag-ui.runs", agent="main")) as near:
        far.await_bus()
        until(lambda: "taking runs" in far.log(), "the other host accepts runs")
        first = near.answer("id=one tools=2", agent="far", conversation="c")
        ok(first["answer"].startswith("Answer one of "), "an agent of another host answers", first)
        second = near.answer("id=two", agent="far", conversation="c")
        equal(second["answer"].split(" of ")[1].split(":")[0], first["answer"].split(" of ")[1].split(":")[0],
              "both turns have one session")
        lines = [json.loads(line) for line in near.events.read_text().splitlines()]
        equal([e["payload"]["content"] for e in lines if e["type"] == "tool_result"], ["51% used", "52% used"],
              "the results of tools are shown")
        turn = near.begin("id=three tools=3 gated", agent="far")["id"]
        there = until(lambda: [t for t in far.turns() if t["state"] == "running"], "the turn runs on the other host")[0]["id"]
        near.status("POST", f"/turns/{turn}/cancel", key="ann")
        near.await_state(turn, "cancelled")
        far.let_go("three", 1)
        far.await_state(there, "cancelled")
        ok(True, "a turn that is cancelled here is cancelled on the other host")
        status, text = near.run("doctor")
        ok("runs are taken at agentos.ag-ui.runs" in text, "turncast doctor checks the subject", text)
        ok(PASSWORD not in near.log() + near.events.read_text() + text, "the password is not shown")


def main():
    if skip_without_server():
        return
    door.KEYS["ann"] = ("ann-0123456789abcdef", ["submit", "cancel", "watch", "answer"])
    with natsd.NatsServer(USER) as server:
        cable = natsd.Cable(server.port)
        with Near(agent("far", server.url(), agent="assistant"),
                  agent("nowhere", server.url(), subject="nobody.here"),
                  agent("quiet", server.url()).replace("attempts", "idle_timeout_s = 1; attempts"),
                  agent("cabled", cable.url())) as near:
            gateway = gateway_of_tirea(server, near)
            cancelled(gateway, near)
            silent(gateway, near)
            nobody(near)
            connection_lost(server, gateway, near, cable)
            cable.mend()
            status, text = near.run("doctor")
            ok("nobody takes runs at the subject nobody.here" in text, "turncast doctor tells of a subject without a subscriber",
               (status, text))
        another_host(server)
    unreachable()
    done()


main()
