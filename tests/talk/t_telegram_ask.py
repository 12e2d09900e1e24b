#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Requests of an agent, decided in Telegram: users, the service, the host, an agent. Permissions, concurrent
and late decisions, and requests after a kill."""
import itertools
import os
import pathlib
import re
import signal
from concurrent.futures import ThreadPoolExecutor

import ledger
from cases import await_, run, same
from deciders import APPROVERS, OVER, Person, agents, data_of
from people import messages
from talk import Fake, Host, done, equal, telegram

LISTED = 1090  # may speak, and not decide
STRANGER = 9999
COUNCIL = -1003000  # where a rule asks
RULES = f'''approvals = ({{ action = "deny"; tool = "Bash"; exact = "no"; }},
    {{ action = "ask"; tool = "Bash"; to = ["tg:{COUNCIL}:7", "tg:{COUNCIL}"]; }});'''
GROUPS = itertools.count(-1002000, -1)


def host_of(fake, agent="asker", wait_s=120, rules=""):
    options = {"allow": [*APPROVERS, LISTED], "approvers": APPROVERS, "agent": agent}
    instance = telegram(fake, grants=["submit", "cancel", "answer"], **options)
    extra = "conversations : { max_turns = 64; debounce_ms = 50; };"
    return Host(instance, agents=agents(wait_s, rules), extra=extra)


# ---- cases beside each other


def approve(fake, host):
    """an approval is given by a button, and the message names the user"""
    person = Person(fake)
    message = person.is_asked("run=make all")
    assert "make all" in message["text"] and message["buttons"][0] == ["Allow"], message
    same(person.press(message, "Allow"), ("Allowed.", False))
    person.sees_end(message, f"Allowed by {person.name()}")
    person.hear('"behavior":"allow"')


def deny(fake, host):
    """a reply refuses, and its text is given to the agent as the reason"""
    person = Person(fake)
    message = person.is_asked("run=rm -rf x")
    reply = person.say("not on a *Friday*", reply_to=message["id"])
    person.sees_end(message, f"Denied by {person.name()}: not on a *Friday*")
    person.hear('"behavior":"deny"')
    fake.wait(30, method="setMessageReaction", chat=str(person.chat), status=200, count=2)
    said = messages(fake, str(person.chat))
    same(len([m for m in said if m.get("reply_to") == reply]), 0, "answers of the agent to it")


def several(fake, host):
    """open requests are decided separately"""
    person = Person(fake)
    person.say("together run=alpha, run=beta, run=gamma")
    asked = [person.hear(f"^✋ [^→]*\n{word}\n") for word in ("alpha", "beta", "gamma")]
    person.hear("Waiting for 3 answers")
    same(person.press(asked[1], "Deny")[0], "Denied.")
    same(person.press(asked[0], "Allow")[0], "Allowed.")
    same(person.press(asked[2], "Allow")[0], "Allowed.")
    for message, word in zip(asked, ("alpha", "beta", "gamma")):
        end = person.hear(f"\n{word}\n[^✋]*→ ")
        same(end["buttons"], [], word)
        assert ("Denied by" if word == "beta" else "Allowed by") in end["text"], end["text"]
        same(end["id"], message["id"])
    person.hear('"behavior":"allow".*"behavior":"deny".*"behavior":"allow"')


def single(fake, host):
    """a question: an option is chosen by a press"""
    person = Person(fake)
    message = person.is_asked("single")
    same(message["buttons"], [["Red"], ["Green"], ["Blue"], ["Decline"]])
    same(person.press(message, "Green"), ("Answered.", False))
    person.sees_end(message, f"Answered by {person.name()}")
    assert "→ Green" in person.seen("→ Answered")["text"]
    person.hear('"Which colour\\?":"Green"')


def two(fake, host):
    """several questions are asked one after the other, and several answers to one are ticked"""
    person = Person(fake)
    message = person.is_asked("two", "Question 1 of 2")
    same(person.press(message, "Blue"), ("", False))
    message = person.hear("Question 2 of 2")
    same(person.press(message, "Done"), ("Select at least one option, or reply to the message.", True))
    person.press(message, "☐ Red")
    ticked = await_(lambda: (m := person.seen("Question 2")) and "☑ Red" in str(m) and m, "the tick")
    person.press(ticked, "☐ Green")
    await_(lambda: "☑ Green" in str(person.seen("Question 2")), "the second tick")
    same(person.press(message, "Done"), ("Answered.", False))
    person.sees_end(message, f"Answered by {person.name()}")
    told = person.hear('"behavior":"allow"')["text"]
    assert "Blue" in told and "Red" in told and "Green" in told, told


def words(fake, host):
    """a question without options is answered by a reply with any text"""
    person = Person(fake)
    message = person.is_asked("text")
    same(message["buttons"], [["Decline"]])
    person.say('a "name" \\ 😀', reply_to=message["id"])
    person.sees_end(message, f"Answered by {person.name()}")
    person.hear("What name.*😀")


def who(fake, host):
    """R21: a stranger, and a user without the role, have no effect and are told so"""
    person = Person(fake, next(GROUPS))
    fake.control("chat", {"id": person.chat, "type": "supergroup"})
    message = person.is_asked("run=ls")
    for user in (STRANGER, LISTED):
        same(person.press(message, "Allow", user), ("You are not allowed to answer this request.", True), user)
        fake.control("message", {"from": user, "chat": person.chat, "text": "yes",
                                 "reply_to": message["id"]})  # fmt: skip
    person.hear("^You are not allowed to answer this request.$")
    said = [m for m in messages(fake, str(person.chat)) if "not allowed to answer" in m["text"]]
    same(len(said), 1, "only the listed user is told under a reply")
    same(person.seen("^✋ ")["buttons"], message["buttons"], "the buttons")
    person.press(message, "Deny")
    person.sees_end(message, f"Denied by {person.name()}")


def forged(fake, host):
    """R21: forged data, and data of another chat, have no effect"""
    person, other = Person(fake), Person(fake)
    message, there = person.is_asked("run=alpha, run=beta"), other.is_asked("run=ls")
    mine = data_of(fake, message, person.chat)[0]
    ticket = mine.split(":")[1]
    guessed = mine.replace(ticket, ticket[:-1] + ("1" if ticket[-1] == "0" else "0"))
    assert all(len(d.encode()) <= 64 for d in data_of(fake, message, person.chat))
    force = {"force": True}
    for data in ("rm -rf /", guessed, mine[:-6] + "00:allow", mine + ":allow", "b" + mine[1:]):
        told = person.press(message, data=data, **force)[0]
        assert told in ("This button is no longer valid.", OVER), (data, told)
    same(other.press(there, data=mine, **force), ("This button is no longer valid.", True), "from another chat")
    same(person.press(message, data=mine[:-5] + "answer", **force)[1], True, "no choice of it")
    same(person.seen("^✋ ")["buttons"], message["buttons"])
    same(other.seen("^✋ ")["buttons"], there["buttons"])
    same(person.press(message, "Allow", inaccessible=True)[0], "Allowed.")
    other.press(there, "Deny")
    other.hear('"behavior":"deny"')
    second = person.hear("^✋ [^→]*\nbeta\n")
    told = person.press(message, data=mine, **force)
    same(told, (f"Already allowed by {person.name()}.", True), "an earlier press")
    same(person.seen("\nbeta\n")["buttons"], message["buttons"])
    same(person.press(second, "Deny"), ("Denied.", False))
    person.hear('"behavior":"allow".*"behavior":"deny"')
    same(person.press(message, data=mine, **force), (OVER, True), "a press after the end of the turn")


def race(fake, host):
    """of two concurrent presses one counts, and the other is told"""
    for _ in range(5):
        person = Person(fake, next(GROUPS))
        other = Person(fake, person.chat)
        fake.control("chat", {"id": person.chat, "type": "supergroup"})
        message = person.is_asked("run=ls")
        with ThreadPoolExecutor(2) as pool:
            first = pool.submit(person.press, message, "Allow")
            second = pool.submit(other.press, message, "Deny")
            told = {person: first.result(), other: second.result()}
        won = person if told[person][0] == "Allowed." else other
        lost = other if won is person else person
        verb = ("Allowed", "allow") if won is person else ("Denied", "deny")
        same(told[won], (f"{verb[0]}.", False))
        same(told[lost][1], True, "the late press must be confirmed")
        assert told[lost][0] in (f"Already {verb[0].lower()} by {won.name()}.", OVER), told
        person.sees_end(message, f"{verb[0]} by {won.name()}")
        person.hear(f'"behavior":"{verb[1]}"')


def late(fake, host):
    """R21: a late reply is told so, and is not passed to the agent"""
    person = Person(fake)
    message = person.is_asked("run=ls")
    person.press(message, "Allow")
    person.hear('"behavior":"allow"')
    person.sees_end(message, f"Allowed by {person.name()}")
    reply = person.say("run=pwd", reply_to=message["id"])
    said = person.hear(re.escape(OVER))
    same(said["reply_to"], reply)
    person.say("run=whoami")
    person.hear("whoami")
    assert not person.seen("pwd"), "the agent was told"


def stop(fake, host):
    """R19: a reply with stop stops the turn, and closes its open request"""
    person = Person(fake)
    message = person.is_asked("run=ls")
    person.say("/stop", reply_to=message["id"])
    person.hear("^Stopped.$")
    end = await_(lambda: (m := person.seen("^✋ ")) and not m["buttons"] and m, "the end of it")
    assert "→ Cancelled: the turn has ended" in end["text"], end["text"]


CASES = [several, two, race, who, forged, late, approve, deny, single, words, stop]


# ---- deaths, and the clock


def process_of(host, instance):
    for task in pathlib.Path(f"/proc/{host.process.pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            if pathlib.Path(f"/proc/{child}/comm").read_text().strip() == instance:
                return int(child)
    raise AssertionError(f"no process of {instance}")


def instance_is_killed(fake, host):
    """R26: a request that is open when the process of the instance is killed can be decided afterwards"""
    decided_behind(fake, lambda: os.kill(process_of(host, "tg"), signal.SIGKILL))


def instance_is_replaced(fake, host):
    """R26: a request that is open when the instance is replaced can be decided afterwards"""
    decided_behind(fake, lambda: same(host.run("restart", "tg")[0], 0, "the restart"))


def decided_behind(fake, death):
    person, other = Person(fake), Person(fake)
    message, question = person.is_asked("run=ls"), other.is_asked("two", "Question 1 of 2")
    death()
    same(person.press(message, "Allow"), ("Allowed.", False))
    person.sees_end(message, f"Allowed by {person.name()}")
    person.hear('"behavior":"allow"')
    other.press(question, "Green")
    second = other.hear("Question 2 of 2")
    other.say("all of them", reply_to=second["id"])
    other.sees_end(question, f"Answered by {other.name()}")
    assert "all of them" in other.hear('"behavior":"allow"')["text"]


def host_dies(fake, host):
    """R26: after a kill of the host the buttons are removed, and a late press is told so"""
    person = Person(fake)
    message = person.is_asked("run=ls")
    data = data_of(fake, message, person.chat)[0]
    await_(lambda: not ledger.requests(host), "the host has stored where the request is shown")
    host.kill()
    host.start()
    person.sees_end(message, "Cancelled: the turn has ended")
    person.hear("^⚠ ")
    same(person.press(message, data=data, force=True), (OVER, True))
    person.say("no", reply_to=message["id"])
    person.hear(f"^{re.escape(OVER)}$")
    same(len([m for m in messages(fake, str(person.chat)) if "⚠" in m["text"]]), 1, "outcomes")


def expires(fake, host):
    """a request without an answer in time is refused, with a notice"""
    person = Person(fake)
    message = person.is_asked("run=ls")
    data = data_of(fake, message, person.chat)[0]
    person.sees_end(message, "Denied: no answer within 3 s")
    person.hear('"behavior":"deny"')
    same(person.press(message, data=data, force=True), (OVER, True))


def is_alive(host):
    try:
        os.kill(int((host.folder / "pid").read_text()), 0)
        return True
    except ProcessLookupError:
        return False


def stops_slowly(fake, host):
    """R19: the turn is shown as stopping until its agent has exited, then as stopped"""
    person = Person(fake)
    person.is_asked("stubborn run=ls")
    shown = person.hear("Waiting for an answer")
    assert is_alive(host)
    same(person.press(shown, "⏹ Stop")[0], "Stopping the running turn.")
    assert not person.seen("^Stopped.$") or not is_alive(host), "told before it is so"
    person.hear("^Stopped.$")
    assert not is_alive(host), "the agent lives"
    person.hear("(?s)^✋ .*→ Cancelled: the turn has ended")


def elsewhere(fake, host):
    """a rule sends a request to a topic; the chat of the turn shows only that the turn waits"""
    person, judge = Person(fake), Person(fake, COUNCIL)
    fake.control("message", {"from": judge.id, "chat": COUNCIL, "text": "hi", "thread": 7})
    person.say("run=make")
    person.hear("Waiting for an answer")
    asked = await_(lambda: len(found := messages(fake, str(COUNCIL))) == 2 and found, "both")
    same(sorted(m["thread"] or 0 for m in asked), [0, 7], "the topics")
    assert f"asker in tg:{person.chat}" in asked[0]["text"], asked[0]["text"]
    mine = data_of(fake, asked[0], COUNCIL)[0]
    shown = person.seen("Waiting for")
    same(person.press(shown, data=mine, force=True), ("This button is no longer valid.", True), "not from here")
    same(judge.press(asked[0], "Allow"), ("Allowed.", False))
    words = f"Allowed by {judge.name()}"
    await_(lambda: all(words in m["text"] for m in messages(fake, str(COUNCIL))), "in both places")
    same([m["buttons"] for m in messages(fake, str(COUNCIL))], [[], []], "buttons")
    person.hear('"behavior":"allow"')
    assert not person.seen("^✋ "), "it was asked where it began"


def ruled(fake, host):
    """a request that a rule decides is not shown"""
    person = Person(fake)
    person.say("run=no")
    person.hear('"behavior":"deny"')
    same(len(messages(fake, str(person.chat))), 1, "what was said")


def with_host(cases, *rules, at_once=1, **more):
    with Fake("telegram") as fake:
        with host_of(fake, **more) as host:
            fake.wait(30, polling=1)
            run(cases, fake, host, at_once=at_once)
            broken = [v for v in fake.violations() if v["rule"] not in rules]
            equal(broken, [], "a strict service rejected no request")


def main():
    with_host(CASES, at_once=4)
    with_host([instance_is_killed, instance_is_replaced, host_dies])
    with_host([expires], wait_s=3)
    with_host([ruled, elsewhere], rules=RULES)
    with_host([stops_slowly], agent="slow")
    done()


main()
