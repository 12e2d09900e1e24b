#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A program for the connector exec that has the host post each outcome (message http), and logs what
comes of it. post.py PACE_MS."""
import json
import sys

from schema import fault

BASE = "{option:env.BASE}"


def log(text):
    print(text, file=sys.stderr, flush=True)


def write(**message):
    print(json.dumps(message), flush=True)


def say(**message):
    if wrong := fault(message, "from_program"):
        log(f"E! message {message['tc']} of the program breaks the schema: {wrong}")
    write(**message)


def probe():
    """What is refused, each for a reason of its own."""
    for i, url in enumerate(["https://elsewhere.example/", BASE + "@elsewhere.example/", BASE + "/../up",
                             BASE + "/%2e%2E/up", "http://127.0.0.1:1/", None]):
        write(tc="http", id=f"url{i}", **({"url": url} if url else {}))
    write(tc="http", id="headers", url=BASE + "/x", headers={"A": 1})
    write(tc="http", id="priority", url=BASE + "/x", priority="high")
    write(tc="http", id="n", url=BASE + "/x", n=77)
    write(tc="http", id="time", url=BASE + "/x", timeout_ms=-1)
    write(tc="http", id="unknown", url=BASE + "/x", headers={"X": "{option:env.OTHER}"})
    write(tc="http", id="text", url=BASE + "/text", body="Hi")
    write(tc="http", id="list", url=BASE + "/x", headers={"X": "{option:env}"})


def deliver(m):
    payload = m["event"]["payload"]
    with open("seen", "a", encoding="utf-8") as seen:
        seen.write(m["turn"] + "\n")
    say(tc="http", id=m["turn"], n=m["n"], url=BASE + "/post", lane="room", pace_ms=int(sys.argv[1]),
        headers={"Authorization": "Bearer {option:env.TOKEN}"}, body={"text": payload.get("text", "")})


say(tc="hello", protocol=1, name="post", wants=["final", "error"], delivers=True)
for line in sys.stdin:
    m = json.loads(line)
    if wrong := fault(m, "to_program"):
        log(f"E! message {m['tc']} breaks the schema: {wrong}")
    if m["tc"] == "init":
        probe()
    elif m["tc"] == "event":
        deliver(m)
    elif m["tc"] == "response":
        log(f"I! response {m['id']} {m['outcome']} {m['status']} {m.get('body')} {m['headers'].get('x-id')}")
    elif m["tc"] == "reply":
        log(f"I! reply {m['id']} {m['status']}: {m.get('error')}")
    elif m["tc"] == "ping":
        say(tc="pong", n=m["n"])
    elif m["tc"] == "stop":
        break
