# SPDX-License-Identifier: MIT
"""A gateway with the bot, and two runners with the agents: without a fault there is no error, no duplicate and
no repeated turn."""
from fleet import MESSAGES, PEOPLE, Fleet, natsd
from talk import done


def main():
    if not natsd.available():
        print("1..0 # SKIP no nats-server")
        return
    with natsd.NatsServer() as server, Fleet([server], PEOPLE, 7, agent='hosts = ["h2", "h3"]; slots = 40;') as fleet:
        fleet.submit()
        fleet.talk_until_asked(MESSAGES, 1)
        fleet.judge(0, frozenset())
    done()


main()
