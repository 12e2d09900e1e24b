# SPDX-License-Identifier: MIT
"""The gateway of Discord: connections, sessions that outlive them, heartbeats, and missed
events."""

import json
import os
import struct
import urllib.parse

from discord_world import APP, BOT, GUILD
from server import Answer, drop_socket
from websocket_peer import CLOSE, PING, PONG, TEXT, Broken, Peer, refused

GUILDS, GUILD_MESSAGES, DIRECT_MESSAGES, MESSAGE_CONTENT = 1, 1 << 9, 1 << 12, 1 << 15
KNOWN_INTENTS = 0x331FFFF
INTERVAL_MS, MAX_PAYLOAD, MAX_SENDS, SENDS_SECONDS = 41250, 4096, 120, 60
SESSION_SECONDS, IDENTIFY_SECONDS, MAX_EVENTS = 300, 5, 5000


class Session:
    def __init__(self, intents):
        self.id = os.urandom(16).hex()
        self.intents = intents
        self.seq = 0
        self.events = []  # all events that were sent or missed
        self.socket = None
        self.left = None  # the time at which its connection ended


class Closing(Exception):
    def __init__(self, code, words):
        super().__init__(f"{code} {words}")
        self.code, self.words = code, words


class Socket(Peer):
    def __init__(self, gateway, handler, number):
        super().__init__(handler)
        self.gateway, self.number = gateway, number
        self.session = None
        self.ended = False  # closed by the gateway, so that the close frame of the client is an echo
        self.sends = []
        self.beat_by = None  # the deadline of the next heartbeat
        self.silent = False  # a zombie connection: nothing is sent, and heartbeats are not acknowledged

    def send_json(self, value):
        if self.silent:
            return
        self.gateway.note(self, "sent", value)
        self.send(TEXT, json.dumps(value, ensure_ascii=False).encode())

    def end(self, code, words):
        self.ended = True
        self.gateway.note(self, "closing", {"code": code, "words": words})
        self.close(code, words)


