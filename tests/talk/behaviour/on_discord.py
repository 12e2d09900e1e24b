# SPDX-License-Identifier: MIT
"""Discord for the behaviour suite: direct messages, by the gateway."""
from cases import await_
from deaths import DISCORD_PACE
from place import Place
from talk import discord


class OnDiscord(Place):
    NAME, INSTANCE, BOT, COMMAND = "discord", "dc", "900000000000000001", "/"
    CAN = frozenset("edit delete react typing file buttons told again also threads plain".split())
    METHODS = {
        "post": ("post",), "edit": ("edit",), "delete": ("delete",), "react": ("react",),
        "typing": ("typing",), "file": ("file",), "identify": ("application",),
    }  # fmt: skip
    EDIT_S = 1.25
    UNSURE = False
    TOKENS = ("fake-discord-bot-token.AAAAAA.not-a-real-one", "fake-another-bot-token.BBBBBB.nor-this")

    def prepare(self):
        self.fake.control("pace", DISCORD_PACE)
        self.fake.control("options", {"ack_time": 30, "message_content": True})

    def instance(self, **options):
        return discord(self.fake, allow=self.allowed(), message_content=True, **options)

    def ready(self):
        self.fake.wait(sockets=1)

    def user(self, number):
        id_ = str(100000000000000000 + number)
        self.fake.control("user", {"id": id_, "name": f"person{number}"})
        return id_

    def chat(self, user):
        channel = str(int(user) + 400000000000000000)
        self.fake.control("channel", {"id": channel, "type": "dm", "user": user})
        return channel

    def join_group(self, person):
        """A channel of the server."""
        person.chat = str(int(person.id) + 500000000000000000)
        self.fake.control("channel", {"id": person.chat})

    def say(self, person, text, reply_to, thread=None, mention=False):
        if thread:  # it has the id of the message that it begins with
            self.fake.control("channel", {"id": thread, "type": "thread", "parent": person.chat})
        body = {"user": person.id, "channel": thread or person.chat, "text": text, "mention": mention}
        if reply_to:
            body["reply_to"] = reply_to
        return self.fake.control("message", body)["id"]

    def press(self, person, message, label):
        body = {"user": person.id, "channel": message["thread"] or person.chat, "id": message["id"]}
        made = self.fake.control("press", {**body, "label": label})
        return {**body, "custom_id": made["custom_id"]}

    def choose(self, person, card, options):
        """Chooses one option by its button; several in the form that a button opens."""
        if len(options) == 1:
            self.press(person, card, options[0])
            return
        body = {"user": person.id, "channel": card["thread"] or person.chat, "id": card["id"]}
        press = self.fake.control("press", {**body, "label": "Answer"})["interaction"]
        modal = await_(lambda: self.fake.state()["modals"].get(press), "the form")
        first = modal["components"][0]["component"]
        self.fake.control("submit", {"interaction": press, "values": {first["custom_id"]: options}})

    def sent(self, message):
        """The argument for `again`."""
        return message

    def again(self, message):
        """The gateway delivers the message again with the same id."""
        shown = next(m for m in self.fake.screen() if m["id"] == message)
        self.fake.control("again", {"channel": shown["thread"] or shown["chat"], "id": message})

    def press_again(self, person, pressed):
        """Presses the button even if it was removed."""
        self.fake.control("press", {**pressed, "user": person.id, "force": True})

    def delete(self, person, message):
        channel = message["thread"] or person.chat
        self.fake.control("delete", {"channel": channel, "id": message["id"]})

    def token(self, good):
        self.fake.control("options", {"token": self.TOKENS[not good]})
