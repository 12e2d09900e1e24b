# SPDX-License-Identifier: MIT
"""Actions of users in the rooms of the Matrix fake."""

import base64

from control import Unable
from matrix_rooms import BOT, SERVER, escape


class People:
    def __init__(self, service):
        self.service = service
        self.server = service.server
        self.record = service.record
        self.controls = {
            "user": self.make_user,
            "room": self.make_room,
            "say": self.says,
            "reply": self.says,
            "edit": self.edits,
            "react": self.reacts,
            "redact": self.redacts,
            "delete": self.redacts,
            "invite": self.invites,
            "kick": self.kicks,
            "type": self.types,
            "event": self.any_event,
        }

    # ---- users and rooms ----

    def make_user(self, body):
        self.server.names[body["id"]] = body["name"]

    def make_room(self, body):
        """Creates or changes a room; its first user is the creator."""
        name = body["id"]
        room = self.server.rooms.get(name)
        if room is None:
            first, *others = body.get("members", [f"@ann:{SERVER}"])
            room = self.server.make(name, first, others, body.get("version", "11"))
            if body.get("bot", "join") == "invite":
                self.server.join(room, BOT, "invite", body.get("by", first))
            elif body.get("bot", "join") == "join":
                self.server.join(room, BOT)
        creator = room.events[0].sender
        if body.get("encrypted"):
            content = {"algorithm": "m.megolm.v1.aes-sha2"}
            self.server.add(room, creator, "m.room.encryption", content, "")
        if "name" in body:
            self.server.add(room, creator, "m.room.name", {"name": body["name"]}, "")
        if "needed" in body:
            levels = {"users": {creator: 100}, "events_default": body["needed"], "redact": 50}
            self.server.add(room, creator, "m.room.power_levels", levels, "")

    def _room(self, body):
        if body["room"] not in self.server.rooms:
            raise Unable(f"no room {body['room']}")
        return self.server.rooms[body["room"]]

    def _there(self, body):
        room = self._room(body)
        event = room.by_id.get(body["event_id"])
        if event is None:
            raise Unable(f"no event {body['event_id']} in {room.id}")
        return room, event

    def _in(self, body):
        room = self._room(body)
        if room.membership(body["user"]) != "join":
            raise Unable(f"{body['user']} is not in {room.id}")
        return room

    def _record_event(self, event, text=None):
        self.record.add(
            "inbound",
            event=event.kind,
            chat=event.room.id,
            text=text,
            update=event.api(room=True),
        )
        return {"event_id": event.id}

    # ---- actions ----

    def says(self, body):
        room = self._in(body)
        text = body.get("text", "")
        content = {"msgtype": body.get("msgtype", "m.text"), "body": text, "m.mentions": {}}
        if body.get("mention"):
            name = self.server.names.get(BOT, BOT)
            content["body"] = f"{name}: {text}"
            content["format"] = "org.matrix.custom.html"
            link = f'<a href="https://matrix.to/#/{BOT}">{name}</a>'
            content["formatted_body"] = f"{link}: {escape(text)}"
            content["m.mentions"] = {"user_ids": [BOT]}
        if body.get("file"):
            content |= self._file(body["file"], text)
        relates = self._relates(room, body, content)
        if relates:
            content["m.relates_to"] = relates
        event = self.server.add(room, body["user"], "m.room.message", content)
        return self._record_event(event, text)

    def _file(self, file, caption):
        data = base64.b64decode(file["base64"]) if "base64" in file else file["content"].encode()
        kind = file.get("type", "text/plain")
        url = self.server.keep(file["name"], kind, data)
        info = {"mimetype": kind, "size": file.get("size", len(data))}
        known = {"image": "m.image", "audio": "m.audio", "video": "m.video"}
        msgtype = known.get(kind.split("/")[0], "m.file")
        content = {"msgtype": msgtype, "url": url, "info": info, "body": caption or file["name"]}
        if caption:
            content["filename"] = file["name"]
        return content

    def _relates(self, room, body, content):
        relates = {}
        reply = body.get("reply_to")
        if reply:
            if reply not in room.by_id:
                raise Unable(f"no event {reply} in {room.id}")
            relates["m.in_reply_to"] = {"event_id": reply}
            if room.by_id[reply].sender == BOT:  # clients mention the author of a message that they reply to
                content["m.mentions"] = {"user_ids": [BOT]}
        if body.get("thread"):
            relates |= {"rel_type": "m.thread", "event_id": body["thread"]}
            relates["is_falling_back"] = not reply
            relates.setdefault("m.in_reply_to", {"event_id": body["thread"]})
        return relates

    def edits(self, body):
        room, event = self._there(body)
        new = {**room.shown_content(event), "body": body["text"]}
        for name in ("format", "formatted_body", "m.relates_to"):
            new.pop(name, None)
        content = {**new, "body": f"* {body['text']}", "m.new_content": new}
        content["m.relates_to"] = {"rel_type": "m.replace", "event_id": event.id}
        return self._record_event(
            self.server.add(room, body["user"], event.kind, content), body["text"]
        )

    def reacts(self, body):
        room, event = self._there(body)
        self._in(body)
        relates = {"rel_type": "m.annotation", "event_id": event.id, "key": body["key"]}
        content = {"m.relates_to": relates}
        return self._record_event(self.server.add(room, body["user"], "m.reaction", content), body["key"])

    def redacts(self, body):
        room, event = self._there(body)
        return self._record_event(self.server.redact(room, body["user"], event.id, {}))

    def invites(self, body):
        room = self._room(body)
        self._record_event(self.server.join(room, BOT, "invite", body["user"]))

    def kicks(self, body):
        room = self._room(body)
        self._record_event(self.server.join(room, BOT, "leave", room.events[0].sender))

    def types(self, body):
        room = self._in(body)
        seconds = body.get("seconds", 4)
        room.typing[body["user"]] = self.record.now() + self.service.seconds(seconds)
        room.typing_changed = self.server.advance()

    def any_event(self, body):
        room = self._room(body)
        return self._record_event(
            self.server.add(
                room, body["user"], body["type"], body["content"], body.get("state_key")
            )
        )
