# SPDX-License-Identifier: MIT
"""Agents with background work in a chat: the answer comes at once, and the result of the background work is
another message, once, even after a kill of the host; a waiting agent process receives the next message."""
import collections
import contextlib
import os
import pathlib
import random
import re
import signal
import time

import ledger
from judge import judge_turns
from people import TelegramPeople, can_stop, messages
from talk import LONG, Fake, Host, done, equal, note, ok, rounds, telegram, until

PEOPLE = list(range(1000, 1009))
AGENT = 'keep_alive_s = 60; background = "follow"; while_running = "steer";'
EXTRA = "conversations : { max_turns = 8; max_warm = 4; debounce_ms = 0; };"
KILLS = rounds(150 if LONG else 15)
OUTCOME = re.compile(r"(?P<said>Answer|Later) (?P<id>q[0-9]+) of ")
WITH = re.compile(r"With (q[0-9]+)\.")


class Chat:
    def __init__(self, fake, person):
        self.fake, self.person = fake, person

    def say(self, text):
        self.fake.control("message", {"from": self.person, "chat": self.person, "text": text})

    def texts(self, part):
        return [m["text"] for m in messages(self.fake, str(self.person)) if part in m["text"]]

    def hear(self, part):
        return until(lambda: self.texts(part), f"{part!r} in the chat of {self.person}")


def waiting(host):
    return '"waiting_agents":1' in host.run("status", "--json")[1].replace(" ", "")


def session_of(text):
    return text.split(" of ")[1].split(":")[0].rstrip(".")


def follow(fake, host):
    chat = Chat(fake, PEOPLE[0])
    chat.say("behind id=a1")
    first = chat.hear("Answer a1")
    equal(chat.texts("Later"), [], "the answer comes while the background work continues")
    chat.say("id=a2")
    second = chat.hear("Answer a2")
    host.let_go("a1.behind")
    later = chat.hear("Later a1")
    chat.say("id=a3")
    third = chat.hear("Answer a3")
    told = {session_of(texts[0]) for texts in (first, second, later, third)}
    equal(len(told), 1, f"all turns have one session: {told}")
    for part in "Answer a1", "Answer a2", "Later a1", "Answer a3":
        equal(len(chat.texts(part)), 1, f"{part}: once")
    ok(until(lambda: waiting(host), "one agent waits"), "one agent process waits")
    ok("session" not in host.log(), "no session was lost")


def silent(fake, host):
    """A turn of background work without a result says that the work has ended."""
    chat = Chat(fake, PEOPLE[1])
    chat.say("behind-silently id=b1")
    chat.hear("Answer b1")
    host.let_go("b1.behind")
    chat.hear("The work in the background has ended. There is nothing to add.")
    chat.say("id=b2")
    chat.hear("Answer b2")
    equal(len(chat.texts("has ended")), 1, "once")


def stop(fake, host):
    chat = Chat(fake, PEOPLE[2])
    chat.say("behind id=c1")
    chat.hear("Answer c1")
    chat.say("/stop")
    chat.hear("Stopping the work in the background.")
    host.let_go("c1.behind")
    chat.say("id=c2")
    chat.hear("Answer c2")
    equal(chat.texts("Later"), [], "the result of stopped background work is not shown")


def reactions(fake):
    """The messages of the bot in their order."""
    calls = [r["params"] for r in fake.record() if r.get("method") == "setMessageReaction" and r.get("status")]
    return [call["reaction"][0]["emoji"] for call in calls]


def given(fake, host):
    """A message during a turn is merged into it unless it is dropped in time."""
    chat = Chat(fake, PEOPLE[2])
    chat.say("gated tools=1 id=g1")
    chat.hear("Looking at part 1")
    chat.say("id=g2")
    until(lambda: reactions(fake)[-1] == "👨‍💻", "a reaction shows that the agent has the message")
    chat.say("/queue clear")
    chat.hear("Dropped 1 queued message.")
    chat.say("id=g3")
    until(lambda: reactions(fake).count("👨‍💻") == 2, "a reaction shows that the agent has the next message")
    host.let_go("g1")
    answer = chat.hear("Answer g1")
    ok("With g3." in answer[0] and "g2" not in answer[0], "the answer covers the first and the last message", answer)
    equal([chat.texts(f"Answer {id_}") for id_ in ("g2", "g3")], [[], []], "the merged message and the dropped message have no other answer")


