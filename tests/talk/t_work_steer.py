# SPDX-License-Identifier: MIT
"""Messages that users write during a turn whose agent runs on another host than the bot: a message is merged
into the turn, answered next, or becomes a separate turn; it is answered once, also after faults of the hosts
and their messages."""
import collections
import pathlib
import signal
import sys
import time

from people import messages
from talk import Fake, done, equal, ok, telegram, until

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "api"))

from bus import Member, natsd  # noqa: E402
from work import kinds  # noqa: E402

PEOPLE = list(range(1000, 1020))
AGENT = 'keep_alive_s = 60; background = "follow"; while_running = "steer";'
EXTRA = "conversations : { debounce_ms = 0; };"
ASK_S = 2  # a request between hosts is given up then
GIVEN = "👨‍💻"


class Chat:
    """The chat of a user with a separate conversation."""

    people = iter(PEOPLE)

    def __init__(self, fake):
        self.fake, self.person = fake, next(self.people)

    def say(self, text, **more):
        return self.fake.control("message", {"from": self.person, "chat": self.person, "text": text, **more})["message_id"]

    def texts(self, part):
        return [m["text"] for m in messages(self.fake, str(self.person)) if part in m["text"] and "⏱" not in m["text"]]

    def hear(self, part):
        found = until(lambda: self.texts(part), f"{part!r} in the chat of {self.person}")
        return found[0] if found else ""

    def sees(self, part):
        until(lambda: [m for m in messages(self.fake, str(self.person)) if part in m["text"]], f"{part!r} is seen")

    def reaction(self, message):
        """The last message of the bot."""
        calls = [r["params"] for r in self.fake.record() if r.get("method") == "setMessageReaction" and r.get("status")]
        own = [c for c in calls if c["chat_id"] in (self.person, str(self.person)) and int(c["message_id"]) == message]
        return own[-1]["reaction"][0]["emoji"] if own and own[-1]["reaction"] else None

    def give(self, text):
        """Sends a message during a turn and waits until the gateway knows that the agent has it."""
        message = self.say(text)
        ok(until(lambda: self.reaction(message) == GIVEN, f"a reaction says that the agent gets {text!r}"), "the message is given to the agent")

    def is_answered_once(self, *ids):
        equal([len(self.texts(f"Answer {id_} ")) for id_ in ids], [1] * len(ids), f"there is one answer to each of {ids}")

    def is_not_answered(self, *ids):
        equal([self.texts(f"Answer {id_} ") for id_ in ids], [[]] * len(ids), f"merged messages have no separate answer: {ids}")


class Hosts:
    def __init__(self, server, fake):
        bot = telegram(fake, allow=PEOPLE, lead=False, progress_after_ms=100)
        self.server, self.fake = server, fake
        self.way = natsd.Cable(server.port)
        self.gateway = Member("g", self.way.url(), instances=bot, agent=AGENT, hosts=["r"], extra=EXTRA,
                              bus='roles = ["gateway"];')
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

    def begin(self, text):
        """Begins a turn whose agent works, and waits until the gateway knows it."""
        chat = Chat(self.fake)
        chat.say(text)
        turn = until(lambda: [t["id"] for t in self.gateway.turns() if t.get("task") == text], "the turn is known")[0]
        until(lambda: "start" in kinds(self.gateway, turn), "the gateway has read its first event")
        return chat

    def begun(self):
        return collections.Counter((self.runner.gates / "begun").read_text().split())

    def pause_runner(self, seconds):
        self.runner.process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        self.runner.process.send_signal(signal.SIGCONT)


def taken(hosts):
    chat = hosts.begin("gated tools=1 id=a1")
    chat.sees("Looking at part 1")
    chat.give("id=a2")
    chat.give("id=a3")
    hosts.runner.let_go("a1")
    ok("With a2. With a3." in chat.hear("Answer a1"), "the agent merges messages into the turn", chat.texts("Answer"))
    chat.say("id=a4")
    ok("With" not in chat.hear("Answer a4"), "the next message is a separate turn")
    chat.is_not_answered("a2", "a3")
    equal([hosts.begun()[id_] for id_ in ("a1", "a2", "a3", "a4")], [1, 0, 0, 1], "no more turns are begun")


def answered_next(hosts):
    """The agent is about to answer. The turn begins before the gateway has given the turn to its host."""
    chat = hosts.begin("gated id=b1")
    chat.give("id=b2")
    chat.give("id=b3")
    hosts.runner.let_go("b1")
    first, second = chat.hear("Answer b1"), chat.hear("Answer b2")
    ok("With" not in first and "With b3." in second, "the agent answers messages that it did not merge next", (first, second))
    equal(first.split(":")[0].split(" of ")[1], second.split(":")[0].split(" of ")[1], "both answers are from one session")
    chat.say("id=b4")
    chat.hear("Answer b4")
    chat.is_answered_once("b1", "b2", "b4")
    chat.is_not_answered("b3")
    equal([hosts.begun()[id_] for id_ in ("b1", "b2", "b4")], [1, 1, 1], "each turn is begun once")


