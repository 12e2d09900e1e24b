#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Allows commands that only look; leaves others to people. Appends answers to the file `answers`.
Instance: bot = { plugin = "exec"; command = ["./approver.py"]; grants = ["answer"]; allow = ["bot"]; };"""
import json, sys

def say(**message):
    print(json.dumps(message), flush=True)

def only_looks(command):
    harmless = command.isprintable() and not set(command) & set(";&|<>$`()\\")
    return harmless and command.split(" ")[0] in ("df", "du", "free", "ls", "pwd", "uptime", "wc")

say(tc="hello", protocol=1, name="approver", may=["answer"],
    wants=["request", "final"], delivers=True)
for m in map(json.loads, sys.stdin):
    if m["tc"] == "event":
        payload = m["event"]["payload"]
        if "ticket" in m and payload["tool"] == "Bash" and only_looks(payload["subject"]):
            say(tc="answer", id="1", ticket=m["ticket"], choice="allow", user="bot", chat="bot")
        elif "text" in payload:
            print(payload["text"], file=open("answers", "a"))
        say(tc="ack", n=m["n"])
    elif m["tc"] == "ping":
        say(tc="pong", n=m["n"])
