# SPDX-License-Identifier: MIT
"""End-to-end conversations in Slack by Socket Mode and native streams: users, the service, the host, an agent.
Cases are named after requirements on a connector."""
import json
import re

from cases import await_, lines_of, run, same, session_of
from people import Question, messages, outcomes
from slackers import ALLOWED, EXTRA, NAME, STRANGER, Person, fault, inbound
from talk import Fake, Host, done, equal, note, ok, slack

STREAM = ("chat.startStream", "chat.appendStream", "chat.stopStream")


def not_kept(host, word):
    for path in host.state.rglob("*"):
        assert not path.is_file() or word.encode() not in path.read_bytes(), path


# ---- cases beside each other


def stranger(fake, host):
    """R21: a user who is not allowed gets no answer, and nothing is stored"""
    notes = {"name": "zanzibar.txt", "content": "zanzibar"}
    fake.control("user", {"id": STRANGER, "name": "stranger"})
    fake.control("channel", {"id": "D9999", "type": "im", "user": STRANGER})
    for words in ({"text": "tools=1 zanzibar", "files": [notes]}, {"text": "zanzibar"}):
        fake.control("message", {"user": STRANGER, "channel": "D9999", **words})
    for words in (f"{NAME} zanzibar", f"{NAME} !status"):
        body = {"user": STRANGER, "channel": "C0GENERAL", "text": words, "both": True}
        fake.control("message", body)
    friend = Person(fake)
    friend.answer(friend.ask())
    calls = [r for r in fake.record() if r["kind"] == "call"]
    same([r["method"] for r in calls if r["chat"] in ("D9999", "C0GENERAL")], [], "calls there")
    fetched = [r["params"]["file"] for r in calls if r["method"] == "download"]
    file = fake.state(chat="D9999")["chats"]["D9999"]["messages"][0]["document"]["id"]
    assert file not in fetched
    not_kept(host, "zanzibar")


def native_stop(fake, host):
    """R19, R21: Slack's own Stop ends the turn, but not when a stranger presses it"""
    person = Person(fake)
    asked = person.ask("tools=1 gated")
    person.hear("Looking at part 1", asked.message)
    fake.wait(acked=1)
    event = {"type": "agent_session_stopped", "channel": person.chat, "user": STRANGER}
    fake.control("event", {"event": {**event, "thread_ts": asked.message}})
    person.hears_back(asked.message)
    host.let_go(asked.id)
    assert person.answer(asked)["text"].count("Answer") == 1, person.seen(asked)
    cut = person.ask("tools=1 ms=600000")
    person.hear("Looking at part 1", cut.message)
    button = {"user": person.id, "channel": person.chat, "thread_ts": cut.message}
    fake.control("stop", button)
    person.sees_end_of(cut)
    person.answer(person.ask("", cut.message))


def mentioned_stop(fake, host):
    """R18, R19: a command beside a mention arrives as two events, and is carried out once"""
    fake.control("channel", {"id": "C0STOP", "type": "channel"})
    person = Person(fake, "C0STOP")
    asked = person.ask("tools=1 ms=600000", both=True)
    person.hear("Looking at part 1", asked.message)
    person.say(f"{NAME} stop", asked.message, both=True)
    person.sees_end_of(asked)
    person.say(f"{NAME} !status", asked.message, both=True)
    person.say(f"{NAME} !show-thinking", asked.message, both=True)
    person.hear("^Shown: .*thinking", asked.message)
    fake.wait(acked=1)
    person.hears_back(asked.message)
    texts = [m["text"] for m in person.seen(asked)]
    same(sum("Stopped." in t for t in texts), 1, "answers to the stop")
    assert sum(t.startswith("Stopping") for t in texts) <= 1, texts
    same(sum(t.startswith("Nothing is running") for t in texts), 1, "answers to !status")
    same(sum(t.startswith("Shown:") for t in texts), 1, "answers to !show-thinking")


def sessions(fake, host):
    """R27, B6: direct messages have one session, and each thread of a channel has one; !new begins another one"""
    person = Person(fake)
    first = person.ask()
    told = session_of(person.answer(first))
    same(session_of(person.answer(person.ask("", first.message))), told, "in the thread")
    same(session_of(person.answer(person.ask())), told, "of another direct message")
    person.say("!new", first.message)
    person.hear("starts a new session", first.message)
    assert session_of(person.answer(person.ask())) != told, "the same session after !new"
    fake.control("channel", {"id": "C0SESSIONS", "type": "channel"})
    person = Person(fake, "C0SESSIONS")
    first = person.ask(both=True)
    told = session_of(person.answer(first))
    follow = person.ask("", first.message)
    same(session_of(person.answer(follow)), told, "in the thread of a channel")
    assert session_of(person.answer(person.ask(both=True))) != told, "one session for two threads"


