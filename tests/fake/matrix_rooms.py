# SPDX-License-Identifier: MIT
"""The rooms of the Matrix fake: events in one stream, as the homeserver and as users see them."""

import base64
import hashlib
import html
import time
from html.parser import HTMLParser

SERVER = "fake.example"
BOT = f"@bot:{SERVER}"
MAX_EVENT = 65536
TYPING_SECONDS = 120  # the maximum

_TAGS = set(
    "del h1 h2 h3 h4 h5 h6 blockquote p a ul ol sup sub li b i u strong em s code hr br div table "
    "thead tbody tr th td caption pre span img details summary".split()
)
_BLOCKS = set("h1 h2 h3 h4 h5 h6 blockquote p ul ol li hr br div table tr pre details".split())
_VOID = {"hr", "br", "img"}
_SCHEMES = ("https:", "http:", "ftp:", "mailto:", "magnet:")


class _Reader(HTMLParser):
    """The text that a client shows for formatted_body, and the parts that it has to discard."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.parts, self.open, self.wrong, self.depth = [], [], [], 0

    def handle_starttag(self, tag, attrs):
        if tag not in _TAGS:
            self.wrong.append(f"<{tag}> is not allowed")
        for name, value in attrs:
            if name == "href" and not (value or "").startswith(_SCHEMES):
                self.wrong.append(f"link to {value}")
            elif name in ("style", "onclick", "id"):
                self.wrong.append(f"attribute {name}")
        if tag in _BLOCKS:
            self.parts.append("\n")
        if tag == "li":
            self.parts.append("- ")
        if tag in ("td", "th"):
            self.parts.append(" ")
        if tag not in _VOID:
            self.open.append(tag)
            self.depth = max(self.depth, len(self.open))

    def handle_endtag(self, tag):
        if tag in _VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> ends what is not open")
        if tag in _BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data):
        inside = "pre" in self.open
        self.parts.append(data if inside else data.replace("\n", " "))


def read_html(text):
    """Returns the shown text, and the violations."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    wrong = reader.wrong + [f"<{tag}> is not closed" for tag in reader.open]
    if reader.depth > 100:
        wrong.append("deeper than 100")
    lines = [line.rstrip() for line in "".join(reader.parts).split("\n")]
    shown = []
    for line in lines:
        if line.strip() or (shown and shown[-1]):
            shown.append(line)
    return "\n".join(shown).strip(), wrong


def text_of(content):
    """The text of a message that a user reads."""
    if content.get("format") == "org.matrix.custom.html" and "formatted_body" in content:
        return read_html(str(content["formatted_body"]))[0]
    return str(content.get("body", ""))


def relation_of(content):
    """Returns (rel_type, event_id) as the homeserver reads them, each None if missing."""
    relates = content.get("m.relates_to")
    if not isinstance(relates, dict):
        return None, None
    kind, parent = relates.get("rel_type"), relates.get("event_id")
    if not isinstance(kind, str) or not isinstance(parent, str):
        return None, None
    return kind, parent


def answers_to(content):
    """The id of the event that is replied to, or None."""
    relates = content.get("m.relates_to")
    if not isinstance(relates, dict) or relates.get("is_falling_back"):
        return None
    reply = relates.get("m.in_reply_to")
    return reply.get("event_id") if isinstance(reply, dict) else None


class Event:
    def __init__(self, room, number, sender, kind, content, state_key=None):
        self.room, self.number, self.sender = room, number, sender
        self.kind, self.content, self.state_key = kind, content, state_key
        self.time = int(time.time() * 1000)
        self.id = room.new_id(number)
        self.redacts = None
        self.redacted_by = None
        self.sent_by = None  # device, transaction
        self.before = None  # the state event that it replaces

    def relation(self):
        return relation_of(self.content)

    def api(self, device=None, room=False, stripped=False):
        """The event in the client-server API."""
        result = {"type": self.kind, "sender": self.sender, "content": self.content}
        if self.state_key is not None:
            result["state_key"] = self.state_key
        if stripped:
            return result
        result |= {"event_id": self.id, "origin_server_ts": self.time, "unsigned": {"age": 1}}
        if self.redacts:
            result["redacts"] = self.redacts
        if self.redacted_by:
            result["unsigned"]["redacted_because"] = self.redacted_by.api()
        if self.before:
            result["unsigned"]["prev_content"] = self.before.content
            result["unsigned"]["replaces_state"] = self.before.id
        if self.sent_by and self.sent_by[0] == device:
            result["unsigned"]["transaction_id"] = self.sent_by[1]
        if room:
            result["room_id"] = self.room.id
        return result

    def prune(self, because):
        kept = ("membership",) if self.kind == "m.room.member" else ()
        self.content = {key: value for key, value in self.content.items() if key in kept}
        self.redacted_by = because


