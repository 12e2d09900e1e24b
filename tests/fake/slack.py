#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Slack fake: Web API, Socket Mode and Events API of one workspace. README.md describes it."""

import json
import re
import sys
import urllib.parse

sys.dont_write_bytecode = True

from control import Unable  # noqa: E402
from pace import Limit  # noqa: E402
from server import Answer  # noqa: E402
from service import Call, Service, main  # noqa: E402
from slack_events import Events  # noqa: E402
from slack_messages import Workspace  # noqa: E402
from slack_methods import METHODS, Methods  # noqa: E402
from slack_people import People  # noqa: E402
from slack_socket import Sockets  # noqa: E402
from slack_streams import Streams  # noqa: E402
from slack_text import Refused, words  # noqa: E402

TOKENS = {"bot": "xoxb-fake-bot", "app": "xapp-fake-app"}
SCOPES = (
    ("chat.", "chat:write"),
    ("reactions.", "reactions:write"),
    ("conversations.open", "im:write"),
    ("conversations.", "channels:history"),
    ("users.", "users:read"),
    ("files.", "files:write"),
    ("agents.", "chat:write"),
    ("assistant.", "assistant:write"),
)
OPTIONS = {"agent": True, "assistant": True, "streams": True, "tasks": True, "socket_mode": True,
           "tokens_revoked": False, "missing_scope": None, "stream_life": 300, "stream_idle": 120,
           "ack_time": 3, "ping_every": 10, "echo": False}  # fmt: skip