def flood(fake, host):
    """R5, R7: a demanded pause is observed; the turn is not shown as running meanwhile"""
    person = Person(fake)
    fault(fake, "chat.postMessage", person.chat, "flood", retry_after=3)
    person.answer(person.ask())
    first, second = person.calls("chat.postMessage")
    pause = second["t"] - first["t_done"]
    assert first["status"] == 429 and pause >= 3, pause
    await_(lambda: statuses(person)[-1:] == ["active"], "the end of the status")


def statuses(person):
    return [r["params"]["status"] for r in person.calls("agents.sessions.setStatus")]


def lost(method, words, done_, readable):
    what = "post" if method == "chat.postMessage" else "end of a stream"

    def case(fake, host):
        person = Person(fake)
        fault(fake, method, person.chat, "reset", done=done_)
        if not readable:
            replies = "conversations.replies"
            fault(fake, replies, person.chat, "error", error="missing_scope", times=0)
        asked = person.ask(words)
        if words:
            person.hear("Looking at part 1", asked.message)
            person.hears_back(asked.message)
            host.let_go(asked.id)
        fake.wait(method="conversations.replies", chat=person.chat, status=200)
        person.answer(person.ask("", asked.message))  # in order: the first is decided
        judge_lost(person, asked, done_, readable)

    case.__doc__ = f"R1: a lost answer to a {what} that was {_taken(done_, readable)}"
    return case


def _taken(done_, readable):
    told = "one message" if readable else "marked where it is repeated"
    return f"{'taken' if done_ else 'not taken'} is {told}"


def judge_lost(person, asked, done_, readable):
    texts = [m["text"] for m in person.seen(asked) if f"Answer {asked.id} of" in m["text"]]
    marked = sum("(may be a repeat)" in text for text in texts)
    wanted = (1, 0) if readable else (int(done_), 1)
    same((len(texts) - marked, marked), wanted, f"unmarked and marked of {texts}")


def refused(fake, host):
    """R2, R10: an answer whose blocks are refused arrives as text"""
    person = Person(fake)
    fault(fake, "chat.postMessage", person.chat, "error", error="invalid_blocks")
    asked = person.ask()
    answer = person.answer(asked)
    same((answer["blocks"], len(outcomes(person, asked))), ([], 1))
    assert " 0 parts" in answer["text"] and "*" not in answer["text"], answer["text"]


def answered_lines(person, asked):
    """The requests with the answer, without those of a stream from before the answer was known."""
    return [n for m in person.seen(asked) for n in lines_of(m["text"])][-750:]


def long_answer(fake, host):
    """R11: a long answer becomes several messages, and no text is lost"""
    person = Person(fake)
    asked = person.ask("chars=30000")
    person.hear("Line 000749", asked.message)
    person.answer(asked)
    parts = person.seen(asked)
    assert len(parts) > 1 and all(len(m["text"]) <= 12000 for m in parts), len(parts)
    same(answered_lines(person, asked), list(range(750)), "lines")


def file_answer(fake, host):
    """R12: a very long answer becomes its beginning and a file"""
    person = Person(fake)
    asked = person.ask("chars=110000")
    fake.wait(method="files.completeUploadExternal", chat=person.chat, status=200)
    files = [m["document"] for m in person.seen(asked) if m["document"]]
    same([f["name"] for f in files], ["answer.md"])
    text = "".join(fake.get("file", id=f["id"]).decode() for f in files)
    same(lines_of(text), list(range(2750)), "lines of the file")
    assert "Line 000000" in person.seen(asked)[0]["text"]


def mentions(fake, host):
    """R14: no text of the agent or a tool mentions anybody"""
    person = Person(fake)
    names = "<!channel> <!here|x> <!everyone> <@U0BOB> <!subteam^S1> <#C0GENERAL> @here @channel"
    escaped = names.replace("<", "&lt;").replace(">", "&gt;")
    asked = person.ask(f"tools=1 gated echo={escaped}")
    person.hear("Looking at part 1", asked.message)
    host.let_go(asked.id)
    answer = person.answer(asked)
    assert "U0BOB" in answer["text"], answer
    for call in person.calls(*STREAM, "chat.postMessage"):
        told = json.dumps(call["params"], ensure_ascii=False)
        found = re.findall(r"<[!@#][^>]*>|(?<![\w\u2060\u200b])@(?:here|channel|everyone)", told)
        same(found, [], call["method"])


