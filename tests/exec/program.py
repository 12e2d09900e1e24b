#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A program for the connector exec that does what its arguments say, to test the protocol.

program.py [hello=JSON] MODE...: the modes are below. Each outcome that it is sent is appended to the
file `seen` in its directory, before the acknowledgement: "TURN resumed" or "TURN"."""
import json
import os
import sys
import time

from schema import fault


def say(**message):
    if not modes and (wrong := fault(message, "from_program")):
        log(f"E! message {message['tc']} of the program breaks the schema: {wrong}")
    print(json.dumps(message), flush=True)


def log(text):
    print(text, file=sys.stderr, flush=True)


def note(line):
    with open("seen", "a", encoding="utf-8") as seen:
        seen.write(line + "\n")


HELLO = {"tc": "hello", "protocol": 1, "name": "test", "wants": ["final", "error", "request"],
         "delivers": True, "may": ["submit", "cancel", "answer"]}
modes = [a for a in sys.argv[1:] if not a.startswith("hello=")]
hello = HELLO | next((json.loads(a[6:]) for a in sys.argv[1:] if a.startswith("hello=")), {})


def is_first_life():
    """Misbehaves only once, so that the next process shows what is delivered again."""
    try:
        os.close(os.open("lived", os.O_CREAT | os.O_EXCL, 0o600))
        return True
    except FileExistsError:
        return False


first = is_first_life()
misbehaves = first or "always" in modes


def at_start():
    if "no-hello" in modes and misbehaves:
        time.sleep(600)
    if "exit-78" in modes:
        log("E! no token")
        sys.exit(78)
    if "bad-hello" in modes and misbehaves:
        print("hello world", flush=True)
    say(**hello)
    if "deaf" in modes and misbehaves:
        time.sleep(600)


def misbehave():
    """Whether the event is to be left alone."""
    if "bad-lines" in modes:
        print("a\nb\nc", flush=True)
    if "long-line" in modes:
        print("x" * (1 << 21), flush=True)
    if "wrong-ack" in modes:
        say(tc="ack", n=99999)
    if "exit" in modes:
        sys.exit(1)
    if "late-78" in modes:
        log("E! the room is unknown")
        sys.exit(78)
    if "kill" in modes:
        os.abort()
    if "no-ack" in modes:
        return True
    if "close" in modes:
        os.close(1)
        time.sleep(600)
    return False


def on_outcome(message):
    n, kind = message["n"], message["event"]["type"]
    note(message["turn"] + (" resumed" if message.get("resumed") else ""))
    if "nack" in modes and first and n == 1 and not os.path.exists("nacked"):
        open("nacked", "w").close()
        say(tc="nack", n=n, retry_ms=200)
    elif "reject" in modes:
        say(tc="reject", n=n, why="the room is gone, canary-secret-0123")
    elif "die-every" in modes and counted() % 50 == 0:
        os._exit(9)
    elif "by-fives" in modes:
        if n % 5 == 0:
            say(tc="ack", n=n)
    else:
        say(tc="ack", n=n)
    log(f"I! {kind} of {message['turn']}")


def counted():
    with open("seen", encoding="utf-8") as seen:
        return sum(1 for _ in seen)


def on_request(message):
    payload = message["event"]["payload"]
    log(f"I! request {payload['state']}")
    if payload["state"] == "open":
        say(tc="answer", id="a0", ticket=message["ticket"], choice="allow", user="7")
        say(tc="answer", id="a1", ticket=message["ticket"], choice="allow", user="7", chat="c")
    say(tc="ack", n=message["n"])


def on_message(message):
    kind = message["tc"]
    if wrong := fault(message, "to_program"):
        log(f"E! message {kind} breaks the schema: {wrong}")
    if kind == "init":
        log("I! init of " + message["instance"] + " " + os.environ["TURNCAST_INSTANCE"] + " " + message["language"])
        log("I! token " + os.environ.get("TOKEN", "none"))
        while "nap" in modes and not os.path.exists("go"):
            time.sleep(0.02)
        if "submit" in modes and first:
            say(tc="submit", id="s1", key="m1", chat="c", user="7", name="Ann", text="id=sub run=ls",
                route={"room": 1}, instances=["beside"])
            say(tc="submit", id="s3", chat="c", user="7", text="x", instances="beside")
            say(tc="submit", id="s4", chat="c", user="7", text="x", instances=["beside", "besides"])
            say(tc="submit", id="s2", chat="c", text="no user")
            say(tc="submit", id="s5", chat="8", user="8", text="x", direct=True)
            say(tc="submit", id="s6", chat="c", user="7", text="", kind="sticker")
    elif kind == "event" and misbehaves and misbehave():
        return
    elif kind == "event" and message["event"]["type"] == "request":
        on_request(message)
    elif kind == "event" and message["event"]["type"] in ("final", "error"):
        if message.get("route"):
            log("I! route " + json.dumps(message["route"]))
        on_outcome(message)
    elif kind == "event":
        say(tc="ack", n=message["n"])
    elif kind == "reply":
        log("I! reply " + json.dumps(message))
    elif kind == "hit":
        log(f"I! hit {message['method']} {message['path']} {message['body'][:40]}")
        log("I! " + "; ".join(f"{k}: {message['headers'].get(k)}" for k in ("x-mixed", "etag")))
        say(tc="answer_hit", id=message["id"], status=201, body="made")
    elif kind == "ping":
        if "no-pong" not in modes:
            say(tc="pong", n=message["n"])
        log("I! ping")
    elif kind == "stop":
        note("stop")
        sys.exit(0)


at_start()
for line in sys.stdin:
    on_message(json.loads(line))
