#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""echo.py FILE: a program for the connector exec that writes as much as it reads.

Each event is written back in a message that the host ignores, and acknowledged. FILE has the text of
each, a line each."""
import json
import sys


def say(**message):
    print(json.dumps(message), flush=True)


say(tc="hello", protocol=1, name="echo", wants=["narration", "final"], delivers=True, window=64)
with open(sys.argv[1], "w", encoding="utf-8") as file:
    for line in sys.stdin:
        m = json.loads(line)
        if m["tc"] == "event":
            file.write(m["event"]["payload"]["text"].rstrip("-") + "\n")
            file.flush()
            say(tc="echo", event=m["event"])
            say(tc="ack", n=m["n"])
        elif m["tc"] == "ping":
            say(tc="pong", n=m["n"])
        elif m["tc"] == "stop":
            break
