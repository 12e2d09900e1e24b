# SPDX-License-Identifier: MIT
"""Turns that agents begin by themselves on another host than the bot: each is delivered once in the chat of
its conversation, also after faults of the hosts and of the bus."""
import json
import pathlib
import sys

import ledger
from people import messages
from talk import Fake, done, equal, note, ok, telegram, until

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "api"))

from ag_ui_run import Run, run_input, text_of  # noqa: E402
from bus import Member, natsd, short_leases, stored  # noqa: E402
from t_lead import await_leader, bot, leads  # noqa: E402

PEOPLE = list(range(1000, 1030))
TTL_S = 5
AGENT = 'keep_alive_s = 60; background = "follow"; while_running = "steer";'
EXTRA = "conversations : { debounce_ms = 0; };"
FOLLOW = {"background": "follow"}


class Chat:
    """The chat of a user with a separate conversation."""

    people = iter(PEOPLE)

    def __init__(self, fake):
        self.fake, self.person = fake, next(self.people)

    def say(self, text):
        self.fake.control("message", {"from": self.person, "chat": self.person, "text": text})

    def texts(self, part):
        return [m["text"] for m in messages(self.fake, str(self.person)) if part in m["text"] and "⏱" not in m["text"]]

    def hear(self, part):
        found = until(lambda: self.texts(part), f"{part!r} in the chat of {self.person}")
        return found[0] if found else ""

    def sees(self, part):
        until(lambda: [m for m in messages(self.fake, str(self.person)) if part in m["text"]], f"{part!r} is seen")

    def has_once(self, *parts):
        equal([len(self.texts(part)) for part in parts], [1] * len(parts), f"each is in the chat once: {parts}")


def session_of(text):
    return text.split(" of ")[1].split(":")[0].split(".")[0]


def begun(runner, id_):
    """Waits until the agent has begun the turn that tells of the work in the background."""
    until(lambda: f"later-{id_}" in (runner.gates / "begun").read_text().split(), f"the agent begins a turn for {id_}")


def start_work(all_, text, id_):
    """A user starts work in the background, and has the answer."""
    chat = Chat(all_.fake)
    chat.say(f"{text} id={id_}")
    chat.hear(f"Answer {id_} ")
    until(lambda: not any(ledger.open_work(host) for host in all_.gateways), "the answer is delivered, also for a gateway that dies")
    return chat


def own_turns(host, source):
    """The turns without a message, of that source."""
    return [t for t in host.turns() if t["source"] == source and not t["task"]]


class One:
    """A gateway that alone has the bot, and a runner."""

    def __init__(self, server, fake):
        self.server, self.fake = server, fake
        bot_ = telegram(fake, allow=PEOPLE, lead=False, progress_after_ms=100)
        self.gateway = Member("g", server.url(), instances=bot_, agent=AGENT, hosts=["r"], extra=EXTRA, bus='roles = ["gateway"];')
        self.gateways = [self.gateway]
        self.runner = Member("r", server.url(), agent=AGENT, hosts=["r"], extra=EXTRA)

    def __enter__(self):
        for host in (self.gateway, self.runner):
            host.start()
            host.await_bus()
        (self.runner.gates / "begun").touch()
        self.fake.wait(polling=1)
        return self

    def __exit__(self, *_):
        self.gateway.close()
        self.runner.close()


def delivered(all_):
    chat = start_work(all_, "behind", "a1")
    equal(chat.texts("Later"), [], "the answer comes while the work goes on")
    all_.runner.let_go("a1.behind")
    later = chat.hear("Later a1")
    chat.say("id=a2")
    answer = chat.hear("Answer a2")
    equal(session_of(later), session_of(answer), "the conversation continues in its session")
    chat.has_once("Answer a1", "Later a1", "Answer a2")
    for host in (all_.gateway, all_.runner):
        turn = until(lambda host=host: own_turns(host, "tg"), "the hosts know the turn")[0]
        host.knows(turn["id"], "final")
        told = [json.loads(line) for _, line in host.all_events(turn["id"])]
        equal([e["payload"]["text"] for e in told if e["type"] == "final"], [later], f"a client of {host.name} sees the turn")
    until(lambda: stored(all_.server, "own") == 0, "the turn is not in the list of the gateway any more")


def silent(all_):
    chat = start_work(all_, "behind-silently", "b1")
    all_.runner.let_go("b1.behind")
    chat.hear("The work in the background has ended. There is nothing to add.")
    chat.say("behind id=b2")
    chat.hear("Answer b2")
    all_.runner.let_go("b2.behind")
    chat.hear("Later b2")
    chat.has_once("has ended", "Later b2")


def stopped(all_):
    chat = start_work(all_, "tools=1 behind-held", "c1")
    all_.runner.let_go("c1.behind")
    until(lambda: len([t for t in own_turns(all_.gateway, "tg") if t["state"] == "running"]) == 1, "the gateway has the turn")
    chat.say("/stop")
    until(lambda: "cancelled" in [t["state"] for t in own_turns(all_.gateway, "tg")], "a user stops the turn")
    chat.say("id=c2")
    chat.hear("Answer c2")
    equal(chat.texts("Later"), [], "the stopped turn has no answer")


