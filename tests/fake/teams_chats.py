# SPDX-License-Identifier: MIT
"""The conversations of the Teams fake: the checks for requests of bots, and the messages that users
see."""

import itertools
import json
import re

BOT = "28:fake-app-id"
MAX_UTF16 = 100 * 1024  # bytes of an activity, in UTF-16
MAX_CARD = 28 * 1024
INFORMATIVE = 1000
CARD = "application/vnd.microsoft.card.adaptive"
TYPING_S = 4
CODE = re.compile(r"(```.*?```|`[^`]+`)", re.DOTALL)
ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


class Refused(Exception):
    """`rule`: the name of the violation, or None if a correct client may get the error."""

    def __init__(self, status, code, words, rule=None):
        super().__init__(words)
        self.status, self.rule = status, rule
        self.body = {"error": {"code": code, "message": words}}


def not_allowed(words, rule=None):
    return Refused(403, "ContentStreamNotAllowed", words, rule)


def stream_of(body):
    """Returns what makes an activity a part of a stream, or {}: an entity, or channelData from
    libraries of Microsoft, which do not send a complete entity."""
    found = [e for e in body.get("entities") or [] if isinstance(e, dict) and e.get("type") == "streaminfo"]
    told = body.get("channelData") or {}
    return found[0] if found and "streamType" in found[0] else told if "streamType" in told else {}


def cards_of(body):
    return [a["content"] for a in body.get("attachments") or [] if a.get("contentType") == CARD]


def actions_of(body):
    found = []
    for card in cards_of(body):
        rows = [e["actions"] for e in card.get("body", []) if e.get("type") == "ActionSet"]
        for row in [*rows, *([card["actions"]] if card.get("actions") else [])]:
            found.append(row)
    return found


def inputs_of(body):
    return [e for card in cards_of(body) for e in card.get("body", []) if e["type"].startswith("Input.")]


def _read(text, form):
    """Returns Markdown without its escapes, which users do not see; code has none."""
    if form == "plain":
        return text
    parts = CODE.split(text)
    return "".join(p if i % 2 else ESCAPE.sub(r"\1", p) for i, p in enumerate(parts))


def body_text(body):
    """The text that users read: that of the message and of its cards."""
    lines = [_read(body["text"], body.get("textFormat"))] if body.get("text") else []
    for card in cards_of(body):
        for element in card.get("body", []):
            if element.get("type") == "RichTextBlock":
                lines.append("".join(run["text"] for run in element["inlines"]))
            elif element.get("type") == "TextBlock":
                lines.append(element["text"])
    return "\n".join(lines)


class Chat:
    def __init__(self, id_, kind):
        self.id, self.kind = id_, kind
        self.state = "ok"
        self.typing_until = 0.0
        self.bot_id = BOT


class Message:
    def __init__(self, chat, id_, thread, sender, body):
        self.chat, self.id, self.thread, self.sender, self.body = chat, id_, thread, sender, body
        self.edits, self.deleted = 0, False
        self.stream = None

    def text(self):
        return body_text(self.body)

    def shown(self):
        buttons = [[a.get("title", "") for a in row] for row in actions_of(self.body)]
        bot = self.sender == BOT
        return {"chat": self.chat, "thread": self.thread, "id": self.id, "text": self.text(), "from": self.sender,
                "bot": bot, "buttons": buttons, "reply_to": self.body.get("replyToId"), "silent": False,
                "reactions": [], "edits": self.edits, "deleted": self.deleted,
                "streaming": bool(self.stream) and self.stream.state == "open",
                "informative": bool(self.stream) and not self.stream.text, "inputs": inputs_of(self.body)}  # fmt: skip


class Stream:
    def __init__(self, began):
        self.began, self.sequence, self.text = began, 1, ""
        self.state = "open"  # final, stopped, late


