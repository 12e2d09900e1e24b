# SPDX-License-Identifier: MIT
"""The server side of Socket Mode: WebSockets that hand out envelopes and take acknowledgements."""

import base64
import hashlib
import json
import os
import struct
import urllib.parse

from server import Answer, drop_socket
from slack_messages import APP
from slack_text import Refused

GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
MAX_FRAME, MAX_SOCKETS, TICKET_SECONDS = 1 << 20, 10, 30


class Broken(Exception):
    """The peer broke the protocol; the code says how."""


class Socket:
    def __init__(self, sockets, handler, number):
        self.number = number
        self.sockets = sockets
        self.handler = handler
        self.ready = False  # it has had its hello
        self.leaving = False  # it was told to go: nothing new is sent there
        self.waiting = {}  # envelopes sent here and not acknowledged
        self.closed = False

    def send(self, opcode, data=b""):
        """With the record's lock held; False when the peer is gone."""
        if self.closed or (self.sockets.silent and opcode != CLOSE):
            return not self.closed
        head = bytes([0x80 | opcode])
        if len(data) < 126:
            head += bytes([len(data)])
        elif len(data) < 65536:
            head += b"\x7e" + struct.pack(">H", len(data))
        else:
            head += b"\x7f" + struct.pack(">Q", len(data))
        try:
            self.handler.wfile.write(head + data)
            return True
        except OSError:
            return False

    def send_json(self, value):
        self.sockets.note(self, "sent", value)
        return self.send(TEXT, json.dumps(value, ensure_ascii=False).encode())

    # ---- reading, in the connection's thread, without the lock ----

    def _exactly(self, count):
        data = self.handler.rfile.read(count)
        if len(data) < count:
            raise EOFError
        return data

    def _frame(self):
        first, second = self._exactly(2)
        if first & 0x70:
            raise Broken(1002)
        if not second & 0x80:
            raise Broken(1002)
        length = second & 0x7F
        if length == 126:
            (length,) = struct.unpack(">H", self._exactly(2))
        elif length == 127:
            (length,) = struct.unpack(">Q", self._exactly(8))
        if length > MAX_FRAME:
            raise Broken(1009)
        key = self._exactly(4)
        data = bytes(b ^ key[i % 4] for i, b in enumerate(self._exactly(length)))
        opcode, last = first & 0x0F, bool(first & 0x80)
        if opcode >= CLOSE and (not last or length > 125):
            raise Broken(1002)
        return last, opcode, data

    def frames(self):
        """Messages and control frames, one after another."""
        parts, kind = [], None
        while True:
            last, opcode, data = self._frame()
            if opcode >= CLOSE:
                yield opcode, data
                continue
            if (opcode == CONTINUATION) != (kind is not None):
                raise Broken(1002)
            kind = kind if opcode == CONTINUATION else opcode
            parts.append(data)
            if last:
                yield kind, b"".join(parts)
                parts, kind = [], None


class Sockets:
    """All sockets of the app. `service.events` gets acknowledgements and what was lost."""

    def __init__(self, service):
        self.service = service
        self.record = service.record
        self.all = []
        self.silent = False
        self.hello = True
        self._tickets = {}
        self._count = 0

    def note(self, socket, what, content=None):
        self.record.add("socket", socket=socket.number, event=what, content=content)

    def open(self):
        if not self.service.options["socket_mode"]:
            raise Refused("socket_mode_not_enabled", rule=None)
        ticket = os.urandom(8).hex()
        expires = self.record.now() + self.service.seconds(TICKET_SECONDS)
        self._tickets[ticket] = expires
        host = f"127.0.0.1:{self.service.listener.port}"
        return {"url": f"ws://{host}/link/?ticket={ticket}&app_id={APP}"}

    # ---- one connection ----

    def connect(self, request):
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(request.handler.path).query))
        headers = request.headers
        with self.record.changed:
            expires = self._tickets.pop(query.get("ticket"), None)
        if expires is None or expires < self.record.now():
            self.record.violate("bad-token", "a ticket that is used, old or unknown")
            return Answer(401, "")
        upgrade = headers.get("upgrade", "").lower() == "websocket"
        key = headers.get("sec-websocket-key", "")
        if not upgrade or "upgrade" not in headers.get("connection", "").lower() or not key:
            return Answer(400, "")
        if headers.get("sec-websocket-version") != "13" or len(base64.b64decode(key)) != 16:
            return Answer(426, "", {"Sec-WebSocket-Version": "13"})
        accept = base64.b64encode(hashlib.sha1((key + GUID).encode()).digest()).decode()
        return lambda handler: self._serve(handler, accept)

    def _serve(self, handler, accept):
        handler.close_connection = True
        with self.record.changed:
            if len(self.all) >= MAX_SOCKETS:
                return
            head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
            head += f"Connection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
            handler.wfile.write(head.encode())
            self._count += 1
            socket = Socket(self, handler, self._count)
            self.all.append(socket)
            self.note(socket, "open")
            if self.hello:
                self._greet(socket)
        self._ping_later(socket)
        try:
            self._read(socket)
        except Broken as broken:
            self.record.violate("bad-request", f"socket {socket.number}: {broken}")
            with self.record.changed:
                socket.send(CLOSE, struct.pack(">H", broken.args[0]))
        except (EOFError, OSError):
            pass
        finally:
            self._forget(socket)

    def _greet(self, socket):
        socket.send_json(
            {
                "type": "hello",
                "num_connections": len(self.all),
                "debug_info": {"host": "applink-fake", "approximate_connection_time": 18060},
                "connection_info": {"app_id": APP},
            }
        )
        socket.ready = True
        self.record.changed.notify_all()
        self.service.events.flush()

    def _forget(self, socket):
        with self.record.changed:
            socket.closed = True
            self.all.remove(socket)
            self.note(socket, "close")
            self.service.events.lost(socket)

    def _ping_later(self, socket):
        def ping():
            if not socket.closed:
                socket.send(PING, b"Ping from applink-fake")
                self._ping_later(socket)

        self.service.timers.after(self.service.options["ping_every"], ping)

    def _read(self, socket):
        for opcode, data in socket.frames():
            with self.record.changed:
                if opcode == CLOSE:
                    socket.send(CLOSE, data[:2])
                    return
                if opcode == PING:
                    self.note(socket, "ping")
                    socket.send(PONG, data)
                elif opcode == PONG:
                    self.note(socket, "pong")
                else:
                    self._message(socket, data)

    def _message(self, socket, data):
        try:
            ack = json.loads(data)
            number = ack["envelope_id"]
        except (ValueError, TypeError, KeyError):
            self.record.violate("bad-json", f"socket {socket.number}: {data[:100]!r}")
            return
        self.note(socket, "ack", ack)
        self.service.events.acknowledge(number, ack.get("payload"))

    # ---- for events and tests ----

    def greeted(self):
        return [s for s in self.all if s.ready and not s.closed]

    def pick(self, turn):
        """Any one of them: each payload goes to one connection."""
        usable = [s for s in self.greeted() if not s.leaving] or self.greeted()
        return usable[turn % len(usable)] if usable else None

    def disconnect(self, reason, close):
        for socket in list(self.all):
            socket.send_json({"type": "disconnect", "reason": reason, "debug_info": {"host": "x"}})
            socket.leaving = True
            if close:
                self.close(socket, 1000)
        if reason == "link_disabled":
            self.service.options["socket_mode"] = False

    def close(self, socket, code):
        socket.send(CLOSE, struct.pack(">H", code))

    def drop(self):
        for socket in list(self.all):
            drop_socket(socket.handler.connection, True)
            self.service.listener.cut(socket.handler.connection)
