#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Keys, host names and origins that change while the host runs: streams of removed keys are closed, all others
continue."""
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
        ok(True, f"a stream of a removed key is closed: {name}")
    equal(host.status("GET", "/turns", key="ann"), 401, "the old key is refused")
    equal(host.status("GET", "/turns", Cookie=cookies["ann"]), 401, "the cookie of the old key is refused")
    equal(host.status("GET", "/turns", key="eve"), 401, "a removed key is refused")
    equal(host.status("GET", "/turns", X_API_Key=NEW), 200, "the new key is accepted")
    equal(host.ask("POST", "/login", body={"key": secret("ann")})[0], 401, "a login with the old key is refused")
    equal(host.status("GET", "/turns", Cookie=cookies["bob"]), 200, "the cookie of another key is accepted")
    mine = host.begin("id=mine", key="bob")["id"]
    equal(own.json()["id"], mine, "the stream of another key continues")
    own.close()
    found = json.loads(host.ask("GET", f"/turns/{turn}", X_API_Key=NEW)[2])
    equal(found["state"], "running", "the turn continued")
    equal(host.status("POST", f"/turns/{turn}/cancel", X_API_Key=NEW, body={}), 202,
          "the new key may cancel the turn of its name")


def test_names(host):
    equal(host.status("GET", "/healthz", Host="new.example.org"), 421, "the new host name is refused before the reload")
    reload(host, lambda text: text.replace(
        "http : {", 'http : { hosts = ["new.example.org"]; origins = ["https://new.example.org"];'))
    until(lambda: host.status("GET", "/healthz", Host="new.example.org") == 200, "the new host name is accepted after the reload")
    equal(host.status("GET", "/healthz", Origin="https://new.example.org"), 200, "the new origin is accepted")


def test_broken(host):
    before = len(host.log())
    reload(host, lambda text: text.replace(NEW, "short"))
    until(lambda: "use at least 16 characters" in host.log()[before:], "an invalid configuration is logged")
    equal(host.status("GET", "/turns", X_API_Key=NEW), 200, "the keys are kept after an invalid configuration")


def test_first_keys():
    """A host without keys is reloaded with keys."""
    with Door(http=http_group({})) as host:
        stream = host.follow("/turns/events", None)
        reload(host, lambda text: text.replace(
            "keys : {", f'keys : {{ ann : {{ secret = "{NEW}"; grants = ["watch"]; }};'))
        equal(stream.rest(), [], "a stream without a key ends")
        equal(host.status("GET", "/turns"), 401, "a request without a key is refused")
        equal(host.status("GET", "/turns", X_API_Key=NEW), 200, "a request with a key is accepted")


with Door() as door:
    test_rotate(door)
    test_names(door)
    test_broken(door)
    ok(NEW not in door.log() and secret("ann") not in door.log(), "no key is in the log")
    equal(door.stop(), 0, "the host exits with status 0")
test_first_keys()
done()
