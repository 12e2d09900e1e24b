# SPDX-License-Identifier: MIT
"""With TURNCAST_TEST_BUS=1 every host of a test is on a bus, alone: the test has one nats-server, and
each host a prefix of its own there. What a test demands of a host it then demands of one with a bus."""
import atexit
import itertools
import os

import natsd

WANTED = os.environ.get("TURNCAST_TEST_BUS") == "1"
_servers = []
_numbers = itertools.count(1)


def _server():
    if not _servers:
        server = natsd.NatsServer()
        server.start()
        _servers.append(server)
        atexit.register(server.__exit__)
    return _servers[0]


def sections(extra):
    """What to add to a configuration, if the rest of it has no bus."""
    if not WANTED or "bus :" in extra:
        return ""
    number = next(_numbers)
    return f'host : {{ name = "h{number}"; }}; bus : {{ url = ["{_server().url()}"]; prefix = "t{number}"; }};'
