# SPDX-License-Identifier: MIT
"""The methods of the HTTP API of Discord that the fake supports. Each gets the call, and returns
the JSON of the response, or None for 204."""

from types import SimpleNamespace

from discord_endpoint import PUBLIC_KEY
from discord_modal import check_modal
from discord_text import Refused, check_commands, check_message, invalid, pings
from discord_world import APP, BOT, DM, GUILD, timestamp

NONCE_SECONDS, ACK_SECONDS, TOKEN_SECONDS, TYPING_SECONDS = 120, 3, 900, 10
OLD_SECONDS, OLD_EDITS, MAX_REACTIONS, MAX_FILE = 3600, 3, 20, 10 << 20
EPHEMERAL = 64
SUBMITTED = 5  # kind of the interaction of a modal


def _unknown(what, code):
    return Refused(404, code, f"Unknown {what}", rule=None)


class Methods:
    def __init__(self, service):
        self.service, self.world, self.record = service, service.world, service.record
        self.nonces = {}  # (channel, nonce): (message, when)
        self.commands = []
        self.old_edits = {}  # message: the number of edits while it was old
        self.made = {}  # message: its creation, in the time of the record

    # ---- lookups ----

    def _channel(self, call, writes=True):
        channel = self.world.channels.get(call.params["channel"])
        state = channel.state if channel else "gone"
        if state == "gone":
            raise _unknown("Channel", 10003)
        if state == "no_access":
            raise Refused(403, 50001, "Missing Access", rule=None)
        if writes and state == "read_only":
            raise Refused(403, 50013, "Missing Permissions", rule=None)
        if writes and state == "closed":
            raise Refused(403, 50007, "Cannot send messages to this user", rule=None)
        if writes and state == "locked":
            raise Refused(400, 160005, "Thread is locked", rule=None)
        if writes and state == "archived":
            channel.state = "ok"  # sending opens it again
        return channel

    def _message(self, call, channel):
        message = channel.messages.get(call.params["message"])
        if message is None or message.deleted or message.only_for:
            raise _unknown("Message", 10008)
        return message

    # ---- messages ----

    def _fill(self, message, call, body):
        message.content = body.get("content") or ""
        message.components = body.get("components") or []
        message.flags = body.get("flags") or 0
        message.mentions, message.everyone = pings(body, self.world.users)
        for name, (file_name, data, kind) in sorted(call.files.items()):
            if len(data) > MAX_FILE:
                raise Refused(413, 40005, "Request entity too large", rule=None)
            base = self.service.base_url()
            message.attachments.append(self.world.attach(message.channel, file_name, data, kind, base))
        if "allowed_mentions" not in body:
            self.record.violate("no-mentions", f"{call.method}: the text may notify users")
        if message.everyone or message.mentions:
            self.record.violate("mass-mention", f"{call.method}: the text notifies a user")
        self.made[message.id] = self.record.now()

    def _check_new(self, call, body):
        check_message(body)
        told = body.get("attachments")
        for one in told or []:
            if f"files[{one.get('id')}]" not in call.files:
                raise invalid("attachments", "ATTACHMENT_NOT_FOUND", "Attachment data not found")
        if not body.get("content") and not call.files and not body.get("components"):
            raise Refused(400, 50006, "Cannot send an empty message", rule=None)

    def _repeat(self, channel, body):
        nonce = body.get("nonce")
        if nonce is None or not body.get("enforce_nonce"):
            return None
        message, when = self.nonces.get((channel.id, nonce), (None, 0))
        fresh = self.record.now() - when < self.service.seconds(NONCE_SECONDS)
        return message if message and fresh else None

    def do_post(self, call):
        channel, body = self._channel(call), call.body
        self._check_new(call, body)
        known = self._repeat(channel, body)
        if known:
            same = known.content == (body.get("content") or "") or known.edits
            if not same:
                detail = f"{call.method} in {call.chat}: first {known.content!r}, then {body.get('content')!r}"
                self.record.violate("nonce-reused", detail, call=call.entry["seq"])
            return known.api()
        reference = body.get("message_reference")
        there = self._referenced(channel, reference) if reference else None
        message = self.world.add_message(channel, BOT, 19 if there else 0)
        self._fill(message, call, body)
        if there:
            message.reference = there.id
            if body.get("allowed_mentions", {}).get("replied_user", True):
                message.mentions = sorted({*message.mentions, there.author})
        message.nonce = body.get("nonce")
        if message.nonce is not None:
            self.nonces[channel.id, message.nonce] = (message, self.record.now())
        channel.typing_until = 0.0
        self.service.announce_message("MESSAGE_CREATE", message)
        return message.api()

    do_file = do_post

    @staticmethod
    def _referenced(channel, reference):
        there = channel.messages.get(reference.get("message_id"))
        if there is not None and not there.deleted:
            return there
        if reference.get("fail_if_not_exists", True):
            at, code = "message_reference", "MESSAGE_REFERENCE_UNKNOWN_MESSAGE"
            raise invalid(at, code, "Unknown message")
        return None

    def do_edit(self, call):
        channel = self._channel(call)
        message, body = self._message(call, channel), call.body
        if message.author != BOT or message.webhook:
            raise Refused(403, 50005, "Cannot edit a message authored by another user")
        return self._edit(call, message, body)

    def _edit(self, call, message, body):
        check_message(body)
        self._check_age(message)
        before = message.content
        content = body["content"] if "content" in body else message.content
        if not content and not message.attachments:
            raise Refused(400, 50006, "Cannot send an empty message", rule=None)
        if "allowed_mentions" not in body:
            self.record.violate("no-mentions", f"{call.method}: the text may notify users")
        message.content = content or ""
        message.components = body.get("components", message.components)
        message.flags = message.flags & ~4 | (body.get("flags") or 0) & 4
        message.edits += 1
        message.edited_ms = self.world.now_ms()
        self.service.text_changed(message.channel.chat(), message.id, before, message.content)
        self.service.announce_message("MESSAGE_UPDATE", message)
        return message.api()

    def _check_age(self, message):
        age = self.record.now() - self.made.get(message.id, 0.0)
        if age < self.service.seconds(OLD_SECONDS):
            return
        self.old_edits[message.id] = self.old_edits.get(message.id, 0) + 1
        if self.old_edits[message.id] > OLD_EDITS:
            words = "Maximum number of edits to messages older than 1 hour reached. Try again later"
            raise Refused(429, 30046, words, rule=None)

    def do_delete(self, call):
        channel = self._channel(call)
        message = self._message(call, channel)
        if message.author != BOT:
            raise Refused(403, 50003, "Cannot execute action on a DM channel")
        self.remove(message)

    def remove(self, message):
        message.deleted = True
        self.service.text_changed(message.channel.chat(), message.id, message.content, None)
        self.service.announce_message("MESSAGE_DELETE", message)

    def do_react(self, call):
        channel = self._channel(call)
        message, emoji = self._message(call, channel), call.params["emoji"]
        if not emoji or emoji.isascii():
            raise Refused(400, 10014, "Unknown Emoji")
        if emoji not in message.reactions and len(message.reactions) >= MAX_REACTIONS:
            raise Refused(403, 30010, "Maximum number of reactions reached (20)", rule=None)
        message.reactions.setdefault(emoji, [])
        if BOT not in message.reactions[emoji]:
            message.reactions[emoji].append(BOT)

    def do_unreact(self, call):
        message = self._message(call, self._channel(call))
        users = message.reactions.get(call.params["emoji"], [])
        if BOT in users:
            users.remove(BOT)
        if not users:
            message.reactions.pop(call.params["emoji"], None)

    def do_typing(self, call):
        channel = self._channel(call)
        channel.typing_until = self.record.now() + self.service.seconds(TYPING_SECONDS)

    def do_channel(self, call):
        return self._channel(call, writes=False).api()

    def do_history(self, call):
        channel, query = self._channel(call, writes=False), call.query
        limit = int(query.get("limit", 50))
        if not 1 <= limit <= 100:
            raise invalid("limit", "NUMBER_TYPE_MAX", "int value should be between 1 and 100.")
        after = int(query.get("after", 0))
        messages = [m for m in channel.messages.values() if not m.deleted and not m.only_for]
        later = [m for m in messages if int(m.id) > after][:limit]
        made = [m.api(self.service.may_read) for m in reversed(later)]
        return made

    # ---- the bot ----

    def do_me(self, call):
        return self.world.users[BOT].api()

    def do_application(self, call):
        return {"id": APP, "name": "Fake app", "description": "", "icon": None, "flags": 0, "verify_key": PUBLIC_KEY,
                "bot": self.world.users[BOT].api(), "bot_public": True}  # fmt: skip

    def do_gateway(self, call):
        return {"url": self.service.gateway.url()}

    def do_gateway_bot(self, call):
        return {**self.do_gateway(call), "shards": 1, **self.service.gateway.limits()}

    def do_commands(self, call):
        if call.params["application"] != APP:
            raise Refused(403, 20012, "You are not authorized to perform this action on this application")
        if call.request.verb == "PUT":
            check_commands(call.body)
            made = {"application_id": APP, "version": "1", "default_member_permissions": None}
            self.commands = [{"id": self.world.snowflake(), **made, **one} for one in call.body]
        return self.commands

    # ---- interactions ----

    def _interaction(self, token):
        one = self.service.people.interactions.get(token)
        age = self.record.now() - one.at if one else 0
        if one is None or age > self.service.seconds(TOKEN_SECONDS):
            raise Refused(401, 50027, "Invalid Webhook Token", rule=None)
        return one

    def do_callback(self, call):
        one = self.service.people.interactions.get(call.params["token"])
        late = one and self.record.now() - one.at > self.service.seconds(self.service.options["ack_time"])
        if one is None or one.id != call.params["interaction"] or late:
            if late:
                self.record.violate("late-ack", f"interaction {one.id}")
            raise _unknown("interaction", 10062)
        if one.answered:
            raise Refused(400, 40060, "Interaction has already been acknowledged.", rule=None)
        self.respond(one, call.body, call)

    def respond(self, one, body, call=None):
        """Handles the response to an interaction, by HTTP or by the endpoint."""
        call = call or SimpleNamespace(files={}, method="response", chat=one.channel.chat(), body=body)
        kind, data = body.get("type"), body.get("data") or {}
        fits = kind in (4, 5, 6, 7, 9) and not (kind in (6, 7) and one.message is None)
        if not fits or (kind == 9 and one.kind == SUBMITTED):
            raise invalid("type", "BASE_TYPE_CHOICES", "Value must be one of {4, 5, 6, 7, 9}.")
        if kind == 9:
            check_modal(data)
            one.modal = data
        one.answered = kind
        if kind == 4:
            self._answer(one, call, data)
        if kind == 7:
            self._edit(call, one.message, data)

    def _answer(self, one, call, body):
        self._check_new(call, body)
        message = self.world.add_message(one.channel, BOT, 20)
        self._fill(message, call, body)
        if message.flags & EPHEMERAL:
            message.only_for = one.user
        message.interaction = one.id
        return message

    def do_followup(self, call):
        if call.params["webhook"] != APP:
            return self.do_webhook_post(call)
        one = self._interaction(call.params["token"])
        if not one.answered:
            raise _unknown("Webhook", 10015)
        message = self._answer(one, call, call.body)
        if not message.only_for:
            self.service.announce_message("MESSAGE_CREATE", message)
        return message.api()

    # ---- webhooks ----

    def _webhook(self, call):
        if (call.params["webhook"], call.params["token"]) != self.service.webhook[:2]:
            raise _unknown("Webhook", 10015)
        if self.service.options["webhook_gone"]:
            raise _unknown("Webhook", 10015)
        return self.world.channels[call.query.get("thread_id") or self.service.webhook[2]]

    def do_webhook(self, call):
        channel = self._webhook(call)
        return {"id": call.params["webhook"], "type": 1, "name": "Fake webhook", "avatar": None,
                "channel_id": channel.id, "guild_id": GUILD, "application_id": None}  # fmt: skip

    def do_webhook_post(self, call):
        channel = self._webhook(call)
        self._check_new(call, call.body)
        if call.body.get("components"):
            raise invalid("components", "APPLICATION_REQUIRED", "not of an application")
        message = self.world.add_message(channel, BOT)
        message.webhook = call.params["webhook"]
        self._fill(message, call, call.body)
        return message.api() if call.query.get("wait") == "true" else None

    def do_webhook_edit(self, call):
        message = self._message(call, self._webhook(call))
        return self._edit(call, message, call.body)

    def do_webhook_delete(self, call):
        self.remove(self._message(call, self._webhook(call)))

    # ---- threads ----

    def do_thread(self, call):
        channel = self._channel(call)
        message = self._message(call, channel)
        if channel.kind == DM:
            raise Refused(400, 50024, "Cannot execute action on this channel type")
        thread = self.world.add_channel(message.id, 11, channel.id)
        thread.name = call.body.get("name", "thread")
        return {**thread.api(), "archive_timestamp": timestamp(self.world.now_ms())}
