# SPDX-License-Identifier: MIT
"""Three hosts on one NATS server: hosts and the server are killed, lose their data, and are stopped for a time."""
import os
import time

from fleet import MESSAGES, PEOPLE, Fleet, natsd
from lag import Viewers
from talk import LONG, done, note, rounds

HOST_KILLS = 100 if LONG else rounds(6)
SERVER_KILLS = 20 if LONG else 2
EVERY_S = 4 if LONG else 1  # at most, between two kills


def main():
    if not natsd.available():
        print("1..0 # SKIP no nats-server")
        return
    seed = int(os.environ.get("TURNCAST_SEED", 0)) or (int(time.time()) if LONG else 7)
    note(f"seed {seed}")
    with natsd.NatsServer() as server, Fleet([server], PEOPLE, seed) as fleet:
        fleet.kill_hosts(HOST_KILLS, EVERY_S)
        fleet.kill_servers(SERVER_KILLS, EVERY_S)
        fleet.lose_data()
        fleet.stand_still(fleet.hosts[2], 1)
        fleet.without_servers()
        with Viewers(fleet.hosts[1:]) as viewers:
            fleet.talk_until_asked(MESSAGES, len(viewers.hosts))
        fleet.judge(HOST_KILLS // 10)
    done()


main()
