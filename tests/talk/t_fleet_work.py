# SPDX-License-Identifier: MIT
"""A gateway with the bot, and two runners with the agents: hosts and the NATS server are killed, the runners
are stopped until they are taken for lost, and the server is down for a time."""
import os
import time

from fleet import MESSAGES, PEOPLE, Fleet, natsd, short_leases
from talk import LONG, done, note, rounds

HOST_KILLS = 100 if LONG else rounds(6)
SERVER_KILLS = 20 if LONG else 2
EVERY_S = 4 if LONG else 1  # at most, between two kills
LEASE_S, LOST_AFTER_S = 3, 3
TIMES = f"lost_after_s = {LOST_AFTER_S}; move_after_s = 2;"
# As long as an hour to a host whose lost_after_s is 120, as it is by default.
AWAY_S = 3600 * LOST_AFTER_S / 120 if LONG else LEASE_S + LOST_AFTER_S + 1


def main():
    if not natsd.available():
        print("1..0 # SKIP no nats-server")
        return
    seed = int(os.environ.get("TURNCAST_SEED", 0)) or (int(time.time()) if LONG else 7)
    note(f"seed {seed}")
    agent = 'hosts = ["h2", "h3"]; slots = 20;'
    with natsd.NatsServer() as server:
        short_leases(server, "tc_host", LEASE_S)
        with Fleet([server], PEOPLE, seed, bus=TIMES, agent=agent) as fleet:
            fleet.kill_hosts(HOST_KILLS, EVERY_S)
            fleet.kill_servers(SERVER_KILLS, EVERY_S)
            fleet.lose_runners(fleet.hosts[1:])
            fleet.survive_absence(AWAY_S)
            fleet.talk_until_asked(MESSAGES, 1)
            fleet.judge(0, frozenset({"host_restart", "host_lost"}))
    done()


main()
