# SPDX-License-Identifier: MIT
"""The world of the Discord fake: a server, its channels and threads, direct messages, users,
messages as users see them, attachments."""

import re
import time

BOT, APP, GUILD = "900000000000000001", "900000000000000002", "700000000000000001"
EPOCH_MS = 1420070400000
TEXT, DM, PUBLIC_THREAD = 0, 1, 11


def timestamp(ms):
    seconds, rest = divmod(ms, 1000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{rest:03d}000+00:00"


def seen(text):
    """Returns the text without the backslashes that escape markup; in code they are shown."""
    parts = re.split(r"(```.*?```|`[^`]*`)", text, flags=re.DOTALL)
    return "".join(p if p.startswith("`") else re.sub(r"\\([^\w\s])", r"\1", p) for p in parts)


class Channel:
    def __init__(self, world, number, kind, parent=None, user=None):
        self.world, self.id, self.kind = world, number, kind
        self.parent, self.user = parent, user  # of a thread; of a direct chat
        self.guild = None if kind == DM else GUILD
        self.name = f"channel-{number[-4:]}"
        self.state = "ok"
        self.messages = {}
        self.typing_until = 0.0

    def is_thread(self):
        return self.kind in (10, 11, 12)

    def chat(self):
        return self.parent if self.is_thread() else self.id

    def api(self):
        made = {"id": self.id, "type": self.kind, "flags": 0}
        if self.kind == DM:
            user = self.world.users[self.user].api()
            return {**made, "recipients": [user], "last_message_id": None}
        made |= {"guild_id": GUILD, "name": self.name, "parent_id": self.parent, "position": 0}
        made |= {"permission_overwrites": [], "nsfw": False, "rate_limit_per_user": 0, "topic": None}
        if self.is_thread():
            archived = self.state in ("archived", "locked")
            made["thread_metadata"] = {
                "archived": archived,
                "auto_archive_duration": 1440,
                "archive_timestamp": timestamp(self.world.now_ms()),
                "locked": self.state == "locked",
            }
            made |= {"owner_id": BOT, "message_count": len(self.messages), "member_count": 2}
        return made


class User:
    def __init__(self, number, name, bot=False):
        self.id, self.name, self.bot = number, name, bot

    def api(self):
        made = {"id": self.id, "username": self.name, "discriminator": "0", "avatar": None}
        made["global_name"] = None if self.bot else self.name.capitalize()
        return {**made, "bot": True} if self.bot else made


class Message:
    def __init__(self, channel, number, author, kind=0):
        self.channel, self.id, self.author, self.kind = channel, number, author, kind
        self.content, self.components, self.attachments = "", [], []
        self.reference = None  # id of the message that it replies to
        self.flags, self.edits = 0, 0
        self.edited_ms = None
        self.mentions = []  # ids of users
        self.everyone = False
        self.stickers = []
        self.reactions = {}  # emoji: ids of users
        self.deleted, self.nonce, self.webhook = False, None, None
        self.only_for = None  # the user of an ephemeral message
        self.interaction = None

    def by_bot(self):
        return self.author in (BOT, self.webhook)

    def api(self, reader=None, nested=True):
        """The message for an app: reader(message) says whether the app may read the content."""
        world = self.channel.world
        reads = reader is None or reader(self)
        user = world.users[self.author].api() if not self.webhook else world.webhook_user()
        made = {
            "id": self.id,
            "channel_id": self.channel.id,
            "type": self.kind,
            "author": user,
            "content": self.content if reads else "",
            "timestamp": timestamp((int(self.id) >> 22) + EPOCH_MS),
            "edited_timestamp": timestamp(self.edited_ms) if self.edited_ms else None,
            "tts": False,
            "mention_everyone": self.everyone,
            "mentions": [world.users[user].api() for user in self.mentions],
            "mention_roles": [],
            "attachments": self.attachments if reads else [],
            "embeds": [],
            "components": self.components if reads else [],
            "pinned": False,
            "flags": self.flags,
        }
        if self.stickers:
            made["sticker_items"] = self.stickers
        if self.reactions:
            made["reactions"] = [
                {"emoji": {"id": None, "name": emoji}, "count": len(users), "me": BOT in users}
                for emoji, users in self.reactions.items()
            ]
        if self.nonce:
            made["nonce"] = self.nonce
        if self.webhook:
            made["webhook_id"] = self.webhook
        if self.reference:
            made["message_reference"] = {"message_id": self.reference, "channel_id": self.channel.id}
            there = self.channel.messages.get(self.reference)
            if nested:
                gone = there is None or there.deleted
                made["referenced_message"] = None if gone else there.api(reader, False)
        return made

    def labels(self):
        return [[b.get("label", "") for b in row["components"]] for row in self.components]

    def shown(self):
        thread = self.channel.id if self.channel.is_thread() else None
        return {
            "id": self.id,
            "chat": self.channel.chat(),
            "thread": thread,
            "text": seen(self.content),
            "from": self.webhook or self.author,
            "bot": self.by_bot(),
            "buttons": self.labels(),
            "components": self.components,
            "reply_to": self.reference,
            "silent": bool(self.flags & 4096),
            "reactions": list(self.reactions),
            "edits": self.edits,
            "deleted": self.deleted,
            "only_for": self.only_for,
            "document": self.attachments[0] if self.attachments else None,
        }


class World:
    def __init__(self, record):
        self.record = record
        self.users, self.channels, self.files = {}, {}, {}
        self._last = 0
        self.add_user(BOT, "fake_bot", True)

    @staticmethod
    def now_ms():
        return int(time.time() * 1000)

    def snowflake(self):
        number = (self.now_ms() - EPOCH_MS) << 22
        self._last = max(number, self._last + 1)
        return str(self._last)

    def webhook_user(self):
        return {"id": APP, "username": "Fake webhook", "discriminator": "0000", "avatar": None, "bot": True}

    def add_user(self, number, name, bot=False):
        self.users[number] = User(number, name, bot)

    def add_channel(self, number, kind, parent=None, user=None):
        self.channels[number] = Channel(self, number, kind, parent, user)
        return self.channels[number]

    def add_message(self, channel, author, kind=0):
        message = Message(channel, self.snowflake(), author, kind)
        channel.messages[message.id] = message
        return message

    def attach(self, channel, name, data, kind, base, expires=86400):
        number = self.snowflake()
        until = int(time.time() + expires)
        path = f"/attachments/{channel.id}/{number}/{name}"
        self.files[number] = (name, data, kind, until)
        return {
            "id": number,
            "filename": name,
            "size": len(data),
            "url": f"{base}{path}?ex={until:x}&is={until - 86400:x}&hm=feed",
            "proxy_url": f"{base}{path}",
            "content_type": kind,
        }
