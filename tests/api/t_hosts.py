#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Commands for operators of several hosts: a gateway, two runners, and a third runner that is only configured."""
import json
import os
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from bus import ASKER, Member, done, equal, natsd, ok, skip_without_server, until  # noqa: E402
from work import session  # noqa: E402

SLOTS = 2
HAD = {}  # the last turn of at_home, by its conversation


def hosts(host):
    """The entries of `turncast hosts --json` by the name of the host."""
    status, text = host.run("hosts", "--json")
    return {h["name"]: h for h in json.loads(text)["hosts"]} if status == 0 else {}


def runs(server, turn):
    """The host that has claimed the turn, read from the bus."""
    client = server.client()
    m = client.request("$JS.API.DIRECT.GET.KV_tc_run", json.dumps({"last_by_subj": f"$KV.tc_run.{turn}"}))
    client.close()
    return json.loads(m.data)["from"]["host"] if m.data else None


def slots(host, name, agent="main"):
    return hosts(host).get(name, {}).get("agents", {}).get(agent)


def listed(server, g, runners):
    """Roles, agents and slots of each host, and the hosts that are absent."""
    until(lambda: slots(g, "r1") == {"free": SLOTS, "max": SLOTS}, "a runner reports its slots")
    seen = hosts(g)
    equal({n: h["state"] for n, h in seen.items()}, {"g1": "ready", "r1": "ready", "r2": "ready", "r3": "absent"},
          "all hosts are listed, including the absent one")
    equal((seen["g1"]["roles"], seen["r1"]["roles"]), (["gateway"], ["gateway", "runner"]), "the list has the roles")
    equal((seen["g1"]["agents"], seen["r3"].get("agents")), ({}, None), "a gateway runs no agents for others")
    equal(set(seen["r1"]["agents"]), {"main", "asker"}, "a runner names its agents")
    equal([h["own"] for h in seen.values()].count(True), 1, "one entry is the host that was asked")
    equal(seen["r1"]["work"], {"running": 0, "draining": False}, "the host runs no turn")
    turn = g.begin("id=l1 tools=1 gated")["id"]
    until(lambda: runs(server, turn), "a turn runs")
    where = runs(server, turn)
    until(lambda: slots(g, where) == {"free": SLOTS - 1, "max": SLOTS}, "the turn takes a slot")
    equal(hosts(g)[where]["work"], {"running": 1, "draining": False}, "the turn is counted on its host")
    status, text = g.run("hosts")
    line = next(line for line in text.splitlines() if line.startswith(where + " "))
    ok(status == 0 and f"main {SLOTS - 1}/{SLOTS}" in line and "gateway, runner" in line, "the table has slots and roles", text)
    runners[where].let_go("l1", 2)
    g.await_state(turn, "final")
    until(lambda: slots(g, where) == {"free": SLOTS, "max": SLOTS}, "the turn frees its slot")


def all_of_them(g, r1):
    """The state of every host in one output."""
    status, text = g.run("status", "--all", "--json")
    told = {h["name"]: h for h in json.loads(text)["hosts"]}
    equal((status, sorted(told)), (0, ["g1", "r1", "r2", "r3"]), "turncast status --all tells every host")
    equal([told[n]["status"]["bus"]["host"] for n in ("g1", "r1", "r2")], ["g1", "r1", "r2"], "each host reports itself")
    equal(told["r1"]["status"]["pid"], r1.process.pid, "the status has the process id")
    equal((told["r3"]["state"], "status" in told["r3"]), ("absent", False), "an absent host has no status")
    status, text = g.run("status", "--all")
    ok(status == 0 and text.startswith("Host r3 is not there"), "the absent host is named first", text)
    equal([text.count(f"==== {n} (ready)") for n in ("g1", "r1", "r2")], [1, 1, 1], "the other hosts follow")
    r1.process.send_signal(signal.SIGSTOP)
    status, text = g.run("status", "--all")
    ok("Host r1 does not answer." in text and "==== r2 (ready)" in text, "a stopped host is named", text)
    equal(hosts(g)["r1"]["state"], "silent", "turncast hosts shows the stopped host as silent")
    r1.process.send_signal(signal.SIGCONT)
    r1.await_bus()
    until(lambda: hosts(g)["r1"]["state"] == "ready", "the continued host is ready")


def alone(server, g):
    """Without a connection to the servers, a host lists only itself."""
    server.stop()
    until(lambda: g.bus().get("state") != "active", "the servers are down")
    status, text = g.run("status", "--all", "--json")
    told = json.loads(text)
    equal((status, told["complete"], [h["name"] for h in told["hosts"]]), (0, False, ["g1"]), "the host lists itself")
    ok("status" in told["hosts"][0], "the entry has the status")
    status, text = g.run("hosts")
    ok(status == 0 and "The bus does not answer" in text and "(this host)" in text, "the output says that the list is incomplete", text)
    server.go_on()
    g.await_bus()
    with Member("lone", server.url(), extra="") as other:
        other.await_bus()
        until(lambda: "lone" in hosts(g), "a host that starts is listed")


