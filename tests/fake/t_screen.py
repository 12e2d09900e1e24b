#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The fakes of Telegram and Slack describe the visible messages in the same form; that of Matrix is
tested in t_matrix.py."""
import json
import os
import sys
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tap"))

from drive import Fake  # noqa: E402
from tap import done, equal  # noqa: E402

ANN, CHANNEL = 111, "D0ALICE"


def post(fake, path, token=None, **body):
    headers = {"Content-Type": "application/json", **({"Authorization": token} if token else {})}
    request = urllib.request.Request(fake.url + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, None, 60) as answer:
        return json.load(answer)


def telegram():
    with Fake("telegram") as fake:
        asked = fake.control("message", {"from": ANN, "text": "hi"})["message_id"]
        more = {"reply_parameters": {"message_id": asked, "allow_sending_without_reply": True},
                "reply_markup": {"inline_keyboard": [[{"text": "Go", "callback_data": "d"}]]}}  # fmt: skip
        made = post(fake, "/bot123456:FAKE-telegram-token/sendMessage", chat_id=ANN, text="one",
                    disable_notification=True, **more)["result"]["message_id"]  # fmt: skip
        fake.control("reaction", {"from": ANN, "message_id": made, "emoji": "👍"})
        wanted = {"chat": "111", "thread": None, "id": str(made), "author": "123456", "text": "one",
                  "buttons": [["Go"]], "reply_to": str(asked), "silent": True, "reactions": ["👍"],
                  "edits": 0}  # fmt: skip
        equal(fake.screen()[-1], wanted, "Telegram: the visible messages")
        fake.control("delete", {"chat": ANN, "message_id": made})
        equal([m["author"] for m in fake.screen()], ["111"], "Telegram: a deleted message is not visible")


def slack():
    with Fake("slack") as fake:
        button = {"type": "button", "text": {"type": "plain_text", "text": "Go"}, "action_id": "a"}
        blocks = [{"type": "markdown", "text": "words"}, {"type": "actions", "elements": [button]}]
        token = "Bearer xoxb-fake-bot"
        said = {"channel": CHANNEL, "text": "fallback"}
        ts = post(fake, "/api/chat.postMessage", token, **said, blocks=blocks)["ts"]
        post(fake, "/api/chat.postEphemeral", token, **said, user="U0ALICE")
        shown = fake.screen()
        equal(len(shown), 1, "Slack: an ephemeral message is not visible to others")
        wanted = {"chat": CHANNEL, "thread": None, "id": ts, "author": "U0BOT", "text": "words\nGo",
                  "buttons": [["Go"]], "reply_to": None, "silent": False, "reactions": [],
                  "edits": 0}  # fmt: skip
        equal(shown[0], wanted, "Slack: the visible messages")


telegram()
slack()
done()
