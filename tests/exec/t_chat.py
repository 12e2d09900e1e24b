# SPDX-License-Identifier: MIT
"""A program of the connector exec that operates a chat service: the host shows turns there, with the
guarantees that it gives to every chat connector, also when the program dies."""
import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "api"))

from door import BUILD, Door, done, equal, ok, until  # noqa: E402

PROGRAM = pathlib.Path(__file__).resolve().parent / "chatroom.py"
PYTHON = os.path.realpath(sys.executable)
ROOTS = [sys.prefix, sys.base_prefix, str(PROGRAM.parent), str(PROGRAM.parents[2] / "share")]
DYING = 6
ASKER = f'asks : {{ command = ["{BUILD}/tests/fake/asker"]; }};'


class Room:
    def __init__(self, host):
        self.host = host
        self.folder = next(p for p in host.state.rglob("*") if p.is_dir() and p.name == "room")

    def messages(self):
        path = self.folder / "messages"
        return json.loads(path.read_text()) if path.exists() else []

    def shown(self):
        """What a person sees."""
        return [m for m in self.messages() if m["text"] is not None]

    def answers(self):
        return [m["text"] for m in self.shown() if m["role"] == "answer"]

    def say(self, number, text, **more):
        body = {"id": number, "user": "ann", "text": text, **more}
        until(lambda: self.host.ask("POST", "/hooks/room/say", body=body)[0] == 200, f"{text} is taken")

    def press(self, number, message, data):
        body = {"id": number, "user": "ann", "data": data, "message": message}
        until(lambda: self.host.ask("POST", "/hooks/room/press", body=body)[0] == 200, f"{data} is taken")


def instance(kind, agent):
    keys = {"plugin": "exec", "command": [PYTHON, "-B", str(PROGRAM), kind], "read": ROOTS, "agent": agent,
            "grants": ["submit", "cancel", "answer"], "allow": ["ann"], "progress_after_ms": 1}
    return "room : { " + " ".join(f"{key} = {json.dumps(value)};" for key, value in keys.items()) + " }; "


def converses(room):
    room.say("m1", "id=q1")
    until(lambda: len(room.answers()) == 1, "the answer is there")
    ok("Answer q1" in room.answers()[0], "it is the answer", room.answers())
    until(lambda: len(room.shown()) == 1, "the progress message is gone")
    room.say("m1", "id=q1")
    room.say("m2", "/status")
    until(lambda: [m for m in room.shown() if m["role"] == "reply"], "a command is answered")
    equal(len(room.answers()), 1, "a message that comes again is known")


def survives(room, kind):
    """The program exits after it has posted, before it says so."""
    before = len(room.answers())
    for i in range(DYING):
        (room.folder / "die").touch()
        room.say(f"d{i}", f"id=d{i}")
        until(lambda: not (room.folder / "die").exists(), "it dies")
        until(lambda i=i: any(f"Answer d{i}" in text for text in room.answers()[before:]), f"answer {i}")
    new = room.answers()[before:]
    for i in range(DYING):
        copies = [text for text in new if f"Answer d{i}" in text]
        unmarked = [text for text in copies if "(may be a repeat)" not in text]
        if kind == "key" and len(copies) != 1 or len(unmarked) > 1:
            ok(False, f"answer {i} in copies", copies)
    ok(len(new) >= DYING, f"{DYING} answers, {len(new)} messages with idempotency {kind}")


def decides(host, room):
    room.say("a1", "run=ls")
    card = until(lambda: next((m for m in room.shown() if m["buttons"] and m["role"] == "card"), None), "a card")
    allow = next(b["data"] for b in card["buttons"] if b["label"].startswith("Allow"))
    room.press("p1", card["id"], allow)
    until(lambda: not next(m for m in room.messages() if m["id"] == card["id"])["buttons"], "the card is closed")
    text = next(m for m in room.messages() if m["id"] == card["id"])["text"]
    ok("Allowed" in text, "it says the decision", text)
    until(lambda: room.answers(), "the turn ends")


def main():
    for kind in ("key", "none"):
        with Door(instances=instance(kind, "main")) as host:
            until(host.has_started, "it runs")
            room = Room(host)
            converses(room)
            survives(room, kind)
            equal(host.stop(), 0, "the host ends")
            equal([line for line in host.log().splitlines() if "breaks the schema" in line], [],
                  "no message breaks the schema")
    with Door(instances=instance("none", "asks"), agents=ASKER) as host:
        until(host.has_started, "it runs")
        decides(host, Room(host))
    done()


main()
