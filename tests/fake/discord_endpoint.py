# SPDX-License-Identifier: MIT
"""The Interactions Endpoint URL of the Discord fake: interactions as signed requests."""

import http.client
import json
import time
from urllib.parse import urlsplit

import ed25519
from control import Unable
from discord_text import Refused
from discord_world import APP

SEED = b"fake-discord-private-key-32bytes"
PUBLIC_KEY = ed25519.public_key(SEED).hex()


class Endpoint:
    def __init__(self, service):
        self.service, self.record = service, service.record
        self.url = None

    def save(self, body):
        """Verifies the endpoint like the developer portal: it must accept a valid signature and
        refuse an invalid one."""
        self.url = body["url"]
        if not self.url:
            return None
        ping = {"id": "1", "application_id": APP, "type": 1, "token": "x", "version": 1}
        good, bad = self.push(ping), self.push(ping, {"signature": "0" * 128})
        if (good[0], good[1]) != (200, {"type": 1}) or bad[0] != 401:
            self.url = None
            raise Unable(f"interactions endpoint url could not be verified: {good} {bad}")
        return {"status": good[0]}

    def push(self, interaction, how=None):
        """Returns the status (0: none) and the JSON. how: what is invalid."""
        how = how or {}
        body = json.dumps(interaction).encode() + b" " * how.get("blanks", 0)
        timestamp = str(how.get("time", int(time.time()) - how.get("age", 0)))
        headers = {"Content-Type": "application/json", "User-Agent": "Discord-Interactions/1.0"}
        if not how.get("unsigned"):
            signature = ed25519.sign(SEED, timestamp.encode() + body).hex()
            headers |= {"X-Signature-Timestamp": timestamp}
            headers |= {"X-Signature-Ed25519": how.get("signature", signature)}
        parts = urlsplit(self.url)
        wait = self.service.options["ack_time"]
        status, text, error = 0, b"", None
        try:
            connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=wait)
            connection.request("POST", parts.path, body, headers)
            answer = connection.getresponse()
            status, text = answer.status, answer.read(1 << 20)
            connection.close()
        except TimeoutError as failure:
            error = str(failure)
            self.record.violate("late-ack", f"interaction {interaction['id']}")
        except (OSError, http.client.HTTPException) as failure:
            error = str(failure)
        self.record.add("push", payload=interaction, how=how, status=status, body=text.decode(), error=error)
        try:
            return status, json.loads(text)
        except ValueError:
            return status, None

    def deliver(self, one, interaction, how):
        """Delivers an interaction; the response acknowledges it."""
        status, response = self.push(interaction, how)
        if status != 200:
            return status
        try:
            self.service.methods.respond(one, response or {})
        except Refused as refusal:
            self.record.violate("bad-response", f"{refusal}: {response}")
        return status
