# SPDX-License-Identifier: MIT
"""A program that sends signed messages to an instance of the connector webhook."""
import base64
import hashlib
import hmac
import itertools
import json
import time
import urllib.error
import urllib.request

from cases import same
from talk import WEBHOOK_SECRETS

IN = WEBHOOK_SECRETS[1]
_numbers = itertools.count(1)


class Sender:
    """A program that writes to /hooks/INSTANCE of the host."""

    def __init__(self, port, instance="wh"):
        self.url = f"http://127.0.0.1:{port}/hooks/{instance}"
        self.asker = self if instance == "wa" else Sender(port, "wa")

    def send(self, body, id_=None, age=0, key=IN, verb="POST"):
        """-> status and JSON of the response"""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        id_ = id_ or f"msg_{next(_numbers)}"
        stamp = str(int(time.time()) - age)
        digest = hmac.new(base64.b64decode(key[6:]), f"{id_}.{stamp}.".encode() + data, hashlib.sha256)
        headers = {
            "Webhook-Id": id_,
            "Webhook-Timestamp": stamp,
            "Webhook-Signature": "v1," + base64.b64encode(digest.digest()).decode(),
            "Content-Type": "application/json",
        }
        request = urllib.request.Request(self.url, data, headers, method=verb)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())

    def ask(self, words, **more):
        """-> the id of the turn"""
        status, answer = self.send({"user": "ci", "text": words, **more})
        same(status, 202, answer)
        return answer.get("turn")
