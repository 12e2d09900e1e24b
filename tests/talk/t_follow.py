# SPDX-License-Identifier: MIT
"""Agents that work on behind their answer, in a chat: the answer comes at once, what comes of the work
is a message of its own, once, whatever becomes of the host; and an agent whose process waits takes the
next message."""
import random
import time

from people import messages
from talk import Fake, Host, done, equal, note, ok, rounds, telegram, until

PEOPLE = list(range(1000, 1006))
AGENT = 'keep_alive_s = 60; background = "follow";'
EXTRA = "conversations : { max_turns = 8; max_warm = 4; debounce_ms = 0; };"
KILLS = rounds(12)


class Chat:
    def __init__(self, fake, person):
        self.fake, self.person = fake, person

    def say(self, text):
        self.fake.control("message", {"from": self.person, "chat": self.person, "text": text})

    def texts(self, part):
        return [m["text"] for m in messages(self.fake, str(self.person)) if part in m["text"]]

    def hear(self, part):
        return until(lambda: self.texts(part), f"{part!r} in the chat of {self.person}")


def waiting(host):
    return '"waiting_agents":1' in host.run("status", "--json")[1].replace(" ", "")


def session_of(text):
    return text.split(" of ")[1].split(":")[0].rstrip(".")


def follow(fake, host):
    chat = Chat(fake, PEOPLE[0])
    chat.say("behind id=a1")
    first = chat.hear("Answer a1")
    equal(chat.texts("Later"), [], "the answer comes while the work goes on")
    chat.say("id=a2")
    second = chat.hear("Answer a2")
    host.let_go("a1.behind")
    later = chat.hear("Later a1")
    chat.say("id=a3")
    third = chat.hear("Answer a3")
    told = {session_of(texts[0]) for texts in (first, second, later, third)}
    equal(len(told), 1, f"one session for all: {told}")
    for part in "Answer a1", "Answer a2", "Later a1", "Answer a3":
        equal(len(chat.texts(part)), 1, f"{part}, once")
    ok(until(lambda: waiting(host), "one agent waits"), "one agent waits")
    ok("session" not in host.log(), "no session was lost")


def silent(fake, host):
    """A turn that has nothing to say says that."""
    chat = Chat(fake, PEOPLE[1])
    chat.say("behind-silently id=b1")
    chat.hear("Answer b1")
    host.let_go("b1.behind")
    chat.hear("The work in the background has ended. There is nothing to add.")
    chat.say("id=b2")
    chat.hear("Answer b2")
    equal(len(chat.texts("has ended")), 1, "once")


def stop(fake, host):
    chat = Chat(fake, PEOPLE[2])
    chat.say("behind id=c1")
    chat.hear("Answer c1")
    chat.say("/stop")
    chat.hear("Stopping the work in the background.")
    host.let_go("c1.behind")
    chat.say("id=c2")
    chat.hear("Answer c2")
    equal(chat.texts("Later"), [], "what was stopped is not told")


def wait_for(condition, seconds):
    """Until it holds, or for so long: it need not come."""
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)


def deaths(fake, host):
    """The host is killed at any time: what was admitted has one outcome, nothing comes twice."""
    chance = random.Random(17)
    chats = [Chat(fake, person) for person in PEOPLE[3:]]
    asked = []
    for number in range(KILLS):
        for chat in chats:
            name = f"d{number}-{chat.person}"
            chat.say(f"behind id={name}")
            asked.append((chat, name))
            host.let_go(f"{name}.behind") if chance.random() < 0.7 else None
        moment = chance.choice(["asked", "answered", "later"])
        if moment != "asked":
            part = "Answer" if moment == "answered" else "Later"
            wait_for(lambda part=part: any(c.texts(f"{part} d{number}-") for c in chats), 5)
        host.kill()
        host.start()
    chats[0].say("id=end")
    chats[0].hear("Answer end")
    for chat, name in asked:
        ended = until(lambda c=chat, n=name: c.texts(f"Answer {n}") or c.texts("restarted"), name)
        ok(ended, f"{name} has an outcome")
    doubled = [name for chat, name in asked if len(chat.texts(f"Later {name}")) > 1]
    equal(doubled, [], "no turn of an agent is delivered twice")
    note(f"{KILLS} kills, {sum(len(c.texts('Later')) for c in chats)} turns of agents told")


def main():
    with Fake("telegram") as fake:
        with Host(telegram(fake, allow=PEOPLE), agent=AGENT, extra=EXTRA) as host:
            until(host.has_started, "the host starts")
            for case in follow, silent, stop, deaths:
                case(fake, host)
            equal(host.stop(), 0, "the host ends")
    done()


main()
