# SPDX-License-Identifier: MIT
"""A program of the connector exec gets all that a chat connector in C gets: native streams, drafts,
forms, menus, files of people, polls, phases of the typing sign, and buttons that repeat or stop."""
import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "api"))

from door import BUILD, LOG, Door, done, equal, ok, until  # noqa: E402

PROGRAM = pathlib.Path(__file__).resolve().parent / "fullroom.py"
PYTHON = os.path.realpath(sys.executable)
ROOTS = [sys.prefix, sys.base_prefix, str(PROGRAM.parent), str(PROGRAM.parents[2] / "share")]
AGENTS = f'asks : {{ command = ["{BUILD}/tests/fake/asker"]; }};'


class Room:
    """The chat of one instance."""

    def __init__(self, host, name, chat):
        self.host, self.name, self.chat = host, name, chat
        self.folder = next(p for p in host.state.rglob("*") if p.is_dir() and p.name == name)
        self.acts = 0

    def ops(self, kind, **members):
        """The operations of that kind for this chat, with these members."""
        lines = (self.folder / "ops").read_text().splitlines()
        all_ = [op for line in lines if (op := json.loads(line))["op"] == kind]
        return [op for op in all_ if op.get("target", {}).get("chat", self.chat) == self.chat
                and all(op.get(k) == v for k, v in members.items())]

    def one(self, kind, what, where=lambda op: True, **members):
        return until(lambda: next((op for op in self.ops(kind, **members) if where(op)), None), what)

    def answer(self, what, where=lambda op: True):
        """The outcome of a turn: the end of its stream, or a message."""
        return until(lambda: next((op for kind in ("stream_end", "post") for op in self.ops(kind, role="answer")
                                   if where(op)), None), what)

    def act(self, tc, path="/act", target=None, **more):
        """A message or an action of ann; what the host replies."""
        self.acts += 1
        number = f"{self.name}-{self.chat}-{self.acts}"
        body = {"tc": tc, "id": number, "user": "ann", **more,
                "target": {"chat": self.chat, "message": number, "more": {"team": "T:1"}, **(target or {})}}
        status, _, text = self.host.ask("POST", f"/hooks/{self.name}{path}", body=body)
        equal(status, 200, f"{tc} {number} is taken")
        return text.decode()

    def say(self, text, **more):
        return self.act("message", text=text, **more)


def instance(name, agent, **more):
    keys = {"plugin": "exec", "command": [PYTHON, "-B", str(PROGRAM)], "read": ROOTS, "agent": agent,
            "grants": ["submit", "cancel", "answer"], "allow": ["ann"], "progress_after_ms": 1, **more}
    return name + " : { " + " ".join(f"{key} = {json.dumps(value)};" for key, value in keys.items()) + " }; "


def streams(host):
    room = Room(host, "room", "streams")
    room.say("id=s1 tools=1 gated")
    begin = room.one("stream_begin", "a native stream begins")
    typing = room.one("typing", "typing is shown")
    equal(typing["view"]["phase"], "working", "typing says the phase of the turn")
    equal(begin["target"]["more"], {"team": "T:1"}, "what the program said of the place comes back")
    until(lambda: any("line" in item for op in room.ops("stream_begin") + room.ops("stream_append")
                      for item in op["items"]), "the stream has the line of a tool call")
    equal(room.say("id=s2"), "queued", "a message waits")
    room.one("post", "a reaction that the program does not show is told as text", role="reply")
    host.let_go("s1")
    end = room.answer("the stream ends with the answer")
    equal(end["op"], "stream_end", "the stream has the answer")
    ok("Answer s1" in "".join(item.get("text", "") for item in end["items"]), "it is the answer", end["items"])
    room.answer("the next answer", lambda op: op["turn"] != end["turn"])


def stops(host):
    room = Room(host, "room", "stops")
    room.say("id=t1 tools=2 gated")
    room.one("stream_begin", "a native stream begins")
    (room.folder / "stopped").touch()
    host.let_go("t1")
    room.answer("a person stopped the stream, and so the turn", lambda op: "Stopped." in op["text"])
    room = Room(host, "room", "stops-here")
    room.say("id=t2 tools=1 gated")
    room.one("stream_begin", "a native stream begins")
    room.act("action", stop=True)
    room.answer("the stop of the service stops the turn", lambda op: "Stopped." in str(op))


