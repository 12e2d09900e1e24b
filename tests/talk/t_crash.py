# SPDX-License-Identifier: MIT
"""The host dies at each named place where half of something is done, twice in a row, while people
talk to it; what has to hold after a kill at random holds. With the transaction of an outcome torn
in two the same question finds what is lost."""
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
UNLISTED = {"reserve-spent", "mid-salvage", "before-told", "after-told", "after-adopted"}


def points():
    """As the program lists them; none: it is built without."""
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
    """Starts the host so that it dies there, and waits until it has."""
    deaths.host.start(TURNCAST_CRASH_POINT=point)
    process = deaths.host.process
    deadline = time.monotonic() + DEATH_S
    while process.poll() is None and time.monotonic() < deadline:
        go_on()
        time.sleep(0.02)
    equal(process.poll(), -9, f"the host dies {point}")
    if process.poll() is None:
        deaths.kill()
    else:
        deaths.note()


class Askers:
    """Somebody asks anew before each death: also what a turn begins with is to be passed."""

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
    """A life in which all is told: what is in flight at three deaths would be taken for poison."""
    deaths.host.start()
    telegram, slack = deaths.fakes
    telegram.wait(polling=1)
    slack.wait(acked=1)
    until(lambda: not ledger.open_work(deaths.host), "all is told in the end", TOLD_S)


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
        equal(host.stop(), 0, "the host ends well")
        note(f"{len(chatter.asked)} messages, {len(deaths.times)} deaths")
        judge.judge(chatter, deaths, 1, {str(REFUSED)})


def run_torn():
    """A mutation: the outcome is committed before what is to be told of it."""
    with crowded_host({"telegram": 1, "slack": 1}) as (host, fakes, crowds):
        deaths = Deaths(host, fakes)
        question = crowds[0].ask(0, "torn", "tools=1 ms=20")
        host.start(TURNCAST_CRASH_TEAR="in-outcome", TURNCAST_CRASH_POINT="in-outcome")
        status = host.process.wait(DEATH_S)
        deaths.note()
        equal(status, -9, "a host with a torn transaction dies between its halves")
        live_well(deaths)
        host.stop()
        turns = ledger.turns(host)
        seen = {question: deaths.shown()["telegram"].outcomes(question)}
        ends = {question: turns[0]}
        equal([t.ended for t in turns], [True], "its turn has an outcome")
        equal([id_ for id_, _ in judge.lost(ends, seen, set())], ["torn"], "which is lost, and that is found")


def main():
    names = points()
    if not names:
        print("1..0 # SKIP built without --enable-crash-points")
        return
    equal(passed_in_sources() - UNLISTED, set(names), "each place in the program has a name here")
    run(names)
    run_torn()
    ok(True, "all of it ended")
    done()


main()