class Room:
    def __init__(self, name, version="11"):
        self.id = name
        self.version = version
        self.events = []
        self.by_id = {}
        self.state = {}  # (type, key): event
        self.typing = {}  # user: end
        self.typing_changed = 0  # position in the stream

    def new_id(self, number):
        digest = hashlib.sha256(f"{self.id}{number}".encode()).digest()
        coded = base64.b64encode(digest).decode().rstrip("=")
        if self.version == "3":  # event ids of room version 3 may contain slashes; in this fake each does
            return "$/+" + coded
        return "$" + coded.replace("+", "-").replace("/", "_")

    def membership(self, user):
        event = self.state.get(("m.room.member", user))
        return event.content.get("membership") if event else None

    def members(self, kind="join"):
        users = [key for name, key in self.state if name == "m.room.member"]
        return [user for user in users if self.membership(user) == kind]

    def level(self, user):
        return self._levels().get("users", {}).get(user, 0)

    def needed(self, what):
        levels = self._levels()
        default = {"redact": 50}.get(what, levels.get("events_default", 0))
        return levels.get(what, levels.get("events", {}).get(what, default))

    def _levels(self):
        event = self.state.get(("m.room.power_levels", ""))
        return event.content if event else {}

    def encrypted(self):
        return ("m.room.encryption", "") in self.state

    def state_before(self, number):
        found = {}
        for event in self.events:
            if event.number < number and event.state_key is not None:
                found[event.kind, event.state_key] = event
        return list(found.values())

    # ---- messages as users see them ----

    def replacements(self, event):
        """The valid edits of an event, in order."""
        return [
            other
            for other in self.events
            if other.relation() == ("m.replace", event.id)
            and other.sender == event.sender
            and other.kind == event.kind
            and "m.new_content" in other.content
        ]

    def shown_content(self, event):
        edits = self.replacements(event)
        return edits[-1].content["m.new_content"] if edits else event.content

    def is_message(self, event):
        return event.kind == "m.room.message" and event.relation()[0] != "m.replace"

    def shown(self, event):
        content = self.shown_content(event)
        kind, parent = event.relation()
        reactions = [
            other.content["m.relates_to"].get("key")
            for other in self.events
            if other.kind == "m.reaction" and other.relation() == ("m.annotation", event.id)
        ]
        return {
            "chat": self.id,
            "thread": parent if kind == "m.thread" else None,
            "id": event.id,
            "author": event.sender,
            "text": text_of(content),
            "buttons": [],
            "reply_to": answers_to(event.content),
            "silent": content.get("msgtype") == "m.notice",
            "reactions": reactions,
            "edits": len(self.replacements(event)),
        }


class Homeserver:
    """All rooms and users. Positions in the stream count from 1."""

    def __init__(self, record):
        self.record = record
        self.rooms = {}
        self.names = {}  # user: display name
        self.media = {}  # id: (name, type, bytes)
        self.position = 0

    def advance(self):
        self.position += 1
        self.record.changed.notify_all()
        return self.position

    def add(self, room, sender, kind, content, state_key=None):
        event = Event(room, self.advance(), sender, kind, content, state_key)
        room.events.append(event)
        room.by_id[event.id] = event
        if state_key is not None:
            event.before = room.state.get((kind, state_key))
            room.state[kind, state_key] = event
        return event

    def redact(self, room, sender, target, content):
        content = {**content, "redacts": target} if room.version == "11" else content
        event = self.add(room, sender, "m.room.redaction", content)
        event.redacts = target
        if target in room.by_id:
            room.by_id[target].prune(event)
        return event

    def join(self, room, user, membership="join", by=None):
        content = {"membership": membership}
        if user in self.names:
            content["displayname"] = self.names[user]
        return self.add(room, by or user, "m.room.member", content, user)

    def make(self, name, creator, members, version="11"):
        room = self.rooms[name] = Room(name, version)
        self.add(room, creator, "m.room.create", {"room_version": version}, "")
        self.join(room, creator)
        levels = {"users": {creator: 100}, "events_default": 0, "redact": 50}
        self.add(room, creator, "m.room.power_levels", levels, "")
        for user in members:
            self.join(room, user)
        return room

    def keep(self, name, kind, data):
        number = f"MEDIA{len(self.media) + 1:04}"
        self.media[number] = (name, kind, data)
        return f"mxc://{SERVER}/{number}"

    def typing(self, room):
        now = self.record.now()
        return [user for user, until in room.typing.items() if until > now]


def escape(text):
    return html.escape(text, quote=False).replace("\n", "<br>")
