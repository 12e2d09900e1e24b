#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Matrix fake: a homeserver for a bot. README.md describes it."""

import json
import math
import re
import sys
from urllib.parse import unquote, urlsplit

sys.dont_write_bytecode = True

from control import Unable  # noqa: E402
from matrix_methods import MAX_UPLOAD, Methods, forbidden  # noqa: E402
from matrix_people import People  # noqa: E402
from matrix_rooms import BOT, Homeserver, relation_of, text_of  # noqa: E402
from matrix_sync import Sync  # noqa: E402
from matrix_text import Refused, parse_object  # noqa: E402
from pace import Limit  # noqa: E402
from server import Answer  # noqa: E402
from service import Call, Service, main  # noqa: E402

TOKEN = "syt_fake_matrix_token"
CLIENT = "/_matrix/client/v3"
LEGACY_MEDIA = "/_matrix/media/v3/download/"

# verb, path, method; {name} is one segment.
ROUTES = [
    ("GET", "/_matrix/client/versions", "versions"),
    ("GET", CLIENT + "/account/whoami", "whoami"),
    ("GET", CLIENT + "/sync", "sync"),
    ("GET", CLIENT + "/rooms/{room}/messages", "messages"),
    ("PUT", CLIENT + "/rooms/{room}/send/{type}/{txn}", "send"),
    ("PUT", CLIENT + "/rooms/{room}/redact/{event}/{txn}", "redact"),
    ("GET", CLIENT + "/rooms/{room}/event/{event}", "event"),
    ("GET", CLIENT + "/rooms/{room}/context/{event}", "context"),
    ("GET", "/_matrix/client/v1/rooms/{room}/relations/{event}", "relations"),
    ("GET", "/_matrix/client/v1/rooms/{room}/relations/{event}/{kind}", "relations"),
    ("GET", "/_matrix/client/v1/rooms/{room}/relations/{event}/{kind}/{of}", "relations"),
    ("GET", CLIENT + "/rooms/{room}/state", "state"),
    ("GET", CLIENT + "/rooms/{room}/state/{type}", "state_event"),
    ("GET", CLIENT + "/rooms/{room}/state/{type}/{key}", "state_event"),
    ("GET", CLIENT + "/rooms/{room}/members", "members"),
    ("GET", CLIENT + "/rooms/{room}/joined_members", "joined_members"),
    ("GET", CLIENT + "/joined_rooms", "joined_rooms"),
    ("POST", CLIENT + "/join/{room}", "join"),
    ("POST", CLIENT + "/rooms/{room}/join", "join"),
    ("POST", CLIENT + "/rooms/{room}/leave", "leave"),
    ("PUT", CLIENT + "/rooms/{room}/typing/{user}", "typing"),
    ("POST", CLIENT + "/rooms/{room}/receipt/{kind}/{event}", "receipt"),
    ("POST", CLIENT + "/rooms/{room}/read_markers", "receipt"),
    ("POST", "/_matrix/media/v3/upload", "upload"),
    ("GET", "/_matrix/client/v1/media/config", "media_config"),
    ("GET", "/_matrix/client/v1/media/download/{server}/{media}", "download"),
    ("GET", "/_matrix/client/v1/media/download/{server}/{media}/{name}", "download"),
    ("GET", CLIENT + "/profile/{user}", "profile"),
    ("POST", CLIENT + "/user/{user}/filter", "make_filter"),
    ("GET", CLIENT + "/user/{user}/filter/{filter}", "read_filter"),
    ("GET", CLIENT + "/capabilities", "capabilities"),
    ("GET", CLIENT + "/pushrules/", "push_rules"),
]
WITHOUT_BODY = ("upload",)
LIMITED = ("send", "edit", "react", "redact")


def _pattern(path):
    return re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", path))


_COMPILED = [(verb, _pattern(path), method) for verb, path, method in ROUTES]


