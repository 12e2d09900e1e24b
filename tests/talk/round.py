# SPDX-License-Identifier: MIT
"""Prints one round of a conversation as people see it, from the record of a service's fake.

    python3 tests/talk/round.py telegram | slack | teams | discord

Each look at the bot's messages is taken when what the agent has done so far is on show, so how
fast it all goes changes nothing but the times."""
import json
import os
import pathlib
import re
import sys
import tempfile

from talk import BUILD, Fake, Host, discord, listening, slack, teams, telegram

QUESTION = "What fills the disk?"
ANSWER = "**/var** does, with 31 of 50 GB:\n\n- `/var/log`: 24 GB\n- `/var/lib`: 7 GB"


def said(number, content):
    message = {"id": f"msg_{number}", "role": "assistant", "model": "m", "content": [content]}
    return {"type": "assistant", "message": message, "session_id": "round"}


def tell(number, text):
    return said(number, {"type": "text", "text": text})


def use(number, command):
    call = {"type": "tool_use", "id": f"call_{number}", "name": "Bash"}
    return said(number, {**call, "input": {"command": command}})


def result(number, text):
    content = {"type": "tool_result", "tool_use_id": f"call_{number}", "content": text}
    message = {"role": "user", "content": [content]}
    return {"type": "user", "message": message, "session_id": "round"}


BEGIN = {"type": "system", "subtype": "init", "cwd": "/srv", "session_id": "round", "model": "m"}
END = {
    "type": "result",
    "subtype": "success",
    "is_error": False,
    "result": ANSWER,
    "session_id": "round",
    "usage": {"input_tokens": 5200, "output_tokens": 340},
}
STEPS = (
    [BEGIN, tell(1, "I look at the file systems first."), use(1, "df -h")],
    [result(1, "/var 62%"), tell(2, "Most of it is in /var."), use(2, "du -sh /var/*")],
    [result(2, "24G /var/log"), tell(3, ANSWER), END],
)


