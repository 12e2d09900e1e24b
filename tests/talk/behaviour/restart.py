# SPDX-License-Identifier: MIT
"""Restarts of the host or of the connector in different states. Cases of the behaviour suite; each runs alone
on its host."""
import contextlib
import os
import pathlib
import re
import signal

from asks import card_of, decided, told
from cases import await_, same
from place import MARKED, needs


def every_state(place):
    """R26: the host is killed with turns in every state: each ends once, and waiting messages are answered"""
    quiet, shown, arrived, lost, created = (place.person() for _ in range(5))
    begun = quiet.ask("gated")
    seen = shown.ask("tools=1 gated")
    shown.progress("Looking at part 1")
    waits = shown.ask("waits")
    place.sees_wait(shown, waits)
    arrived.fault("post", "hold", text="^Answer", done=True)
    lost.fault("post", "hold", text="^Answer", done=False)
    created.fault("post", "hold", text="Looking at part 1", done=True)
    on_wire = [person.ask() for person in (arrived, lost)]
    progress = created.ask("tools=1 gated")
    for person in (arrived, lost, created):
        person.waits_for("post", stage="arrived")
    place.ready()
    place.restart()
    place.fake.control("clear")
    for person, question in ((quiet, begun), (shown, seen), (created, progress)):
        assert person.answer(question)["text"].startswith("⚠ This turn was interrupted"), person.screen()
    shown.answer(waits)
    for person, question in zip((arrived, lost), on_wire):
        person.answer(question)
        person.answer(person.ask())
        marks = [MARKED in m["text"] for m in person.outcomes(question)]
        assert len(marks) == 1 or (place.UNSURE and sorted(marks) == [False, True]), marks
    for person in (quiet, shown, *([] if place.UNSURE else [created])):
        person.sees_no_progress()


def connector_dies(place):
    """R26: the connector process is killed: turns continue with the same progress message, and end once"""
    quiet, shown, arrived = (place.person() for _ in range(3))
    begun = quiet.ask("gated")
    seen = shown.ask("tools=2 gated")
    first = shown.progress("Looking at part 1")
    arrived.fault("post", "hold", text="^Answer", done=True)
    on_wire = arrived.ask()
    arrived.waits_for("post", stage="arrived")
    kill_connector(place)
    place.fake.control("clear")
    place.host.let_go(seen.id)
    same(shown.progress("Looking at part 2")["id"], first["id"], "the progress message")
    place.host.let_go(seen.id)
    place.host.let_go(begun.id)
    for person, question in ((quiet, begun), (shown, seen), (arrived, on_wire)):
        person.answer(question)
        person.answer(person.ask())
        same(len(person.outcomes(question)), 1, "answers")
        person.sees_no_progress()


def kill_connector(place):
    """Waits until the poll of the killed connector, which the host still has, is replaced."""
    place.expected.add("two-pollers")
    os.kill(process_of(place.host, place.INSTANCE), signal.SIGKILL)


def process_of(host, instance):
    for task in pathlib.Path(f"/proc/{host.process.pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            if pathlib.Path(f"/proc/{child}/comm").read_text().strip() == instance:
                return int(child)
    raise AssertionError(f"no process of {instance}")


def token(place):
    """B2: a refused token is reported once, the instance waits, and with a valid token all answers arrive"""
    person = place.person()
    question = person.ask("tools=1 gated")
    person.progress("Looking at part 1")
    place.expected.add("bad-token")
    place.token(False)
    place.host.let_go(question.id)
    await_(lambda: "refuses the credentials" in place.host.log(), "the word about it")
    status, words = place.host.run("status")
    assert re.search(rf"(?m)^{place.INSTANCE} +\w+ +fails", words), words
    place.token(True)
    same(place.host.run("restart", place.INSTANCE)[0], 0, "the restart")
    person.answer(question)
    person.answer(person.ask())
    same(len(person.outcomes(question)), 1, "answers")
    same(place.host.log().count("refuses the credentials"), 1, "words about it")
    same(place.host.leaks(), [], "R23: files with a secret")


@needs("threads")
def thread_goes_on(place):
    """B7, R29: a message in a thread that began before a restart needs no mention of the bot"""
    person = place.person()
    place.join_group(person)
    root = person.say("a beginning")
    person.answer(person.ask(thread=root, mention=True))
    place.ready()
    place.restart()
    person.answer(person.ask(thread=root))
    alone = person.ask("alone")
    place.asked.remove(alone)
    person.answer(person.ask(thread=root))
    same(person.outcomes(alone), [], "answers to what was not for the bot")


CASES = [every_state, connector_dies, thread_goes_on]


def open_card(place):
    """R26: the host is killed while a card is open: the card is closed, and a late decision has no effect"""
    person = place.person()
    card = card_of(person, "run=ls")
    place.settled()
    place.restart()
    decided(person, card, "Cancelled: the turn has ended")
    person.hear("^⚠ ")
    place.ready()
    person.say("run=pwd")
    second = person.hear("(?s)Approval needed.*pwd")
    person.decide(second, False)
    told(person, "behavior.*deny")
    same(len(person.seen("⚠")), 1, "outcomes of the first turn")


def decide_again_if_lost(person, card):
    """Presses a button. A service passes the press to the open connection; if the connection ends just then,
    nothing happens in the chat, and users press again."""
    for _ in range(2):
        person.decide(card, True)
        with contextlib.suppress(AssertionError):
            decided(person, card, "Allowed by", 10)
            return


def open_card_of_connector(place):
    """R26: the connector process is killed while a card is open: the card can be decided afterwards"""
    person = place.person()
    card = card_of(person, "run=ls")
    place.settled()
    kill_connector(place)
    decide_again_if_lost(person, card)
    decided(person, card, "Allowed by")
    told(person, "behavior.*allow")


ASKED = [open_card_of_connector, open_card]
