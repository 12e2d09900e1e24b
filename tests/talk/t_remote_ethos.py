#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An agent that is an Ethos server: turns, sessions, approvals, questions, cancelling, interruptions, and
faults."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from remotes import TOKEN, done, equal, near, ok, service, until  # noqa: E402
from ethos_service import Ethos  # noqa: E402


def turns(host, fake):
    first = host.begin("hello", agent="far", conversation="c-1")["id"]
    equal(host.ended(first)["answer"], "Turn 1 of sess_1.", "a turn")
    equal(host.types(first).count("final"), 1, "its events arrive once")
    equal((len(fake.called("/rpc/chat/send")), fake.called("/rpc/sessions/get")), (1, []),
          "its message is sent once, and no session is requested")
    second = host.begin("again", agent="far", conversation="c-1")["id"]
    equal(host.ended(second)["answer"], "Turn 2 of sess_1.", "the next turn is in the same session")
    equal((host.types(second).count("start"), host.types(second).count("final")), (1, 1),
          "stored events of earlier turns are skipped")
    fake.sessions["sess_1"].events.clear()
    equal(host.ended(host.begin("later", agent="far", conversation="c-1")["id"])["answer"], "Turn 3 of sess_1.",
          "events are read when the server counts from 1 again")
    other = host.ended(host.begin("hello", agent="far", conversation="c-2")["id"])["answer"]
    ok(other.startswith("Turn 1 of ") and "sess_1" not in other, "another conversation has another session", other)
    del fake.sessions["sess_1"]
    ok(host.ended(host.begin("hello", agent="far", conversation="c-1")["id"])["answer"].startswith("Turn 1 of "),
       "a session that was deleted is replaced")
    failed = host.ended(host.begin("fail", agent="far")["id"], "error")
    equal((failed["error"], failed["code"]), ("provider: 402", "llm_error"), "an error of the server is the error of the turn")
    equal(host.ended(host.begin("locked", agent="far")["id"], "error")["code"], "personality_locked",
          "an error with a later end is the error of the turn")
    equal({body["json"]["personalityId"] for body in fake.called("/rpc/chat/send")}, {"planner"}, "the agent is named")


def requests(host):
    turn = host.begin("run=ls", agent="far")["id"]
    request = host.request(turn)
    equal((request["kind"], request["tool"]), ("approval", "terminal"), "an approval is requested")
    equal(host.answer(turn, request, choice="allow"), 200, "the approval is given")
    ok("ls: allowed once." in host.ended(turn)["answer"], "the call is allowed once")
    turn = host.begin("run=id", agent="far")["id"]
    host.answer(turn, host.request(turn), choice="allow_agent")
    ok("id: allowed exact-args." in host.ended(turn)["answer"], "the call is allowed for the same arguments")
    turn = host.begin("run=rm", agent="far")["id"]
    host.answer(turn, host.request(turn), choice="deny", reason="Not now.")
    ok("rm: denied Not now.." in host.ended(turn)["answer"], "the call is denied")
    turn = host.begin("ask", agent="far")["id"]
    request = host.request(turn)
    equal(host.answer(turn, request, answers={request["questions"][0]["id"]: "/home"}), 200, "a question is answered")
    ok("user: /home" in host.ended(turn)["answer"], "the server has the answer")
    turn = host.begin("ask", agent="far")["id"]
    host.answer(turn, host.request(turn), choice="deny")
    ok("cancel: " in host.ended(turn)["answer"], "the server knows that there is no answer")


def cancelled(host, fake):
    turn = host.begin("hang", agent="far")["id"]
    until(lambda: "narration" in host.types(turn), "the turn runs")
    before = len(fake.called("/rpc/chat/abort"))
    host.status("POST", f"/turns/{turn}/cancel", key="ann")
    host.ended(turn, "cancelled")
    equal(len(fake.called("/rpc/chat/abort")), before + 1, "the turn is aborted on the server once")


def interrupted(host):
    for word, what in (("cut", "an interrupted stream"), ("part", "a stream that ends before its turn")):
        turn = host.begin(word, agent="far")["id"]
        answer = host.ended(turn)["answer"]
        equal(answer, "".join(f"Part {n}. " for n in range(6)), f"{what} is resumed")
        told = "".join(e["payload"]["text"] for e in host.told(turn) if e["type"] == "narration")
        equal(told, answer, "no text is lost or repeated")


def refused(host):
    unknown = host.ended(host.begin("hello", agent="unknown")["id"], "error")
    ok("HTTP 404: no personality nobody" in unknown["error"], "the error has the reason of the refusal", unknown["error"])
    wrong = host.ended(host.begin("hello", agent="wrong")["id"], "error")
    equal(wrong["code"], "remote_refused", "a wrong key is refused")
    _, output = host.run("doctor")
    ok("agent far: ethos at" in output and "accepts requests" in output, "doctor asks the service", output)


def main():
    fake = Ethos(TOKEN)
    agents = (service("far", "ethos", fake.port, 'remote_agent = "planner";')
              + service("unknown", "ethos", fake.port, 'remote_agent = "nobody";')
              + service("wrong", "ethos", fake.port).replace(TOKEN, "wrong-0123456789abcdef"))
    with near(agents) as host:
        until(host.has_started, "all instances run")
        turns(host, fake)
        requests(host)
        cancelled(host, fake)
        interrupted(host)
        refused(host)
        ok(TOKEN not in host.log(), "the log does not show the key")
    equal(fake.violations, [], "no request violates a rule of the service")
    fake.close()
    done()


main()
