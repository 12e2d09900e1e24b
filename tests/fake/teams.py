#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Teams fake: the login service, the signing keys, and the connector service of the Bot
Framework. README.md describes it."""

import json
import re
import secrets
import sys
import time
from urllib.parse import parse_qs, unquote, urlsplit

sys.dont_write_bytecode = True

import teams_jwt  # noqa: E402
from control import Unable  # noqa: E402
from pace import Limit  # noqa: E402
from server import Answer  # noqa: E402
from service import Call, Service, main  # noqa: E402
from teams_chats import BOT, Chats, Refused, body_text, stream_of  # noqa: E402
from teams_people import People  # noqa: E402

APP_ID = BOT[len("28:") :]
SECRET = "fake~client.secret"
TENANT = "fake-tenant"
TOKEN = "eyJ.fake-teams-access-token."  # the prefix of all access tokens
SCOPE = "https://api.botframework.com/.default"
SERVICE = "/amer"
ACTIVITIES = re.compile(SERVICE + r"/v3/conversations/([^/]+)/activities(?:/([^/]+))?")
FILES = re.compile(SERVICE + r"/files/([^/]+)|/download/([^/]+)")
WINDOWS = ((7, 1), (8, 2), (60, 30), (1800, 3600))  # requests to a conversation, seconds


class Teams(Service):
    def __init__(self, options):
        self.tokens = [SECRET]
        self.keys, self.endorsements = ["fake-key-1"], ["msteams", "webchat"]
        self.options = {"token_life": 3600, "stream_life": 120, "streams": True, "locked": False}
        self.windows = list(WINDOWS)
        self.issued = {}  # access token: expiry
        self.hook = ""  # the address of the bot
        super().__init__(options)

    def start(self):
        self.chats = Chats(self)
        self.people = People(self)
        self.controls = {**self.people.controls, "options": self.set_options, "keys": self.set_keys}
        self.unlocked = ("press", "push")

    @property
    def service_url(self):
        return f"http://127.0.0.1:{self.listener.port}{SERVICE}/"

    # ---- from request to call ----

    def parse(self, request):
        raw = urlsplit(request.handler.path).path
        try:
            call = self._call(request, raw)
        except Refused as refusal:
            if refusal.rule:
                self.record.violate(refusal.rule, f"{request.verb} {raw}: {refusal}")
            return Answer(refusal.status, refusal.body)
        self._check_leaks(request, call)
        return call

    def _call(self, request, raw):
        if raw.endswith("/oauth2/v2.0/token") and request.verb == "POST":
            return Call(request, "token", {"tenant": raw.split("/")[1], **self._form(request)})
        if raw.startswith("/v1/.well-known/") and request.verb == "GET":
            name = raw.rsplit("/", 1)[-1]
            return Call(request, {"openidconfiguration": "openid", "keys": "keys"}.get(name, name), {})
        match = FILES.fullmatch(raw)
        if match and request.verb == "GET":
            if match[1]:
                self._authenticate(request)
            return Call(request, "file", {"id": match[1] or match[2]})
        match = ACTIVITIES.fullmatch(raw)
        if not match:
            raise Refused(404, "ServiceError", "No such resource", "method-unknown")
        self._authenticate(request)
        return self._activity_call(request, unquote(match[1]), match[2] and unquote(match[2]))

    @staticmethod
    def _form(request):
        if request.content_type() != "application/x-www-form-urlencoded":
            raise Refused(400, "invalid_request", "The request body must be a form", "bad-request")
        return {k: v[0] for k, v in parse_qs(request.body.decode(), True).items()}

    def _authenticate(self, request):
        words = request.headers.get("authorization", "")
        token = words[len("Bearer ") :] if words.startswith("Bearer ") else ""
        if self.options["locked"] or self.issued.get(token, 0) < time.time():
            rule = None if self.options["locked"] or token in self.issued else "bad-token"
            raise Refused(401, "Unauthorized", "Authorization has been denied for this request.", rule)

    def _activity_call(self, request, conversation, id_):
        body = {}
        if request.verb in ("POST", "PUT"):
            if request.content_type() != "application/json":
                raise Refused(415, "BadArgument", "Unsupported media type")
            try:
                body = json.loads(request.body)
            except ValueError:
                raise Refused(400, "BadSyntax", "Invalid JSON", "bad-json") from None
        chat, _, thread = conversation.partition(";messageid=")
        method = self._method(request.verb, body, id_)
        params = {"body": body, "id": id_, "thread": thread or None}
        call = Call(request, method, params, chat, body_text(body) if body else None)
        call.size = len(request.body.decode().encode("utf-16-le"))
        call.holds = [("chat", chat), ("method", method), ("all",)]
        call.limits = [Limit((chat, seconds), count, seconds) for count, seconds in self.windows]
        call.limits.append(Limit(("all",), 50, 1))
        if method == "stream":
            call.limits.append(Limit((chat, "stream"), 1, 1))
        call.writes = chat if method in ("post", "edit", "delete", "stream") else None
        return call

    @staticmethod
    def _method(verb, body, id_):
        if verb == "POST" and not id_:
            return "stream" if stream_of(body) else "typing" if body.get("type") == "typing" else "post"
        known = {"PUT": "edit", "DELETE": "delete", "POST": "post"}
        if verb not in known:
            raise Refused(405, "BadArgument", "Method not allowed", "method-unknown")
        return known[verb]

    def _check_leaks(self, request, call):
        headers = {k: v for k, v in request.headers.items() if k != "authorization"}
        params = {} if call.method == "token" else call.params
        text = json.dumps([params, headers, request.path], default=str)
        for secret in self.tokens:
            if secret in text:
                self.record.violate("secret-leaked", f"in {call.method}")
        if call.method == "token":
            call.params = {**call.params, "client_secret": "<TOKEN>"}
            call.secret = self._form(request).get("client_secret")

    # ---- executing it ----

    def perform(self, call):
        try:
            return getattr(self, f"_do_{call.method}", self._unknown)(call)
        except Refused as refusal:
            if refusal.rule:
                self.record.violate(refusal.rule, f"{call.method}: {refusal}")
            return Answer(refusal.status, refusal.body)

    def _unknown(self, call):
        raise Refused(404, "ServiceError", "No such resource", "method-unknown")

    def _do_token(self, call):
        wanted = {"grant_type": "client_credentials", "client_id": APP_ID, "scope": SCOPE, "tenant": TENANT}
        good = call.secret == SECRET and not self.options["locked"]
        if any(call.params.get(k) != v for k, v in wanted.items()) or not good:
            if not self.options["locked"]:
                self.record.violate("bad-token", f"login: {call.params}")
            words = "AADSTS7000215: Invalid client secret provided.\r\nTrace ID: 1"
            return Answer(401, {"error": "invalid_client", "error_description": words})
        token = TOKEN + secrets.token_urlsafe(900)
        self.issued[token] = time.time() + self.seconds(self.options["token_life"])
        self.tokens.append(token)
        life = self.options["token_life"]
        return Answer(200, {"token_type": "Bearer", "expires_in": life, "ext_expires_in": life, "access_token": token})

    def _do_openid(self, call):
        base = f"http://127.0.0.1:{self.listener.port}"
        return Answer(200, {
            "issuer": teams_jwt.ISSUER,
            "authorization_endpoint": "https://invalid.botframework.com",
            "jwks_uri": f"{base}/v1/.well-known/keys",
            "id_token_signing_alg_values_supported": ["RS256"],
            "token_endpoint_auth_methods_supported": ["private_key_jwt"],
        })  # fmt: skip

    def _do_keys(self, call):
        return Answer(200, teams_jwt.jwks(self.keys, self.endorsements))

    def _do_file(self, call):
        name, kind, data = self.people.files.get(call.params["id"], (None, None, None))
        if data is None:
            raise Refused(404, "NotFound", "No such file", "bad-request")
        return Answer(200, data, {"Content-Disposition": f'attachment; filename="{name}"'}, kind)

    def _do_post(self, call):
        return Answer(201, {"id": self.chats.post(call)})

    def _do_stream(self, call):
        id_ = self.chats.stream(call)
        return Answer(201, {"id": id_}) if id_ else Answer(202, {})

    def _do_typing(self, call):
        self.chats.typing(call)
        return Answer(202, {})

    def _do_edit(self, call):
        return Answer(200, {"id": self.chats.edit(call)})

    def _do_delete(self, call):
        self.chats.delete(call)
        return Answer(200, b"")

    def flooded(self, call, retry_after):
        body = {"error": {"code": "Throttled", "message": "API calls quota exceeded"}}
        return Answer(429, body, {"Retry-After": str(retry_after)})

    def refused(self, call, fault):
        error = {"code": fault.option("code", "BadArgument"), "message": fault.option("message", "It was scripted")}
        return Answer(fault.option("status", 400), {"error": error})

    # ---- controls ----

    def set_options(self, body):
        if set(body) - set(self.options):
            raise Unable(f"no such options: {sorted(set(body) - set(self.options))}")
        self.options.update(body)
        if body.get("locked"):
            self.issued.clear()

    def set_keys(self, body):
        self.keys = body.get("kids", self.keys)
        self.endorsements = body.get("endorsements", self.endorsements)

    def set_pace(self, body):
        if set(body) - {"windows"}:
            raise Unable(f"no such pace: {sorted(body)}")
        self.windows = [tuple(w) for w in body.get("windows", self.windows)]

    # ---- queries of tests ----

    @property
    def conditions(self):
        return {"typing": lambda query: self.chats.is_typing(query["chat"]) == (query["typing"] == "1"),
                "taken": lambda query: self.people.all_taken()}  # fmt: skip

    def visible(self):
        return [m.shown() for m in self.chats.messages.values() if not m.deleted]

    def state(self, chat=None, thread=None):
        chats = {}
        for one in self.chats.known.values():
            if chat in (None, one.id):
                found = [m for m in self.chats.messages.values() if m.chat == one.id and thread in (None, m.thread)]
                messages = [{**m.shown(), "final": any(re.search(p, m.shown()["text"]) for p in self.finals)} for m in found]
                chats[one.id] = {"messages": messages, "typing": self.chats.is_typing(one.id)}
        return {"chats": chats}

    def file(self, number):
        return self.people.files[number][2]


if __name__ == "__main__":
    main(Teams)
