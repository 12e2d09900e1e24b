# SPDX-License-Identifier: MIT
"""Several hosts on one bus, while people talk to one of them, programs to the others, and hosts and NATS
servers fail: every message gets one outcome, in the order of its conversation, no turn is begun twice, and
every host shows the same.

t_fleet.py, t_fleet_calm.py, t_fleet_cluster.py and t_fleet_work.py run this."""
import collections
import contextlib
import json
import math
import pathlib
import random
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "api"))

import lag  # noqa: E402
import ledger  # noqa: E402
import wreck  # noqa: E402
from bus import Member, natsd, short_leases  # noqa: E402,F401
from chatter import Chatter  # noqa: E402
from deaths import Deaths  # noqa: E402
from judge import audited, judge  # noqa: E402
from killing import talk_until  # noqa: E402
from people import TelegramPeople, outcomes  # noqa: E402
from talk import LONG, Fake, Progress, audit, equal, failures, note, ok, telegram, until, until_done, written  # noqa: E402

CONVERSATIONS = "conversations : { max_turns = 64; max_warm = 20; debounce_ms = 0; };\n"
AGENT = 'keep_alive_s = 60; background = "follow";'
SHOWN = 20  # turns that are compared on all hosts in the end
OTHERS = 4
PEOPLE, MESSAGES = (200, 10000) if LONG else (12, 60)
# Telegram takes 30 messages in a second from a bot. So many people leave none for progress, and set the speed.
IS_FULL = LONG


def logged(host):
    """turn -> the kinds of its events, as the instance jsonl of the host was told them."""
    found = collections.defaultdict(list)
    for line in written(host.events):
        event = json.loads(line)
        if not event.get("agent"):
            found[event["correlation_id"]].append(event["type"])
    return found


def is_framed(kinds, once):
    """Whether start and done enclose one outcome. Unless `once`, start and outcome may be repeated after a restart of the host."""
    if once and kinds.count("start") != 1:
        return False
    return kinds[0] == "start" and kinds[-1] == "done" and len({k for k in kinds if k in ("final", "error")}) == 1


