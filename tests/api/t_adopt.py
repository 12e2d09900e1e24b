#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The host that leads a bot is killed: the next leader continues its turns and delivers the pending outcomes."""
import base64
import json
import os
import random
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from bus import Member, done, equal, natsd, note, ok, skip_without_server, stored, until  # noqa: E402
import ledger  # noqa: E402
import wreck  # noqa: E402
from people import TelegramPeople, messages, outcomes  # noqa: E402
from shown import is_marked  # noqa: E402
from talk import Fake, failures, rounds, telegram, until_done  # noqa: E402
from t_lead import bot, leads  # noqa: E402

TTL_S = 5
# So many messages may wait, because leaders that are killed leave turns to be told to the next one.
CONVERSATIONS = "conversations : { max_turns = 1; debounce_ms = 0; queue = 1000; };"


def short_leases(server):
    """Creates the buckets with leases of five seconds, so that no test waits long for the next leader."""
    client = server.client()
    for name in ("lead", "host"):
        client.api(f"STREAM.CREATE.KV_tc_{name}",
                   {"name": f"KV_tc_{name}", "subjects": [f"$KV.tc_{name}.>"], "retention": "limits", "storage": "file",
                    "allow_direct": True, "discard": "new", "max_age": TTL_S * 10**9, "max_msgs_per_subject": 1,
                    "duplicate_window": TTL_S * 10**9})
    client.close()


class Pair:
    """Two hosts with the same bot; the files `begun` record what their agents have started."""

    def __init__(self, server, fake, people, names=("h1", "h2"), bus="", hosts=()):
        self.server = server
        self.people = people
        instance = telegram(fake, allow=people.ids, progress_after_ms=0)
        self.hosts = [Member(name, server.url(), bus=f"lost_after_s = 3; {bus}", extra=CONVERSATIONS, instances=instance,
                             hosts=hosts) for name in names]
        self.runners = []
        for host in self.hosts:
            (host.gates / "begun").touch()

    def __enter__(self):
        for host in self.hosts:
            host.start()
        for host in self.hosts:
            host.await_bus()
        return self

    def __exit__(self, kind, *_):
        if kind or failures():
            wreck.keep(self.hosts + self.runners)
        for host in self.hosts:
            host.close()

    def roles(self):
        until(lambda: [h for h in self.hosts if leads(h)], "one host leads the bot")
        leader = next(h for h in self.hosts if leads(h))
        return leader, next(h for h in self.hosts if h is not leader)

    def begun(self, question):
        """How often an agent on any host has received the question, alone or joined with others."""
        given = [word.lstrip("+") for h in self.hosts + self.runners for word in (h.gates / "begun").read_text().split()]
        return given.count(question.id)

    def answered(self, *questions, failed=(), most=1):
        """Each question has one outcome in its chat, and no agent has started twice."""
        for q in questions:
            until(lambda q=q: outcomes(self.people, q), f"{q.id} is answered")
        until(lambda: stored(self.server, "new") == 0, "all outcomes are delivered")
        equal({q.id: len(outcomes(self.people, q)) for q in questions}, {q.id: 1 for q in questions}, "each question has one outcome")
        until(lambda: all(len(self.people.seen(q)) == 1 for q in questions), "there is no other message")
        ok(all(self.begun(q) <= most for q in questions), "each question has begun at most once", [self.begun(q) for q in questions])
        said = {q.id: "".join(m["text"] for m in self.people.seen(q)) for q in questions}
        equal({q.id for q in questions if "⚠" in said[q.id]}, {q.id for q in failed}, "the questions whose agent was lost have failed")

    def back(self, host):
        host.start()
        host.await_bus()
        until(lambda: bot(host).get("stands_by"), "the restarted host stands by")


def marks(pair, question):
    """For each outcome in the chat: whether it is marked as a possible repeat."""
    return [is_marked(m["text"]) for m in outcomes(pair.people, question)]


