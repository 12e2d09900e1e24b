# SPDX-License-Identifier: MIT
"""How the Telegram fake delivers updates: by long polls, or to a webhook."""

import http.client
import json
import re
import ssl
import time
from urllib.parse import urlsplit

from service import in_thread
from telegram_text import Refused, integer, parsed

KINDS = ("message", "edited_message", "channel_post", "edited_channel_post", "inline_query",
         "chosen_inline_result", "callback_query", "shipping_query", "pre_checkout_query", "poll",
         "poll_answer", "my_chat_member", "chat_member", "chat_join_request", "message_reaction",
         "message_reaction_count", "chat_boost", "removed_chat_boost", "business_connection",
         "business_message", "edited_business_message", "deleted_business_messages",
         "purchased_paid_media", "stopped_message_generation")  # fmt: skip
NOT_BY_DEFAULT = ("chat_member", "message_reaction", "message_reaction_count")
MAX_TIMEOUT = 50
FUTURE = 10  # an offset so far beyond the last update is ignored
OTHER_POLLER = (
    "terminated by other getUpdates request; make sure that only one bot instance is running"
)
WEBHOOK_ACTIVE = (
    "can't use getUpdates method while webhook is active; use deleteWebhook to delete the "
    "webhook first"
)


class Updates:
    def __init__(self, service):
        self.record = service.record
        self.service = service
        self.waiting = []
        self.confirmed = []
        self.allowed = [kind for kind in KINDS if kind not in NOT_BY_DEFAULT]
        self.webhook = None
        self.last_error = None
        self._poll = None  # the waiting poll: [request, reason to end it]
        self._last = (None, -10.0)  # offset and time of the last poll
        self._next_id = 1000

    # ---- the queue ----

    def add(self, kind, content):
        update = {"update_id": self._next_id, kind: content}
        self._next_id += 1
        chat = (content.get("chat") or content.get("message", {}).get("chat") or {}).get("id")
        self.record.add(
            "inbound",
            event=kind,
            chat=None if chat is None else str(chat),
            text=content.get("text") or content.get("caption") or content.get("data"),
            update=update,
        )
        if kind in self.allowed:
            self.waiting.append(update)
        self.record.changed.notify_all()
        return update["update_id"]

    def lose_confirmation(self, count):
        """Makes the last confirmed updates pending again, as after a crash of the service."""
        again = self.confirmed[-count:] if count else []
        del self.confirmed[len(self.confirmed) - len(again) :]
        self.waiting[:0] = again
        self.record.changed.notify_all()

    def renumber(self, first):
        """Telegram chooses the next id at random after a week without updates."""
        self._next_id = first

    def _confirm(self, offset):
        if offset > self._next_id + FUTURE:
            return  # of another numbering: the service returns all updates from the first one
        if offset < 0:
            drop = self.waiting[: max(0, len(self.waiting) + offset)]
        else:
            drop = [update for update in self.waiting if update["update_id"] < offset]
        self.confirmed += drop
        del self.waiting[: len(drop)]

    def polling(self):
        return self._poll is not None and self._poll[1] is None and not self.waiting

    def _allow(self, params):
        if params.get("allowed_updates") in (None, ""):
            return
        kinds = parsed(params["allowed_updates"], "allowed_updates", list)
        unknown = [kind for kind in kinds if kind not in KINDS]
        if unknown:
            self.record.violate("bad-request", f"allowed_updates {unknown}")
        self.allowed = kinds or [kind for kind in KINDS if kind not in NOT_BY_DEFAULT]

    # ---- long polls ----

    def get(self, call):
        if self.webhook:
            raise Refused(WEBHOOK_ACTIVE, 409, rule=None)
        params = call.params
        offset = integer(params.get("offset", 0), "offset")
        limit = min(max(integer(params.get("limit", 100), "limit"), 1), 100)
        timeout = min(max(integer(params.get("timeout", 0), "timeout"), 0), MAX_TIMEOUT)
        self._allow(params)
        self._end_other(call)
        now = self.record.now()
        if offset == self._last[0]:
            # The service delays repeated identical polls.
            since = now - self._last[1]
            limit = 1 if since < self.service.seconds(0.5) else limit
            timeout = 3 if since < self.service.seconds(3) and timeout < 3 else timeout
        self._confirm(offset)
        poll = self._poll = [call.request, None]
        self.record.changed.notify_all()
        self._wait(poll, timeout)
        if poll[1]:
            self._delay(3)
            raise Refused(poll[1], 409, rule=None)
        self._poll = None
        # Known only now: an answer that did come is no busy asking.
        self._last = (offset, self.record.now())
        return self.waiting[:limit]

    def _wait(self, poll, timeout):
        deadline = time.monotonic() + self.service.seconds(timeout)
        while not self.waiting and not poll[1] and not poll[0].gone():
            left = deadline - time.monotonic()
            if left <= 0:
                return
            self.record.changed.wait(left)

    def _delay(self, seconds):
        deadline = time.monotonic() + self.service.seconds(seconds)
        while (left := deadline - time.monotonic()) > 0:
            self.record.changed.wait(left)

    def _end_other(self, call):
        other = self._poll
        if other is None or other[1] or other[0].gone():
            return
        self.record.violate("two-pollers", f"connections {other[0].number}, {call.request.number}")
        other[1] = OTHER_POLLER
        self.record.changed.notify_all()

    # ---- the webhook ----

    def set_webhook(self, call):
        params = call.params
        url = str(params.get("url", ""))
        if not url:
            return self.delete_webhook(call)
        parts = urlsplit(url)
        if parts.hostname not in ("127.0.0.1", "localhost", "::1"):
            if parts.scheme != "https":
                raise Refused("bad webhook: An HTTPS URL must be provided for webhook")
            if (parts.port or 443) not in (443, 80, 88, 8443):
                ports = "80, 88, 443 or 8443"
                raise Refused(f"bad webhook: Webhook can be set up only on ports {ports}")
        secret = str(params.get("secret_token", ""))
        if secret and not re.fullmatch(r"[A-Za-z0-9_-]{1,256}", secret):
            raise Refused("secret token contains unallowed characters")
        if not 1 <= integer(params.get("max_connections", 40), "max_connections") <= 100:
            raise Refused("max_connections must be between 1 and 100")
        self._allow(params)
        self._drop_pending(params)
        if self._poll:
            self._poll[1] = "terminated by setWebhook request"
        self.webhook = {"url": url, "secret": secret}
        in_thread(self._push_all, self.webhook)
        return True

    def _drop_pending(self, params):
        if str(params.get("drop_pending_updates", "")).lower() in ("true", "1"):
            self.confirmed += self.waiting
            self.waiting.clear()

    def delete_webhook(self, call):
        self._drop_pending(call.params)
        self.webhook = None
        self.record.changed.notify_all()
        return True

    def info(self, call):
        result = {
            "url": self.webhook["url"] if self.webhook else "",
            "has_custom_certificate": False,
            "pending_update_count": len(self.waiting),
            "max_connections": 40,
            "allowed_updates": self.allowed,
        }
        return {**result, **(self.last_error or {})}

    def _push_all(self, webhook):
        """Delivers updates in order, each until it is accepted: one thread per setWebhook."""
        pause = 1
        while True:
            with self.record.changed:
                while self.webhook is webhook and not self.waiting:
                    self.record.changed.wait()
                if self.webhook is not webhook:
                    return
                update = self.waiting[0]
            status, wait = self._push(webhook, update)
            with self.record.changed:
                if 200 <= status < 300:
                    pause = 1
                    if self.waiting and self.waiting[0] is update:
                        self.confirmed.append(self.waiting.pop(0))
                    self.record.changed.notify_all()
                    continue
                self.last_error = {
                    "last_error_date": int(time.time()),
                    "last_error_message": f"Wrong response from the webhook: {status}",
                }
                self._delay(wait if wait is not None else pause)
                pause = min(pause * 2, 60)

    def _push(self, webhook, update):
        parts = urlsplit(webhook["url"])
        headers = {"Content-Type": "application/json", "Connection": "keep-alive"}
        if webhook["secret"]:
            headers["X-Telegram-Bot-Api-Secret-Token"] = webhook["secret"]
        body = json.dumps(update, ensure_ascii=False).encode()
        status, text, retry_after, error = 0, "", None, None
        try:
            connection = _connect(parts)
            connection.request("POST", parts.path + (f"?{parts.query}" if parts.query else ""),
                               body, headers)  # fmt: skip
            answer = connection.getresponse()
            status, text = answer.status, answer.read(1 << 20).decode(errors="replace")
            retry_after = answer.getheader("Retry-After")
            connection.close()
        except (OSError, http.client.HTTPException) as failure:
            error = str(failure)
        self.record.add("push", update=update, status=status, body=text, error=error)
        if 200 <= status < 300 and text.strip().startswith("{"):
            self.service.called_back(text)
        wait = min(int(retry_after), 3600) if retry_after and retry_after.isdigit() else None
        return status, wait


def _connect(parts):
    if parts.scheme == "https":
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return http.client.HTTPSConnection(parts.hostname, parts.port, timeout=30, context=context)
    return http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)
