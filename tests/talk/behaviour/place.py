# SPDX-License-Identifier: MIT
"""The interface of a chat service for the cases of the behaviour suite: its fake, its users, their actions, and
the messages they see. The subclasses, one for each service, are in on_NAME.py."""
import itertools
import json
import re

import ledger
from cases import await_
from people import OUTCOME, Question
from shown import LOST
from talk import Fake

MARKED = "(may be a repeat)"
FAULTS = {  # a refusal that is for ever, as each service words it
    "telegram": {"code": 400, "description": "Bad Request: message is bad"},
    "matrix": {"status": 400, "errcode": "M_BAD_JSON", "error": "no"},
    "slack": {"error": "invalid_blocks"},
    "teams": {"status": 400, "code": "BadSyntax", "message": "no"},
    "discord": {"status": 400, "code": 200000, "message": "Message was blocked by automatic moderation"},
}


class Place:
    """A fake, the host that serves it, and its users. `asked` is for the judge."""

    NAME = ""  # of the plugin and of its fake
    INSTANCE = ""  # of the host
    BOT = ""  # author of the messages of the bot
    CAN = frozenset()
    COMMAND = "!"  # what stands before a command
    METHODS = {}  # kind of an operation -> methods in the record of the fake
    EDIT_S = 1.0  # between two edits
    LONG = 9000  # characters of an answer that needs several messages, and not too many
    UNSURE = True  # the service does not recognise what is sent again
    LIMITS_METHODS = False  # a limit holds one kind of request, and not the chat
    RETRIES_IN_THREAD = False  # a turn that is tried again has its outcome where the first had it
    OPTIONS = {}  # of the instance, for all stages

    def __init__(self):
        self.fake = Fake(self.NAME)
        self.host = self.deaths = None  # what the stage made of it
        self.asked = []
        self.refused = set()  # chats in which an answer was refused
        self.expected = set()  # rules to which the service objects because a case makes it so
        self._people = itertools.count()
        self._words = itertools.count()
        self.prepare()

    # ---- of each service

    def prepare(self):
        """Prepares the fake before the host starts."""

    def instance(self, **options):
        """The text of the instance in the configuration."""
        raise NotImplementedError

    def extra(self):
        """Additional groups of the configuration."""
        return ""

    def sees_start(self, person, question):
        """Waits for the sign that the turn of a message has begun."""
        await_(lambda: person.reactions(question.message), "a reaction to the question")

    def sees_wait(self, person, question):
        """Waits for the sign that a message waits for the running turn."""
        await_(lambda: person.reactions(question.message), "a sign on what waits")

    def ready(self):
        """Waits until the host receives the messages of users."""
        self.fake.wait(polling=1)

    def user(self, number):
        """Creates a user and returns its id."""
        raise NotImplementedError

    def chat(self, user):
        """The chat of a person and the bot."""
        raise NotImplementedError

    def say(self, person, text, reply_to, **more):
        raise NotImplementedError

    def press(self, person, message, label):
        """Presses the button with this label; returns the argument for `again`."""
        raise NotImplementedError

    def react(self, person, message, key):
        raise NotImplementedError

    def delete(self, person, message):
        raise NotImplementedError

    def choose(self, person, card, options):
        """Chooses options of a question by their buttons; several need a button that ends the choice."""
        for option in options:
            card = person.hear("Question")
            self.press(person, card, option)
            if len(options) > 1:
                await_(lambda: any(f"☑ {option}" in b for m in person.seen("Question")
                                   for row in m["buttons"] for b in row), "the tick")  # fmt: skip
        if len(options) > 1:
            self.press(person, person.hear("Question"), "Done")

    def file_in(self, message):
        """What the fake needs to return the file of a message, or nothing."""
        return message["document"] and message["document"]["id"]

    def is_answer_to(self, message, question):
        return message["reply_to"] == question.message

    def is_running(self, message):
        """Whether a message shows a turn as running."""
        return any("Stop" in label for row in message["buttons"] for label in row)

    # ---- for all

    def allowed(self):
        """The users who may ask and decide."""
        return [self.user(n) for n in range(95)]

    def person(self, **more):
        return Person(self, **more)

    def word(self):
        return f"q{next(self._words)}"

    def number(self):
        return next(self._people)

    def calls(self, kind=None, since=0):
        calls = [r for r in self.fake.record(since) if r["kind"] == "call"]
        return [r for r in calls if not kind or r["method"] in self.METHODS[kind]]

    def asked_at(self, question):
        """When the service had the question, in seconds of the record: its first entry with the words."""
        word = re.compile(rf"\bid={question.id}\b")
        return next(r["t"] for r in self.fake.record() if word.search(json.dumps(r)))

    def drop(self, fault):
        """Ends a scripted fault."""
        self.fake.control("clear", {"id": fault})

    def file_of(self, person):
        """The text of a file of the bot."""
        messages = self.fake.state(chat=person.chat)["chats"][person.chat]["messages"]
        files = [self.file_in(m) for m in messages if self.file_in(m) and m["bot"]]
        return files and self.fake.get("file", id=files[0]).decode()

    def restart(self):
        self.deaths.kill()
        self.host.start()

    def settled(self):
        """Waits until the host has stored the reply of the service."""
        await_(lambda: not ledger.requests(self.host), "no request without its answer on disk")

    def decide_again(self, person, card, pressed):
        if "buttons" in self.CAN:
            self.press_again(person, pressed)
        else:
            self.react(person, card, "❌")


