#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An agent of another host whose server is faulty: wrong types, garbage, endless streams, gaps."""
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from remotes import TOKEN, done, equal, near, ok, service, until  # noqa: E402
from agent_service import AgentService  # noqa: E402

LINES = [("start", {}), ("narration", {"text": "Hello."}), ("final", {"text": "Hello."}), ("done", {"reason": "completed"})]


def frame(seq, type_, payload):
    return f"id: {seq}\ndata: " + json.dumps({"type": type_, "payload": payload, "seq": seq}) + "\n\n"


class Broken(AgentService):
    """A host whose prompts select the fault."""

    def serve(self, handler, method, path, body):
        if path == "/turns?limit=1":
            handler.reply(200, {"turns": []})
        elif path == "/turns":
            if "nothing" in body["prompt"]:
                handler.reply(202, b"<html>", "text/html")
            else:
                handler.reply(202, {"id": body["prompt"]})
        elif re.fullmatch(r"/turns/\w+/events", path):
            getattr(self, path.split("/")[2])(handler)
        elif path == "/turns/elsewhere":
            self.elsewhere(handler)
        elif path.endswith("/cancel"):
            handler.reply(200, {})
        else:
            self.wrong(handler, 404, "unknown path")

    def page(self, handler):
        handler.reply(200, b"<html>Log in</html>", "text/html")

    def garbage(self, handler):
        stream = self.subscribe()
        stream.send("junk\n\x01\x02: \n\nid\ndata\n\n: comment\n\ndata: {broken\n\ndata: [1]\n\n".encode() + b"data: \xff\xfe\n\n")
        stream.send('event: unknown\ndata: {"type":"done","payload":{"reason":"completed"}}\n\n')
        stream.send('data: {"remote":"error","code":"x","message":"not of ours"}\n\n')
        for seq, (type_, payload) in enumerate(LINES):
            stream.send(frame(seq + 5, type_, payload))
        handler.stream(stream)

    def middle(self, handler):
        """A connection that breaks in the middle of an event, which is then sent again."""
        stream = self.subscribe()
        again = handler.headers.get("Last-Event-ID")
        if not again:
            stream.send(frame(1, *LINES[0]) + frame(2, *LINES[1])[:30])
            stream.cut()
        for seq, (type_, payload) in enumerate(LINES[1:]):
            stream.send(frame(seq + 2, type_, payload))
        self.resumed_behind = again
        handler.stream(stream)

    def long(self, handler):
        """A line that exceeds the maximum length of an event."""
        stream = self.subscribe()
        stream.send(frame(1, *LINES[0]) + "data: " + "x" * (17 << 20) + "\n\n")
        for seq, (type_, payload) in enumerate(LINES[1:]):
            stream.send(frame(seq + 2, type_, payload))
        handler.stream(stream)

    def elsewhere(self, handler):
        handler.send_response(307)
        handler.send_header("Location", f"http://127.0.0.1:{self.other}/stolen")
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    def busy(self, handler):
        """Answers 429 at first."""
        self.refused = getattr(self, "refused", 0) + 1
        if self.refused == 1:
            handler.send_response(429)
            handler.send_header("Retry-After", "1")
            handler.send_header("Content-Length", "0")
            handler.end_headers()
        else:
            self.repeats_all(handler)

    def down(self, handler):
        """Answers with a server error at first."""
        self.failed = getattr(self, "failed", 0) + 1
        if self.failed == 1:
            handler.reply(503, {"error": {"message": "starting"}})
        else:
            self.repeats_all(handler)

    def repeats_all(self, handler):
        stream = self.subscribe()
        for seq, (type_, payload) in enumerate(LINES):
            stream.send(frame(seq + 1, type_, payload))
        handler.stream(stream)

    def gap(self, handler):
        stream = self.subscribe()
        stream.send('id: 40\nevent: gap\ndata: {"from":2,"to":40}\n\n')
        for seq, (type_, payload) in enumerate(LINES):
            stream.send(frame(seq + 41, type_, payload))
        handler.stream(stream)

    def repeats(self, handler):
        """A server that ignores Last-Event-ID."""
        stream = self.subscribe()
        again = handler.headers.get("Last-Event-ID")
        for seq, (type_, payload) in enumerate(LINES if again else LINES[:2]):
            stream.send(frame(seq + 1, type_, payload))
        if not again:
            stream.cut()
        handler.stream(stream)

    def endless(self, handler):
        stream = self.subscribe()
        stream.send(frame(1, "start", {}))
        self.open = stream
        handler.stream(stream)


