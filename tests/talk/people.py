# SPDX-License-Identifier: MIT
"""Users of each service: they ask questions, and see the answers."""
import json
import re
from dataclasses import dataclass

# A stream of Slack ends with the answer, behind what was said before.
OUTCOME = re.compile(r"^(Answer (?P<id>[a-z0-9-]+) of |⚠|Stopped\.$)", re.MULTILINE)


@dataclass(frozen=True)
class Question:
    service: str
    chat: str
    message: str  # the service's id of it
    id: str  # the word id=… in it


class TelegramPeople:
    """Users in private chats 1000, 1001, …"""

    LETTER = "t"  # with which the ids of their questions begin

    def __init__(self, fake, count):
        self.fake = fake
        self.ids = list(range(1000, 1000 + count))
        # The progress message may show the answer before the turn has ended; it has a clock.
        fake.control("final", {"text": "(?s)\\A(?!.*⏱)(Answer [a-z0-9-]+ of |⚠)"})

    def ask(self, who, id_, words):
        made = self.fake.control("message", {"from": self.ids[who], "text": f"{words} id={id_}"})
        return Question("telegram", str(self.ids[who]), str(made["message_id"]), id_)

    def seen(self, question):
        """The bot's messages that answer the question."""
        return [
            message
            for message in messages(self.fake, question.chat)
            if str(message.get("reply_to")) == question.message
        ]


class SlackPeople:
    """Users U1000, U1001, … in direct messages."""

    LETTER = "s"

    def __init__(self, fake, count):
        self.fake = fake
        self.ids = [f"U{n}" for n in range(1000, 1000 + count)]
        for user in self.ids:
            fake.control("user", {"id": user, "name": user.lower()})
            fake.control("channel", {"id": "D" + user[1:], "type": "im", "user": user})
        fake.control("final", {"text": "(?m)" + OUTCOME.pattern})

    def ask(self, who, id_, words):
        user = self.ids[who]
        channel = "D" + user[1:]
        made = self.fake.control(
            "message", {"user": user, "channel": channel, "text": f"{words} id={id_}"}
        )
        return Question("slack", channel, str(made["ts"]), id_)

    def seen(self, question):
        return [
            message
            for message in messages(self.fake, question.chat)
            if str(message.get("thread")) == question.message
        ]


class MatrixPeople:
    """Rooms !p1000, !p1001, …, each with the bot and one user."""

    LETTER = "m"

    def __init__(self, fake, count):
        self.fake = fake
        self.names = [f"p{n}" for n in range(1000, 1000 + count)]
        self.ids = [f"@{name}:fake.example" for name in self.names]
        for name, user in zip(self.names, self.ids):
            fake.control("room", {"id": f"!{name}:fake.example", "members": [user]})
        fake.control("final", {"text": "(?s)\\A(?!.*⏱)(Answer [a-z0-9-]+ of |⚠)"})

    def ask(self, who, id_, words):
        room = f"!{self.names[who]}:fake.example"
        body = {"user": self.ids[who], "room": room, "text": f"{words} id={id_}"}
        made = self.fake.control("say", body)
        return Question("matrix", room, made["event_id"], id_)

    def seen(self, question):
        """The messages that answer the question; progress is excluded, because it is a notice, which is silent."""
        return [
            message
            for message in messages(self.fake, question.chat)
            if message["reply_to"] == question.message and not message["silent"]
        ]


class TeamsPeople:
    """Users in personal chats a:p1000, a:p1001, …"""

    LETTER = "w"

    def __init__(self, fake, count):
        self.fake = fake
        self.ids = [f"p{n}" for n in range(1000, 1000 + count)]
        for user in self.ids:
            fake.control("chat", {"id": f"a:{user}"})
        fake.control("final", {"text": "(?s)\\A(?!.*⏱)(Answer [a-z0-9-]+ of |⚠)"})

    def ask(self, who, id_, words):
        chat = f"a:{self.ids[who]}"
        body = {"user": self.ids[who], "chat": chat, "text": f"{words} id={id_}"}
        return Question("teams", chat, self.fake.control("say", body)["id"], id_)

    def seen(self, question):
        """The bot's messages that answer the question."""
        return [m for m in messages(self.fake, question.chat) if m["reply_to"] == question.message]


class DiscordPeople:
    """Users 100000000000001000, … in direct messages."""

    LETTER = "d"

    def __init__(self, fake, count):
        self.fake = fake
        self.ids = [str(100000000000001000 + n) for n in range(count)]
        for number, user in enumerate(self.ids):
            fake.control("user", {"id": user, "name": f"p{number}"})
            fake.control("channel", {"id": self.chat(user), "type": "dm", "user": user})
        fake.control("final", {"text": "(?s)\\A(?!.*⏱)(Answer [a-z0-9-]+ of |⚠)"})

    @staticmethod
    def chat(user):
        return str(int(user) + 400000000000000000)

    def ask(self, who, id_, words):
        chat = self.chat(self.ids[who])
        made = self.fake.control("message", {"user": self.ids[who], "channel": chat, "text": f"{words} id={id_}"})
        return Question("discord", chat, made["id"], id_)

    def seen(self, question):
        """The bot's messages that answer the question."""
        return [m for m in messages(self.fake, question.chat) if m["reply_to"] == question.message]


def messages(fake, chat):
    """The bot's messages in a chat that have not been deleted."""
    chats = fake.state(chat=chat)["chats"]
    found = chats.get(chat, {}).get("messages", [])
    return [m for m in found if not m.get("deleted") and is_bot(m)]


def is_bot(message):
    bots = ("123456", "777", "bot", "U0BOT", "B0BOT", "@bot:fake.example", "28:fake-app-id", "900000000000000001")
    return str(message.get("from")) in bots


def can_stop(buttons):
    """Whether a button stops the turn; the button of an error repeats the message instead."""
    return "Stop" in json.dumps(buttons or [])


def outcomes(people, question):
    """The messages that are an outcome: an answer with the id of the question, or an error."""
    found = []
    for message in people.seen(question):
        match = OUTCOME.search(message.get("text") or "")
        if can_stop(message.get("buttons")):
            continue  # progress
        if match and match.group("id") in (None, question.id):
            found.append(message)
    return found