def written_during(all_):
    """A message during the turn is given to the agent, which answers it next."""
    chat = start_work(all_, "tools=1 behind-held", "r1")
    all_.runner.let_go("r1.behind")
    until(lambda: "running" in [t["state"] for t in own_turns(all_.gateway, "tg")], "the gateway has the turn")
    chat.say("id=r2")
    until(lambda: [t for t in all_.gateway.turns() if t.get("task") == "id=r2"], "the message is known")
    all_.runner.let_go("r1.behind")
    chat.hear("Later r1")
    chat.hear("Answer r2")
    chat.has_once("Answer r1", "Later r1", "Answer r2")


def work_stopped(all_):
    """A user stops the work in the background, or begins a new session."""
    chat = start_work(all_, "behind", "p1")
    chat.say("/stop")
    chat.hear("Stopping the work in the background.")
    other = start_work(all_, "behind", "p2")
    other.say("/new")
    other.hear("new session")
    for one in (chat, other):
        until(lambda one=one: f"process of tg:{one.person}: a person stopped it" in all_.runner.log(), "the agent is ended")
    all_.runner.let_go("p1.behind")
    all_.runner.let_go("p2.behind")
    for one, id_ in ((chat, "p3"), (other, "p4")):
        one.say(f"id={id_}")
        one.hear(f"Answer {id_}")
        equal(one.texts("Later"), [], "the stopped work has no result")
    chat.say("/stop")
    chat.hear("Nothing is running")


def restarted_meanwhile(all_):
    """The gateway is killed while the turn runs, and while another one runs and ends."""
    chat = start_work(all_, "tools=1 behind-held", "d1")
    all_.runner.let_go("d1.behind")
    until(lambda: [t for t in own_turns(all_.gateway, "tg") if t["state"] == "running"], "the gateway has the turn")
    all_.gateway.kill()
    all_.runner.let_go("d1.behind")
    all_.gateway.start()
    chat.hear("Later d1")
    other = start_work(all_, "behind", "d2")
    all_.gateway.kill()
    all_.runner.let_go("d2.behind")
    begun(all_.runner, "d2")
    all_.gateway.start()
    other.hear("Later d2")
    chat.has_once("Answer d1", "Later d1")
    other.has_once("Answer d2", "Later d2")


def entered(all_):
    """The gateway dies when the turn is in its journal and still in its list."""
    if "crash points enabled" not in all_.gateway.run("--version")[1]:
        note("built without crash points: not tested")
        return
    all_.gateway.stop()
    all_.gateway.start(TURNCAST_CRASH_POINT="after-begun-entered")
    all_.gateway.await_bus()
    chat = start_work(all_, "behind", "k1")
    all_.runner.let_go("k1.behind")
    until(lambda: all_.gateway.process.poll() is not None, "the gateway has died")
    all_.gateway.process = None
    all_.gateway.start()
    chat.hear("Later k1")
    until(lambda: stored(all_.server, "own") == 0, "the turn is not in the list of the gateway any more")
    chat.has_once("Answer k1", "Later k1")


def without_bus(all_):
    """The servers are away when the turn begins, and come back while it runs."""
    chat = start_work(all_, "tools=1 behind-held", "e1")
    other = start_work(all_, "behind", "e2")
    all_.server.kill()
    all_.runner.let_go("e1.behind")
    all_.runner.let_go("e2.behind")
    begun(all_.runner, "e1")
    begun(all_.runner, "e2")
    all_.server.start()
    for host in (all_.gateway, all_.runner):
        host.await_bus()
    all_.runner.let_go("e1.behind")
    chat.hear("Later e1")
    other.hear("Later e2")
    chat.has_once("Answer e1", "Later e1")
    other.has_once("Answer e2", "Later e2")


def clients(all_):
    """HTTP clients see the turn among those of their key."""
    host = all_.gateway
    body = {"prompt": "behind id=f1", "conversation": "f", **FOLLOW}
    first = json.loads(host.ask("POST", "/turns", key="bob", body=body)[2])
    host.await_state(first["id"], "final", key="bob")
    all_.runner.let_go("f1.behind")
    own = until(lambda: [t for t in host.turns("bob") if t["source"] == "http" and not t["task"]], "the turn is known")[0]
    ok(host.await_state(own["id"], "final", key="bob")["answer"].startswith("Later f1"), "the turn has its answer", own)
    equal(own["conversation"], first["conversation"], "the turn has the same conversation")
    run = Run(host, run_input("behind id=f2", thread="f2", forwardedProps=FOLLOW), "bob")
    ok(text_of(run.rest()).startswith("Answer f2"), "a run of AG-UI ends with its answer")
    all_.runner.let_go("f2.behind")
    own = until(lambda: [t for t in host.turns("bob") if t["source"] == "ag-ui" and not t["task"]], "the turn is known")[0]
    ok(host.await_state(own["id"], "final", key="bob")["answer"].startswith("Later f2"), "the turn has its answer", own)
    run = Run(host, run_input("behind id=f3", thread="f3"), "bob")
    all_.runner.let_go("f3.behind")
    ok("Later f3" in text_of(run.rest()), "a run without follow waits for the result")


