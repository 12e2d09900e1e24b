# SPDX-License-Identifier: MIT
"""Telegram for the behaviour suite."""
from place import Place
from talk import telegram


class OnTelegram(Place):
    NAME, INSTANCE, BOT, COMMAND = "telegram", "tg", "123456", "/"
    CAN = frozenset(("edit delete react typing file buttons told again also slash topics plain conflict "
                     "silence").split())  # fmt: skip
    METHODS = {
        "post": ("sendMessage",), "edit": ("editMessageText",), "delete": ("deleteMessage",),
        "react": ("setMessageReaction",), "typing": ("sendChatAction",), "file": ("sendDocument",),
        "poll": ("getUpdates",), "identify": ("getMe",),
    }  # fmt: skip
    TOKENS = ("123456:FAKE-telegram-token", "123456:another")

    def instance(self, **options):
        return telegram(self.fake, allow=self.allowed(), **options)

    def user(self, number):
        return 1000 + number

    def chat(self, user):
        self.fake.control("chat", {"id": user})
        return str(user)

    def say(self, person, text, reply_to, thread=None):
        body = {"from": person.id, "chat": int(person.chat), "text": text}
        if reply_to:
            body["reply_to"] = int(reply_to)
        if thread:
            body["thread"] = thread
        return str(self.fake.control("message", body)["message_id"])

    def _at(self, person, message):
        return {"from": person.id, "chat": int(person.chat), "message_id": int(message["id"])}

    def press(self, person, message, label):
        row = [b for row in message["buttons"] for b in row if label in b]
        body = {**self._at(person, message), "button": row[0]}
        number = self.fake.control("callback", body)["update_id"]
        return next(r["update"] for r in reversed(self.fake.record())
                    if r["kind"] == "inbound" and r["update"]["update_id"] == number)  # fmt: skip

    def again(self, update):
        """Delivers the same message as another update."""
        self.fake.control("update", {"update": update})

    def press_again(self, person, pressed):
        """Presses the button even if it was removed."""
        query = pressed["callback_query"]
        message = {"id": query["message"]["message_id"]}
        self.fake.control("callback", {**self._at(person, message), "data": query["data"], "force": True})

    def react(self, person, message, key):
        self.fake.control("reaction", {**self._at(person, message), "emoji": key})

    def delete(self, person, message):
        self.fake.control("delete", {"chat": int(person.chat), "message_id": int(message["id"])})

    def sent(self, message):
        """The update that delivered a message of a user."""
        found = [r["update"] for r in self.fake.record() if r["kind"] == "inbound"]
        return next(u for u in found if str(u.get("message", {}).get("message_id")) == message)

    def file_in(self, message):
        return message["document"] and message["document"]["file_id"]

    def token(self, good):
        self.fake.control("options", {"token": self.TOKENS[not good]})
