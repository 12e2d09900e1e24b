#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Settings that hosts on one bus share: a changed visibility applies to all hosts, also if it was changed
without the bus, and if the bus has lost its data."""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from bus import Member, done, equal, natsd, ok, skip_without_server, until  # noqa: E402


def say(host, words):
    status, _, text = host.ask("POST", "/turns", key="ann", body={"prompt": words})
    equal(status, 200, f"{host.name}: {words}")
    return json.loads(text)["visibility"]


def shows(host, **wanted):
    """Whether the visibility for the next turn of the host has these values."""
    status, text = host.run("visibility", "--agent", "main")
    found = json.loads(text) if status == 0 else {}
    return all(found.get(f"show_{name}") == value for name, value in wanted.items())


def changed(a, b):
    say(a, "/show-tools")
    until(lambda: shows(b, tools=True), "a change on one host applies to the other")
    ok('visibility of agent "main" was changed on host "h1"' in b.log(), "the log of the other host reports the change")
    say(b, "/hide-tools")
    until(lambda: shows(a, tools=False), "a change on the other host applies to the first")
    equal(a.log().count("was changed on host"), 1, "a host does not receive its own change")
    status, _ = a.run("visibility", "--agent", "main", "/show-thinking")
    equal(status, 0, "a command changes the visibility beside the host")
    say(a, "/stream-status")
    until(lambda: shows(b, thinking=True), "the other host receives the change of the command")


def later(nats, b):
    """A host that was down during the change."""
    with Member("h3", nats.url()) as late:
        late.await_bus()
        until(lambda: shows(late, thinking=True, tools=False), "a host that starts later takes the shared settings")
    ok(shows(b, thinking=True), "the host that starts later changes nothing")


def both(nats, a, b):
    """Both hosts change the same setting while the bus is down."""
    nats.kill()
    for host in (a, b):
        host.await_bus("disconnected")
    say(a, "/show-tools")
    say(b, "/hide-thinking")
    ok(shows(a, tools=True, thinking=True) and shows(b, tools=False, thinking=False),
       "without the bus each host has its own value")
    nats.start()
    for host in (a, b):
        host.await_bus()
    until(lambda: any(shows(a, tools=t, thinking=k) and shows(b, tools=t, thinking=k)
                      for t, k in ((True, True), (False, False))), "then both have that of one of them")
    for host in (a, b):
        say(host, "/stream-status")
    ok(any(shows(a, tools=t, thinking=k) and shows(b, tools=t, thinking=k) for t, k in ((True, True), (False, False))),
       "both hosts have the same value after the reconnect")
    told = [h.log().count("the value of another host was replaced") for h in (a, b)]
    equal(sum(told), 1, "the host whose value was stored last logs that it has replaced another")


def emptied(nats, a, b):
    """The servers lose their data, and a host without any settings joins."""
    say(a, "/hide-all")
    say(a, "/show-tools")
    until(lambda: shows(b, tools=True, thinking=False), "before")
    nats.kill()
    nats.forget()
    nats.start()
    for host in (a, b):
        host.await_bus()
    with Member("h4", nats.url()) as late:
        late.await_bus()
        until(lambda: shows(late, tools=True, thinking=False), "the hosts restore settings that the bus has lost")
    ok(shows(a, tools=True) and shows(b, tools=True), "the hosts keep the settings")


if not skip_without_server():
    with natsd.NatsServer() as nats_:
        with Member("h1", nats_.url()) as one, Member("h2", nats_.url()) as two:
            one.await_bus()
            two.await_bus()
            changed(one, two)
            later(nats_, two)
            both(nats_, one, two)
            emptied(nats_, one, two)
    done()
