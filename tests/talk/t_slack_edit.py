# SPDX-License-Identifier: MIT
"""Conversations in Slack in an app without native streams: a message that is edited, with a button. Cases are
named after requirements on a connector."""
from cases import await_, run, same
from people import Question, messages, outcomes
from slackers import ALLOWED, EXTRA, NAME, STRANGER, Person, button, fault
from talk import Fake, Host, done, equal, slack

PAUSE_S = 15  # long enough for a turn to end meanwhile


def latch(fake, host):
    """the connector tries once to begin a stream, and then edits a message"""
    person = Person(fake)
    asked = person.ask("tools=2 gated")
    progress = person.hear("Looking at part 1", asked.message, buttons=1)
    host.let_go(asked.id)
    person.hear("Looking at part 2", asked.message, id=progress["id"])
    host.let_go(asked.id)
    answer = person.answer(asked)
    fake.wait(visible=1, gone=1, chat=person.chat, text="Looking at part")
    assert answer["id"] > progress["id"] and not answer["edits"], answer
    same(len(person.seen(asked)), 1, "remaining messages")
    second = person.ask("tools=1 gated")
    person.hear("Looking at part 1", second.message, buttons=1)
    host.let_go(second.id)
    person.answer(second)
    calls = [r for r in fake.record() if r.get("method") == "chat.startStream"]
    same(len(calls), 1, "tries to begin a stream")


def stop_by(words):
    def case(fake, host):
        person = Person(fake)
        asked = person.ask("tools=1 ms=600000")
        person.hear("Looking at part 1", asked.message, buttons=1)
        person.say(words, asked.message)
        person.sees_end_of(asked)
        person.hear("Stopped", asked.message)
        fake.wait(visible=1, gone=1, chat=person.chat, text="Looking at part 1")
        person.answer(person.ask("", asked.message))
        said = Question("slack", person.chat, asked.message, "-")
        same([m for m in outcomes(person, said) if "Answer" in m["text"]], [], "answers to the stop command")

    case.__doc__ = f"R19: {words!r} visibly stops the turn, and is not passed to the agent"
    return case


def press(person, shown):
    return {"channel": person.chat, "user": person.id, "ts": shown["id"], **button(shown, "stop")}


def stop_by_button(fake, host):
    """R19, R21: the button stops the turn, but not for a stranger"""
    person = Person(fake)
    asked = person.ask("tools=1 gated")
    shown = person.hear("Looking at part 1", asked.message, buttons=1)
    fake.control("user", {"id": STRANGER, "name": "stranger"})
    fake.control("action", {**press(person, shown), "user": STRANGER})
    person.hears_back(asked.message)
    host.let_go(asked.id)
    assert "Answer" in person.answer(asked)["text"], "stopped by a stranger"
    cut = person.ask("tools=1 ms=600000")
    shown = person.hear("Looking at part 1", cut.message, buttons=1)
    fake.control("action", press(person, shown))
    person.sees_end_of(cut)


def queue(fake, host):
    """R26: messages during a turn wait, are reported as waiting, are joined, and are answered in order"""
    person = Person(fake)
    first = person.ask("tools=1 gated")
    person.hear("Looking at part 1", first.message)
    second, third = (person.ask(word, first.message) for word in ("second", "third"))
    person.say("!queue", first.message)
    person.hear("2 messages in the queue", first.message)
    same(person.ended(first), [], "answers before the end of the turn")
    host.let_go(first.id)
    both = [second, third]
    last = await_(lambda: [m for q in both for m in person.ended(q)], "the second")[0]
    assert float(person.answer(first)["id"]) < float(last["id"])
    said = [m for m in person.seen(first) if m["text"].startswith("Answer")]
    same(len(said), 2, "answers to three messages")


def flood_first(fake, host):
    """R6: after a pause the answer is the first request"""
    person = Person(fake)
    fault(fake, "chat.postMessage", person.chat, "flood", retry_after=PAUSE_S)
    asked = person.ask("tools=2 gated")
    fake.wait(method="chat.postMessage", status=429, chat=person.chat)
    host.let_go(asked.id, 2)
    person.answer(asked)
    first, second = person.calls("chat.postMessage", "chat.update")
    assert first["status"] == 429 and "Looking at" in first["text"], first
    assert second["t"] - first["t_done"] >= PAUSE_S and second["text"].startswith("Answer"), second


def late_edit(fake, host):
    """R8, R9: no edit is executed after the answer, which is a separate message"""
    person = Person(fake)
    fault(fake, "chat.update", person.chat, "hold")
    asked = person.ask("tools=2 gated")
    person.hear("Looking at part 1", asked.message)
    host.let_go(asked.id)
    fake.wait(method="chat.update", chat=person.chat, stage="arrived")
    host.let_go(asked.id)
    await_(lambda: any(w == "active" for w in statuses(person)), "the end of the turn")
    same(person.ended(asked), [], "answers during an edit")
    fake.control("release")
    person.answer(asked)
    fake.wait(visible=1, gone=1, chat=person.chat, text="Looking at part")
    methods = [r["method"] for r in person.calls("chat.postMessage", "chat.update", "chat.delete")]
    same(methods[-2:], ["chat.postMessage", "chat.delete"], "the last requests")


def statuses(person):
    calls = person.calls("agents.sessions.setStatus")
    return [r["params"]["status"] for r in calls if r.get("status") == 200]


def without_streams():
    cases = [late_edit, flood_first, queue, stop_by_button]
    cases += [stop_by(words) for words in ("!stop", "stop", " /stop", f"{NAME} stop", "STOP")]
    with Fake("slack") as fake:
        fake.control("options", {"streams": False})
        with Host(slack(fake, allow=ALLOWED), extra=EXTRA) as host:
            fake.wait(sockets=1)
            run([latch], fake, host)
            run(cases, fake, host, at_once=len(cases))
            equal(host.stop(), 0, "without streams: the host exits with status 0")
        equal(fake.violations(), [], "without streams: a strict service rejected no request")


without_streams()
done()