class Talk:
    """Users who write again while the agent works, with their messages and answers. Has the attribute .asked
    for judge."""

    def __init__(self, fake, host, people, chance):
        self.fake, self.host, self.people, self.chance = fake, host, people, chance
        self.asked = []
        self.behind = []  # (id, who) of tasks in the background
        self.names = {}  # (chat, message) -> id
        self.busy = None  # whose task has ended

    def ask(self, who):
        id_ = f"q{len(self.asked)}"
        words = f"tools={self.chance.choice([0, 1, 2, 3])} ms={self.chance.choice([20, 80, 200])}"
        if self.chance.random() < 0.5:
            words = "tools=2 ms=200 behind"  # the turn that the agent begins is to be long enough
            self.behind.append((id_, who))
        question = self.people.ask(who, id_, words)
        self.asked.append((self.people, question))
        self.names[question.chat, question.message] = id_

    def go_on(self, seconds):
        """Lets users write for the given number of seconds, while background tasks end."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.chance.random() < 0.25:
                self.ask(self.chance.randrange(len(self.people.ids)))
            if self.behind and self.chance.random() < 0.2:
                self.busy = self.end_task(self.chance.randrange(len(self.behind)))
            elif self.busy is not None and self.chance.random() < 0.2:
                self.ask(self.busy)
                self.busy = None
            time.sleep(0.03)

    def end_task(self, number):
        """Ends a background task; returns its chat."""
        id_, who = self.behind.pop(number)
        self.host.let_go(f"{id_}.behind")
        return who

    def told(self, chat):
        """The outcomes in the chat: (text, ids, whether it is marked as a repeat)."""
        texts = [m["text"] for m in messages(self.fake, chat) if not can_stop(m.get("buttons"))]
        found = [(OUTCOME.search(text), text) for text in texts]
        return [
            (match["said"], (match["id"], *WITH.findall(text)), "(may be a repeat)" in text)
            for match, text in found
            if match
        ]


def stays_idle(host):
    """Whether nothing runs or is undelivered for a while. An agent needs a moment to notice that its task has
    ended."""
    deadline = time.monotonic() + 1
    while time.monotonic() < deadline:
        if ledger.open_work(host):
            return False
        time.sleep(0.05)
    return True


def agents_of(host):
    """The processes of the agents of the host."""
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            words = (folder / "cmdline").read_bytes().split(b"\0") if folder.name.isdigit() else []
            if words and words[0].endswith(b"/talker") and str(host.gates).encode() in words:
                found.append(int(folder.name))
    return found


def kill_agents(host, chance):
    """Kills one of the agent processes, waiting ones included."""
    for pid in agents_of(host):
        if chance.random() < 0.5:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def judge_answers(talk, turns, name, dead):
    """Checks that each answer covers the messages that the journal says. `dead`: requests that were in flight
    at three kills are given up."""
    equal({reason for _, reason in dead} - {"poison"}, set(), "only requests that were in flight at three kills are given up")
    buried = {turn for turn, _ in dead}
    merged = collections.defaultdict(set)
    for turn in turns:
        if turn.state == "merged":
            merged[turn.code].add(name(turn))
    told = {chat: talk.told(chat) for chat in {t.chat for t in turns}}
    for turn in turns:
        if turn.state != "final" or turn.by_agent:
            continue
        seen = [(ids, again) for said, ids, again in told[turn.chat] if said == "Answer" and ids[0] == name(turn)]
        plain = [ids for ids, again in seen if not again]
        wrong = [ids for ids, _ in seen if set(ids[1:]) != merged[turn.id]]
        if (not seen and turn.id not in buried) or len(plain) > 1 or wrong:
            ok(False, f"{name(turn)} is answered once, with {merged[turn.id]}", seen)
    note(f"merged into turns of agents: {sum(len(merged[t.id]) for t in turns if t.by_agent)}")
    for chat, outcomes in told.items():
        later = [ids for said, ids, again in outcomes if said == "Later" and not again]
        ended = [t for t in turns if t.by_agent and t.chat == chat and t.state == "final"]
        equal(len({ids[0] for ids in later}), len(later), f"{chat}: no turn of the agent is shown twice")
        if any(t.id in buried for t in ended):
            continue
        equal(len(later), len(ended), f"{chat}: each ended background task is shown")
        equal(sum(len(ids) - 1 for ids in later), sum(len(merged[t.id]) for t in ended),
              f"{chat}: the answer covers the merged messages")


def deaths(fake, host):
    """The host and its agents are killed at any time while users write during turns: each message has one
    outcome, that of the turn it was merged into or its own, and nothing is shown twice."""
    seed = int(os.environ.get("TURNCAST_SEED", 0)) or (int(time.time()) if LONG else 17)
    note(f"seed {seed}")
    chance = random.Random(seed)
    people = TelegramPeople(fake, 0)
    people.ids = PEOPLE[3:]
    talk = Talk(fake, host, people, chance)
    for _ in range(KILLS):
        talk.go_on(chance.uniform(0.1, 1.2))
        victim = chance.choice(["host", "host", "agents", "both"])
        if victim != "host":
            kill_agents(host, chance)
        if victim != "agents":
            host.kill()
            host.start()
    while talk.behind:
        talk.end_task(0)
    until(lambda: stays_idle(host), "all outcomes are delivered in the end", 300)
    equal(host.stop(), 0, "the host ends")
    judge_turns(talk, host, {"host_restart", "agent_signal", "agent_spawn"})
    dead = ledger.dead(host)
    note(f"dead letters: {len(dead)}")
    judge_answers(talk, ledger.turns(host), lambda turn: talk.names[turn.chat, turn.message], dead)
    note(f"{KILLS} kills, {len(talk.asked)} messages")


def main():
    with Fake("telegram") as fake:
        with Host(telegram(fake, allow=PEOPLE), agent=AGENT, extra=EXTRA) as host:
            until(host.has_started, "the host starts")
            for case in follow, silent, stop, given:
                case(fake, host)
        # A host of its own: its journal has the turns of these people alone.
        with Host(telegram(fake, allow=PEOPLE), agent=AGENT, extra=EXTRA) as host:
            until(host.has_started, "the host starts")
            deaths(fake, host)
    done()


main()
