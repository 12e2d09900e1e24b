#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An agent that speaks JSON-RPC (ACP, codex app-server): it answers every prompt with a recorded
turn. A resumed session keeps the given name.

    rpc.py RECORDING LOG

Each received line is appended to the file LOG.
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
        self.names = ("", "")  # of the session: the recorded name, the actual one

    def send(self, message, answers=None):
        if answers is not None and is_answer(message):
            message["id"] = answers
        text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
        sys.stdout.write((text.replace(*self.names) if self.names[0] else text) + "\n")
        sys.stdout.flush()

    def send_until_answer(self, answers):
        while self.lines:
            message = self.lines.pop(0)
            self.send(message, answers)
            if is_answer(message):
                return

    def handle_message(self, message):
        method, answers = message.get("method"), message.get("id")
        if method is None or answers is None:
            return
        if method == "initialize" or method in OPENS:
            self.send_until_answer(answers)
        elif method in RESUMES:
            opened = {}
            while not is_answer(opened):
                opened = self.lines.pop(0)
            self.names = (session_of(opened["result"]), session_of(message["params"]))
            self.send(opened, answers)
        elif method in BEGINS:
            while self.lines:
                self.send(self.lines.pop(0), answers)
        else:
            self.send({"id": answers, "result": {}})


def main(recording, heard):
    agent = Agent(recording)
    with open(heard, "w", encoding="utf-8", buffering=1) as log:
        for line in sys.stdin:
            log.write(line)
            agent.handle_message(json.loads(line))


if __name__ == "__main__":
    main(*sys.argv[1:])
