# SPDX-License-Identifier: MIT
"""Requests that a program of the connector exec hands over to the host: they are on disk in the place
of the outcome that they deliver, paced, and go only where the instance permits it."""
import http.server
import json
import os
import pathlib
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "api"))

from door import Door, done, equal, ok, until, written  # noqa: E402

PROGRAM = pathlib.Path(__file__).resolve().parent / "post.py"
PYTHON = os.path.realpath(sys.executable)
ROOTS = [sys.prefix, sys.base_prefix, str(PROGRAM.parent), str(PROGRAM.parents[2] / "share")]
TOKEN = "canary-secret-4711"
PACE_MS = 300


class Taker(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"] or 0)).decode()
        post = (time.monotonic(), self.path, self.headers.get("Authorization"), body)
        (self.server.posts if self.path == "/post" else self.server.others).append(post)
        self.server.types.add((self.path, self.headers.get("Content-Type")))
        self.send_response(400 if "refused" in body else 200)
        self.send_header("X-Id", str(len(self.server.posts)))
        self.send_header("Content-Length", "4")
        self.end_headers()
        self.wfile.write(b"Yes.")

    def log_message(self, *_):
        pass


class Service:
    """On the same port each time it starts."""

    def __init__(self):
        self.posts, self.others, self.types, self.port = [], [], set(), 0
        self.server = None

    def start(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), Taker)
        self.server.posts, self.server.others, self.server.types = self.posts, self.others, self.types
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def texts(self):
        """The first words of each answer."""
        return [" ".join(json.loads(post[3])["text"].split()[:2]) for post in self.posts]


def said(host, text):
    return any(text in line for line in host.log().splitlines() if "instance room: " in line)


def await_said(host, text):
    until(lambda: said(host, text), text)
    ok(said(host, text), text)


def refused(host):
    """Each is answered with the reason, and none goes out."""
    for i in range(6):
        await_said(host, f"reply url{i} invalid: the option urls of the instance does not permit this url")
    await_said(host, "reply headers invalid: headers must be an object of at most 64 strings")
    await_said(host, "reply priority invalid: priority must be final, request, notice or live")
    await_said(host, "reply n invalid: n is not the number of an unacknowledged event")
    await_said(host, "reply time invalid: the request is not valid")
    await_said(host, "response unknown rejected 0")
    await_said(host, "response list rejected 0")


def posted(host, service):
    """A text, without an event."""
    await_said(host, "response text ok 200 Yes.")
    equal([post[1:] for post in service.others], [("/text", None, "Hi")], "a text is posted")
    equal(service.types, {("/text", "text/plain; charset=utf-8")}, "as one")


def sent(host, service):
    """Each outcome is posted, in order, with the secret, at the pace that the program wants."""
    turns = [host.begin(f"id=p{i}", conversation="c")["id"] for i in range(3)]
    until(lambda: len(service.posts) == 3, "all are posted")
    equal(service.texts(), [f"Answer p{i}" for i in range(3)], "each once, in order")
    ok(("/post", "application/json; charset=utf-8") in service.types, "an object is JSON")
    equal({post[1:3] for post in service.posts}, {("/post", f"Bearer {TOKEN}")}, "with the secret")
    times = [post[0] for post in service.posts]
    pauses = [b - a for a, b in zip(times, times[1:])]
    ok(min(pauses) > PACE_MS / 1000 * 0.9, "at its pace", pauses)
    for i, turn in enumerate(turns):
        await_said(host, f"response {turn} ok 200 Yes. {i + 1}")
    turn = host.begin("id=refused")["id"]
    await_said(host, f"response {turn} rejected 400 Yes. 4")
    status, out = host.run("dead", "list")
    ok(turn in out, "what the service refuses is a dead letter", out)
    equal(TOKEN in host.run("dead", "show", out.split()[0])[1], False, "without the secret")


def stored(host, service):
    """What the service was not there for is posted by the next host, and told nobody again."""
    service.stop()
    before = len(service.posts)
    turn = host.begin("id=kept")["id"]
    seen = next(host.state.rglob("seen"))
    until(lambda: turn in written(seen), "the program has the outcome")
    until(lambda: host.turn(turn)["state"] == "final", "the turn is over")
    until(lambda: outbox(host), "the request waits")
    host.kill()
    equal(any(TOKEN.encode() in path.read_bytes() for path in host.state.glob("state.db*")), False,
          "the secret is not on disk")
    service.start()
    host.start()
    until(lambda: len(service.posts) > before, "the next host posts it")
    await_said(host, f"response {turn} ok 200")
    equal(service.texts()[before:], ["Answer kept"], "once")
    equal(written(seen).count(turn), 1, "the program was not told again")


def outbox(host):
    """Requests that are not delivered."""
    status = json.loads(host.run("status", "--json")[1])
    room = next(i for i in status["instances"] if i["name"] == "room")
    return room["requests_waiting"] + room["requests_in_flight"]


def main():
    service = Service()
    service.start()
    keys = {"plugin": "exec", "command": [PYTHON, "-B", str(PROGRAM), str(PACE_MS)], "read": ROOTS,
            "turns": "all", "urls": ["{option:env.BASE}"],
            "env": [f"BASE=http://127.0.0.1:{service.port}", "TOKEN=env:POST_TOKEN"]}
    os.environ["POST_TOKEN"] = TOKEN
    text = " ".join(f"{key} = {json.dumps(value)};" for key, value in keys.items())
    with Door(instances=f"room : {{ {text} }}; ") as host:
        until(host.has_started, "it runs")
        refused(host)
        posted(host, service)
        sent(host, service)
        stored(host, service)
        equal(host.stop(), 0, "the host ends")
        equal([line for line in host.log().splitlines() if "breaks the schema" in line], [],
              "no message breaks the schema")
        equal(TOKEN in host.log(), False, "the secret is not in the log")
    service.stop()
    done()


main()
