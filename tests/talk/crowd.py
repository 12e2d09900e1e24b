# SPDX-License-Identifier: MIT
"""Many conversations at once through one instance: the pace is kept as the service sees
it, and no answer waits for more than its place in the pace.

An answer's place: its chat may have been written to just before, so one slot of the chat; and
one slot of the account for each answer that goes out while it waits. Nothing else goes before it."""
import functools
import json
import re
import time
from dataclasses import dataclass

from people import DiscordPeople, MatrixPeople, SlackPeople, TeamsPeople, TelegramPeople, outcomes
from talk import LONG, SANITIZED, Fake, Host, crowding, discord, done, equal, listening, matrix, note, ok, slack, teams, telegram, until, written


@dataclass(frozen=True)
class Service:
    crowd: type
    instance: object  # function of talk.py
    # Two hundred agents that start at one moment under a sanitizer leave a connector no core for
    # seconds, and it counts as hung.
    people: int
    chat_slot: float
    account_slot: float
    post: str  # method in the record
    pace: dict  # of the fake
    tools: str  # words of those who ask at one moment
    ready: str = "polling"  # what the fake can wait for


SERVICES = {
    "telegram": Service(TelegramPeople, telegram, 50 if SANITIZED else 200, 1.1, 1 / 25,
                        "sendMessage", {}, "tools=5 ms=2000"),
    # Messages are limited per channel; the edits of all channels share a limit, and delay no message.
    "slack": Service(SlackPeople, functools.partial(slack, stream=False), 50 if SANITIZED else 200, 1.0, 0,
                     "chat.postMessage", {}, "tools=5 ms=2000", "sockets"),
    # An account may send ten messages in a second, edits and reactions included.
    "matrix": Service(MatrixPeople, matrix, 200 if LONG else 40, 0, 1 / 10, "send",
                      {"send": [10, 10], "join": [100, 100]}, "tools=3 ms=2000"),
    # Each conversation has limits, and an answer may follow on progress within them.
    "teams": Service(TeamsPeople, functools.partial(teams, stream=False), 200 if LONG else 40, 2.0, 1 / 18, "post",
                     {}, "tools=3 ms=2000", "taken"),
    # Each channel has limits of its own, and replies tell them; the bot sends 35 requests in a second.
    "discord": Service(DiscordPeople, discord, 200 if LONG else 40, 1.0, 1 / 35, "post", {}, "tools=3 ms=2000",
                       "sockets"),
}  # fmt: skip
# The host decides when a request is due, and a busy machine lets it write the request later than that. If the first
# requests of a burst are later than those behind them, the service sees more than the pace: as much as is due in
# this time, for each that wants a core.
LATE = 0.1
LOAD = 1.5  # a busy machine is late for each slot, and what it is late is lost
MARGIN = 1.0  # by who has a core to run on
ANSWER = re.compile(r"(?s)\A(?!.*⏱)Answer ([a-z]\d+) of ")


def clock_of(fake):
    """When the fake's clock began, by the clock of the machine."""
    told = fake.control("clear")["t"]
    return time.time() - told


def finals(host):
    """When the host had the final event of each answer."""
    events = (json.loads(line) for line in written(host.events))
    texts = ((event, event["payload"]["text"]) for event in events if event["type"] == "final")
    return {ANSWER.match(text).group(1): event["ts"] for event, text in texts}


def sent(service, fake, began):
    """When the fake had it."""
    found = {}
    for call in fake.record():
        match = call.get("method") == service.post and call["status"] in (200, 201) and ANSWER.match(call["text"] or "")
        if match:
            found[match.group(1)] = began + call["t"]
    return found


def in_its_place(service, host, fake, began, asked, margin, what):
    had, came = finals(host), sent(service, fake, began)
    ids = [q.id for q in asked]
    waits = sorted(came[i] - had[i] for i in ids)
    over = []
    for i in ids:
        meanwhile = sum(had[i] < came[other] <= came[i] for other in ids)
        over.append(came[i] - had[i] - service.chat_slot - meanwhile * service.account_slot * LOAD)
    shown = ", ".join(f"{waits[int((len(waits) - 1) * q)]:.2f}" for q in (0, 0.5, 0.9, 0.99, 1))
    note(f"{what}: answers waited {shown} s (least, half, 90 %, 99 %, all);")
    note(f"the one worst placed went {-max(over):.2f} s before its time was over")
    ok(max(over) <= margin, f"R6: {what}, every final is within its pacing slot", max(over))


def round_of(crowd, letter, people, words):
    asked = [crowd.ask(who, f"{letter}{who}", words(who)) for who in range(people)]
    until(lambda: all(outcomes(crowd, q) for q in asked), "all answers arrive", 300)
    equal([len(outcomes(crowd, q)) for q in asked], [1] * people, "each once")
    return asked


def main(name):
    service = SERVICES[name]
    people = service.people
    with Fake(name) as fake:
        if service.pace:
            fake.control("pace", {name: [*rate, LATE * crowding()] if name == "send" else rate
                                  for name, rate in service.pace.items()})
        crowd = service.crowd(fake, people)
        limits = f"conversations : {{ max_turns = {people}; }};\n" + (listening(fake) if name == "teams" else "")
        with Host(service.instance(fake, allow=crowd.ids), events=True, extra=limits) as host:
            fake.wait(**{service.ready: 1})
            began = clock_of(fake)
            together = round_of(crowd, "c", people, lambda who: service.tools)
            # Ten answers a second, while the others' progress could fill the account's pace.
            apart = round_of(crowd, "s", people // 2, lambda who: f"tools=4 ms={500 + 25 * who}")
            equal(fake.violations(), [], "R4: the rate limit was never exceeded")
            note(f"host: {host.cpu_seconds():.2f} s CPU, {host.memory_kib()} KiB at most")
            equal(host.stop(), 0, "the host exits with status 0")
            ok("error" not in host.log(), "without a complaint", host.log())
            margin = MARGIN * crowding()
            note(f"the margin is {margin:.1f} s here")
            in_its_place(service, host, fake, began, together, margin, "all answers at one moment")
            in_its_place(service, host, fake, began, apart, margin, "answers one after another")
    done()
