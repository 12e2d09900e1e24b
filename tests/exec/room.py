# SPDX-License-Identifier: MIT
"""What the programs chatroom.py and fullroom.py share: messages from and to the host, each checked
against the schema, and the hits that wait for a reply of the host."""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from schema import fault  # noqa: E402

hits = {}


def say(**message):
    wrong = fault(message, "from_program")
    if wrong:
        print(f"E! message {message['tc']} of the program breaks the schema: {wrong}", file=sys.stderr)
    print(json.dumps(message), flush=True)


def answer_hit(reply, status=200):
    say(tc="answer_hit", id=hits.pop(reply["id"]), status=status, body=reply["status"])


def serve(carry_out, take, reply):
    """Passes on what the host says, until it says stop: operations, hits, replies."""
    for line in sys.stdin:
        message = json.loads(line)
        wrong = fault(message, "to_program")
        if wrong:
            print(f"E! message {message['tc']} breaks the schema: {wrong}", file=sys.stderr)
        if message["tc"] == "op":
            carry_out(message)
        elif message["tc"] == "hit":
            take(message)
        elif message["tc"] == "reply":
            reply(message)
        elif message["tc"] == "ping":
            say(tc="pong", n=message["n"])
        elif message["tc"] == "stop":
            break