class Matrix(Service):
    paths = "/_matrix/"

    def __init__(self, options):
        self.token, self.soft_logout, self.device = TOKEN, False, "FAKEDEVICE"
        self.tokens = [TOKEN]
        self.max_upload = MAX_UPLOAD
        self.rates = {"send": [0.2, 10], "join": [0.1, 10]}
        self.conditions = {"polling": lambda query: self.sync.polling(), "typing": self._typing_is}
        super().__init__(options)

    def start(self):
        self.server = Homeserver(self.record)
        self.server.names[BOT] = "Fake Bot"
        self.sync = Sync(self)
        self.methods = Methods(self)
        people = People(self)
        self.controls = {**people.controls, "options": self.set_options, "forget": self._forget}

    # ---- from request to call ----

    def parse(self, request):
        raw = urlsplit(request.handler.path).path
        try:
            method, params = self._route(request.verb, raw)
            if method != "versions":
                self._authenticate(request)
            body = self._body(request, method)
        except Refused as refusal:
            if refusal.rule:
                self.record.violate(refusal.rule, f"{request.verb} {raw}: {refusal}")
            return self._failure(refusal)
        method = self._kind_of(method, params, body)
        call = Call(request, method, {**params, **body}, params.get("room"))
        call.params = {**body, **params}
        call.body, call.raw_path, call.device = body, raw, self.device
        call.query = dict(request.query)
        if method == "sync" or method == "messages":
            call.params |= call.query
        new = body.get("m.new_content", body)
        call.text = text_of(new) if method in ("send", "edit") and isinstance(new, dict) else None
        call.text = body["m.relates_to"].get("key") if method == "react" else call.text
        self._check_leaks(request, call)
        self._weigh(call)
        return call

    def _route(self, verb, raw):
        if raw.startswith(LEGACY_MEDIA):
            raise Refused(404, "M_NOT_FOUND", "Not found: media needs authentication")
        verbs = set()
        for wanted, pattern, method in _COMPILED:
            match = pattern.fullmatch(raw)
            if match and wanted == verb:
                return method, {name: unquote(part) for name, part in match.groupdict().items()}
            if match:
                verbs.add(wanted)
        code = 405 if verbs else 404
        raise Refused(code, "M_UNRECOGNIZED", "Unrecognized request", "method-unknown")

    def _authenticate(self, request):
        words = request.headers.get("authorization", "")
        if dict(request.query).get("access_token"):
            self.record.violate("token-in-url", request.path)
            words = words or "Bearer " + dict(request.query)["access_token"]
        if not words:
            raise Refused(401, "M_MISSING_TOKEN", "Missing access token", "bad-token")
        if not words.startswith("Bearer "):
            words = "Invalid Authorization header"
            raise Refused(401, "M_MISSING_TOKEN", words, "bad-token")
        if words[len("Bearer ") :] != self.token:
            raise Refused(
                401,
                "M_UNKNOWN_TOKEN",
                "Invalid access token passed.",
                "bad-token",
                soft_logout=self.soft_logout,
            )

    @staticmethod
    def _body(request, method):
        if request.verb == "GET" or method in WITHOUT_BODY:
            return {}
        if not request.body and method in ("join", "leave", "receipt"):
            return {}
        return parse_object(request.body)

    @staticmethod
    def _kind_of(method, params, body):
        if method == "send" and params["type"] == "m.reaction" and relation_of(body)[0]:
            return "react"
        return "edit" if method == "send" and relation_of(body)[0] == "m.replace" else method

    def _check_leaks(self, request, call):
        headers = {k: v for k, v in request.headers.items() if k != "authorization"}
        if self.token in json.dumps([call.params, headers, request.path], default=str):
            self.record.violate("secret-leaked", f"the token, in {call.method}")

    def _weigh(self, call):
        kind = "account" if call.method in LIMITED else call.method
        call.holds = [("chat", kind), ("method", call.method), ("all",)]
        if call.method in LIMITED:
            per_second, burst, *late = self.rates["send"]
            call.limits = [Limit(("send",), per_second, 1, burst, *late)]
        if call.method == "join":
            per_second, burst = self.rates["join"]
            call.limits = [Limit(("join",), per_second, 1, burst)]
        if call.method in ("send", "edit", "redact"):
            call.writes = call.chat

    def filter_of(self, query):
        """The filter that a query names or contains."""
        text = query.get("filter", "{}")
        if not text.startswith("{"):
            number = int(text) if text.isdigit() else -1
            if not 0 <= number < len(self.methods.filters):
                raise Refused(404, "M_NOT_FOUND", "No such filter")
            return self.methods.filters[number]
        try:
            return parse_object(text.encode())
        except Refused:
            raise Refused(400, "M_NOT_JSON", "Invalid filter JSON") from None

    # ---- executing it ----

    def perform(self, call):
        try:
            user = call.params.get("user")
            if call.method.endswith("filter") and user != BOT:
                raise forbidden("Cannot get filters for other users")
            if call.method == "download":
                name, kind, data = self.methods.media(call)
                how = f'inline; filename="{name}"' if name else "inline"
                return Answer(200, data, {"Content-Disposition": how}, kind)
            return Answer(200, getattr(self.methods, "do_" + call.method)(call))
        except Refused as refusal:
            if refusal.rule:
                self.record.violate(refusal.rule, f"{call.method}: {refusal}")
            return self._failure(refusal)

    def _failure(self, refusal):
        return Answer(refusal.code, refusal.body)

    def flooded(self, call, retry_after):
        body = {"errcode": "M_LIMIT_EXCEEDED", "error": "Too Many Requests"}
        body["retry_after_ms"] = math.ceil(retry_after * 1000)
        return Answer(429, body, {"Retry-After": str(math.ceil(retry_after))})

    def refused(self, call, fault):
        words = fault.option("error", "It was scripted")
        body = {"errcode": fault.option("errcode", "M_UNKNOWN"), "error": words}
        return Answer(fault.option("status", 400), body)

    # ---- controls ----

    def set_options(self, body):
        known = {"token", "soft_logout", "device", "timeline_limit", "max_upload"}
        if set(body) - known:
            raise Unable(f"no such options: {sorted(set(body) - known)}")
        for name in ("token", "soft_logout", "device", "max_upload"):
            setattr(self, name, body.get(name, getattr(self, name)))
        self.sync.timeline_limit = body.get("timeline_limit", self.sync.timeline_limit)
        self.tokens.append(self.token)

    def _forget(self, body):
        self.methods.forget_transactions()

    def set_pace(self, body):
        if set(body) - set(self.rates):
            raise Unable(f"no such pace: {sorted(set(body) - set(self.rates))}")
        self.rates.update(body)

    # ---- queries of tests ----

    def _typing_is(self, query):
        room = self.server.rooms.get(query["chat"])
        users = self.server.typing(room) if room else []
        return (BOT in users) == (query["typing"] == "1")

    def _messages(self, room):
        for event in room.events:
            if room.is_message(event):
                shown = {**room.shown(event), "deleted": event.redacted_by is not None}
                shown |= {"from": event.sender, "bot": event.sender == BOT}
                content = room.shown_content(event)
                yield {**shown, "body": content.get("body"), "url": content.get("url")}

    def visible(self):
        rooms = self.server.rooms.values()
        return [m for room in rooms for m in self._messages(room) if not m["deleted"]]

    def state(self, chat=None, thread=None):
        chats = {}
        for room in self.server.rooms.values():
            if chat in (None, room.id):
                messages = [m for m in self._messages(room) if thread in (None, m["thread"])]
                for message in messages:
                    final = any(re.search(p, message["text"]) for p in self.finals)
                    message["final"] = final
                chats[room.id] = {
                    "messages": messages,
                    "typing": BOT in self.server.typing(room),
                    "members": room.members(),
                    "membership": room.membership(BOT),
                }
        return {"chats": chats}

    def file(self, number):
        return self.server.media[number.rsplit("/", 1)[-1]][2]


if __name__ == "__main__":
    main(Matrix)
