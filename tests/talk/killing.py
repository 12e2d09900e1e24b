# SPDX-License-Identifier: MIT
"""The host is killed again and again while people talk to it and the services misbehave: every
message gets one outcome, every outcome arrives or is a dead letter, those of a conversation in their
order, nothing is shown behind an outcome, and what arrives twice was on the wire at a kill, or its
answer got lost.

t_kill.py, t_kill_matrix.py and t_kill_teams.py run this."""
import json
import os
import random
import re
import time

import ledger
from chatter import Chatter
from deaths import Deaths, crowded_host
from judge import judge
from people import can_stop
from talk import LONG, PATIENCE_S, done, equal, note, until

FAULTS = (
    {"do": "answer", "status": 502, "rate": 0.01},
    {"do": "reset", "rate": 0.01},
    {"do": "reset", "done": True, "rate": 0.01},
    # No fault: an answer that takes its time, so that a kill can come before its end.
    {"do": "slow", "chunk": 100, "every": 0.05, "rate": 0.3, "match": {"text": "."}},
)
BUTTON = re.compile(r'(inline_keyboard[\\": ]*\[|"components": )\[.*Stop')


def shows_a_turn(fake, since):
    """Whether people have been shown a turn as running."""
    calls = [r for r in fake.record(since) if r["kind"] == "call" and r.get("status") in (200, 201)]
    return any(map(_is_progress, calls))


def _is_progress(call):
    params = call["params"]
    is_begun = call["method"] == "chat.startStream" or params.get("msgtype") == "m.notice"
    is_begun |= call["method"] == "post" and can_stop(params.get("body", {}).get("attachments"))
    return is_begun or BUTTON.search(json.dumps(params))


def talk_until(chatter, condition, seconds):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and not condition():
        chatter.go_on()
        time.sleep(0.03)


def live(deaths, chatter, chance, number):
    """Until the next kill: at times a turn with a progress message lives to its end."""
    if number % 4 == 3:
        news = [(fake, fake.last_seq()) for fake in deaths.fakes]
        talk_until(chatter, lambda: all(shows_a_turn(*new) for new in news), PATIENCE_S)
        talk_until(chatter, lambda: False, chance.uniform(1.5, 3))
    else:
        talk_until(chatter, lambda: False, chance.uniform(0.02, 1.2))


def kill_loop(deaths, chatter, chance, kills):
    for number in range(kills):
        live(deaths, chatter, chance, number)
        deaths.kill()
        deaths.host.start()


def script_faults(fake, seed):
    for number, fault in enumerate(FAULTS):
        fake.control("fault", {"times": 0, "seed": seed + number, **fault})


def run(deaths, chatter, seed, kills):
    for number, fake in enumerate(deaths.fakes):
        script_faults(fake, seed + 10 * number)
    chatter.begin()
    kill_loop(deaths, chatter, random.Random(seed), kills)
    for fake in deaths.fakes:
        fake.control("clear")
    until(lambda: not ledger.open_work(deaths.host), "all outcomes are delivered in the end", 300)
    equal(deaths.host.stop(), 0, "the host exits with status 0")
    note(f"{len(chatter.asked)} messages, {kills} kills")


def main(people, kills):
    """`people`: service -> how many there ask."""
    seed = int(os.environ.get("TURNCAST_SEED", 0)) or (int(time.time()) if LONG else 7)
    note(f"seed {seed}")
    with crowded_host(people) as (host, fakes, crowds):
        host.start()
        for fake in fakes:
            if fake.name == "matrix":  # what was said before the first start is not for the bot
                fake.wait(polling=1)
            if fake.name == "discord":
                fake.wait(sockets=1)
        deaths = Deaths(host, fakes)
        chatter = Chatter(crowds, random.Random(seed + 1))
        run(deaths, chatter, seed, kills)
        judge(chatter, deaths, kills // 10)
    done()