class Gateway:
    def __init__(self, service):
        self.service, self.record = service, service.record
        self.sockets, self.sessions = [], {}
        self.says_hello = True
        self.left, self.total = 1000, 1000  # identifies
        self._identified = None
        self._count = 0
        self.operations = {1: self._beat, 2: self._identify, 6: self._resume, 3: self._ignore,
                           4: self._ignore, 8: self._ignore}  # fmt: skip

    def note(self, socket, what, content=None):
        self.record.add("socket", socket=socket.number, event=what, content=content)

    def url(self):
        return f"ws://127.0.0.1:{self.service.listener.port}/gateway"

    def limits(self):
        limit = {"total": self.total, "remaining": self.left, "max_concurrency": 1}
        reset = int(self.service.seconds(14400) * 1000)
        return {"session_start_limit": {**limit, "reset_after": reset}}

    # ---- a connection ----

    def connect(self, request):
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(request.handler.path).query))
        if self.service.options["gateway_down"]:
            return Answer(502, "")
        return refused(request) or (lambda handler: self._serve(handler, request, query))

    def _serve(self, handler, request, query):
        handler.close_connection = True
        with self.record.changed:
            self._count += 1
            socket = Socket(self, handler, self._count)
            socket.accept(request)
            self.sockets.append(socket)
            self.note(socket, "open", query)
            if query.get("v") != "10" or query.get("encoding") != "json":
                self.record.violate("bad-request", f"gateway with {query}")
                socket.end(4012, "Invalid API version.")
            elif self.says_hello:
                self._greet(socket)
        code = self._read_all(socket)
        with self.record.changed:
            self._forget(socket, code)

    def _greet(self, socket):
        interval = max(1, int(INTERVAL_MS * self.record.scale))
        socket.send_json({"op": 10, "s": None, "t": None, "d": {"heartbeat_interval": interval}})
        self._expect_beat(socket)

    def _expect_beat(self, socket):
        """A missing heartbeat ends the connection."""
        seconds = INTERVAL_MS / 1000 * 1.5 + 1 / self.record.scale * 5
        socket.beat_by = due = self.record.now() + self.service.seconds(seconds)

        def check_heartbeat():
            if not socket.closed and socket.beat_by == due and not socket.silent:
                self.record.violate("late-heartbeat", f"socket {socket.number}")
                socket.end(4000, "no heartbeat")

        self.service.timers.after(seconds, check_heartbeat)

    def _read_all(self, socket):
        """Returns the status of the close frame of the client, or None without one."""
        try:
            return self._read(socket)
        except Closing as closing:
            with self.record.changed:
                socket.end(closing.code, closing.words)
            return self._drain(socket)
        except Broken as broken:
            self.record.violate("bad-request", f"socket {socket.number}: {broken}")
            with self.record.changed:
                socket.close(broken.args[0])
        except (EOFError, OSError):
            pass
        return None

    def _drain(self, socket):
        """The close frame with which the client answers ours does not affect the session."""
        try:
            for opcode, _ in socket.frames():
                if opcode == CLOSE:
                    break
        except (EOFError, OSError, Broken):
            pass

    def _read(self, socket):
        for opcode, data in socket.frames():
            with self.record.changed:
                if opcode == CLOSE:
                    code = struct.unpack(">H", data[:2])[0] if len(data) >= 2 else 1005
                    socket.close(code if code != 1005 else 1000)
                    return code
                if opcode == PING:
                    socket.send(PONG, data)
                elif opcode != PONG:
                    self._message(socket, data)
        return None

    def _forget(self, socket, code):
        socket.closed = True
        self.sockets.remove(socket)
        self.note(socket, "close", {"code": code})
        session = socket.session
        if session and session.socket is socket:
            session.socket, session.left = None, self.record.now()
            if code in (1000, 1001) and not socket.ended:
                self.record.violate("session-ended", f"closed with {code}: the session is gone")
                self.sessions.pop(session.id, None)
        self.record.changed.notify_all()

    # ---- messages of the client ----

    def _message(self, socket, data):
        now = self.record.now()
        socket.sends = [t for t in socket.sends if t > now - self.service.seconds(SENDS_SECONDS)]
        socket.sends.append(now)
        if len(socket.sends) > MAX_SENDS and self.service.pace.on:
            self.record.violate("too-fast", "more than 120 payloads in a minute")
            raise Closing(4008, "Rate limited.")
        if len(data) > MAX_PAYLOAD:
            raise Closing(4002, "Payload too long.")
        try:
            payload = json.loads(data)
            operation, content = payload["op"], payload.get("d")
        except (ValueError, TypeError, KeyError):
            self.record.violate("bad-json", f"socket {socket.number}: {data[:100]!r}")
            raise Closing(4002, "Error while decoding payload.") from None
        self.note(socket, f"op{operation}", self._masked(content))
        if operation not in self.operations:
            raise Closing(4001, "Unknown opcode.")
        if operation not in (1, 2, 6) and not socket.session:
            raise Closing(4003, "Not authenticated.")
        self.operations[operation](socket, content)

    @staticmethod
    def _masked(content):
        return {**content, "token": "<TOKEN>"} if isinstance(content, dict) and "token" in content else content

    def _ignore(self, socket, content):
        """Ignores presence updates and similar messages."""

    def _beat(self, socket, seq):
        most = socket.session.seq if socket.session else None
        if seq is not None and (most is None or seq > most) and not socket.session:
            seq = None  # before a resume the number belongs to the resumed session
        if seq is not None and seq > most:
            self.record.violate("bad-request", f"heartbeat with {seq}, sent were {most}")
        self._expect_beat(socket)
        socket.send_json({"op": 11})

    def _check_token(self, content):
        if not isinstance(content, dict) or content.get("token") != self.service.token:
            self.record.violate("bad-token", "gateway")
            raise Closing(4004, "Authentication failed.")

    def _check_intents(self, intents):
        if not isinstance(intents, int) or intents & ~KNOWN_INTENTS:
            self.record.violate("bad-request", f"intents {intents}")
            raise Closing(4013, "Invalid intent(s).")
        if intents & MESSAGE_CONTENT and not self.service.options["message_content"]:
            raise Closing(4014, "Disallowed intent(s).")

    def _identify(self, socket, content):
        if socket.session:
            raise Closing(4005, "Already authenticated.")
        self._check_token(content)
        self._check_intents(content.get("intents"))
        now = self.record.now()
        if self._identified is not None and now - self._identified < self.service.seconds(IDENTIFY_SECONDS):
            if not self.service.options["quick_identify"]:
                socket.send_json({"op": 9, "s": None, "t": None, "d": False})
                return
        self._identified = now
        self.left -= 1
        if self.left <= 0:
            self.record.violate("token-reset", "no identify is left")
            self.service.token = None
            raise Closing(4004, "Authentication failed.")
        session = Session(content["intents"])
        self.sessions[session.id] = session
        self._join(socket, session)
        self._dispatch(session, "READY", self._ready(session))
        if session.intents & GUILDS:
            self._dispatch(session, "GUILD_CREATE", self.service.guild())

    def _ready(self, session):
        user = {**self.service.world.users[BOT].api(), "verified": True, "email": None, "flags": 0}
        return {
            "v": 10,
            "user": user,
            "guilds": [{"id": GUILD, "unavailable": True}],
            "session_id": session.id,
            "session_type": "normal",
            "resume_gateway_url": self.url(),
            "private_channels": [],
            "relationships": [],
            "application": {"id": APP, "flags": 0},
        }

    def _join(self, socket, session):
        if session.socket:  # a session has one connection
            session.socket.end(4000, "another connection")
        socket.session, session.socket, session.left = session, socket, None

    def _resume(self, socket, content):
        if socket.session:
            raise Closing(4005, "Already authenticated.")
        self._check_token(content)
        if self.service.options["cut_resumes"] > 0:
            self.service.options["cut_resumes"] -= 1
            raise Closing(4000, "Unknown error.")
        session = self.sessions.get(content.get("session_id"))
        gone = session and session.left is not None
        if gone and self.record.now() - session.left > self.service.seconds(SESSION_SECONDS):
            self.sessions.pop(session.id)
            session = None
        seq = content.get("seq")
        if session is None or self.service.options["refuse_resumes"]:
            self.sessions.pop(content.get("session_id"), None)
            socket.send_json({"op": 9, "s": None, "t": None, "d": False})
            return
        if not isinstance(seq, int) or seq > session.seq:
            self.record.violate("bad-request", f"resume from {seq}, sent were {session.seq}")
            raise Closing(4007, "Invalid seq.")
        self._join(socket, session)
        for event in [e for e in session.events if e["s"] > seq]:
            socket.send_json(event)
        self._dispatch(session, "RESUMED", {"_trace": []})

    # ---- messages of the gateway ----

    def _dispatch(self, session, kind, data):
        session.seq += 1
        event = {"t": kind, "s": session.seq, "op": 0, "d": data}
        session.events = [*session.events, event][-MAX_EVENTS:]
        if session.socket:
            session.socket.send_json(event)

    def dispatch_to_all(self, kind, make, wants):
        """Sends an event to each session that wants it; make(session) returns the data."""
        for session in list(self.sessions.values()):
            if wants(session):
                self._dispatch(session, kind, make(session))

    # ---- for tests ----

    def ready(self):
        return [s for s in self.sockets if s.session and not s.closed]

    def missed(self):
        """Whether each session has been sent all events."""
        return any(s.socket is None for s in self.sessions.values())

    def drop(self):
        for socket in list(self.sockets):
            drop_socket(socket.handler.connection, True)
            self.service.listener.cut(socket.handler.connection)

    def forget_sessions(self):
        for session in self.sessions.values():
            if session.socket:
                session.socket.session = None
        self.sessions.clear()

    def do(self, body):
        action = body["do"]
        if action == "drop":
            self.drop()
        elif action == "close":
            for socket in list(self.sockets):
                socket.end(body["code"], body.get("words", ""))
        elif action == "reconnect":
            self._to_all({"op": 7, "s": None, "t": None, "d": None})
        elif action == "invalid":
            if not body.get("resumable", False):
                self.forget_sessions()
            self._to_all({"op": 9, "s": None, "t": None, "d": body.get("resumable", False)})
        elif action == "beat":
            self._to_all({"op": 1, "s": None, "t": None, "d": None})
        elif action == "raw":
            for socket in list(self.sockets):
                socket.send(TEXT, body["text"].encode())
        elif action == "silence":
            for socket in list(self.sockets):
                socket.silent = True
        elif action == "hello":
            self.says_hello = body["on"]
        elif action == "forget":
            self.forget_sessions()
        else:
            raise ValueError(f"the gateway cannot {action}")

    def _to_all(self, payload):
        for socket in list(self.sockets):
            socket.send_json(payload)