def looks_once(server):
    """A host reads the entries of the hosts every two seconds, not once for each part that needs them."""
    with Member("w1", server.url()) as host:
        host.await_bus()
        reads, begun = server.client(), time.monotonic()
        reads.subscribe("$JS.API.DIRECT.GET.KV_tc_host")
        first = []
        while len(first) < 4:
            m = reads.next(30)
            first += [m] if m and json.loads(m.data).get("seq") == 1 else []
        ok(time.monotonic() - begun >= 5.5, "four looks at the hosts take three intervals of two seconds", time.monotonic() - begun)
        reads.close()


def waiting(server):
    """The number of messages in the work queue."""
    client = server.client()
    found = json.loads(client.request("$JS.API.STREAM.INFO.TC_WORK", "").data)["state"]["messages"]
    client.close()
    return found


def delivered(server, consumer):
    """The number of messages that a consumer of the work queue has received, with repeats."""
    client = server.client()
    found = json.loads(client.request(f"$JS.API.CONSUMER.INFO.TC_WORK.{consumer}", "").data)["delivered"]["consumer_seq"]
    client.close()
    return found


def at_home(server, g, name, conversation, tag, key="ann"):
    """Runs turns of new conversations until one has its home on that host."""
    for n in range(20):
        turn = g.begin(f"id={tag}{n}", conversation=f"{conversation}{n}", key=key)["id"]
        g.await_state(turn, "final")
        if runs(server, turn) == name:
            HAD[f"{conversation}{n}"] = turn
            return f"{conversation}{n}"
    raise AssertionError(f"no turn runs on {name}")


def codes(g, turn):
    return [e["payload"].get("code") for _, e in ((i, json.loads(d)) for i, d in g.all_events(turn)) if e["type"] == "notice"]


def drained(server, g, r1, r2):
    """A draining host starts no turns, its running turns end, and other hosts take over its conversations."""
    idle = at_home(server, g, "r1", "idle", "hi", key="bob")
    busy = [at_home(server, g, "r1", f"busy{n}", f"hb{n}-") for n in range(SLOTS)]
    queued = at_home(server, g, "r1", "queued", "hq", key="bob")
    long = [g.begin(f"id=dl{n} tools=1 gated", conversation=c)["id"] for n, c in enumerate(busy)]
    until(lambda: [runs(server, t) for t in long] == ["r1"] * SLOTS, "turns use all slots of a host")
    waits = g.begin("id=dw", conversation=queued, key="bob")["id"]
    until(lambda: waiting(server) == SLOTS + 1, "another turn is assigned to the host")
    until(lambda: delivered(server, "host-r1") > SLOTS, "the host has received it")
    equal(runs(server, waits), None, "the turn waits for a slot, although another agent has free ones")
    status, text = g.run("drain", "r1", "--detach")
    ok(status == 0 and f"{SLOTS} turns still run there" in text, "a host drains at the request of another one", text)
    g.await_state(waits, "final")
    equal((runs(server, waits), codes(g, waits)), ("r2", ["session_moved"]), "the waiting turn runs on another host, in a new session")
    ok(session(g, waits) != session(g, HAD[queued]), "the agent reports another session", session(g, waits))
    until(lambda: hosts(g)["r1"]["state"] == "draining", "turncast hosts shows the draining host")
    until(lambda: slots(g, "r1") == {"free": 0, "max": SLOTS}, "a draining host has no free slot")
    status, _, text = r1.ask("GET", "/readyz")
    equal((status, json.loads(text)["reasons"]), (503, [{"reason": "draining"}]), "a draining host is not ready")
    after = g.begin("id=da", conversation=idle, key="bob")["id"]
    g.await_state(after, "final")
    equal((runs(server, after), codes(g, after)), ("r2", ["session_moved"]), "a conversation of the draining host continues on another host")
    status, text = g.run("move", after[:8], "r1")
    ok(status == 1 and "The host drains" in text, "a conversation is not moved to a draining host", text)
    own = r1.begin("id=do", conversation="own")["id"]
    r1.await_state(own, "final")
    equal(runs(server, own), "r2", "a turn admitted by the draining host runs on another host")
    equal([g.turn(t)["state"] for t in long], ["running"] * SLOTS, "the running turns continue")
    for n in range(SLOTS):
        r1.let_go(f"dl{n}", 2)
    for turn in long:
        g.await_state(turn, "final")
    status, text = g.run("drain", "r1")
    ok(status == 0 and "no turn runs there" in text, "the command waits until the host is drained", text)
    until(lambda: "drained: no turn runs" in r1.log(), "the log reports that the host is drained")
    held = r1.begin("id=dh", agent="own")["id"]
    equal(r1.turn(held)["state"], "waiting", "a turn that no other host can run waits")
    equal(r1.run("drain", "--undo")[0], 0, "the drain is undone")
    back = at_home(server, g, "r1", "back", "hb")
    again = g.begin("id=hb9", conversation=back)["id"]
    g.await_state(again, "final")
    equal((runs(server, again), codes(g, again)), ("r1", []), "the host keeps new conversations")
    r1.await_state(held, "final")
    until(lambda: slots(g, "r1") == {"free": SLOTS, "max": SLOTS}, "the host has free slots")
    equal(hosts(g)["r1"]["state"], "ready", "turncast hosts shows the host as ready")
    equal(r1.status("GET", "/readyz"), 200, "the host is ready")
    equal(runs(server, after) and at_home(server, g, "r1", "again", "ha")[:5], "again", "the host runs turns")
    status, text = g.run("drain", "r9")
    ok(status == 1 and 'Host "r9" is not there' in text, "the error names the missing host", text)