def thread(fake, host):
    """R24, R11: in a channel every message goes to the thread of the question"""
    fake.control("channel", {"id": "C0LONG", "type": "channel"})
    person = Person(fake, "C0LONG")
    asked = person.ask("tools=1 gated chars=30000", both=True)
    person.hear("Looking at part 1", asked.message)
    host.let_go(asked.id)
    person.hear("Line 000749", asked.message)
    person.answer(asked)
    same({m["thread"] for m in messages(fake, "C0LONG")}, {asked.message}, "threads")
    same(answered_lines(person, asked), list(range(750)), "lines")


def attachment(fake, host):
    """R28: a file arrives as a path that the agent can read"""
    person = Person(fake)
    notes = {"name": "my notes.txt", "content": "x" * 4321}
    assert "The files have 4321 bytes." in person.answer(person.ask(files=[notes]))["text"]


def channel(fake, host):
    """R29: in a channel messages are answered that address the bot or are in a thread that began so"""
    fake.control("channel", {"id": "C0TALK", "type": "channel"})
    fake.control("user", {"id": "U0ROBOT", "name": "robot", "is_bot": True})
    person, other = Person(fake, "C0TALK"), Person(fake, "C0TALK")
    alone = person.say("id=alone tools=1")
    robot = {"type": "message", "subtype": "bot_message", "bot_id": "B1", "user": "U0ROBOT"}
    robot |= {"channel": "C0TALK", "ts": alone, "text": f"{NAME} id=robot"}
    fake.control("event", {"event": robot})
    own = {"type": "message", "user": "U0BOT", "channel": "C0TALK", "ts": alone, "text": NAME}
    fake.control("event", {"event": own})
    fake.control("edit", {"channel": "C0TALK", "ts": alone, "text": f"{NAME} id=edited"})
    first = person.ask(both=True)
    person.answer(first)
    reply = other.say("id=reply", first.message)
    other.answer(Question("slack", "C0TALK", first.message, "reply"))
    fake.control("delete", {"channel": "C0TALK", "ts": reply})
    person.say("id=nothing", alone)
    person.answer(person.ask("", first.message, both=True))
    same({m["thread"] for m in messages(fake, "C0TALK")}, {first.message}, "answered threads")
    same(len(person.seen(first)), 3, "answers to three")


def twice(fake, host):
    """R18: a message that Slack delivers as several events, or again, is answered once"""
    fake.control("channel", {"id": "C0TWICE", "type": "channel"})
    person = Person(fake, "C0TWICE")
    asked = person.ask(both=True)
    payload = inbound(fake, asked.message)
    fake.control("event", {"event": payload["event"], "event_id": payload["event_id"]})
    person.answer(asked)
    fake.control("event", {"event": payload["event"], "event_id": payload["event_id"]})
    fake.control("event", {"event": payload["event"]})
    person.answer(person.ask("", asked.message, both=True))
    same(len(person.seen(asked)), 2, "answers to two messages")


LOST = ((True, True), (False, True), (True, False))
# An app may end few streams in a minute; where that is used up, an answer goes beside its stream.
ENDS = [lost("chat.stopStream", "tools=1 gated", d, r) for d, r in LOST]
CASES = [  # the longest first
    *(native_stop, mentioned_stop, mentions, thread, file_answer, long_answer, flood),
    sessions,
    *(lost("chat.postMessage", "", d, r) for d, r in LOST),
    *(stranger, refused, attachment, channel, twice),
]


def by_socket():
    with Fake("slack") as fake:
        with Host(slack(fake, allow=ALLOWED), extra=EXTRA) as host:
            fake.wait(sockets=1)
            run(ENDS, fake, host, at_once=1)
            run(CASES, fake, host, at_once=len(CASES))
            equal(host.stop(), 0, "the host exits with status 0")
        acks = [r for r in fake.record() if r["kind"] == "socket" and r["event"] == "ack"]
        ok(len(acks) > 20, "R17: all events are acknowledged in time", len(acks))
        found = [v["detail"].split(" ", 1)[1] for v in fake.violations()]
        equal(found, ["was ended before"], "the only violation is the end of a stream that could not be looked up")
        note(f"{len(fake.record())} records")


by_socket()
done()
