# SPDX-License-Identifier: MIT
"""The record of a fake: events in order, violations, and waiting for either."""

import bisect
import json
import threading
import time


class Record:
    """The state of a fake is guarded by `changed`; each change notifies it."""

    def __init__(self, scale=1.0):
        self.changed = threading.Condition(threading.RLock())
        self.scale = scale
        self.entries = []
        self.listeners = []  # each is called with every new entry while the lock is held
        self._start = time.monotonic()
        self.last = 0  # the number of the newest entry

    def now(self):
        return self.time_of(time.monotonic())

    def time_of(self, monotonic):
        return round(monotonic - self._start, 6)

    def add(self, kind, **fields):
        with self.changed:
            self.last += 1
            entry = {"seq": self.last, "t": self.now(), "kind": kind, **fields}
            self.entries.append(entry)
            for listener in self.listeners:
                listener(entry)
            self.changed.notify_all()
            return entry

    def update(self, entry, **fields):
        with self.changed:
            entry.update(fields)
            self.changed.notify_all()

    def violate(self, rule, detail, **calls):
        """`calls`: the numbers of the calls that caused the violation together."""
        self.add("violation", rule=rule, detail=detail, **calls)

    def violations(self):
        with self.changed:
            return [
                {key: value for key, value in entry.items() if key != "kind"}
                for entry in self.entries
                if entry["kind"] == "violation"
            ]

    def wait(self, condition, seconds):
        """Returns the first true result of `condition`, or its last result after real `seconds`."""
        deadline = time.monotonic() + seconds
        with self.changed:
            while True:
                result = condition()
                left = deadline - time.monotonic()
                if result or left <= 0:
                    return result
                self.changed.wait(left)

    def lines(self, since=0):
        with self.changed:
            begin = bisect.bisect_right(self.entries, since, key=lambda entry: entry["seq"])
            return "".join(
                json.dumps(entry, ensure_ascii=False, default=str) + "\n"
                for entry in self.entries[begin:]
            )

    def forget(self):
        with self.changed:
            self.entries.clear()


class Timers:
    """Runs functions later, in service time, one after another, while the lock of the record is
    held."""

    def __init__(self, record):
        self._record = record
        self._due = []
        threading.Thread(target=self._run, daemon=True).start()

    def after(self, seconds, function):
        with self._record.changed:
            item = [time.monotonic() + seconds * self._record.scale, function]
            self._due.append(item)
            self._record.changed.notify_all()
            return item

    def cancel(self, item):
        """Cancels an item, which may have run or may be unknown."""
        with self._record.changed:
            if item in self._due:
                self._due.remove(item)

    def _run(self):
        with self._record.changed:
            while True:
                now = time.monotonic()
                for item in sorted((i for i in self._due if i[0] <= now), key=lambda i: i[0]):
                    if item in self._due:
                        self._due.remove(item)
                        item[1]()
                        self._record.changed.notify_all()
                next_due = min((item[0] for item in self._due), default=None)
                wait = None if next_due is None else max(0.0, next_due - time.monotonic())
                self._record.changed.wait(wait)
