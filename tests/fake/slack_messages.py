# SPDX-License-Identifier: MIT
"""The workspace of the Slack fake: users, channels, messages as users see them, files."""

import time

from slack_text import Refused, buttons, words

TEAM, APP, BOT, BOT_USER = "T0FAKE", "A0FAKE", "B0BOT", "U0BOT"


class Message:
    def __init__(self, channel, ts, user, thread_ts=None):
        self.channel = channel
        self.ts = ts
        self.user = user
        self.thread_ts = thread_ts
        self.text = ""
        self.blocks = []
        self.markdown = ""  # of markdown_text and streams
        self.tasks = {}  # of streams: id -> the last task_update
        self.metadata = None
        self.files = []
        self.reactions = {}  # name: users
        self.edits = 0
        self.deleted = False
        self.ephemeral_for = None
        self.broadcast = False
        self.stream = None  # the Stream while it is streamed

    def by_bot(self):
        return self.user == BOT_USER

    def root(self):
        """The ts of the first message of its thread."""
        return self.thread_ts or self.ts

    def read(self):
        """The text that users see; with blocks, the plain text is for notifications only."""
        parts = [self.markdown, words(list(self.tasks.values()))]
        parts.append(words(self.blocks) if self.blocks else self.text)
        return "\n".join(filter(None, parts))

    def api(self, with_metadata=False):
        result = {"type": "message", "user": self.user, "text": self.text or self.markdown}
        result |= {"ts": self.ts, "team": TEAM}
        if self.by_bot():
            result |= {"bot_id": BOT, "app_id": APP}
        if self.thread_ts:
            result["thread_ts"] = self.thread_ts
        elif self.channel.replies(self.ts):
            result["thread_ts"] = self.ts
            result["reply_count"] = len(self.channel.replies(self.ts))
        if self.blocks or self.markdown:
            markdown = [{"type": "markdown", "text": self.markdown}] if self.markdown else []
            result["blocks"] = markdown + self.blocks
        if self.edits:
            result["edited"] = {"user": self.user, "ts": self.ts}
        if self.files:
            result["files"] = self.files
        if self.reactions:
            result["reactions"] = [
                {"name": name, "users": users, "count": len(users)}
                for name, users in self.reactions.items()
            ]
        if self.metadata and with_metadata:
            result["metadata"] = self.metadata
        if self.stream:
            result["streaming_state"] = "in_progress"
        return result

    def shown(self):
        return {
            "id": self.ts,
            "chat": self.channel.id,
            "text": self.read(),
            "fallback": self.text,
            "blocks": self.blocks,
            "tasks": list(self.tasks.values()),
            "metadata": self.metadata,
            "from": self.user,
            "bot": self.by_bot(),
            "thread": self.thread_ts,
            "reply_to": None,
            "silent": False,
            "buttons": [[e["text"]["text"] for e in row] for _, row in buttons(self.blocks)],
            "reactions": list(self.reactions),
            "edits": self.edits,
            "deleted": self.deleted,
            "ephemeral_for": self.ephemeral_for,
            "streaming": self.stream is not None,
            "document": self.files[0] if self.files else None,
        }


class Channel:
    def __init__(self, number, kind, user=None):
        self.id = number
        self.kind = kind
        self.user = user
        self.member = True
        self.archived = False
        self.messages = {}
        self.status = {}  # thread_ts: text of assistant.threads.setStatus
        self.sessions = {}  # thread_ts: {"status", "title"}

    def direct(self):
        return self.kind == "im"

    def api(self):
        names = {"is_im": self.kind == "im", "is_mpim": self.kind == "mpim"}
        names |= {"is_channel": self.kind == "channel", "is_group": self.kind == "group"}
        names |= {"is_private": self.kind != "channel", "is_member": self.member}
        result = {"id": self.id, "is_archived": self.archived, **names}
        result["user" if self.direct() else "name"] = self.user or self.id.lower()
        return result

    def find(self, ts):
        message = self.messages.get(ts)
        return message if message and not message.deleted and not message.ephemeral_for else None

    def replies(self, ts):
        return [m for m in self.messages.values() if m.thread_ts == ts and not m.deleted]


class Workspace:
    def __init__(self):
        self.channels = {}
        self.users = {}
        self.files = {}  # id: (description in the API, bytes)
        self._last = (0, 0)
        self.add_user("U0ALICE", "alice", "Alice Example")
        self.add_user("U0BOB", "bob", "Bob Example")
        self.add_user(BOT_USER, "fake_bot", "Fake Bot", is_bot=True)
        self.add_channel("C0GENERAL", "channel")
        self.add_channel("D0ALICE", "im", "U0ALICE")

    def add_user(self, number, name, real_name=None, is_bot=False, tz="Europe/Berlin"):
        self.users[number] = {
            "id": number,
            "team_id": TEAM,
            "name": name,
            "real_name": real_name or name,
            "is_bot": is_bot,
            "deleted": False,
            "tz": tz,
            "profile": {"real_name": real_name or name, "display_name": name},
        }

    def add_channel(self, number, kind, user=None):
        self.channels[number] = Channel(number, kind, user)
        return self.channels[number]

    def new_ts(self):
        second = int(time.time())
        last, count = self._last
        self._last = (second, 100) if second > last else (last, count + 100)
        return f"{self._last[0]}.{self._last[1]:06}"

    def channel(self, number):
        """Finds a channel by its id, or by the user of a direct chat."""
        channel = self.channels.get(number)
        if channel is None and number in self.users:
            channel = self.direct(number)
        if channel is None:
            raise Refused("channel_not_found", rule=None)
        return channel

    def direct(self, user):
        for channel in self.channels.values():
            if channel.direct() and channel.user == user:
                return channel
        return self.add_channel("D" + user[1:], "im", user)

    def writable(self, number):
        channel = self.channel(number)
        if channel.archived:
            raise Refused("is_archived", rule=None)
        if not channel.member:
            raise Refused("not_in_channel", rule=None)
        return channel

    def add_message(self, channel, user, thread_ts=None):
        message = Message(channel, self.new_ts(), user, thread_ts)
        channel.messages[message.ts] = message
        return message

    def keep_file(self, name, data, base_url, user=BOT_USER, title=None):
        number = f"F{len(self.files) + 1:08}"
        self.files[number] = (
            {
                "id": number,
                "name": name,
                "title": title or name,
                "size": len(data),
                "user": user,
                "mode": "hosted",
                "mimetype": "text/plain",
                "filetype": name.rsplit(".", 1)[-1],
                "url_private": f"{base_url}/files/{number}",
                "url_private_download": f"{base_url}/files/{number}/download",
            },
            data,
        )
        return self.files[number][0]
