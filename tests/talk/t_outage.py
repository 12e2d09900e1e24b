# SPDX-License-Identifier: MIT
"""The service is away for what is an hour to it: afterwards each answer arrives once, in order,
and nothing else of the turns does."""
from people import TelegramPeople, outcomes
from talk import Fake, Host, done, equal, note, ok, telegram, until

SCALE = 0.005  # an hour lasts 18 s
PEOPLE = 5
TURNS = 3


def ask_all(crowd, host):
    """Each asks all its questions; the turns end while nobody can be told."""
    asked = []
    for number in range(1, TURNS + 1):
        for who in range(PEOPLE):
            asked.append(crowd.ask(who, f"o{who}-{number}", "tools=1 ms=100"))
    return asked


def main():
    with Fake("telegram", scale=SCALE) as fake:
        crowd = TelegramPeople(fake, PEOPLE)
        with Host(telegram(fake, allow=crowd.ids)) as host:
            fake.wait(polling=1)
            asked = ask_all(crowd, host)
            fake.wait(method="setMessageReaction", count=len(asked), timeout=30)
            fake.control("down", {})
            since = len(fake.record())
            fake.control_wait(3600 * SCALE)
            fake.control("up", {})
            until(lambda: all(outcomes(crowd, q) for q in asked), "all answers arrive", 120)
            equal([len(outcomes(crowd, q)) for q in asked], [1] * len(asked), "each once")
            for who in range(PEOPLE):
                mine = [q for q in asked if q.chat == str(crowd.ids[who])]
                ids = [int(outcomes(crowd, q)[0]["id"]) for q in mine]
                ok(ids == sorted(ids), f"in order for person {who}", ids)
            late = [r for r in fake.record() if r["seq"] > since and r.get("kind") == "call"]
            edits = [r for r in late if r["method"] == "editMessageText"]
            equal(edits, [], "no edit of what was shown before")
            note(f"{len(late)} calls after the outage for {len(asked)} turns")
            equal(host.stop(), 0, "the host ends well")
            equal(fake.violations(), [], "nothing a strict service objects to")
    done()


main()