def joined(pair, question):
    """Checks that the answer to another message covers this one."""
    return [m for m in messages(pair.people.fake, question.chat) if f"With {question.id}." in (m.get("text") or "")]


def failed_with(pair, question):
    """Checks that one error covers both: the question was merged into the turn of another message, which has failed."""
    turns = [t for host in pair.hosts for t in ledger.turns(host)]
    heads = {t.code for t in turns if t.state == "merged" and (t.chat, t.message) == (question.chat, question.message)}
    return any(t.state == "error" and t.id in heads for t in turns)


def waiting_and_running(pair, number):
    """Begins a turn whose agent runs on the leader, and a message that waits for it."""
    runs = pair.people.ask(0, f"r{number}", "tools=2 gated")
    until(lambda: pair.people.seen(runs), "the turn shows its progress")
    waits = pair.people.ask(1, f"w{number}", "tools=1")
    until(lambda: stored(pair.server, "new") == 2, "the servers know both messages")
    return runs, waits


def told_by_the_next(pair):
    """A waiting turn starts on the next leader; the turn that ran on the dead host has failed."""
    leader, other = pair.roles()
    runs, waits = waiting_and_running(pair, 1)
    leader.kill()
    until(lambda: leads(other), "the other host takes over")
    pair.answered(runs, waits, failed=[runs])
    equal(pair.begun(waits), 1, "the waiting message has begun once")
    pair.back(leader)
    after = pair.people.ask(2, "a1", "tools=1")
    pair.answered(runs, waits, after, failed=[runs])


def stopped(pair):
    """The leader is stopped (SIGSTOP) until the next one has adopted its turns, and then continues."""
    leader, other = pair.roles()
    runs, waits = waiting_and_running(pair, 2)
    leader.process.send_signal(signal.SIGSTOP)
    until(lambda: leads(other), "the other host takes over")
    pair.answered(waits)
    leader.process.send_signal(signal.SIGCONT)
    until(lambda: bot(leader).get("stands_by"), "the continued host stands by")
    leader.let_go("r2", 3)
    until(lambda: outcomes(pair.people, runs), "r2 has an outcome")
    pair.answered(runs, waits, failed=[q for q in [runs] if "⚠" in "".join(m["text"] for m in pair.people.seen(q))])
    until(lambda: not leader.turns() or all(t["state"] not in ("running", "waiting") for t in leader.turns()),
          "no turn is open on the former leader")


def refused(pair, fake):
    """The leader has the outcome, but the service refuses connections: the next leader delivers it."""
    leader, other = pair.roles()
    fake.control("fault", {"match": {"text": "Answer d1"}, "do": "reset", "done": False, "times": 0})
    asked = pair.people.ask(0, "d1", "tools=1")
    until(lambda: stored(pair.server, "tell"), "the outcome is about to be delivered")
    leader.kill()
    fake.control("clear")
    until(lambda: leads(other), "the other host takes over")
    pair.answered(asked)
    equal(pair.begun(asked), 1, "the answer is that of the agent of the killed host")
    pair.back(leader)


def in_doubt(pair, fake):
    """The leader is killed before it receives the reply of the service that has shown the answer."""
    leader, other = pair.roles()
    fake.control("fault", {"match": {"text": "Answer e1"}, "do": "hold", "done": True, "times": 1})
    asked = pair.people.ask(0, "e1", "tools=1")
    until(lambda: outcomes(pair.people, asked), "the service has shown the answer")
    leader.kill()
    fake.control("clear")
    until(lambda: leads(other), "the other host takes over")
    until(lambda: stored(pair.server, "new") == 0, "all outcomes are delivered")
    equal(marks(pair, asked), [False, True], "the answer is sent again, marked as a repeat")
    equal(pair.begun(asked), 1, "one agent has begun the turn")
    pair.back(leader)


