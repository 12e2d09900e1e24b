#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An agent of another host whose server is broken: wrong types, garbage, streams that do not end, gaps."""
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
    """A host whose prompts say what is wrong with it."""

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
        equal(invalid["code"], "remote_invalid", "a page is no event stream")
        ok("text/event-stream" in invalid["error"], "the error says so", invalid["error"])
        equal(host.ended(host.begin("nothing", agent="far")["id"], "error")["code"], "remote_invalid",
              "a page is no turn")
        turn = host.begin("garbage", agent="far")["id"]
        equal(host.ended(turn)["answer"], "Hello.", "garbage does not end a turn")
        equal((host.types(turn).count("narration"), host.types(turn).count("error")), (1, 0), "it is not an event")
        turn = host.begin("gap", agent="far")["id"]
        host.ended(turn)
        ok(any(e["type"] == "notice" and "2 to 40" in e["payload"]["text"] for e in host.told(turn)), "a gap is told")
        turn = host.begin("repeats", agent="far")["id"]
        host.ended(turn)
        equal(host.types(turn).count("narration"), 1, "what is repeated is skipped")
        endless = host.ended(host.begin("endless", agent="hasty")["id"], "error")
        equal(endless["code"], "agent_timeout", "a stream that does not end")
        equal(len(fake.called("/turns/endless/cancel")), 1, "is cancelled once")
        doctor(host, fake)
    equal(fake.violations, [], "no rule of the service was broken")
    fake.close()
    done()


def doctor(host, fake):
    _, output = host.run("doctor")
    ok(f"agent far: turncast at http://127.0.0.1:{fake.port}/ accepts requests" in output, "doctor asks the service", output)
    fake.token = "another-0123456789"
    _, output = host.run("doctor")
    ok(f"agent far: turncast at http://127.0.0.1:{fake.port}: HTTP 401: unauthorized" in output, "which refuses", output)
    ok(TOKEN not in output, "the key is not shown")


main()