class Fleet:
    """Three hosts: `gateway` has the bot of Telegram. agent: more of the agent's configuration."""

    def __init__(self, servers, people, seed, bus="", agent=""):
        self.servers = servers
        self.submitted = []  # (host, turn) of what was asked by HTTP
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
        self.begun = time.monotonic()
        self.chatter.begin()
        return self

    def __exit__(self, kind, *_):
        with contextlib.ExitStack() as stack:
            stack.enter_context(self.fake)
            for host in self.hosts:
                stack.callback(host.close)
            if kind or failures():
                wreck.explain(self)

    # ---- what happens

    def talk(self, seconds):
        talk_until(self.chatter, lambda: False, seconds)

    def talk_until_asked(self, count, subscribers):
        """Lets users talk until `count` questions are asked, and measures the delay of events on other hosts.
        subscribers: hosts that follow a turn of another host."""
        progress = Progress(lambda: len(self.chatter.asked))
        with lag.measured(self, subscribers):
            talk_until(self.chatter, lambda: progress.last >= count or progress.stands_still(), math.inf)
        ok(progress.last >= count, "users ask the expected number of questions", progress.last)

    def submit(self, host=None):
        """Submits a turn over HTTP to a host, by default any except the gateway."""
        host = host or self.chance.choice(self.hosts[1:])
        turn = host.begin(f"tools=1 ms=50 id=http-{len(self.submitted)}")["id"]
        self.submitted.append((host, turn))

    def kill(self, host):
        if host.process.poll() is not None:
            ok(False, f"{host.name} has exited by itself", host.log()[-1000:])
        if host is self.gateway:
            self.deaths.kill()
        else:
            host.kill()

    def kill_hosts(self, count, every):
        """Kills `count` hosts one after the other at random, including the gateway."""
        for _ in range(count):
            self.talk(self.chance.uniform(0.2, every))
            host = self.chance.choice(self.hosts)
            self.kill(host)
            host.start()
            self.submit()

    def kill_servers(self, count, away):
        for _ in range(count):
            server = self.chance.choice(self.servers)
            server.kill()
            self.talk(self.chance.uniform(0.1, away))
            server.start()
            self.talk(self.chance.uniform(0.1, away))

    def lose_data(self):
        """Kills all servers and deletes their stored data."""
        for server in self.servers:
            server.kill()
            server.forget()
        self.talk(0.5)
        for server in self.servers:
            server.start()

    def ask_others(self, name, words):
        """Each user who is not in the chatter asks one question."""
        asked = [self.others.ask(who, f"{name}{who}", words) for who in range(OTHERS)]
        self.chatter.asked += [(self.others, question) for question in asked]
        return asked

    def are_told(self, asked, what):
        until_done(lambda: [q.id for q in asked if not outcomes(self.others, q)], what)
        ok(all(outcomes(self.others, q) for q in asked), what)

    def without_servers(self):
        """Users ask and are answered while all servers are down, in conversations that the host had last."""
        self.are_told(self.ask_others("before", "tools=1 ms=20"), "all have a conversation")
        for server in self.servers:
            server.kill()
        self.are_told(self.ask_others("alone", "tools=1 ms=20"), "people are answered while no server is there")
        for server in self.servers:
            server.start()

    def survive_absence(self, seconds):
        """Questions asked while all servers are down are answered when the servers are back."""
        for server in self.servers:
            server.kill()
        asked = self.ask_others("absent", "tools=1 ms=20")
        self.talk(seconds)
        for server in self.servers:
            server.start()
        self.are_told(asked, "what was said while no server was there is answered")

    def stand_still(self, host, seconds):
        host.process.send_signal(signal.SIGSTOP)
        self.talk(seconds)
        host.process.send_signal(signal.SIGCONT)

    def lose_runners(self, runners):
        """Stops the runners until their turns are taken for lost, then continues them: the results of their agents come too late."""
        asked = self.ask_others("late", "tools=1 gated")
        ids = {question.id for question in asked}
        until(lambda: ids <= {id_ for host in runners for id_ in self.begun_on(host)}, "the turns have begun")
        for host in runners:
            host.process.send_signal(signal.SIGSTOP)
        self.are_told(asked, "the turns of a host that stands still are over")
        equal([q.id for q in asked if "⚠" not in outcomes(self.others, q)[0]["text"]], [], "the turns of stopped runners end as lost")
        for host in runners:
            host.process.send_signal(signal.SIGCONT)
            for id_ in ids:
                host.let_go(id_, 2)

    def begun_on(self, host):
        """The ids of the messages that agents of the host were given in turns that began."""
        return [word.lstrip("+") for word in (host.gates / "begun").read_text().split()]

    # ---- what has to hold

    def await_end(self):
        for host in self.hosts:
            until_done(lambda host=host: ledger.open_work(host), f"{host.name} has told all in the end")
            host.await_bus()
        seconds = time.monotonic() - self.begun
        count = len(self.chatter.asked) + len(self.submitted)
        note(f"{count} messages in {seconds:.0f} s: {count / seconds:.1f} in a second")

    def judge(self, least_live, causes=frozenset({"host_restart"})):
        """causes: the codes of errors that may occur; if empty, no turn is repeated either."""
        for host in self.hosts[1:]:
            self.submit(host)
        self.await_end()
        self.judge_shown()
        equal([host.stop() for host in self.hosts], [0, 0, 0], "all hosts exit with status 0")
        judge(self.chatter, self.deaths, 0 if IS_FULL else least_live, causes=causes)
        self.judge_begun()
        self.judge_frames(once=not causes)
        self.judge_submitted()
        note(f"{len(self.chatter.asked)} messages, {len(self.deaths.times)} deaths of the gateway")

    def judge_shown(self):
        """Checks that every host shows the same events of the last turns of the gateway. For a turn that ended
        by a restart, other hosts still have the events from before the restart."""
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
        """Waits until the host knows that the turn has ended."""
        def look():
            status, _, text = host.ask("GET", f"/turns/{turn}", key="ann")
            return status == 200 and json.loads(text)["state"] not in ("waiting", "running")
        return until(look, f"{host.name} knows that the turn {turn} has ended")

    def judge_begun(self):
        begun = wreck.begun_on(self)
        equal({id_: hosts for id_, hosts in begun.items() if len(hosts) > 1}, {}, "no turn begins twice on any host")
        ok(begun, "turns were begun")

    def judge_frames(self, once):
        """Checks in the logs of the hosts that each turn begins with start, ends with done, and has one outcome."""
        logs = {"audit": {turn: [kind for kind, _ in events] for turn, events in audited(self.gateway).items()}}
        logs.update({host.name: logged(host) for host in self.hosts})
        for name, told in logs.items():
            wrong = {turn: kinds for turn, kinds in told.items() if not is_framed(kinds, once)}
            equal(wrong, {}, f"{name}: each turn begins with start and ends with done after one outcome")
            ok(told, f"{name}: the log has turns")

    def judge_submitted(self):
        """Checks that each turn submitted over HTTP has one outcome and is shown on the host that accepted it."""
        told = {host: logged(host) for host in self.hosts}
        for host in self.hosts[1:]:
            mine = [turn for asked, turn in self.submitted if asked is host]
            ended = {turn: state for turn, state, is_over in ledger.states(host) if is_over}
            equal([t for t in mine if ended.get(t) not in ("final", "error")], [],
                  f"every turn that {host.name} accepted over HTTP has an outcome")
            equal([t for t in mine if not told[host].get(t)], [], "every turn accepted over HTTP is in the log")
