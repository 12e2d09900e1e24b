# SPDX-License-Identifier: MIT
"""The server side of Socket Mode: WebSockets that send envelopes and receive acknowledgements."""

import json
import os
import urllib.parse

from server import Answer, drop_socket
from slack_messages import APP
from slack_text import Refused
from websocket_peer import CLOSE, PING, PONG, TEXT, Broken, Peer, refused

MAX_SOCKETS, TICKET_SECONDS = 10, 30


class Socket(Peer):
    def __init__(self, sockets, handler, number):
        super().__init__(handler)
        self.number = number
        self.sockets = sockets
        self.ready = False  # the hello was sent
        self.leaving = False  # asked to disconnect: nothing new is sent
        self.waiting = {}  # envelopes that were sent and not acknowledged

    def send(self, opcode, data=b""):
        """Sends while the lock of the record is held; returns False if the peer is gone."""
        if self.sockets.silent and opcode != CLOSE:
            return not self.closed
        return super().send(opcode, data)

    def send_json(self, value):
        self.sockets.note(self, "sent", value)
        return self.send(TEXT, json.dumps(value, ensure_ascii=False).encode())


class Sockets:
    """All sockets of the app. `service.events` gets acknowledgements, and the payloads of lost
    sockets."""

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
        with self.record.changed:
            expires = self._tickets.pop(query.get("ticket"), None)
        if expires is None or expires < self.record.now():
            self.record.violate("bad-token", "a ticket that is used, old or unknown")
            return Answer(401, "")
        return refused(request) or (lambda handler: self._serve(handler, request))

    def _serve(self, handler, request):
        handler.close_connection = True
        with self.record.changed:
            if len(self.all) >= MAX_SOCKETS:
                return
            self._count += 1
            socket = Socket(self, handler, self._count)
            socket.accept(request)
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
                socket.close(broken.args[0])
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
        """Chooses any socket: each payload is sent over one connection."""
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
        socket.close(code)

    def drop(self):
        for socket in list(self.all):
            drop_socket(socket.handler.connection, True)
            self.service.listener.cut(socket.handler.connection)
