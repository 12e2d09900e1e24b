# SPDX-License-Identifier: MIT
"""The host is killed again and again while people talk to it and the services misbehave: every
message gets one outcome, every outcome arrives, and what arrives twice says so."""
import random
import time

from people import SlackPeople, TelegramPeople, outcomes
from talk import LONG, Fake, Host, done, equal, note, ok, slack, telegram, until

KILLS = 300 if LONG else 30
PEOPLE = 25  # on each service
FAULTS = (
    {"do": "answer", "status": 502, "rate": 0.01},
    {"do": "reset", "rate": 0.01},
    {"do": "reset", "done": True, "rate": 0.01},
)


class Talk:
    """Everybody asks, waits for the outcome, and asks again."""

    def __init__(self, crowds):
        self.crowds = crowds
        self.open = {}  # (crowd, who) -> Question
        self.asked = []
        self.numbers = {}

    def go_on(self):
        """Those whose answer is there ask their next question."""
        for crowd in self.crowds:
            for who in range(PEOPLE):
                question = self.open.get((crowd, who))
                if question is None or outcomes(crowd, question):
                    self.ask(crowd, who)

    def ask(self, crowd, who):
        number = self.numbers[crowd, who] = self.numbers.get((crowd, who), 0) + 1
        id_ = f"{'t' if isinstance(crowd, TelegramPeople) else 's'}{who}-{number}"
        question = crowd.ask(who, id_, "tools=2 ms=200")
        self.open[crowd, who] = question
        self.asked.append((crowd, question))

    def waiting(self):
        return [q for crowd, q in self.asked if not outcomes(crowd, q)]


def kill_loop(host, talk, chance):
    for _ in range(KILLS):
        deadline = time.monotonic() + chance.uniform(0.2, 2.0)
        while time.monotonic() < deadline:
            talk.go_on()
            time.sleep(0.02)
        host.kill()
        host.start()


def script_faults(fake, seed):
    for number, fault in enumerate(FAULTS):
        fake.control("fault", {"times": 0, "seed": seed + number, "match": {}, **fault})


def judge(talk, host):
    lost, both, unmarked, repeated = [], [], [], 0
    for crowd, question in talk.asked:
        found = outcomes(crowd, question)
        kinds = {"⚠" if m["text"].startswith("⚠") else "answer" for m in found}
        unmarked += [question] if sum("(resent)" not in m["text"] for m in found) > 1 else []
        lost += [question] if not found else []
        both += [question] if len(kinds) > 1 else []
        repeated += max(0, len(found) - 1)
    note(f"{len(talk.asked)} messages, {KILLS} kills, {repeated} outcomes repeated")
    equal(lost, [], "every message has its outcome")
    equal(both, [], "and one kind of it")
    equal(unmarked, [], "a repeat says that it is one")
    status, dead = host.run("dead", "list")
    ok(status == 0, "the dead letters can be listed when the host is down", dead)
    note(f"dead letters: {dead.strip() or 'none'}")


def main():
    seed = int(time.time()) if LONG else 7
    note(f"seed {seed}")
    chance = random.Random(seed)
    with Fake("telegram") as tg, Fake("slack") as sl:
        crowds = [TelegramPeople(tg, PEOPLE), SlackPeople(sl, PEOPLE)]
        instances = telegram(tg, allow=crowds[0].ids) + slack(sl, allow=crowds[1].ids)
        with Host(instances, extra="conversations : { max_turns = 64; };") as host:
            script_faults(tg, seed)
            script_faults(sl, seed + 10)
            talk = Talk(crowds)
            kill_loop(host, talk, chance)
            tg.control("clear", {})
            sl.control("clear", {})
            until(lambda: not talk.waiting(), "all outcomes arrive", 120)
            equal(host.stop(), 0, "the host ends well")
            judge(talk, host)
            for fake, name in ((tg, "Telegram"), (sl, "Slack")):
                bad = [v for v in fake.violations() if v["rule"] in ("final-changed",)]
                equal(bad, [], f"no edit after an outcome on {name}")
    done()


main()
