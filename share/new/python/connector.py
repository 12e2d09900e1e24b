#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The connector @NAME@: posts answers to a service, and takes messages from the service's webhook.

The host starts it and exchanges lines of JSON with it; turncast-exec(7) describes them all."""
import json
import os
import sys
import urllib.request

URL = os.environ.get("URL")  # where answers are posted
TOKEN = os.environ.get("TOKEN")  # bearer token for the service
SECRET = os.environ.get("SECRET")  # X-Secret of the service's requests
RETRY_MS = 5000


def say(**message):
    print(json.dumps(message), flush=True)


def log(level, text):
    """Level: E, W, I or D."""
    print(f"{level}! {text}", file=sys.stderr, flush=True)


def post(message):
    """To the service; raises OSError if it does not take it."""
    log("I", f"to {message['chat']}: {' '.join(message['text'].split())}")
    if not URL:
        return
    headers = {"Content-Type": "application/json"}
    if TOKEN:
        headers["Authorization"] = f"Bearer {TOKEN}"
    request = urllib.request.Request(URL, json.dumps(message).encode(), headers)
    urllib.request.urlopen(request, timeout=30).close()


def on_event(m):
    """The host keeps an event, across restarts, until it is acknowledged."""
    payload = m["event"]["payload"]
    text = payload["message"] if m["event"]["type"] == "error" else payload["text"]
    try:
        post({"id": m["turn"], "chat": m.get("route", {}).get("chat", "main"), "text": text})
        say(tc="ack", n=m["n"])
    except OSError as error:
        log("W", f"the service does not answer: {error}")
        say(tc="nack", n=m["n"], retry_ms=RETRY_MS)


waiting = {}  # requests of the service, by id of the message that they brought


def on_hit(m):
    """The service posts {"id", "chat", "user", "text"} to /hooks/@NAME@/message."""
    if m["headers"].get("x-secret") != SECRET:
        say(tc="answer_hit", id=m["id"], status=403)
        return
    try:
        message = json.loads(m["body"])
        key, chat, user, text = (message[name] for name in ("id", "chat", "user", "text"))
    except (ValueError, KeyError, TypeError):
        say(tc="answer_hit", id=m["id"], status=400)
        return
    waiting[key] = m["id"]
    say(tc="submit", id=key, key=key, chat=chat, user=user, text=text, route={"chat": chat})


def on_reply(m):
    """What is not on disk is delivered again by the service."""
    say(tc="answer_hit", id=waiting.pop(m["id"]), status=503 if m["status"] == "not_kept" else 200,
        body=m.get("answer", ""))


say(tc="hello", protocol=1, name="@NAME@", wants=["final", "error"], delivers=True, may=["submit"],
    routes=["/message"] if SECRET else [])
for line in sys.stdin:
    m = json.loads(line)
    if m["tc"] == "event":
        on_event(m)
    elif m["tc"] == "hit":
        on_hit(m)
    elif m["tc"] == "reply":
        on_reply(m)
    elif m["tc"] == "ping":
        say(tc="pong", n=m["n"])
    elif m["tc"] == "stop":
        break
