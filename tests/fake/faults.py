# SPDX-License-Identifier: MIT
"""Scripted faults: the calls that they affect, and how often."""

import random
import re

KINDS = {
    # name: whether the service has executed the request
    "answer": False,
    "flood": False,
    "error": False,
    "reset": False,
    "close": False,
    "slow": True,
    "cut": True,
    "garbage": True,
    "html": False,
    "huge": True,
    "hold": True,
}


class Fault:
    def __init__(self, number, spec):
        self.id = number
        self.kind = spec["do"]
        if self.kind not in KINDS:
            raise ValueError(f"no such fault: {self.kind}")
        self.match = spec.get("match", {})
        unknown = set(self.match) - {"method", "chat", "text", "path"}
        if unknown:
            raise ValueError(f"cannot match by {sorted(unknown)}")
        self.done = spec.get("done", KINDS[self.kind])
        self.skip = spec.get("skip", 0)
        self.times = spec.get("times", 1)
        self.rate = spec.get("rate")
        self.options = spec
        self.released = False
        self._random = random.Random(spec.get("seed", 1))
        self._seen = 0
        self._used = 0

    def option(self, name, default):
        return self.options.get(name, default)

    def _matches(self, call):
        method = self.match.get("method")
        if method is not None:
            methods = method if isinstance(method, list) else [method]
            if call.method.lower() not in [name.lower() for name in methods]:
                return False
        if "chat" in self.match and str(self.match["chat"]) != str(call.chat):
            return False
        for key, value in (("text", call.text), ("path", call.path)):
            if key in self.match and not re.search(self.match[key], value or ""):
                return False
        return True

    def applies(self, call):
        if not self._matches(call):
            return False
        self._seen += 1
        if self._seen <= self.skip or (self.times and self._used >= self.times):
            return False
        if self.rate is not None and self._random.random() >= self.rate:
            return False
        self._used += 1
        return True


class Faults:
    def __init__(self):
        self._all = []
        self._count = 0

    def add(self, spec):
        fault = Fault(self._count + 1, spec)
        self._count += 1
        self._all.append(fault)
        return fault.id

    def pick(self, call):
        for fault in self._all:
            if fault.applies(call):
                return fault
        return None

    def release(self, number=None):
        for fault in self._all:
            if number in (None, fault.id):
                fault.released = True

    def clear(self, number=None):
        """Removes one fault, or all."""
        self.release(number)
        self._all = [fault for fault in self._all if number not in (None, fault.id)]
