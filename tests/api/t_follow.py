#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Agents with background work, for clients of HTTP: with background = "follow" the answer comes at once, and
the result of the work is a turn that the agent begins; otherwise the client waits for one answer."""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from ag_ui_run import Run, run_input, text_of  # noqa: E402
from door import KEYS, LOG, Door, done, equal, ok, until  # noqa: E402

AGENT = 'keep_alive_s = 60; background = "follow";'
CROWD, SLOTS = 100, 8
EXTRA = f"conversations : {{ max_turns = 16; per_user = 16; max_warm = {SLOTS}; }};"
FOLLOW = {"background": "follow"}
KEYS["kim"] = ("kim-0123456789abcdef", ["submit", "cancel"])  # as bob, neither sees what others do


def begin(host, prompt, **more):
    """Sends a message that is accepted, and returns its turn."""
    status, _, text = host.ask("POST", "/turns", key="bob", body={"prompt": prompt, **more})
    if status != 202:
        equal((status, text), (202, None), f"a turn is accepted: {prompt}")
    return json.loads(text)


def of_agent(host, first, key="bob"):
    """The turns that the agent has started by itself in the conversation of the turn."""
    return [t for t in host.turns(key) if t["conversation"] == first["conversation"] and not t["task"]]


def answer_of(host, turn):
    """Waits for the end of the turn, and returns the text of its outcome."""
    turn = host.await_state(turn["id"], "final", "error", "cancelled", key="bob")
    items = host.follow(f"/turns/{turn['id']}/events", "bob").rest()
    told = [json.loads(data) for _, event, data in items if event == "message"]
    return "".join(e["payload"]["text"] for e in told if e["type"] == "final")


def later(host, first):
    """Waits for the one turn that the agent starts by itself, and returns it."""
    until(lambda: of_agent(host, first), "the agent begins a turn")
    return of_agent(host, first)[0]


def works(host, turn):
    """Whether the host reports that the agent works in the background after the end of its turn."""
    return json.loads(host.ask("GET", f"/turns/{turn['id']}", key="bob")[2]).get("background", False)


def follows(host):
    first = begin(host, "behind id=a1", conversation="a", **FOLLOW)
    ok(answer_of(host, first).startswith("Answer a1"), "the answer comes while the background work continues")
    until(lambda: works(host, first), "the turn shows the background work")
    host.let_go("a1.behind")
    turn = later(host, first)
    until(lambda: not works(host, first), "the background work has ended")
    ok(answer_of(host, turn).startswith("Later a1"), "the result of the background work is a turn of the agent")
    equal((turn["source"], turn["agent"]), ("http", "main"), "the turn of the agent has the same source and agent")
    equal(of_agent(host, first, "kim"), [], "another client does not see the turn of the agent")
    third = begin(host, "id=a3", conversation="a", **FOLLOW)
    ok(answer_of(host, third).startswith("Answer a3"), "the conversation continues")
    equal(len(of_agent(host, first)), 1, "there is one turn of the agent")
    return turn


def waits(host):
    """With an agent that continues by itself, the client gets the last answer in its own turn."""
    for number, more in enumerate(({}, {"background": "wait"})):
        first = begin(host, f"behind id=b{number}", conversation=f"b{number}", **more)
        host.let_go(f"b{number}.behind")
        ok(answer_of(host, first).startswith(f"Later b{number}"), f"there is one answer, with {more}")
        equal(of_agent(host, first), [], "there is no other turn")
    alone = begin(host, "behind id=b9", **FOLLOW)
    host.let_go("b9.behind")
    ok(answer_of(host, alone).startswith("Later b9"), "a turn without a conversation has no turn of the agent")


def runs(host):
    """An AG-UI client gets the answer in its run; the later turn is among those of its key."""
    body = run_input("behind id=c1", thread="c", forwardedProps=FOLLOW)
    ok(text_of(Run(host, body, "bob").rest()).startswith("Answer c1"), "a run ends with its answer")
    host.let_go("c1.behind")
    first = next(t for t in host.turns("bob") if t["task"] == "behind id=c1")
    turn = later(host, first)
    ok(answer_of(host, turn).startswith("Later c1"), "the result of the background work is another turn")
    equal(turn["source"], "ag-ui", "the turn of the agent has the same source")
    body = run_input("behind id=c2", thread="c2")
    host.let_go("c2.behind")
    ok("Later c2" in text_of(Run(host, body, "bob").rest()), "a run without follow waits for the result")
    return turn


def stops(host):
    first = begin(host, "behind id=d1", conversation="d", **FOLLOW)
    answer_of(host, first)
    until(lambda: works(host, first), "the turn shows the background work")
    path = f"/turns/{first['id']}/cancel"
    equal(host.status("POST", path, key="kim"), 404, "another client cannot cancel the background work")
    equal(host.status("POST", path, key="bob"), 202, "cancelling the turn ends its background work")
    ok(not works(host, first), "the turn shows no background work")
    host.let_go("d1.behind")
    second = begin(host, "id=d2", conversation="d", **FOLLOW)
    ok(answer_of(host, second).startswith("Answer d2"), "the next message is answered")
    equal(of_agent(host, first), [], "the cancelled work has no result")
    until(lambda: host.status("POST", path, key="bob") == 409, "a second cancel is refused")


def refuses(host):
    for value in "", "later", 1, True:
        body = {"prompt": "id=e", "conversation": "e", "background": value}
        equal(host.status("POST", "/turns", key="bob", body=body), 400, f"background = {value!r}")
        run = Run(host, run_input("id=e", thread="e", forwardedProps={"background": value}))
        equal(run.status, 400, f"forwardedProps.background = {value!r}")


def crowd(host):
    """Many more conversations than waiting processes: each continues in its own session."""
    names = [f"crowd-{i}" for i in range(CROWD)]
    asked = [(name, begin(host, f"id={name}-{k}", conversation=name)) for k in range(3) for name in names]
    sessions = {name: set() for name in names}
    wrong = []
    for number, (name, turn) in enumerate(asked):
        answer = answer_of(host, turn)
        if not answer.startswith(f"Answer {name}-{number // CROWD} of "):
            wrong.append((turn["task"], answer))
        sessions[name].add(answer.split(" of ")[-1].rstrip("."))
    equal(wrong, [], f"{len(asked)} messages of {CROWD} conversations have their answers")
    equal([name for name in names if len(sessions[name]) != 1], [], "each conversation has one session")
    waiting = json.loads(host.run("status", "--json")[1])["waiting_agents"]
    ok(0 < waiting <= SLOTS, f"at most {SLOTS} processes wait", waiting)


def outlives(host, turns):
    """The outcomes are available after a restart to the client that sent the messages, and to no other client."""
    host.stop()
    host.start()
    for turn in turns:
        told = host.turn(turn["id"], "bob")
        ok(told["state"] == "final" and told["answer"].startswith("Later"),
           f"after a restart the turn of the agent is known, {turn['source']}", told)
        equal(host.status("GET", f"/turns/{turn['id']}", key="kim"), 404, "after a restart another client does not see the turn")


def main():
    with Door(agent=AGENT, extra=LOG + EXTRA) as host:
        turns = [follows(host), runs(host)]
        for case in waits, stops, refuses, crowd:
            case(host)
        outlives(host, turns)
    done()


main()
