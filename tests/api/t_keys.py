#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Keys, names and pages that change while the host runs: what was open with a key that is gone is
closed, everything else goes on."""
import json
import os
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from door import Door, done, equal, http_group, ok, secret, until  # noqa: E402

NEW = "new-0123456789abcdef"


def reload(host, change):
    """Changes the configuration, and has the host reload it (SIGHUP)."""
    text = change(host.config.read_text())
    host.config.write_text(text)
    host.process.send_signal(signal.SIGHUP)


def cookie_of(host, key):
    return host.ask("POST", "/login", body={"key": key})[1]["set-cookie"].split(";")[0]


def test_rotate(host):
    cookies = {name: cookie_of(host, secret(name)) for name in ("ann", "bob")}
    turn = host.begin("id=long tools=1 gated")["id"]
    host.await_state(turn, "running")
    path = f"/turns/{turn}/events"
    streams = [host.follow(path), host.follow("/turns/events"),
               host.follow(path, None, Cookie=cookies["ann"]), host.follow(path, "eve")]
    for stream in streams:
        ok(stream.next(), "followed")
    own = host.follow("/turns/events", "bob")
    reload(host, lambda text: text.replace(secret("ann"), NEW).replace(
        f'eve : {{ secret = "{secret("eve")}"; grants = ["watch"]; }};', ""))
    for stream, name in zip(streams, ("a turn", "the list", "a turn by cookie", "of one removed")):
        stream.rest()
        ok(True, f"a stream of a key that is gone is closed: {name}")
    equal(host.status("GET", "/turns", key="ann"), 401, "the old key: 401")
    equal(host.status("GET", "/turns", Cookie=cookies["ann"]), 401, "its cookie: 401")
    equal(host.status("GET", "/turns", key="eve"), 401, "a key that was removed: 401")
    equal(host.status("GET", "/turns", X_API_Key=NEW), 200, "the new key: 200")
    equal(host.ask("POST", "/login", body={"key": secret("ann")})[0], 401, "no login with the old")
    equal(host.status("GET", "/turns", Cookie=cookies["bob"]), 200, "another's cookie stays")
    mine = host.begin("id=mine", key="bob")["id"]
    equal(own.json()["id"], mine, "and so does another's stream")
    own.close()
    found = json.loads(host.ask("GET", f"/turns/{turn}", X_API_Key=NEW)[2])
    equal(found["state"], "running", "the turn went on")
    equal(host.status("POST", f"/turns/{turn}/cancel", X_API_Key=NEW, body={}), 202,
          "and is that of whoever has the name now")


def test_names(host):
    equal(host.status("GET", "/healthz", Host="new.example.org"), 421, "not yet a name")
    reload(host, lambda text: text.replace(
        "http : {", 'http : { hosts = ["new.example.org"]; origins = ["https://new.example.org"];'))
    until(lambda: host.status("GET", "/healthz", Host="new.example.org") == 200, "then it is one")
    equal(host.status("GET", "/healthz", Origin="https://new.example.org"), 200, "its page may ask")


def test_broken(host):
    before = len(host.log())
    reload(host, lambda text: text.replace(NEW, "short"))
    until(lambda: "use at least 16 characters" in host.log()[before:], "a broken configuration is told")
    equal(host.status("GET", "/turns", X_API_Key=NEW), 200, "and the keys stay as they were")


def test_first_keys():
    """A host without keys gets some."""
    with Door(http=http_group({})) as host:
        stream = host.follow("/turns/events", None)
        reload(host, lambda text: text.replace(
            "keys : {", f'keys : {{ ann : {{ secret = "{NEW}"; grants = ["watch"]; }};'))
        equal(stream.rest(), [], "what was followed without a key ends when there are keys")
        equal(host.status("GET", "/turns"), 401, "and nobody gets in without")
        equal(host.status("GET", "/turns", X_API_Key=NEW), 200, "but with one")


with Door() as door:
    test_rotate(door)
    test_names(door)
    test_broken(door)
    ok(NEW not in door.log() and secret("ann") not in door.log(), "no key is in the log")
    equal(door.stop(), 0, "it ends well")
test_first_keys()
done()
