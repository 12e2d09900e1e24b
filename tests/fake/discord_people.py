# SPDX-License-Identifier: MIT
"""Actions of users in the Discord fake: messages, edits, deletions, pressed buttons, commands."""

import base64
import os

from control import Unable
from discord_gateway import DIRECT_MESSAGES, GUILD_MESSAGES
from discord_modal import submission
from discord_text import pings
from discord_world import APP, BOT, GUILD, PUBLIC_THREAD, DM, TEXT

KINDS = {"text": TEXT, "dm": DM, "thread": PUBLIC_THREAD}


class Interaction:
    def __init__(self, number, at, channel, user, message, kind):
        self.id, self.at, self.channel, self.user, self.message = number, at, channel, user, message
        self.kind, self.modal = kind, None
        self.token = f"interaction-{os.urandom(12).hex()}"
        self.answered = None  # the type of the response


class People:
    def __init__(self, service):
        self.service, self.world, self.record = service, service.world, service.record
        self.interactions = {}
        self.controls = {
            "user": lambda body: self.world.add_user(body["id"], body["name"], body.get("is_bot", False)),
            "channel": self.make_channel,
            "message": self.write,
            "edit": self.edit,
            "delete": self.delete,
            "again": lambda body: self.service.announce_message("MESSAGE_CREATE", self._message(body)),
            "react": self.react,
            "press": self.press,
            "command": self.command,
            "submit": self.submit,
            "event": self.event,
        }

    # ---- places ----

    def make_channel(self, body):
        channel = self.world.channels.get(body["id"])
        if channel is None:
            kind = KINDS[body.get("type", "text")]
            channel = self.world.add_channel(body["id"], kind, body.get("parent"), body.get("user"))
        channel.state = body.get("state", channel.state)
        channel.name = body.get("name", channel.name)

    def _channel(self, body):
        try:
            return self.world.channels[body["channel"]]
        except KeyError:
            raise Unable(f"no channel {body['channel']}") from None

    def _message(self, body):
        message = self._channel(body).messages.get(body["id"])
        if message is None or message.deleted:
            raise Unable(f"no message {body['id']}")
        return message

    # ---- messages ----

    def write(self, body):
        channel = self._channel(body)
        if body["user"] not in self.world.users:
            raise Unable(f"no user {body['user']}")
        kind = 19 if body.get("reply_to") else body.get("type", 0)
        message = self.world.add_message(channel, body["user"], kind)
        text = body.get("text", "")
        message.content = f"<@{BOT}> {text}" if body.get("mention") else text
        message.mentions, message.everyone = pings({"content": message.content}, self.world.users)
        message.flags = body.get("flags", 0)
        message.stickers = body.get("stickers", [])
        if body.get("reply_to"):
            self._reply(message, body)
        for file in body.get("files", []):
            self._attach(message, file)
        self.service.announce_message("MESSAGE_CREATE", message)
        return {"id": message.id}

    def _reply(self, message, body):
        there = message.channel.messages[body["reply_to"]]
        message.reference = there.id
        if body.get("ping", True):
            message.mentions = sorted({*message.mentions, there.author})

    def _attach(self, message, file):
        data = base64.b64decode(file["base64"]) if "base64" in file else file["content"].encode()
        base = file.get("base", self.service.base_url())
        made = self.world.attach(message.channel, file["name"], data, file.get("type", "text/plain"), base,
                                 file.get("expires", 86400))  # fmt: skip
        message.attachments.append({**made, "size": file.get("size", len(data))})

    def edit(self, body):
        message = self._message(body)
        message.content, message.edits = body["text"], message.edits + 1
        message.mentions, message.everyone = pings({"content": message.content}, self.world.users)
        message.edited_ms = self.world.now_ms()
        self.service.announce_message("MESSAGE_UPDATE", message)

    def delete(self, body):
        message = self._message(body)
        message.deleted = True
        self.service.announce_message("MESSAGE_DELETE", message)

    def react(self, body):
        self._message(body).reactions.setdefault(body["emoji"], []).append(body["user"])

    # ---- interactions ----

    def _interact(self, channel, user, kind, data, message=None, how=None):
        one = Interaction(self.world.snowflake(), self.record.now(), channel, user, message, kind)
        self.interactions[one.token] = one
        made = {"id": one.id, "application_id": APP, "type": kind, "token": one.token, "version": 1}
        made |= {"data": data, "channel_id": channel.id, "channel": channel.api(), "locale": "en-US"}
        made |= {"attachment_size_limit": 10 << 20, "entitlements": [], "authorizing_integration_owners": {}}
        person = self.world.users[user].api()
        if channel.guild:
            member = {"user": person, "nick": None, "roles": [], "permissions": "8", "flags": 0}
            member |= {"joined_at": "2020-01-01T00:00:00+00:00", "deaf": False, "mute": False}
            made |= {"guild_id": GUILD, "guild_locale": "en-US", "member": member, "context": 0}
        else:
            made |= {"user": person, "context": 1}
        if message:
            made["message"] = message.api()
        self.record.add("inbound", event="INTERACTION_CREATE", interaction=one.id, user=user)
        told = {"interaction": one.id, "custom_id": data.get("custom_id")}
        if self.service.endpoint.url:
            return {**told, "status": self.service.endpoint.deliver(one, made, how)}
        self.service.gateway.dispatch_to_all("INTERACTION_CREATE", lambda session: made, lambda session: True)
        return told

    def press(self, body):
        channel = self._channel(body)
        message = channel.messages.get(body["id"])
        buttons = [b for row in message.components for b in row["components"]] if message else []
        found = [b for b in buttons if body.get("custom_id") == b["custom_id"]
                 or body.get("label", "\0") in b.get("label", "")]  # fmt: skip
        if not found and not body.get("force"):
            raise Unable(f"message {body['id']} shows no such button")
        data = body.get("custom_id") or found[0]["custom_id"]
        pressed = {"custom_id": data, "component_type": 2}
        return self._interact(channel, body["user"], 3, pressed, message, body.get("how"))

    def submit(self, body):
        """Fills in the modal that is the response to an interaction."""
        found = [i for i in self.interactions.values() if i.id == body["interaction"] and i.modal]
        if not found:
            raise Unable(f"interaction {body['interaction']} has no modal")
        one = found[0]
        data = submission(one.modal, body["values"])
        return self._interact(one.channel, body.get("user", one.user), 5, data, one.message)

    def command(self, body):
        known = [c for c in self.service.methods.commands if c["name"] == body["name"]]
        if not known and not body.get("force"):
            raise Unable(f"no command {body['name']}")
        data = {"id": known[0]["id"] if known else "1", "name": body["name"], "type": 1}
        if "value" in body:
            data["options"] = [{"name": "name", "type": 3, "value": body["value"]}]
        return self._interact(self._channel(body), body["user"], 2, data, None, body.get("how"))

    def event(self, body):
        """Sends any event unchanged."""
        self.service.gateway.dispatch_to_all(body["type"], lambda session: body["data"], lambda session: True)

    # ---- events about messages ----

    def wants(self, channel):
        needed = GUILD_MESSAGES if channel.guild else DIRECT_MESSAGES
        return lambda session: bool(session.intents & needed)
