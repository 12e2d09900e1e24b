# SPDX-License-Identifier: MIT
"""A chat connector as a program, for a service that has everything: native streams, forms, personal
menus, drafts, files of people, polls. It writes each operation to the file `ops`. People act by HTTP
requests: /act has the message for the host, and /poll has one that the service gives to the next poll.
The file `stopped`: a person has stopped the stream that is appended to next."""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from room import answer_hit, hits, say, serve  # noqa: E402

polls, waiting = [], []
made = 0


def result(op, status="done", **more):
    say(tc="result", n=op["n"], status=status, **more)


def create(op):
    global made
    made += 1
    result(op, message=f"r{made}")


def fetch(op):
    """In two steps, as a service that gives out addresses of downloads."""
    if "step" not in op:
        result(op, "next_step", cursor="at-" + op["file"]["ref"])
        return
    with open("download", "w", encoding="ascii") as f:
        f.write("x" * 5)
    result(op, path="download" if op["cursor"] == "at-good" else "../../../etc/passwd")


def carry_out(op):
    with open("ops", "a", encoding="utf-8") as f:
        f.write(json.dumps(op) + "\n")
    if op["op"] == "identify":
        result(op, message="bot")
    elif op["op"] == "poll":
        polls.append(op)
        answer_poll()
    elif op["op"] == "fetch":
        fetch(op)
    elif op["op"] == "stream_append" and os.path.exists("stopped"):
        os.remove("stopped")
        result(op, "stopped")
    elif op["op"] in ("post", "file", "stream_begin"):
        create(op)
    else:
        result(op)


def answer_poll():
    """Passes on what the service has; the poll is done when the host has kept that."""
    if polls and waiting:
        say(**waiting[0])


def take(hit):
    given = json.loads(hit["body"])
    hits[given["id"]] = hit["id"]
    if hit["path"] == "/poll":
        waiting.append(given)
        answer_poll()
    else:
        say(**given)


def reply(m):
    if waiting and waiting[0]["id"] == m["id"]:
        result(polls.pop(), cursor="after-" + waiting.pop(0)["id"])
    answer_hit(m)


say(tc="hello", protocol=1, name="fullroom", wants=[], may=["submit", "cancel", "answer"],
    routes=["/act", "/poll"],
    chat={"can": ["identify", "post", "edit", "delete", "file", "typing", "react", "private", "poll", "fetch",
                  "menu", "draft", "stream_begin", "stream_append", "stream_end"],
          "text": "commonmark", "unit": "codepoints", "units": 4000, "flags": ["no_tables"],
          "roles": {"card": {"units": 2000}, "live": {"text": "plain", "bytes": 900}},
          "reactions": ["seen"], "edit_ms": 100, "edit_count": 50, "input": "fields", "buttons": 10, "fields": 3,
          "colon_ids": True, "command": "!", "poll_ms": 30000, "source_bytes": 2000, "personal_menu": True,
          "stream": {"item": {"text": "plain"}, "pace_ms": 100, "age_ms": 240000, "bytes": 20000, "items": 100}})
serve(carry_out, take, reply)
