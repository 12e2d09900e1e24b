# SPDX-License-Identifier: MIT
"""relay.py FILE WINDOW: as relay.c, as somebody writes it in Python."""
import json
import sys


def say(**message):
    print(json.dumps(message), flush=True)


path, window = sys.argv[1:]
say(tc="hello", protocol=1, name="relay", wants=["narration"], delivers=True, window=int(window))
with open(path, "w", encoding="utf-8") as file:
    for line in sys.stdin:
        message = json.loads(line)
        if message["tc"] == "event":
            file.write(line)
            file.flush()
            say(tc="ack", n=message["n"])
        elif message["tc"] == "ping":
            say(tc="pong", n=message["n"])
        elif message["tc"] == "stop":
            break
