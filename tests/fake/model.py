# SPDX-License-Identifier: MIT
"""A model's API for published agents: Anthropic's Messages, streamed. What it answers is scripted by
the words of the newest message of the user, or of whatever else the agent puts there.

    model.py        prints PORT and the number; ends with its standard input

A script is one line of a prompt, `DO step | step | ...`, one step per call of the model:

    say TEXT        ends the turn
    bash COMMAND    a call of Bash; with `&` behind it, in the background
    agent PROMPT    a call of Agent; its prompt is a script itself, for the sub-agent
    nothing         ends the turn without a word
    wait SECONDS    before the step behind it, in the same call

`/` stands for `|` in the prompt of a sub-agent. What comes after the last step is `nothing`."""

import json
import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SCRIPT = re.compile(r"^\s*DO (.*)$", re.M)
USAGE = {"input_tokens": 100, "output_tokens": 42}


def text_of(content):
    if isinstance(content, str):
        return content
    return "\n".join(
        block.get("text", "") for block in content if isinstance(block, dict) and block["type"] == "text"
    )


def steps_of(messages):
    """The steps of the newest script, and how often the model has spoken since."""
    steps, spoken = [], 0
    for message in messages:
        if message["role"] == "assistant":
            spoken += 1
            continue
        found = SCRIPT.findall(text_of(message["content"]))
        if found:
            steps, spoken = [step.strip() for step in found[-1].split("|")], 0
    return steps, spoken


def block_of(step, number):
    """A step as a block of a message, or None, and why the message ends there."""
    word, _, rest = step.partition(" ")
    if word == "say":
        return {"type": "text", "text": rest}, "end_turn"
    if word == "bash":
        given = {"command": rest.removesuffix("&").strip(), "description": "a command"}
        if rest.endswith("&"):
            given["run_in_background"] = True
        return tool("Bash", given, number), "tool_use"
    if word == "agent":
        given = {"description": "Count files", "prompt": "DO " + rest.replace("/", "|")}
        return tool("Agent", {**given, "subagent_type": "general-purpose"}, number), "tool_use"
    return None, "end_turn"


def tool(name, given, number):
    return {"type": "tool_use", "id": f"toolu_{number:06d}", "name": name, "input": given}


class Model:
    def __init__(self):
        self.lock = threading.Lock()
        self.calls = 0

    def answer(self, request):
        """The events of one streamed message."""
        with self.lock:
            self.calls += 1
            number = self.calls
        steps, spoken = steps_of(request["messages"])
        step = steps[spoken] if spoken < len(steps) else "nothing"
        while step.startswith("wait "):
            seconds, _, step = step.removeprefix("wait ").partition(" ")
            time.sleep(float(seconds))
        block, reason = block_of(step, number)
        message = {
            "id": f"msg_{number:06d}", "type": "message", "role": "assistant",
            "model": request.get("model", "model"), "content": [], "stop_reason": None,
            "stop_sequence": None, "usage": USAGE,
        }
        yield "message_start", {"message": message}
        if block:
            yield from pieces(block)
        delta = {"stop_reason": reason, "stop_sequence": None}
        yield "message_delta", {"delta": delta, "usage": {"output_tokens": 42}}
        yield "message_stop", {}


def pieces(block):
    if block["type"] == "text":
        empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
    else:
        empty = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    yield "content_block_start", {"index": 0, "content_block": empty}
    yield "content_block_delta", {"index": 0, "delta": delta}
    yield "content_block_stop", {"index": 0}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model = Model()

    def log_message(self, *_):
        pass

    def _end(self, body, kind="application/json"):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_HEAD(self):
        self._end(b"")

    def do_GET(self):
        self._end(b"{}")

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        path = self.path.partition("?")[0]
        if path.endswith("/count_tokens"):
            self._end(b'{"input_tokens":100}')
        elif path.endswith("/messages"):
            events = self.model.answer(request)
            if request.get("stream"):
                self._stream(events)
            else:
                self._end(json.dumps(whole(events)).encode())
        else:
            self._end(b"{}")

    def _stream(self, events):
        text = "".join(
            f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n" for kind, data in events
        )
        self._end(text.encode(), "text/event-stream")


def whole(events):
    message = {}
    for kind, data in events:
        if kind == "message_start":
            message = dict(data["message"])
        elif kind == "content_block_delta" and data["delta"]["type"] == "text_delta":
            message["content"] = [{"type": "text", "text": data["delta"]["text"]}]
        elif kind == "message_delta":
            message["stop_reason"] = data["delta"]["stop_reason"]
    return message


def main():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print("PORT", server.server_address[1], flush=True)
    sys.stdin.read()


main()
