#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which instances see a turn: two chats, a log of all turns, and a log that sees only turns that name it. Both
chats have a place for turns that did not begin there, so unexpected messages are visible."""
import json
import os
import pathlib
import re
import signal
import sqlite3
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "api"))

from door import Door, done, equal, ok, until, written  # noqa: E402
from people import SlackPeople, TelegramPeople, messages, outcomes  # noqa: E402
from talk import Fake, slack, telegram  # noqa: E402

HOME, CHANNEL = 1001, "D1001"  # where turns of elsewhere are shown
GATED = "tools=1 gated"


class Stage:
    """The host, both services, and a user in each."""

    def __init__(self, folder, fake, other):
        self.fake, self.other = fake, other
        self.named_log = folder / "named"
        self.people, self.slackers = TelegramPeople(fake, 2), SlackPeople(other, 2)
        fake.control("message", {"from": HOME, "text": "There is a chat with me now."})
        instances = telegram(fake, allow=[1000], chat=HOME) + slack(
            other, allow=["U1000"], channel=CHANNEL)
        instances += f'named : {{ plugin = "jsonl"; path = "{self.named_log}"; turns = "own"; }};'
        self.host = Door(instances=instances)

    def start(self):
        self.host.start()
        until(self.host.has_started, "all instances run")

    def begin(self, prompt, *instances, **more):
        return self.host.begin(prompt, **({"instances": list(instances)} if instances else {}), **more)

    def told(self, path, turn, kind):
        found = [json.loads(line) for line in written(path)]
        return any(e["correlation_id"] == turn and e["type"] == kind for e in found)

    def log_has_all(self, turn, what):
        """Checks the log that sees all turns."""
        until(lambda: self.told(self.host.events, turn, "done"), f"the log sees the turn: {what}")
        ok(self.told(self.host.events, turn, "start"), f"the log sees the start of the turn: {what}")

    def has_named(self, turn):
        return any(turn in line for line in written(self.named_log))

    def in_telegram(self, text):
        """The messages with the text, at home and with the user."""
        return [m for chat in (str(HOME), "1000") for m in messages(self.fake, chat)
                if text in (m.get("text") or "")]

    def in_slack(self, text):
        return [m for chat in (CHANNEL, "D1000") for m in messages(self.other, chat)
                if text in (m.get("text") or "")]

    def sees(self, where, text, what):
        until(lambda: where(text), what)
        ok(where(text), what)


def own(s):
    """A turn that began in a chat is shown there, and nowhere else."""
    asked = s.people.ask(0, "mine", "tools=1 ms=1 echo=SECRET")
    until(lambda: outcomes(s.people, asked), "the answer in Telegram")
    turn = s.host.turns()[0]["id"]
    s.log_has_all(turn, "a turn of Telegram")
    there = s.slackers.ask(0, "theirs", "tools=1 ms=1")
    until(lambda: outcomes(s.slackers, there), "the answer in Slack")
    s.log_has_all(s.host.turns()[0]["id"], "a turn of Slack")
    equal(s.in_slack("mine") + s.in_slack("SECRET"), [], "no message of the turn in Telegram is in Slack")
    equal(s.in_telegram("theirs"), [], "no message of the turn in Slack is in Telegram")
    equal(s.has_named(turn), False, "a log with turns = own does not see the turn")


def over_http(s):
    """A turn that began outside a chat is shown in no chat unless its client names one."""
    turn = s.begin("tools=1 ms=1 id=silent")["id"]
    s.log_has_all(turn, "a turn over HTTP")
    named = s.begin("tools=1 ms=1 id=loud", "named", "tg")["id"]
    s.sees(s.in_telegram, "Answer loud", "the named chat has the answer")
    until(lambda: s.told(s.named_log, named, "done"), "the named log sees the turn")
    s.log_has_all(named, "a turn that names others")
    shown = {t["id"]: t.get("instances") for t in s.host.turns()}
    equal((shown[turn], shown[named]), (None, ["named", "tg"]), "the list of turns has the named instances")
    _, _, one = s.host.ask("GET", f"/turns/{named}", key="ann")
    equal(json.loads(one).get("instances"), ["named", "tg"], "the turn has the named instances")
    equal(s.in_telegram("silent") + s.in_slack("silent"), [], "a turn that names no chat is in no chat")
    equal(s.has_named(turn), False, "a turn that names no log is not in a log with turns = own")
    equal(s.in_slack("loud"), [], "a turn that names one chat is not in the other chat")
    equal(owed(s, turn) + owed(s, named), [], "all deliveries are done")


def owed(s, turn):
    """Waits for all deliveries of the turn; returns the instances that have not delivered it, from the journal."""
    def read():
        with sqlite3.connect(f"file:{s.host.state}/state.db?mode=ro", uri=True) as db:
            return [row[0] for row in db.execute("select conn from outbox where turn=?", (turn,))]

    until(lambda: not read(), "no delivery is pending")
    return read()


def refused(s):
    """Names of instances that do not exist."""
    def answer(instances):
        body = {"prompt": "id=never", "instances": instances}
        status, _, text = s.host.ask("POST", "/turns", key="ann", body=body)
        return status, json.loads(text)["error"]["message"]

    equal(answer(["tg", "tgg"]), (400, 'Unknown instance "tgg" (running: tg, sl, named, log).'),
          "the error for an unknown instance lists the running ones")
    for wrong in ("tg", 1, {}, [1], [""], ["tg\0"]):
        equal(answer(wrong), (400, "instances must be a list of names."), f"instances = {wrong!r}")
    equal(answer(["tg"] * 101)[1], "instances has too many names (limit: 100).", "too many")
    equal(s.host.begin("id=null", instances=None)["state"] in ("waiting", "running"), True, "null")


def connector_dies(s):
    """A named chat receives the rest of the turn from its next process."""
    turn = s.begin(f"{GATED} id=survives", "tg")["id"]
    s.host.await_state(turn, "running")
    status = json.loads(s.host.run("status", "--json")[1])
    pid = next(i["pid"] for i in status["instances"] if i["name"] == "tg")
    os.kill(pid, signal.SIGKILL)
    s.host.let_go("survives")
    s.sees(s.in_telegram, "Answer survives", "the answer arrives after a kill of the connector")
    equal(s.in_slack("survives"), [], "the other chat sees nothing")


def host_dies(s):
    """The instances that a client named survive a restart, for a running and for a waiting turn."""
    first = s.begin(f"{GATED} id=broken", "tg", conversation="c")["id"]
    s.host.await_state(first, "running")
    waits = s.begin("tools=1 ms=1 id=waited", "named", "tg", conversation="c")["id"]
    lonely = s.begin(f"{GATED} id=lonely")["id"]
    s.host.await_state(lonely, "running")
    before = len(s.in_telegram("turncast restarted"))
    s.host.kill()
    s.start()
    s.sees(s.in_telegram, "Answer waited", "the waiting turn is shown in the named chat")
    until(lambda: s.told(s.named_log, waits, "done"), "the waiting turn is shown in the named log")
    until(lambda: len(s.in_telegram("turncast restarted")) == before + 1, "the restart is reported once")
    for turn in (first, lonely):
        s.log_has_all(turn, "turns of the host that died")
    equal(len(s.in_telegram("turncast restarted")), before + 1, "the restart is reported for the turn that named the chat only")
    equal(s.in_slack("turncast restarted") + s.in_slack("waited"), [], "the other chat sees nothing")
    equal(s.has_named(lonely), False, "the log that was not named sees nothing")


def reloaded(s):
    """A changed scope applies to turns that begin afterwards, without a restart of the instance."""
    turn = s.begin(f"{GATED} id=before")["id"]
    s.host.await_state(turn, "running")
    text = s.host.config.read_text()
    s.host.config.write_text(text.replace("chat = ", 'turns = "all"; agents = ["main"]; chat = '))
    status, out = s.host.run("reload")
    equal(status, 0, "the reload succeeds")
    # The output contains the path of the configuration, in a folder with a random name.
    ok(not re.search(r"\btg\b", out) or "kept" in out, "no instance is restarted", out)
    s.host.let_go("before")
    s.log_has_all(turn, "a turn under a reload")
    s.begin("tools=1 ms=1 id=after")
    s.sees(s.in_telegram, "Answer after", "the next turn is shown in the chat")
    equal(s.in_telegram("before"), [], "the running turn is not shown in the chat")


def listed(s):
    """`turncast status` shows the operator which instance sees which turns."""
    found = {i["name"]: i["scope"] for i in json.loads(s.host.run("status", "--json")[1])["instances"]}
    wanted = {"tg": {"turns": "all", "agents": ["main"]}, "sl": {"turns": "own"},
              "named": {"turns": "own"}, "log": {"turns": "all"}}
    equal(found, wanted, "the scopes are in the status")
    out = s.host.run("status")[1]
    line = next(line for line in out.splitlines() if line.startswith("sl "))
    ok(" own " in line, "the status has the scope in words", line)
    ok("\n  only agents main\n" in out, "the status has other limits", out)
    out = s.host.run("plugins", "telegram")[1]
    ok("enabled as tg: all turns of main" in out, "turncast plugins has the scopes", out)


def main():
    with Fake("telegram") as fake, Fake("slack") as other, tempfile.TemporaryDirectory() as folder:
        stage = Stage(pathlib.Path(folder), fake, other)
        try:
            stage.start()
            for case in (own, over_http, refused, connector_dies, host_dies, reloaded, listed):
                case(stage)
        finally:
            stage.host.close()
        # A poll of the host that was killed may still be open when the next one polls.
        objections = [v for v in fake.violations() + other.violations() if v["rule"] != "two-pollers"]
        equal(objections, [], "the services rejected no request")
    done()


main()
