# SPDX-License-Identifier: MIT
"""Deaths of a host while crowds on its services talk to it: when, and what was on the wire."""
import collections
import contextlib
import time

import ledger
from people import DiscordPeople, MatrixPeople, SlackPeople, TeamsPeople, TelegramPeople
from shown import ShownByDiscord, ShownByMatrix, ShownBySlack, ShownByTeams, ShownByTelegram
from talk import Fake, Host, audit, discord, listening, matrix, slack, teams, telegram

# A host that is killed every second forgets what it did in this minute.
SLACK_PACE = {f"tier{n}": 60000 for n in (1, 2, 3, 4)}
MATRIX_PACE = {"send": [1000, 1000], "join": [1000, 1000]}
TEAMS_PACE = {"windows": [[1000, 1]]}
DISCORD_PACE = {kind: [1000, 1] for kind in ("post", "edit", "delete", "react", "typing", "followup")}
SHOWN = {"telegram": ShownByTelegram, "slack": ShownBySlack, "matrix": ShownByMatrix,
         "teams": ShownByTeams, "discord": ShownByDiscord}  # fmt: skip


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
        told = zip(self.fakes, self._clocks)
        return {fake.name: SHOWN[fake.name](fake, self.times, clock) for fake, clock in told}


def _clock_of(fake):
    """What the clock of the machine is ahead of the fake's."""
    now = time.monotonic()
    return now - fake.control("clear")["t"]


def _crowd_in_telegram(fake, count, more):
    crowd = TelegramPeople(fake, count)
    return crowd, telegram(fake, allow=[*crowd.ids, *more], progress_after_ms=300)


def _crowd_in_slack(fake, count, _):
    fake.control("pace", SLACK_PACE)
    crowd = SlackPeople(fake, count)
    return crowd, slack(fake, allow=crowd.ids)


def _crowd_in_matrix(fake, count, _):
    """Each message that comes behind another one in a moment is left out of the timeline."""
    fake.control("pace", MATRIX_PACE)
    fake.control("options", {"timeline_limit": 1})
    crowd = MatrixPeople(fake, count)
    return crowd, matrix(fake, allow=crowd.ids, progress_after_ms=300)


def _crowd_in_teams(fake, count, _):
    fake.control("pace", TEAMS_PACE)
    crowd = TeamsPeople(fake, count)
    return crowd, teams(fake, allow=crowd.ids, stream=False, progress_after_ms=300)


def _crowd_in_discord(fake, count, _):
    fake.control("pace", DISCORD_PACE)
    crowd = DiscordPeople(fake, count)
    return crowd, discord(fake, allow=crowd.ids, progress_after_ms=300)


CROWDS = {"telegram": _crowd_in_telegram, "slack": _crowd_in_slack, "matrix": _crowd_in_matrix,
          "teams": _crowd_in_teams, "discord": _crowd_in_discord}  # fmt: skip


@contextlib.contextmanager
def crowded_host(people, more=()):
    """A host that has not been started, its fakes, and crowds, in the order of `people`: service ->
    how many; `more` ids may ask in Telegram."""
    with contextlib.ExitStack() as stack:
        fakes = [stack.enter_context(Fake(name)) for name in people]
        made = [CROWDS[fake.name](fake, people[fake.name], more) for fake in fakes]
        instances = "".join(instance for _, instance in made) + audit()
        host = Host(instances, agent='keep_alive_s = 60; background = "follow";',
                    extra="conversations : { max_turns = 64; max_warm = 20; debounce_ms = 0; };\n"
                    + "".join(listening(fake) for fake in fakes if fake.name == "teams"))
        with contextlib.closing(host):
            yield host, fakes, [crowd for crowd, _ in made]