def runner_lost(all_):
    chat = start_work(all_, "tools=1 behind-held", "g1")
    all_.runner.let_go("g1.behind")
    until(lambda: [t for t in own_turns(all_.gateway, "tg") if t["state"] == "running"], "the gateway has the turn")
    all_.runner.kill()
    all_.runner.start()
    chat.hear("⚠")
    chat.has_once("Answer g1", "⚠")
    equal(chat.texts("Later"), [], "the lost turn has no answer")


class Two:
    """Two gateways that lead the bot in turn, and a runner."""

    def __init__(self, server, fake):
        self.server, self.fake = server, fake
        bot_ = telegram(fake, allow=PEOPLE, progress_after_ms=100, language="de")
        self.gateways = [Member(name, server.url(), instances=bot_, agent=AGENT, hosts=["r"], extra=EXTRA,
                                bus='roles = ["gateway"]; lost_after_s = 3;') for name in ("h1", "h2")]
        self.runner = Member("r", server.url(), agent=AGENT, hosts=["r"], extra=EXTRA, bus="lost_after_s = 3;")

    def __enter__(self):
        for host in (*self.gateways, self.runner):
            host.start()
            host.await_bus()
        (self.runner.gates / "begun").touch()
        return self

    def __exit__(self, *_):
        for host in (*self.gateways, self.runner):
            host.close()

    def back(self, host):
        host.start()
        host.await_bus()
        until(lambda: bot(host).get("stands_by"), "the restarted host stands by")

    def is_delivered(self, chat, *parts):
        for part in parts:
            chat.hear(part)
        until(lambda: stored(self.server, "new") == 0, "all turns are delivered")
        chat.has_once(*parts)


def led(all_):
    await_leader(*all_.gateways)
    chat = start_work(all_, "behind", "l1")
    all_.runner.let_go("l1.behind")
    all_.is_delivered(chat, "Answer l1", "Later l1")
    chat.say("behind-silently id=l2")
    chat.hear("Answer l2")
    all_.runner.let_go("l2.behind")
    all_.is_delivered(chat, "Die Arbeit im Hintergrund", "Answer l2", "Later l1")


def led_by_the_next(all_):
    """The leader is killed while the agent works in the background; the next one gets the turn."""
    leader, other = await_leader(*all_.gateways)
    chat = start_work(all_, "behind", "m1")
    until(lambda: stored(all_.server, "new") == 0, "the answer is delivered")
    leader.kill()
    all_.runner.let_go("m1.behind")
    begun(all_.runner, "m1")
    until(lambda: leads(other), "the other host leads")
    all_.is_delivered(chat, "Answer m1", "Later m1")
    all_.back(leader)
    chat.has_once("Answer m1", "Later m1")


def led_by_another(all_):
    """The gateway gives the bot away while the agent works in the background, and is still there."""
    leader, other = await_leader(*all_.gateways)
    chat = start_work(all_, "behind", "o1")
    until(lambda: stored(all_.server, "new") == 0, "the answer is delivered")
    leader.run("drain")
    until(lambda: leads(other), "the other host leads")
    all_.runner.let_go("o1.behind")
    all_.is_delivered(chat, "Answer o1", "Later o1")
    leader.run("drain", "--undo")


def adopted(all_):
    """The leader is killed while it shows the turn; the next one continues."""
    leader, other = await_leader(*all_.gateways)
    chat = start_work(all_, "tools=1 behind-held", "n1")
    all_.runner.let_go("n1.behind")
    until(lambda: [t for t in own_turns(leader, "tg") if t["state"] == "running"], "the leader has the turn")
    leader.kill()
    until(lambda: leads(other), "the other host leads")
    all_.runner.let_go("n1.behind")
    all_.is_delivered(chat, "Answer n1", "Later n1")
    all_.back(leader)
    chat.has_once("Answer n1", "Later n1")


def main():
    if not natsd.available():
        print("1..0 # SKIP no nats-server")
        return
    with natsd.NatsServer() as server, Fake("telegram") as fake, One(server, fake) as all_:
        for scene in (delivered, silent, stopped, written_during, work_stopped, restarted_meanwhile, entered, without_bus, clients, runner_lost):
            scene(all_)
    with natsd.NatsServer() as server, Fake("telegram") as fake:
        for bucket in ("tc_lead", "tc_host"):
            short_leases(server, bucket, TTL_S)
        with Two(server, fake) as all_:
            for scene in (led, led_by_the_next, led_by_another, adopted):
                scene(all_)
    done()


main()
