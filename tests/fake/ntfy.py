#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The ntfy fake: a server with access control and limits, and phones. README.md describes it."""

import base64
import hashlib
import json
import random
import re
import string
import struct
import sys
import urllib.error
import urllib.request

sys.dont_write_bytecode = True

from control import Unable  # noqa: E402
from pace import Limit  # noqa: E402
from server import Answer, drop_socket  # noqa: E402
from service import Call, Service, main, unix_time  # noqa: E402

TOKEN, BUTTONS_TOKEN = "tk_fakentfyaccesstoken", "tk_fakentfybuttonstoken"
USER, PASSWORD = "bot", "fake-ntfy-password"
TOPIC, ANSWERS = "fake-topic-a8b7c6", "fake-answers-a8b7c6"
MESSAGE_BYTES, BODY_BYTES, ACTIONS = 4096, 32768, 3
GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
NAME = re.compile(r"[-_A-Za-z0-9]{1,64}\Z")
FIELDS = {"topic", "message", "title", "tags", "priority", "actions", "click", "attach", "markdown",
          "icon", "filename", "delay", "email", "call", "sequence_id", "cache", "firebase"}  # fmt: skip
LINK = "https://ntfy.sh/docs/publish/"


class Refused(Exception):
    def __init__(self, code, status, words):
        super().__init__(words)
        self.body = {"code": code, "http": status, "error": words, "link": LINK}
        self.status = status