def sent_again(pair, fake):
    """The service delivers a message that the killed leader has admitted to the next leader, too."""
    leader, other = pair.roles()
    runs, waits = waiting_and_running(pair, 3)
    leader.kill()
    fake.control("options", {"updates_lost": 2})
    until(lambda: leads(other), "the other host takes over")
    pair.answered(runs, waits, failed=[runs])
    pair.back(leader)


def back_without_lead(pair, fake):
    """The leader loses its lead while it delivers an answer, and comes back as standby."""
    leader, other = pair.roles()
    fake.control("fault", {"match": {"text": "Answer g1"}, "do": "reset", "done": False, "times": 0})
    asked = pair.people.ask(0, "g1", "tools=1")
    until(lambda: stored(pair.server, "tell"), "the outcome is about to be delivered")
    leader.process.send_signal(signal.SIGSTOP)
    until(lambda: leads(other), "the other host takes over")
    leader.process.send_signal(signal.SIGCONT)
    until(lambda: bot(leader).get("stands_by"), "the continued host stands by")
    fake.control("clear")
    until(lambda: outcomes(pair.people, asked), "the outcome is delivered")
    until(lambda: stored(pair.server, "new") == 0, "the servers know the delivery")
    equal((len(outcomes(pair.people, asked)), pair.begun(asked)), (1, 1), "the outcome is delivered once, by one agent")
    until(lambda: json.loads(leader.run("status", "--json")[1])["outbox"]["queued"] == 0, "the former leader has handed over its outbox")


def queued(host):
    status, text = host.run("status", "--json")
    return json.loads(text)["outbox"]["queued"] if status == 0 else None


def leads_again(pair, fake):
    """A killed leader has an answer in its outbox, and the next leader delivers it and exits. The first one,
    which leads again at once after its restart, does not deliver it again."""
    leader, other = pair.roles()
    fake.control("fault", {"match": {"text": "Answer h1"}, "do": "reset", "done": False, "times": 0})
    asked = pair.people.ask(0, "h1", "tools=1")
    until(lambda: stored(pair.server, "tell") and queued(leader), "the outcome is about to be delivered")
    leader.kill()
    fake.control("clear")
    until(lambda: leads(other), "the other host takes over")
    pair.answered(asked)
    other.stop()
    leader.start()
    leader.await_bus()
    until(lambda: leads(leader), "the restarted host leads")
    pair.answered(asked, pair.people.ask(1, "h2", "tools=1"))
    equal(queued(leader), 0, "no outcome of the first run is queued")
    other.start()
    other.await_bus()


def over(host, question):
    """Whether no turn of the question is open on the host."""
    return all(t["state"] not in ("running", "waiting") for t in host.turns() if t.get("task") and question.id in t["task"])


def agent_outlives_lead(pair):
    """The next leader reports that the agent of a host was lost, and exits. That host leads again, and its
    agent answers: the outcome is already delivered."""
    leader, other = pair.roles()
    led = leader.log().count("instance tg: this host leads it")
    runs = pair.people.ask(0, "q1", "tools=2 gated")
    until(lambda: pair.people.seen(runs), "the turn shows its progress")
    until(lambda: stored(pair.server, "new") == 1, "the servers know the turn")
    leader.process.send_signal(signal.SIGSTOP)
    until(lambda: leads(other), "the other host takes over")
    until(lambda: outcomes(pair.people, runs), "the other host reports that the agent was lost")
    until(lambda: stored(pair.server, "new") == 0, "the servers know the delivery")
    other.stop()
    leader.process.send_signal(signal.SIGCONT)
    until(lambda: leader.log().count("instance tg: this host leads it") > led and leads(leader),
          "the continued host leads")
    leader.let_go("q1", 3)
    until(lambda: over(leader, runs), "the agent of the continued host has answered")
    pair.answered(pair.people.ask(0, "q2", "tools=1"))
    pair.answered(runs, failed=[runs])
    other.start()
    other.await_bus()


