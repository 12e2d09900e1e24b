# SPDX-License-Identifier: MIT
"""Shared by the tests of the HTTP interface: a host that listens, and clients that send any bytes."""
import http.client
import json
import pathlib
import re
import socket
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "talk"))

from talk import BUILD, Host, done, equal, note, ok, until, written  # noqa: E402,F401

KEYS = {
    "ann": ("ann-0123456789abcdef", ["submit", "cancel", "watch"]),
    "bob": ("bob-0123456789abcdef", ["submit", "cancel"]),
    "eve": ("eve-0123456789abcdef", ["watch"]),
}
LOG = 'log : { level = "info"; };'


def secret(name):
    return KEYS[name][0]


def http_group(keys=None, **more):
    """The group `http` of a configuration; keys None: the keys of KEYS."""
    lines = {"listen": "127.0.0.1:0", **more}
    text = " ".join(f"{name} = {json.dumps(value)};" for name, value in lines.items())
    text += " keys : {"
    for name, (key, grants) in (KEYS if keys is None else keys).items():
        text += f' {name} : {{ secret = "{key}"; grants = {json.dumps(grants)}; }};'
    return f"http : {{ {text} }}; }};\n"


class Door(Host):
    """`turncast serve` with HTTP and one connector, `log`, which writes all events."""

    def __init__(self, *, http=None, extra=LOG, instances="", **more):
        http = http_group() if http is None else http
        super().__init__(instances, events=True, extra=http + extra, **more)

    def start(self, **environment):
        before = len(self.log()) if self.log_path.exists() else 0
        super().start(**environment)
        found = until(
            lambda: re.search(r"listening on port (\d+)", self.log()[before:])
            or self.process.poll() is not None,
            "the host listens",
        )
        if not isinstance(found, re.Match):
            raise RuntimeError(f"the host ended:\n{self.log()}")
        self.port = int(found.group(1))

    def ask(self, method, path, *, key=None, body=None, **headers):
        """Sends a request; returns status, headers (lower case) and body. `key` is a name, `body` JSON or bytes."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        if key:
            headers["Authorization"] = f"Bearer {secret(key)}"
        if body is not None:
            headers.setdefault("Content_Type", "application/json")
            if not isinstance(body, bytes):
                body = json.dumps(body).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            connection.request(method, path, body, named)
            answer = connection.getresponse()
            text = answer.read()
            return answer.status, {k.lower(): v for k, v in answer.getheaders()}, text
        finally:
            connection.close()

    def status(self, method, path, **more):
        return self.ask(method, path, **more)[0]

    def turn(self, turn_id, key="ann"):
        return json.loads(self.ask("GET", f"/turns/{turn_id}", key=key)[2])

    def turns(self, key="ann"):
        return json.loads(self.ask("GET", "/turns", key=key)[2])["turns"]

    def begin(self, prompt, key="ann", headers=None, **more):
        """Returns the turn of the response."""
        status, _, text = self.ask(
            "POST", "/turns", key=key, body={"prompt": prompt, **more}, **(headers or {})
        )
        equal(status, 202, f"a turn is accepted: {prompt[:40]}")
        return json.loads(text)

    def await_state(self, turn_id, *states, key="ann"):
        """Waits until the turn is in one of the states, and returns it."""
        last = {}

        def look():
            last.update(self.turn(turn_id, key))
            return last["state"] in states

        until(look, f"the turn is {' or '.join(states)}")
        return last

    def say(self, text, seconds=10):
        """Sends these bytes on a separate connection; returns all bytes until the host closes it, or None if
        the host does not."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as s:
            parts = []
            try:
                s.sendall(text)
                while part := s.recv(65536):
                    parts.append(part)
            except TimeoutError:
                return None
            except (ConnectionResetError, BrokenPipeError):
                pass
            return b"".join(parts)

    def follow(self, path, key="ann", **headers):
        return Stream(self.port, path, key, headers)


class Stream:
    """Server-sent events, read one after another: (id, event, data)."""

    def __init__(self, port, path, key, headers, buffer=0):
        self.socket = socket.socket()
        if buffer:
            # A window smaller than the segments of loopback would open only when it is probed.
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 1000)
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self.socket.settimeout(30)
        self.socket.connect(("127.0.0.1", port))
        self.connection = http.client.HTTPConnection("127.0.0.1", port)
        self.connection.sock = self.socket
        if key:
            headers["Authorization"] = f"Bearer {secret(key)}"
        self.connection.request(
            "GET", path, headers={name.replace("_", "-"): v for name, v in headers.items()}
        )
        self.answer = self.connection.getresponse()
        self.status = self.answer.status
        self.comments = 0

    def next(self):
        """Returns None if the stream has ended correctly; raises EOFError if it was cut."""
        ident, event, data = None, "message", []
        while line := self.answer.readline():
            text = line.decode().rstrip("\n")
            if not text and data:
                return ident, event, "\n".join(data)
            name, _, value = text.partition(": ")
            if name == "id":
                ident = int(value)
            elif name == "event":
                event = value
            elif name == "data":
                data.append(value)
            elif text.startswith(":"):
                self.comments += 1
        if self.answer.chunk_left is not None:
            raise EOFError("the stream was cut")
        return None

    def rest(self):
        found = []
        while (item := self.next()) is not None:
            found.append(item)
        return found

    def json(self):
        item = self.next()
        return item and json.loads(item[2])

    def widen(self):
        """Restores the size of the receive buffer; TCP fills a small one only once a second."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)

    def close(self):
        self.connection.close()
        self.socket.close()
