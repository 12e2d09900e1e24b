#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An agent that speaks JSON-RPC (ACP, codex app-server): whatever it is asked, it tells a recorded
turn. A session that is resumed has the name that it is given.

    rpc.py RECORDING HEARD

What it hears goes to the file HEARD, line by line.
"""
import json
import sys

OPENS = {"session/new", "thread/start"}
RESUMES = {"session/load", "session/resume", "thread/resume"}
BEGINS = {"session/prompt", "turn/start"}


def is_answer(message):
    return "id" in message and "method" not in message


def session_of(members):
    thread = members.get("thread", {})
    return members.get("sessionId") or members.get("threadId") or thread["id"]


class Agent:
    def __init__(self, recording):
        with open(recording, encoding="utf-8", newline="\n") as f:
            self.lines = [json.loads(line) for line in f]
        self.names = ("", "")  # of the session: as recorded, as it is

    def say(self, message, answers=None):
        if answers is not None and is_answer(message):
            message["id"] = answers
        text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
        sys.stdout.write((text.replace(*self.names) if self.names[0] else text) + "\n")
        sys.stdout.flush()

    def say_until_answer(self, answers):
        while self.lines:
            message = self.lines.pop(0)
            self.say(message, answers)
            if is_answer(message):
                return

    def hear(self, message):
        method, answers = message.get("method"), message.get("id")
        if method is None or answers is None:
            return
        if method == "initialize" or method in OPENS:
            self.say_until_answer(answers)
        elif method in RESUMES:
            opened = {}
            while not is_answer(opened):
                opened = self.lines.pop(0)
            self.names = (session_of(opened["result"]), session_of(message["params"]))
            self.say(opened, answers)
        elif method in BEGINS:
            while self.lines:
                self.say(self.lines.pop(0), answers)
        else:
            self.say({"id": answers, "result": {}})


def main(recording, heard):
    agent = Agent(recording)
    with open(heard, "w", encoding="utf-8", buffering=1) as log:
        for line in sys.stdin:
            log.write(line)
            agent.hear(json.loads(line))


if __name__ == "__main__":
    main(*sys.argv[1:])
