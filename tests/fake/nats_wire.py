# SPDX-License-Identifier: MIT
"""A small client of NATS for tests: the text protocol with headers, and JetStream's requests.

Calls block, and a client must not be used by two threads at the same time. The client is independent of turncast.
"""
import base64
import json
import os
import socket
import time


class Message:
    def __init__(self, subject, reply, headers, data):
        self.subject, self.reply, self.headers, self.data = subject, reply, headers, data
        self.status = headers.get(":status")

    def json(self):
        return json.loads(self.data)


class NatsWire:
    def __init__(self, port, user=None, password=None):
        self.sock = socket.create_connection(("127.0.0.1", port), timeout=10)
        self.file = self.sock.makefile("rb")
        self.info = json.loads(self.file.readline().split(b" ", 1)[1])
        options = {"verbose": False, "headers": True, "no_responders": True, "protocol": 1}
        if user:
            options.update(user=user, **{"pass": password})
        self.inbox = "_INBOX.test%s" % base64.b16encode(os.urandom(8)).decode()
        self.asked = 0
        self.waiting = []
        self.send(b"CONNECT %s\r\nPING\r\n" % json.dumps(options).encode())
        line = self.file.readline()
        if line.startswith(b"-ERR"):
            raise OSError(line.decode().strip())
        self.sids = 0
        self.subscribe(self.inbox + ".*")

    def send(self, data):
        self.sock.sendall(data)

    def close(self):
        self.file.close()
        self.sock.close()

    def subscribe(self, subject):
        self.sids += 1
        self.send(b"SUB %s %d\r\n" % (subject.encode(), self.sids))
        self.send(b"PING\r\n")
        while True:
            line = self.file.readline()
            if line.startswith(b"PONG"):
                return self.sids
            self._handle_line(line)

    def publish(self, subject, data, reply="", headers=None):
        if isinstance(data, str):
            data = data.encode()
        if headers:
            head = b"NATS/1.0\r\n" + b"".join(
                b"%s: %s\r\n" % (k.encode(), str(v).encode()) for k, v in headers.items()) + b"\r\n"
            self.send(b"HPUB %s %s %d %d\r\n%s%s\r\n" % (
                subject.encode(), reply.encode(), len(head), len(head) + len(data), head, data))
        else:
            self.send(b"PUB %s %s %d\r\n%s\r\n" % (subject.encode(), reply.encode(), len(data), data))

    def _handle_line(self, line):
        words = line.split()
        if not words:
            raise OSError("the server has closed the connection")
        if words[0] == b"PING":
            self.send(b"PONG\r\n")
        elif words[0] == b"-ERR":
            raise OSError(line.decode().strip())
        elif words[0] in (b"MSG", b"HMSG"):
            self.waiting.append(self._read(words))

    def _read(self, words):
        with_head = words[0] == b"HMSG"
        sizes = 2 if with_head else 1
        reply = words[3].decode() if len(words) == 4 + sizes else ""
        total = int(words[-1])
        body = self.file.read(total + 2)[:total]
        headers = {}
        if with_head:
            head, body = body[:int(words[-2])], body[int(words[-2]):]
            lines = head.decode().split("\r\n")
            status = lines[0].split(" ", 2)
            if len(status) > 1:
                headers[":status"] = int(status[1])
            for text in lines[1:]:
                if ":" in text:
                    key, value = text.split(":", 1)
                    headers[key] = value.strip()
        return Message(words[1].decode(), reply, headers, body)

    def next(self, seconds=10, match=None):
        """Returns the next message whose subject begins with `match`; None after the time."""
        end = time.monotonic() + seconds
        while True:
            for i, message in enumerate(self.waiting):
                if not match or message.subject.startswith(match):
                    return self.waiting.pop(i)
            left = end - time.monotonic()
            if left <= 0:
                return None
            self.sock.settimeout(left)
            try:
                line = self.file.readline()
            except TimeoutError:
                self.file = self.sock.makefile("rb")
                return None
            finally:
                self.sock.settimeout(10)
            self._handle_line(line)

    def request(self, subject, data="", headers=None, seconds=10):
        self.asked += 1
        inbox = "%s.%d" % (self.inbox, self.asked)
        self.publish(subject, data, inbox, headers)
        return self.next(seconds, inbox)

    def api(self, what, body=None):
        return self.request("$JS.API." + what, json.dumps(body) if body is not None else "").json()
