# SPDX-License-Identifier: MIT
"""Several hosts on one bus, while people talk to one of them and hosts and NATS servers fail: every message
gets one outcome, in the order of its conversation, no turn is begun twice, and every host shows the same.

t_fleet.py, t_fleet_work.py and t_fleet_cluster.py run this."""
import collections
import contextlib
import json
import pathlib
import random
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "api"))

import ledger  # noqa: E402
from bus import Member, natsd  # noqa: E402,F401
from chatter import Chatter  # noqa: E402
from deaths import Deaths  # noqa: E402
from judge import audited, judge  # noqa: E402
from killing import talk_until  # noqa: E402
from people import TelegramPeople, outcomes  # noqa: E402
from talk import Fake, audit, equal, note, ok, telegram, until  # noqa: E402

CONVERSATIONS = "conversations : { max_turns = 64; max_warm = 20; debounce_ms = 0; };\n"
AGENT = 'keep_alive_s = 60; background = "follow";'
SHOWN = 20  # turns that are compared on all hosts in the end
TOLD_S = 300
OTHERS = 4


class Fleet:
    """Three hosts: `gateway` has the bot of Telegram. agent: more of the agent's configuration."""

    def __init__(self, servers, people, seed, bus="", agent=""):
        self.servers = servers
        self.chance = random.Random(seed)
        self.fake = Fake("telegram")
        crowd = TelegramPeople(self.fake, people)
        url = '", "'.join(server.url() for server in servers)
        self.others = TelegramPeople(self.fake, OTHERS)  # who do not chatter
        self.others.ids = list(range(3000, 3000 + OTHERS))
        instances = telegram(self.fake, allow=crowd.ids + self.others.ids, progress_after_ms=300) + audit()
        self.hosts = [
            Member(f"h{n}", url, bus=bus, extra=CONVERSATIONS, instances=instances if n == 1 else "",
                   agent=f"{AGENT} {agent}")
            for n in (1, 2, 3)
        ]
        self.gateway = self.hosts[0]
        self.chatter = Chatter([crowd], random.Random(seed + 1))
        self.crowd = crowd
        self.deaths = Deaths(self.gateway, [self.fake])
        for host in self.hosts:
            (host.gates / "begun").touch()

    def __enter__(self):
        for host in self.hosts:
            host.start()
        for host in self.hosts:
            host.await_bus()
        self.fake.wait(polling=1)
        self.chatter.begin()
        return self

    def __exit__(self, *_):
        with contextlib.ExitStack() as stack:
            stack.enter_context(self.fake)
            for host in self.hosts:
                stack.callback(host.close)

    # ---- what happens

    def talk(self, seconds):
        talk_until(self.chatter, lambda: False, seconds)

    def talk_until_asked(self, count, seconds):
        talk_until(self.chatter, lambda: len(self.chatter.asked) >= count, seconds)

    def kill(self, host):
        if host.process.poll() is not None:
            ok(False, f"{host.name} has ended by itself", host.log()[-1000:])
        if host is self.gateway:
            self.deaths.kill()
        else:
            host.kill()

    def kill_hosts(self, count, every):
        """One after the other at random, the gateway among them."""
        for _ in range(count):
            self.talk(self.chance.uniform(0.2, every))
            host = self.chance.choice(self.hosts)
            self.kill(host)
            host.start()

    def kill_servers(self, count, away):
        for _ in range(count):
            server = self.chance.choice(self.servers)
            server.kill()
            self.talk(self.chance.uniform(0.1, away))
            server.start()
            self.talk(self.chance.uniform(0.1, away))

    def lose_data(self):
        """All servers, and what they have stored."""
        for server in self.servers:
            server.kill()
            server.forget()
        self.talk(0.5)
        for server in self.servers:
            server.start()

    def without_servers(self):
        """People go on, and are answered, while no server is there."""
        for server in self.servers:
            server.kill()
        asked = [self.others.ask(who, f"alone{who}", "tools=1 ms=20") for who in range(OTHERS)]
        self.chatter.asked += [(self.others, question) for question in asked]
        ok(until(lambda: all(outcomes(self.others, q) for q in asked), "all are answered"),
           "people are answered while no server is there")
        for server in self.servers:
            server.start()

    def survive_absence(self, seconds):
        """What people say while no server is there is answered when the servers are back."""
        for server in self.servers:
            server.kill()
        asked = [self.others.ask(who, f"absent{who}", "tools=1 ms=20") for who in range(OTHERS)]
        self.chatter.asked += [(self.others, question) for question in asked]
        self.talk(seconds)
        for server in self.servers:
            server.start()
        ok(until(lambda: all(outcomes(self.others, q) for q in asked), "all are answered"),
           "what was said while no server was there is answered")

    def stand_still(self, host, seconds):
        host.process.send_signal(signal.SIGSTOP)
        self.talk(seconds)
        host.process.send_signal(signal.SIGCONT)

    # ---- what has to hold

    def await_end(self):
        until(lambda: not ledger.open_work(self.gateway), "all is told in the end", TOLD_S)
        for host in self.hosts:
            host.await_bus()

    def judge(self, least_live, causes=frozenset({"host_restart"})):
        """causes: of the errors that there may be."""
        self.await_end()
        self.judge_shown()
        equal([host.stop() for host in self.hosts], [0, 0, 0], "all hosts end well")
        judge(self.chatter, self.deaths, least_live, causes=causes)
        self.judge_order()
        self.judge_begun()
        self.judge_frames()
        note(f"{len(self.chatter.asked)} messages, {len(self.deaths.times)} deaths of the gateway")

    def judge_shown(self):
        """The last turns of the gateway's life: every host shows the same of them. Of a turn that a restart
        has ended the others still have the events of the life before."""
        ended = [t for t in self.gateway.turns() if t.get("code") != "host_restart"]
        turns = [t["id"] for t in ended][:SHOWN]
        differ = []
        for turn in turns:
            wanted = self.gateway.all_events(turn)
            for host in self.hosts[1:]:
                if not self.is_over(host, turn) or host.all_events(turn) != wanted:
                    differ.append((host.name, turn, host.turn(turn), self.gateway.turn(turn)))
        equal(differ, [], "every host shows the same events of a turn")
        note(f"turns compared: {len(turns)}")

    @staticmethod
    def is_over(host, turn):
        """Whether the host comes to know that."""
        def look():
            status, _, text = host.ask("GET", f"/turns/{turn}", key="ann")
            return status == 200 and json.loads(text)["state"] not in ("waiting", "running")
        return until(look, f"{host.name} knows that the turn is over", 20)

    def judge_order(self):
        """Of each conversation the outcomes come in the order of its messages."""
        places = collections.defaultdict(list)
        for crowd, question in self.chatter.asked:
            found = [int(m["id"]) for m in outcomes(crowd, question)]
            if found:
                places[question.chat].append(min(found))
        wrong = [chat for chat, found in places.items() if found != sorted(found)]
        equal(wrong, [], "outcomes come in the order of the conversation")

    def judge_begun(self):
        lines = [line for host in self.hosts for line in (host.gates / "begun").read_text().split()]
        twice = [id_ for id_, n in collections.Counter(lines).items() if n > 1]
        equal(twice, [], "no turn is begun twice, on whichever host")
        ok(lines, "turns were begun")

    def judge_frames(self):
        """In the log of the gateway each turn begins with start and ends with done."""
        told = audited(self.gateway)
        wrong = [turn for turn, events in told.items() if events[0][0] != "start" or events[-1][0] != "done"]
        equal(wrong, [], "start is the first event of each turn, done the last")
