# SPDX-License-Identifier: MIT
"""What the tests of turns on other hosts share: looking at what a host has told, and at its agents."""
import json
import os


def told(host):
    """All events that the instance has written, but for a line that is not complete."""
    text = host.events.read_text() if host.events.exists() else ""
    return [json.loads(line) for line in text[:text.rfind("\n") + 1].splitlines()]


def events(host, turn):
    """What a connector instance of the host was told of a turn."""
    return [e for e in told(host) if e["correlation_id"] == turn]


def kinds(host, turn):
    return [e["type"] for e in events(host, turn)]


def runs(server, turn):
    """The host that has claimed the turn, read from the bus."""
    client = server.client()
    m = client.request("$JS.API.DIRECT.GET.KV_tc_run", json.dumps({"last_by_subj": f"$KV.tc_run.{turn}"}))
    client.close()
    return json.loads(m.data)["from"]["host"] if m.data else None


def agents(host):
    """Processes of agents below a host."""
    found = []
    for path in os.listdir("/proc"):
        try:
            with open(f"/proc/{path}/environ", "rb") as f:
                if b"TURNCAST_TURN=" in f.read() and str(host.folder).encode() in open(f"/proc/{path}/cmdline", "rb").read():
                    found.append(int(path))
        except (OSError, ValueError):
            pass
    return found


def session(host, turn):
    """The session that the answer names."""
    return host.turn(turn)["answer"].split(" of ")[1].split(":")[0]
