# SPDX-License-Identifier: MIT
"""The host is killed at each named crash point, twice in a row, while users talk to it; the checks of tests
with random kills apply. When the transaction of an outcome is split in two, the same checks find the lost
outcome."""
import random
import re
import subprocess
import time

import judge
import ledger
from chatter import Chatter
from deaths import Deaths, crowded_host
from people import TelegramPeople
from talk import BUILD, SOURCE, done, equal, note, ok, until

PEOPLE = {"telegram": 4, "slack": 8}
QUESTIONS = ("tools=1 ms=100", "tools=4 ms=500")
REFUSED = 3000  # who has blocked the bot: what is said there becomes a dead letter
DEATH_S = 120  # a host under a sanitizer starts slowly
TOLD_S = 300  # back-off, and the pace, behind what a death left
# Need a full disk, a damaged file (tests/io/store/t_store.c), another host (tests/api/t_adopt.py).
UNLISTED = {"reserve-spent", "mid-salvage", "before-told", "after-told", "after-adopted", "after-begun-entered",
            "after-request-stored"}


def points():
    """The crash points listed by the program; none if it was built without them."""
    said = subprocess.run([BUILD / "turncast", "--version"], capture_output=True, text=True)
    found = re.search(r"crash points enabled: (.*)", said.stdout)
    return found.group(1).split() if found else []


def passed_in_sources():
    found = set()
    for file in (SOURCE / "src").rglob("*.c"):
        for call in re.findall(r"(?:CRASH_POINT|store_pass_test_point)\(([^;]*)\);", file.read_text()):
            found.update(re.findall(r'"([a-z-]+)"', call))
    return found


def die_at(deaths, point, go_on):
    """Starts the host so that it is killed at the crash point, and waits for that."""
    deaths.host.start(TURNCAST_CRASH_POINT=point)
    process = deaths.host.process
    deadline = time.monotonic() + DEATH_S
    while process.poll() is None and time.monotonic() < deadline:
        go_on()
        time.sleep(0.02)
    equal(process.poll(), -9, f"the host is killed {point}")
    if process.poll() is None:
        deaths.kill()
    else:
        deaths.note()


class Askers:
    """A user asks a new question before each kill, so that crash points at the beginning of a turn are reached."""

    def __init__(self, chatter):
        self.chatter = chatter
        self.refused = TelegramPeople(chatter.crowds[0].fake, 1)
        self.refused.ids = [REFUSED]
        self.count = 0

    def ask(self):
        for crowd in self.chatter.crowds:
            self.chatter.ask(crowd, self.count % len(crowd.ids))
        self.count += 1

    def ask_where_refused(self):
        self.count += 1
        question = self.refused.ask(0, f"x{self.count}", "tools=1 ms=20")
        self.chatter.asked.append((self.refused, question))


def live_well(deaths):
    """Runs the host until all outcomes are delivered. A request that is in flight at three kills would be given up."""
    deaths.host.start()
    telegram, slack = deaths.fakes
    telegram.wait(polling=1)
    slack.wait(acked=1)
    until(lambda: not ledger.open_work(deaths.host), "all outcomes are delivered in the end", TOLD_S)


def crash_loop(deaths, chatter, names):
    askers = Askers(chatter)
    for point in names:
        for _ in range(2):
            askers.ask()
            if point == "after-deadletter":
                askers.ask_where_refused()
            die_at(deaths, point, chatter.go_on)
        live_well(deaths)
        if point != names[-1]:
            deaths.kill()


def run(names):
    with crowded_host(PEOPLE, more=[REFUSED]) as (host, fakes, crowds):
        deaths = Deaths(host, fakes)
        fakes[0].control("chat", {"id": REFUSED, "type": "private", "state": "blocked"})
        chatter = Chatter(crowds, random.Random(7), QUESTIONS)
        chatter.begin()
        crash_loop(deaths, chatter, names)
        equal(host.stop(), 0, "the host exits with status 0")
        note(f"{len(chatter.asked)} messages, {len(deaths.times)} deaths")
        judge.judge(chatter, deaths, 1, {str(REFUSED)})


def run_torn():
    """A mutation: the outcome is committed before its deliveries."""
    with crowded_host({"telegram": 1, "slack": 1}) as (host, fakes, crowds):
        deaths = Deaths(host, fakes)
        question = crowds[0].ask(0, "torn", "tools=1 ms=20")
        host.start(TURNCAST_CRASH_TEAR="in-outcome", TURNCAST_CRASH_POINT="in-outcome")
        status = host.process.wait(DEATH_S)
        deaths.note()
        equal(status, -9, "a host with a split transaction is killed between its halves")
        live_well(deaths)
        host.stop()
        turns = ledger.turns(host)
        seen = {question: deaths.shown()["telegram"].outcomes(question)}
        ends = {question: turns[0]}
        equal([t.ended for t in turns], [True], "the turn has an outcome")
        equal([id_ for id_, _ in judge.lost(ends, seen, set())], ["torn"], "the checks find the lost outcome")


def main():
    names = points()
    if not names:
        print("1..0 # SKIP built without --enable-crash-points")
        return
    equal(passed_in_sources() - UNLISTED, set(names), "each crash point in the program is listed")
    run(names)
    run_torn()
    ok(True, "all messages have an outcome")
    done()


main()
