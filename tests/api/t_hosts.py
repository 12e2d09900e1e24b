#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What operators see and do with several hosts: a gateway, two runners, and a third one that is configured only."""
import json
import os
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from bus import Member, done, equal, natsd, ok, skip_without_server, until  # noqa: E402

SLOTS = 2


def hosts(host):
    """What `turncast hosts` tells, by name."""
    status, text = host.run("hosts", "--json")
    return {h["name"]: h for h in json.loads(text)["hosts"]} if status == 0 else {}


def runs(server, turn):
    """The host that has begun the turn, as it is written on the bus."""
    client = server.client()
    m = client.request("$JS.API.DIRECT.GET.KV_tc_run", json.dumps({"last_by_subj": f"$KV.tc_run.{turn}"}))
    client.close()
    return json.loads(m.data)["from"]["host"] if m.data else None


def slots(host, name, agent="main"):
    return hosts(host).get(name, {}).get("agents", {}).get(agent)


def listed(server, g, runners):
    """Roles, agents and slots of each host, and who is not there."""
    until(lambda: slots(g, "r1") == {"free": SLOTS, "max": SLOTS}, "a runner tells its slots")
    seen = hosts(g)
    equal({n: h["state"] for n, h in seen.items()}, {"g1": "ready", "r1": "ready", "r2": "ready", "r3": "absent"},
          "all hosts are listed, and the one that is only configured")
    equal((seen["g1"]["roles"], seen["r1"]["roles"]), (["gateway"], ["gateway", "runner"]), "with their roles")
    equal((seen["g1"]["agents"], seen["r3"].get("agents")), ({}, None), "a gateway runs no agents for others")
    equal(set(seen["r1"]["agents"]), {"main", "asker"}, "a runner names its agents")
    equal([h["own"] for h in seen.values()].count(True), 1, "and one of them is asked")
    equal(seen["r1"]["work"], {"running": 0}, "which runs nothing")
    turn = g.begin("id=l1 tools=1 gated")["id"]
    until(lambda: runs(server, turn), "a turn runs")
    where = runs(server, turn)
    until(lambda: slots(g, where) == {"free": SLOTS - 1, "max": SLOTS}, "it takes a slot")
    equal(hosts(g)[where]["work"], {"running": 1}, "and is counted where it runs")
    status, text = g.run("hosts")
    line = next(line for line in text.splitlines() if line.startswith(where + " "))
    ok(status == 0 and f"main {SLOTS - 1}/{SLOTS}" in line and "gateway, runner" in line, "the table has it, too", text)
    runners[where].let_go("l1", 2)
    g.await_state(turn, "final")
    until(lambda: slots(g, where) == {"free": SLOTS, "max": SLOTS}, "and gives the slot back")


def all_of_them(g, r1):
    """The state of every host in one output."""
    status, text = g.run("status", "--all", "--json")
    told = {h["name"]: h for h in json.loads(text)["hosts"]}
    equal((status, sorted(told)), (0, ["g1", "r1", "r2", "r3"]), "turncast status --all tells every host")
    equal([told[n]["status"]["bus"]["host"] for n in ("g1", "r1", "r2")], ["g1", "r1", "r2"], "each by itself")
    equal(told["r1"]["status"]["pid"], r1.process.pid, "with its process")
    equal((told["r3"]["state"], "status" in told["r3"]), ("absent", False), "but the one that is not there")
    status, text = g.run("status", "--all")
    ok(status == 0 and text.startswith("Host r3 is not there"), "which is named first", text)
    equal([text.count(f"==== {n} (ready)") for n in ("g1", "r1", "r2")], [1, 1, 1], "then the others")
    r1.process.send_signal(signal.SIGSTOP)
    status, text = g.run("status", "--all")
    ok("Host r1 does not answer." in text and "==== r2 (ready)" in text, "one that stands still is named", text)
    equal(hosts(g)["r1"]["state"], "silent", "by turncast hosts, too")
    r1.process.send_signal(signal.SIGCONT)
    r1.await_bus()
    until(lambda: hosts(g)["r1"]["state"] == "ready", "until it goes on")


def alone(server, g):
    """Without the servers, a host knows itself."""
    server.stop()
    until(lambda: g.bus().get("state") != "active", "the servers are gone")
    status, text = g.run("status", "--all", "--json")
    told = json.loads(text)
    equal((status, told["complete"], [h["name"] for h in told["hosts"]]), (0, False, ["g1"]), "it tells of itself")
    ok("status" in told["hosts"][0], "with its state")
    status, text = g.run("hosts")
    ok(status == 0 and "The bus does not answer" in text and "(this host)" in text, "and says what it misses", text)
    server.go_on()
    g.await_bus()
    with Member("lone", server.url(), extra="") as other:
        other.await_bus()
        until(lambda: "lone" in hosts(g), "a host that comes is listed")


if not skip_without_server():
    RUN = ["r1", "r2", "r3"]
    AGENT = f"slots = {SLOTS}; "
    with natsd.NatsServer() as nats, \
            Member("g1", nats.url(), hosts=RUN, agent=AGENT, bus='roles = ["gateway"]; lost_after_s = 1; move_after_s = 1;') as gate, \
            Member("r1", nats.url(), hosts=RUN, agent=AGENT) as one, Member("r2", nats.url(), hosts=RUN, agent=AGENT) as two:
        for member in (gate, one, two):
            member.await_bus()
        both = {"r1": one, "r2": two}
        try:
            listed(nats, gate, both)
            all_of_them(gate, one)
            alone(nats, gate)
        except BaseException:
            print(gate.log(), one.log(), two.log())
            raise
        equal((gate.stop(), one.stop(), two.stop()), (0, 0, 0), "all hosts end as they should")
    done()
