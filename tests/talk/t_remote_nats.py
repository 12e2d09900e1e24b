#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Approvals and questions of agents that run through NATS: of tirea, by interrupts of AG-UI, and of another
turncast host."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from remotes import done, equal, natsd, near, ok, through_nats, until  # noqa: E402
from bus import Member, http_group, skip_without_server  # noqa: E402
from tirea_service import Tirea  # noqa: E402


def decided(host, agent, edits):
    """The decisions of users about requests of one kind of gateway."""
    turn = host.begin("run=ls", agent=agent, conversation=agent)["id"]
    request = host.request(turn)
    equal((request["kind"], request["tool"], request["args"]), ("approval", "Bash", {"command": "ls"}),
          f"{agent}: an approval is requested")
    equal(host.turn(turn)["state"], "running", "the turn continues")
    if edits:
        equal(host.answer(turn, request, choice="allow", input={"command": "id"}), 200, "the approval is given with changed arguments")
    else:
        equal(host.answer(turn, request, choice="allow", input={"command": "id"}), 400, "changed arguments are refused")
        equal(host.answer(turn, request, choice="allow"), 200, "the approval is given")
    ok(f"Ran {'id' if edits else 'ls'}." in host.ended(turn)["answer"], "the call runs", host.turn(turn))
    equal([host.types(turn).count(t) for t in ("start", "final", "done")], [1, 1, 1], "both runs belong to one turn")
    calls = [e["payload"]["name"] for e in host.told(turn) if e["type"] == "tool_call"]
    ok("PermissionConfirm" not in calls, "the tool that requests approval is not shown as a tool call", calls)
    turn = host.begin("run=rm", agent=agent)["id"]
    host.answer(turn, host.request(turn), choice="deny", reason="Not today")
    ok("Did not run rm: Not today." in host.ended(turn)["answer"], "the agent has the reason of the denial", host.turn(turn))
    turn = host.begin("ask", agent=agent)["id"]
    request = host.request(turn)
    equal((request["kind"], request["message"]), ("input", "Which colour?"), "a question is asked")
    equal(host.answer(turn, request, answers="Blue"), 200, "a text answers it")
    ok("The colour is Blue." in host.ended(turn)["answer"], "the agent has the text", host.turn(turn))
    turn = host.begin("ask", agent=agent)["id"]
    host.answer(turn, host.request(turn), choice="deny")
    ok("No colour." in host.ended(turn)["answer"], "the question is dismissed", host.turn(turn))


def both(host, fake, agent):
    """Several open requests are answered with one run."""
    turn = host.begin("run=ls ask", agent=agent)["id"]
    first = host.request(turn)
    runs = len(fake.requests)
    host.answer(turn, first, **({"choice": "allow"} if first["kind"] == "approval" else {"answers": "Red"}))
    second = host.request(turn)
    ok(second["id"] != first["id"], "two requests are open")
    equal(len(fake.requests), runs, "the first answer is kept")
    host.answer(turn, second, **({"choice": "allow"} if second["kind"] == "approval" else {"answers": "Red"}))
    answer = host.ended(turn)["answer"]
    ok("Ran ls." in answer and "The colour is Red." in answer, "both answers arrive", answer)
    equal(len(fake.requests), runs + 1, "with one run")


def stopped(host, fake, agent):
    turn = host.begin("run=ls", agent=agent)["id"]
    host.request(turn)
    runs = len(fake.requests)
    host.status("POST", f"/turns/{turn}/cancel", key="ann")
    host.ended(turn, "cancelled")
    until(lambda: len(fake.requests) == runs + 1, "a cancelled turn denies the open request of its agent")
    turn = host.begin("run=mv", agent=agent)["id"]
    request = host.request(turn)
    host.answer(turn, request, choice="deny_stop")
    host.ended(turn, "cancelled")
    until(lambda: len(fake.requests) == runs + 3, "an answer that stops the turn denies the open request")


def away(host, cable, agent):
    """A decision made while the connection is lost."""
    turn = host.begin("run=ls", agent=agent)["id"]
    request = host.request(turn)
    cable.cut()
    until(lambda: cable.refused, "the program of the agent knows that the connection is lost")
    equal(host.answer(turn, request, choice="allow"), 200, "the decision is accepted")
    cable.mend()
    ok("Ran ls." in host.ended(turn)["answer"], "the decision is sent after the reconnect", host.turn(turn))


def other_host(server):
    with Member("h1", server.url(), bus='runs : { key = "ann"; };', http=http_group(disconnect_grace_s=0, visibility="all")) as far, \
            near(through_nats("far", server.url(), subject="agentos.ag-ui.runs", agent="asker")) as host:
        far.await_bus()
        until(lambda: "taking runs" in far.log(), "the other host accepts runs")
        turn = host.begin("run=ls", agent="far")["id"]
        request = host.request(turn)
        equal((request["kind"], request["tool"]), ("approval", "Bash"), "an approval of another host is requested here")
        equal(host.answer(turn, request, choice="allow"), 200, "the approval is given")
        ok('"behavior":"allow"' in host.ended(turn).get("answer", ""), "the approval arrives", host.turn(turn))
        turn = host.begin("single", agent="far")["id"]
        request = host.request(turn)
        question = request["questions"][0]
        label = question["options"][0]["label"]
        equal(host.answer(turn, request, answers={question["id"]: label}), 200, "a question of another host is answered here")
        ok(label in host.ended(turn).get("answer", ""), "the answer has the chosen option", host.turn(turn))


def main():
    if skip_without_server():
        return
    with natsd.NatsServer() as server:
        cable = natsd.Cable(server.port)
        calls, interrupts = Tirea(server, "test.calls"), Tirea(server, "test.interrupts", interrupts=True)
        agents = (through_nats("calls", server.url(), subject="test.calls", agent="a")
                  + through_nats("interrupts", server.url(), subject="test.interrupts", agent="a")
                  + through_nats("cabled", cable.url(), subject="test.calls", agent="a"))
        with near(agents) as host:
            until(host.has_started, "all instances run")
            decided(host, "calls", edits=False)
            decided(host, "interrupts", edits=True)
            for name, fake in (("calls", calls), ("interrupts", interrupts)):
                both(host, fake, name)
                stopped(host, fake, name)
            away(host, cable, "cabled")
        for fake in (calls, interrupts):
            fake.close()
            equal(fake.violations, [], "no request violates a rule of the gateway")
        other_host(server)
    done()


main()
