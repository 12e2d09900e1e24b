# SPDX-License-Identifier: MIT
"""With TURNCAST_TEST_BUS=1 each host of a test is connected to a bus: the test starts one nats-server, and each
host has its own prefix there. The checks of the test then apply to a host with a bus."""
import atexit
import itertools
import os
import re

import natsd

WANTED = os.environ.get("TURNCAST_TEST_BUS") == "1"
_servers = []
_numbers = itertools.count(1)
_prefixes = []


def _server():
    if not _servers:
        server = natsd.NatsServer()
        server.start()
        _servers.append(server)
        atexit.register(server.__exit__)
    return _servers[0]


def server_pids():
    return {server.process.pid for server in _servers}


def _give_up_leads(prefix, instances):
    """Releases the leases of the instances as if another host had just released them, so that they start at once."""
    client = _server().client()
    bucket = f"KV_{prefix}_lead"
    client.api(f"STREAM.CREATE.{bucket}", {
        "name": bucket, "subjects": [f"$KV.{prefix}_lead.>"], "retention": "limits", "storage": "file",
        "allow_direct": True, "discard": "new", "max_age": 15 * 10**9, "max_msgs_per_subject": 1,
        "duplicate_window": 15 * 10**9})
    for name in re.findall(r"([\w-]+) *: *\{", instances):
        client.publish(f"$KV.{prefix}_lead.{name}", "")
    client.close()


def sections(extra, instances):
    """The sections to add to a configuration that has no bus."""
    if not WANTED or "bus :" in extra:
        return ""
    number = next(_numbers)
    _prefixes.append(f"t{number}")
    _give_up_leads(f"t{number}", instances)
    name = "" if re.search(r"^host\b", extra, re.MULTILINE) else f'host : {{ name = "h{number}"; }};'
    return f'{name} bus : {{ url = ["{_server().url()}"]; prefix = "t{number}"; }};'


def told_turns():
    """The turns that the servers have as delivered by a host of the test; none without a bus."""
    return set().union(*(_server().stored_turns("told", prefix) for prefix in _prefixes))