def lose(server, *streams, kind=""):
    client = server.client()
    for stream in streams:
        client.api(f"STREAM.PURGE.{stream}", {"filter": f"tc.turn.{kind}.>"} if kind else None)
    client.close()


def given_and_lost(pair, fake):
    """A host passes an outcome to the next leader, which is killed before it has delivered it, and the servers
    lose their data: the host still has the outcome."""
    leader, other = pair.roles()
    fake.control("fault", {"match": {"text": "Answer m1"}, "do": "reset", "done": False, "times": 0})
    asked = pair.people.ask(0, "m1", "tools=1")
    until(lambda: stored(pair.server, "tell"), "the outcome is about to be delivered")
    leader.process.send_signal(signal.SIGSTOP)
    until(lambda: leads(other), "the other host takes over")
    leader.process.send_signal(signal.SIGCONT)
    until(lambda: bot(leader).get("stands_by"), "the continued host stands by")
    until(lambda: queued(other), "the leader has the outcome")
    other.kill()
    lose(pair.server, "TC_TURN")
    fake.control("clear")
    until(lambda: leads(leader), "the host leads again")
    until(lambda: outcomes(pair.people, asked), "the outcome is delivered")
    pair.back(other)
    pair.answered(asked, pair.people.ask(1, "m2", "tools=1"))
    until(lambda: queued(other) == 0, "no outcome is queued on the killed host")


def taken_back(pair, fake):
    """As before, but the host had not begun the delivery, and the servers have lost the outcome only."""
    leader, other = pair.roles()
    fake.control("fault", {"match": {"text": "Answer p1"}, "do": "reset", "done": False, "times": 0})
    runs = pair.people.ask(0, "p1", "tools=2 gated")
    until(lambda: pair.people.seen(runs), "the turn shows its progress")
    leader.process.send_signal(signal.SIGSTOP)
    until(lambda: leads(other), "the other host takes over")
    leader.process.send_signal(signal.SIGCONT)
    until(lambda: bot(leader).get("stands_by"), "the continued host stands by")
    leader.let_go("p1", 3)
    until(lambda: stored(pair.server, "tell"), "the leader is about to deliver the outcome")
    other.kill()
    lose(pair.server, "TC_TURN", kind="out")
    lose(pair.server, "TC_EV")
    fake.control("clear")
    until(lambda: leads(leader), "the host leads again")
    until(lambda: outcomes(pair.people, runs), "the outcome is delivered")
    equal(marks(pair, runs), [True], "the outcome is marked as a repeat")
    pair.back(other)
    pair.answered(runs, pair.people.ask(1, "p2", "tools=1"))


def told_before_cleanup(pair, fake):
    """An answer counts as delivered when the service has it, not only when the progress message is removed."""
    leader, other = pair.roles()
    fake.control("fault", {"match": {"method": "deleteMessage"}, "do": "reset", "done": False, "times": 0})
    asked = pair.people.ask(0, "n1", "tools=2 gated")
    until(lambda: pair.people.seen(asked), "the turn shows its progress")
    leader.let_go("n1", 3)
    until(lambda: outcomes(pair.people, asked), "the service has the answer")
    until(lambda: stored(pair.server, "new") == 0, "the servers know the delivery")
    ok(queued(leader), "the progress message is not removed yet")
    leader.kill()
    until(lambda: leads(other), "the other host takes over")
    pair.answered(pair.people.ask(1, "n2", "tools=0"))
    equal(marks(pair, asked), [False], "the other host delivers nothing")
    leader.start()
    leader.await_bus()
    fake.control("clear")
    other.stop()
    until(lambda: leads(leader), "the restarted host leads")
    pair.answered(asked)
    until(lambda: queued(leader) == 0, "the progress message is removed")
    other.start()
    other.await_bus()