class Slack(Service):
    tokens = tuple(TOKENS.values())

    def start(self):
        self.options = dict(OPTIONS)
        self.rates = {"tier1": 10, "tier2": 20, "tier3": 50, "tier4": 100, "post": [1, 5]}
        self.workspace = Workspace()
        self.streams = Streams(self)
        self.sockets = Sockets(self)
        self.events = Events(self)
        self.methods = Methods(self)
        self.people = People(self)
        self.thread_of = self.methods.thread_of
        self.metadata_of = self.methods.metadata_of
        self.set_session = self.methods.set_session
        self.unlocked = ("push",)
        self.controls = {
            **self.people.controls,
            "events_url": self.set_events_url,
            "push": self.push,
            "socket": self.touch_sockets,
            "options": self.set_options,
        }
        self.conditions = {
            "sockets": lambda query: len(self.sockets.greeted()) == int(query["sockets"]),
            "acked": lambda query: self.events.all_acknowledged(),
            "typing": self._typing_is,
        }

    def base_url(self):
        return f"http://127.0.0.1:{self.listener.port}"

    # ---- from request to call ----

    def parse(self, request):
        if request.path.startswith("/link/"):
            return self.sockets.connect(request)
        match = re.fullmatch(r"/(api|upload|files|response)/([\w.]+)(?:/download)?", request.path)
        if not match:
            return Answer(404, "", content_type="text/html")
        kind, name = match.groups()
        if kind == "upload":
            params, method = {"upload": name}, "upload"
        elif kind == "files":
            params, method = {"file": name}, "download"
        else:
            params, method = self._params(request, name), name
        if kind == "response":
            params["response"], method = name, "response_url"
        call = Call(request, method, params, _chat_of(params), _text_of(params) or None)
        self._weigh(call)
        return call

    def _params(self, request, method):
        params = dict(request.query)
        kind = request.content_type()
        reads_json = METHODS.get(method, (None, None, True))[2]
        if kind == "application/json":
            try:
                body = json.loads(request.body or b"{}")
            except ValueError:
                self.record.violate("bad-json", method)
                return {**params, "_broken": "invalid_json"}
            if not isinstance(body, dict):
                self.record.violate("bad-json", method)
                return {**params, "_broken": "json_not_object"}
            if not reads_json:
                # Methods that read accept arguments in the query or a form only.
                self.record.violate("bad-request", f"{method} reads no JSON")
                return {**params, "_broken": "invalid_arguments"}
            return {**params, **body}
        if kind == "application/x-www-form-urlencoded":
            pairs = urllib.parse.parse_qsl(request.body.decode(errors="replace"), True)
            return {**params, **dict(pairs)}
        if request.verb == "POST" and request.body:
            return {**params, "_broken": "invalid_post_type"}
        return params

    def _weigh(self, call):
        tier = METHODS.get(call.method, ("none",))[0]
        channel = call.chat or "-"
        per_channel = tier == "post"
        narrow = ("chat", call.method, channel) if per_channel else ("method", call.method)
        call.holds = [narrow, ("method", call.method), ("all",)]
        if per_channel:
            per_second, burst = self.rates["post"]
            call.limits = [Limit(("post", channel), per_second, 1, burst)]
        elif tier != "none":
            call.limits = [Limit((call.method,), self.rates[f"tier{tier}"], 60)]
        if call.method.startswith("chat.") and call.method != "chat.postEphemeral":
            call.writes = f"{channel}/{self._thread_key(call)}"

    def _thread_key(self, call):
        if call.params.get("thread_ts"):
            return call.params["thread_ts"]
        channel = self.workspace.channels.get(call.chat)
        message = channel.messages.get(str(call.params.get("ts"))) if channel else None
        return message.root() if message else "-"

    # ---- executing it ----

    def perform(self, call):
        if call.method in ("upload", "download", "response_url"):
            return getattr(self, f"_do_{call.method}")(call)
        try:
            self._check(call)
            result = self.methods.do(call)
        except Refused as refusal:
            if refusal.rule:
                self.record.violate(refusal.rule, f"{call.method}: {refusal.error}")
            return Answer(200, {"ok": False, "error": refusal.error, **refusal.more})
        if call.method == "chat.postMessage" and self.options["echo"]:
            self.people.echo(self.workspace.channels[result["channel"]].messages[result["ts"]])
        headers = {"X-OAuth-Scopes": ",".join(scope for _, scope in SCOPES)}
        return Answer(200, {"ok": True, **result}, headers)

    def _check(self, call):
        if call.method not in METHODS:
            raise Refused("unknown_method", rule="method-unknown")
        if "_broken" in call.params:
            raise Refused(call.params["_broken"])
        self._authorize(call, METHODS[call.method][1])
        told = json.dumps({k: v for k, v in call.params.items() if k != "token"}, default=str)
        if any(token in told for token in TOKENS.values()):
            self.record.violate("secret-leaked", f"a token, in {call.method}")
        missing = self.options["missing_scope"]
        needed = next((s for prefix, s in SCOPES if call.method.startswith(prefix)), None)
        if missing and needed == missing:
            provided = ",".join(s for _, s in SCOPES if s != missing)
            raise Refused("missing_scope", rule=None, needed=missing, provided=provided)

    def _authorize(self, call, wanted):
        header = call.request.headers.get("authorization", "")
        token = header[7:] if header.startswith("Bearer ") else call.params.get("token", "")
        if dict(call.request.query).get("token"):
            self.record.violate("secret-leaked", "a token in a URL")
        if not token:
            raise Refused("not_authed", rule="bad-token")
        if token not in TOKENS.values():
            raise Refused("invalid_auth", rule="bad-token")
        if self.options["tokens_revoked"]:
            raise Refused("token_revoked", rule=None)
        if token != TOKENS[wanted]:
            raise Refused("not_allowed_token_type", rule="token-kind")

    def _do_upload(self, call):
        data = call.request.body
        if call.request.content_type() == "multipart/form-data":
            head, _, rest = data.partition(b"\r\n\r\n")
            data = rest[: rest.rfind(b"\r\n--")] if head else data
        if not self.methods.upload(call.params["upload"], data):
            return Answer(400, "wrong length", content_type="text/plain")
        return Answer(200, f"OK - {len(data)}", content_type="text/plain")

    def _do_download(self, call):
        if call.request.headers.get("authorization") != f"Bearer {TOKENS['bot']}":
            # Like the service: a login page instead of an error.
            self.record.violate("bad-token", "a file without the bot's token")
            return Answer(302, "", {"Location": f"{self.base_url()}/?redir=file"})
        file = self.workspace.files.get(call.params["file"])
        return Answer(200, file[1], content_type="text/plain") if file else Answer(404, "")

    def _do_response_url(self, call):
        try:
            self.people.respond(call.params["response"], call.params)
        except Refused as refusal:
            self.record.violate("bad-request", f"response_url: {refusal.error}")
            return Answer(404, {"ok": False, "error": refusal.error})
        return Answer(200, "ok", content_type="text/plain")

    def flooded(self, call, retry_after):
        body = {"ok": False, "error": "ratelimited"}
        return Answer(429, body, {"Retry-After": str(retry_after)})

    def refused(self, call, fault):
        more = {k: v for k, v in fault.options.items() if k in ("needed", "provided", "warning")}
        return Answer(200, {"ok": False, "error": fault.option("error", "fatal_error"), **more})

    # ---- controls of tests ----

    def set_events_url(self, body):
        self.events.url = body["url"]
        self.events.interactive_url = body.get("interactive", "")
        self.events.secret = body.get("secret", self.events.secret)

    def push(self, body):
        payload = body.get("payload")
        if "challenge" in body:
            payload = {"type": "url_verification", "token": "x", "challenge": body["challenge"]}
        arguments = (body.get("sign", "good"), None, body.get("retry"), body.get("reason"))
        kind = body.get("kind", "events_api")
        status, text, headers = self.events.push(payload, *arguments, kind=kind)
        return {"status": status, "body": text, "headers": headers}

    def touch_sockets(self, body):
        sockets, action = self.sockets, body["do"]
        if action == "disconnect":
            sockets.disconnect(body.get("reason", "refresh_requested"), body.get("close", False))
        elif action == "silence":
            sockets.silent = body["on"]
        elif action == "hello":
            sockets.hello = body["on"]
        elif action == "drop":
            sockets.drop()
        elif action in ("close", "raw", "ping"):
            for socket in list(sockets.all):
                if action == "close":
                    sockets.close(socket, body.get("code", 1001))
                else:
                    socket.send(1 if action == "raw" else 9, body.get("text", "x").encode())
        else:
            raise Unable(f"sockets cannot {action}")

    def set_options(self, body):
        unknown = set(body) - set(OPTIONS)
        if unknown:
            raise Unable(f"no such options: {sorted(unknown)}")
        self.options.update(body)
        self.streams.life = self.options["stream_life"]
        self.streams.idle = self.options["stream_idle"]

    def set_pace(self, body):
        unknown = set(body) - set(self.rates)
        if unknown:
            raise Unable(f"no such pace: {sorted(unknown)}")
        self.rates.update(body)

    # ---- queries of tests ----

    def _typing_is(self, query):
        channel = self.workspace.channels.get(query["chat"])
        return bool(channel and channel.status) == (query["typing"] == "1")

    def visible(self):
        return [
            message.shown()
            for channel in self.workspace.channels.values()
            for message in channel.messages.values()
            if not message.deleted
        ]

    def screen(self):
        """Messages that only one user sees are left out."""
        seen = zip(self.visible(), super().screen())
        return [one for message, one in seen if not message["ephemeral_for"]]

    def state(self, chat=None, thread=None):
        chats = {}
        for channel in self.workspace.channels.values():
            if chat not in (None, channel.id):
                continue
            shown = [message.shown() for message in channel.messages.values()]
            if thread is not None:
                shown = [m for m in shown if thread in (m["thread"], m["id"])]
            for message in shown:
                message["final"] = any(re.search(p, message["text"]) for p in self.finals)
            chats[channel.id] = {
                "messages": shown,
                "typing": bool(channel.status),
                "status": channel.status,
                "sessions": channel.sessions,
            }
        return {"chats": chats, "sockets": len(self.sockets.greeted())}

    def file(self, number):
        return self.workspace.files[number][1]


def _chat_of(params):
    return params.get("channel") or params.get("channel_id")


def _text_of(params):
    """All texts of a call."""
    texts = [params.get("text"), params.get("markdown_text"), params.get("initial_comment")]
    for name in ("blocks", "chunks"):
        value = params.get(name)
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except ValueError:
                value = None
        texts.append(words(value))
    return "\n".join(text for text in texts if isinstance(text, str) and text)


if __name__ == "__main__":
    main(Slack)
