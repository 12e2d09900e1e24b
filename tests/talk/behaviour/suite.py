# SPDX-License-Identifier: MIT
"""The behaviour suite for chat connectors: cases that are written once and run for each service, through
its fake, with one judge. Stages are hosts beside each other, with different options; the cases of a
stage are beside each other, too, but for those that concern the whole host.

A case that needs what a service lacks is left out; one that is left out at every service fails."""
import contextlib
import pathlib
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import asks
import deliver
import hear
import restart
import show
import judge
import ledger
from cases import results
from deaths import Deaths
from deciders import agents
from on_discord import OnDiscord
from on_matrix import OnMatrix
from on_slack import OnSlack
from on_teams import OnTeams
from on_telegram import OnTelegram
from talk import Host, done, equal, note, ok

SERVICES = {kind.NAME: kind for kind in (OnTelegram, OnMatrix, OnSlack, OnTeams, OnDiscord)}
EXTRA = """visibility : { show_tools = true; show_narration = true; };
conversations : { max_turns = 64; debounce_ms = 50; };"""
ASKING = {"agent": "asker", "grants": ["submit", "cancel", "answer"]}


@dataclass
class Stage:
    name: str
    cases: list
    alone: list = field(default_factory=list)
    options: dict = field(default_factory=dict)
    at_once: int = 16  # of what is asked and pressed, each costs an account several requests


STAGES = [
    Stage("shown", show.CASES + hear.CASES),
    Stage("delivered", deliver.CASES, [*restart.CASES, restart.token]),
    Stage("limited", [], deliver.ALONE),
    Stage("asked", asks.CASES, restart.ASKED, ASKING, at_once=4),
    Stage("edited", [show.edited, show.edited_deleted, deliver.late_edit], [], {"finalize": "edit"}),
    Stage("file", [show.whole_file], [], {"overflow": "file"}),
]


def needs_of(case):
    return getattr(case, "needs", frozenset())


def fitting(kind, cases):
    return [case for case in cases if needs_of(case) <= kind.CAN]


class Played:
    """A stage that has been run: the results of its cases, and its place for the judge."""

    def __init__(self, kind, stage):
        self.stage, self.place, self.found = stage, kind(), []
        self.place.fake.control("final", {"text": "(?s)\\A(?!.*⏱)(Answer [a-z0-9-]+ of |⚠)"})
        instance = self.place.instance(**stage.options)
        self.host = self.place.host = Host(instance, extra=EXTRA + self.place.extra(), agents=agents(rules=self.rules()))
        self.deaths = self.place.deaths = Deaths(self.host, [self.place.fake])

    def rules(self):
        return asks.rules(self.place) if self.stage.options.get("agent") else ""

    def play(self):
        began = time.monotonic()
        kind = type(self.place)
        self.host.start()
        self.place.ready()
        self.found = results(fitting(kind, self.stage.cases), self.place, at_once=self.stage.at_once)
        self.found += results(fitting(kind, self.stage.alone), self.place, at_once=1)
        self.seconds = time.monotonic() - began
        return self

    def close(self):
        self.host.close()
        self.place.fake.close()

    def report(self):
        note(f"stage {self.stage.name}: {self.seconds:.0f} s")
        for case, wrong, seconds in self.found:
            ok(wrong is None, case.__doc__, wrong)
            note(f"{seconds:.1f} s")
        equal(self.host.stop(), 0, f"{self.stage.name}: the host exits with status 0")
        self._judge_turns()
        equal(self._objections(), [], f"{self.stage.name}: a strict service rejected no request")
        equal(self.host.leaks(), [], f"R23: {self.stage.name}: no secret is in files and logs of the host")

    def _judge_turns(self):
        """Judges the outcomes of all questions as the tests that kill the host do."""
        known = judge.by_question([t for t in ledger.turns(self.host) if not t.by_agent])
        mine = {q: known[q.chat, q.message] for q in self.place.asked}
        wrong = [q.id for q, turns in mine.items() if len(turns) != 1]
        equal(wrong, [], f"R18: {self.stage.name}: every message is one turn")
        turns = {q: t[0] for q, t in mine.items() if t and t[0].state in ("final", "error") and t[0].code != "interrupted"}
        shown = self.deaths.shown()
        judge.judge_outcomes(shown, turns, self.host, self.deaths.in_flight, self.place.refused)

    def _objections(self):
        shown = self.deaths.shown()[self.place.NAME]
        return [v for v in shown.objections() if v["rule"] not in self.place.expected]


def left_out():
    """Cases that no service supports."""
    cases = [case for stage in STAGES for case in [*stage.cases, *stage.alone]]
    return [case.__name__ for case in cases
            if not any(needs_of(case) <= kind.CAN for kind in SERVICES.values())]  # fmt: skip


def main(name, only=""):
    """`only`: words in the names of stages to run."""
    kind = SERVICES[name]
    stages = [s for s in STAGES if (not only or s.name in only) and fitting(kind, s.cases + s.alone)]
    with contextlib.ExitStack() as stack:
        played = [Played(kind, stage) for stage in stages]
        for one in played:
            stack.callback(one.close)
        with ThreadPoolExecutor(len(played)) as pool:
            list(pool.map(Played.play, played))
        for one in played:
            one.report()
    equal(left_out(), [], "each case is run for at least one service")
    done()
