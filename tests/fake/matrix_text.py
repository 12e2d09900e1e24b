# SPDX-License-Identifier: MIT
"""The checks of the Matrix fake for requests, with the error texts of Synapse."""

import json

MAX_INT = 2**53 - 1


class Refused(Exception):
    """`rule`: the name of the violation, or None if a correct client may get the error."""

    def __init__(self, code, error, words, rule="bad-request", **more):
        super().__init__(words)
        self.code, self.rule = code, rule
        self.body = {"errcode": error, "error": words, **more}


def bad_json(words):
    return Refused(400, "M_BAD_JSON", words)


def _no_constant(name):
    raise ValueError(name)


def parse_object(data):
    """Parses the body of a request: a JSON object with a canonical form."""
    try:
        body = json.loads(data.decode(), parse_constant=_no_constant)
    except ValueError:
        raise Refused(400, "M_NOT_JSON", "Content not JSON.", "bad-json") from None
    if not isinstance(body, dict):
        raise Refused(400, "M_BAD_JSON", "Content must be a JSON object.", "bad-json")
    _check_canonical(body)
    return body


def _check_canonical(value):
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, float):
        raise bad_json("Bad JSON value: float")
    if isinstance(value, int) and abs(value) > MAX_INT:
        raise bad_json("JSON integer out of range")
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise bad_json("Bad JSON value: lone surrogate") from None
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check_canonical(one)


def canonical(value):
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def wanted_type(body, name, kind, optional=False):
    """Returns a member of the body with the required type."""
    if name not in body and optional:
        return None
    if name not in body:
        raise bad_json(f"Missing key '{name}'")
    value = body[name]
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise bad_json(f"'{name}' is not of type {kind.__name__}")
    return value


def query_number(query, name, default):
    value = query.get(name)
    if value is None:
        return default
    if not value.isascii() or not value.isdigit():
        words = f"Query parameter '{name}' must be an integer"
        raise Refused(400, "M_INVALID_PARAM", words)
    return int(value)


def check_content(kind, content):
    """Checks the content of an event that a client sends."""
    if kind == "m.room.message":
        for name in ("body", "msgtype"):
            if name not in content:
                raise Refused(400, "M_UNKNOWN", f"'{name}' not in content")
            if not isinstance(content[name], str):
                raise Refused(400, "M_UNKNOWN", f"'{name}' not a string type")
    mentions = content.get("m.mentions", {})
    if not isinstance(mentions, dict):
        raise bad_json(f"{mentions!r} is not of type 'object'")
    users = mentions.get("user_ids", [])
    if not isinstance(users, list):
        raise bad_json(f"{users!r} is not of type 'array'")
    for user in users:
        if not isinstance(user, str):
            raise bad_json(f"{user!r} is not of type 'string'")
    if not isinstance(mentions.get("room", False), bool):
        raise bad_json(f"{mentions['room']!r} is not of type 'boolean'")


class Filter:
    """The parts of a filter that the fake supports: the events of timelines."""

    def __init__(self, body):
        room = wanted_type(body, "room", dict, optional=True) or {}
        for part in (body.get("presence", {}), body.get("account_data", {})):
            if not isinstance(part, dict):
                raise bad_json("a filter is an object")
        timeline = wanted_type(room, "timeline", dict, optional=True) or {}
        state = wanted_type(room, "state", dict, optional=True) or {}
        ephemeral = wanted_type(room, "ephemeral", dict, optional=True) or {}
        self._read_events(timeline)
        self.typing = "m.typing" in ephemeral.get("types", ["m.typing"])
        self.lazy = bool(wanted_type(state, "lazy_load_members", bool, optional=True))
        self.state_types = wanted_type(state, "types", list, optional=True)

    def _read_events(self, part):
        limit = wanted_type(part, "limit", int, optional=True)
        if limit is not None and limit < 0:
            raise bad_json(f"{limit} is less than the minimum of 0")
        self.limit = 10 if limit is None else limit
        self.types = wanted_type(part, "types", list, optional=True)
        self.not_types = wanted_type(part, "not_types", list, optional=True) or []
        self.not_senders = wanted_type(part, "not_senders", list, optional=True) or []

    @staticmethod
    def of_events(body):
        """A RoomEventFilter for /messages."""
        return Filter({"room": {"timeline": body}})

    def accepts(self, event):
        if self.types is not None and event.kind not in self.types:
            return False
        return event.kind not in self.not_types and event.sender not in self.not_senders
