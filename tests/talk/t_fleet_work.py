# SPDX-License-Identifier: MIT
"""A gateway that has the bot, and two runners that have the agents; hosts and the NATS server are killed, a
runner stands still until it is taken for lost, and the server is away."""
import os
import time

from fleet import Fleet, natsd
from talk import LONG, done, note, rounds

PEOPLE, MESSAGES = (200, 10000) if LONG else (12, 60)
HOST_KILLS = 100 if LONG else rounds(6)
SERVER_KILLS = 20 if LONG else 2
EVERY_S = 4 if LONG else 1  # at most, between two kills
LOST_AFTER_S = 3
TIMES = f"lost_after_s = {LOST_AFTER_S}; move_after_s = 2;"


def main():
    if not natsd.available():
        print("1..0 # SKIP no nats-server")
        return
    seed = int(os.environ.get("TURNCAST_SEED", 0)) or (int(time.time()) if LONG else 7)
    note(f"seed {seed}")
    agent = 'hosts = ["h2", "h3"]; slots = 20;'
    with natsd.NatsServer() as server, Fleet([server], PEOPLE, seed, bus=TIMES, agent=agent) as fleet:
        fleet.kill_hosts(HOST_KILLS, EVERY_S)
        fleet.kill_servers(SERVER_KILLS, EVERY_S)
        fleet.stand_still(fleet.hosts[2], 20 + 2 * LOST_AFTER_S if LONG else 1)
        fleet.survive_absence(20 if LONG else 1)
        fleet.talk_until_asked(MESSAGES, 3600)
        fleet.judge(0, frozenset({"host_restart", "host_lost"}))
    done()


main()
