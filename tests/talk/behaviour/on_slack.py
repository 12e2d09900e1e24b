# SPDX-License-Identifier: MIT
"""Slack for the behaviour suite: direct messages, by Socket Mode, without native streams."""
import html

from place import Place
from talk import slack

PACE = {f"tier{n}": 60000 for n in (1, 2, 3, 4)}


class OnSlack(Place):
    NAME, INSTANCE, BOT = "slack", "sl", "U0BOT"
    CAN = frozenset("edit delete react file buttons forms again also".split())
    METHODS = {
        "post": ("chat.postMessage",), "edit": ("chat.update",), "delete": ("chat.delete",),
        "react": ("reactions.add", "reactions.remove"), "typing": ("assistant.threads.setStatus",),
        "file": ("files.getUploadURLExternal",), "identify": ("auth.test",),
    }  # fmt: skip
    LONG = 30000
    UNSURE = False
    LIMITS_METHODS = RETRIES_IN_THREAD = True

    def prepare(self):
        self.fake.control("options", {"streams": False, "agent": False, "assistant": False})
        self.fake.control("pace", PACE)

    def instance(self, **options):
        return slack(self.fake, allow=self.allowed(), **options)

    def ready(self):
        self.fake.wait(sockets=1)

    def user(self, number):
        return f"U{1000 + number}"

    def chat(self, user):
        self.fake.control("user", {"id": user, "name": user.lower()})
        self.fake.control("channel", {"id": "D" + user[1:], "type": "im", "user": user})
        return "D" + user[1:]

    def say(self, person, text, reply_to, thread=None):
        body = {"user": person.id, "channel": person.chat, "text": html.escape(text, quote=False)}
        root = thread or (self._root(person, reply_to) if reply_to else None)
        if root:
            body["thread_ts"] = root
        return str(self.fake.control("message", body)["ts"])

    def _root(self, person, message):
        shown = self.fake.screen()
        found = next(m for m in shown if m["chat"] == person.chat and m["id"] == message)
        return found["thread"] or found["id"]

    def _blocks(self, person, message):
        messages = self.fake.state(chat=person.chat)["chats"][person.chat]["messages"]
        return next(m for m in messages if m["id"] == message["id"])["blocks"]

    def _element(self, person, message, label):
        rows = [e for b in self._blocks(person, message) if b["type"] == "actions" for e in b["elements"]]
        return next(e for e in rows if label in e["text"]["text"])

    def press(self, person, message, label, **more):
        element = self._element(person, message, label)
        body = {"user": person.id, "channel": person.chat, "ts": message["id"], **more}
        body |= {"action_id": element["action_id"], "value": element.get("value")}
        self.fake.control("action", body)
        return body

    def choose(self, person, card, options):
        blocks = self._blocks(person, card)
        asked = next(b for b in blocks if b["type"] == "input" and "options" in b["element"])
        several = asked["element"]["type"] in ("checkboxes", "multi_static_select")
        values = {asked["block_id"]: options if several else options[0]}
        button = next(e for b in blocks if b["type"] == "actions" for e in b["elements"])
        self.press(person, card, button["text"]["text"], values=values)

    def again(self, payload):
        self.fake.control("event", {"event": payload["event"]})

    def press_again(self, person, pressed):
        self.fake.control("action", {**pressed, "user": person.id, "force": True})

    def token(self, good):
        self.fake.control("options", {"tokens_revoked": not good})

    def delete(self, person, message):
        self.fake.control("delete", {"channel": person.chat, "ts": message["id"]})

    def is_answer_to(self, message, question):
        return message["thread"] == question.message

    def sent(self, message):
        found = [r["payload"] for r in self.fake.record() if r["kind"] == "inbound"]
        return next(p for p in found if p.get("event", {}).get("ts") == message)
