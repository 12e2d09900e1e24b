# SPDX-License-Identifier: MIT
"""Matrix for the behaviour suite."""
import re

from place import Place
from talk import matrix

FREE = {"send": [100, 100], "join": [100, 100]}


class OnMatrix(Place):
    NAME, INSTANCE, BOT = "matrix", "mx", "@bot:fake.example"
    CAN = frozenset("edit delete react typing file reactions threads plain silence account_limit".split())
    METHODS = {
        "post": ("send",), "edit": ("edit",), "delete": ("redact",), "react": ("react",),
        "typing": ("typing",), "file": ("upload",), "poll": ("sync",), "identify": ("whoami",),
    }  # fmt: skip
    EDIT_S = 3.0
    LONG = 40000
    UNSURE = False
    OPTIONS = {"after": "delete"}
    TOKENS = ("syt_fake_matrix_token", "syt_another")

    def prepare(self):
        self.fake.control("pace", FREE)

    def instance(self, **options):
        return matrix(self.fake, allow=self.allowed(), **{**self.OPTIONS, **options})

    def user(self, number):
        return f"@p{number}:fake.example"

    def chat(self, user):
        room = f"!{user[1:]}"
        self.fake.control("room", {"id": room, "members": [user]})
        return room

    def join_group(self, person):
        """A room with the bot and several users."""
        person.chat = f"!group-{person.id[1:]}"
        members = [person.id, self.user(96), self.user(97)]
        self.fake.control("room", {"id": person.chat, "members": members})

    def say(self, person, text, reply_to, thread=None, mention=False):
        body = {"user": person.id, "room": person.chat, "text": text, "mention": mention}
        if reply_to:
            body["reply_to"] = reply_to
        if thread:
            body["thread"] = thread
        return self.fake.control("say", body)["event_id"]

    def react(self, person, message, key):
        body = {"user": person.id, "room": person.chat, "event_id": message["id"], "key": key}
        self.fake.control("react", body)

    def delete(self, person, message):
        body = {"user": person.id, "room": person.chat, "event_id": message["id"]}
        self.fake.control("delete", body)

    def is_running(self, message):
        return message["silent"] and bool(re.search("⏱|⏹|\\AWorking…\\Z", message["text"]))

    def choose(self, person, card, options):
        person.say(", ".join(options), reply_to=card["id"])

    def file_in(self, message):
        return message["url"]

    def token(self, good):
        self.fake.control("options", {"token": self.TOKENS[not good]})
