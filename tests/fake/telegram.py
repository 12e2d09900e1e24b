#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Telegram fake: https://api.telegram.org for a bot. README.md describes it."""

import base64
import email.parser
import email.policy
import json
import re
import sys

sys.dont_write_bytecode = True

from control import Unable  # noqa: E402
from pace import Limit  # noqa: E402
from server import Answer  # noqa: E402
from service import Call, Service, main, unix_time  # noqa: E402
from telegram_chats import BOT, Chats  # noqa: E402
from telegram_methods import BY_LOWER, METHODS, Methods  # noqa: E402
from telegram_text import Refused  # noqa: E402
from telegram_updates import Updates  # noqa: E402

TOKEN = "123456:FAKE-telegram-token"
RICH = ("sendRichMessage", "sendRichMessageDraft")
DRAFTS = ("sendMessageDraft", "sendRichMessageDraft")


class Telegram(Service):
    def __init__(self, options):
        self.token, self.rich, self.drafts, self.topics = TOKEN, True, True, False
        self.tokens = [TOKEN]
        self.rates = {"private": [1, 3], "group": [20], "all": [30], "draft": [4, 4]}
        self.controls = {
            "chat": self.make_chat,
            "message": self.person_writes,
            "edit": self.person_edits,
            "delete": self.person_deletes,
            "callback": self.person_presses,
            "stop": self.person_stops,
            "reaction": self.person_reacts,
            "update": self.raw_update,
            "options": self.set_options,
        }
        self.conditions = {
            "polling": lambda query: self.updates.polling(),
            "typing": self._typing_is,
        }
        super().__init__(options)

    def start(self):
        self.chats = Chats(self.record)
        self.updates = Updates(self)
        self.methods = Methods(self)

    # ---- from request to call ----

    def parse(self, request):
        match = re.fullmatch(r"/bot([^/]*)/([^/]*)", request.path)
        if not match:
            return self._download(request)
        token, name = match.groups()
        problem = self._token_problem(token)
        if problem:
            self.record.violate("bad-token", request.path[:5] + "…")
            return self._failure(problem)
        try:
            params, files = self._params(request)
        except Refused as refusal:
            self.record.violate("bad-json", f"{name}: {refusal}")
            return self._failure(refusal)
        method = BY_LOWER.get(name.lower(), name)
        chat = params.get("chat_id")
        words = [params.get("text"), params.get("caption"), _words(params.get("rich_message"))]
        call = Call(request, method, params, chat, "\n".join(str(w) for w in words if w) or None)
        call.files = files
        self._check_leaks(request, call)
        self._weigh(call)
        return call

    def _token_problem(self, token):
        if ":" not in token or not token.split(":")[0].isdigit() or len(token) > 80:
            return Refused("invalid token specified", 401)
        return None if token == self.token else Refused("", 401)

    def _params(self, request):
        params = dict(request.query)
        kind = request.content_type()
        if kind == "application/json":
            try:
                body = json.loads(request.body.decode() or "{}")
            except UnicodeDecodeError:
                raise Refused("strings must be encoded in UTF-8") from None
            except ValueError:
                raise Refused("can't parse JSON object") from None
            if not isinstance(body, dict):
                raise Refused("object expected as JSON")
            return {**params, **body}, {}
        if kind == "multipart/form-data":
            fields, files = multipart(request)
            return {**params, **fields}, files
        if kind == "application/x-www-form-urlencoded":
            from urllib.parse import parse_qsl

            pairs = parse_qsl(request.body.decode(errors="surrogateescape"), True)
            return {**params, **dict(pairs)}, {}
        return params, {}

    def _check_leaks(self, request, call):
        told = json.dumps([call.params, request.headers], default=str)
        if self.token in told:
            self.record.violate("secret-leaked", f"the token, in {call.method}")

    def _weigh(self, call):
        kind = METHODS.get(call.method, (None,))[0]
        chat = call.chat or "-"
        weight = kind if kind in ("write", "draft") else call.method
        call.holds = [("chat", chat, weight), ("method", call.method), ("all",)]
        if kind == "poll":
            return
        rates = self.rates
        call.limits = [Limit(("all",), rates["all"][0], 1)]
        if kind == "draft":
            call.limits.append(Limit(("draft", chat), rates["draft"][0], 1, rates["draft"][1]))
        if kind == "write":
            call.writes = chat
            per_second, burst = rates["private"]
            call.limits.append(Limit(("chat", chat), per_second, 1, burst))
            if chat.startswith("-"):
                call.limits.append(Limit(("group", chat), rates["group"][0], 60))

    def _download(self, request):
        match = re.fullmatch(r"/file/bot([^/]*)/documents/(\w+)", request.path)
        if not match or match[1] != self.token or match[2] not in self.chats.files:
            return self._failure(Refused("", 404))
        call = Call(request, "download", {"file": match[2]})
        call.holds = [("method", "download")]
        return call

    # ---- executing it ----

    def perform(self, call):
        if call.method == "download":
            _, kind, data = self.chats.files[call.params["file"]]
            return Answer(200, data, content_type=kind)
        absent = (call.method in RICH and not self.rich) or (
            call.method in DRAFTS and not self.drafts
        )
        if call.method not in METHODS or absent:
            if call.method not in METHODS:
                self.record.violate("method-unknown", call.method)
            return self._failure(Refused("", 404))
        try:
            return Answer(200, {"ok": True, "result": self.methods.do(call)})
        except Refused as refusal:
            if refusal.rule:
                detail = f"{call.method}: {refusal.description()}"
                self.record.violate(refusal.rule, detail)
            return self._failure(refusal)

    def _failure(self, refusal):
        return self._error(refusal.code, refusal.description(), refusal.parameters)

    def _error(self, code, description, parameters=None):
        body = {"ok": False, "error_code": code, "description": description}
        if parameters:
            body["parameters"] = parameters
        return Answer(code, body)

    def flooded(self, call, retry_after):
        words = f"Too Many Requests: retry after {retry_after}"
        answer = self._error(429, words, {"retry_after": retry_after})
        answer.headers["Retry-After"] = str(retry_after)
        return answer

    def refused(self, call, fault):
        words = fault.option("description", "Bad Request: it was scripted")
        return self._error(fault.option("code", 400), words, fault.option("parameters", None))

    def called_back(self, text):
        """Executes a method in the response to a webhook request; its result is not reported."""
        try:
            params = json.loads(text)
        except ValueError:
            self.record.violate("bad-json", "the answer of the webhook")
            return
        method = BY_LOWER.get(str(params.pop("method", "")).lower())
        if method:
            detail = f"{method} as answer of a webhook: its end is unknown"
            self.record.violate("bad-request", detail)

    # ---- actions of users ----

    def make_chat(self, body):
        chat = self.chats.make(int(body["id"]), body.get("type"), body.get("title"))
        chat.is_forum = body.get("is_forum", chat.is_forum)
        chat.topics |= set(body.get("topics", []))
        chat.state = body.get("state", chat.state)
        chat.migrate_to = body.get("migrate_to", chat.migrate_to)

    def _person(self, body):
        number = int(body["from"])
        name = body.get("name", f"User {number}")
        sender = {"id": number, "is_bot": False, "first_name": name, "language_code": "en"}
        return sender, self.chats.make(int(body.get("chat", number)))

    def _there(self, chat, number):
        message = chat.find(int(number))
        if message is None:
            raise Unable(f"no message {number} in {chat.id}")
        return message

    def person_writes(self, body):
        sender, chat = self._person(body)
        thread = body.get("thread")
        if thread is not None and chat.kind == "supergroup":
            chat.is_forum = True
        if thread is not None:
            chat.topics.add(thread)
        text = body.get("text", body.get("caption", ""))
        message = self.chats.from_person(chat, sender, text, thread, body.get("entities"))
        if body.get("reply_to"):
            message.reply_to = self._there(chat, body["reply_to"])
        for kind in ("document", "photo", "voice"):
            if kind in body:
                message.attachment = (kind, self._attach(kind, body[kind]))
        return {"update_id": self.updates.add("message", message.api()), "message_id": message.id}

    def _attach(self, kind, body):
        if "base64" in body:
            data = base64.b64decode(body["base64"])
        else:
            data = body.get("content", "").encode() or b"x" * body.get("size", 1)
        mime = {"photo": "image/jpeg", "voice": "audio/ogg"}.get(kind, "text/plain")
        name = body.get("file_name", kind)
        file = self.chats.keep_file(name, body.get("mime_type", mime), data)
        if kind == "photo":
            del file["file_name"], file["mime_type"]
            small = {**file, "file_size": 1, "width": 90, "height": 60}
            return [small, {**file, "width": 1280, "height": 853}]
        if kind == "voice":
            if "file_name" not in body:
                del file["file_name"]  # as in the Bot API: Voice has no name
            return {**file, "duration": 1}
        return file

    def person_edits(self, body):
        _, chat = self._person(body)
        message = self._there(chat, body["message_id"])
        message.text = body["text"]
        message.edits += 1
        return {"update_id": self.updates.add("edited_message", message.api())}

    def person_deletes(self, body):
        self._there(self.chats.find(int(body["chat"])), body["message_id"]).deleted = True

    def person_presses(self, body):
        sender, chat = self._person(body)
        message = self._there(chat, body["message_id"])
        rows = (message.markup or {}).get("inline_keyboard", [])
        buttons = {b["text"]: b.get("callback_data") for row in rows for b in row}
        data = body.get("data", buttons.get(body.get("button")))
        if data is None or (data not in buttons.values() and not body.get("force")):
            raise Unable(f"no such button; there are {buttons}")
        number = str(4000000000000000 + len(self.record.entries))
        self.methods.queries[number] = self.record.now()
        shown = message.api()
        if body.get("inaccessible"):
            shown = {"chat": chat.api(), "message_id": message.id, "date": 0}
        query = {"id": number, "from": sender, "message": shown, "data": data}
        query["chat_instance"] = str(chat.id)
        return {"update_id": self.updates.add("callback_query", query), "id": number}

    def person_stops(self, body):
        chat = self.chats.find(int(body["chat"]))
        content = {"chat": chat.api(), "draft_id": int(body["draft_id"])}
        chat.draft = None
        return {"update_id": self.updates.add("stopped_message_generation", content)}

    def person_reacts(self, body):
        sender, chat = self._person(body)
        message = self._there(chat, body["message_id"])
        message.reactions[sender["id"]] = body["emoji"]
        content = {"chat": chat.api(), "message_id": message.id, "user": sender}
        content |= {"date": unix_time(), "old_reaction": []}
        content["new_reaction"] = [{"type": "emoji", "emoji": body["emoji"]}]
        return {"update_id": self.updates.add("message_reaction", content)}

    def raw_update(self, body):
        (kind, content) = next((k, v) for k, v in body["update"].items() if k != "update_id")
        return {"update_id": self.updates.add(kind, content)}

    def set_options(self, body):
        unknown = set(body) - {"rich", "drafts", "topics", "token", "updates_lost", "next_update"}
        if unknown:
            raise Unable(f"no such options: {sorted(unknown)}")
        for name in ("rich", "drafts", "topics", "token"):
            setattr(self, name, body.get(name, getattr(self, name)))
        self.tokens.append(self.token)
        BOT["id"] = int(self.token.split(":")[0])
        if "next_update" in body:
            self.updates.renumber(body["next_update"])
        self.updates.lose_confirmation(body.get("updates_lost", 0))

    def set_pace(self, body):
        unknown = set(body) - set(self.rates)
        if unknown:
            raise Unable(f"no such pace: {sorted(unknown)}")
        self.rates.update(body)

    # ---- queries of tests ----

    def _typing_is(self, query):
        chat = self.chats.all.get(int(query["chat"]))
        return bool(chat and self.chats.typing(chat)) == (query["typing"] == "1")

    def visible(self):
        return [
            message.shown()
            for chat in self.chats.all.values()
            for message in chat.messages.values()
            if not message.deleted
        ]

    def state(self, chat=None, thread=None):
        shown = self.chats.shown(chat, thread)
        for one in shown["chats"].values():
            for message in one["messages"]:
                message["final"] = any(re.search(p, message["text"]) for p in self.finals)
        return shown

    def still_wrong(self):
        now = self.record.now()
        return [
            {"seq": 0, "t": now, "rule": "unanswered-callback", "detail": number}
            for number in self.methods.queries
        ]

    def file(self, number):
        return self.chats.files[number][2]


def _words(value):
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def multipart(request):
    """Returns fields, and files as (name, bytes, type)."""
    head = b"Content-Type: " + request.headers["content-type"].encode() + b"\r\n\r\n"
    message = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + request.body)
    if not message.is_multipart():
        raise Refused("can't parse multipart body")
    fields, files = {}, {}
    for part in message.iter_parts():
        name = part.get_param("name", header="content-disposition")
        data = part.get_payload(decode=True)
        if part.get_filename() is None:
            fields[name] = data.decode()
        else:
            files[name] = (part.get_filename(), data, part.get_content_type())
    return fields, files


if __name__ == "__main__":
    assert BOT["id"] == int(TOKEN.split(":")[0])
    main(Telegram)
