# SPDX-License-Identifier: MIT
"""A chat connector as a program: its service is the file `messages` in its folder, and people act by
HTTP requests to /say and /press. `chatroom.py KIND`: idempotency of the service, key or none. With the
file `die` it exits at the next operation, which it has carried out already."""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from room import answer_hit, hits, say, serve  # noqa: E402

KIND = sys.argv[1]


def load():
    return json.load(open("messages")) if os.path.exists("messages") else []


def store(messages):
    with open("messages.new", "w") as f:
        json.dump(messages, f)
    os.replace("messages.new", "messages")


def perform(op):
    """Status and id of the message."""
    messages = load()
    known = [m for m in messages if KIND == "key" and m["key"] == op["key"]]
    if op["op"] == "identify":
        return "done", "bot"
    if op["op"] == "post" and not known:
        messages.append({"id": f"r{len(messages)}", "key": op["key"], "text": op["text"], "role": op["role"],
                         "buttons": op["buttons"]})
        known = messages[-1:]
    elif op["op"] in ("edit", "delete"):
        known = [m for m in messages if m["id"] == op["message"] and m["text"] is not None]
        if not known:
            return "message_gone", None
        known[0].update(text=None if op["op"] == "delete" else op["text"], buttons=op["buttons"])
    store(messages)
    return "done", known[0]["id"] if known else None


def carry_out(op):
    status, message = perform(op)
    if os.path.exists("die") and op["op"] == "post":
        os.remove("die")
        sys.exit(1)
    result = {"tc": "result", "n": op["n"], "status": status}
    if message:
        result["message"] = message
    say(**result)


def take(hit):
    given = json.loads(hit["body"])
    hits[given["id"]] = hit["id"]
    target = {"chat": "7", "message": given.pop("message", given["id"])}
    say(tc="action" if hit["path"] == "/press" else "message", target=target, **given)


def reply(m):
    answer_hit(m, 503 if m["status"] == "not_kept" else 200)


say(tc="hello", protocol=1, name="chatroom", wants=[], may=["submit", "cancel", "answer"],
    routes=["/say", "/press"],
    chat={"can": ["identify", "post", "edit", "delete"], "text": "commonmark", "units": 2000,
          "edit_ms": 100, "input": "buttons", "idempotency": KIND})
serve(carry_out, take, reply)
