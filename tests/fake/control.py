# SPDX-License-Identifier: MIT
"""The interface of a fake for tests: /_control, /_record, /_state, /_wait, /_violations."""

import json
import re

from server import Answer


class Unable(Exception):
    """An invalid command of a test; becomes a 400."""


class Control:
    def __init__(self, service):
        self.service = service
        self.record = service.record
        self._asking = None  # the connection of the command that is running
        self.commands = {
            "fault": lambda body: {"id": service.faults.add(body)},
            "clear": self._clear,
            "release": self._release,
            "down": self._down,
            "up": lambda body: service.listener.up(),
            "refuse": self._refuse,
            "scale": self._scale,
            "pace": self._pace,
            "final": lambda body: service.finals.append(body["text"]),
            "reset": self._reset,
        }

    # ---- commands ----

    def _clear(self, body):
        self.service.faults.clear(body.get("id"))

    def _release(self, body):
        self.service.faults.release(body.get("id"))

    def _down(self, body):
        self.service.listener.down(body.get("keep", False), self._asking)

    def _refuse(self, body):
        self.service.listener.refusals = body["times"]

    def _scale(self, body):
        self.record.scale = float(body["factor"])

    def _pace(self, body):
        self.service.pace.on = body.pop("on", True)
        self.service.set_pace(body)

    def _reset(self, body):
        self.service.faults.clear()
        self.service.pace.forget()
        self.service.finals.clear()
        self.record.forget()

    # ---- requests ----

    def serve(self, request):
        try:
            if request.path.startswith("/_control/"):
                return self._command(request)
            return self._question(request)
        except (Unable, KeyError, TypeError, ValueError, AttributeError, re.error) as error:
            return Answer(400, {"ok": False, "error": f"{type(error).__name__}: {error}"})

    def _command(self, request):
        name = request.path[len("/_control/") :]
        if name == "screen" and request.verb == "GET":
            with self.record.changed:
                return Answer(200, self.service.screen())
        command = self.service.controls.get(name) or self.commands.get(name)
        if command is None or request.verb != "POST":
            raise Unable(f"unknown control: {name}")
        body = json.loads(request.body or b"{}")
        if name in self.service.unlocked:
            return Answer(200, {"ok": True, "t": self.record.now(), **command(body)})
        with self.record.changed:
            self._asking = request.connection
            result = command(body) or {}
            self.record.changed.notify_all()
        return Answer(200, {"ok": True, "t": self.record.now(), **result})

    def _question(self, request):
        query = dict(request.query)
        if request.path == "/_wait":
            return self._wait(query)
        with self.record.changed:
            if request.path == "/_record":
                lines = self.record.lines(int(query.get("since", 0)))
                return Answer(200, lines, content_type="application/x-ndjson")
            if request.path == "/_last":
                return Answer(200, {"seq": self.record.last})
            if request.path == "/_state":
                return Answer(200, self.service.state(query.get("chat"), query.get("thread")))
            if request.path == "/_violations":
                return Answer(200, self.record.violations() + self.service.still_wrong())
            if request.path == "/_file":
                data = self.service.file(query["id"])
                return Answer(200, data, content_type="application/octet-stream")
        raise Unable(f"unknown page: {request.path}")

    # ---- waiting ----

    def _wait(self, query):
        timeout = float(query.pop("timeout", 10))
        count = int(query.pop("count", 1))
        condition = self._condition(query, count)
        result = self.record.wait(lambda: self._met(condition), timeout)
        if result:
            return Answer(200, {"ok": True, "matches": result.matches})
        with self.record.changed:
            return Answer(504, {"ok": False, "matches": condition()[1]})

    @staticmethod
    def _met(condition):
        holds, matches = condition()
        return _Result(matches) if holds else None

    def _condition(self, query, count):
        for name, condition in self.service.conditions.items():
            if name in query:
                return lambda: (condition(query), [])
        if query.pop("visible", "") == "1":
            gone = query.pop("gone", "") == "1"
            return lambda: self._seen(query, count, gone)
        if "violation" in query:
            query = {"kind": "violation", "rule": query["violation"]}
        return lambda: self._recorded(query, count)

    def _seen(self, query, count, gone):
        matches = [message for message in self.service.visible() if _shows(message, query)]
        return (not matches if gone else len(matches) >= count), matches

    def _recorded(self, query, count):
        matches = [entry for entry in self.record.entries if _fits(entry, query)]
        return len(matches) >= count, matches


class _Result:
    def __init__(self, matches):
        self.matches = matches


def _fits(entry, query):
    if entry["kind"] != query.get("kind", "call"):
        return False
    if entry["kind"] == "call" and "status" not in entry and query.get("stage") != "arrived":
        return False
    for key, wanted in query.items():
        if key in ("kind", "stage"):
            continue
        if key == "since":
            if entry["seq"] <= int(wanted):
                return False
        elif key == "text":
            if not re.search(wanted, entry.get("text") or ""):
                return False
        elif str(entry.get(key)).lower() != wanted.lower():
            return False
    return True


def _shows(message, query):
    for key, wanted in query.items():
        if key == "text":
            if not re.search(wanted, message.get("text") or ""):
                return False
        elif key == "buttons":
            if bool(message.get("buttons")) != (wanted == "1"):
                return False
        elif key == "reaction":
            if wanted not in message.get("reactions", []):
                return False
        elif key == "from" and wanted == "bot":
            if not message.get("bot"):
                return False
        elif str(message.get(key)) != wanted:
            return False
    return True
