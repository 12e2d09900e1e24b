#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Discord fake: HTTP API and gateway of one application in one server. README.md describes
it."""

import email
import email.policy
import json
import math
import re
import sys
import time
from urllib.parse import unquote, urlsplit

sys.dont_write_bytecode = True

from control import Unable  # noqa: E402
from discord_endpoint import Endpoint  # noqa: E402
from discord_gateway import MESSAGE_CONTENT, Gateway  # noqa: E402
from discord_methods import Methods  # noqa: E402
from discord_people import People  # noqa: E402
from discord_text import Refused  # noqa: E402
from discord_world import APP, BOT, GUILD, TEXT, World  # noqa: E402
from server import Answer  # noqa: E402
from service import Call, Service, main  # noqa: E402

TOKEN = "fake-discord-bot-token.AAAAAA.not-a-real-one"
WEBHOOK = ("800000000000000001", "fake-discord-webhook-token", "600000000000000001")
API = "/api/v10"
MESSAGES = API + "/channels/{channel}/messages"
REACTION = MESSAGES + "/{message}/reactions/{emoji}/@me"

# verb, path, method; {name} is one segment.
ROUTES = [
    ("GET", API + "/gateway", "gateway"),
    ("GET", API + "/gateway/bot", "gateway_bot"),
    ("GET", API + "/users/@me", "me"),
    ("GET", API + "/applications/@me", "application"),
    ("GET", API + "/oauth2/applications/@me", "application"),
    ("GET", API + "/applications/{application}/commands", "commands"),
    ("PUT", API + "/applications/{application}/commands", "commands"),
    ("GET", API + "/channels/{channel}", "channel"),
    ("POST", MESSAGES, "post"),
    ("GET", MESSAGES, "history"),
    ("PATCH", MESSAGES + "/{message}", "edit"),
    ("DELETE", MESSAGES + "/{message}", "delete"),
    ("PUT", REACTION, "react"),
    ("DELETE", REACTION, "unreact"),
    ("POST", API + "/channels/{channel}/typing", "typing"),
    ("POST", MESSAGES + "/{message}/threads", "thread"),
    ("POST", API + "/interactions/{interaction}/{token}/callback", "callback"),
    ("GET", API + "/webhooks/{webhook}/{token}", "webhook"),
    ("POST", API + "/webhooks/{webhook}/{token}", "followup"),
    ("PATCH", API + "/webhooks/{webhook}/{token}/messages/{message}", "webhook_edit"),
    ("DELETE", API + "/webhooks/{webhook}/{token}/messages/{message}", "webhook_delete"),
]
WITH_TOKEN_IN_PATH = ("callback", "followup", "webhook", "webhook_edit", "webhook_delete", "webhook_post")
WRITES = ("post", "file", "edit", "delete", "webhook_edit", "webhook_delete")
# method: requests, seconds; of one channel (or webhook)
EVERYWHERE = (50, 1)  # requests of the bot per second; pressed buttons are exempt
BUCKETS = {"post": (5, 5), "edit": (5, 5), "delete": (5, 1), "react": (1, 0.25), "unreact": (1, 0.25),
           "typing": (5, 5), "followup": (5, 2), "webhook_edit": (5, 2), "commands": (10, 20)}  # fmt: skip
OPTIONS = {"message_content": False, "gateway_down": False, "quick_identify": True, "ack_time": 3,
           "refuse_resumes": False, "cut_resumes": 0, "webhook_gone": False}  # fmt: skip


def _pattern(path):
    return re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", path))


_COMPILED = [(verb, _pattern(path), method) for verb, path, method in ROUTES]


class Bucket:
    """A window with a maximum number of requests."""

    def __init__(self, count, seconds):
        self.count, self.seconds = count, seconds
        self.used, self.until = 0, 0.0

    def take(self, now):
        """Counts a request. Returns 0, or the seconds to wait."""
        if now >= self.until:
            self.used, self.until = 0, now + self.seconds
        if self.used >= self.count:
            return self.until - now
        self.used += 1
        return 0

    def headers(self, name, now):
        return {
            "X-RateLimit-Limit": str(self.count),
            "X-RateLimit-Remaining": str(self.count - self.used),
            "X-RateLimit-Reset": f"{time.time() + self.until - now:.3f}",
            "X-RateLimit-Reset-After": f"{max(0.0, self.until - now):.3f}",
            "X-RateLimit-Bucket": name,
        }


class Discord(Service):
    def __init__(self, options):
        self.token, self.tokens = TOKEN, [TOKEN, WEBHOOK[1]]
        self.webhook = WEBHOOK
        self.options = dict(OPTIONS)
        self.buckets, self.sizes, self.invalid = {}, dict(BUCKETS), 0
        self.everywhere = Bucket(*EVERYWHERE)
        super().__init__(options)

    def start(self):
        self.world = World(self.record)
        self.world.add_channel(WEBHOOK[2], TEXT)
        self.gateway = Gateway(self)
        self.methods = Methods(self)
        self.people = People(self)
        self.endpoint = Endpoint(self)
        self.controls = {
            **self.people.controls,
            "gateway": self.gateway.do,
            "options": self.set_options,
            "age": self.set_age,
            "endpoint": self.endpoint.save,
        }
        self.conditions = {
            "sockets": lambda query: len(self.gateway.ready()) == int(query["sockets"]),
            "typing": self._typing_is,
        }

    def base_url(self):
        return f"http://127.0.0.1:{self.listener.port}"

    # ---- from request to call ----

    def parse(self, request):
        raw = urlsplit(request.handler.path).path
        if raw.startswith("/gateway"):
            return self.gateway.connect(request)
        if raw.startswith("/attachments/"):
            return self._download(request, raw)
        try:
            method, params = self._route(request.verb, raw)
            call = Call(request, method, params, None)
            call.query = dict(request.query)
            self._authenticate(request, method)
            call.body = self._body(request, call)
        except Refused as refusal:
            if refusal.rule:
                self.record.violate(refusal.rule, f"{request.verb} {raw}: {refusal}")
            return self._failure(refusal)
        self._describe(call)
        return call

    def _route(self, verb, raw):
        verbs = set()
        for wanted, pattern, method in _COMPILED:
            match = pattern.fullmatch(raw)
            if match and wanted == verb:
                return method, {name: unquote(part) for name, part in match.groupdict().items()}
            if match:
                verbs.add(wanted)
        if verbs:
            raise Refused(405, 0, "405: Method Not Allowed", "method-unknown")
        raise Refused(404, 0, "404: Not Found", "method-unknown")

    def _authenticate(self, request, method):
        if not request.headers.get("user-agent", "").startswith("DiscordBot ("):
            self.record.violate("user-agent", request.headers.get("user-agent", ""))
        if method in WITH_TOKEN_IN_PATH:
            return
        if request.headers.get("authorization") != f"Bot {self.token}":
            raise Refused(401, 0, "401: Unauthorized", "bad-token")

    def _body(self, request, call):
        if request.verb in ("GET", "DELETE") or not request.body:
            return {}
        if request.content_type() == "multipart/form-data":
            return self._form(request, call)
        if request.content_type() != "application/json":
            raise Refused(400, 50109, "The request body contains invalid JSON.", "bad-json")
        return self._json(request.body)

    @staticmethod
    def _json(data):
        try:
            body = json.loads(data)
        except ValueError:
            raise Refused(400, 50109, "The request body contains invalid JSON.", "bad-json") from None
        return body

    def _form(self, request, call):
        head = f"Content-Type: {request.headers['content-type']}\r\n\r\n".encode()
        form = email.message_from_bytes(head + request.body, policy=email.policy.HTTP)
        body = {}
        for part in form.iter_parts():
            name, data = part.get_param("name", header="content-disposition"), part.get_payload(decode=True)
            if name == "payload_json":
                body = self._json(data)
            else:
                call.files[name] = (part.get_filename(), data, part.get_content_type())
        return body

    def _describe(self, call):
        params, body = call.params, call.body
        if call.files and call.method == "post":
            call.method = "file"
        if call.method == "followup" and params["webhook"] != APP:
            call.method = "webhook_post"
        channel = self.world.channels.get(params.get("channel"))
        call.chat = channel.chat() if channel else params.get("channel")
        if isinstance(body, dict):
            call.text = body.get("content")
            if isinstance(body.get("data"), dict):
                call.text = body["data"].get("content")
            call.params = {**body, **params}
        if call.method == "react":
            call.text = params["emoji"]
        if call.method in WRITES:
            call.writes = params.get("channel", params.get("webhook"))
        narrow = ("chat", call.method, call.chat or params.get("webhook", "-"))
        call.holds = [narrow, ("method", call.method), ("all",)]
        self._check_leaks(call)

    def _check_leaks(self, call):
        headers = {k: v for k, v in call.request.headers.items() if k != "authorization"}
        told = json.dumps([call.body, headers], default=str)
        if any(token in told for token in self.tokens) or TOKEN in call.path:
            self.record.violate("secret-leaked", f"a token, in {call.method}")

    def _download(self, request, raw):
        name, data, kind, until = self.world.files.get(raw.split("/")[3], (None, b"", "", 0))
        call = Call(request, "download", {"file": raw.split("/")[3]})
        self._note(call)
        if request.headers.get("authorization"):
            self.record.violate("secret-leaked", "the token, to the host of attachments")
        signed = dict(request.query).get("ex")
        if name is None or not signed or int(signed, 16) < time.time():
            return self._finish(call, Answer(404, "This content is no longer available."))
        return self._finish(call, Answer(200, data, content_type=kind))

    # ---- executing it ----

    def perform(self, call):
        now = self.record.now()
        bucket = self._bucket(call)
        if self.pace.on and call.method not in WITH_TOKEN_IN_PATH and self.everywhere.take(now) > 0:
            self.record.violate("too-fast", f"{call.method}: more than {EVERYWHERE[0]} requests in a second")
        wait = bucket.take(now) if bucket and self.pace.on else 0
        if wait > 0:
            self.record.violate("too-fast", f"{call.method} in {call.chat}: wait {wait:.3f} s")
            self.pace.hold(call.holds[0], wait)
            return self.flooded(call, wait)
        headers = bucket.headers(call.method, now) if bucket and self.pace.on else {}
        try:
            made = getattr(self.methods, "do_" + call.method)(call)
        except Refused as refusal:
            if refusal.rule:
                self.record.violate(refusal.rule, f"{call.method}: {refusal}")
            return self._failure(refusal, headers)
        if made is None:
            return Answer(204, b"", headers, content_type="text/html; charset=utf-8")
        return Answer(200, made, headers)

    def _bucket(self, call):
        kind = {"file": "post", "webhook_post": "followup"}.get(call.method, call.method)
        if kind not in self.sizes:
            return None
        key = (kind, call.params.get("channel") or call.params.get("token"))
        count, seconds = self.sizes[kind]
        return self.buckets.setdefault(key, Bucket(count, self.seconds(seconds)))

    def _failure(self, refusal, headers=None):
        if refusal.status in (401, 403, 429):
            self.invalid += 1
        return Answer(refusal.status, refusal.body, headers)

    def flooded(self, call, retry_after):
        self.invalid += 1
        everywhere = call.fault is not None and call.fault.option("scope", "chat") == "all"
        body = {"message": "You are being rate limited.", "retry_after": retry_after, "global": everywhere}
        headers = {"Retry-After": str(math.ceil(retry_after)), "X-RateLimit-Scope": "user"}
        if everywhere:
            headers |= {"X-RateLimit-Global": "true", "X-RateLimit-Scope": "global"}
        return Answer(429, body, headers)

    def refused(self, call, fault):
        body = {"message": fault.option("message", "It was scripted"), "code": fault.option("code", 0)}
        if "errors" in fault.options:
            body["errors"] = fault.options["errors"]
        status = fault.option("status", 400)
        self.invalid += status in (401, 403, 429)
        return Answer(status, body, fault.option("headers", None))

    # ---- events for the app ----

    def may_read(self, message, session=None):
        """Without the privileged intent the app may read only messages to the bot or by it."""
        intents = session.intents if session else (MESSAGE_CONTENT if self.options["message_content"] else 0)
        mine = message.by_bot() or BOT in message.mentions or not message.channel.guild
        return bool(intents & MESSAGE_CONTENT) or mine

    def announce_message(self, kind, message):
        if message.only_for:
            return
        channel = message.channel
        if message.author != BOT:
            self.record.add("inbound", event=kind, message=message.id, chat=channel.chat())

        def make(session):
            if kind == "MESSAGE_DELETE":
                made = {"id": message.id, "channel_id": channel.id}
            else:
                made = message.api(lambda one: self.may_read(one, session))
            if channel.guild:
                made["guild_id"] = GUILD
                if kind != "MESSAGE_DELETE":
                    member = {"nick": None, "roles": [], "joined_at": "2020-01-01T00:00:00+00:00"}
                    made["member"] = {**member, "deaf": False, "mute": False, "flags": 0}
            return made

        self.gateway.dispatch_to_all(kind, make, self.people.wants(channel))

    def guild(self):
        role = {"id": GUILD, "name": "@everyone", "permissions": "1071698660929", "position": 0, "color": 0,
                "hoist": False, "managed": False, "mentionable": False, "flags": 0}  # fmt: skip
        channels = [c.api() for c in self.world.channels.values() if c.guild and not c.is_thread()]
        threads = [c.api() for c in self.world.channels.values() if c.is_thread()]
        member = {"user": self.world.users[BOT].api(), "nick": None, "roles": [], "deaf": False,
                  "joined_at": "2020-01-01T00:00:00+00:00", "mute": False, "flags": 0}  # fmt: skip
        empty = ("emojis", "stickers", "presences", "voice_states", "stage_instances",
                 "guild_scheduled_events", "soundboard_sounds", "features")  # fmt: skip
        return {"id": GUILD, "name": "Fake server", "owner_id": "1", "roles": [role], "members": [member],
                "channels": channels, "threads": threads, "member_count": 2, "large": False,
                "joined_at": "2020-01-01T00:00:00+00:00", "unavailable": False, "icon": None,
                "afk_timeout": 300, "verification_level": 0, "default_message_notifications": 0,
                "explicit_content_filter": 0, "mfa_level": 0, "system_channel_flags": 0, "premium_tier": 0,
                "preferred_locale": "en-US", "nsfw_level": 0, "premium_progress_bar_enabled": False,
                **{name: [] for name in empty}}  # fmt: skip

    # ---- controls ----

    def set_options(self, body):
        more = {"token", "remaining"}
        if set(body) - set(OPTIONS) - more:
            raise Unable(f"no such options: {sorted(set(body) - set(OPTIONS) - more)}")
        self.token = body.get("token", self.token)
        self.tokens = sorted({*self.tokens, self.token})
        self.gateway.left = body.get("remaining", self.gateway.left)
        self.options.update({k: v for k, v in body.items() if k in OPTIONS})

    def set_age(self, body):
        """Makes a message older by this number of seconds."""
        self.methods.made[body["id"]] -= self.seconds(body["seconds"])

    def set_pace(self, body):
        if set(body) - set(self.sizes):
            raise Unable(f"no such pace: {sorted(set(body) - set(self.sizes))}")
        self.sizes.update(body)
        self.buckets.clear()

    # ---- queries of tests ----

    def _typing_is(self, query):
        channel = self.world.channels.get(query["chat"])
        return bool(channel and channel.typing_until > self.record.now()) == (query["typing"] == "1")

    def visible(self):
        messages = [m for c in self.world.channels.values() for m in c.messages.values()]
        return [m.shown() for m in messages if not m.deleted and not m.only_for]

    def state(self, chat=None, thread=None):
        """A thread is a part of its channel."""
        chats = {}
        for channel in self.world.channels.values():
            if chat not in (None, channel.chat()) or thread not in (None, channel.id):
                continue
            one = chats.setdefault(channel.chat(), {"messages": [], "typing": False})
            one["messages"] += [message.shown() for message in channel.messages.values()]
            one["typing"] |= channel.typing_until > self.record.now()
        for one in chats.values():
            one["messages"].sort(key=lambda message: int(message["id"]))
            for message in one["messages"]:
                message["final"] = any(re.search(p, message["text"]) for p in self.finals)
        modals = {i.id: i.modal for i in self.people.interactions.values() if i.modal}
        return {"chats": chats, "modals": modals, "sockets": len(self.gateway.ready()), "invalid": self.invalid,
                "commands": self.methods.commands, "identifies": self.gateway.total - self.gateway.left}  # fmt: skip

    def file(self, number):
        return self.world.files[number][1]


if __name__ == "__main__":
    main(Discord)
