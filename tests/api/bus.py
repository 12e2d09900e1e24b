# SPDX-License-Identifier: MIT
"""Helpers of tests with several hosts: hosts on one NATS server, and reading what the server stores."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import door  # noqa: E402
import natsd  # noqa: E402
from door import BUILD, Door, done, equal, http_group, ok, until  # noqa: E402,F401
from talk import note  # noqa: E402,F401

door.KEYS["ann"] = ("ann-0123456789abcdef", ["submit", "cancel", "watch", "answer"])
ASKER = (f'asker : {{ command = ["{BUILD}/tests/fake/asker"]; exit_grace_s = 1; term_grace_s = 1;'
         ' attempts = 1; };')


class Member(Door):
    """One host of turncast that is connected to the bus."""

    def __init__(self, name, url, *, bus="", extra="", http=None, agents=ASKER, hosts=(), agent="", group="", **more):
        """hosts: the hosts that may run its agents. group: the groups host and bus, in place of name, url and bus."""
        self.name = name
        where = f"hosts = {json.dumps(hosts)};" if hosts else ""
        group = group or f'host : {{ name = "{name}"; }}; bus : {{ url = ["{url}"]; {bus} }};'
        super().__init__(extra=door.LOG + group + extra, agent=agent + where,
                         agents=agents.replace("attempts = 1;", f"attempts = 1; {where}"),
                         http=http or http_group(disconnect_grace_s=1), **more)

    def bus(self):
        status, text = self.run("status", "--json")
        return json.loads(text)["bus"] if status == 0 else {}

    def await_bus(self, state="active"):
        until(lambda: self.bus().get("state") == state, f"{self.name} is {state} on the bus")
        return self

    def metric(self, name):
        text = self.ask("GET", "/metrics", key="ann")[2].decode()
        values = [line.split()[1] for line in text.splitlines() if line.startswith(name + " ")]
        return float(values[0]) if values else None

    def histogram(self, name):
        """The buckets of a histogram as (bound, count of the values up to it), ascending; the last bound is infinite."""
        text = self.ask("GET", "/metrics", key="ann")[2].decode()
        found = re.findall(rf'^{name}_bucket\{{le="([^"]+)"\}} (\d+)$', text, re.MULTILINE)
        return [(float(bound), int(count)) for bound, count in found]

    def knows(self, turn, *states):
        """Waits until this host knows the turn, in one of the states if any are given, and returns it."""
        last = {}

        def look():
            status, _, text = self.ask("GET", f"/turns/{turn}", key="ann")
            last.update(json.loads(text) if status == 200 else {})
            return status == 200 and (not states or last["state"] in states)

        until(look, f"{self.name} knows the turn {' or '.join(states)}")
        return last

    def all_events(self, turn, **headers):
        """All events of a turn that has ended, or ends by itself, as (seq, line)."""
        stream = self.follow(f"/turns/{turn}/events", **headers)
        found = [(ident, data) for ident, kind, data in stream.rest() if kind == "message"]
        stream.close()
        return found


def short_leases(server, bucket, seconds):
    """Creates the bucket with leases of the given number of seconds, so that no test waits long. Call it before the first host."""
    client = server.client()
    client.api(f"STREAM.CREATE.KV_{bucket}", {
        "name": f"KV_{bucket}", "subjects": [f"$KV.{bucket}.>"], "retention": "limits", "storage": "file",
        "allow_direct": True, "discard": "new", "max_age": seconds * 10**9, "max_msgs_per_subject": 1,
        "duplicate_window": seconds * 10**9})
    client.close()


def skip_without_server():
    """Returns True, and reports the test as skipped, if this system has no nats-server."""
    if natsd.available():
        return False
    ok(True, "# SKIP no nats-server")
    done()
    return True


def stored(server, kind):
    """The number of messages of that kind (new, out, told) that the servers store for turns."""
    return len(server.stored_turns(kind))
