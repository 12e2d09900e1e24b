#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""POST /ag-ui with requests of the agent: a run ends with an interrupt, and the run that answers it continues
there, in one turn, without a loss."""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import door  # noqa: E402
from door import BUILD, Door, done, equal, http_group, ok, until  # noqa: E402
from ag_ui_run import Run, run_input, text_of  # noqa: E402

KEYS = {
    "ann": ("ann-0123456789abcdef", ["submit", "cancel", "watch", "answer"]),
    "bob": ("bob-0123456789abcdef", ["submit", "cancel"]),
    "dan": ("dan-0123456789abcdef", ["submit", "answer"]),
}
door.KEYS.update(KEYS)


def asker(timeout=300):
    command = json.dumps([str(BUILD / "tests" / "fake" / "asker")])
    return (f"asker : {{ command = {command}; exit_grace_s = 1; term_grace_s = 1; attempts = 1;"
            f" ask_timeout_s = {timeout}; }};")


def run(host, prompt, thread, name="r-1", key="ann", **more):
    return Run(host, run_input(prompt, thread=thread, run=name, **more), key, "/ag-ui/asker").rest()


def resume(host, thread, name, *entries, key="ann", **more):
    """The input of a run that answers: (id, payload), or an id that is dismissed."""
    said = [{"interruptId": e[0], "status": "resolved", "payload": e[1]} if isinstance(e, tuple)
            else {"interruptId": e, "status": "cancelled"} for e in entries]
    body = {**run_input("ignored", thread=thread, run=name, **more), "messages": [], "resume": said}
    return Run(host, body, key, "/ag-ui/asker").rest()


def interrupts(events):
    """The open requests with which the run ended."""
    end = events[-1]
    if end["type"] != "RUN_FINISHED" or end.get("outcome", {}).get("type") != "interrupt":
        ok(False, "the run ends with an interrupt", end)
        return []
    return end["outcome"]["interrupts"]


def heard(events):
    """The answer to the request, as the agent repeats it."""
    return [json.loads(part) for part in text_of(events).split("; ")]


def turns_of(host, thread):
    return [t for t in host.turns() if t["conversation"].endswith(f":{thread}")]


def kinds(events):
    return [e["type"] for e in events]


def is_error(events, code, what):
    equal((events[-1]["type"], events[-1].get("code")), ("RUN_ERROR", code), what)
    return events[-1]["message"]


# ---- one ----


def test_one(host, version):
    thread, more = f"one-{version}", {"protocolVersion": version} if version else {}
    first = run(host, "run=df -h", thread, **more)
    asked, = interrupts(first)
    schema = asked["responseSchema"]
    equal((asked["id"], asked["reason"], asked["message"], asked["toolCallId"]),
          ("r-1:req-1", "tool_call", "Bash: df -h", "r-1:call_1"), "an approval is an interrupt")
    equal((schema["required"], sorted(schema["properties"])),
          (["approved"], ["approved", "choice", "editedArgs", "reason"]), "with what answers it")
    ok("expiresAt" in asked and asked["metadata"]["args"] == {"command": "df -h"}, "the interrupt has an expiry time and the arguments")
    turn, = turns_of(host, thread)
    equal((turn["state"], len(turn["requests"])), ("running", 1), "the turn continues and waits")
    equal(run(host, "run=df -h", thread, **more), first, "a repeated run ends with the same interrupt")
    second = resume(host, thread, "r-2", (asked["id"], {"approved": True}), parentRunId="r-1",
                    **more)
    equal((second[0]["type"], second[0]["runId"], second[0]["parentRunId"]),
          ("RUN_STARTED", "r-2", "r-1"), "who answers gets the rest as a run")
    equal((second[-1]["type"], second[-1]["runId"], second[-1]["outcome"]),
          ("RUN_FINISHED", "r-2", {"type": "success"}), "to its end")
    result = [e for e in second if e["type"] == "TOOL_CALL_RESULT"]
    equal([e["toolCallId"] for e in result], ["r-1:call_1"], "the result of the call has the id of the call")
    ok("TOOL_CALL_START" not in kinds(second), "the call is not sent again", kinds(second))
    equal(heard(second)[0]["behavior"], "allow", "the agent received the approval")
    equal(resume(host, thread, "r-2", (asked["id"], {"approved": True}), parentRunId="r-1", **more),
          second, "that run again is told again, and nothing is decided again")
    again = resume(host, thread, "r-3", (asked["id"], {"approved": True}), **more)
    equal([e["type"] for e in again], [e["type"] for e in second],
          "the same answer in another run returns the same events")
    equal(run(host, "run=df -h", thread, **more), first, "the first run repeats its events")
    equal(len(turns_of(host, thread)), 1, "all runs belong to one turn")


def test_words(host):
    cases = [
        ("run=ls", {"approved": False, "reason": "No."}, {"behavior": "deny", "message": "No."}),
        ("run=ls", {"approved": True, "editedArgs": {"command": "ls -l"}},
         {"behavior": "allow", "updatedInput": {"command": "ls -l"}}),
        ("run=ls", {"choice": "allow", "input": {"command": "ls -a"}},
         {"behavior": "allow", "updatedInput": {"command": "ls -a"}}),
        ("run=ls", True, {"behavior": "allow"}),
        ("run=ls", False, {"behavior": "deny"}),
        ("run=ls", {"decision": "deny"}, {"behavior": "deny"}),
    ]
    for n, (prompt, payload, wanted) in enumerate(cases):
        asked, = interrupts(run(host, prompt, f"words-{n}"))
        told, = heard(resume(host, f"words-{n}", "r-2", (asked["id"], payload)))
        equal({k: told.get(k) for k in wanted}, wanted, f"{json.dumps(payload)}: the agent receives the decision")
    asked, = interrupts(run(host, "run=ls", "words-c"))
    told, = heard(resume(host, "words-c", "r-2", asked["id"]))
    equal(told["behavior"], "deny", "a dismissed request is denied")


def test_questions(host):
    asked, = interrupts(run(host, "two", "ask"))
    answers = asked["responseSchema"]["properties"]["answers"]
    ids = answers["required"]
    equal((asked["reason"], asked["message"]), ("input_required", "Which colour?"),
          "a question is an interrupt")
    equal([answers["properties"][i]["type"] for i in ids], ["string", "array"],
          "the schema has the types of answers")
    equal(answers["properties"][ids[0]]["examples"], ["Red", "Green", "Blue"], "the schema has the options")
    message = is_error(resume(host, "ask", "r-2", (asked["id"], {"answers": {ids[0]: "Red"}})),
                       "invalid_payload", "one of two answers is none")
    ok("every question" in message, "an incomplete answer is refused", message)
    text = text_of(resume(host, "ask", "r-3",
                          (asked["id"], {"answers": {ids[0]: "Red", ids[1]: ["Blue", "Green"]}})))
    ok("Red" in text and "Blue" in text and "Green" in text, "the agent receives both answers", text)
    asked, = interrupts(run(host, "single", "ask-2"))
    ok("Mauve" in text_of(resume(host, "ask-2", "r-2", (asked["id"], "Mauve"))),
       "a text answers a single question")


# ---- several ----


def test_one_after_another(host):
    events = run(host, "run=a1, run=a2, run=a3", "row")
    calls = [e["toolCallId"] for e in events if e["type"] == "TOOL_CALL_START"]
    ids, results = [], []
    for n in range(2, 5):
        asked, = interrupts(events)
        ids.append(asked["id"])
        events = resume(host, "row", f"r-{n}", (asked["id"], n != 3))
        calls += [e["toolCallId"] for e in events if e["type"] == "TOOL_CALL_START"]
        results += [e["toolCallId"] for e in events if e["type"] == "TOOL_CALL_RESULT"]
    equal(ids, ["r-1:req-1", "r-1:req-2", "r-1:req-3"], "each request ends a run")
    equal(events[-1]["outcome"], {"type": "success"}, "the run with the last answer ends with success")
    equal([h["behavior"] for h in heard(events)], ["allow", "deny", "allow"], "the agent received all decisions")
    equal((calls, results), ([f"r-1:call_{i}" for i in (1, 2, 3)],) * 2,
          "each call and each result is sent once")
    turn, = turns_of(host, "row")
    lines = host.follow(f"/turns/{turn['id']}/events").rest()
    seqs = [i for i, _, _ in lines]
    ok(seqs == sorted(set(seqs)) and json.loads(lines[-1][2])["type"] == "done",
       "the turn has all of its events")


def test_together(host):
    asked = interrupts(run(host, "together run=b1, run=b2, run=b3", "all"))
    ids = [a["id"] for a in asked]
    equal(ids, ["r-1:req-1", "r-1:req-2", "r-1:req-3"], "concurrent requests are one interrupt")
    is_error(resume(host, "all", "r-2", (ids[0], True), (ids[1], True)), "interrupt_unanswered",
             "all requests must be answered")
    is_error(resume(host, "all", "r-3", (ids[0], True), (ids[1], True), (ids[2], 7)),
             "invalid_payload", "with what is an answer")
    is_error(resume(host, "all", "r-4", (ids[0], True), (ids[0], True), (ids[2], True)),
             "invalid_resume", "each once")
    is_error(resume(host, "all", "r-5", (ids[0], True), (ids[1], True), (ids[2], True),
                    ("r-1:req-4", True)), "unknown_interrupt", "and nothing else")
    turn, = turns_of(host, "all")
    equal(len(turn["requests"]), 3, "no request is decided before")
    events = resume(host, "all", "r-6", (ids[2], True), (ids[0], False), ids[1])
    equal([h["behavior"] for h in heard(events)], ["deny", "deny", "allow"], "each request gets its own decision")


# ---- who comes late, or from elsewhere ----


def test_refused(host):
    asked, = interrupts(run(host, "run=c1", "late"))
    turn, = turns_of(host, "late")
    is_error(run(host, "and now?", "late", "r-2"), "interrupted",
             "a waiting thread accepts no other message")
    is_error(resume(host, "late", "r-3", ("r-1:req-9", True)), "unknown_interrupt", "an unknown id")
    is_error(resume(host, "late", "r-3", ("req-1", True)), "unknown_interrupt", "the turn's own id")
    is_error(resume(host, "other", "r-3", (asked["id"], True)), "unknown_interrupt",
             "the id of another thread is refused")
    is_error(resume(host, "late", "r-3", (asked["id"], True), key="dan"), "unknown_interrupt",
             "the id of another key is refused")
    is_error(resume(host, "late", "r-3", (asked["id"], {"choice": "perhaps"})), "invalid_payload",
             "an unknown choice is refused")
    is_error(resume(host, "late", "r-3", (asked["id"], {"approved": True, "choice": "deny"})),
             "invalid_payload", "yes and no")
    is_error(resume(host, "late", "r-3", (asked["id"], None)), "invalid_payload", "no payload")
    equal(len(turns_of(host, "late")), 1, "no refused run was a turn")
    equal(len(host.turn(turn["id"])["requests"]), 1, "no request was decided")
    host.ask("POST", f"/turns/{turn['id']}/requests/req-1", key="ann", body={"choice": "deny"})
    message = is_error(resume(host, "late", "r-4", (asked["id"], True)), "interrupt_decided",
                       "a request that was decided elsewhere cannot be decided again")
    ok("denied by ann" in message, "the error names the user who decided", message)
    events = resume(host, "late", "r-5", asked["id"])
    equal((heard(events)[0]["behavior"], events[-1]["outcome"]), ("deny", {"type": "success"}),
          "dismissing the decided request returns the rest of the turn")


def test_answered_elsewhere(host):
    """A client that may not answer requests gets the complete turn in one run."""
    one = Run(host, run_input("run=d1", thread="watch"), "bob", "/ag-ui/asker")
    equal(one.await_type("TOOL_CALL_END")["toolCallId"], "r-1:call_1", "the run continues after the request of the agent")
    turn = until(lambda: [t for t in turns_of(host, "watch") if t.get("requests")], "the agent has an open request")[0]
    host.ask("POST", f"/turns/{turn['id']}/requests/req-1", key="ann", body={"choice": "allow"})
    events = one.rest()
    equal(events[-1]["outcome"], {"type": "success"}, "the run continues after another client has answered")
    equal(host.status("POST", "/ag-ui/asker", key="bob",
                      body={**run_input("x", thread="watch", run="r-2"),
                            "resume": [{"interruptId": "r-1:req-1", "status": "cancelled"}]}), 403,
          "the answers of the client are refused")


def test_end(host):
    asked, = interrupts(run(host, "run=e1", "end"))
    turn, = turns_of(host, "end")
    host.ask("POST", f"/turns/{turn['id']}/cancel", key="ann", body={})
    host.await_state(turn["id"], "cancelled", "error", "final")
    is_error(resume(host, "end", "r-2", (asked["id"], True)), "interrupt_decided",
             "after the end of the turn the request is closed")
    events = resume(host, "end", "r-3", asked["id"])
    equal(events[-1].get("code"), "CANCELLED", "the rest of the run is its end")
    asked, = interrupts(run(host, "run=e2", "end", "r-4"))
    equal(asked["id"], "r-4:req-1", "the next turn of the thread has its own request ids")
    is_error(resume(host, "end", "r-5", ("r-1:req-1", True)), "interrupt_decided",
             "an old answer does not answer a new request")
    equal(heard(resume(host, "end", "r-6", (asked["id"], True)))[0]["behavior"], "allow",
          "the new request has its own answer")


def test_timeout():
    with Door(http=http_group(KEYS), agents=asker(timeout=1)) as host:
        asked, = interrupts(run(host, "run=f1", "slow"))
        equal((asked["reason"], asked.get("toolCallId")), ("confirmation", None),
              "a call that is not shown has no name")
        turn, = turns_of(host, "slow")
        host.await_state(turn["id"], "final")
        is_error(resume(host, "slow", "r-2", (asked["id"], True)), "interrupt_decided",
                 "an answer after the expiry time is refused")
        ok("Answer" not in text_of(run(host, "single", "slow", "r-3")), "the thread accepts a new run")


with Door(http=http_group(KEYS, visibility="all"), agents=asker()) as host:
    for protocol in ("", "1.0"):
        test_one(host, protocol)
    test_words(host)
    test_questions(host)
    test_one_after_another(host)
    test_together(host)
    test_refused(host)
    test_answered_elsewhere(host)
    test_end(host)
    equal(host.stop(), 0, "the host exits with status 0")
test_timeout()
done()
