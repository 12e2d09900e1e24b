#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The host that leads a bot is killed: the next leader continues at its position, so messages written without a
leader are answered once."""
import contextlib
import json
import os
import pathlib
import re
import sqlite3
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from bus import Member, done, equal, natsd, ok, short_leases, skip_without_server, stored, until  # noqa: E402
from people import DiscordPeople, MatrixPeople, messages, outcomes  # noqa: E402
from talk import DISCORD_TOKEN, MATRIX_TOKEN, Fake, discord, matrix  # noqa: E402
from t_adopt import queued  # noqa: E402
from t_lead import bot  # noqa: E402

TTL_S = 5
BOTS = ("mx", "dc")


def leads(host):
    return all(bot(host, name).get("stands_by") is False for name in BOTS)


def entry(server, name):
    """The texts of a bot that the servers have."""
    client = server.client()
    found = client.request("$JS.API.DIRECT.GET.KV_tc_conf", json.dumps({"last_by_subj": f"$KV.tc_conf.gw.{name}"}))
    client.close()
    return {} if found.status else found.json()["value"]


def has_positions(server):
    """The servers have a position of each bot."""
    return "chat.cursor" in entry(server, "mx") and "chat.position" in entry(server, "dc")


def own_cursor(host):
    """The position in Matrix in the journal of the host."""
    with contextlib.closing(sqlite3.connect(f"file:{host.state}/state.db?mode=ro", uri=True)) as db:
        return db.execute("select value from kv where key = 'stored:mx:chat.cursor'").fetchone()[0]


class Crowd:
    """A user of each service, with all of their questions."""

    def __init__(self, server, fakes, people, hosts):
        self.server, self.fakes, self.people, self.hosts = server, fakes, people, hosts
        self.asked = []

    def ask(self, words):
        """Each user asks one question."""
        for people in self.people:
            self.asked.append((people, people.ask(0, f"{people.LETTER}{len(self.asked)}", words)))

    def begun(self, question):
        given = [word.lstrip("+") for h in self.hosts for word in (h.gates / "begun").read_text().split()]
        return given.count(question.id)

    def answered(self, what):
        for people, q in self.asked:
            until(lambda p=people, q=q: outcomes(p, q), f"{q.id} is answered {what}")
        until(lambda: stored(self.server, "new") == 0, "all outcomes are delivered")
        equal({q.id: (len(outcomes(p, q)), self.begun(q)) for p, q in self.asked}, {q.id: (1, 1) for _, q in self.asked},
              f"each question is answered once, by one agent, {what}")


def started(host):
    host.start()
    host.await_bus()
    return host


def resumed(fake):
    """The number of resumed sessions of the bot."""
    sent = [r["content"] for r in fake.record() if r["kind"] == "socket" and r["event"] == "op6"]
    return len(sent)


def left_alone(crowd, dying, other, what):
    """The leader is killed, and users write while no host leads."""
    gateway = crowd.fakes["discord"]
    identifies, resumes = gateway.state()["identifies"], resumed(gateway)
    dying.kill()
    crowd.ask("tools=1")
    until(lambda: leads(other), "the other host takes over")
    crowd.answered(what)
    equal(gateway.state()["identifies"], identifies, "no new session is opened")
    equal(resumed(gateway), resumes + 1, "the session of the killed host is resumed")


def helped(crowd):
    """A command is answered; it is not a turn that the servers know."""
    people = crowd.people[0]
    before = len(messages(people.fake, "!p1000:fake.example"))
    people.fake.control("say", {"user": people.ids[0], "room": "!p1000:fake.example", "text": "/help"})
    until(lambda: len(messages(people.fake, "!p1000:fake.example")) > before, "the command is answered")


def helps(crowd):
    return len([m for m in messages(crowd.people[0].fake, "!p1000:fake.example") if "/help" in (m.get("text") or "")])


def lost_by_servers(crowd):
    """The servers have lost the entries: the leader stores them again."""
    client = crowd.server.client()
    client.api("STREAM.PURGE.KV_tc_conf", {"filter": "$KV.tc_conf.gw.>"})
    client.close()
    ok(not has_positions(crowd.server), "the servers have no text of a bot")
    crowd.server.kill()
    crowd.server.start()
    until(lambda: has_positions(crowd.server), "the servers have the texts again")


def unstored(crowd, dying, other):
    """The leader is killed when a message is in its journal only: its position on the servers is not after that message."""
    server, people = crowd.server, crowd.people[0]
    before = own_cursor(dying)
    until(lambda: entry(server, "mx").get("chat.cursor") == own_cursor(dying), "the servers know the position of the leader")
    client = server.client()
    client.api("STREAM.DELETE.TC_TURN")
    client.close()
    crowd.asked.append((people, people.ask(0, f"m{len(crowd.asked)}", "tools=1")))
    until(lambda: own_cursor(dying) != before, "the leader has admitted a message that the servers cannot store")
    end = time.monotonic() + 1
    while entry(server, "mx")["chat.cursor"] != own_cursor(dying) and time.monotonic() < end:
        time.sleep(0.01)
    ok(entry(server, "mx")["chat.cursor"] != own_cursor(dying), "the servers do not get the position after the message")
    dying.kill()
    server.kill()
    server.start()
    until(lambda: leads(other), "the other host takes over")
    crowd.answered("that only a killed host had")
    started(dying)
    until(lambda: all(t["state"] not in ("running", "waiting") for t in dying.turns()), "no turn is open on the restarted host")
    crowd.answered("once, after the restart")


def secrets(server):
    data = b"".join(p.read_bytes() for p in pathlib.Path(server.folder).rglob("*") if p.is_file())
    found = [s for s in (DISCORD_TOKEN, MATRIX_TOKEN) if s.encode() in data]
    ok(b"chat.position" in data and not found, "the servers have positions, and no token", found)


def main(server, fakes):
    crowds = [MatrixPeople(fakes["matrix"], 1), DiscordPeople(fakes["discord"], 1)]
    instances = matrix(fakes["matrix"], allow=crowds[0].ids) + discord(fakes["discord"], allow=crowds[1].ids)
    a, b = (Member(name, server.url(), bus="lost_after_s = 3;", extra="conversations : { debounce_ms = 0; };",
                   instances=instances) for name in ("h1", "h2"))
    crowd = Crowd(server, fakes, crowds, (a, b))
    for host in (a, b):
        (host.gates / "begun").touch()
    try:
        started(a)
        until(lambda: leads(a), "the first host leads")
        started(b)
        fakes["discord"].wait(sockets=1)
        crowd.ask("tools=1")
        crowd.answered("by the first leader")
        until(lambda: has_positions(server), "the servers have a position of each bot")
        texts = json.loads(a.run("status", "--json")[1])["stored_texts"]
        ok(texts["copies"] > 0 and "error" not in texts, "the status counts the stored copies", texts)
        shown = a.run("status")[1]
        ok(re.search(r"^  stored texts   \d+ cop(y|ies) given to the bus$", shown, re.MULTILINE), "turncast status shows the stored copies", shown)
        left_alone(crowd, a, b, "by the next leader")
        started(a)
        helped(crowd)
        equal(helps(crowd), 1, "once")
        lost_by_servers(crowd)
        until(lambda: leads(b), "the other host leads")
        left_alone(crowd, b, a, "by the first one again")
        equal(helps(crowd), 1, "the new leader continues at the position of the other one")
        started(b)
        unstored(crowd, a, b)
        secrets(server)
        until(lambda: [queued(h) for h in (a, b)] == [0, 0], "no delivery is pending")
    finally:
        for host in (a, b):
            host.close()


if __name__ == "__main__" and not skip_without_server():
    with natsd.NatsServer() as nats, Fake("matrix") as rooms, Fake("discord") as gateways:
        for name in ("tc_lead", "tc_host"):
            short_leases(nats, name, TTL_S)
        main(nats, {"matrix": rooms, "discord": gateways})
    done()
