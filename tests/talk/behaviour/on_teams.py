# SPDX-License-Identifier: MIT
"""Microsoft Teams for the behaviour suite: personal chats, without native streams."""
from cases import await_
from place import Place
from talk import listening, teams

FREE = {"windows": [[100, 1]]}


class OnTeams(Place):
    NAME, INSTANCE, BOT = "teams", "tm", "28:fake-app-id"
    CAN = frozenset("edit delete typing buttons forms again threads".split())
    METHODS = {
        "post": ("post",), "edit": ("edit",), "delete": ("delete",), "typing": ("typing",), "identify": ("token",),
    }  # fmt: skip
    EDIT_S = 2.0
    LONG = 25000
    OPTIONS = {"stream": False}

    def prepare(self):
        self.fake.control("pace", FREE)

    def instance(self, **options):
        return teams(self.fake, allow=self.allowed(), **{**self.OPTIONS, **options})

    def extra(self):
        return listening(self.fake)

    def ready(self):
        self.fake.wait(taken=1)

    def user(self, number):
        return f"p{number}"

    def chat(self, user):
        self.fake.control("chat", {"id": f"a:{user}"})
        return f"a:{user}"

    def join_group(self, person):
        """A channel of a team."""
        person.chat = f"19:{person.id}@thread.tacv2"
        self.fake.control("chat", {"id": person.chat, "type": "channel"})

    def say(self, person, text, reply_to, thread=None, mention=False):
        body = {"user": person.id, "chat": person.chat, "text": text, "mention": mention}
        if reply_to:
            body["reply_to"] = reply_to
        if thread:
            body["thread"] = thread
        return self.fake.control("say", body)["id"]

    def press(self, person, message, label, **more):
        body = {"user": person.id, "chat": person.chat, "id": message["id"], "button": label, **more}
        return await_(lambda: self._pressed(body), f"the press of {label}")["activity"]

    def _pressed(self, body):
        """Presses again when the user is shown an error."""
        told = self.fake.control("press", body)
        return told["status"] == 200 and told

    def press_again(self, person, pressed):
        """Presses the same button again, which was removed."""
        self.fake.control("press", {"chat": person.chat, "activity": {**pressed, "id": pressed["id"] + "9"}})

    def choose(self, person, card, options):
        body = self.fake.state(chat=person.chat)["chats"][person.chat]["messages"]
        inputs = next(m for m in body if m["id"] == card["id"])["inputs"]
        asked = next(i for i in inputs if i["type"] == "Input.ChoiceSet")
        chosen = [c["value"] for c in asked["choices"] if c["title"].split(" — ")[0] in options]
        button = card["buttons"][0][0]
        self.press(person, card, button, values={asked["id"]: ",".join(chosen)})

    def sees_start(self, person, question):
        person.waits_for("typing")

    def sees_wait(self, person, question):
        """Bots cannot react: a reply shows that the message waits."""
        await_(lambda: person.seen("(?i)queue|wait"), f"a word on what waits in {person.screen()}")

    def sent(self, message):
        found = [r["payload"] for r in self.fake.record() if r["kind"] == "inbound"]
        return next(p for p in found if p["id"] == message)

    def again(self, payload):
        self.fake.control("push", {"chat": payload["conversation"]["id"], "activity": payload})

    def token(self, good):
        self.fake.control("options", {"locked": not good})

    def delete(self, person, message):
        self.fake.control("delete", {"chat": person.chat, "id": message["id"]})
