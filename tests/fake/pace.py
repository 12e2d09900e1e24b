# SPDX-License-Identifier: MIT
"""The rate limits of a service, and the pauses that it demands."""

import math
from collections import deque
from typing import NamedTuple, Optional


class Limit(NamedTuple):
    """`count` per `seconds` of service time: with `burst` a leaky bucket, otherwise a sliding
    window. A leaky bucket tolerates requests that arrive up to `late` seconds after they were
    due."""

    key: tuple
    count: float
    seconds: float
    burst: Optional[float] = None
    late: float = 0.0


class Pace:
    def __init__(self, record):
        self.on = True
        self._record = record
        self._buckets = {}  # key: (tokens, time)
        self._windows = {}  # key: times
        self._holds = {}  # key: end
        self._latest = 0.0  # the time of the newest counted call

    def _wait_of(self, limit, now):
        seconds = limit.seconds * self._record.scale
        if limit.burst is None:
            times = self._windows.setdefault(limit.key, deque())
            while times and times[0] <= now - seconds:
                times.popleft()
            return times[0] + seconds - now if len(times) >= limit.count else 0.0
        tokens, when = self._buckets.get(limit.key, (limit.burst, now))
        tokens = min(limit.burst, tokens + (now - when) * limit.count / seconds)
        self._buckets[limit.key] = (tokens, now)
        # A client that keeps exactly to the limit is not refused because of its clock.
        return (1 - tokens) * seconds / limit.count if tokens < 0.95 - limit.late * limit.count / seconds else 0.0

    def _count_call(self, limit, now):
        if limit.burst is None:
            self._windows[limit.key].append(now)
        else:
            tokens, when = self._buckets[limit.key]
            self._buckets[limit.key] = (tokens - 1, when)

    def held(self, keys):
        """Returns the seconds until a call under these keys is permitted after a 429."""
        now = self._record.now()
        return max((self._holds.get(key, 0.0) - now for key in keys), default=0.0)

    def hold(self, key, retry_after):
        self._holds[key] = max(self._holds.get(key, 0.0), self._record.now() + retry_after)

    def refuses(self, limits, now):
        """Returns None, or retry_after of a call that is too fast. now: its time of arrival."""
        if not self.on:
            return None
        # A call that a fault has delayed may have arrived before calls that are counted already.
        self._latest = now = max(now, self._latest)
        wait = max((self._wait_of(limit, now) for limit in limits), default=0.0)
        if wait > 0:
            return max(1, math.ceil(wait))
        for limit in limits:
            self._count_call(limit, now)
        return None

    def forget(self):
        self._buckets.clear()
        self._windows.clear()
        self._holds.clear()
