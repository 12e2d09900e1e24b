#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two hosts on one machine run a turn with the same id, as when one has adopted the turn of the other: a host that was
killed and starts again ends the agent that it has left, and not the agent of the other host."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from bus import Member, done, equal, natsd, ok, skip_without_server, until  # noqa: E402
from people import TelegramPeople, outcomes  # noqa: E402
from t_lead import leads  # noqa: E402
from talk import Fake, telegram  # noqa: E402


def begin(host, people):
    """A person asks, and the agent begins; returns the question and the turn."""
    question = people.ask(0, "same", "tools=1 gated")
    turns = until(lambda: [t for t in host.turns() if t["state"] == "running"], f"the agent of {host.name} works")
    until(lambda: "same" in (host.gates / "begun").read_text(), "the agent has written that the turn has begun")
    return question, turns[0]["id"]


if __name__ == "__main__" and not skip_without_server():
    # Both have a bot whose first message has the same id; on different buses, they know nothing of each other.
    with natsd.NatsServer() as nats, Fake("telegram") as one, Fake("telegram") as other:
        crowds = [TelegramPeople(fake, 1) for fake in (one, other)]
        hosts = [Member(f"h{n}", nats.url(), bus=f'prefix = "p{n}";', instances=telegram(fake, allow=crowd.ids))
                 for n, (fake, crowd) in enumerate(zip((one, other), crowds), 1)]
        for host in hosts:
            (host.gates / "begun").touch()
        with hosts[0] as a, hosts[1] as b:
            for host in hosts:
                until(lambda h=host: leads(h), f"{host.name} leads its bot")
            turn = begin(a, crowds[0])[1]
            question, later = begin(b, crowds[1])
            equal(later, turn, "both hosts have a turn with the same id")
            a.kill()
            a.start()
            until(lambda: [t for t in a.turns() if t["state"] == "error"], "the killed host ends its turn at its next start")
            equal([t["state"] for t in b.turns()], ["running"], "the turn of the other host goes on")
            b.let_go("same")
            found = until(lambda: outcomes(crowds[1], question), "the turn of the other host is answered")
            ok("Answer same" in found[0]["text"], "the answer is that of its agent", found)
    done()