def told_unnoticed(pair, point):
    """A leader has delivered an answer, and is killed before the servers know it, or before it has removed the
    message from the servers: after its restart it does not deliver the answer again."""
    leader, other = pair.roles()
    if "crash points enabled" not in leader.run("--version")[1]:
        note("built without crash points: not tested")
        return
    other.stop()
    leader.stop()
    leader.start(TURNCAST_CRASH_POINT=point)
    leader.await_bus()
    told = stored(pair.server, "told")
    asked = pair.people.ask(0, f"i1-{point}", "tools=1")
    until(lambda: leader.process.poll() is not None, "the host is killed after the delivery")
    equal((stored(pair.server, "new"), stored(pair.server, "told") - told), (1, point == "after-told"),
          "the servers still have the message")
    leader.process = None
    leader.start()
    leader.await_bus()
    until(lambda: stored(pair.server, "new") == 0, "the message is removed after the restart")
    other.start()
    other.await_bus()
    pair.answered(asked, pair.people.ask(1, f"i2-{point}", "tools=1"))


def teller(server):
    """The host that has begun to deliver the only turn with a mark `tell` on the servers."""
    client = server.client()
    subject, = client.api("STREAM.INFO.TC_TURN", {"subjects_filter": "tc.turn.tell.>"})["state"]["subjects"]
    told = client.api("STREAM.MSG.GET.TC_TURN", {"last_by_subj": subject})["message"]["data"]
    client.close()
    return json.loads(base64.b64decode(told))["from"]["host"]


def in_doubt_still(pair, fake):
    """A leader is killed after it has adopted an answer that has possibly been delivered: after the restart it still knows that."""
    leader, other = pair.roles()
    if "crash points enabled" not in leader.run("--version")[1]:
        note("built without crash points: not tested")
        return
    fake.control("fault", {"match": {"text": "Answer j1"}, "do": "hold", "done": True, "times": 1})
    asked = pair.people.ask(0, "j1", "tools=1")
    until(lambda: outcomes(pair.people, asked), "the service has shown the answer")
    other.stop()
    leader.kill()
    fake.control("clear")
    other.start(TURNCAST_CRASH_POINT="after-adopted")
    until(lambda: other.process.poll() is not None, "the other host takes over, and is killed after it has adopted the turn")
    other.process = None
    equal(marks(pair, asked), [False], "the other host has delivered nothing")
    fake.control("fault", {"match": {"text": "Answer j1"}, "do": "reset", "done": False, "times": 0})
    other.start()
    other.await_bus()
    until(lambda: leads(other) and queued(other), "the other host leads again, and is about to deliver the answer")
    equal(teller(pair.server), leader.name, "the servers know that the killed host had begun the delivery")
    fake.control("clear")
    until(lambda: stored(pair.server, "new") == 0, "all outcomes are delivered")
    equal(marks(pair, asked), [False, True], "the answer is sent again, marked as a repeat")
    equal(pair.begun(asked), 1, "one agent has begun the turn")
    pair.back(leader)


def restored(pair, fake):
    """A leader is killed and restored from a backup in which four messages are open. Since the backup, the first was
    answered, the answer to the second was given to the service, and the agent of the third had begun."""
    leader, other = pair.roles()
    other.stop()
    fake.control("fault", {"match": {"text": "Answer s2"}, "do": "hold", "done": True, "times": 1})
    told = pair.people.ask(0, "s1", "tools=2 gated")
    until(lambda: pair.people.seen(told), "the first turn shows its progress")
    given, begun, waits = (pair.people.ask(n, f"s{n + 1}", words) for n, words in ((1, "tools=1"), (2, "tools=2 gated"), (3, "tools=1")))
    until(lambda: stored(pair.server, "new") == 4, "the servers know the messages")
    file = leader.folder / "backup"
    equal(leader.run("backup", str(file))[0], 0, "the host is backed up")
    leader.let_go("s1", 3)
    until(lambda: pair.people.seen(begun), "the third turn shows its progress")
    until(lambda: stored(pair.server, "new") == 3 and len(pair.people.seen(told)) == 1, "the first answer was told")
    until(lambda: stored(pair.server, "tell") and outcomes(pair.people, given), "the service has shown the second answer")
    leader.kill()
    fake.control("clear")
    equal(leader.run("restore", str(file))[0], 0, "the backup is restored")
    leader.start()
    leader.await_bus()
    until(lambda: leads(leader), "the restored host leads")
    until(lambda: stored(pair.server, "new") == 0, "all outcomes are delivered")
    equal(marks(pair, given), [False, True], "the second answer is sent again, marked as a repeat")
    pair.answered(told, begun, waits, failed=[begun])
    equal([pair.begun(q) for q in (told, given, begun, waits)], [1] * 4, "each agent has begun once")
    codes = {t.message: t.code for t in ledger.turns(leader) if t.chat == begun.chat}
    equal(codes[begun.message], "host_restart", "the third turn ends as interrupted")
    ok("process terminated" not in leader.log(), "no process of a connector has ended", leader.log())
    other.start()
    other.await_bus()