def repeats(host):
    room = Room(host, "room", "repeats")
    room.say("id=r1 fail")
    error = room.one("post", "an error", role="answer")
    ok(error["buttons"] and error["buttons"][0]["data"].startswith("r:"), "it has the button Retry", error)
    host.await_state(error["turn"], "error")
    room.act("action", data=error["buttons"][0]["data"], target={"message": "r1"})
    room.one("post", "the same once more", lambda op: op["turn"] != error["turn"], role="answer")


def shows_menu(host):
    room = Room(host, "room", "menu")
    room.act("action", menu=True)
    menu = room.one("menu", "the menu of a person")
    equal(menu["target"]["user"], "ann", "it is for that person")
    ok({"stop", "status"} <= {row["name"] for row in menu["menu"]}, "it has the commands", menu["menu"])


def fetches(host):
    room = Room(host, "room", "files")
    equal(room.say("id=f1", files=[{"name": "a.txt", "ref": "good"}]), "accepted", "a message with a file")
    room.answer("the agent has the file", lambda op: "The files have 5 bytes." in str(op))
    (room.folder / "own").write_text("four")
    room.say("id=f2", files=[{"name": "b.txt", "path": "own"}])
    room.answer("a file that is there already", lambda op: "The files have 4 bytes." in str(op))
    equal(room.say("id=f3", files=[{"name": "c", "path": "/etc/passwd"}]), "invalid",
          "a file outside of the folder of the program is refused")


def polls(host):
    room = Room(host, "room", "polls")
    room.act("message", "/poll", text="id=p1")
    room.answer("a message of a poll is answered")
    every = Room(host, "room", None)
    until(lambda: any(op.get("cursor") == "after-room-polls-1" for op in every.ops("poll")),
          "the next poll has the cursor of the last one")


def drafts(host):
    room = Room(host, "desk", "drafts")
    room.say("id=d1 tools=1 gated")
    draft = room.one("draft", "progress is shown by a draft", lambda op: op["view"]["lines"])
    equal(draft["view"]["lines"][0]["state"], "running", "its view has the tool call")
    host.let_go("d1")
    answer = room.one("post", "the answer", role="answer")
    equal(answer.get("source"), True, "the answer is one message of Markdown")
    ok("**1**" in answer["text"], "it is not rendered", answer["text"])


def asks(host):
    room = Room(host, "asks", "forms")
    room.say("two")
    card = room.one("post", "a card", role="card")
    fields = card["fields"]
    equal([(f["label"], f["multi"], len(f["options"])) for f in fields],
          [("Colour", False, 3), ("Fit", True, 3)], "it has the questions")
    room.one("typing", "typing says that a person is waited for", lambda op: op["view"]["phase"] == "waiting")
    answers = {fields[0]["id"]: "Red", fields[1]["id"]: ["Green", "Blue"]}
    data = next(b["data"] for b in card["buttons"] if b["data"].endswith(":answer"))
    room.act("action", data=data, answers=answers, target={"message": "r1"})
    room.answer("the answers reach the agent", lambda op: all(w in str(op) for w in ("Red", "Green", "Blue")))
    room = Room(host, "asks", "permits")
    room.say("run=ls")
    card = room.one("post", "a card", role="card")
    buttons = {b["label"]: b for b in card["buttons"]}
    equal([b["confirm"] for b in card["buttons"] if b["data"].endswith(":allow")], [False], "allowing once")
    ok(any(b["confirm"] for b in card["buttons"]), "a permanent permission is to be confirmed", buttons)
    ok({b["style"] for b in card["buttons"]} >= {"good", "bad"}, "buttons have styles", buttons)
    room.act("action", data=next(b["data"] for b in card["buttons"] if b["data"].endswith(":allow")))
    room.answer("the turn ends")


def main():
    instances = instance("room", "main") + instance("desk", "main", stream=False) + instance("asks", "asks")
    with Door(instances=instances, agents=AGENTS, extra=LOG + " visibility : { show_tools = true; };") as host:
        until(host.has_started, "it runs")
        for case in (streams, stops, repeats, shows_menu, fetches, polls, drafts, asks):
            case(host)
        equal(host.stop(), 0, "the host ends")
        equal([line for line in host.log().splitlines() if "breaks the schema" in line], [],
              "no message breaks the schema")
    done()


main()
