# SPDX-License-Identifier: MIT
"""How the Slack fake delivers events: over sockets or by signed HTTP requests, until they are
acknowledged."""

import hashlib
import hmac
import http.client
import json
import time
import urllib.parse
import uuid

from service import in_thread
from slack_messages import APP, BOT_USER, TEAM

SECRET = "fake-signing-secret"
RETRIES = (0, 60, 300)  # seconds after each failure


class Delivery:
    """A payload that is being delivered."""

    def __init__(self, kind, payload):
        self.kind = kind  # events_api, interactive, slash_commands
        self.payload = payload
        self.envelope_id = str(uuid.uuid4())
        self.attempt = 0
        self.reason = None
        self.socket = None
        self.timer = None
        self.sent_at = None


class Events:
    def __init__(self, service):
        self.service = service
        self.record = service.record
        self.url = self.interactive_url = ""
        self.secret = SECRET
        self._queue = []  # not sent over a socket yet
        self._open = {}  # envelope_id: Delivery
        self._done = set()
        self._turn = 0
        self._count = 0

    # ---- creating events ----

    def event(self, event, event_id=None):
        self._count += 1
        event_id = event_id or f"Ev{self._count:08}"
        payload = {
            "token": "legacy-verification-token",
            "team_id": TEAM,
            "api_app_id": APP,
            "event": event,
            "type": "event_callback",
            "event_id": event_id,
            "event_time": int(time.time()),
            "authorizations": [
                {
                    "enterprise_id": None,
                    "team_id": TEAM,
                    "user_id": BOT_USER,
                    "is_bot": True,
                    "is_enterprise_install": False,
                }
            ],
            "is_ext_shared_channel": False,
            "event_context": f"4-{event_id}",
        }
        self.deliver("events_api", payload)
        return event_id

    def deliver(self, kind, payload):
        event = payload.get("event", payload)
        chat = event.get("channel")
        chat = chat.get("id") if isinstance(chat, dict) else chat
        self.record.add(
            "inbound",
            event=event.get("type") or event.get("command"),
            chat=chat or event.get("channel_id"),
            text=event.get("text"),
            payload=payload,
        )
        delivery = Delivery(kind, payload)
        self._open[delivery.envelope_id] = delivery
        if self.url:
            in_thread(self._post_until_taken, delivery)
        else:
            self._queue.append(delivery)
            self.flush()

    def all_acknowledged(self):
        return not self._open

    # ---- to sockets ----

    def flush(self):
        while self._queue:
            self._turn += 1
            socket = self.service.sockets.pick(self._turn)
            if socket is None:
                return
            self._send(socket, self._queue.pop(0))

    def _send(self, socket, delivery):
        envelope = {
            "envelope_id": delivery.envelope_id,
            "type": delivery.kind,
            "payload": delivery.payload,
            "accepts_response_payload": delivery.kind != "events_api",
        }
        if delivery.kind == "events_api":
            envelope |= {"retry_attempt": delivery.attempt, "retry_reason": delivery.reason or ""}
        delivery.socket = socket
        delivery.sent_at = self.record.now()
        ack_time = self.service.options["ack_time"]
        delivery.timer = self.service.timers.after(ack_time, lambda: self._late(delivery))
        socket.send_json(envelope)

    def _late(self, delivery):
        if delivery.envelope_id in self._open:
            self.record.violate("no-ack", f"{delivery.envelope_id} in time")
            self._again(delivery, "timeout")

    def lost(self, socket):
        """Sends the unacknowledged payloads of a lost socket over another one."""
        for delivery in list(self._open.values()):
            if delivery.socket is socket:
                self.service.timers.cancel(delivery.timer)
                self._again(delivery, "connection_closed")

    def _again(self, delivery, reason):
        delivery.socket = None
        if delivery.kind != "events_api" or delivery.attempt >= len(RETRIES):
            del self._open[delivery.envelope_id]
            self._done.add(delivery.envelope_id)
            self.record.changed.notify_all()
            return
        delivery.attempt += 1
        delivery.reason = reason
        self._queue.append(delivery)
        self.flush()

    def acknowledge(self, number, payload):
        delivery = self._open.pop(number, None)
        if delivery is not None:
            self.service.timers.cancel(delivery.timer)
            self._done.add(number)
            if payload and delivery.kind == "events_api":
                self.record.violate("bad-request", "a payload where none is accepted")
        elif number in self._done:
            self.record.violate("late-ack", f"{number}, a second time or too late")
        else:
            self.record.violate("bad-request", f"ack of {number}, which is unknown")
        self.record.changed.notify_all()

    # ---- over HTTP ----

    def _post_until_taken(self, delivery):
        while True:
            status, _, headers = self.push(delivery.payload, "good", delivery)
            with self.record.changed:
                taken = 200 <= status < 300
                stop = headers.get("x-slack-no-retry") == "1" or delivery.kind != "events_api"
                if taken or stop or delivery.attempt >= len(RETRIES):
                    self._open.pop(delivery.envelope_id, None)
                    self.record.changed.notify_all()
                    return
                pause = RETRIES[delivery.attempt]
                delivery.attempt += 1
                delivery.reason = "http_error" if status else "connection_failed"
                deadline = time.monotonic() + self.service.seconds(pause)
                while (left := deadline - time.monotonic()) > 0:
                    self.record.changed.wait(left)

    def _signed(self, body, sign):
        now = int(time.time()) + {"old": -301, "future": 301}.get(sign, 0)
        base = f"v0:{now}:".encode() + body
        digest = hmac.new(self.secret.encode(), base, hashlib.sha256).hexdigest()
        if sign == "bad":
            digest = digest[:-1] + ("0" if digest[-1] != "0" else "1")
        headers = {"X-Slack-Request-Timestamp": str(now), "X-Slack-Signature": f"v0={digest}"}
        return {} if sign == "none" else headers

    def push(self, payload, sign="good", delivery=None, retry=None, reason=None, kind="events_api"):
        """Returns the status (0: none), body and headers."""
        kind = delivery.kind if delivery else kind
        url = self.url if kind == "events_api" else self.interactive_url or self.url
        body, content_type = _encoded(kind, payload)
        headers = {"Content-Type": content_type, **self._signed(body, sign)}
        if delivery and delivery.attempt:
            retry, reason = delivery.attempt, delivery.reason
        if retry is not None:
            headers["X-Slack-Retry-Num"] = str(retry)
            headers["X-Slack-Retry-Reason"] = reason or "http_timeout"
        parts = urllib.parse.urlsplit(url)
        timeout = max(0.05, self.service.seconds(self.service.options["ack_time"]))
        status, text, answered, error = 0, "", {}, None
        try:
            connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=timeout)
            connection.request("POST", parts.path or "/", body, headers)
            answer = connection.getresponse()
            status, text = answer.status, answer.read(1 << 20).decode(errors="replace")
            answered = {name.lower(): value for name, value in answer.getheaders()}
            connection.close()
        except TimeoutError as failure:
            error = str(failure)
            self.record.violate("no-ack", f"no answer within {timeout} s")
        except (OSError, http.client.HTTPException) as failure:
            error = str(failure)
        self.record.add(
            "push", payload=payload, sign=sign, retry=retry, status=status, body=text, error=error
        )
        return status, text, answered


def _encoded(kind, payload):
    if kind == "events_api":
        return json.dumps(payload, ensure_ascii=False).encode(), "application/json"
    form = payload if kind == "slash_commands" else {"payload": json.dumps(payload)}
    return urllib.parse.urlencode(form).encode(), "application/x-www-form-urlencoded"
