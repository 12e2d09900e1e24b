# SPDX-License-Identifier: MIT
"""A gateway that has the bot, and two runners that have the agents; nothing fails, so there is no error, no
copy and no turn that is told again."""
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
