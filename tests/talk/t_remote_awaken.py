#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An agent of an awaken server: runs, threads, suspended tool calls, cancelling, and faults."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from remotes import TOKEN, done, equal, near, ok, service, until  # noqa: E402
from awaken_service import Awaken  # noqa: E402


def turns(host, fake):
    first = host.begin("hello", agent="far", conversation="c-1")["id"]
    equal(host.ended(first)["answer"], "Message 1 of the thread.", "the answer of a run")
    equal(host.types(first).count("final"), 1, "its events arrive once")
    equal(host.ended(host.begin("again", agent="far", conversation="c-1")["id"])["answer"], "Message 2 of the thread.",
          "the next turn has the same thread")
    equal(host.ended(host.begin("hello", agent="far", conversation="c-2")["id"])["answer"], "Message 1 of the thread.",
          "another conversation has another thread")
    equal({body["agentId"] for body in fake.called("/v1/runs")}, {"planner"}, "the agent is named")
    failed = host.ended(host.begin("fail", agent="far")["id"], "error")
    ok("402" in failed["error"], "an error of the server is the error of the turn", failed["error"])
    relay = host.ended(host.begin("relay", agent="far")["id"], "error")
    ok("buffer full" in relay["error"] or relay["code"] == "remote_lost", "an error of the relay is the error of the turn", relay["error"])


def requests(host):
    turn = host.begin("approve", agent="far")["id"]
    request = host.request(turn)
    equal((request["kind"], request["tool"]), ("approval", "delete_file"), "a suspended call requests approval")
    equal(host.answer(turn, request, choice="allow"), 200, "the approval is given")
    ok('resume {"approved": true}' in host.ended(turn)["answer"], "the run continues in the same turn")
    equal((host.types(turn).count("start"), host.types(turn).count("done")), (1, 1), "the turn has one start and one end")
    turn = host.begin("approve", agent="far")["id"]
    host.answer(turn, host.request(turn), choice="deny", reason="Not now.")
    ok('cancel {"approved": false, "reason": "Not now."}' in host.ended(turn)["answer"], "the call is denied")
    turn = host.begin("twice", agent="far")["id"]
    first = host.request(turn)
    host.answer(turn, first, choice="allow")
    second = until(lambda: (lambda q: q["id"] != first["id"] and q)(host.request(turn)), "a second call is suspended")
    host.answer(turn, second, choice="allow")
    equal(host.ended(turn)["answer"].count("resume"), 2, "both calls are decided")
    turn = host.begin("both", agent="far")["id"]
    first = host.request(turn)
    host.answer(turn, first, choice="allow")
    second = until(lambda: (lambda q: q["id"] != first["id"] and q)(host.request(turn)), "two calls are suspended at once")
    host.answer(turn, second, choice="allow")
    equal(host.ended(turn)["answer"].count("resume"), 2, "both are decided, one after the other")


def asked(host):
    turn = host.begin("input", agent="far")["id"]
    request = host.request(turn)
    equal(request["kind"], "input", "a form requests input")
    equal(host.answer(turn, request, answers={"path": "/tmp"}), 200, "the form is answered")
    ok('resume {"path": "/tmp"}' in host.ended(turn)["answer"], "the run has the answer")


def cancelled(host, fake):
    turn = host.begin("hang", agent="far")["id"]
    until(lambda: "narration" in host.types(turn), "the run works")
    host.status("POST", f"/turns/{turn}/cancel", key="ann")
    host.ended(turn, "cancelled")
    run = fake.active[f"run_{fake.runs}"]
    ok(run.cancelled.is_set(), "the run is cancelled")
    equal(len(fake.called(f"/v1/runs/{run.id}/cancel")), 1, "once")


def stopped(host, fake):
    turn = host.begin("approve hang", agent="far")["id"]
    host.answer(turn, host.request(turn), choice="deny_stop")
    host.ended(turn, "cancelled")
    run = fake.active[f"run_{fake.runs}"]
    ok(run.cancelled.is_set(), "a denial that stops the turn cancels the run")
    equal(len(fake.called(f"/v1/runs/{run.id}/cancel")), 1, "once")


def decided_there(host, fake):
    turn = host.begin("approve hang", agent="far")["id"]
    request = host.request(turn)
    waits = fake.active[f"run_{fake.runs}"].waiting["call_1"]
    waits[1] = ("resume", {"approved": True})
    waits[0].set()
    until(lambda: "narration" in host.types(turn), "the run continues after a decision on the server")
    equal(host.answer(turn, request, choice="deny"), 409, "the request is closed on this host, too")
    host.status("POST", f"/turns/{turn}/cancel", key="ann")
    host.ended(turn, "cancelled")


def broken(host, fake):
    gone = host.begin("approve quit", agent="far")["id"]
    host.answer(gone, host.request(gone), choice="allow")
    ended = host.ended(gone, "error")
    equal(ended["code"], "remote_lost", "a run without an end is not suspended")
    lost = host.ended(host.begin("lost", agent="far")["id"], "error")
    equal(lost["code"], "remote_lost", "a run without IDs cannot be resumed")
    until(lambda: fake.active[f"run_{fake.runs}"].cancelled.is_set(), "a run that cannot be followed is cancelled")
    left = host.begin("approve leave", agent="far")["id"]
    until(lambda: "done" in host.types(left), "the turn ends")
    equal(host.told(left)[-1]["payload"]["reason"], "suspended", "a run that is left suspended")
    unknown = host.ended(host.begin("hello", agent="unknown")["id"], "error")
    ok("agent not found: nobody" in unknown["error"], "the error has the reason of the refusal", unknown["error"])
    wrong = host.ended(host.begin("hello", agent="wrong")["id"], "error")
    equal(wrong["code"], "remote_refused", "a wrong token is refused")


def main():
    fake = Awaken(TOKEN)
    agents = (service("far", "awaken", fake.port, 'remote_agent = "planner";')
              + service("unknown", "awaken", fake.port, 'remote_agent = "nobody";')
              + service("wrong", "awaken", fake.port, 'remote_agent = "planner";').replace(TOKEN, "wrong-0123456789abcdef"))
    with near(agents) as host:
        until(host.has_started, "all instances run")
        turns(host, fake)
        requests(host)
        asked(host)
        cancelled(host, fake)
        stopped(host, fake)
        decided_there(host, fake)
        broken(host, fake)
        ok(TOKEN not in host.log(), "the log does not show the token")
    equal(fake.violations, [], "no request violates a rule of the service")
    fake.close()
    done()


main()