def main():
    fake = Broken(TOKEN)
    agents = (service("far", "turncast", fake.port) + service("hasty", "turncast", fake.port, keys="turn_timeout_s = 1;"))
    with near(agents) as host:
        until(host.has_started, "all instances run")
        invalid = host.ended(host.begin("page", agent="far")["id"], "error")
        equal(invalid["code"], "remote_invalid", "an HTML page is not an event stream")
        ok("text/event-stream" in invalid["error"], "the error says so", invalid["error"])
        equal(host.ended(host.begin("nothing", agent="far")["id"], "error")["code"], "remote_invalid",
              "an HTML page is not a turn")
        turn = host.begin("garbage", agent="far")["id"]
        equal(host.ended(turn)["answer"], "Hello.", "garbage does not end a turn")
        equal((host.types(turn).count("narration"), host.types(turn).count("error")), (1, 0), "garbage is not an event")
        turn = host.begin("gap", agent="far")["id"]
        host.ended(turn)
        ok(any(e["type"] == "notice" and "2 to 40" in e["payload"]["text"] for e in host.told(turn)), "a gap is reported")
        turn = host.begin("repeats", agent="far")["id"]
        host.ended(turn)
        equal(host.types(turn).count("narration"), 1, "a repeated event is skipped")
        endless = host.ended(host.begin("endless", agent="hasty")["id"], "error")
        equal(endless["code"], "agent_timeout", "a stream that does not end")
        equal(len(fake.called("/turns/endless/cancel")), 1, "an endless stream is cancelled once")
        faults(host, fake)
        doctor(host, fake)
    equal(fake.violations, [], "no request violates a rule of the service")
    fake.close()
    done()


def faults(host, fake):
    turn = host.begin("middle", agent="far")["id"]
    equal(host.ended(turn)["answer"], "Hello.", "a connection that breaks in the middle of an event is opened again")
    equal((fake.resumed_behind, host.types(turn).count("narration")), ("1", 1), "the stream continues after the last complete event")
    turn = host.begin("long", agent="far")["id"]
    equal(host.ended(turn)["answer"], "Hello.", "a line without an end is skipped")
    ok(any(e["type"] == "notice" and "too long" in e["payload"]["text"] for e in host.told(turn)), "the skipped line is reported")
    other = Broken(TOKEN)
    fake.other = other.port
    turn = host.ended(host.begin("elsewhere", agent="far")["id"], "error")
    ok("HTTP 307" in turn["error"], "a redirection is an error", turn["error"])
    equal(other.calls, [], "no request was sent to the other address")
    other.close()
    for prompt, what in (("busy", "too many requests"), ("down", "an error of the server")):
        equal(host.ended(host.begin(prompt, agent="far")["id"])["answer"], "Hello.", f"{what} at the start is retried")


def doctor(host, fake):
    _, output = host.run("doctor")
    ok(f"agent far: turncast at http://127.0.0.1:{fake.port}/ accepts requests" in output, "doctor asks the service", output)
    fake.token = "another-0123456789"
    _, output = host.run("doctor")
    ok(f"agent far: turncast at http://127.0.0.1:{fake.port}: HTTP 401: unauthorized" in output, "doctor reports the refusal", output)
    ok(TOKEN not in output, "the key is not shown")


main()
