#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An agent that is a Reasonix server: turns, sessions, approvals, questions, cancelling, and faults."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from remotes import TOKEN, done, equal, near, ok, service, until  # noqa: E402
from reasonix_service import Reasonix  # noqa: E402


def turns(host, fake):
    first = host.begin("hello", agent="far", conversation="c-1")["id"]
    equal(host.ended(first)["answer"], "Turn 1 of session 1.", "a conversation begins a session on the server")
    equal(host.types(first).count("final"), 1, "its events arrive once")
    equal(host.ended(host.begin("again", agent="far", conversation="c-1")["id"])["answer"], "Turn 2 of session 1.",
          "the next turn continues the session")
    equal(host.ended(host.begin("hello", agent="far", conversation="c-2")["id"])["answer"], "Turn 1 of session 2.",
          "another conversation begins another session")
    failed = host.ended(host.begin("fail", agent="far")["id"], "error")
    ok("402" in failed["error"], "an error of the server is the error of the turn", failed["error"])
    equal(fake.called("/submit").count({"input": "fail"}), 1, "the failed turn is not retried")
    refusal = host.begin("refuse", agent="far")["id"]
    host.ended(refusal)
    equal(host.told(refusal)[-1]["payload"]["reason"], "refused", "a refusal is read up to its second end")


def requests(host, fake):
    turn = host.begin("run=ls", agent="far")["id"]
    request = host.request(turn)
    equal((request["kind"], request["tool"], request["subject"]), ("approval", "bash", "ls"), "an approval is requested")
    equal(host.answer(turn, request, choice="allow", input={"command": "id"}), 400,
          "changed arguments, which the server does not support, are refused")
    equal(host.answer(turn, request, choice="allow"), 200, "the request is still open, and the approval is given")
    ok("Ran ls." in host.ended(turn)["answer"], "the command runs")
    turn = host.begin("run=rm", agent="far")["id"]
    host.answer(turn, host.request(turn), choice="deny")
    ok("Did not run rm." in host.ended(turn)["answer"], "the call is denied")
    turn = host.begin("run=id", agent="far")["id"]
    request = host.request(turn)
    equal(host.answer(turn, request, choice="allow_agent"), 200, "the call is allowed for the session")
    ok("Ran id for the session." in host.ended(turn)["answer"], "the server allows the call for the session")
    turn = host.begin("ask", agent="far")["id"]
    request = host.request(turn)
    equal([q["id"] for q in request["questions"]], ["q1", "q2"], "questions are requested")
    equal(host.answer(turn, request, answers={"q1": "Blue", "q2": ["Left", "Right"]}), 200, "the questions are answered")
    ok('[{"questionId": "q1", "selected": ["Blue"]}, {"questionId": "q2", "selected": ["Left", "Right"]}]'
       in host.ended(turn)["answer"], "the server has the answers")
    turn = host.begin("ask", agent="far")["id"]
    host.answer(turn, host.request(turn), choice="deny")
    ok("Answers: []" in host.ended(turn)["answer"], "questions without an answer have no answer on the server")
    turn = host.begin("run=mv", agent="far")["id"]
    host.answer(turn, host.request(turn), choice="deny_stop")
    until(lambda: "done" in host.types(turn), "the turn is stopped")
    until(lambda: not fake.running, "the server has stopped it, too")


def cancelled(host, fake):
    before = len(fake.called("/cancel"))
    turn = host.begin("hang", agent="far")["id"]
    until(lambda: "narration" in host.types(turn), "the turn runs")
    busy = host.ended(host.begin("hello", agent="far")["id"], "error")
    ok("busy" in busy["error"], "the server has one session at a time", busy["error"])
    host.status("POST", f"/turns/{turn}/cancel", key="ann")
    host.ended(turn, "cancelled")
    equal(len(fake.called("/cancel")), before + 1, "the turn is cancelled on the server once")
    until(lambda: not fake.running, "the turn on the server has ended")


def broken(host, fake):
    before = len(fake.called("/cancel"))
    lost = host.ended(host.begin("lost", agent="far")["id"], "error")
    equal(lost["code"], "remote_lost", "a stream without IDs cannot be resumed")
    until(lambda: len(fake.called("/cancel")) == before + 1, "a turn that cannot be followed is cancelled")
    until(lambda: not fake.running, "the turn on the server has ended")
    shell = host.ended(host.begin("!ls", agent="far")["id"], "error")
    ok("HTTP 403: shell commands are unavailable over HTTP" in shell["error"], "the error has the reason of the refusal", shell["error"])
    wrong = host.ended(host.begin("hello", agent="wrong")["id"], "error")
    ok("HTTP 401: unauthorized" in wrong["error"], "a wrong token is refused", wrong["error"])
    equal(wrong["code"], "remote_refused", "the refusal has a code")


def main():
    fake, old = Reasonix(TOKEN), Reasonix(TOKEN, has_status=False)
    agents = (service("far", "reasonix", fake.port) + service("old", "reasonix", old.port)
              + service("wrong", "reasonix", fake.port).replace(TOKEN, "wrong-0123456789abcdef"))
    with near(agents) as host:
        until(host.has_started, "all instances run")
        turns(host, fake)
        requests(host, fake)
        cancelled(host, fake)
        broken(host, fake)
        equal(host.ended(host.begin("hello", agent="old")["id"])["answer"], "Turn 1 of session 1.",
              "a server without a status is supported")
        ok(TOKEN not in host.log(), "the log does not show the token")
    equal(fake.violations + old.violations, [], "no request violates a rule of the service")
    fake.close()
    old.close()
    done()


main()
