# SPDX-License-Identifier: MIT
"""A user whose daily budget is spent is told so and other users are answered, also after a restart, and for a
message that waited when the host was killed."""
import ledger
from people import messages
from talk import Fake, Host, done, equal, ok, telegram, until

ANN, BOB = 1000, 1001
SPENT = "Your budget for today is used up ($0.03 of $0.02)"
EXTRA = """budgets : { person : { usd_per_day = 0.02; }; };
conversations : { debounce_ms = 0; };"""


class Chat:
    def __init__(self, fake, person):
        self.fake, self.person = fake, person

    def say(self, text):
        self.fake.control("message", {"from": self.person, "chat": self.person, "text": text})

    def texts(self, part):
        return [m["text"] for m in messages(self.fake, str(self.person)) if part in m["text"]]

    def hear(self, part):
        return until(lambda: self.texts(part), f"{part!r} in the chat of {self.person}")


def main():
    with Fake("telegram") as fake, Host(telegram(fake, allow=[ANN, BOB]), extra=EXTRA) as host:
        ann, bob = Chat(fake, ANN), Chat(fake, BOB)
        ann.say("id=a1")
        ann.hear("Answer a1")
        ann.say("id=a2 gated")
        ann.say("id=a3")
        # A turn that had not begun would begin after the death, and nobody would let it go.
        until(lambda: ledger.open_states(host) == ["running", "waiting"], "one turn runs and one waits")
        host.kill()
        host.start()
        ann.hear("Answer a3")
        ann.say("id=a4")
        ann.hear(SPENT)
        bob.say("id=b1")
        bob.hear("Answer b1")
        equal(host.stop(), 0, "the host ends")
        host.start()
        ann.say("id=a5")
        ok(until(lambda: len(ann.texts(SPENT)) == 2, "the notice is repeated after a restart"),
           "the budget is still spent after a restart")
        equal(ann.texts("Answer a4") + ann.texts("Answer a5"), [], "no message over the budget was answered")
    done()


main()
