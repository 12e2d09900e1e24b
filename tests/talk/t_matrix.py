#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""End-to-end conversations in Matrix: users, a homeserver, the host, an agent. The checks use the messages that
users see."""
import itertools
import re

from cases import await_, lines_of, run, same, session_of
from deciders import agents
from shown import asks_for_id
from talk import Fake, Host, done, equal, matrix, note

BOT = "@bot:fake.example"
ALLOWED = [f"@p{n}:fake.example" for n in range(100)]
LISTED = "@listed:fake.example"  # may speak, and not decide
STRANGER = "@stranger:fake.example"
EXTRA = """visibility : { show_tools = true; show_narration = true; };
conversations : { max_turns = 64; debounce_ms = 50; };"""
FREE = {"send": [100, 100], "join": [100, 100]}
ASKING = {"agent": "asker", "approvers": ALLOWED}
_people = iter(ALLOWED)
_words = itertools.count()
_rooms = itertools.count()


def make_room(fake, members, **more):
    room = f"!room{next(_rooms)}:fake.example"
    fake.control("room", {"id": room, "members": members, **more})
    return room


class Person:
    """A user who may ask, by default in a room with the bot."""

    def __init__(self, fake, room=None, thread=None, **more):
        self.fake, self.id, self.thread = fake, next(_people), thread
        self.room = room or make_room(fake, [self.id], **more)

    def say(self, text, **more):
        body = {"user": self.id, "room": self.room, "text": text, **more}
        if self.thread:
            body["thread"] = self.thread
        return self.fake.control("say", body)["event_id"]

    def ask(self, words="", **more):
        """Asks a question; returns the word that names the answer, and the id of the message."""
        id_ = f"q{next(_words)}"
        return id_, self.say(f"{words} id={id_}", **more)

    def screen(self, by=BOT):
        return [m for m in self.fake.screen() if m["chat"] == self.room and by in (None, m["author"])]

    def seen(self, pattern):
        return [m for m in self.screen() if re.search(pattern, m["text"])]

    def hear(self, pattern):
        return await_(lambda: self.seen(pattern), f"{pattern} in {self.screen()}")[-1]

    def sees_no(self, pattern):
        await_(lambda: not self.seen(pattern), f"no {pattern}")

    def answer(self, question):
        return self.hear(rf"\AAnswer {question[0]} of ")

    def outcomes(self, question):
        return [m for m in self.seen(rf"(?m)^Answer {question[0]} of |^⚠") if m["reply_to"] == question[1]]

    def react(self, message, key, user=None):
        body = {"user": user or self.id, "room": self.room, "event_id": message["id"], "key": key}
        self.fake.control("react", body)

    def reactions(self, event):
        return next(m["reactions"] for m in self.screen(None) if m["id"] == event)

    def calls(self, *methods):
        calls = [r for r in self.fake.record() if r["kind"] == "call" and r["chat"] == self.room]
        return [r for r in calls if not methods or r["method"] in methods]


def objections(fake):
    """Violations except one: a progress message whose reply was lost is asked for its id by repeating its
    transaction with another text."""
    return [v for v in fake.violations() if not asks_for_id(v)]


# ---- cases beside each other


def round_(fake, host):
    """R9, R20: the question, progress as a notice, the answer as a reply; the progress message is removed"""
    person = Person(fake)
    question = person.ask("tools=1 gated")
    live = person.hear("Looking at part 1")
    assert live["silent"], live
    fake.wait(typing=1, chat=person.room)
    same(person.reactions(question[1]), ["👀"], "what is on the question")
    host.let_go(question[0])
    answer = person.answer(question)
    same((answer["reply_to"], answer["silent"], answer["thread"]), (question[1], False, None))
    person.sees_no("Looking at part 1")
    same([m["id"] for m in person.screen()], [answer["id"]], "remaining messages")
    fake.wait(typing=0, chat=person.room)


def formatted(fake, host):
    """R10, R14: the answer is HTML, its fallback is not, and nobody is mentioned"""
    person = Person(fake)
    question = person.ask("echo=@room <b>x</b>")
    person.answer(question)
    call = next(c for c in person.calls("send") if (c["text"] or "").startswith("Answer"))
    content = call["params"]
    assert "<strong>0</strong>" in content["formatted_body"], content
    assert "<strong>" not in content["body"] and content["body"].startswith("Answer"), content
    same(content["m.mentions"], {}, "mentions")


def sessions(fake, host):
    """R27: the session continues, and !new begins another one"""
    person = Person(fake)
    told = [session_of(person.answer(person.ask())) for _ in range(2)]
    same(told[0], told[1], "the session of the second turn")
    person.say("!new")
    assert session_of(person.answer(person.ask())) != told[0], "the same session after !new"


def long_answer(fake, host):
    """R11: a long answer becomes several messages, and no text is lost"""
    person = Person(fake)
    question = person.ask("chars=40000")
    person.hear("Line 000999 ")
    parts = await_(lambda: (s := person.screen()) and not person.seen("Working") and s, "the parts")
    assert len(parts) > 1, parts
    same([n for m in parts for n in lines_of(m["text"])], list(range(1000)), "lines")
    same([m["reply_to"] for m in parts], [question[1]] + [None] * (len(parts) - 1), "replies")


def stop(fake, host):
    """R19: !stop visibly stops the turn, and is not passed to the agent"""
    person = Person(fake)
    question = person.ask("tools=1 ms=600000")
    person.hear("Looking at part 1")
    person.say("!stop")
    stopped = person.hear(r"\AStopped\.\Z")
    same(stopped["reply_to"], question[1])
    person.sees_no("Looking at part 1")
    person.answer(person.ask())


def queue(fake, host):
    """R26: messages during a turn wait, are reported as waiting, and are answered in order"""
    person = Person(fake)
    first = person.ask("tools=1 gated")
    person.hear("Looking at part 1")
    second = person.ask("second")
    await_(lambda: "⏳" in person.reactions(second[1]), "the sign that it waits")
    host.let_go(first[0])
    person.answer(second)
    answers = [m["text"].split()[1] for m in person.screen() if m["text"].startswith("Answer")]
    same(answers, [first[0], second[0]], "the order")


def limits(fake, host):
    """R5, R6: a demanded pause is observed, and the answer is the first request after it"""
    person = Person(fake)
    fault = {"match": {"method": ["send", "edit"], "chat": person.room}, "do": "flood", "scope": "method"}
    fake.control("fault", {**fault, "retry_after": 6})
    question = person.ask("tools=3 gated")
    fake.wait(method="send", status=429, chat=person.room)
    host.let_go(question[0], 3)
    person.answer(question)
    calls = person.calls("send", "edit")
    refused = next(i for i, c in enumerate(calls) if c["status"] == 429)
    pause = calls[refused + 1]["t"] - calls[refused]["t_done"]
    assert pause >= 6.0, pause
    assert calls[refused + 1]["text"].startswith("Answer"), calls[refused + 1]


def lost_answer(fake, host):
    """R1: a send whose reply is lost is shown once, because its transaction id is the same"""
    person = Person(fake)
    for text in ("Looking at part 1", "^Answer"):
        match = {"method": "send", "chat": person.room, "text": text}
        fake.control("fault", {"match": match, "do": "reset", "done": True, "times": 2})
    question = person.ask("tools=1 gated")
    person.hear("Looking at part 1")
    host.let_go(question[0])
    person.answer(question)
    person.sees_no("Looking at part 1")
    person.answer(person.ask())
    same(len(person.outcomes(question)), 1, "answers")
    same(len(person.screen()), 2, "messages")
    assert "repeat" not in person.answer(question)["text"], "nothing to mark"
    sent = [c["params"]["txn"] for c in person.calls("send") if (c["text"] or "").startswith("Answer")]
    same(len(set(sent[:3])), 1, "transactions of one answer")


def refused(fake, host):
    """R2: a message that is refused arrives as text"""
    person = Person(fake)
    match = {"method": "send", "chat": person.room, "text": "^Answer"}
    words = {"status": 400, "errcode": "M_BAD_JSON", "error": "no"}
    fake.control("fault", {"match": match, "do": "error", **words})
    question = person.ask()
    person.answer(question)
    sent = [c["params"] for c in person.calls("send") if (c["text"] or "").startswith("Answer")]
    same(["formatted_body" in p for p in sent], [True, False], "formatted")
    assert sent[0]["txn"] != sent[1]["txn"], "another message has another transaction"


def deleted(fake, host):
    """R2: a user deletes the progress message, and the answer arrives"""
    person = Person(fake)
    question = person.ask("tools=2 gated")
    live = person.hear("Looking at part 1")
    body = {"user": person.id, "room": person.room, "event_id": live["id"]}
    fake.control("delete", body)
    host.let_go(question[0])
    again = person.hear("Looking at part 2")
    assert again["id"] != live["id"], "it is another message"
    host.let_go(question[0])
    answer = person.answer(question)
    person.sees_no("Looking at part")
    same([m["id"] for m in person.screen()], [answer["id"]], "all that is left")


def thread(fake, host):
    """R24, R27: in a thread every message goes to the thread, which is a separate conversation"""
    person = Person(fake)
    outside = session_of(person.answer(person.ask()))
    root = person.screen(None)[0]["id"]
    inside = Person(fake, person.room, root)
    fake.control("event", {"user": inside.id, "room": person.room, "type": "m.room.member",
                           "content": {"membership": "join"}, "state_key": inside.id})  # fmt: skip
    question = inside.ask("tools=1 gated", mention=True)
    inside.hear("Looking at part 1")
    host.let_go(question[0])
    answer = inside.answer(question)
    same((answer["thread"], answer["reply_to"]), (root, question[1]))
    assert session_of(answer) != outside, "the session of the thread"
    sent = [c["params"] for c in person.calls("send") if "m.relates_to" in c["params"]]
    threads = {p["m.relates_to"].get("event_id") for p in sent[-2:]}
    same(threads, {root}, "where its messages went")


def group(fake, host):
    """R29: in a group only users who address the bot are answered, and no bots"""
    person = Person(fake, make_room(fake, [ALLOWED[90], ALLOWED[91], STRANGER]))
    fake.control("event", {"user": person.id, "room": person.room, "type": "m.room.member",
                           "content": {"membership": "join"}, "state_key": person.id})  # fmt: skip
    alone = person.ask("alone")
    first = person.ask("with a mention", mention=True)
    answer = person.answer(first)
    call = next(c for c in person.calls("send") if (c["text"] or "").startswith("Answer"))
    same(call["params"]["m.mentions"], {"user_ids": [person.id]}, "who is notified")
    machine = person.ask("machine", mention=True, msgtype="m.notice")
    reply = person.ask("a reply", reply_to=answer["id"])
    person.answer(reply)
    root = person.say("a thread without the bot")
    other = Person.ask(person, "other thread", thread=root)
    begun = person.ask("begin", mention=True, thread=root)
    person.answer(begun)
    on = person.ask("go on", thread=root)
    person.answer(on)
    for unasked in (alone, machine, other):
        same(person.seen(f"Answer {unasked[0]} "), [], "an answer to a message that does not address the bot")


def stranger(fake, host):
    """R21: a user who is not allowed gets no answer, and nothing is stored"""
    room = make_room(fake, [STRANGER])
    fake.control("say", {"user": STRANGER, "room": room, "text": "tools=1 zanzibar"})
    fake.control("say", {"user": STRANGER, "room": room, "text": "!status"})
    friend = Person(fake)
    friend.answer(friend.ask())
    told = [r for r in fake.record() if r["kind"] == "call" and r["chat"] == room]
    same(told, [], "messages to the stranger")
    for path in host.state.rglob("*"):
        assert not path.is_file() or b"zanzibar" not in path.read_bytes(), path


def invited(fake, host):
    """R21: invites of listed users are accepted, and their messages are answered"""
    person = Person(fake, bot="invite")
    question = person.ask()
    person.answer(question)
    other = make_room(fake, [STRANGER], bot="invite")
    person.answer(person.ask())
    same(fake.state(chat=other)["chats"][other]["membership"], "invite", "of a stranger")


def old(fake, host):
    """a message written before the bot was invited is not answered"""
    person = Person(fake, bot="none")
    early = person.ask("early")
    fake.control("invite", {"room": person.room, "user": person.id})
    later = person.ask("later")
    person.answer(later)
    same(person.seen(f"Answer {early[0]} "), [], "an answer to it")


def encrypted(fake, host):
    """an encrypted room gets one notice"""
    person = Person(fake, encrypted=True)
    secret = {"algorithm": "m.megolm.v1.aes-sha2", "ciphertext": "x"}
    for _ in range(3):
        event = {"user": person.id, "room": person.room, "type": "m.room.encrypted"}
        fake.control("event", {**event, "content": secret})
        person.hear("cannot read encrypted messages")
    friend = Person(fake)
    friend.answer(friend.ask())
    same(len(person.screen()), 1, "messages")
    assert person.screen()[0]["silent"], "a notice"


def attachment(fake, host):
    """R28: a file arrives as a path that the agent can read"""
    person = Person(fake)
    file = {"name": "my notes.txt", "content": "x" * 4321}
    question = person.ask("see", file=file)
    assert "The files have 4321 bytes." in person.answer(question)["text"]
    person.answer(person.ask("what follows"))
    same(len(person.outcomes(question)), 1, "answers")
    large = {"name": "large.bin", "content": "x", "size": 100 << 20}
    question = person.ask("large", file=large)
    assert "bytes." not in person.answer(question)["text"]
    match = {"method": "download"}
    words = {"status": 404, "errcode": "M_NOT_FOUND", "error": "Not found"}
    fake.control("fault", {"match": match, "do": "error", **words})
    question = person.ask("gone", file=file)
    # "download failed" is in the message, and at the word fail this agent fails.
    await_(lambda: person.outcomes(question), "the end of a turn without its file")


CASES = [  # the longest first
    *(queue, deleted, lost_answer, group, thread, round_, attachment),
    *(stop, sessions, long_answer, refused, formatted, stranger, invited, old, encrypted),
]


# ---- what an agent asks for


def approve(fake, host):
    """listed users approve by a reaction"""
    person = Person(fake)
    person.say("run=make all")
    card = person.hear("make all")
    assert not card["silent"], card
    person.react(card, "👍")
    fake.control("event", {"user": LISTED, "room": person.room, "type": "m.room.member",
                           "content": {"membership": "join"}, "state_key": LISTED})  # fmt: skip
    person.react(card, "✅", LISTED)
    person.react(card, "✅")
    end = person.hear("→ Allowed by")
    same(end["id"], card["id"], "the message that was decided")
    assert person.id in end["text"] or "p" in end["text"], end
    person.hear('"behavior":"allow"')


def deny(fake, host):
    """a reaction denies, and so does a reply, with its text as the reason"""
    for words in (None, "not on a Friday"):
        person = Person(fake)
        person.say("run=rm -rf x")
        card = person.hear("rm -rf x")
        if words:
            person.say(words, reply_to=card["id"])
        else:
            person.react(card, "❌")
        same(person.hear("→ Denied by")["id"], card["id"], "the message that was decided")
        told = person.hear('"behavior":"deny"')["text"]
        assert not words or words in told, told


def choose(fake, host):
    """a question is answered by a message with the name of an option"""
    person = Person(fake)
    person.say("single")
    card = person.hear("Which colour")
    person.say("Green", reply_to=card["id"])
    same(person.hear("→ Answered by")["id"], card["id"])
    person.hear('"Which colour\\?":"Green"')


# ---- what concerns all: one after the other


def gap(fake, host):
    """R18: no message of a limited timeline is lost or answered twice"""
    person, other = Person(fake), Person(fake)
    person.answer(person.ask())
    fake.wait(polling=1)
    same(host.stop(), 0, "the end of the host")
    fake.control("options", {"timeline_limit": 3})
    asked = [person.ask(f"number {n}") for n in range(12)]
    single = other.ask()
    host.start()
    await_(lambda: all(person.reactions(event) for _, event in asked), "a sign on each")
    other.answer(single)
    person.answer(asked[0]) if person.seen(asked[0][0]) else None
    pages = [r for r in fake.record() if r.get("method") == "messages" and r["status"] == 200]
    assert pages, "no page was read"
    fake.control("options", {"timeline_limit": 100})
    await_(lambda: not person.seen("Working|Looking"), "the end of the turns")
    told = " ".join(m["text"] for m in person.screen())
    words = re.findall(r"(?:Answer|With) (q\d+)", told)
    same(len(words), len(set(words)), "answers to one message")


def drops(fake, host):
    """R16: polling continues after polls that are reset, cut, or answered with invalid data"""
    person = Person(fake)
    for kind in ("reset", "html", "garbage", "cut"):
        fake.control("fault", {"match": {"method": "sync"}, "do": kind, "done": False})
    question = person.ask()
    person.answer(question)
    person.answer(person.ask())
    same(len(person.outcomes(question)), 1)


def restart(fake, host):
    """R26, R27: after a kill the session continues, and waiting messages are answered"""
    person, busy = Person(fake), Person(fake)
    told = session_of(person.answer(person.ask()))
    cut = busy.ask("tools=1 ms=600000")
    busy.hear("Looking at part 1")
    waits = busy.ask("waits")
    fake.wait(polling=1)
    host.kill()
    host.start()
    same(session_of(person.answer(person.ask())), told, "the session after the restart")
    busy.hear("^⚠")
    busy.answer(waits)
    same([len(busy.outcomes(q)) for q in (cut, waits)], [1, 1])
    busy.sees_no("Looking at part 1")


def killed_answer(fake, host):
    """R1: an answer that was in flight when the host was killed arrives once"""
    person = Person(fake)
    match = {"method": "send", "chat": person.room, "text": "^Answer"}
    fake.control("fault", {"match": match, "do": "hold"})
    question = person.ask()
    fake.wait(visible=1, chat=person.room, text="^Answer")
    host.kill()
    fake.control("clear")
    host.start()
    fake.wait(method="send", chat=person.room, text="^Answer", status=200, count=2)
    person.answer(person.ask())
    same(len(person.outcomes(question)), 1, "answers")


def bad_token(fake, host):
    """R2, R16: a refused token is reported once"""
    fake.wait(polling=1)
    fake.control("options", {"token": "another"})
    person = Person(fake)
    person.ask()
    await_(lambda: "refuses the credentials" in host.log(), "the word about it")
    same(host.stop(), 0, "the end of the host")
    same(host.log().count("refuses the credentials"), 1, host.log())
    asked = [v for v in fake.violations() if v["rule"] == "bad-token"]
    assert len(asked) < 8, asked


# ---- other options


def edited(fake, host):
    """finalize = edit: the progress message becomes the answer, unless a user has deleted it"""
    person, other = Person(fake), Person(fake)
    question, deleted_ = person.ask("tools=1 gated"), other.ask("tools=1 gated")
    live = person.hear("Looking at part 1")
    gone = other.hear("Looking at part 1")
    fake.control("delete", {"user": other.id, "room": other.room, "event_id": gone["id"]})
    host.let_go(question[0])
    host.let_go(deleted_[0])
    same(person.answer(question)["id"], live["id"], "the message")
    assert other.answer(deleted_)["id"] != gone["id"], "it is not there any more"


def summary(fake, host):
    """after the answer, the progress message shows the duration"""
    person = Person(fake)
    question = person.ask("tools=1 gated")
    live = person.hear("Looking at part 1")
    host.let_go(question[0])
    person.answer(question)
    same(person.hear(r"\ADone in .* 1 tool")["id"], live["id"], "the message")


def file_answer(fake, host):
    """R28: overflow = file: the complete answer is a file"""
    person = Person(fake)
    person.ask("chars=40000")
    seen = await_(
        lambda: [m for m in fake.state(chat=person.room)["chats"][person.room]["messages"]
                 if m["url"] and m["bot"]], "the file")  # fmt: skip
    data = fake.get("file", id=seen[0]["url"]).decode()
    same(lines_of(data), list(range(1000)), "lines")


def paced(fake, host):
    """R4: with limited = true the limit of the account is never exceeded"""
    person = Person(fake)
    question = person.ask("tools=2 gated")
    for n in range(2):
        person.hear(f"Looking at part {n + 1}")
        host.let_go(question[0])
    person.answer(question)
    person.sees_no("Looking")
    same([v for v in fake.violations() if v["rule"] == "too-fast"], [])


def with_options(cases, pace=None, **options):
    with Fake("matrix") as fake:
        fake.control("pace", pace or FREE)
        with Host(matrix(fake, allow=[*ALLOWED, LISTED], **options), extra=EXTRA, agents=agents()) as host:
            fake.wait(polling=1)
            run(cases, fake, host)
            equal(objections(fake), [], f"a strict homeserver rejected no request: {sorted(options)}")


def main():
    with Fake("matrix") as fake:
        fake.control("pace", FREE)
        early = make_room(fake, [ALLOWED[99]])
        fake.control("say", {"user": ALLOWED[99], "room": early, "text": "early id=early"})
        with Host(matrix(fake, allow=ALLOWED, after="delete"), extra=EXTRA) as host:
            fake.wait(polling=1)
            run(CASES, fake, host)
            run([limits, gap, drops, restart, killed_answer], fake, host, at_once=1)
            equal(objections(fake), [], "a strict homeserver rejected no request")
            early = [m for m in fake.screen() if "Answer early" in m["text"]]
            equal(early, [], "messages written before the first start are not answered")
            note(f"{len(fake.record())} records")
            run([bad_token], fake, host, at_once=1)
    with_options([approve, deny, choose], **ASKING)
    with_options([summary])
    with_options([edited], finalize="edit")
    with_options([file_answer], overflow="file")
    with_options([paced], pace={"send": [0.2, 10]}, limited=True)
    done()


main()