def named(pair, question):
    """The id of the question, its turns on each host, and the messages in its chat."""
    mine = {host.name: [t for t in ledger.turns(host) if (t.chat, t.message) == (question.chat, question.message)]
            for host in pair.hosts}
    return question.id, mine, [m["text"] for m in pair.people.seen(question)]


def is_answered(pair, question):
    return outcomes(pair.people, question) or joined(pair, question) or failed_with(pair, question)


def judge_killed(pair, asked):
    def none(wrong, what):
        equal([named(pair, q) for q in asked if wrong(q)], [], what)

    none(lambda q: not is_answered(pair, q), "all are answered")
    none(lambda q: outcomes(pair.people, q) and joined(pair, q), "none is answered alone and with others")
    none(lambda q: pair.begun(q) > 1, "no agent has begun twice")
    none(lambda q: marks(pair, q).count(False) > 1, "what is told again is marked")


def killed(pair, count, chance):
    """The leader is killed every two seconds: each message has one outcome, and repeats are marked."""
    asked = []
    for _ in range(count):
        leader, other = pair.roles()
        end = time.monotonic() + 2
        while time.monotonic() < end:
            asked.append(pair.people.ask(chance.randrange(4), f"k{len(asked)}", "tools=1 ms=100"))
            time.sleep(chance.uniform(0.1, 0.6))  # people take their time
        leader.kill()
        until(lambda h=other: leads(h), "the other host takes over")
        leader.start()
        leader.await_bus()
    waiting = list(asked)

    def left():
        waiting[:] = [q for q in waiting if not is_answered(pair, q)]
        return len(waiting) + stored(pair.server, "new")

    until_done(left, "all messages are answered, and the servers know it")
    judge_killed(pair, asked)
    copies = sum(max(len(outcomes(pair.people, q)) - 1, 0) for q in asked)
    failed = sum("⚠" in m["text"] for q in asked for m in outcomes(pair.people, q))
    note(f"{count} kills: {len(asked)} messages, {copies} copies, {failed} errors")


if __name__ == "__main__" and not skip_without_server():
    seed = int(os.environ.get("TURNCAST_SEED", 7))
    note(f"seed {seed}")
    with natsd.NatsServer() as nats, Fake("telegram") as bots:
        short_leases(nats)
        crowd = TelegramPeople(bots, 4)
        with Pair(nats, bots, crowd) as two:
            told_by_the_next(two)
            stopped(two)
            refused(two, bots)
            in_doubt(two, bots)
            sent_again(two, bots)
            back_without_lead(two, bots)
            leads_again(two, bots)
            told_unnoticed(two, "before-told")
            told_unnoticed(two, "after-told")
            agent_outlives_lead(two)
            given_and_lost(two, bots)
            taken_back(two, bots)
            told_before_cleanup(two, bots)
            in_doubt_still(two, bots)
            restored(two, bots)
            killed(two, 100 if os.environ.get("TURNCAST_LONG") else rounds(5), random.Random(seed))
    done()
