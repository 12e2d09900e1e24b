# SPDX-License-Identifier: MIT
"""Pairing and commands of chats in Telegram, from the first message of a stranger to the revocation by the
operator, and over a restart of the host."""
import re

from cases import await_, run, same
from talk import Fake, Host, done, telegram

FRIEND, STRANGER, GROUP = 1000, 2000, -1001000


def say(fake, user, text, **more):
    chat = more.get("chat", user)
    query = {"visible": 1, "from": "bot", "chat": str(chat)}
    before = len(told(fake, chat))
    fake.control("message", {"from": user, "text": text, **more})
    await_(lambda: told(fake, chat)[before:], f"an answer to {text!r} in {query}")
    return told(fake, chat)[-1]


def told(fake, chat):
    calls = [r for r in fake.record() if r["kind"] == "call" and r["chat"] == str(chat)]
    return [c["text"] for c in calls if c["method"] == "sendMessage" and c.get("text")]


def code_in(text):
    return re.search(r"for an hour: ([A-Z2-9]{8})\n", text).group(1)


def pairs(fake, host):
    """R21: a stranger gets a code, and may write after the operator has entered it"""
    code = code_in(say(fake, STRANGER, "tools=1 zanzibar"))
    fake.control("message", {"from": STRANGER, "text": "hello?"})
    status, text = host.run("pair", "tg", "WRONGONE")
    same((status, text), (1, "turncast: Wrong pairing code, or it has expired.\n"), "a wrong code")
    status, text = host.run("pair", "nobody", code)
    same(status, 1, "the status for an unknown instance")
    status, text = host.run("pair", "tg", code)
    same((status, text), (0, f"User {STRANGER} may write to instance tg now.\n"), "the code")
    answer = say(fake, STRANGER, "/start")
    assert "go to the agent main," in answer, answer
    same(len(told(fake, STRANGER)), 2, "messages to the stranger: the code, and the answer")


def lists(_fake, host):
    """the operator sees the paired users"""
    status, text = host.run("pair")
    same(status, 0, "its status")
    assert re.match(rf"tg {STRANGER} since \S+ \S+: .+\n$", text), text
    status, text = host.run("pair", "--json")
    assert f'"user":"{STRANGER}"' in text, text


def restarts(fake, host):
    """paired users and choices survive a restart"""
    assert "The agent other answers from your next" in say(fake, STRANGER, "/agent other")
    host.kill()
    host.start()
    await_(host.has_started, "the host again")
    assert "go to the agent other," in say(fake, STRANGER, "/start")


def revokes(fake, host):
    """R21: a user who was revoked may not write any more"""
    status, text = host.run("pair", "--revoke", "tg", str(STRANGER))
    same((status, text), (0, f"User {STRANGER} may not write to instance tg any more.\n"), "it")
    same(host.run("pair", "--revoke", "tg", str(STRANGER))[0], 1, "the status of it again")
    same(host.run("pair")[1], "No paired people.\n", "the list")
    same(host.run("pair", "tg")[0], 2, "the status without a code")
    assert code_in(say(fake, STRANGER, "/status")), "a new code"


def help_in_group(fake, _host):
    """B5: /help and /start with the bot's name in a group are answered without a turn"""
    answer = say(fake, FRIEND, "/help@fake_bot", chat=GROUP)
    assert "- /queue clear: Drop" in answer and "- /agent [NAME]: List" in answer, answer
    assert "While it works, the Stop button" in say(fake, FRIEND, "/start@fake_bot", chat=GROUP)
    fake.control("message", {"from": STRANGER + 1, "text": "/start@fake_bot", "chat": GROUP})
    same(len(told(fake, GROUP)), 2, "answers in the group; a stranger gets none")


def sessions(fake, _host):
    """/sessions and /usage after a turn"""
    say(fake, FRIEND, "first of all id=q1")
    answer = say(fake, FRIEND, "/sessions")
    assert ": first of all id=q1\n" in answer, answer
    assert "Last turn:" in say(fake, FRIEND, "/usage")
    same(len([t for t in told(fake, FRIEND) if "Answer q1" in t]), 1, "answers so far")
    assert "Answer q1" in say(fake, FRIEND, "/retry"), "the answer again"


def main():
    with Fake("telegram") as fake:
        instances = telegram(fake, allow=[FRIEND], pairing=True, agent_choices=["other"])
        agents = 'other : { command = ["/bin/true"]; }; '
        with Host(instances, agents=agents) as host:
            await_(host.has_started, "the host")
            cases = [pairs, lists, restarts, revokes, help_in_group, sessions]
            run(cases, fake, host, at_once=1)
    done()


main()