class Ntfy(Service):
    paths = "/v1/"
    tokens = (TOKEN, BUTTONS_TOKEN, PASSWORD)
    unlocked = ("press",)

    def start(self):
        self.messages, self.sockets = [], []  # sockets: (topic, handler)
        self.rates = {"requests": [0.2, 60]}
        self.controls = {"press": self._press, "cut": self._cut}
        self.conditions = {"sockets": lambda query: len(self.sockets) >= int(query["sockets"])}

    # ---- access control ----

    def _who(self, request):
        """Returns bot, buttons or nobody."""
        given = request.headers.get("authorization")
        if given is None:
            return "nobody"
        basic = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        known = {f"Bearer {TOKEN}": "bot", f"Bearer {BUTTONS_TOKEN}": "buttons", basic: "bot"}
        if given not in known:
            raise Refused(40101, 401, "unauthorized")
        return known[given]

    def _authorize(self, request, topic, writes):
        who = self._who(request)
        if who != "bot" and not (who == "buttons" and writes and topic == ANSWERS):
            raise Refused(40301, 403, "forbidden")

    # ---- from request to call ----

    def parse(self, request):
        try:
            return self._route(request)
        except Refused as refusal:
            self.record.violate("refused", f"{request.verb} {request.path}: {refusal}")
            return Answer(refusal.status, refusal.body)

    def _route(self, request):
        call = Call(request, "publish", {})
        parts = request.path.strip("/").split("/")
        if request.verb == "GET" and request.path == "/v1/account":
            call.method = "account"
        elif request.verb in ("POST", "PUT") and request.path == "/":
            call.params = self._json(request)
        elif request.verb in ("POST", "PUT") and len(parts) == 1:
            call.params = {"topic": parts[0], "message": request.body.decode()}
        elif request.verb == "GET" and len(parts) == 2 and parts[1] in ("ws", "json", "auth"):
            call.method = parts[1]
            call.params = {"topic": parts[0], **dict(request.query)}
        else:
            raise Refused(40401, 404, "page not found")
        call.chat = call.params.get("topic")
        call.text = call.params.get("message")
        call.holds = ["visitor"] * 3
        call.limits = [Limit(("requests",), self.rates["requests"][0], 1, self.rates["requests"][1])]
        return call

    @staticmethod
    def _json(request):
        if len(request.body) > BODY_BYTES:
            raise Refused(41303, 413, "JSON body too large")
        try:
            body = json.loads(request.body)
        except ValueError:
            body = None
        if not isinstance(body, dict):
            raise Refused(40017, 400, "invalid request: request body must be message JSON")
        return body

    # ---- executing it ----

    def perform(self, call):
        try:
            if call.method == "account":
                who = self._who(call.request)
                return Answer(200, {"username": USER if who != "nobody" else "*", "role": "user"})
            if not NAME.match(str(call.chat)):
                raise Refused(40009, 400, "invalid request: topic invalid")
            self._authorize(call.request, call.chat, call.method == "publish")
            return getattr(self, "_do_" + call.method)(call)
        except Refused as refusal:
            self.record.violate("refused", f"{call.method}: {refusal}")
            return Answer(refusal.status, refusal.body)

    def _check(self, body):
        if set(body) - FIELDS:
            self.record.violate("unknown-field", str(sorted(set(body) - FIELDS)))
        message, priority = body.get("message", ""), body.get("priority", 3)
        texts = [body.get(name, "") for name in ("message", "title", "click", "sequence_id")]
        tags = body.get("tags", [])
        if not all(isinstance(t, str) for t in texts + tags) or not isinstance(priority, int):
            raise Refused(40017, 400, "invalid request: request body must be message JSON")
        if not 1 <= priority <= 5:
            raise Refused(40007, 400, "invalid priority parameter")
        if len(message.encode()) > MESSAGE_BYTES:
            raise Refused(40014, 400, "invalid request: attachments not allowed")
        if body.get("sequence_id") and not NAME.match(body["sequence_id"]):
            raise Refused(40049, 400, "invalid request: sequence ID invalid")
        self._check_actions(body.get("actions", []))

    @staticmethod
    def _check_actions(actions):
        wrong = len(actions) > ACTIONS
        for action in actions:
            known = action.get("action") in ("view", "broadcast", "http") and action.get("label")
            wrong |= not known or (action["action"] != "broadcast" and not action.get("url"))
            wrong |= action.get("method") in ("GET", "HEAD") and bool(action.get("body"))
        if wrong:
            raise Refused(40018, 400, "invalid request: actions invalid")

    def _do_publish(self, call):
        self._check(call.params)
        number = "".join(random.choices(string.ascii_letters + string.digits, k=12))
        message = {"id": number, "time": unix_time(), "event": "message", **call.params}
        message["message"] = call.params.get("message") or "triggered"
        self.messages.append(message)
        for topic, handler in list(self.sockets):
            if topic == call.chat:
                self._send(handler, message)
        return Answer(200, message)

    def _since(self, call):
        since = call.params.get("since", "none")
        found = [m for m in self.messages if m["topic"] == call.chat]
        ids = [m["id"] for m in found]
        if since == "none":
            return []
        if since.isdigit():
            return [m for m in found if m["time"] >= int(since)]
        return found[ids.index(since) + 1 :] if since in ids else found

    def _do_json(self, call):
        lines = "".join(json.dumps(m, ensure_ascii=False) + "\n" for m in self._since(call))
        return Answer(200, lines, content_type="application/x-ndjson")

    def _do_auth(self, call):
        return Answer(200, {"success": True})

    # ---- websockets ----

    def _do_ws(self, call):
        headers, old = call.request.headers, self._since(call)
        if headers.get("upgrade", "").lower() != "websocket":
            raise Refused(40016, 400, "invalid request: client not using the websocket protocol")
        accept = hashlib.sha1((headers["sec-websocket-key"] + GUID).encode()).digest()
        upgrade = {"Upgrade": "websocket", "Connection": "Upgrade"}
        upgrade["Sec-WebSocket-Accept"] = base64.b64encode(accept).decode()
        return Answer(101, json.dumps({"topic": call.chat, "old": old}), upgrade)

    def _finish(self, call, answer):
        answer = super()._finish(call, answer)
        if answer is None or callable(answer) or answer.status != 101:
            return answer
        given = json.loads(answer.body)
        answer.body = b""
        return lambda handler: self._converse(handler, answer, given)

    def _converse(self, handler, answer, given):
        head = handler.render(answer).replace(b"Content-Length: 0\r\n", b"")
        with self.record.changed:
            handler.wfile.write(head.replace(b"Content-Type: application/json\r\n", b""))
            entry = (given["topic"], handler)
            self._send(handler, {"id": "openopenopen", "time": unix_time(), "event": "open", "topic": given["topic"]})
            for message in given["old"]:
                self._send(handler, message)
            self.sockets.append(entry)
            self.record.changed.notify_all()
        try:
            self._read(handler)
        except (OSError, EOFError, struct.error):
            pass
        with self.record.changed:
            self.sockets.remove(entry)
        handler.close_connection = True

    @staticmethod
    def _send(handler, message, opcode=1):
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        size = bytes([len(data)]) if len(data) < 126 else b"\x7e" + struct.pack(">H", len(data))
        try:
            handler.wfile.write(bytes([0x80 | opcode]) + size + data)
        except OSError:
            pass

    def _read(self, handler):
        """Answers pings until the client closes the connection; the client sends nothing else."""
        while True:
            first, second = struct.unpack("BB", handler.rfile.read(2))
            size, key = second & 0x7F, handler.rfile.read(4)
            data = bytes(b ^ key[i % 4] for i, b in enumerate(handler.rfile.read(size)))
            if first & 0x0F == 9:
                with self.record.changed:
                    self._send(handler, data, 10)
            elif first & 0x0F == 8:
                return

    # ---- controls ----

    def _press(self, body):
        """Presses a button of the newest notification of a sequence, like a phone."""
        with self.record.changed:
            shown = next(m for m in reversed(self.messages) if m["id"] == body["id"])
        action = next(a for a in shown["actions"] if a["label"] == body["button"])
        request = urllib.request.Request(
            action["url"], action.get("body", "").encode(), action.get("headers", {}), method=action.get("method", "POST")
        )  # fmt: skip
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return {"status": answer.status, "body": answer.read().decode()}
        except urllib.error.HTTPError as error:
            return {"status": error.code, "body": error.read().decode()}

    def _cut(self, body):
        for _, handler in self.sockets:
            drop_socket(handler.connection, True)

    def set_pace(self, body):
        if set(body) - set(self.rates):
            raise Unable(f"no such pace: {sorted(set(body) - set(self.rates))}")
        self.rates.update(body)

    def flooded(self, call, retry_after):
        body = {"code": 42901, "http": 429, "error": "limit reached: too many requests", "link": LINK}
        return Answer(429, body)

    def refused(self, call, fault):
        status = fault.option("status", 400)
        return Answer(status, {"code": fault.option("code", 40000), "http": status, "error": "scripted"})

    # ---- queries of tests ----

    def visible(self):
        """The notifications that a phone shows: of each sequence the newest."""
        shown = {}
        for message in self.messages:
            if message["topic"] == TOPIC:
                shown[message.get("sequence_id") or message["id"]] = message
        return [
            {"chat": TOPIC, "id": m["id"], "text": m["message"], "from": "bot", "bot": True,
             "buttons": [a["label"] for a in m.get("actions", [])], "priority": m.get("priority", 3),
             "title": m.get("title"), "sequence": m.get("sequence_id"), "tags": m.get("tags"), "click": m.get("click")}
            for m in shown.values()
        ]  # fmt: skip

    def state(self, chat=None, thread=None):
        return {"shown": self.visible(), "messages": self.messages}


if __name__ == "__main__":
    main(Ntfy)