class Agent:
    """An agent that prints what it is told to, when it is told to: each step is a pipe."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="turncast-round.")
        self.pipes = [pathlib.Path(self.folder.name) / f"step{n}" for n in range(len(STEPS))]
        for pipe in self.pipes:
            os.mkfifo(pipe)

    def conf(self):
        words = [str(BUILD / "tests" / "fake" / "agent")]
        words += [f"play={pipe}" for pipe in self.pipes]
        return f"round : {{ command = {json.dumps(words)}; exit_grace_s = 1; attempts = 1; }};"

    def step(self, number):
        with open(self.pipes[number], "w", encoding="utf-8") as pipe:
            pipe.writelines(json.dumps(line) + "\n" for line in STEPS[number])


def show(heading, text=""):
    print(heading)
    for line in text.splitlines():
        print(f"    {line}".rstrip())
    print()


class Telegram:
    def __init__(self, fake):
        self.fake = fake
        self.ready = {"polling": 1}
        self.looks = (
            {"text": r"▸ Bash: df -h"},
            {"text": r"(?s)✓ Bash: df -h.*▸ Bash: du"},
            {"method": "deleteMessage"},
        )

    def instance(self):
        return telegram(self.fake, allow=[1000], agent="round")

    def ask(self):
        self.fake.control("message", {"from": 1000, "text": QUESTION})
        self.fake.wait(method="setMessageReaction")
        show(f"Ann: {QUESTION}   {self.messages()[0]['reactions'][0]}")

    def messages(self):
        return self.fake.state(chat="1000")["chats"]["1000"]["messages"]

    def look(self, number):
        if number == 2:
            self.look_at_the_end()
            return
        progress = self.messages()[1]
        how = "in the same message" if progress["edits"] else "in reply, without a sound"
        buttons = "   ".join(f"[ {label} ]" for row in progress["buttons"] for label in row)
        show(f"Bot, {how}:", f"{progress['text']}\n{buttons}")

    def look_at_the_end(self):
        _, progress, answer = self.messages()
        assert progress["deleted"] and answer["reply_to"] == 1
        show("Bot, in reply, with a sound; the message before it is gone:", answer["text"])


class Slack:
    MARKS = {"in_progress": "◌", "complete": "✓", "error": "✗"}

    def __init__(self, fake):
        self.fake = fake
        self.ready = {"sockets": 1}
        self.looks = (
            {"method": "chat.startStream", "text": r"df -h"},
            {"method": "chat.appendStream", "text": r"du -sh"},
            {"method": "chat.stopStream"},
        )

    def instance(self):
        return slack(self.fake, allow=["U0ALICE"], agent="round")

    def ask(self):
        message = {"user": "U0ALICE", "channel": "D0ALICE", "text": QUESTION}
        self.fake.control("message", message)
        self.fake.wait(method="reactions.add")
        asked = self.fake.state(chat="D0ALICE")["chats"]["D0ALICE"]["messages"][0]
        show(f"Alice: {QUESTION}   :{asked['reactions'][0]}:")

    def parts(self):
        """What the stream has been told, in order; a card stands where it was told first."""
        parts, cards = [], {}
        for call in self.fake.record():
            if not call.get("method", "").endswith("Stream") or call["status"] != 200:
                continue
            for chunk in call["params"].get("chunks", []):
                if chunk["type"] == "task_update":
                    if chunk["id"] not in cards:
                        parts.append(cards.setdefault(chunk["id"], {}))
                    cards[chunk["id"]].update(chunk)
                else:
                    parts.append(chunk)
        return parts

    def look(self, number):
        if number == 1:
            return
        lines = [
            f"{self.MARKS[p['status']]} {p['title']}" if "title" in p else p["text"].rstrip()
            for p in self.parts()
        ]
        heading = "in the end" if number else "streaming, with Slack's own Stop button"
        show(f"Bot, in the thread, {heading}:", "\n".join(lines))


class Teams:
    CHAT = "a:ann"

    def __init__(self, fake):
        self.fake = fake
        fake.control("user", {"id": "ann", "name": "Ann"})
        fake.control("chat", {"id": self.CHAT})
        self.ready = {"method": "keys"}
        self.looks = (
            {"method": "stream", "status": 201, "text": "file systems"},
            {"method": "stream", "status": 202, "text": r"(?s)✓ Bash: .df -h.*Most of it"},
            {"method": "stream", "status": 202, "text": "31 of 50 GB"},
        )

    def extra(self):
        return listening(self.fake)

    def instance(self):
        return teams(self.fake, allow=["ann"], agent="round")

    def ask(self):
        self.fake.control("say", {"user": "ann", "chat": self.CHAT, "text": QUESTION})
        self.fake.wait(taken=1)
        show(f"Ann: {QUESTION}")

    def look(self, number):
        message = self.fake.state(chat=self.CHAT)["chats"][self.CHAT]["messages"][1]
        if message["streaming"]:
            heading = "in the same message" if number else "streaming, with the Stop button of Teams"
        else:
            heading = "in the end"
        show(f"Bot, {heading}:", message["text"])


class Discord:
    """A channel of a server, in which the bot is mentioned."""

    ANN, CHANNEL = "100000000000000001", "500000000000000001"

    def __init__(self, fake):
        self.fake = fake
        fake.control("user", {"id": self.ANN, "name": "ann"})
        fake.control("channel", {"id": self.CHANNEL})
        self.ready = {"sockets": 1}
        self.looks = (
            {"text": r"▸ Bash: `df -h"},
            {"text": r"(?s)✓ Bash: `df -h.*▸ Bash: `du"},
            {"method": "delete", "status": 204},
        )

    def instance(self):
        return discord(self.fake, allow=[self.ANN], agent="round")

    def ask(self):
        message = {"user": self.ANN, "channel": self.CHANNEL, "text": QUESTION, "mention": True}
        self.fake.control("message", message)
        self.fake.wait(method="react")
        show(f"Ann: @Bot {QUESTION}   {self.messages()[0]['reactions'][0]}")

    def messages(self):
        return self.fake.state(chat=self.CHANNEL)["chats"][self.CHANNEL]["messages"]

    @staticmethod
    def read(message):
        """Without the marks of bold text and code."""
        return re.sub(r"\*\*|`", "", message["text"])

    def look(self, number):
        _, progress, *answers = self.messages()
        if number == 2:
            assert progress["deleted"] and answers[0]["reply_to"] == self.messages()[0]["id"]
            show("Bot, in reply, with a sound; the message before it is gone:", self.read(answers[0]))
            return
        assert progress["silent"]
        how = "in the same message" if progress["edits"] else "in reply, without a sound"
        buttons = "   ".join(f"[ {label} ]" for row in progress["buttons"] for label in row)
        show(f"Bot, {how}:", f"{self.read(progress)}\n{buttons}")


def main():
    name = sys.argv[1]
    with Fake(name) as fake:
        service = {"telegram": Telegram, "slack": Slack, "teams": Teams, "discord": Discord}[name](fake)
        agent = Agent()
        visible = "visibility : { show_tools = true; };"
        visible += service.extra() if name == "teams" else ""
        with Host(service.instance(), agents=agent.conf(), extra=visible):
            fake.wait(**service.ready)
            service.ask()
            for number, on_show in enumerate(service.looks):
                agent.step(number)
                fake.wait(**{"status": 200, **on_show})
                service.look(number)


if __name__ == "__main__":
    main()
