# SPDX-License-Identifier: MIT
"""End-to-end conversations in Discord: the connection to the gateway is cut in different ways while users
write, and the webhook variant."""
import itertools
import re

from cases import await_
from deaths import DISCORD_PACE
from people import DiscordPeople, outcomes
from talk import Fake, Host, discord, done, equal, ok, until

CUTS = (
    {"do": "drop"},
    {"do": "reconnect"},
    {"do": "close", "code": 4000},
    {"do": "close", "code": 1001},
    {"do": "invalid", "resumable": True},
    {"do": "invalid", "resumable": False},
    {"do": "close", "code": 4009},
    {"do": "beat"},
)
_words = itertools.count()


def told(fake, event):
    """The payloads that the gateway received or sent."""
    return [r for r in fake.record() if r["kind"] == "socket" and r["event"] == event]


class Round:
    """Questions of two users in one case after the other. Messages that wait in one conversation are given to
    the agent as one message, so two concurrent questions come from two users and have two answers."""

    def __init__(self, fake, host, crowd):
        self.fake, self.host, self.crowd = fake, host, crowd
        self.asked, self.open = [], []

    def ask(self, who=0):
        self.open.append(self.crowd.ask(who, f"q{next(_words)}", ""))

    def answered(self, what):
        """Waits for answers in the record of the fake, which is faster than reading the growing chat again."""
        for q in self.open:
            self.fake.wait(visible=1, chat=q.chat, text=f"(?s)\\A(?!.*⏱)Answer {q.id} of ")
        self.asked += self.open
        self.open.clear()
        self.each_once(what)

    def each_once(self, what):
        answers = [len(outcomes(self.crowd, q)) for q in self.asked]
        equal(answers, [1] * len(answers), f"R18: {what}, each once")

    def settle(self):
        """Sends a heartbeat of the client, which ends its back-off, so that it connects at once."""
        self.fake.wait(sockets=1)
        last = self.fake.last_seq()
        self.fake.control("gateway", {"do": "beat"})
        self.fake.wait(kind="socket", event="op1", since=last)


def cuts(one):
    """Messages written just before a cut, and while there is no connection, are answered."""
    for cut in CUTS:
        one.settle()
        one.ask()
        one.fake.control("gateway", cut)
        one.ask(1)
        one.answered(f"no message is lost or duplicated: {cut}")
    ok(one.fake.state()["identifies"] <= 3, "a session is replaced only when it is lost", one.fake.state()["identifies"])


def refused_resumes(one):
    one.settle()
    one.fake.control("options", {"refuse_resumes": True})
    one.fake.control("gateway", {"do": "drop"})
    one.ask()
    one.answered("a refused resume ends with an identify")
    one.fake.control("options", {"refuse_resumes": False})


def lost_resumes(one):
    one.settle()
    before = one.fake.state()["identifies"]
    one.fake.control("options", {"cut_resumes": 3})
    one.fake.control("gateway", {"do": "drop"})
    one.ask()
    one.answered("a loop of resumes ends with an identify")
    # A message that was on its way as the connection ended can be answered before the next one.
    ok(until(lambda: one.fake.state()["identifies"] == before + 1, "an identify"), "after three ended resumes an identify is sent")


def limited(one):
    fault = {"match": {"method": "post"}, "do": "flood", "retry_after": 2}
    one.fake.control("fault", fault)
    one.ask()
    one.answered("R5: a rate limit does not lose the reply")


def restarted(one):
    identifies = one.fake.state()["identifies"]
    one.host.kill()
    one.ask()
    one.host.start()
    one.answered("R17: messages written while the host is down are answered")
    equal(one.fake.state()["identifies"], identifies, "R17: a restart resumes the session")


def zombie():
    """A connection that is open but dead; heartbeats are frequent here."""
    with Fake("discord", scale=0.05) as fake:
        fake.control("pace", DISCORD_PACE)
        crowd = DiscordPeople(fake, 1)
        with Host(discord(fake, allow=crowd.ids)) as host:
            fake.wait(sockets=1)
            fake.control("gateway", {"do": "silence"})
            asked = crowd.ask(0, "zombie", "")
            await_(lambda: "does not answer heartbeats" in host.log(), "the dead connection is detected")
            until(lambda: outcomes(crowd, asked), "R17: messages that a dead connection held back are answered")
            codes = {r["content"]["code"] for r in told(fake, "close")}
            ok(not codes & {1000, 1001}, "R17: the session stays alive", codes)
            equal(host.stop(), 0, "the host exits with status 0")


def webhook():
    hook = "http://127.0.0.1:{}/api/v10/webhooks/800000000000000001/fake-discord-webhook-token"
    with Fake("discord") as fake:
        crowd = DiscordPeople(fake, 1)
        instances = discord(fake, allow=crowd.ids)
        instances += (f'wh : {{ plugin = "discord"; webhook = "{hook.format(fake.port)}"; '
                      'channel = "600000000000000001"; turns = "all"; };')  # fmt: skip
        with Host(instances) as host:
            fake.wait(sockets=1)
            crowd.ask(0, "hooked", "")
            shown = fake.wait(visible=1, chat="600000000000000001", text="Answer hooked")
            equal([m["from"] for m in shown], ["800000000000000001"], "a webhook shows turns of other instances")
            equal(host.stop(), 0, "the host exits with status 0")
            equal(fake.violations(), [], "a strict service rejected no request")


def main():
    with Fake("discord") as fake:
        fake.control("pace", DISCORD_PACE)
        crowd = DiscordPeople(fake, 2)
        with Host(discord(fake, allow=crowd.ids), extra="conversations : { debounce_ms = 0; };") as host:
            fake.wait(sockets=1)
            one = Round(fake, host, crowd)
            for case in (cuts, refused_resumes, lost_resumes, limited, restarted):
                case(one)
            equal(host.stop(), 0, "the host exits with status 0")
            wrong = [v for v in fake.violations() if v["rule"] not in ("session-ended",)]
            equal(wrong, [], "a strict service rejected no request")
            ok(not re.search(r"\d{4}-\S+ error", host.log()), "no error in the log", host.log())
    zombie()
    webhook()
    done()


main()
