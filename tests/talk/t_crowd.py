# SPDX-License-Identifier: MIT
"""Two hundred conversations at once through one instance: the pace is kept as the service sees
it, and no answer waits for more than its place in the pace.

An answer's place: its chat may have been written to just before, so one slot of the chat; and
one slot of the account for each answer that goes out while it waits. Nothing else goes before it."""
import json
import re
import time

from people import TelegramPeople, outcomes
from talk import SANITIZED, Fake, Host, crowding, done, equal, note, ok, telegram, until, written

# Two hundred agents that start at one moment under a sanitizer leave a connector no core for
# seconds, and it counts as hung.
PEOPLE = 50 if SANITIZED else 200
CHAT_SLOT = 1.1
ACCOUNT_SLOT = 1 / 25
LOAD = 1.5  # a busy machine is late for each slot, and what it is late is lost
MARGIN = 1.0  # by who has a core to run on
ANSWER = re.compile(r"(?s)\A(?!.*⏱)Answer ([a-z]\d+) of ")


def clock_of(fake):
    """When the fake's clock began, by the clock of the machine."""
    before = len(fake.record())
    fake.control("message", {"from": 1, "text": "a stranger"})
    now = time.time()
    return now - fake.record()[before]["t"]


def finals(host):
    """When the host had the final event of each answer."""
    events = (json.loads(line) for line in written(host.events))
    texts = ((event, event["payload"]["text"]) for event in events if event["type"] == "final")
    return {ANSWER.match(text).group(1): event["ts"] for event, text in texts}


def sent(fake, began):
    """When the fake had it."""
    found = {}
    for call in fake.record():
        match = call.get("method") == "sendMessage" and ANSWER.match(call["text"])
        if match:
            found[match.group(1)] = began + call["t"]
    return found


def in_its_place(host, fake, began, asked, margin, what):
    had, came = finals(host), sent(fake, began)
    ids = [q.id for q in asked]
    waits = sorted(came[i] - had[i] for i in ids)
    over = []
    for i in ids:
        meanwhile = sum(had[i] < came[other] <= came[i] for other in ids)
        over.append(came[i] - had[i] - CHAT_SLOT - meanwhile * ACCOUNT_SLOT * LOAD)
    shown = ", ".join(f"{waits[int((len(waits) - 1) * q)]:.2f}" for q in (0, 0.5, 0.9, 0.99, 1))
    note(f"{what}: answers waited {shown} s (least, half, 90 %, 99 %, all);")
    note(f"the one worst placed went {-max(over):.2f} s before its time was over")
    ok(max(over) <= margin, f"R6: {what}, every final is within its pacing slot", max(over))


def round_of(crowd, letter, people, words):
    asked = [crowd.ask(who, f"{letter}{who}", words(who)) for who in range(people)]
    until(lambda: all(outcomes(crowd, q) for q in asked), "all answers arrive", 300)
    equal([len(outcomes(crowd, q)) for q in asked], [1] * people, "each once")
    return asked


def main():
    with Fake("telegram") as fake:
        crowd = TelegramPeople(fake, PEOPLE)
        limits = f"conversations : {{ max_turns = {PEOPLE}; }};"
        with Host(telegram(fake, allow=crowd.ids), events=True, extra=limits) as host:
            fake.wait(polling=1)
            began = clock_of(fake)
            together = round_of(crowd, "c", PEOPLE, lambda who: "tools=5 ms=2000")
            # Ten answers a second, while the others' progress could fill the account's pace.
            apart = round_of(crowd, "s", PEOPLE // 2, lambda who: f"tools=4 ms={500 + 25 * who}")
            equal(fake.violations(), [], "R4: the pace was never exceeded")
            note(f"host: {host.cpu_seconds():.2f} s CPU, {host.memory_kib()} KiB at most")
            equal(host.stop(), 0, "the host ends well")
            ok("error" not in host.log(), "without a complaint", host.log())
            margin = MARGIN * crowding()
            note(f"the margin is {margin:.1f} s here")
            in_its_place(host, fake, began, together, margin, "all answers at one moment")
            in_its_place(host, fake, began, apart, margin, "answers one after another")
    done()


main()
