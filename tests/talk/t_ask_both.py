#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Requests of an agent that are shown in Telegram and in Slack at once: after a decision in one of them, both
name the user who decided."""
from concurrent.futures import ThreadPoolExecutor

from cases import await_, run, same
from deciders import APPROVERS, Person, agents
from people import messages
from slackers import button
from talk import Fake, Host, done, equal, slack, telegram

USER, CHANNEL = "U1000", "D1000"  # in Slack
RULES = f"""approvals = ({{ action = "ask"; tool = "*"; to = ["tg", "sl:{CHANNEL}"]; }});"""


def card(fake, command):
    """The message of the request in Slack."""
    found = [m for m in messages(fake, CHANNEL) if command in m["text"]]
    return found[-1] if found else None


def press_in_slack(fake, message, choice):
    """Waits until the request is shown; its buttons may disappear meanwhile."""
    body = {"channel": CHANNEL, "user": USER, "ts": message["id"], "force": True}
    fake.control("action", {**body, **button(message, choice)})


def begin(telegram_fake, slack_fake, command):
    person = Person(telegram_fake)
    asked = person.is_asked(f"run={command}")
    shown = await_(lambda: (m := card(slack_fake, command)) and m["buttons"] and m, "the card")
    return person, asked, shown


def both_say(person, slack_fake, command, words):
    end = await_(lambda: (m := person.seen("→ ")) and not m["buttons"] and m, "the decision in Telegram")
    assert words in end["text"], end["text"]
    there = await_(lambda: not (m := card(slack_fake, command))["buttons"] and m, "the decision in Slack")
    assert words in there["text"], there["text"]


def in_telegram(fake, other, host):
    """a decision in Telegram is shown in Slack"""
    person, asked, _ = begin(fake, other, "pwd")
    same(person.press(asked, "Allow"), ("Allowed.", False))
    both_say(person, other, "pwd", f"Allowed by {person.name()}")
    person.hear('"behavior":"allow"')
    told = [m["text"] for m in messages(other, CHANNEL) if "behavior" in m["text"]]
    same(told, [], "other messages in Slack")


def in_slack(fake, other, host):
    """a decision in Slack is shown in Telegram"""
    person, asked, shown = begin(fake, other, "ls")
    press_in_slack(other, shown, "deny")
    both_say(person, other, "ls", f"Denied by {USER.lower()} (sl)")
    same(person.seen("→ ")["id"], asked["id"])
    person.hear('"behavior":"deny"')


def at_once(fake, other, host):
    """of two concurrent decisions in Telegram and Slack one counts, and both name its user"""
    for n in range(5):
        command = f"race{n}"
        person, asked, shown = begin(fake, other, command)
        with ThreadPoolExecutor(2) as pool:
            there = pool.submit(press_in_slack, other, shown, "deny")
            told = pool.submit(person.press, asked, "Allow").result()
            there.result()
        won = told == ("Allowed.", False)
        by = f"Allowed by {person.name()}" if won else f"Denied by {USER.lower()} (sl)"
        both_say(person, other, command, by)
        person.hear(f'"behavior":"{"allow" if won else "deny"}"')
        if not won:
            same(told[1], True, "the late decision must be confirmed")


def after_a_death(fake, other, host):
    """after a restart of the host a request in another chat is withdrawn"""
    _, _, shown = begin(fake, other, "uptime")
    host.kill()
    host.start()
    def withdrawn():
        message = next(m for m in messages(other, CHANNEL) if m["id"] == shown["id"])
        return not message["buttons"] and message["text"]

    assert "ended" in await_(withdrawn, "no button in Slack")


def main():
    grants = ["submit", "cancel", "answer"]
    with Fake("telegram") as fake, Fake("slack") as other:
        other.control("user", {"id": USER, "name": USER.lower()})
        other.control("channel", {"id": CHANNEL, "type": "im", "user": USER})
        instances = telegram(fake, grants=grants, allow=APPROVERS, agent="asker")
        instances += slack(other, grants=grants, allow=[USER], agent="asker")
        with Host(instances, agents=agents(rules=RULES)) as host:
            fake.wait(30, polling=1)
            run([in_telegram, in_slack, at_once], fake, other, host, at_once=1)
            equal(fake.violations(), [], "Telegram rejected no request")
            run([after_a_death], fake, other, host)
            equal(other.violations(), [], "Slack rejected no request")
    done()


main()