def withdrawn(hosts):
    chat = hosts.begin("gated tools=1 id=c1")
    chat.sees("Looking at part 1")
    chat.give("id=c2")
    chat.say("/queue clear")
    ok(chat.hear("Dropped 1 queued message."), "a user drops a message")
    chat.give("id=c3")
    hosts.runner.let_go("c1")
    answer = chat.hear("Answer c1")
    ok("With c3." in answer and "c2" not in answer, "the message is dropped before the agent has merged it", answer)
    chat.is_not_answered("c2", "c3")


def answer_lost(hosts):
    """The runner receives the message, but its reply comes too late, so the gateway sends the message again."""
    chat = hosts.begin("gated tools=1 id=d1")
    chat.sees("Looking at part 1")
    hosts.runner.process.send_signal(signal.SIGSTOP)
    chat.give("id=d2")
    time.sleep(ASK_S + 1)
    hosts.runner.process.send_signal(signal.SIGCONT)
    chat.give("id=d3")
    hosts.runner.let_go("d1")
    ok("looked at. With d2. With d3." in chat.hear("Answer d1"), "a message that is sent twice is merged once", chat.texts("Answer"))
    chat.is_answered_once("d1")
    chat.is_not_answered("d2", "d3")


def request_lost(hosts):
    """The gateway has no connection when the message arrives, and sends it after the reconnect."""
    chat = hosts.begin("gated tools=1 id=j1")
    chat.sees("Looking at part 1")
    client = hosts.server.client()
    client.subscribe("_INBOX.>")
    hosts.way.cut()
    chat.give("id=j2")
    hosts.way.mend()
    until(lambda: b'"message":"given"' in getattr(client.next(1), "data", b""), "the runner has received the message")
    client.close()
    hosts.runner.let_go("j1")
    ok("looked at. With j2." in chat.hear("Answer j1"), "a message that could not be sent is sent after the reconnect", chat.texts("Answer"))
    chat.is_answered_once("j1")


def with_file(hosts):
    chat = hosts.begin("gated tools=1 id=e1")
    chat.sees("Looking at part 1")
    hosts.fake.control("message", {"from": chat.person, "chat": chat.person, "caption": "id=e2",
                                   "document": {"file_name": "x", "content": "y" * 77}})
    until(lambda: any("id=e2" in (t.get("task") or "") for t in hosts.gateway.turns()), "the message with a file is known")
    hosts.runner.let_go("e1")
    ok("With" not in chat.hear("Answer e1"), "a message with a file is not given to the agent while it works")
    ok("The files have 77 bytes." in chat.hear("Answer e2"), "a message with a file is a separate turn, for which the file is fetched")


def gateway_restarted(hosts):
    chat = hosts.begin("gated tools=2 id=f1")
    chat.sees("Looking at part 1")
    chat.give("id=f2")
    hosts.runner.let_go("f1")
    chat.sees("Looking at part 2")
    hosts.gateway.kill()
    hosts.runner.let_go("f1", 2)
    hosts.gateway.start()
    ok("With f2." in chat.hear("Answer f1"), "a restarted gateway learns which messages the agent has merged")
    chat.say("id=f3")
    chat.hear("Answer f3")
    chat.is_not_answered("f2")
    equal([hosts.begun()[id_] for id_ in ("f1", "f2", "f3")], [1, 0, 1], "a merged message is not a separate turn")


def restarted_before_answer(hosts):
    """The agent answers the received messages while the gateway is down."""
    chat = hosts.begin("gated id=h1")
    chat.give("id=h2")
    hosts.gateway.kill()
    hosts.runner.let_go("h1")
    hosts.gateway.start()
    chat.hear("Answer h1")
    chat.hear("Answer h2")
    chat.is_answered_once("h1", "h2")
    equal([hosts.begun()[id_] for id_ in ("h1", "h2")], [1, 1], "each turn is begun once")


def runner_gone(hosts):
    chat = hosts.begin("gated tools=1 id=i1")
    chat.sees("Looking at part 1")
    chat.give("id=i2")
    hosts.runner.kill()
    chat.give("id=i3")
    hosts.runner.start()
    chat.hear("⚠")
    chat.hear("Answer i2")
    chat.hear("Answer i3")
    chat.is_answered_once("i2", "i3")
    chat.is_not_answered("i1")
    equal([hosts.begun()[id_] for id_ in ("i1", "i2", "i3")], [1, 1, 1], "no turn is begun twice")


def main():
    if not natsd.available():
        print("1..0 # SKIP no nats-server")
        return
    with natsd.NatsServer() as server, Fake("telegram") as fake, Hosts(server, fake) as hosts:
        for scene in (taken, answered_next, withdrawn, answer_lost, request_lost, with_file, gateway_restarted, restarted_before_answer,
                      runner_gone):
            scene(hosts)
    done()


main()
