#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""End-to-end conversations in Microsoft Teams: users, the service, the host, an agent. Streams are on, with the
limits of the real service."""
import itertools
import re
import time

from cases import await_, run, same, session_of
from deciders import agents
from talk import Fake, Host, done, equal, listening, note, ok, teams

BOT = "28:fake-app-id"
ALLOWED = [f"p{n}" for n in range(60)]
STRANGER = "stranger"
EXTRA = """visibility : { show_tools = true; show_narration = true; };
conversations : { max_turns = 64; debounce_ms = 50; };
"""
NOT_ALLOWED = {"status": 403, "code": "ContentStreamNotAllowed"}
LATE = "Content stream finished due to exceeded streaming time."
_people = iter(ALLOWED)
_words = itertools.count()


class Person:
    """A user who may ask, by default in a personal chat."""

    def __init__(self, fake, chat=None, kind="personal"):
        self.fake, self.id = fake, next(_people)
        self.chat = chat or f"a:{self.id}"
        fake.control("user", {"id": self.id, "name": f"Person {self.id}"})
        fake.control("chat", {"id": self.chat, "type": kind})

    def say(self, text, **more):
        return self.fake.control("say", {"user": self.id, "chat": self.chat, "text": text, **more})["id"]

    def ask(self, words="", **more):
        """Asks a question; returns the word that names the answer, and the id of the message."""
        id_ = f"q{next(_words)}"
        return id_, self.say(f"{words} id={id_}", **more)

    def screen(self):
        return [m for m in self.fake.screen() if m["chat"] == self.chat and m["author"] == BOT]

    def seen(self, pattern):
        return [m for m in self.screen() if re.search(pattern, m["text"])]

    def hear(self, pattern):
        return await_(lambda: self.seen(pattern), f"{pattern} in {self.screen()}")[-1]

    def messages(self):
        return self.fake.state(chat=self.chat)["chats"][self.chat]["messages"]

    def answer(self, question):
        """Waits for the message that ends with the answer and is not a stream any more."""
        def found():
            answers = [m for m in self.messages() if not m["deleted"] and not m["streaming"] and m["bot"]
                       and re.search(rf"(?m)^Answer {question[0]} of ", m["text"])]  # fmt: skip
            return answers

        return await_(found, f"the answer to {question} in {self.screen()}")[0]

    def calls(self, *methods):
        calls = [r for r in self.fake.record() if r["kind"] == "call" and r["chat"] == self.chat]
        return [r for r in calls if not methods or r["method"] in methods]

    def fault(self, do, method="stream", **more):
        match = {"method": method, "chat": self.chat}
        if "text" in more:
            match["text"] = more.pop("text")
        return self.fake.control("fault", {"match": match, "do": do, **more})["id"]

    def all_text(self):
        return "\n".join(m["text"] for m in self.screen())

    def once(self, *texts):
        """Checks that each text is seen exactly once."""
        for text in texts:
            same(self.all_text().count(text), 1, f"how often {text!r} is in {self.screen()}")


def types_of(calls):
    infos = [c["params"]["body"]["entities"][0] for c in calls]
    return [(i["streamType"], i.get("streamSequence")) for i in infos]


# ---- streams


def streamed(fake, host):
    """R3, R20: a turn is one stream: narration, finished calls, and the answer at its end"""
    person = Person(fake)
    question = person.ask("tools=2 gated")
    person.hear("Looking at part 1")
    assert person.messages()[-1]["streaming"], person.messages()
    host.let_go(question[0])
    person.hear("(?s)✓ Bash.*Looking at part 2")
    host.let_go(question[0])
    answer = person.answer(question)
    same([m["id"] for m in person.screen()], [answer["id"]], "messages")
    person.once("Looking at part 1", "Looking at part 2", "Answer ")
    same([kind for kind, _ in types_of(person.calls("stream"))][-1], "final", "the last request")
    times = [c["t"] for c in person.calls("stream")]
    assert all(b - a >= 0.99 for a, b in zip(times, times[1:])), times


def last_message(fake, host):
    """R2: the answer after many tool calls arrives"""
    person = Person(fake)
    question = person.ask("tools=5 ms=900")
    person.answer(question)
    person.once("Looking at part 5", f"Answer {question[0]} of")


def ended_by_teams(fake, host):
    """R13, R15: Teams ends the stream: no text is sent twice, and the answer arrives"""
    person = Person(fake)
    question = person.ask("tools=3 gated")
    first = person.hear("Looking at part 1")
    same(fake.control("expire", {"chat": person.chat})["streams"], 1)
    host.let_go(question[0])
    second = person.hear("Looking at part 2")
    assert second["id"] != first["id"], "the stream that was ended"
    host.let_go(question[0])
    person.hear("(?s)Looking at part 2.*Looking at part 3")
    host.let_go(question[0])
    person.answer(question)
    person.once("Looking at part 1", "Looking at part 2", "Looking at part 3", f"Answer {question[0]} of")


def ended_at_the_end(fake, host):
    """R13: Teams refuses the end of a stream that has shown the beginning of the answer: only the rest is sent"""
    person = Person(fake)
    person.fault("error", **NOT_ALLOWED, message=LATE, text="Answer", times=9)
    question = person.ask("tools=1 gated")
    person.hear("Looking at part 1")
    host.let_go(question[0])
    await_(lambda: person.seen(f"Answer {question[0]} of"), "the answer")
    person.once("Looking at part 1", f"Answer {question[0]} of")


def lost_end(fake, host):
    """R1: the reply to the end of a stream is lost: the end is repeated, recognised, and seen once"""
    person = Person(fake)
    person.fault("reset", done=True, text="Answer")
    question = person.ask("tools=1 gated")
    person.hear("Looking at part 1")
    host.let_go(question[0])
    person.answer(question)
    next_ = person.ask()
    person.answer(next_)
    person.once(f"Answer {question[0]} of")
    assert "repeat" not in person.all_text(), person.screen()


def lost_append(fake, host):
    """R1: the reply to an append is lost: the next request contains it"""
    person = Person(fake)
    person.fault("reset", text="Looking at part 2", skip=0)
    question = person.ask("tools=3 gated")
    person.hear("Looking at part 1")
    host.let_go(question[0])
    await_(lambda: [c for c in person.calls("stream") if c.get("fault")], "the loss")
    host.let_go(question[0], 2)
    answer = person.answer(question)
    same([m["id"] for m in person.screen()], [answer["id"]], "messages")
    person.once("Looking at part 1", "Looking at part 2", "Looking at part 3", f"Answer {question[0]} of")


def refused(fake, host):
    """R15: a chat without streams: progress by edits, and the answer once, as a new message"""
    person = Person(fake)
    person.fault("error", **NOT_ALLOWED, message="Content stream is not allowed", times=0)
    question = person.ask("tools=2 gated")
    person.hear("Looking at part 1")
    assert person.calls("post"), "an edited message"
    host.let_go(question[0], 2)
    answer = person.answer(question)
    same(answer["reply_to"], question[1])
    await_(lambda: len(person.screen()) == 1, f"the progress goes: {person.screen()}")
    person.once(f"Answer {question[0]} of")


def stopped(fake, host):
    """R19: the Stop button of the stream stops the turn, and nothing is sent again"""
    person = Person(fake)
    question = person.ask("tools=3 gated")
    person.hear("Looking at part 1")
    same(fake.control("stop", {"chat": person.chat})["streams"], 1)
    host.let_go(question[0])
    person.hear(r"\AStopped\.")
    later = person.ask()
    person.answer(later)
    person.once("Looking at part 1")
    same(person.seen(f"Answer {question[0]} of"), [], "the answer of the stopped turn")


def by_command(fake, host):
    """R19: a command stops a turn that streams"""
    person = Person(fake)
    person.ask("tools=1 ms=600000")
    person.hear("Looking at part 1")
    person.say("!stop")
    person.hear(r"(?m)^_?Stopped\.")
    await_(lambda: not any(m["streaming"] for m in person.messages()), "no stream is open")
    person.answer(person.ask())


def typing_limited(fake, host):
    """R5, R20: a rate limit on typing does not delay the answer"""
    person = Person(fake)
    person.fault("answer", method="typing", status=429, headers={"Retry-After": "60"}, times=0)
    began = time.monotonic()
    person.answer(person.ask())
    assert time.monotonic() - began < 45, "it waited"


def long_answer(fake, host):
    """R11, R12: an answer that is too long for a stream: no text is lost or repeated"""
    person = Person(fake)
    question = person.ask("chars=30000")
    person.hear("Line 000740 ")
    await_(lambda: not any(m["streaming"] for m in person.messages()), "the end")
    for number in (0, 100, 400, 740):
        person.once(f"Line {number:06} tells")
    assert question


# ---- places


def thread(fake, host):
    """R24: in a channel every message goes to the thread of the question, which is a separate conversation"""
    person = Person(fake, "19:c1@thread.tacv2", "channel")
    first = person.ask("tools=1 gated", mention=True)
    person.hear("Looking at part 1")
    host.let_go(first[0])
    answer = person.answer(first)
    same((answer["thread"], answer["reply_to"]), (first[1], first[1]))
    second = person.ask("more", thread=first[1], mention=True)
    again = person.answer(second)
    same((again["thread"], session_of(again)), (first[1], session_of(answer)))
    other = person.answer(person.ask("other", mention=True))
    assert session_of(other) != session_of(answer), "the session of another thread"
    same({m["thread"] for m in person.screen()}, {answer["thread"], other["thread"]}, "threads")
    same(person.calls("typing"), [], "typing in a channel")


def group(fake, host):
    """R29: in a group chat only users who mention the bot are answered"""
    person = Person(fake, "19:g1@thread.v2", "groupChat")
    alone = person.ask("alone")
    asked = person.ask("asked", mention=True)
    person.answer(asked)
    same(person.seen(f"Answer {alone[0]} of"), [], "an answer to a message that does not address the bot")
    same(person.calls("stream"), [], "streams in a group")


def stranger(fake, host):
    """R21: a user who is not allowed gets no answer, and nothing is stored"""
    fake.control("chat", {"id": "a:stranger"})
    fake.control("say", {"user": STRANGER, "chat": "a:stranger", "text": "tools=1 zanzibar"})
    fake.wait(taken=1)
    person = Person(fake)
    person.answer(person.ask())
    same([r for r in fake.record() if r["kind"] == "call" and r["chat"] == "a:stranger"], [], "messages to the stranger")
    for path in host.state.rglob("*"):
        assert not path.is_file() or b"zanzibar" not in path.read_bytes(), path


def attachment(fake, host):
    """R28: a file and a picture arrive as paths that the agent can read"""
    person = Person(fake)
    files = [{"name": "my notes.txt", "content": "x" * 4321}, {"name": "a.png", "content": "y", "type": "image/png"}]
    answer = person.answer(person.ask("see", files=files))
    assert "The files have 4322 bytes." in answer["text"], answer["text"]


STREAMS = [long_answer, streamed, last_message, ended_by_teams, ended_at_the_end, lost_end, lost_append, refused, stopped,
           by_command, typing_limited, thread, group, stranger, attachment]  # fmt: skip


# ---- tokens


def tokens(fake):
    """Requests whose token is wrong in one way each, and some that are just valid."""
    wrong = ["none", "issuer", "audience", "expired", "early", "no-exp", "service", "no-service", "text-exp"]
    ways = [({"wrong": w}, w) for w in wrong]
    ways += [({"alg": a}, a) for a in ("none", "HS256", "RS384")]
    ways += [({"signed_by": "fake-key-2"}, "another key"), ({"changed": True}, "changed"),
             ({"kid": "fake-key-2"}, "an unknown key"), ({"authorization": "Basic eA=="}, "another scheme"),
             ({"more": {"channelId": "webchat"}}, "another channel"),
             ({"more": {"serviceUrl": "https://evil.example/"}}, "a service that is not of Teams")]  # fmt: skip
    for how, name in ways:
        told = fake.control("push", {"user": "p0", "text": "zulu", **how})
        equal(told["status"], 401, f"R21: a token that is wrong is refused: {name}")
    for how in ("old", "soon"):
        equal(fake.control("push", {"user": STRANGER, "wrong": how})["status"], 200, f"a clock difference of five minutes is accepted: {how}")
    same([r for r in fake.record() if r["kind"] == "call" and "zulu" in (r["text"] or "")], [], "answers")


def early():
    """Messages that arrive before the host has the signing keys are answered."""
    with Fake("teams") as fake:
        extra = listening(fake)
        fake.control("fault", {"match": {"method": "keys"}, "do": "hold", "hold": 300})
        with Host(teams(fake, allow=ALLOWED), extra=EXTRA + extra) as host:
            person = Person(fake)
            question = person.ask()
            fake.wait(method="keys", stage="arrived")
            fake.control("release")
            person.answer(question)
            ok(True, "R18: a message that arrives before the signing keys is answered")
            fake.control("keys", {"endorsements": ["webchat"]})
            equal(host.leaks(), [], "R23: no secret is in files and logs of the host")


def main():
    with Fake("teams") as fake:
        extra = listening(fake)
        with Host(teams(fake, allow=ALLOWED), extra=EXTRA + extra, agents=agents()) as host:
            fake.wait(method="keys")
            tokens(fake)
            fake.control("reset")
            run(STREAMS, fake, host, at_once=16)
            equal([v for v in fake.violations() if v["rule"] != "in-flight"], [], "R25: a strict service rejects no request")
            equal(host.leaks(), [], "R23: no secret is in files and logs of the host")
            equal(host.stop(), 0, "the host exits with status 0")
            note(f"{len([r for r in fake.record() if r['kind'] == 'call'])} calls")
    early()
    done()


main()
