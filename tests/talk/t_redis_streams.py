#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The connector redis on a real Redis server: the entries of events without a counterpart in a stream of
agenticore, and writes that the server refuses, that fail, or whose reply is lost."""
import datetime
import json
import pathlib
import socket
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "api"))

from door import Door, done, equal, ok, until  # noqa: E402
from redis_server import PASSWORD, Redis  # noqa: E402

LIMIT = 512 << 10  # bytes of a tool's arguments or result


class Wire:
    """Forwards connections to the server. While it is `broken`, it drops the reply to an XADD, and the connection."""

    def __init__(self, port):
        self.target, self.broken, self.dropped, self.readonly, self.failed = port, False, 0, 0, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        try:
            with client, socket.create_connection(("127.0.0.1", self.target)) as server:
                while data := client.recv(1 << 20):
                    while not data.endswith(b"\r\n"):
                        data += client.recv(1 << 20)
                    server.sendall(data)
                    reply = server.recv(1 << 16)
                    if self.broken and b"XADD" in data:
                        self.dropped += 1
                        self.broken = False
                        return
                    self.readonly += b"-READONLY" in reply
                    client.sendall(reply)
        except OSError:
            self.failed += 1


def agent(folder, name, events):
    """An agent that prints these events."""
    file = folder / f"{name}.jsonl"
    file.write_text("".join(json.dumps({"type": type_, "payload": payload, **more}, ensure_ascii=False) + "\n"
                            for type_, payload, *rest in events for more in [rest[0] if rest else {}]))
    return f'{name} : {{ command = ["cat", "{file}"]; dialect = "turncast"; attempts = 1; }};\n'


START, END = ("start", {}), ("done", {"reason": "completed"})
BLOCKS = [START, ("narration", {"text": "First, "}), ("narration", {"text": "a text."}), ("thinking", {"text": "Then thoughts."}),
          ("narration", {"text": "Not mine.", "parent_id": "t0"}), ("thinking", {"text": "Nor these.", "parent_id": "t0"}),
          ("narration", {"text": "Part of it."}), ("final", {"text": "The whole."}), END]


def call(args, content):
    return [START, ("tool_call", {"name": "Bash", "args": args, "tool_use_id": "t1"}),
            ("tool_result", {"tool_use_id": "t1", "content": content, "is_error": True}), ("final", {"text": "x"}), END]


def agents(folder):
    return (agent(folder, "blocks", BLOCKS) + agent(folder, "small", call({"command": "a"}, "é" * 10)) +
            agent(folder, "large", call({"command": "a" * LIMIT}, "a" + "é" * (LIMIT // 2))))


def stream_of(redis, turn, database):
    """The entries of an ended turn."""
    def entries():
        found = []
        for id_, flat in redis("EVAL", "redis.call('SELECT', ARGV[1]) return redis.call('XRANGE', KEYS[1], '-', '+')", 1,
                               f"agenticore:events:{turn}", database):
            found.append((id_, dict(zip(flat[::2], flat[1::2]))))
        return found if found and found[-1][1]["event_type"] == "done" else None

    return until(entries, "the stream has an end", 60) or []


def shown(entries):
    return [(e["event_type"], e["content"]) for _, e in entries]


def blocks(host, redis):
    turn = host.begin("x", agent="blocks")["id"]
    entries = stream_of(redis, turn, 3)
    equal(shown(entries), [("assistant_text", "First, a text."), ("thinking", "Then thoughts."),
                           ("assistant_text", "Part of it."), ("assistant_text", "The whole."), ("done", "")],
          "blocks of text are in order, without those of a sub-agent, and the answer is last")
    equal(redis("EXISTS", f"agenticore:events:{turn}"), 0, "the stream is in the configured database")
    told = [json.loads(line) for line in host.events.read_text().splitlines()]
    final = next(e["ts"] for e in told if e["correlation_id"] == turn and e["type"] == "final")
    when = datetime.datetime.fromisoformat(entries[-1][1]["ts"])
    ok(abs(when.timestamp() - final) < 2e-6 and entries[-1][1]["ts"].endswith("+00:00"), "its time, in microseconds",
       (entries[-1][1]["ts"], final))


def sizes(host, redis):
    entries = stream_of(redis, host.begin("x", agent="small")["id"], 3)
    use, result = (json.loads(c) for t, c in shown(entries) if t in ("tool_use", "tool_result"))
    equal((use["input"], result["output"], result["is_error"]), ({"command": "a"}, "é" * 10, True), "a call and its result are written")
    entries = stream_of(redis, host.begin("x", agent="large")["id"], 3)
    use, result = (json.loads(c) for t, c in shown(entries) if t in ("tool_use", "tool_result"))
    equal(use["input"], {}, "arguments above the limit are left out")
    equal(result["output"], "a" + "é" * ((LIMIT - 1) // 2), "a result is cut at a character")


def lost_reply(host, redis, wire):
    turn = host.begin("id=lost tools=1 gated")["id"]
    until(lambda: any('"tool_call"' in line and turn in line for line in host.events.read_text().splitlines()), "a call")
    wire.broken = True
    host.let_go("lost", 9)
    entries = stream_of(redis, turn, 3)
    equal(wire.dropped, 1, "a reply is lost")
    texts = [e["content"] for _, e in entries if e["event_type"] == "assistant_text"]
    types = [e["event_type"] for _, e in entries]
    equal((len(set(texts)), types.count("tool_result"), types.count("done")), (len(texts), 1, 1),
          "repeated writes are not duplicated, and none is missing")
    ok("equal or smaller" not in host.log() + host.run("dead", "list")[1], "no write is given up", host.log())


def refused(host, redis, wire):
    redis("REPLICAOF", "127.0.0.1", "1")
    turn = host.begin("id=ro")["id"]
    host.await_state(turn, "final")
    until(lambda: wire.readonly, "the server refuses a write")
    redis("REPLICAOF", "NO", "ONE")
    equal([t for t, _ in shown(stream_of(redis, turn, 3))][-2:], ["assistant_text", "done"],
          "a write that a replica refuses is repeated")


def away(host, redis, wire):
    redis.stop()
    before, failed = len(host.log()), wire.failed
    turn = host.begin("id=away")["id"]
    host.await_state(turn, "final")
    until(lambda: wire.failed > failed, "the server is unreachable")
    ok("add ports" not in host.log()[before:], "no missing permission is reported", host.log()[before:])
    redis.start()
    equal([t for t, _ in shown(stream_of(redis, turn, 3))][-1:], ["done"], "the failed write is repeated")


def main():
    redis = Redis()
    wire = Wire(redis.port)
    with tempfile.TemporaryDirectory(prefix="turncast-streams.") as folder:
        streams = f"""streams : {{ plugin = "redis"; address = "127.0.0.1:{wire.port}"; password = "{PASSWORD}"; database = 3;
    ports = [{wire.port}]; }};"""
        host = Door(instances=streams, agents=agents(pathlib.Path(folder)))
        try:
            with host:
                until(host.has_started, "all instances run")
                blocks(host, redis)
                sizes(host, redis)
                lost_reply(host, redis, wire)
                refused(host, redis, wire)
                away(host, redis, wire)
                ok(PASSWORD not in host.log(), "the log does not show the password")
        finally:
            redis.stop()
    done()


main()
