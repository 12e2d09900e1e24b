# SPDX-License-Identifier: MIT
"""The chats of the Telegram fake: their messages as users see them, and their files."""

import time

from telegram_text import Refused, found

BOT = {"id": 123456, "is_bot": True, "first_name": "Fake", "username": "fake_bot"}
TYPING_SECONDS, DRAFT_SECONDS = 5, 30

_STATES = {
    "blocked": (403, "bot was blocked by the user"),
    "kicked": (403, "bot was kicked from the {kind} chat"),
    "deactivated": (403, "user is deactivated"),
    "closed": (400, "not enough rights to send text messages to the chat"),
    "gone": (400, "chat not found"),
}


class Message:
    def __init__(self, chat, number, sender, thread):
        self.chat = chat
        self.id = number
        self.sender = sender
        self.thread = thread
        self.date = int(time.time())
        self.text = ""
        self.entities = []
        self.markup = None
        self.reply_to = None
        self.document = None
        self.attachment = None  # (kind, description in the API) of a message of a user
        self.rich = None
        self.edits = 0
        self.deleted = False
        self.silent = False
        self.reactions = {}  # user: emoji

    def by_bot(self):
        return self.sender["id"] == BOT["id"]

    def shape(self):
        """The parts of which an edit must change one."""
        return (self.text, self.entities, self.markup, self.rich)

    def api(self, nested=False):
        """The message in the Bot API."""
        result = {"message_id": self.id, "from": self.sender, "chat": self.chat.api()}
        result["date"] = self.date
        if self.thread is not None:
            result["message_thread_id"] = self.thread
            result["is_topic_message"] = True
        if self.edits:
            result["edit_date"] = int(time.time())
        if self.rich is not None:
            result["rich_message"] = self.rich
        file = self.attachment or (("document", self.document) if self.document else None)
        if file:
            result[file[0]] = file[1]
        if self.text:
            result["caption" if file else "text"] = self.text
        if self.entities:
            result["caption_entities" if file else "entities"] = self.entities
        if self.markup:
            result["reply_markup"] = self.markup
        if self.reply_to is not None and not nested:
            result["reply_to_message"] = self.reply_to.api(nested=True)
        return result

    def shown(self):
        """The message for a test."""
        rows = (self.markup or {}).get("inline_keyboard", [])
        return {
            "id": self.id,
            "chat": str(self.chat.id),
            "text": self.text,
            "entities": self.entities,
            "rich": self.rich,
            "from": self.sender["id"],
            "bot": self.by_bot(),
            "thread": self.thread,
            "reply_to": self.reply_to.id if self.reply_to else None,
            "buttons": [[button["text"] for button in row] for row in rows],
            "reactions": list(self.reactions.values()),
            "edits": self.edits,
            "deleted": self.deleted,
            "silent": self.silent,
            "document": self.document,
        }


class Chat:
    def __init__(self, number, kind, title):
        self.id = number
        self.kind = kind
        self.title = title
        self.is_forum = False
        self.topics = set()
        self.state = "ok"
        self.migrate_to = None
        self.messages = {}
        self.typing_until = {}  # thread: end of the indicator by the service, in seconds
        self.draft = None  # (draft_id, text, until)
        self._count = 0

    def api(self):
        result = {"id": self.id, "type": self.kind}
        result["first_name" if self.kind == "private" else "title"] = self.title
        if self.is_forum:
            result["is_forum"] = True
        return result

    def add(self, sender, thread=None):
        self._count += 1
        message = Message(self, self._count, sender, thread)
        self.messages[message.id] = message
        return message

    def find(self, number):
        message = self.messages.get(number)
        return message if message and not message.deleted else None

    def has_topic(self, thread):
        return thread in self.topics or (self.is_forum and thread == 1)

    def check_open(self):
        if self.state == "upgraded":
            raise Refused(
                "group chat was upgraded to a supergroup chat",
                rule=None,
                parameters={"migrate_to_chat_id": self.migrate_to},
            )
        if self.state != "ok":
            code, text = _STATES[self.state]
            kind = "group" if self.kind == "group" else self.kind
            raise Refused(text.format(kind=kind), code, rule=None)

    def forget_typing(self, thread):
        self.typing_until.pop(thread, None)
        self.draft = None


class Chats:
    def __init__(self, record):
        self.all = {}
        self.files = {}  # file_id: (name, type, bytes)
        self._record = record

    def make(self, number, kind=None, title=None):
        chat = self.all.get(number)
        if chat is None:
            kind = kind or ("private" if number > 0 else "supergroup")
            chat = self.all[number] = Chat(number, kind, title or f"Chat {number}")
        return chat

    def find(self, number):
        chat = self.all.get(number)
        if chat is None:
            raise Refused("chat not found", rule=None)
        return chat

    def keep_file(self, name, kind, data):
        number = f"FILE{len(self.files) + 1:04}"
        self.files[number] = (name, kind, data)
        return self.describe_file(number)

    def describe_file(self, number):
        name, kind, data = self.files[number]
        return {
            "file_id": number,
            "file_unique_id": f"U{number}",
            "file_name": name,
            "mime_type": kind,
            "file_size": len(data),
        }

    def typing(self, chat):
        now = self._record.now()
        return any(until > now for until in chat.typing_until.values())

    def draft(self, chat):
        if chat.draft is None or chat.draft[2] <= self._record.now():
            return None
        return {"draft_id": chat.draft[0], "text": chat.draft[1]}

    def shown(self, number=None, thread=None):
        chats = {}
        for chat in self.all.values():
            if number is not None and str(chat.id) != number:
                continue
            messages = [m.shown() for m in chat.messages.values()]
            if thread is not None:
                messages = [m for m in messages if str(m["thread"]) == thread]
            chats[str(chat.id)] = {
                "messages": messages,
                "typing": self.typing(chat),
                "draft": self.draft(chat),
            }
        return {"chats": chats}

    def from_person(self, chat, sender, text, thread, entities=None):
        message = chat.add(sender, thread)
        message.text = text
        message.entities = found(text) if entities is None else entities
        return message
