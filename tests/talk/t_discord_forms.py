# SPDX-License-Identifier: MIT
"""Questions that need text are asked in Discord by a form; presses, forms and commands may arrive as signed
requests to the host. Cases run in both ways unless they name one."""
import itertools
import json
import pathlib
import re
import socket
import sys

from cases import await_, run, same
from deaths import DISCORD_PACE
from people import messages
from talk import BUILD, Fake, Host, discord, done, equal

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "fake"))
from discord_endpoint import PUBLIC_KEY  # noqa: E402

ASKER = json.dumps([str(BUILD / "tests" / "fake" / "asker")])
AGENTS = f"asker : {{ command = {ASKER}; exit_grace_s = 1; term_grace_s = 1; attempts = 1; }};"
PEOPLE = [str(100000000000002000 + n) for n in range(20)]
WRONG = (
    ({"signature": "0" * 128}, 401),
    ({"signature": "none"}, 401),
    ({"unsigned": True}, 401),
    ({"age": 400}, 401),
    ({"age": -400}, 401),
    ({"time": "soon"}, 401),
    ({"blanks": 1 << 20}, 413),
)


class Person:
    _numbers = itertools.count()

    def __init__(self, fake, host):
        self.fake, self.host = fake, host
        self.id = PEOPLE[next(self._numbers)]
        self.chat = str(int(self.id) + 400000000000000000)
        fake.control("user", {"id": self.id, "name": "p"})
        fake.control("channel", {"id": self.chat, "type": "dm", "user": self.id})

    def say(self, text):
        self.fake.control("message", {"user": self.id, "channel": self.chat, "text": text})

    def hear(self, pattern):
        found = await_(lambda: [m for m in messages(self.fake, self.chat) if re.search(pattern, m["text"])], pattern)
        return found[-1]

    def press(self, card, label, **more):
        body = {"user": self.id, "channel": self.chat, "id": card["id"], "label": label}
        return self.fake.control("press", {**body, **more})

    def open(self, card):
        """Opens the form of the button."""
        press = self.press(card, "Answer")["interaction"]
        return press, await_(lambda: self.fake.state()["modals"].get(press), "the form")

    def fill_in(self, press, values):
        return self.fake.control("submit", {"interaction": press, "values": values})

    def told(self, text):
        """Waits for a message that only this user sees."""
        await_(lambda: [m for m in self.fake.state(chat=self.chat)["chats"][self.chat]["messages"]
                        if m["only_for"] == self.id and re.search(text, m["text"])], text)  # fmt: skip


def words(fake, host):
    """a question without options is asked by a form, and the card shows the written text"""
    person = Person(fake, host)
    person.say("text")
    card = person.hear("What name")
    press, form = person.open(card)
    same([c["component"]["type"] for c in form["components"]], [4], "inputs")
    person.fill_in(press, {"w0": "Jo of the form"})
    person.hear("behavior.*allow.*Jo of the form")
    same(person.hear("What name")["buttons"], [], "the card is closed")


def several(fake, host):
    """two questions are one form; written text replaces or supplements the chosen option"""
    person = Person(fake, host)
    person.say("two")
    card = person.hear("Question")
    press, form = person.open(card)
    same([c["component"]["type"] for c in form["components"]], [3, 4, 3, 4], "inputs")
    person.fill_in(press, {"p0": ["Red"], "w0": "Violet", "p1": ["Red", "Blue"], "w1": "Grey"})
    text = person.hear("behavior.*allow")["text"]
    assert "Violet" in text and "Red, Blue, Grey" in text, text


def empty(fake, host):
    """R21: an empty form decides nothing, and its user is told; it can be opened again"""
    person = Person(fake, host)
    person.say("multi")
    card = person.hear("Question")
    press, _ = person.open(card)
    person.fill_in(press, {})
    person.told("Please answer every question first")
    press, _ = person.open(card)
    person.fill_in(press, {"p0": ["Blue"]})
    person.hear("behavior.*allow.*Blue")


def single(fake, host):
    """an option of a single question is chosen by a press, without a form"""
    person = Person(fake, host)
    person.say("single")
    press = person.press(person.hear("Which colour"), "Green")["interaction"]
    person.hear("behavior.*allow.*Green")
    assert press not in fake.state()["modals"], "a form"


def too_late(fake, host):
    """R21: a form submitted after the end of the question has no effect"""
    person = Person(fake, host)
    person.say("text")
    press, _ = person.open(person.hear("What name"))
    person.fill_in(press, {"w0": "First"})
    person.hear("behavior.*allow.*First")
    person.fill_in(press, {"w0": "Second"})
    person.told("[Aa]lready")
    same(len([m for m in messages(fake, person.chat) if "behavior" in m["text"]]), 1, "answers")


def restarted(fake, host):
    """R17: the connector is restarted while a question is open and while a form is filled in"""
    person = Person(fake, host)
    person.say("two")
    card = person.hear("Question")
    same(host.run("restart", "dc")[0], 0, "the restart")
    fake.wait(sockets=1)
    press, form = person.open(card)
    same(form["components"][0]["label"], "Colour", "its label")
    same(host.run("restart", "dc")[0], 0, "the restart")
    fake.wait(sockets=1)
    person.fill_in(press, {"p0": ["Green"], "p1": ["Red"]})
    text = person.hear("behavior.*allow")["text"]
    assert "Green" in text and "Red" in text, text


def approved(fake, host):
    """R19: a press and a slash command have their effect"""
    person = Person(fake, host)
    person.say("run=make all")
    person.press(person.hear("Approval needed"), "Allow")
    person.hear("behavior.*allow")
    fake.control("command", {"user": person.id, "channel": person.chat, "name": "stop"})
    # The agent may take a moment to exit after its answer.
    person.hear("Nothing is running|Stopping the running turn")


def refused(fake, host):
    """R21: requests with a wrong, old or missing signature, and too long ones, are refused and have no effect"""
    person = Person(fake, host)
    person.say("run=ls")
    card = person.hear("Approval needed")
    for how, status in WRONG:
        same(person.press(card, "Allow", how=how)["status"], status, how)
    assert person.hear("Approval needed")["buttons"], "the card is open"
    same(person.press(card, "Deny")["status"], 200, "a request with a valid signature")
    person.hear("behavior.*deny")


CASES = [words, several, empty, single, too_late, approved]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def by_both(cases, extra="", path=None, **options):
    with Fake("discord") as fake:
        fake.control("pace", DISCORD_PACE)
        # What is pressed on this machine under load is not late.
        fake.control("options", {"ack_time": 30})
        instance = discord(fake, allow=PEOPLE, agent="asker", **options)
        with Host(instance, agents=AGENTS, extra=f"conversations : {{ max_turns = 64; debounce_ms = 0; }};\n{extra}") as host:
            fake.wait(sockets=1)
            if path:
                equal(fake.control("endpoint", {"url": path})["status"], 200, "R21: Discord verifies the endpoint")
            run(cases, fake, host)
            run([restarted], fake, host)
            equal(host.stop(), 0, "the host exits with status 0")
            equal(fake.violations(), [], "a strict service rejected no request")


def main():
    by_both(CASES)
    port = free_port()
    by_both(
        [*CASES, refused],
        f'http : {{ listen = "127.0.0.1:{port}"; }};',
        f"http://127.0.0.1:{port}/hooks/dc/interactions",
        public_key=PUBLIC_KEY,
    )
    done()


main()
