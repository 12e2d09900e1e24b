#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Approvals, paired users and choices of conversations apply to all hosts of one bus. A revocation applies
everywhere, also if it was made without the bus, if a host missed it, and if the bus has lost its data."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from bus import ASKER, Member, done, equal, natsd, ok, skip_without_server, until  # noqa: E402
from talk import Fake, telegram  # noqa: E402

FRIEND, STRANGER = 1000, 2000
SECRET = "echo zanzibar"


def approvals(host):
    status, text = host.run("approvals", "list", "--json")
    return json.loads(text)["approvals"] if status == 0 else None


def allowed(host):
    return len(approvals(host) or [])


def asks(host, words):
    """Whether the agent must ask before it runs the tool; an open request is denied."""
    turn = host.begin(f"run={words}", agent="asker")["id"]

    def look():
        now = host.turn(turn)
        return now if now.get("requests") or now["state"] == "final" else None

    found = until(look, f"{words} on {host.name}")
    if found.get("requests"):
        decide(host, found, "deny")
    return bool(found.get("requests"))


def decide(host, turn, choice):
    path = f"/turns/{turn['id']}/requests/{turn['requests'][0]['id']}"
    equal(host.ask("POST", path, key="ann", body={"choice": choice})[0], 200, f"{choice} on {host.name}")
    host.await_state(turn["id"], "final", "error")


def allow(host, words):
    turn = host.begin(f"run={words}", agent="asker")["id"]
    decide(host, until(lambda: (t := host.turn(turn)).get("requests") and t, f"{words} is requested"), "allow_always")


def everywhere(a, b):
    allow(a, SECRET)
    until(lambda: allowed(b) == 1, "an approval on one host applies to the other")
    equal(asks(b, SECRET), False, "the other host does not ask for the call")
    found = approvals(b)[0]
    equal((found["agent"], found["tool"], found["by"]), ("asker", "Bash", "ann"), "the approval has agent, tool and user")
    ok("zanzibar" not in json.dumps(found), "the approval does not have the argument, which is not shared", found)
    allow(b, "id")
    until(lambda: allowed(a) == 2, "an approval on the other host applies to the first")
    equal(b.run("approvals", "forget", str(approvals(b)[0]["id"]))[0], 0, "an approval is revoked on the other host")
    until(lambda: allowed(a) == 1, "the revocation applies to the first host")
    equal(asks(a, SECRET), True, "the first host asks for the call again")
    ok("was revoked on host \"h2\"" in a.log(), "the log names the host of the revocation")
    equal(a.run("approvals", "forget", "--all")[0], 0, "all approvals are revoked")
    until(lambda: allowed(b) == 0, "the revocation applies to all hosts")


def missed(nats, a, b):
    """A host that was down when the approval was revoked."""
    allow(a, SECRET)
    until(lambda: allowed(b) == 1, "the approval applies to both hosts")
    b.kill()
    equal(a.run("approvals", "forget", "--all")[0], 0, "the approval is revoked while one host is down")
    b.start()
    equal(asks(b, SECRET), True, "the restarted host asks for the call at once")
    equal((allowed(a), allowed(b)), (0, 0), "the restarted host does not restore the approval")
    allow(a, SECRET)
    until(lambda: allowed(b) == 1, "a revoked approval can be given again")


def offline(nats, a, b):
    """An approval is revoked while the bus is down, and the bus loses its data, so that only the hosts know it."""
    nats.kill()
    for host in (a, b):
        host.await_bus("disconnected")
    equal(b.run("approvals", "forget", "--all")[0], 0, "the approval is revoked without the bus")
    b.stop()
    nats.forget()
    nats.start()
    a.await_bus()
    equal(allowed(a), 1, "the other host stores the approval on the new bus")
    b.start()
    until(lambda: allowed(a) == 0, "the restarted host that revoked it revokes it on all hosts")
    equal(asks(a, SECRET), True, "the first host asks for the call")
    equal(allowed(b), 0, "the second host has no approval")


def outdated(nats, a, b):
    """A host that missed the revocation is the first one on a bus that has lost its data."""
    allow(a, SECRET)
    until(lambda: allowed(b) == 1, "the approval applies to both hosts")
    b.stop()
    equal(a.run("approvals", "forget", "--all")[0], 0, "the approval is revoked while the other host is down")
    a.stop()
    nats.kill()
    nats.forget()
    nats.start()
    b.start()
    b.await_bus()
    equal(allowed(b), 1, "the other host still has the approval")
    a.start()
    until(lambda: allowed(b) == 0, "the approval is revoked after the restart of the first host")
    equal(allowed(a), 0, "the first host does not restore the approval")


