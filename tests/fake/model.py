# SPDX-License-Identifier: MIT
"""A scripted model behind the HTTP APIs that published agents speak; all of them stream.

    model.py        prints PORT and the number; ends with its standard input

Anthropic Messages, OpenAI Responses, OpenAI chat completions and Gemini each have a module
(`model_*.py`); the path of a request selects it. `model_script.py` describes the scripts that the
prompts carry. Listens on loopback only."""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import model_anthropic
import model_chat
import model_gemini
import model_responses
from model_script import Script

APIS = (model_anthropic, model_responses, model_chat, model_gemini)
MAX_REQUEST = 64 << 20


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    script = Script()

    def log_message(self, *_):
        pass

    def _end(self, value, status=200):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_HEAD(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self):
        self._end({"object": "list", "data": [], "models": []})

    def do_POST(self):
        length = int(self.headers.get("Content-Length", 0))
        if length > MAX_REQUEST:
            self._end({}, 413)
            return
        request = json.loads(self.rfile.read(length) or b"{}")
        path = self.path.partition("?")[0]
        for api in APIS:
            if api.serves(path):
                self._answer(api, path, request)
                return
        self._end({"input_tokens": 100, "totalTokens": 100})

    def _answer(self, api, path, request):
        number, reply = self.script.next(api.conversation(request), api.tools(request))
        if isinstance(reply.fault, int):
            self._end(api.error(reply.fault), reply.fault)
        elif api.streams(path, request):
            self._stream(api.events(number, request, reply), reply.fault)
        else:
            self._end(api.whole(number, request, reply))

    def _stream(self, events, fault):
        """Sends chunks of one event each. `cut` closes the connection before the last half of the
        events; `stall` keeps it open there without sending."""
        events = list(events)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in events[: len(events) // 2] if fault else events:
            data = event.encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()
        if fault == "stall":
            self.rfile.read(1)  # until the agent closes the connection
        if fault:
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """Ignores agents that close the connection."""


def main():
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print("PORT", server.server_address[1], flush=True)
    sys.stdin.read()


main()