class Person:
    """A user who may ask, in a chat with the bot."""

    def __init__(self, place, chat=None, user=None):
        self.place, self.fake = place, place.fake
        self.id = user or place.user(place.number())
        self.chat = chat or place.chat(self.id)

    # ---- what they do

    def say(self, text, reply_to=None, **more):
        """-> the id of the message"""
        return self.place.say(self, text, reply_to, **more)

    def ask(self, words="", **more):
        id_ = self.place.word()
        question = Question(self.place.NAME, self.chat, self.say(f"{words} id={id_}", **more), id_)
        self.place.asked.append(question)
        return question

    def command(self, words):
        return self.say(self.place.COMMAND + words)

    def press(self, message, label):
        return self.place.press(self, message, label)

    def decide(self, card, allow):
        """Decides by a button or a reaction, as the service supports it."""
        if "buttons" in self.place.CAN:
            return self.press(card, "Allow" if allow else "Deny")
        return self.place.react(self, card, "✅" if allow else "❌")

    def delete(self, message):
        self.place.delete(self, message)

    def fault(self, kind, do, **more):
        """Refuses operations of this kind in the chat; `text` matches their text."""
        match = {"method": list(self.place.METHODS[kind]), "chat": self.chat}
        if "text" in more:
            match["text"] = more.pop("text")
        return self.fake.control("fault", {"match": match, "do": do, **more})["id"]

    def refuse(self, kind, **more):
        return self.fault(kind, "error", **FAULTS[self.place.NAME], **more)

    # ---- what they see

    def screen(self):
        """The messages of the bot, in their order."""
        shown = self.fake.screen()
        return [m for m in shown if m["chat"] == self.chat and m["author"] == self.place.BOT]

    def seen(self, pattern):
        return [m for m in self.screen() if re.search(pattern, m["text"])]

    def hear(self, pattern):
        """The newest message that contains the text."""
        return await_(lambda: self.seen(pattern), f"{pattern} in {self.screen()}")[-1]

    def sees_no(self, pattern):
        await_(lambda: not self.seen(pattern), f"no {pattern} in {self.screen()}")

    def running(self):
        return [m for m in self.screen() if self.place.is_running(m)]

    def progress(self, pattern=""):
        """Waits until the progress message contains the text, and returns it."""
        return await_(lambda: [m for m in self.running() if re.search(pattern, m["text"])],
                      f"progress with {pattern!r} in {self.screen()}")[-1]  # fmt: skip

    def sees_no_progress(self):
        await_(lambda: not self.running(), f"no progress in {self.screen()}")

    def outcomes(self, question):
        return [m for m in self.screen() if self._is_outcome(m, question)]

    def _is_outcome(self, message, question):
        match = OUTCOME.search(message["text"] or "")
        if not match or LOST in message["text"] or self.place.is_running(message):
            return False
        return match["id"] == question.id or (
            match["id"] is None and self.place.is_answer_to(message, question))

    def answer(self, question):
        return await_(lambda: self.outcomes(question),
                      f"the outcome of {question} in {self.screen()}")[0]  # fmt: skip

    def reactions(self, message):
        """The reactions to a message of the user."""
        return next(m["reactions"] for m in self.fake.screen()
                    if m["chat"] == self.chat and m["id"] == message)  # fmt: skip

    def calls(self, kind=None):
        return [c for c in self.place.calls(kind) if str(c["chat"]) == self.chat]

    def waits_for(self, kind, stage="done", **more):
        """Waits until such a call in the chat has arrived or is answered."""
        def found():
            return [c for c in self.calls(kind) if (stage == "arrived" or "status" in c)
                    and all(re.search(v, c[k] or "") if k == "text" else c.get(k) == v
                            for k, v in more.items())]  # fmt: skip

        return await_(found, f"{kind} {more} in {self.chat}")[-1]


def needs(*abilities):
    """Marks a case for services that support the operations."""
    def mark(case):
        case.needs = frozenset(abilities)
        return case

    return mark
