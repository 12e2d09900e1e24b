#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How many requests a host sends to the NATS servers while many conversations wait for few places: a few for each turn,
and not a few for each turn and each waiting conversation. Also, a turn that another host has given away is adopted
when its message arrives, although the leader does not search for such turns all the time."""
import json
import os
import sys
import threading
import uuid

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from bus import Member, done, equal, natsd, note, ok, skip_without_server, until  # noqa: E402
from people import TelegramPeople, outcomes  # noqa: E402
from t_lead import bot  # noqa: E402
from talk import Fake, telegram  # noqa: E402

PEOPLE = 30
LOCK_REQUESTS = 2  # of a turn: its lock is acquired and released
ADOPTED_S = 15  # less than the interval of searches without a reason (LOOK_MS of src/core/host/adoption.c)
SEARCH = ("TC_TURN", "next_by_subj")  # in a request for the next turn
LIMITS = "conversations : { max_turns = 1; debounce_ms = 0; };"


class Spy:
    """Records messages that hosts send to those subjects, until it is closed."""

    def __init__(self, server, *subjects):
        self.client = server.client()
        for subject in subjects:
            self.client.subscribe(subject)
        self.messages = []
        self.is_closed = threading.Event()
        self.thread = threading.Thread(target=self._read)
        self.thread.start()

    def _read(self):
        while not self.is_closed.is_set():
            message = self.client.next(0.2)
            if message:
                self.messages.append(message)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.is_closed.set()
        self.thread.join()
        self.client.close()

    def count(self, *texts):
        """Messages of which the subject and the body contain all of the texts."""
        return sum(all(t in f"{m.subject} {m.data.decode()}" for t in texts) for m in self.messages)


def waiting(server, people):
    """Many conversations wait for one place."""
    with Spy(server, "$JS.API.DIRECT.GET.*", "tc.turn.new.tg.*") as spy:
        until(lambda: spy.count(*SEARCH), "the leader has searched for turns to adopt")
        asked = [people.ask(who, f"w{who}", "tools=2 ms=100") for who in range(PEOPLE)]
        for question in asked:
            until(lambda q=question: outcomes(people, q), f"{question.id} is answered")
    locks = spy.count("KV_tc_lock")
    searches = spy.count(*SEARCH)
    note(f"{PEOPLE} turns: {locks} requests for locks, {searches} for turns to adopt")
    ok(locks <= PEOPLE * (LOCK_REQUESTS + 1), "each turn costs a few requests for locks", locks)
    ok(searches <= 3, "the leader does not search for turns to adopt while it has all of them", searches)
    return next(m for m in spy.messages if m.subject.startswith("tc.turn.new."))


def withdrawn(server, host, people):
    """While the servers do not reply, the message that is next is withdrawn: the one behind it gets the place."""
    people.ask(0, "first", "tools=1 gated")
    until(lambda: "first" in (host.gates / "begun").read_text(), "an agent works")
    asked = [people.ask(who, f"x{who}", "tools=1") for who in (1, 2)]
    ok(until(lambda: len([t for t in host.turns() if t["state"] == "waiting"]) == 2, "two messages wait"),
       "both conversations have a turn that waits")
    next_turn = next(t["id"] for t in host.turns() if "id=x1" in t["task"])
    server.stop()
    host.let_go("first")
    until(lambda: not [t for t in host.turns() if t["state"] == "running"], "the agent ends")
    equal(host.status("POST", f"/turns/{next_turn}/cancel", key="ann", body={}), 202, "the next message is withdrawn")
    server.go_on()
    until(lambda: outcomes(people, asked[1]), "the message behind it is answered")


def given_away(server, host, example):
    """Another host stores a turn that no host has now."""
    order = json.loads(example.data)
    order["turn"] = str(uuid.uuid4())
    order["from"]["host"] = "h9"
    order["gateway"] = "-"
    order["message"] = ""
    order["prompt"] = "tools=1 id=given"
    client = server.client()
    stored = client.request(f"tc.turn.new.tg.{order['turn']}", json.dumps(order)).json()
    client.close()
    ok("seq" in stored, "another host has stored the message of a turn", stored)
    until(lambda: (order["turn"], "final") in [(t["id"], t["state"]) for t in host.turns()],
          "the leader adopts the turn and runs it", seconds=ADOPTED_S)


if __name__ == "__main__" and not skip_without_server():
    with natsd.NatsServer() as nats, Fake("telegram") as fake:
        crowd = TelegramPeople(fake, PEOPLE)
        with Member("h1", nats.url(), extra=LIMITS, instances=telegram(fake, allow=crowd.ids)) as host:
            host.await_bus()
            until(lambda: bot(host).get("stands_by") is False, "the host leads the bot")
            (host.gates / "begun").touch()
            example = waiting(nats, crowd)
            withdrawn(nats, host, crowd)
            given_away(nats, host, example)
    done()
