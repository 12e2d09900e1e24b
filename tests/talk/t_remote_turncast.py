#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An agent of another host, reached through its HTTP API: turns, conversations, approvals, questions, cancelling,
interruptions of the connection and of that host, refusals."""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from remotes import TOKEN, Door, Relay, done, equal, near, ok, service, until  # noqa: E402
from door import BUILD, KEYS, LOG, http_group  # noqa: E402

KEYS["far"] = (TOKEN, ["submit", "cancel", "watch", "answer"])
ASKER = (f'asker : {{ command = ["{BUILD}/tests/fake/asker"]; exit_grace_s = 1; term_grace_s = 1;'
         " attempts = 1; };")


def turns(host, far):
    """Two turns of a conversation, and one of another conversation."""
    turn = host.begin("id=one tools=2", agent="far", conversation="c-1")
    answer = host.ended(turn["id"])["answer"]
    ok("Answer one of" in answer, "the answer is that of the remote agent", answer)
    types = host.types(turn["id"])
    equal((types.count("tool_call"), types.count("tool_result"), types.count("final"), types.count("done")),
          (2, 2, 1, 1), "each event comes once")
    there = far.turns(key="far")[0]
    theirs = [json.loads(data)["type"] for _, _, data in far.follow(f"/turns/{there['id']}/events", "far").rest()]
    equal([t for t in types if t != "state"], theirs, "the events are those of the remote turn")
    session = answer.split(" of ")[1].split(":")[0]
    again = host.ended(host.begin("id=two", agent="far", conversation="c-1")["id"])["answer"]
    ok(f"Answer two of {session}:" in again, "the next turn continues the session", again)
    other = host.ended(host.begin("id=three", agent="far", conversation="c-2")["id"])["answer"]
    ok(f" of {session}:" not in other, "another conversation has another session", other)
    failed = host.ended(host.begin("id=bad fail", agent="far")["id"], "error")
    ok("Part bad" in failed["error"], "an error of the remote turn is the error of the turn", failed["error"])
    equal(len([t for t in far.turns(key="far") if "id=bad" in t["task"]]), 1, "the failed turn is not retried")


def requests(host):
    turn = host.begin("run=ls", agent="far_asker")["id"]
    request = host.request(turn)
    equal((request["kind"], request["tool"]), ("approval", "Bash"), "an approval is requested on this host")
    equal(host.answer(turn, request, choice="allow"), 200, "the approval is given")
    ok("ls" in host.ended(turn)["answer"], "the remote agent was allowed to run the call")
    turn = host.begin("run=rm", agent="far_asker")["id"]
    equal(host.answer(turn, host.request(turn), choice="deny", reason="Not on a Friday."), 200, "the call is denied")
    ok("Not on a Friday." in host.ended(turn)["answer"], "the remote agent has the reason")
    turn = host.begin("run=cp", agent="far_asker")["id"]
    equal(host.answer(turn, host.request(turn), choice="allow", input={"command": "cp -n"}), 200,
          "the call is allowed with changed arguments")
    ok("cp -n" in host.ended(turn)["answer"], "the remote agent runs the changed call")
    turn = host.begin("single", agent="far_asker")["id"]
    request = host.request(turn)
    question = request["questions"][0]
    label = question["options"][0]["label"]
    equal(host.answer(turn, request, answers={question["id"]: label}), 200, "a question is answered")
    ok(label in host.ended(turn)["answer"], "the remote agent has the answer")


def answered_there(host, far):
    turn = host.begin("run=mv", agent="far_asker")["id"]
    request = host.request(turn)
    there = until(lambda: json.loads(far.ask("GET", "/requests", key="far")[2])["requests"], "the request is open on the remote host")
    equal(far.status("POST", f"/turns/{there[0]['turn']}/requests/{there[0]['id']}", key="far",
                     body={"choice": "allow"}), 200, "a person there answers")
    host.ended(turn)
    equal(host.answer(turn, request, choice="deny"), 409, "the request is closed on this host, too")


def cancelled(host, far):
    turn = host.begin("id=stop gated", agent="far")["id"]
    until(lambda: any("id=stop" in t["task"] and t["state"] == "running" for t in far.turns(key="far")), "the remote turn runs")
    until(lambda: "start" in host.types(turn), "the turn is shown on this host")
    host.status("POST", f"/turns/{turn}/cancel", key="ann")
    host.ended(turn, "cancelled")
    there = [t for t in far.turns(key="far") if "id=stop" in t["task"]]
    equal([t["state"] for t in there], ["cancelled"], "the remote turn is cancelled, too")


def interrupted(host, far, relay):
    turn = host.begin("id=cut tools=3 gated", agent="far")["id"]
    until(lambda: "tool_call" in host.types(turn), "the turn runs")
    relay.cut()
    far.let_go("cut", 2)
    there = next(t for t in far.turns(key="far") if "id=cut" in t["task"])["id"]
    until(lambda: far.turn(there, "far")["last_seq"] > len(host.told(turn)) + 2, "the remote turn continues")
    relay.restore()
    far.let_go("cut", 9)
    answer = host.ended(turn)["answer"]
    equal(answer, far.turn(there, "far")["answer"], "the answer is complete")
    theirs = [json.loads(data) for _, _, data in far.follow(f"/turns/{there}/events", "far").rest()]
    mine = [e for e in host.told(turn) if e["type"] != "state"]
    equal([(e["type"], e["payload"].get("text")) for e in mine], [(e["type"], e["payload"].get("text")) for e in theirs],
          "no event is lost or repeated")


def restarted(host, far, relay):
    turn = host.begin("id=crash gated", agent="far")["id"]
    until(lambda: "start" in host.types(turn), "the turn runs")
    far.kill()
    far.start()
    relay.target = far.port
    equal(host.ended(turn, "error")["code"], "host_restart", "the other host has restarted")


def refused(host, relay):
    wrong = host.ended(host.begin("hello", agent="wrong")["id"], "error")
    equal(wrong["code"], "remote_refused", "a wrong key is refused")
    ok("401" in wrong["error"] and "127.0.0.1" in wrong["error"], "the error names the status and the host", wrong["error"])
    unknown = host.ended(host.begin("hello", agent="unknown")["id"], "error")
    ok("nobody" in unknown["error"], "the error has the reason of the service", unknown["error"])
    relay.cut()
    away = host.ended(host.begin("hello", agent="brief")["id"], "error")
    equal(away["code"], "remote_unreachable", "the remote host is unreachable")
    ok("onnect" in away["error"], "the error has the reason", away["error"])
    relay.restore()


def left(host, far):
    """The host exits during a turn: the remote turn is cancelled, too."""
    turn = host.begin("id=left gated", agent="far")["id"]
    until(lambda: "start" in host.types(turn), "the turn runs")
    host.stop()
    there = next(t for t in far.turns(key="far") if "id=left" in t["task"])["id"]
    far.await_state(there, "cancelled", key="far")


def main():
    http = http_group({"far": KEYS["far"], "ann": KEYS["ann"]}, visibility="all")
    far = Door(http=http, agents=ASKER, extra=LOG)
    with far:
        until(far.has_started, "the other host runs")
        relay = Relay(far.port)
        agents = (service("far", "turncast", relay.port, 'remote_agent = "main";')
                  + service("far_asker", "turncast", relay.port, 'remote_agent = "asker";')
                  + service("unknown", "turncast", relay.port, 'remote_agent = "nobody";')
                  + service("brief", "turncast", relay.port, "outage_s = 1;")
                  + service("wrong", "turncast", relay.port).replace(TOKEN, "wrong-0123456789abcdef"))
        with near(agents) as host:
            until(host.has_started, "all instances run")
            turns(host, far)
            requests(host)
            answered_there(host, far)
            cancelled(host, far)
            interrupted(host, far, relay)
            refused(host, relay)
            restarted(host, far, relay)
            left(host, far)
            log = host.log()
            ok(TOKEN not in log and "wrong-0123456789abcdef" not in log, "the log does not show the key")
    done()


main()
