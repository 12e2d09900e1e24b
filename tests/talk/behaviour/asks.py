# SPDX-License-Identifier: MIT
"""Requests of an agent and decisions of users: cards in one chat and in two. Cases of the behaviour suite, with
the agent that asks."""
import json
import re

from cases import PATIENCE_S, await_, same
from place import needs

COUNCIL = (92, 93)  # people where a rule asks
CARD = "(Approval needed|Question)"


def card_of(person, words, pattern=CARD):
    person.say(words)
    return person.hear(pattern)


def decided(person, card, words, seconds=PATIENCE_S):
    """Waits until the message shows the decision and has no buttons."""
    def over():
        found = [m for m in person.screen() if m["id"] == card["id"]]
        return found and re.search(words, found[0]["text"]) and not found[0]["buttons"] and found[0]

    return await_(over, f"{words} in {person.screen()}", seconds)


def told(person, pattern):
    """The decision that the agent received, which is its answer."""
    return person.hear(pattern)["text"]


def approve(place):
    """an approval is given by a button or a reaction; the card names the user, and is closed"""
    person = place.person()
    card = card_of(person, "run=make all")
    assert "make all" in card["text"] and not card["silent"], card
    person.decide(card, True)
    decided(person, card, "Allowed by")
    told(person, "behavior.*allow")


def deny(place):
    """an approval is refused in the same way"""
    person = place.person()
    card = card_of(person, "run=rm -rf x")
    person.decide(card, False)
    decided(person, card, "Denied by")
    told(person, "behavior.*deny")


def reason(place):
    """a reply refuses with its text as the reason, and is not a prompt"""
    person = place.person()
    card = card_of(person, "run=rm -rf x")
    person.say("deny: not on a Friday", reply_to=card["id"])
    decided(person, card, "Denied by")
    assert "not on a Friday" in told(person, "behavior.*deny")
    same(len(person.seen("behavior")), 1, "turns")


def choose(place):
    """a question is answered by the name of an option"""
    person = place.person()
    card = card_of(person, "single", "Which colour")
    place.choose(person, card, ["Green"])
    decided(person, card, "Answered|Green")
    assert "Green" in told(person, "Which colour.*Green")


def several(place):
    """several options are chosen"""
    person = place.person()
    card = card_of(person, "multi", "Which colours fit")
    place.choose(person, card, ["Red", "Blue"])
    decided(person, card, "Answered|Red")
    text = told(person, "behavior.*allow")
    assert "Red, Blue" in text, text


def own_words(place):
    """a question without options is answered by a reply"""
    person = place.person()
    card = card_of(person, "text", "What name")
    person.say("answer: Jo", reply_to=card["id"])
    decided(person, card, "Answered|Jo")
    assert "Jo" in told(person, "behavior.*allow")


def by_operator(place):
    """a decision in a terminal is shown in the card, which is closed"""
    person = place.person()
    card = card_of(person, "run=to-the-terminal")
    status, listed = place.host.run("answer", "--json")
    assert status == 0, listed
    turn = next(r["turn"] for r in json.loads(listed)["requests"] if "to-the-terminal" in str(r["args"]))
    status, words = place.host.run("answer", "--turn", turn, "deny", "--reason", "from the terminal")
    same(status, 0, words)
    decided(person, card, "Denied by")
    told(person, "behavior.*deny")


def late(place):
    """R21: a decision that is late or repeated has no effect"""
    person = place.person()
    card = card_of(person, "run=ls")
    pressed = person.decide(card, True)
    decided(person, card, "Allowed by")
    told(person, "behavior.*allow")
    place.decide_again(person, card, pressed)
    person.say("run=pwd")
    second = person.hear("(?s)Approval needed.*pwd")
    assert "Allowed by" in next(m for m in person.screen() if m["id"] == card["id"])["text"]
    person.decide(second, False)
    told(person, "behavior.*deny")
    same(len(person.seen("behavior")), 2, "turns")


def with_stop(place):
    """R19: stopping a turn closes its open requests"""
    person = place.person()
    card = card_of(person, "run=ls")
    person.command("stop")
    decided(person, card, "Cancelled: the turn has ended")
    person.hear(r"\AStopped\.")


def rules(place):
    """The configuration of a rule that sends commands with the word both to two chats."""
    chats = ", ".join(f'"{place.INSTANCE}:{place.chat(place.user(n))}"' for n in COUNCIL)
    return f"""approvals = ({{ action = "ask"; tool = "Bash"; exact = "both"; to = [{chats}]; }});"""


def two_places(place):
    """a request in two chats that is decided in one is closed in both"""
    judges = [place.person(user=place.user(n)) for n in COUNCIL]
    person = place.person()
    person.say("run=both")
    cards = [judge.hear("(?s)Approval needed.*both") for judge in judges]
    judges[0].decide(cards[0], True)
    for judge, card in zip(judges, cards):
        decided(judge, card, "Allowed by")
    told(person, "behavior.*allow")
    same(person.seen("Approval needed"), [], "where it began")


CASES = [two_places, late, several, with_stop, by_operator, approve, deny, reason, choose, own_words]
