#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traces of turns at a strict receiver: from a host with several concurrent turns, through an outage of the
receiver, and through kills of the host and of the connector."""
import hashlib
import json
import os
import signal
import subprocess

from cases import await_, run, same
from talk import BUILD, Host, done, note, ok, until
from otlpd import Receiver

TOKEN = "Basic canary-of-this-test"
EXTRA = "conversations : { debounce_ms = 0; };"


def instance(receiver, more=""):
    return f"""otlp : {{ endpoint = "{receiver.url}"; headers = ["Authorization=env:OTLP_TOKEN"]; {more} }};"""


class Tracing(Host):
    def environment(self):
        return dict(super().environment(), OTLP_TOKEN=TOKEN)

    def send(self, text, *more):
        """The id of the turn."""
        status, output = self.run("send", "-d", *more, text)
        assert status == 0, output
        return output.strip()

    def ask(self, text):
        return self.send(text, "-C", text.split()[0])


def trace_id(turn):
    return hashlib.sha256(turn.encode()).hexdigest()[:32]


def attributes(span):
    return {a["key"]: list(a["value"].values())[0] for a in span["attributes"]}


def trace(receiver, turn):
    return [s for s in receiver.spans() if s["traceId"] == trace_id(turn)]


def root(receiver, turn):
    return next((s for s in trace(receiver, turn) if not s["parentSpanId"]), None)


def whole(receiver, turn):
    """All spans of an ended turn."""
    await_(lambda: root(receiver, turn), f"the end of {turn}")
    return trace(receiver, turn)


# ---- beside each other


def round_(receiver, host):
    """a turn is a trace: its root, its tools and its model calls, with times"""
    turn = host.ask("id=one tools=2 ms=100")
    spans = whole(receiver, turn)
    names = sorted(s["name"] for s in spans)
    same([n for n in names if not n.startswith("chat")], ["execute_tool Bash", "execute_tool Bash", "invoke_agent main"])
    end = root(receiver, turn)
    same({s["parentSpanId"] for s in spans} - {""}, {end["spanId"]}, "parents")
    tool = next(s for s in spans if s["name"] == "execute_tool Bash")
    took = (int(tool["endTimeUnixNano"]) - int(tool["startTimeUnixNano"])) / 1e9
    assert 0.02 < took < 60, took
    found = attributes(end)
    same(found["gen_ai.conversation.id"], "http:local:main:id=one", "conversation")
    same((found["turncast.turn.id"], found["turncast.done.reason"]), (turn, "completed"))
    assert not any("Answer" in json.dumps(s) for s in spans), "content without the option"


def failed(receiver, host):
    """a turn that fails has error.type and a status"""
    turn = host.ask("id=bad fail")
    whole(receiver, turn)
    end = root(receiver, turn)
    same(end["status"]["code"], 2, "status")
    assert attributes(end)["error.type"], end


def cancelled(receiver, host):
    """a stopped turn: its open tool call ends with it"""
    turn = host.ask("id=stop tools=2 gated")
    host.let_go("stop")
    await_(lambda: trace(receiver, turn), "the first tool")
    same(host.run("cancel", turn)[0], 0, "status of cancel")
    tools = [s for s in whole(receiver, turn) if s["name"] == "execute_tool Bash"]
    same([s["status"].get("code") for s in tools], [None, 2], "status of its tools")
    assert attributes(tools[1])["error.type"] in ("failed", "cancelled"), tools


def many(receiver, host):
    """R22: twenty turns at once: each trace is complete, and no span is sent twice"""
    turns = [host.ask(f"id=m{n} tools=3") for n in range(20)]
    for turn in turns:
        spans = whole(receiver, turn)
        same(len([s for s in spans if s["name"] == "execute_tool Bash"]), 3, "tools")
        same(len({s["spanId"] for s in spans}), len(spans), "ids")


def partial(receiver, host):
    """a receiver that rejects spans is reported in the log"""
    receiver.answer("partial")
    whole(receiver, host.ask("id=part"))
    await_(lambda: "the receiver rejected 1 of " in host.log(), "the log")


CASES = [many, round_, failed, cancelled, partial]


# ---- one after the other


def outage(receiver, host):
    """R5: spans that the receiver refuses temporarily are sent again; turns continue meanwhile"""
    receiver.answer(503, 429, "lost")
    turns = [host.ask(f"id=o{n} tools=1") for n in range(3)]
    for turn in turns:
        same(len([s for s in whole(receiver, turn) if s["name"] == "execute_tool Bash"]), 1, "tools")
    again = [r for r in receiver.requests if r["status"] in (503, 429, "lost")]
    same(len(again), 3, "requests that were refused")


def down(receiver, host):
    """R2: a receiver that is down delays no turn, and receives the traces later"""
    port = receiver.server_address[1]
    receiver.stop()
    status, answer = host.run("send", "-o", "text", "id=down tools=1")
    assert status == 0 and "Answer down" in answer, answer
    other = Receiver.start(header=receiver.header, port=port)
    turn = host.ask("id=up")
    await_(lambda: root(other, turn), "the trace of a later turn")
    same(len([s for s in other.spans() if s["name"] == "execute_tool Bash"]), 1, "tools of the turn before")
    other.stop()


def refused(receiver, host):
    """a refusal is reported once, and lost spans when the receiver accepts spans again"""
    receiver.answer(400, 400)
    for n in range(2):
        count = len(receiver.requests)
        host.ask(f"id=r{n}")
        await_(lambda: len(receiver.requests) > count, "a request")
    whole(receiver, host.ask("id=fine"))
    await_(lambda: "spans are sent again; spans lost: " in host.log(), "how many were lost")
    same(host.log().count("spans are being lost: "), 1, "lines")


def process(receiver, host):
    """R22: the connector process is killed during a turn: the trace continues under the same ids"""
    turn = host.ask("id=dies tools=2 gated")
    host.let_go("dies")
    await_(lambda: trace(receiver, turn), "the first tool")
    pids = subprocess.run(["pgrep", "-P", str(host.process.pid), "-f", "turncast-connector"], capture_output=True,
                          text=True, check=False).stdout.split()  # fmt: skip
    for pid in pids:
        os.kill(int(pid), signal.SIGKILL)
    host.let_go("dies")
    spans = whole(receiver, turn)
    same(len({s["spanId"] for s in spans if s["name"] == "execute_tool Bash"}), 2, "tools")
    first = min(int(s["startTimeUnixNano"]) for s in spans)
    assert int(root(receiver, turn)["startTimeUnixNano"]) <= first, [(s["name"], s["startTimeUnixNano"]) for s in spans]


def killed(receiver, host):
    """the host is killed during a turn: after its restart it sends the root with the original start time"""
    turn = host.ask("id=kill tools=2 gated")
    host.let_go("kill")
    await_(lambda: trace(receiver, turn), "the first tool")
    host.kill()
    same(root(receiver, turn), None, "no root before the end")
    host.start()
    spans = whole(receiver, turn)
    end = root(receiver, turn)
    same((attributes(end)["error.type"], end["status"]["code"]), ("host_restart", 2))
    same(int(end["startTimeUnixNano"]) <= min(int(s["startTimeUnixNano"]) for s in spans), True, "its start")
    same({s["parentSpanId"] for s in spans} - {""}, {end["spanId"]}, "parents")


# ---- commands


def doctor(host):
    """doctor: the receiver accepts the headers, refuses them, or cannot be reached"""
    told = lambda: host.run("doctor")[1]  # noqa: E731
    receiver = Receiver.start(header=f"Authorization={TOKEN}")
    place = receiver.url.split("//")[1]
    config = host.config.read_text()
    host.config.write_text(config.replace(config.split('endpoint = "')[1].split('"')[0], receiver.url))
    assert f"ok    instance otlp: {place} accepts the credentials" in told(), told()
    receiver.header = "Authorization=another"
    assert f"{place} does not accept headers (wrong credentials)" in told(), told()
    assert "canary" not in told()
    receiver.stop()
    assert f"warn  instance otlp: cannot reach {place}" in told(), told()


def full(host):
    """R22: the receiver does not answer: the queue is limited, lost spans are counted, and the replay ends"""
    receiver = Receiver.start()
    receiver.hold.clear()
    lines = [{"type": "start", "payload": {"model": "m"}}]
    for n in range(4000):
        lines.append({"type": "tool_call", "payload": {"name": "Bash", "args": {}, "tool_use_id": f"c{n}"}})
        lines.append({"type": "tool_result", "payload": {"tool_use_id": f"c{n}", "content": "x", "is_error": False}})
    lines.append({"type": "final", "payload": {"text": "Done."}})
    lines.append({"type": "done", "payload": {"reason": "completed"}})
    recording = host.folder / "recording.jsonl"
    recording.write_text("".join(json.dumps(line) + "\n" for line in lines))
    config = host.folder / "full.conf"
    config.write_text(f'plugins : {{ instances : {{ otlp : {{ endpoint = "{receiver.url}"; }}; }}; }};')
    config.chmod(0o600)
    with open(host.folder / "full.log", "wb") as log:
        command = [BUILD / "turncast", "replay", "-c", config, "-d", "turncast", recording]
        replay = subprocess.Popen(command, stderr=log, env=host.environment())
    await_(lambda: "spans are being lost: the queue is full" in (host.folder / "full.log").read_text(), "full")
    receiver.hold.set()
    same(replay.wait(60), 0, "the replay ends")
    spans = receiver.spans()
    same(len({s["spanId"] for s in spans}), len(spans), "no span twice")
    told = (host.folder / "full.log").read_text()
    lost = int(told.split("spans lost: ")[1].split()[0])
    same(len(spans) + lost, 4001, "all are sent or counted")
    assert len(spans) >= 2048, len(spans)
    same(max(len(r["body"]["resourceSpans"][0]["scopeSpans"][0]["spans"]) for r in receiver.requests), 512, "a batch")


def main():
    receiver = Receiver.start(header=f"Authorization={TOKEN}")
    with Tracing(instance(receiver), extra=EXTRA) as host:
        until(host.has_started, "the host serves")
        run(CASES, receiver, host)
        run([outage, refused, process, killed], receiver, host, at_once=1)
        run([down], receiver, host)
        same(host.stop(), 0, "the host ends")
        run([doctor, full], host)
        ok("canary" not in host.log(), "R23: no secret in the log", host.log())
        note(f"requests: {len(receiver.requests)}")
    done()


main()