class Chats:
    def __init__(self, service):
        self.service, self.record = service, service.record
        self.known, self.messages = {}, {}
        self._ids = itertools.count(1700000000001)

    # ---- for users ----

    def make(self, id_, kind="personal"):
        return self.known.setdefault(id_, Chat(id_, kind))

    def new_id(self):
        return str(next(self._ids))

    def add(self, chat, thread, sender, body, id_=None):
        message = Message(chat.id, id_ or self.new_id(), thread, sender, body)
        self.messages[chat.id, message.id] = message
        return message

    def is_typing(self, id_):
        chat = self.known.get(id_)
        return bool(chat) and chat.typing_until > self.record.now()

    # ---- for bots ----

    def _chat(self, call):
        chat = self.known.get(call.chat)
        if chat is None:
            raise Refused(404, "ConversationNotFound", "Conversation not found.", "bad-request")
        if chat.state == "gone":
            raise Refused(404, "ConversationNotFound", "Conversation not found.")
        if chat.state == "blocked":
            raise Refused(403, "MessageWritesBlocked", "Message writes are blocked.")
        return chat

    def _message(self, call):
        message = self.messages.get((call.chat, call.params["id"]))
        if message is None or message.deleted or message.sender != BOT:
            raise Refused(404, "ActivityNotFoundInConversation", "Activity not found.")
        return message

    def _check(self, call, kind="message"):
        body = call.params["body"]
        if body.get("type") != kind:
            raise Refused(400, "BadArgument", f"type must be {kind}", "bad-request")
        if call.size > MAX_UTF16 or any(len(json.dumps(c).encode()) > MAX_CARD for c in cards_of(body)):
            if stream_of(body):
                raise not_allowed("Message size too large")
            raise Refused(413, "MessageSizeTooBig", "Message size too large")
        if not body.get("text") and not body.get("attachments"):
            raise Refused(400, "BadSyntax", "Activity must include text or attachments", "bad-request")
        if body.get("textFormat", "markdown") not in ("markdown", "plain", "xml"):
            raise Refused(400, "BadSyntax", "Bad textFormat", "bad-request")
        for card in cards_of(body):
            self._check_card(card)
        return body

    def _check_card(self, card):
        ids = set()
        if card.get("type") != "AdaptiveCard" or card.get("version") != "1.5":
            raise Refused(400, "BadSyntax", "Not an Adaptive Card of version 1.5", "bad-card")
        for element in card["body"]:
            if element["type"] not in ("RichTextBlock", "TextBlock", "ActionSet", "Input.Text", "Input.ChoiceSet"):
                raise Refused(400, "BadSyntax", f"Unknown element {element['type']}", "bad-card")
            if element["type"].startswith("Input."):
                if not element.get("id") or element["id"] in ids or not element.get("label"):
                    raise Refused(400, "BadSyntax", "An input lacks an id of its own or a label", "bad-card")
                ids.add(element["id"])
            if element["type"] == "RichTextBlock" and not all(run.get("text") for run in element["inlines"]):
                raise Refused(400, "BadSyntax", "A run has no text", "bad-card")
            for action in element.get("actions", []):
                self._check_action(action)
            if len(element.get("actions", [])) > 6:
                raise Refused(400, "BadSyntax", "Too many actions in a set", "bad-card")

    def _check_action(self, action):
        if action.get("type") == "Action.ShowCard":
            for one in action["card"]["actions"]:
                self._check_action(one)
        elif action.get("type") != "Action.Execute" or not action.get("verb") or not action.get("title"):
            raise Refused(400, "BadSyntax", "Not an Action.Execute with verb and title", "bad-card")
        elif action.get("fallback", {}).get("type") != "Action.Submit":
            self.record.violate("no-fallback", "an action without Action.Submit as its fallback")

    def _check_thread(self, chat, call):
        answered = self.messages.get((chat.id, call.params["body"].get("replyToId")))
        wanted = answered.thread if answered else None
        if chat.kind == "channel" and not call.params["thread"]:
            self.record.violate("outside-thread", f"a post in {chat.id} to an unknown thread")
        elif answered and wanted != call.params["thread"]:
            self.record.violate("outside-thread", f"{call.params['thread']}, not {wanted}")
        root = call.params["thread"]
        if root and (chat.id, root) not in self.messages:
            raise Refused(404, "ConversationNotFound", "No such thread.", "bad-request")

    def post(self, call):
        chat, body = self._chat(call), self._check(call)
        self._check_thread(chat, call)
        chat.typing_until = 0.0
        return self.add(chat, call.params["thread"], BOT, body).id

    def edit(self, call):
        self._chat(call)
        message, body = self._message(call), self._check(call)
        before = message.text()
        message.body = {**body, "replyToId": message.body.get("replyToId")}
        message.edits += 1
        self.service.text_changed(call.chat, message.id, before, message.text())
        if message.stream and message.stream.state == "open":
            message.stream.state = "final"
        return message.id

    def delete(self, call):
        self._chat(call)
        message = self._message(call)
        self.service.text_changed(call.chat, message.id, message.text(), None)
        message.deleted = True

    def typing(self, call):
        chat = self._chat(call)
        if chat.kind == "channel":
            self.record.violate("typing-in-channel", chat.id)
        chat.typing_until = self.record.now() + self.service.seconds(TYPING_S)

    # ---- streams ----

    def stream(self, call):
        chat, info = self._chat(call), stream_of(call.params["body"])
        if chat.kind != "personal":
            raise not_allowed("Content stream is not allowed", "stream-misuse")
        if not self.service.options["streams"]:
            raise not_allowed("Content stream is not allowed")
        final = info.get("streamType") == "final"
        body = self._check(call, "message" if final else "typing")
        if not info.get("streamId"):
            return self._begin(chat, call, info, body)
        message = self.messages.get((chat.id, info["streamId"]))
        if message is None or not message.stream or message.deleted:
            raise Refused(404, "ActivityNotFoundInConversation", "Activity not found.")
        self._continue(message, info, body, final)
        return None

    def _begin(self, chat, call, info, body):
        if info.get("streamType") == "final" or info.get("streamSequence") != 1:
            raise Refused(400, "BadRequest", "Start streaming activities must have streamSequence 1", "stream-misuse")
        if any(m.stream and m.stream.state == "open" and m.chat == chat.id and not m.deleted
               and not self._is_late(m) for m in self.messages.values()):  # fmt: skip
            raise not_allowed("Content stream is not allowed")
        message = self.add(chat, None, BOT, body)
        message.stream = Stream(self.record.now())
        self._take(message, info, body)
        chat.typing_until = 0.0
        return message.id

    def _is_late(self, message):
        stream = message.stream
        if stream.state == "open" and self.record.now() - stream.began > self.service.seconds(self.service.options["stream_life"]):
            stream.state = "late"
        return stream.state == "late"

    def _continue(self, message, info, body, final):
        stream = message.stream
        if self._is_late(message):
            raise not_allowed("Content stream finished due to exceeded streaming time.")
        if stream.state == "stopped":
            raise not_allowed("Content stream was canceled by user.")
        if stream.state == "final":
            raise not_allowed("Content stream is not allowed on an already completed streamed message")
        if final:
            if "streamSequence" in info:
                raise Refused(400, "BadRequest", "streamSequence must not be set", "stream-misuse")
        elif not isinstance(info.get("streamSequence"), int) or info["streamSequence"] <= stream.sequence:
            raise Refused(400, "BadRequest", "streamSequence must increase", "stream-misuse")
        stream.sequence = info.get("streamSequence", stream.sequence)
        self._take(message, info, body)
        if final:
            stream.state = "final"

    def _take(self, message, info, body):
        stream, text = message.stream, body["text"]
        if info.get("streamType") == "informative":
            if stream.text:
                raise Refused(400, "BadRequest", "informative after streaming", "stream-misuse")
            if len(text) > INFORMATIVE:
                raise Refused(400, "BadRequest", "informative text too long", "stream-misuse")
        elif stream.text not in text:
            raise not_allowed("Request streamed content should contain the previously streamed content", "stream-misuse")
        else:
            stream.text = text
        message.body = body

    def stop(self, id_, state="stopped"):
        """A user presses Stop, or the time limit ends. Returns the number of streams that this
        ends."""
        found = [m for m in self.messages.values() if m.chat == id_ and m.stream and m.stream.state == "open"]
        for message in found:
            message.stream.state = state
        return len(found)
