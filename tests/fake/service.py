# SPDX-License-Identifier: MIT
"""The common part of all fakes: calls that are recorded, faulted, rate-limited and executed; and
the main program."""

import argparse
import re
import signal
import sys
import threading
import time

from control import Control
from faults import Faults
from pace import Pace
from record import Record, Timers
from server import Answer, Listener, Silence, trickle


class Call:
    """A request as its service interprets it."""

    def __init__(self, request, method, params, chat=None, text=None):
        self.request = request
        self.path = request.path
        self.method = method
        self.params = params
        self.chat = None if chat is None else str(chat)
        self.text = text
        self.files = {}
        self.writes = None  # the object that it changes: calls with the same key must be sequential
        self.limits = []  # the rate limits
        self.holds = []  # keys under which a 429 covers the call, narrowest first: chat, method, all
        self.fault = None
        self.entry = None


class Service:
    """Subclasses parse requests and execute calls; `controls` are their own control functions."""

    tokens = ()
    paths = "/api/"  # the prefix of the service, if the control has the same one
    unlocked = ()  # control functions that wait for the network
    controls = {}
    conditions = {}

    def __init__(self, options):
        self.record = Record(options.scale)
        self.timers = Timers(self.record)
        self.faults = Faults()
        self.pace = Pace(self.record)
        self.finals = []
        self._active = []
        self.start()
        self.control = Control(self)
        self.listener = Listener(self.record, self.serve, options.port)
        self.control_listener = Listener(self.record, self.control.serve, options.control)

    # ---- for subclasses ----

    def start(self):
        """Creates the initial state, before the first request."""

    def set_pace(self, body):
        raise NotImplementedError

    def still_wrong(self):
        """Violations that still exist, in the form of the record."""
        return []

    def file(self, number):
        """Returns the bytes; KeyError if there is no such file."""
        raise NotImplementedError

    def parse(self, request):
        """Returns a Call, or an Answer if no call is made."""
        raise NotImplementedError

    def perform(self, call):
        """Returns the response; the lock of the record is held."""
        raise NotImplementedError

    def flooded(self, call, retry_after):
        raise NotImplementedError

    def refused(self, call, fault):
        raise NotImplementedError

    def state(self, chat=None, thread=None):
        raise NotImplementedError

    def screen(self):
        """The messages that users see now: one dict per message, in the same form for every
        service."""
        return [_on_screen(message) for message in self.visible()]

    def visible(self):
        """All visible messages, each a dict with chat, id, text, from, thread…"""
        raise NotImplementedError

    # ---- calls ----

    def serve(self, request):
        if request.path.startswith("/_") and not request.path.startswith(self.paths):
            return self.control.serve(request)
        call = self.parse(request)
        if not isinstance(call, Call):
            return call
        with self.record.changed:
            self._note(call)
            call.fault = self.faults.pick(call)
            if call.fault:
                self.record.update(call.entry, fault=call.fault.id)
            self._active.append(call)
        try:
            return self._faulted(call) if call.fault else self._finish(call, self._answer(call))
        except Silence:
            self._finish(call, None)
            raise
        finally:
            with self.record.changed:
                self._active = [other for other in self._active if other is not call]

    def _note(self, call):
        call.entry = self.record.add(
            "call",
            method=call.method,
            chat=call.chat,
            text=call.text,
            params=call.params,
            headers=call.request.headers,
            path=self.without_tokens(call.path),
            connection=call.request.number,
        )
        if call.files:
            call.entry["files"] = {
                name: {"file_name": part[0], "size": len(part[1])}
                for name, part in call.files.items()
            }
        beside = [other for other in self._active if call.writes is not None
                  and other.writes == call.writes and not other.request.gone()]  # fmt: skip
        for other in beside[:1]:
            detail = f"{call.method} while {other.method} changes {call.chat}"
            self.record.violate("in-flight", detail, call=call.entry["seq"], beside=other.entry["seq"])

    def without_tokens(self, text):
        for token in self.tokens:
            text = text.replace(token, "<TOKEN>")
        return text

    def _answer(self, call):
        """Executes the call, subject to the rate limits."""
        with self.record.changed:
            left = self.pace.held(call.holds)
            if left > 0:
                self.record.violate(
                    "retry-too-early", f"{call.method} {left:.3f} s before retry_after had passed"
                )
                return self.flooded(call, max(1, int(left + 0.999)))
            wait = self.pace.refuses(call.limits, self.record.time_of(call.request.arrived))
            if wait is not None:
                self.record.violate("too-fast", f"{call.method} in {call.chat}: wait {wait} s")
                self.pace.hold(call.holds[0], wait)
                return self.flooded(call, wait)
            answer = self.perform(call)
            call.entry["done"] = True
            return answer

    def _finish(self, call, answer):
        shown = answer.shown() if answer is not None else None
        self.record.update(
            call.entry,
            status=answer.status if answer is not None else 0,
            answer=shown,
            t_done=self.record.now(),
        )
        call.entry.setdefault("done", False)
        with self.record.changed:
            # The call is finished: the next request of the client is not concurrent.
            self._active = [other for other in self._active if other is not call]
        return answer

    # ---- faults ----

    def _faulted(self, call):
        fault = call.fault
        answer = self._answer(call) if fault.done else None
        return getattr(self, f"_fault_{fault.kind}")(call, fault, answer)

    def _fault_answer(self, call, fault, _):
        body = fault.option("body", "")
        status = fault.option("status", 500)
        return self._finish(call, Answer(status, body, fault.option("headers", None)))

    def _fault_error(self, call, fault, _):
        return self._finish(call, self.refused(call, fault))

    def _fault_flood(self, call, fault, _):
        wait = fault.option("retry_after", 1)
        scope = ("chat", "method", "all").index(fault.option("scope", "chat"))
        self.pace.hold(call.holds[scope], wait)
        return self._finish(call, self.flooded(call, wait))

    def _fault_reset(self, call, fault, _):
        raise Silence(True)

    def _fault_close(self, call, fault, _):
        raise Silence(False)

    def _fault_html(self, call, fault, _):
        page = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n</html>\r\n"
        answer = Answer(fault.option("status", 502), page, content_type="text/html")
        return self._finish(call, answer)

    def _fault_garbage(self, call, fault, _):
        return self._finish(call, Answer(200, '{"ok":true,"result":{"message_id":'))

    def _fault_huge(self, call, fault, _):
        body = b'{"ok":true,"result":"' + b"x" * fault.option("bytes", 64 << 20) + b'"}'
        return self._finish(call, Answer(200, body))

    def _fault_slow(self, call, fault, answer):
        answer = answer or self._answer(call)
        size, every = fault.option("chunk", 1), fault.option("every", 0.01)

        def write(handler):
            trickle(handler, handler.render(answer), size, every)
            self._finish(call, answer)

        return write

    def _fault_cut(self, call, fault, answer):
        answer = answer or self._answer(call)

        def write(handler):
            data = handler.render(answer)
            handler.wfile.write(data[: len(data) - max(1, len(answer.body) // 2)])
            self._finish(call, None)
            handler.drop(False)

        return write

    def _fault_hold(self, call, fault, answer):
        self.record.wait(lambda: fault.released, fault.option("hold", 60))
        return self._finish(call, answer or self._answer(call))

    # ---- final messages ----

    def text_changed(self, chat, number, before, after):
        """Records that a final message was changed."""
        for pattern in self.finals:
            if re.search(pattern, before) and not (after and re.search(pattern, after)):
                self.record.violate("final-changed", f"message {number} in {chat}")

    def seconds(self, value):
        """Converts a time of the service to real seconds."""
        return value * self.record.scale


def _on_screen(message):
    one = {key: message[key] for key in ("chat", "text", "buttons", "silent", "reactions", "edits")}
    for key in ("id", "thread", "reply_to"):
        one[key] = None if message[key] is None else str(message[key])
    return {**one, "author": str(message["from"])}


def main(make):
    parser = argparse.ArgumentParser()
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--control", type=int, default=0)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    service = make(parser.parse_args())
    print(f"PORT {service.listener.port}\nCONTROL {service.control_listener.port}", flush=True)
    while sys.stdin.buffer.read(4096):
        pass


def unix_time():
    return int(time.time())


def in_thread(function, *arguments):
    threading.Thread(target=function, args=arguments, daemon=True).start()