def moved(server, g, r1, r2):
    """A conversation is moved to another host: its next turn and a waiting turn run there."""
    name = at_home(server, g, "r1", "move", "hm", key="bob")
    before = next(t["id"] for t in g.turns("bob") if t["conversation"].endswith(f":{name}"))
    full = [at_home(server, g, "r1", f"full{n}", f"hf{n}-") for n in range(SLOTS)]
    long = [g.begin(f"id=ml{n} tools=1 gated", conversation=c)["id"] for n, c in enumerate(full)]
    until(lambda: [runs(server, t) for t in long] == ["r1"] * SLOTS, "turns use all slots of a host")
    waits = g.begin("id=mw", conversation=name, key="bob")["id"]
    until(lambda: waiting(server) == SLOTS + 1, "another turn waits for the host")
    status, text = g.run("move", before[:8], "r2")
    equal((status, text), (0, "The conversation continues on host r2.\n"), "the conversation is moved")
    g.await_state(waits, "final", key="bob")
    equal((runs(server, waits), codes(g, waits)), ("r2", ["session_moved"]), "the waiting turn runs there, in a new session")
    later = g.begin("id=mn", conversation=name, key="bob")["id"]
    g.await_state(later, "final", key="bob")
    equal((runs(server, later), codes(g, later)), ("r2", []), "the next turn runs there")
    equal(g.turn(later, "bob")["answer"].split(":")[0].split(" of ")[1], g.turn(waits, "bob")["answer"].split(":")[0].split(" of ")[1],
          "the next turn has the new session")
    for n in range(SLOTS):
        r1.let_go(f"ml{n}", 2)
    for turn in long:
        g.await_state(turn, "final")
    equal(g.run("move", later[:8], "r2")[0], 0, "a move to the current host changes nothing")
    for host, code, why in (("r3", 1, 'Host "r3" is not there'), ("g1", 1, 'may not run agent "main"'), ("r9", 1, "may not run")):
        status, text = g.run("move", later[:8], host)
        ok(status == code and why in text, f"a move to {host} is refused", text)


def shared(server):
    """With sessions.shared a conversation keeps its session when it continues on another host."""
    both = ["s1", "s2"]
    limits = 'roles = ["gateway"]; lost_after_s = 1; move_after_s = 1;'
    with Member("g2", server.url(), hosts=both, bus=limits, extra='sessions : { shared = "/srv/sessions"; };') as g, \
            Member("s1", server.url(), hosts=both) as s1, Member("s2", server.url(), hosts=both) as s2:
        for host in (g, s1, s2):
            host.await_bus()
        name = at_home(server, g, "s1", "common", "sc")
        first = next(t["id"] for t in g.turns() if t["conversation"].endswith(f":{name}"))
        equal(g.run("move", first, "s2")[0], 0, "a conversation is moved")
        second = g.begin("id=s2", conversation=name)["id"]
        g.await_state(second, "final")
        equal((runs(server, second), codes(g, second)), ("s2", []), "the conversation continues there, without a notice")
        equal(session(g, second), session(g, first), "the session is resumed")
        s2.kill()
        third = g.begin("id=s3", conversation=name)["id"]
        g.await_state(third, "final")
        equal((runs(server, third), codes(g, third), session(g, third)), ("s1", [], session(g, first)),
              "the session is resumed after a kill of its host")


if not skip_without_server():
    with natsd.NatsServer() as nats:
        looks_once(nats)
        shared(nats)
    OWN = ASKER.replace("asker :", "own :").replace("attempts = 1;", "attempts = 1 ;").replace("tests/fake/asker", "tests/fake/talker")
    RUN = ["r1", "r2", "r3"]
    AGENT = f"slots = {SLOTS}; "
    with natsd.NatsServer() as nats, \
            Member("g1", nats.url(), hosts=RUN, agent=AGENT, bus='roles = ["gateway"]; lost_after_s = 1; move_after_s = 1;') as gate, \
            Member("r1", nats.url(), hosts=RUN, agent=AGENT, agents=ASKER + OWN) as one, Member("r2", nats.url(), hosts=RUN, agent=AGENT) as two:
        for member in (gate, one, two):
            member.await_bus()
        both = {"r1": one, "r2": two}
        try:
            listed(nats, gate, both)
            all_of_them(gate, one)
            moved(nats, gate, one, two)
            drained(nats, gate, one, two)
            alone(nats, gate)
        except BaseException:
            print(gate.log(), one.log(), two.log())
            raise
        equal((gate.stop(), one.stop(), two.stop()), (0, 0, 0), "all hosts exit with status 0")
    done()
