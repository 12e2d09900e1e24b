# SPDX-License-Identifier: MIT
"""How the Matrix fake delivers events: /sync with long polls and limited timelines, and
/messages."""

import re
import time

from matrix_rooms import BOT
from matrix_text import Filter, Refused, query_number

NO_FILTER = {}


def token(position):
    return f"s{position}_0_0_1"


def position_of(text):
    """The position of a token of a sync or of /messages."""
    match = re.fullmatch(r"s(\d+)_0_0_1|t(\d+)-\d+", text)
    if not match:
        raise Refused(400, "M_UNKNOWN", "Invalid stream token")
    return int(match[1] or match[2])


class Sync:
    def __init__(self, service):
        self.service = service
        self.record = service.record
        self.server = service.server
        self.timeline_limit = 100  # the default of the server
        self._waiting = []  # (request, position)

    def polling(self):
        """Whether a sync is waiting and the client has all earlier events."""
        return any(at >= self.server.position and not r.gone() for r, at in self._waiting)

    # ---- /sync ----

    def get(self, call, chosen):
        query = call.query
        since = position_of(query["since"]) if "since" in query else None
        if since is not None and since > self.server.position:
            raise Refused(400, "M_UNKNOWN", "Invalid stream token")
        timeout = query_number(query, "timeout", 0) / 1000
        full = query.get("full_state") == "true"
        wait = 0 if since is None or full else min(timeout, 120)
        self._wait_for_news(call.request, since, wait, chosen)
        rooms = self._rooms(since, chosen, call.device)
        return {
            "next_batch": token(self.server.position),
            "account_data": {"events": []},
            "presence": {"events": []},
            "to_device": {"events": []},
            "device_one_time_keys_count": {},
            "rooms": rooms,
        }

    def _wait_for_news(self, request, since, seconds, chosen):
        me = (request, since or 0)
        self._waiting.append(me)
        self.record.changed.notify_all()
        deadline = time.monotonic() + self.service.seconds(seconds)
        try:
            while not request.gone() and not any(self._rooms(since, chosen, None).values()):
                left = deadline - time.monotonic()
                if left <= 0:
                    return
                self.record.changed.wait(min(left, 1))
        finally:
            self._waiting.remove(me)

    def _rooms(self, since, chosen, device):
        found = {"join": {}, "invite": {}, "leave": {}}
        for room in self.server.rooms.values():
            membership = room.membership(BOT)
            if membership is None:
                continue
            changed = room.state["m.room.member", BOT].number
            if membership == "join":
                told = self._joined(room, since, chosen, device)
                if told:
                    found["join"][room.id] = told
            elif since is None or changed > since:
                if membership == "invite":
                    found["invite"][room.id] = {"invite_state": {"events": stripped(room)}}
                elif since is not None:
                    found["leave"][room.id] = self._left(room, since, chosen)
        return found

    def _timeline(self, room, after, chosen, device):
        limit = min(chosen.limit, self.timeline_limit)
        events = [e for e in room.events if e.number > after and chosen.accepts(e)]
        shown = events[len(events) - limit :] if limit else []
        limited = len(shown) < len(events)
        first = shown[0].number if shown else self.server.position + 1
        return shown, limited, first

    def _joined(self, room, since, chosen, device):
        """Returns None without new events."""
        joined = room.state["m.room.member", BOT].number
        new = since is None or joined > since
        after = 0 if new else since
        shown, limited, first = self._timeline(room, after, chosen, device)
        state = [
            event
            for event in room.state_before(first)
            if event.number > after and self._state_counts(event, chosen, shown)
        ]
        typing = chosen.typing and room.typing_changed > (since or 0)
        if not new and not shown and not state and not typing:
            return None
        answer = {
            "timeline": {
                "events": [event.api(device) for event in shown],
                "limited": limited or (new and since is not None),
                "prev_batch": token(first - 1),
            },
            "state": {"events": [event.api() for event in state]},
            "account_data": {"events": []},
            "ephemeral": {"events": []},
            "unread_notifications": {"highlight_count": 0, "notification_count": 0},
        }
        answer["summary"] = {}
        members = [e for e in shown + state if e.kind == "m.room.member"]
        if chosen.lazy and (new or members):
            answer["summary"] = {
                "m.joined_member_count": len(room.members()),
                "m.invited_member_count": len(room.members("invite")),
                "m.heroes": [u for u in room.members() if u != BOT][:5],
            }
        if typing:
            users = self.server.typing(room)
            content = {"type": "m.typing", "content": {"user_ids": users}}
            answer["ephemeral"]["events"].append(content)
        return answer

    @staticmethod
    def _state_counts(event, chosen, shown):
        if chosen.state_types is not None and event.kind not in chosen.state_types:
            return False
        if not chosen.lazy or event.kind != "m.room.member":
            return True
        return event.state_key in {BOT} | {other.sender for other in shown}

    def _left(self, room, since, chosen):
        shown, limited, first = self._timeline(room, since, chosen, None)
        return {
            "timeline": {
                "events": [event.api() for event in shown],
                "limited": limited,
                "prev_batch": token(first - 1),
            },
            "state": {"events": []},
            "account_data": {"events": []},
        }

    # ---- /rooms/{id}/messages ----

    def messages(self, call, room):
        query = call.query
        if query.get("dir") not in ("b", "f"):
            words = "Query parameter 'dir' must be one of ['b', 'f']"
            code = "M_INVALID_PARAM" if "dir" in query else "M_MISSING_PARAM"
            raise Refused(400, code, words)
        back = query["dir"] == "b"
        limit = min(query_number(query, "limit", 10), 1000)
        if limit < 1:
            raise Refused(400, "M_INVALID_PARAM", "Query parameter 'limit' must be positive")
        default = self.server.position if back else 0
        start = position_of(query["from"]) if "from" in query else default
        end = position_of(query["to"]) if "to" in query else (0 if back else self.server.position)
        chosen = Filter.of_events(self.service.filter_of(query))
        low, high = (end, start) if back else (start, end)
        events = [e for e in room.events if low < e.number <= high]
        page = (events[::-1] if back else events)[:limit]
        answer = {
            "start": query.get("from", token(start)),
            # The filter is applied after the limit, so a page may be empty although others follow.
            "chunk": [e.api(call.device, room=True) for e in page if chosen.accepts(e)],
        }
        if page:
            last = page[-1].number
            answer["end"] = f"t{last - 1 if back else last}-{last}"
        return answer


def stripped(room):
    """The state of a room that an invited user sees."""
    kinds = ("m.room.create", "m.room.name", "m.room.encryption", "m.room.join_rules")
    events = [event for (kind, _), event in room.state.items() if kind in kinds]
    invite = room.state["m.room.member", BOT]
    inviter = room.state.get(("m.room.member", invite.sender))
    events += [event for event in (inviter, invite) if event]
    return [event.api(stripped=True) for event in events]


def whole(room):
    return [event.api(room=True) for event in room.state.values()]
