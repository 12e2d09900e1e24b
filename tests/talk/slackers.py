# SPDX-License-Identifier: MIT
"""Users of Slack who may ask: their actions, the messages they see, and faults."""
import itertools
import socket

from cases import await_
from people import Question, messages, outcomes

ALLOWED = [f"U{n}" for n in range(1000, 1200)]
STRANGER = "U9999"
NAME = "<@U0BOT>"
EXTRA = """visibility : { show_tools = true; show_narration = true; };
conversations : { max_turns = 64; debounce_ms = 50; };"""
_people = iter(ALLOWED)
_words = itertools.count()


class Person:
    """A user who may ask, by default in their own direct messages."""

    def __init__(self, fake, chat=None):
        self.fake, self.id = fake, next(_people)
        self.chat = chat or "D" + self.id[1:]
        self.prefix = f"{NAME} " if chat else ""
        fake.control("user", {"id": self.id, "name": self.id.lower()})
        if not chat:
            fake.control("channel", {"id": self.chat, "type": "im", "user": self.id})

    def say(self, text, thread=None, **more):
        body = {"user": self.id, "channel": self.chat, "text": text, **more}
        if thread:
            body["thread_ts"] = thread
        return self.fake.control("message", body)["ts"]

    def ask(self, words="", thread=None, **more):
        """Asks a question; in a channel the message names the bot, and the answer is looked for in the thread."""
        id_ = f"q{next(_words)}"
        ts = self.say(f"{self.prefix}id={id_} {words}", thread, **more)
        return Question("slack", self.chat, thread or ts, id_)

    def seen(self, question):
        found = messages(self.fake, question.chat)
        return [m for m in found if m["thread"] == question.message]

    def sees_end_of(self, question):
        """Waits until the messages show that the turn was stopped."""
        said = "Stopped."
        await_(lambda: [m for m in self.seen(question) if said in m["text"]], said)

    def ended(self, question):
        return [m for m in outcomes(self, question) if not m["streaming"]]

    def answer(self, question):
        return await_(lambda: self.ended(question), f"the outcome of {question}")[0]

    def hear(self, text, thread, **more):
        where = {"chat": self.chat, "thread": thread, "text": text, **more}
        return self.fake.wait(visible=1, **{"from": "bot"}, **where)[0]

    def hears_back(self, thread):
        """Waits until all earlier messages have been processed."""
        self.say("!queue", thread)
        self.hear("^The queue is empty", thread)

    def calls(self, *methods):
        calls = [r for r in self.fake.record() if r["kind"] == "call" and r["chat"] == self.chat]
        return [r for r in calls if not methods or r["method"] in methods]


def button(message, what):
    """The payload of the button of a choice, or of "stop"."""
    rows = [b["elements"] for b in message["blocks"] if b["type"] == "actions"]
    data = [e["value"] for row in rows for e in row]
    end = [d for d in data if (d.startswith("s:") if what == "stop" else d.endswith(f":{what}"))]
    return {"action_id": f"turncast:{end[0]}", "value": end[0]}


def fault(fake, method, chat, do, **more):
    """Scripts a fault for calls in the chat whose text matches."""
    match = {"method": method, **({"chat": chat} if chat else {})}
    if "text" in more:
        match["text"] = more.pop("text")
    fake.control("fault", {"match": match, "do": do, **more})


def inbound(fake, ts):
    """The payload of the event that delivered a message."""
    events = [r["payload"] for r in fake.record() if r["kind"] == "inbound"]
    return next(p for p in events if p.get("event", {}).get("ts") == ts)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def listens(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0