def at_once(nats, a, b, cable):
    """One host approves a tool and the other revokes the approval, without a connection between them."""
    allow(a, SECRET)
    until(lambda: allowed(b) == 1, "the approval applies to both hosts")
    cable.cut()
    b.await_bus("disconnected")
    equal(a.run("approvals", "forget", "--all")[0], 0, "the approval is revoked on one host")
    equal(b.run("approvals", "forget", "--all")[0], 0, "the approval is revoked on the other host")
    allow(b, SECRET)
    allow(b, "df")
    cable.mend()
    until(lambda: allowed(a) == 1, "the approval given without a connection arrives")
    until(lambda: allowed(b) == 1, "the approval revoked without a connection is revoked")
    equal((asks(a, SECRET), asks(b, SECRET)), (True, True), "both hosts ask for the call")
    equal((asks(a, "df"), asks(b, "df")), (False, False), "the other call is approved on both hosts")


def refused(nats, a):
    """The argument of the tool is not stored on the servers."""
    data = b"".join(open(os.path.join(where, name), "rb").read()
                    for where, _, names in os.walk(nats.folder) for name in names if "tc_conf" in where)
    ok(b"allow." in data and b"zanzibar" not in data, "the servers store digests and no arguments")
    ok(allowed(a) is not None, "the host has approvals meanwhile")


# ---- people ----


def told(fake, chat):
    calls = [r for r in fake.record() if r["kind"] == "call" and r["chat"] == str(chat)]
    return [c["text"] for c in calls if c["method"] == "sendMessage" and c.get("text")]


def say(fake, user, text):
    before = len(told(fake, user))
    fake.control("message", {"from": user, "text": text})
    return until(lambda: told(fake, user)[before:], f"an answer to {text!r}")[-1]


def session(fake, id_):
    """Asks as another user; returns the name of the agent that answers."""
    fake.control("message", {"from": FRIEND, "text": f"id={id_}"})
    found = until(lambda: [m for text in told(fake, FRIEND) if (m := re.search(f"Answer {id_} of ([^:]+):", text))],
                  f"the answer {id_}")
    return found[-1].group(1)


def leads(host):
    status, text = host.run("status", "--json")
    found = [i for i in json.loads(text)["instances"] if i["name"] == "tg"] if status == 0 else []
    return bool(found) and found[0].get("stands_by") is False


def people(fake, a, b):
    leader = until(lambda: next((h for h in (a, b) if leads(h)), None), "one host leads the bot")
    other = b if leader is a else a
    code = re.search(r"for an hour: ([A-Z2-9]{8})\n", say(fake, STRANGER, "hello")).group(1)
    equal(leader.run("pair", "tg", code)[0], 0, "a user is paired on the host that runs the bot")
    until(lambda: str(STRANGER) in other.run("pair")[1], "the other host knows the paired user")
    ok("The agent other answers" in say(fake, STRANGER, "/agent other"), "the user selects another agent")
    before = session(fake, "n1")
    leader.stop()
    until(lambda: leads(other), "the other host leads the bot")
    equal(session(fake, "n2"), before, "the session of a conversation continues there")
    say(fake, FRIEND, "/new")
    ok("go to the agent other," in say(fake, STRANGER, "/start"), "the user may write there, and the choice applies")
    equal(other.run("pair", "--revoke", "tg", str(STRANGER))[0], 0, "the user is unpaired there")
    leader.start()
    leader.await_bus()
    until(lambda: "No paired people" in leader.run("pair")[1], "the restarted host has no paired user")
    other.stop()
    until(lambda: leads(leader), "the restarted host leads the bot again")
    ok("for an hour:" in say(fake, STRANGER, "/start"), "the restarted host treats the user as a stranger")
    ok(session(fake, "n3") != before, "a session that ended on another host is not continued")
    other.start()


if not skip_without_server():
    with natsd.NatsServer() as server:
        wire = natsd.Cable(server.port)
        with Member("h1", server.url()) as one, Member("h2", wire.url()) as two:
            one.await_bus()
            two.await_bus()
            everywhere(one, two)
            missed(server, one, two)
            refused(server, one)
            offline(server, one, two)
            outdated(server, one, two)
            at_once(server, one, two, wire)
    with natsd.NatsServer() as server, Fake("telegram") as bot_:
        more = {"instances": telegram(bot_, allow=[1000], pairing=True, agent_choices=["other"]),
                "agents": ASKER + 'other : { command = ["/bin/true"]; };'}
        with Member("p1", server.url(), **more) as one, Member("p2", server.url(), **more) as two:
            one.await_bus()
            two.await_bus()
            people(bot_, one, two)
    done()
