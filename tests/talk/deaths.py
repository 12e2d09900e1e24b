# SPDX-License-Identifier: MIT
"""Deaths of a host while a crowd on both services talks to it: when, and what was on the wire."""
import collections
import contextlib
import time

import ledger
from people import SlackPeople, TelegramPeople
from shown import ShownBySlack, ShownByTelegram
from talk import Fake, Host, audit, slack, telegram

# A host that is killed every second forgets what it did in this minute.
SLACK_PACE = {f"tier{n}": 60000 for n in (1, 2, 3, 4)}


class Deaths:
    def __init__(self, host, fakes):
        self.host = host
        self.fakes = fakes
        self._clocks = [_clock_of(fake) for fake in fakes]
        self.times = []  # as the machine counts
        self.in_flight = collections.Counter()  # turns, by requests on the wire at a death

    def kill(self):
        self.times.append(time.monotonic())
        self.host.kill()
        self.in_flight.update(ledger.in_flight(self.host))

    def note(self):
        """The host has died by itself."""
        self.times.append(time.monotonic())
        self.host.process = None
        self.in_flight.update(ledger.in_flight(self.host))

    def shown(self):
        kinds = {"telegram": ShownByTelegram, "slack": ShownBySlack}
        told = zip(kinds.items(), self.fakes, self._clocks)
        return {name: kind(fake, self.times, clock) for (name, kind), fake, clock in told}


def _clock_of(fake):
    """What the clock of the machine is ahead of the fake's."""
    now = time.monotonic()
    return now - fake.control("clear")["t"]


@contextlib.contextmanager
def crowded_host(people, more=()):
    """A host that has not been started, its fakes, and crowds; `more` ids may ask in Telegram."""
    with Fake("telegram") as tg, Fake("slack") as sl:
        sl.control("pace", SLACK_PACE)
        crowds = [TelegramPeople(tg, people["telegram"]), SlackPeople(sl, people["slack"])]
        instances = telegram(tg, allow=[*crowds[0].ids, *more], progress_after_ms=300)
        instances += slack(sl, allow=crowds[1].ids) + audit()
        host = Host(instances, agent='keep_alive_s = 60; background = "follow";',
                    extra="conversations : { max_turns = 64; max_warm = 20; debounce_ms = 0; };")
        with contextlib.closing(host):
            yield host, (tg, sl), crowds
