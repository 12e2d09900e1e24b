# SPDX-License-Identifier: MIT
"""Users who ask questions without end."""
import collections
import time

from people import outcomes

# Over before anything is shown, or with a progress message on one service, or on both.
QUESTIONS = ("tools=1 ms=100", "tools=4 ms=150", "tools=4 ms=500", "tools=5 ms=600")

POLLS = ("getUpdates", "sync")


class Chatter:
    """All users ask, at times two questions, wait for the first outcome, pause, and ask again."""

    def __init__(self, crowds, chance, questions=QUESTIONS):
        self.crowds = crowds
        self.chance = chance
        self.questions = questions
        self.asked = []
        self.waiting = {}  # (crowd, chat) -> (who, Question)
        self.numbers = collections.Counter()
        self.thinking = []  # (until when, crowd, who)
        self.since = {crowd: 0 for crowd in crowds}

    def begin(self):
        for crowd in self.crowds:
            for who in range(len(crowd.ids)):
                self.ask(crowd, who)

    def ask(self, crowd, who):
        first = None
        for _ in range(2 if self.chance.random() < 0.2 else 1):
            self.numbers[crowd, who] += 1
            id_ = f"{crowd.LETTER}{who}-{self.numbers[crowd, who]}"
            question = crowd.ask(who, id_, self.chance.choice(self.questions))
            self.asked.append((crowd, question))
            first = first or question
        self.waiting[crowd, first.chat] = (who, first)

    def changed_chats(self, crowd):
        """The chats with a change since the last call."""
        calls = [
            entry
            for entry in crowd.fake.record(self.since[crowd])
            if entry["kind"] == "call" and entry["method"] not in POLLS
        ]
        begun = [call["seq"] for call in calls if "done" not in call]
        over = [call for call in calls if "done" in call and (not begun or call["seq"] < begun[0])]
        if over:
            self.since[crowd] = over[-1]["seq"]
        return {str(call["chat"]) for call in over if call["done"]}

    def go_on(self):
        """Users who have their answer ask the next question."""
        now = time.monotonic()
        for crowd in self.crowds:
            for chat in self.changed_chats(crowd):
                who, question = self.waiting.get((crowd, chat), (None, None))
                if question and outcomes(crowd, question):
                    del self.waiting[crowd, chat]
                    self.thinking.append((now + self.chance.uniform(0, 2), crowd, who))
        ready = [t for t in self.thinking if t[0] <= now]
        self.thinking = [t for t in self.thinking if t[0] > now]
        for _, crowd, who in ready:
            self.ask(crowd, who)
