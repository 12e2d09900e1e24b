#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The fake of an endpoint for Standard Webhooks. README.md describes it."""

import base64
import hashlib
import hmac
import json
import re
import sys
import time

sys.dont_write_bytecode = True

from control import Unable  # noqa: E402
from server import Answer  # noqa: E402
from service import Call, Service, main  # noqa: E402

SECRET = "whsec_" + base64.b64encode(b"fake-webhook-secret-of-32-bytes!").decode()
TOKEN = "fake-webhook-token"
TOLERANCE_S = 300
TYPES = {
    "application/json": dict,
    "application/cloudevents+json": dict,
    "application/x-ndjson": None,
}
CLOUD = {"specversion", "id", "source", "type"}
ATTRIBUTE = re.compile(r"[a-z0-9]{1,20}\Z")


class Refused(Exception):
    def __init__(self, status, why):
        super().__init__(why)
        self.status = status


class Endpoint(Service):
    paths = "/hook"
    tokens = (TOKEN, SECRET)

    def start(self):
        self.secrets = [SECRET]
        self.events = {}  # id: body, in the order in which they were accepted
        self.bodies = {}  # id: the body of each attempt
        self.times = {}  # id: the largest timestamp
        self.controls = {"secrets": self._secrets}

    def _secrets(self, body):
        """Keys of which one must fit."""
        if not all(secret.startswith("whsec_") for secret in body["secrets"]):
            raise Unable("a secret begins with whsec_")
        self.secrets = body["secrets"]

    def parse(self, request):
        name = request.headers.get("webhook-id", "")
        call = Call(request, "post" if request.verb == "POST" else request.verb.lower(), {})
        call.chat = name
        try:
            call.params = json.loads(request.body or b"{}")
        except ValueError:
            call.params = {"lines": request.body.decode(errors="replace").splitlines()}
        if isinstance(call.params, dict):
            call.text = json.dumps(call.params.get("data", call.params), ensure_ascii=False)
        call.writes = call.params.get("conversation") if isinstance(call.params, dict) else None
        call.holds = ["endpoint"] * 3
        return call

    # ---- checks ----

    def _check_headers(self, headers):
        missing = [n for n in ("webhook-id", "webhook-timestamp", "webhook-signature") if not headers.get(n)]
        if missing:
            raise Refused(401, f"missing headers: {missing}")
        if "." in headers["webhook-id"] or not headers["webhook-timestamp"].isdigit():
            raise Refused(401, "invalid webhook-id or webhook-timestamp")
        if abs(time.time() - int(headers["webhook-timestamp"])) > TOLERANCE_S:
            raise Refused(401, "webhook-timestamp is too old or too new")

    def _check_signature(self, headers, body):
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        wanted = set()
        for secret in self.secrets:
            key = base64.b64decode(secret[len("whsec_") :])
            digest = hmac.new(key, signed, hashlib.sha256).digest()
            wanted.add("v1," + base64.b64encode(digest).decode())
        if not wanted & set(headers["webhook-signature"].split(" ")):
            raise Refused(401, "no signature fits")

    def _check_body(self, request):
        kind = request.content_type()
        if kind not in TYPES:
            raise Refused(415, f"content type {kind}")
        if TYPES[kind] is None:
            return [json.loads(line) for line in request.body.splitlines()]
        body = json.loads(request.body)
        if not isinstance(body, dict):
            raise Refused(400, "the body is no JSON object")
        if kind == "application/cloudevents+json":
            wrong = [name for name in body if not ATTRIBUTE.match(name)]
            if CLOUD - set(body) or wrong or body["specversion"] != "1.0":
                raise Refused(400, f"no CloudEvent: {sorted(CLOUD - set(body))} {wrong}")
        return body

    def _check_repeat(self, name, stamp, request):
        """Each attempt has its own time, and the id and body of the first one."""
        if self.bodies.setdefault(name, request.body) != request.body:
            self.record.violate("other-body", f"{name} came with another body")
        if stamp < self.times.get(name, 0):
            self.record.violate("old-time", f"{name} came with an older timestamp")
        self.times[name] = max(stamp, self.times.get(name, 0))

    # ---- executing it ----

    def perform(self, call):
        request = call.request
        if request.verb != "POST":
            return Answer(405, {"error": "POST only"})
        try:
            self._check_headers(request.headers)
            self._check_signature(request.headers, request.body)
            self._check_body(request)
        except (Refused, ValueError) as refusal:
            status = getattr(refusal, "status", 400)
            self.record.violate("refused", f"{status}: {refusal}")
            return Answer(status, {"error": str(refusal)})
        name = request.headers["webhook-id"]
        self._check_repeat(name, int(request.headers["webhook-timestamp"]), request)
        self.events.setdefault(name, call.params)
        return Answer(200, {"accepted": True})


    def flooded(self, call, retry_after):
        return Answer(429, {"error": "too many requests"}, {"Retry-After": str(retry_after)})

    def refused(self, call, fault):
        return Answer(fault.option("status", 400), {"error": fault.option("error", "scripted")})

    # ---- queries of tests ----

    def visible(self):
        return [
            {"chat": body.get("conversation"), "id": name, "text": json.dumps(body, ensure_ascii=False),
             "from": "turncast", "bot": True}
            for name, body in self.events.items() if isinstance(body, dict)
        ]  # fmt: skip

    def state(self, chat=None, thread=None):
        return {"events": [{"id": name, "body": body} for name, body in self.events.items()]}

    def set_pace(self, body):
        raise Unable("it has no pace")


if __name__ == "__main__":
    main(Endpoint)
