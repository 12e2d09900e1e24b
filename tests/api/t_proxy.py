#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A host behind a proxy that buffers an answer until its end unless X-Accel-Buffering is "no", as nginx does.
Every stream of events passes while its turn runs, and requests with the forwarded Host are accepted."""
import http.client
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from door import Door, done, equal, http_group, ok, secret, until  # noqa: E402

NAME = "agent.example.org"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"  # An answer ends with the connection.

    def pass_on(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        upstream = http.client.HTTPConnection("127.0.0.1", self.server.upstream, timeout=60)
        upstream.request(self.command, self.path, body or None, dict(self.headers))
        answer = upstream.getresponse()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("transfer-encoding", "connection", "date"):
                self.send_header(name, value)
        self.end_headers()
        if answer.getheader("X-Accel-Buffering") == "no":
            while part := answer.read1(65536):
                self.wfile.write(part)
        else:
            self.wfile.write(answer.read())
        upstream.close()

    do_GET = do_POST = pass_on

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """Ignores the error of a client that has disconnected."""


class Proxy:
    def __init__(self, upstream):
        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.upstream = upstream
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def ask(self, method, path, body=None, **headers):
        """Sends a request as a browser at https://agent.example.org does; returns the open response."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.server_port, timeout=60)
        named = {"Host": NAME, "Origin": f"https://{NAME}", "X-API-Key": secret("ann"),
                 **{name.replace("_", "-"): value for name, value in headers.items()}}
        if body is not None:
            named["Content-Type"] = "application/json"
        connection.request(method, path, None if body is None else json.dumps(body), named)
        return connection.getresponse()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def first_data(answer):
    while line := answer.readline():
        if line.startswith(b"data: "):
            return line
    return None


def said(name):
    return [{"id": "m", "role": "user", "content": f"id={name} tools=1 gated"}]


def test_streams(host, proxy):
    """Each agent waits at its gate until the first event of the stream has come through."""
    run = {"threadId": "t", "runId": "r", "state": {}, "tools": [], "context": [],
           "forwardedProps": {}, "messages": said("run")}
    chat = {"model": "main", "messages": said("chat"), "stream": True}
    turn = host.begin("id=turn tools=1 gated")["id"]
    for name, gate, answer in (
        ("/turns/ID/events", "turn", proxy.ask("GET", f"/turns/{turn}/events")),
        ("/ag-ui", "run", proxy.ask("POST", "/ag-ui", run)),
        ("/v1/chat/completions", "chat", proxy.ask("POST", "/v1/chat/completions", chat)),
    ):
        equal(answer.status, 200, f"{name}: 200")
        equal(answer.getheader("X-Accel-Buffering"), "no", f"{name}: the response disables buffering")
        ok(first_data(answer), f"{name}: the first event passes while the turn runs")
        host.let_go(gate)
        answer.read()
    watched = proxy.ask("GET", "/turns/events")
    ok(first_data(watched), "/turns/events: the first event passes")
    watched.close()


def test_names(proxy):
    answer = proxy.ask("POST", "/turns", {"prompt": "id=page"})
    equal(answer.status, 202, "the page behind the proxy may begin a turn")
    equal(proxy.ask("GET", "/", Host="other.example.org").status, 421, "a host name that is not listed is refused")
    equal(proxy.ask("POST", "/turns", {"prompt": "no"}, Host="127.0.0.1").status, 403,
          "a proxy that does not forward the Host: the Origin is refused")


with Door(http=http_group(hosts=[NAME])) as door:
    front = Proxy(door.port)
    test_streams(door, front)
    test_names(front)
    until(lambda: all(t["state"] == "final" for t in door.turns()), "all turns end")
    front.close()
    equal(door.stop(), 0, "the host exits with status 0")
done()
