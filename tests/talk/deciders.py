# SPDX-License-Identifier: MIT
"""Users who decide requests of an agent in Telegram: their actions, and the messages they see."""
import json
import re

from cases import await_, same
from people import messages
from talk import BUILD

APPROVERS = list(range(1000, 1080))
OVER = "This request is already closed."
ASKER = BUILD / "tests" / "fake" / "asker"
_people = iter(APPROVERS)


def agents(wait_s=120, rules=""):
    """asker: the fake agent; slow: an agent that ignores all signals except SIGKILL and writes its process id to a file."""
    common = f"attempts = 1; exit_grace_s = 1; term_grace_s = 1; ask_timeout_s = {wait_s}; {rules}"
    slow = "echo $$ > $HOME/pid; trap '' TERM; exec \"$0\""
    return f"""asker : {{ command = ["{ASKER}"]; {common} }};
slow : {{ command = ["sh", "-c", {json.dumps(slow)}, "{ASKER}"]; {common} }};"""


class Person:
    """An approver, by default in a private chat of their own."""

    def __init__(self, fake, chat=None):
        self.fake, self.id = fake, next(_people)
        self.chat = chat or self.id

    def say(self, text, **more):
        at = "@fake_bot " if self.chat < 0 and not more.get("reply_to") else ""
        body = {"from": self.id, "chat": self.chat, "text": at + text, **more}
        return self.fake.control("message", body)["message_id"]

    def seen(self, pattern):
        """The newest message of the bot that contains the text."""
        found = [m for m in messages(self.fake, str(self.chat)) if re.search(pattern, m["text"])]
        return found[-1] if found else None

    def hear(self, pattern):
        return await_(lambda: self.seen(pattern), f"{pattern} in {self.chat}")

    def is_asked(self, words, pattern="^✋ "):
        self.say(words)
        return self.hear(pattern)

    def press(self, message, button=None, user=None, **more):
        """Presses a button. Returns the text that the user sees, and whether it must be confirmed."""
        body = {"from": user or self.id, "chat": self.chat, "message_id": message["id"], **more}
        if button:
            body["button"] = button
        return self.told(self.fake.control("callback", body)["id"])

    def told(self, query):
        def answered():
            for r in self.fake.record():
                if r.get("method") == "answerCallbackQuery" and r.get("status") == 200:
                    if r["params"]["callback_query_id"] == query:
                        return r["params"]
            return None

        params = await_(answered, "the answer to the press")
        return params["text"], bool(params.get("show_alert"))

    def sees_end(self, message, words):
        """Waits until the message shows the decision and has no buttons."""
        end = self.hear(re.escape("→ " + words))
        same((end["id"], end["buttons"]), (message["id"], []), "the message that was decided")

    def name(self):
        return f"User {self.id} (tg)"


def data_of(fake, message, chat):
    """The data of the buttons of a message."""
    for r in reversed(fake.record()):
        if r.get("method") == "sendMessage" and r.get("chat") == str(chat) and "answer" in r:
            if r["answer"].get("result", {}).get("message_id") == message["id"]:
                rows = r["params"]["reply_markup"]["inline_keyboard"]
                return [button["callback_data"] for row in rows for button in row]
    raise AssertionError("it was never sent")
