# SPDX-License-Identifier: MIT
"""Requests of a client about the rooms of the Matrix fake."""

from matrix_rooms import (
    BOT,
    MAX_EVENT,
    SERVER,
    TYPING_SECONDS,
    read_html,
    relation_of,
    text_of,
)
from matrix_sync import token, whole
from matrix_text import Filter, Refused, canonical, check_content, wanted_type

MAX_UPLOAD = 50 << 20
VERSIONS = ["r0.6.1"] + [f"v1.{n}" for n in range(1, 16)]


def forbidden(words):
    return Refused(403, "M_FORBIDDEN", words, None)


def not_found(words):
    return Refused(404, "M_NOT_FOUND", words, None)


class Methods:
    """Each do_… is the method of that name, and returns its response."""

    def __init__(self, service):
        self.service = service
        self.server = service.server
        self.record = service.record
        self.filters = []
        self._transactions = {}  # (device, path): the response, and the content

    # ---- rooms and events ----

    def _room(self, call):
        room = self.server.rooms.get(call.params["room"])
        if room is None or room.membership(BOT) != "join":
            raise forbidden(f"User {BOT} not in room {call.params['room']}")
        return room

    def _event(self, call, room):
        event = room.by_id.get(call.params["event"])
        if event is None:
            raise not_found("Event not found.")
        return event

    def _check_level(self, room, kind):
        mine, needed = room.level(BOT), room.needed(kind)
        if mine < needed:
            raise forbidden(
                "You don't have permission to post that to the room. "
                f"user_level ({mine}) < send_level ({needed})"
            )

    def _once(self, call, act):
        """Executes a transaction once; a repeat gets the same response."""
        key = (call.device, call.raw_path)
        if key in self._transactions:
            answer, content = self._transactions[key]
            if content != call.body:
                was, now = (text_of(c.get("m.new_content", c)) for c in (content, call.body))
                detail = f"{call.method} in {call.chat}: first {was!r}, then {now!r}"
                self.record.violate("txn-reused", detail, call=call.entry["seq"])
            return answer
        answer = act()
        self._transactions[key] = (answer, call.body)
        return answer

    def forget_transactions(self):
        """Forgets transactions, like a homeserver after a while."""
        self._transactions.clear()

    # ---- events ----

    def _check_size(self, room, kind, content):
        """The size of the event as it is sent to other servers, with signatures and references to
        events."""
        event = {
            "auth_events": ["$" + "x" * 43] * 4,
            "prev_events": ["$" + "x" * 43],
            "hashes": {"sha256": "x" * 43},
            "signatures": {SERVER: {"ed25519:a_XXXX": "x" * 86}},
            "depth": len(room.events) + 1,
            "origin_server_ts": 1700000000000,
            "room_id": room.id,
            "sender": BOT,
            "type": kind,
            "content": content,
            "unsigned": {"age_ts": 1700000000000},
        }
        if len(canonical(event)) > MAX_EVENT:
            raise Refused(413, "M_TOO_LARGE", "event too large", None)

    def _check_relation(self, room, kind, content):
        relation, parent = relation_of(content)
        if relation is None:
            return
        if parent not in room.by_id:
            elsewhere = any(parent in other.by_id for other in self.server.rooms.values())
            if elsewhere:
                raise Refused(400, "M_UNKNOWN", "Relations must be in the same room")
            raise Refused(400, "M_UNKNOWN", "Can't send relation to unknown event", None)
        if relation == "m.annotation":
            self._check_annotation(room, kind, content["m.relates_to"], parent)
        if relation == "m.thread" and room.by_id[parent].relation()[0]:
            words = "Cannot start threads from an event with a relation"
            raise Refused(400, "M_UNKNOWN", words)
        if relation == "m.replace":
            self._judge_edit(room, kind, content, room.by_id[parent])

    def _check_annotation(self, room, kind, relates, parent):
        key = relates.get("key")
        if not isinstance(key, str):
            raise Refused(400, "M_UNKNOWN", "Missing aggregation key")
        if len(key) > 500:
            raise Refused(400, "M_UNKNOWN", "Aggregation key is too long")
        for other in room.events:
            same = other.kind == kind and other.sender == BOT
            if same and other.relation() == ("m.annotation", parent):
                if other.content["m.relates_to"].get("key") == key:
                    words = "Can't send same reaction twice"
                    raise Refused(400, "M_DUPLICATE_ANNOTATION", words, None)

    # A homeserver accepts these events, and clients ignore them.

    def _judge_edit(self, room, kind, content, event):
        wrong = None
        if event.sender != BOT:
            wrong = "of another's message"
        elif event.relation()[0] == "m.replace":
            wrong = "of an edit"
        elif event.kind != kind:
            wrong = "of another type"
        elif not isinstance(content.get("m.new_content"), dict):
            wrong = "without m.new_content"
        if wrong:
            self.record.violate("bad-edit", f"an edit {wrong}")
            return
        new = content["m.new_content"]
        if new == room.shown_content(event) and not event.redacted_by:
            self.record.violate("same-text", f"edit of {event.id}")
        check_content(kind, new)

    def _judge_message(self, room, content):
        new = content.get("m.new_content", content)
        if "m.mentions" not in content:
            self.record.violate("no-mentions", "without m.mentions the text may notify users")
        if content.get("m.mentions", {}).get("room") or new.get("m.mentions", {}).get("room"):
            self.record.violate("mass-mention", "all of the room")
        if "formatted_body" in new:
            if new.get("format") != "org.matrix.custom.html":
                self.record.violate("bad-html", "formatted_body without its format")
            for wrong in read_html(str(new["formatted_body"]))[1]:
                self.record.violate("bad-html", wrong)
        if not new.get("body", "").strip():
            self.record.violate("empty-body", "a client without HTML shows nothing")
        if room.encrypted() and any(e.sender == BOT and room.is_message(e) for e in room.events):
            self.record.violate("unencrypted", f"more than one message in {room.id}")

    def do_send(self, call):
        return self._once(call, lambda: self._send(call))

    do_edit = do_react = do_send

    def _send(self, call):
        room, kind, content = self._room(call), call.params["type"], call.body
        self._check_level(room, kind)
        check_content(kind, content)
        self._check_relation(room, kind, content)
        self._check_size(room, kind, content)
        relation, parent = relation_of(content)
        if kind == "m.room.message":
            self._judge_message(room, content)
        before = None
        if relation == "m.replace" and parent in room.by_id:
            before = text_of(room.shown_content(room.by_id[parent]))
        event = self.server.add(room, BOT, kind, content)
        event.sent_by = (call.device, call.params["txn"])
        if before is not None:
            after = text_of(room.shown_content(room.by_id[parent]))
            self.service.text_changed(room.id, parent, before, after)
        return {"event_id": event.id}

    def do_redact(self, call):
        return self._once(call, lambda: self._redact(call))

    def _redact(self, call):
        room, target = self._room(call), call.params["event"]
        self._check_level(room, "m.room.redaction")
        wanted_type(call.body, "reason", str, optional=True)
        event = room.by_id.get(target)
        if room.level(BOT) < room.needed("redact"):
            if event is None:
                raise not_found(f"Could not find event {target}")
            if event.sender != BOT:
                raise forbidden("You don't have permission to redact events")
        if event and event.sender == BOT and room.is_message(event) and not event.redacted_by:
            shown = text_of(room.shown_content(event))
            self.service.text_changed(room.id, target, shown, None)
        done = self.server.redact(room, BOT, target, call.body)
        done.sent_by = (call.device, call.params["txn"])
        return {"event_id": done.id}

    def do_event(self, call):
        return self._event(call, self._room(call)).api(call.device, room=True)

    def do_messages(self, call):
        return self.service.sync.messages(call, self._room(call))

    def do_context(self, call):
        room = self._room(call)
        event = self._event(call, room)
        near = [e.api(call.device, room=True) for e in room.events if e is not event]
        return {
            "event": event.api(call.device, room=True),
            "events_before": near[:0],
            "events_after": near[:0],
            "start": token(event.number - 1),
            "end": token(event.number),
            "state": whole(room),
        }

    def do_relations(self, call):
        room, parent = self._room(call), call.params["event"]
        chunk = [e.api(call.device, room=True) for e in room.events if e.relation()[1] == parent]
        return {"chunk": chunk[::-1]}

    def do_state(self, call):
        return whole(self._room(call))

    def do_state_event(self, call):
        key = (call.params["type"], call.params.get("key", ""))
        event = self._room(call).state.get(key)
        if event is None:
            raise not_found("Event not found.")
        return event.content

    def do_members(self, call):
        room = self._room(call)
        chunk = [e.api(room=True) for e in room.state.values() if e.kind == "m.room.member"]
        return {"chunk": chunk}

    def do_joined_members(self, call):
        names = self.server.names
        users = self._room(call).members()
        return {"joined": {user: {"display_name": names.get(user)} for user in users}}

    def do_joined_rooms(self, call):
        rooms = self.server.rooms.values()
        return {"joined_rooms": [room.id for room in rooms if room.membership(BOT) == "join"]}

    # ---- membership, typing, receipts ----

    def do_join(self, call):
        room = self.server.rooms.get(call.params["room"])
        if room is None:
            words = "Can't join remote room because no servers that are in the room have been provided."
            raise Refused(404, "M_UNKNOWN", words, None)
        membership = room.membership(BOT)
        if membership not in ("join", "invite"):
            raise forbidden("You are not invited to this room.")
        if membership == "invite":
            self.server.join(room, BOT)
        return {"room_id": room.id}

    def do_leave(self, call):
        room = self.server.rooms.get(call.params["room"])
        if room is None or room.membership(BOT) not in ("join", "invite"):
            raise forbidden(f"User {BOT} not in room {call.params['room']}")
        self.server.join(room, BOT, "leave")
        return {}

    def do_typing(self, call):
        if call.params["user"] != BOT:
            raise Refused(400, "M_FORBIDDEN", "Cannot set another user's typing state")
        room = self._room(call)
        on = wanted_type(call.body, "typing", bool)
        timeout = wanted_type(call.body, "timeout", int, optional=True)
        seconds = min((30000 if timeout is None else timeout) / 1000, TYPING_SECONDS)
        room.typing.pop(BOT, None)
        if on:
            room.typing[BOT] = self.record.now() + self.service.seconds(seconds)
            # A request that waits for the end of typing must check it again.
            self.service.timers.after(seconds, lambda: None)
        room.typing_changed = self.server.advance()
        return {}

    def do_receipt(self, call):
        self._room(call)
        return {}

    # ---- media ----

    def do_upload(self, call):
        if "content-length" not in call.request.headers:
            raise Refused(400, "M_UNKNOWN", "Request must specify a Content-Length")
        if len(call.request.body) > self.service.max_upload:
            words = "Upload request body is too large"
            raise Refused(413, "M_TOO_LARGE", words, None)
        kind = call.request.headers.get("content-type", "application/octet-stream")
        name = call.query.get("filename")
        return {"content_uri": self.server.keep(name, kind, call.request.body)}

    def do_media_config(self, call):
        return {"m.upload.size": self.service.max_upload}

    def media(self, call):
        """Returns the name, type and bytes of a file."""
        found = self.server.media.get(call.params["media"])
        if found is None or call.params["server"] != SERVER:
            raise not_found(f"Not found '{call.path}'")
        return found

    # ---- the account ----

    def do_versions(self, call):
        return {"versions": VERSIONS, "unstable_features": {}}

    def do_whoami(self, call):
        return {"user_id": BOT, "device_id": call.device, "is_guest": False}

    def do_profile(self, call):
        name = self.server.names.get(call.params["user"])
        if name is None:
            raise not_found("Profile was not found")
        return {"displayname": name}

    def do_make_filter(self, call):
        Filter(call.body)
        self.filters.append(call.body)
        return {"filter_id": str(len(self.filters) - 1)}

    def do_read_filter(self, call):
        number = call.params["filter"]
        if not number.isdigit() or int(number) >= len(self.filters):
            raise not_found("No such filter")
        return self.filters[int(number)]

    def do_capabilities(self, call):
        rooms = {"default": "11", "available": {"11": "stable", "3": "stable"}}
        return {"capabilities": {"m.room_versions": rooms}}

    def do_push_rules(self, call):
        kinds = ("override", "content", "room", "sender", "underride")
        return {"global": {kind: [] for kind in kinds}}

    def do_sync(self, call):
        return self.service.sync.get(call, Filter(self.service.filter_of(call.query)))
