#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""POST /ag-ui when the agent asks: a run ends with an interrupt, and the run that answers it goes on
where that one ended, in one turn, without a loss."""
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
    """A run that answers: (id, payload), or an id that is dismissed."""
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
    """The answer to its request, as the agent repeats it."""
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
    ok("expiresAt" in asked and asked["metadata"]["args"] == {"command": "df -h"}, "and the rest")
    turn, = turns_of(host, thread)
    equal((turn["state"], len(turn["requests"])), ("running", 1), "the turn goes on waiting")
    equal(run(host, "run=df -h", thread, **more), first, "the same run again ends the same")
    second = resume(host, thread, "r-2", (asked["id"], {"approved": True}), parentRunId="r-1",
                    **more)
    equal((second[0]["type"], second[0]["runId"], second[0]["parentRunId"]),
          ("RUN_STARTED", "r-2", "r-1"), "who answers gets the rest as a run")
    equal((second[-1]["type"], second[-1]["runId"], second[-1]["outcome"]),
          ("RUN_FINISHED", "r-2", {"type": "success"}), "to its end")
    result = [e for e in second if e["type"] == "TOOL_CALL_RESULT"]
    equal([e["toolCallId"] for e in result], ["r-1:call_1"], "the call's result has the call's id")
    ok("TOOL_CALL_START" not in kinds(second), "and the call is not told again", kinds(second))
    equal(heard(second)[0]["behavior"], "allow", "the agent was told")
    equal(resume(host, thread, "r-2", (asked["id"], {"approved": True}), parentRunId="r-1", **more),
          second, "that run again is told again, and nothing is decided again")
    again = resume(host, thread, "r-3", (asked["id"], {"approved": True}), **more)
    equal([e["type"] for e in again], [e["type"] for e in second],
          "so is the same answer in another run")
    equal(run(host, "run=df -h", thread, **more), first, "the first ends as it did")
    equal(len(turns_of(host, thread)), 1, "all of it is one turn")


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
        equal({k: told.get(k) for k in wanted}, wanted, f"{json.dumps(payload)}: heard")
    asked, = interrupts(run(host, "run=ls", "words-c"))
    told, = heard(resume(host, "words-c", "r-2", asked["id"]))
    equal(told["behavior"], "deny", "what is dismissed is denied")


def test_questions(host):
    asked, = interrupts(run(host, "two", "ask"))
    answers = asked["responseSchema"]["properties"]["answers"]
    ids = answers["required"]
    equal((asked["reason"], asked["message"]), ("input_required", "Which colour?"),
          "a question is an interrupt")
    equal([answers["properties"][i]["type"] for i in ids], ["string", "array"],
          "whose schema tells the kinds of answers")
    equal(answers["properties"][ids[0]]["examples"], ["Red", "Green", "Blue"], "and the options")
    message = is_error(resume(host, "ask", "r-2", (asked["id"], {"answers": {ids[0]: "Red"}})),
                       "invalid_payload", "one of two answers is none")
    ok("every question" in message, "which is said", message)
    text = text_of(resume(host, "ask", "r-3",
                          (asked["id"], {"answers": {ids[0]: "Red", ids[1]: ["Blue", "Green"]}})))
    ok("Red" in text and "Blue" in text and "Green" in text, "both are", text)
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
    equal(ids, ["r-1:req-1", "r-1:req-2", "r-1:req-3"], "each question ends a run")
    equal(events[-1]["outcome"], {"type": "success"}, "the last answer goes to the end")
    equal([h["behavior"] for h in heard(events)], ["allow", "deny", "allow"], "all were heard")
    equal((calls, results), ([f"r-1:call_{i}" for i in (1, 2, 3)],) * 2,
          "each call and each result is told once")
    turn, = turns_of(host, "row")
    lines = host.follow(f"/turns/{turn['id']}/events").rest()
    seqs = [i for i, _, _ in lines]
    ok(seqs == sorted(set(seqs)) and json.loads(lines[-1][2])["type"] == "done",
       "the turn itself is whole")


def test_together(host):
    asked = interrupts(run(host, "together run=b1, run=b2, run=b3", "all"))
    ids = [a["id"] for a in asked]
    equal(ids, ["r-1:req-1", "r-1:req-2", "r-1:req-3"], "what is asked at once is one interrupt")
    is_error(resume(host, "all", "r-2", (ids[0], True), (ids[1], True)), "interrupt_unanswered",
             "all of it has to be answered")
    is_error(resume(host, "all", "r-3", (ids[0], True), (ids[1], True), (ids[2], 7)),
             "invalid_payload", "with what is an answer")
    is_error(resume(host, "all", "r-4", (ids[0], True), (ids[0], True), (ids[2], True)),
             "invalid_resume", "each once")
    is_error(resume(host, "all", "r-5", (ids[0], True), (ids[1], True), (ids[2], True),
                    ("r-1:req-4", True)), "unknown_interrupt", "and nothing else")
    turn, = turns_of(host, "all")
    equal(len(turn["requests"]), 3, "until then nothing is decided")
    events = resume(host, "all", "r-6", (ids[2], True), (ids[0], False), ids[1])
    equal([h["behavior"] for h in heard(events)], ["deny", "deny", "allow"], "each gets its own")


# ---- who comes late, or from elsewhere ----


def test_refused(host):
    asked, = interrupts(run(host, "run=c1", "late"))
    turn, = turns_of(host, "late")
    is_error(run(host, "and now?", "late", "r-2"), "interrupted",
             "a thread that waits takes nothing else")
    is_error(resume(host, "late", "r-3", ("r-1:req-9", True)), "unknown_interrupt", "an unknown id")
    is_error(resume(host, "late", "r-3", ("req-1", True)), "unknown_interrupt", "the turn's own id")
    is_error(resume(host, "other", "r-3", (asked["id"], True)), "unknown_interrupt",
             "another thread's")
    is_error(resume(host, "late", "r-3", (asked["id"], True), key="dan"), "unknown_interrupt",
             "another key's")
    is_error(resume(host, "late", "r-3", (asked["id"], {"choice": "perhaps"})), "invalid_payload",
             "a choice there is not")
    is_error(resume(host, "late", "r-3", (asked["id"], {"approved": True, "choice": "deny"})),
             "invalid_payload", "yes and no")
    is_error(resume(host, "late", "r-3", (asked["id"], None)), "invalid_payload", "no payload")
    equal(len(turns_of(host, "late")), 1, "none of it was a turn")
    equal(len(host.turn(turn["id"])["requests"]), 1, "and nothing was decided")
    host.ask("POST", f"/turns/{turn['id']}/requests/req-1", key="ann", body={"choice": "deny"})
    message = is_error(resume(host, "late", "r-4", (asked["id"], True)), "interrupt_decided",
                       "what was decided elsewhere is not decided again")
    ok("denied by ann" in message, "and it is told by whom", message)
    events = resume(host, "late", "r-5", asked["id"])
    equal((heard(events)[0]["behavior"], events[-1]["outcome"]), ("deny", {"type": "success"}),
          "who dismisses it then gets the rest")


def test_answered_elsewhere(host):
    """A client that may not answer requests gets the whole turn in one run, whoever answers."""
    one = Run(host, run_input("run=d1", thread="watch"), "bob", "/ag-ui/asker")
    equal(one.await_type("TOOL_CALL_END")["toolCallId"], "r-1:call_1", "a run that may not answer")
    turn = until(lambda: [t for t in turns_of(host, "watch") if t.get("requests")], "it asks")[0]
    host.ask("POST", f"/turns/{turn['id']}/requests/req-1", key="ann", body={"choice": "allow"})
    events = one.rest()
    equal(events[-1]["outcome"], {"type": "success"}, "goes on when somebody else has answered")
    equal(host.status("POST", "/ag-ui/asker", key="bob",
                      body={**run_input("x", thread="watch", run="r-2"),
                            "resume": [{"interruptId": "r-1:req-1", "status": "cancelled"}]}), 403,
          "and its answers are not taken")


def test_end(host):
    asked, = interrupts(run(host, "run=e1", "end"))
    turn, = turns_of(host, "end")
    host.ask("POST", f"/turns/{turn['id']}/cancel", key="ann", body={})
    host.await_state(turn["id"], "cancelled", "error", "final")
    is_error(resume(host, "end", "r-2", (asked["id"], True)), "interrupt_decided",
             "with the turn it is over")
    events = resume(host, "end", "r-3", asked["id"])
    equal(events[-1].get("code"), "CANCELLED", "and the rest is its end")
    asked, = interrupts(run(host, "run=e2", "end", "r-4"))
    equal(asked["id"], "r-4:req-1", "the thread's next turn has names of its own")
    is_error(resume(host, "end", "r-5", ("r-1:req-1", True)), "interrupt_decided",
             "an old answer is none to a new question")
    equal(heard(resume(host, "end", "r-6", (asked["id"], True)))[0]["behavior"], "allow",
          "which has its own")


def test_timeout():
    with Door(http=http_group(KEYS), agents=asker(timeout=1)) as host:
        asked, = interrupts(run(host, "run=f1", "slow"))
        equal((asked["reason"], asked.get("toolCallId")), ("confirmation", None),
              "a call that is not shown has no name")
        turn, = turns_of(host, "slow")
        host.await_state(turn["id"], "final")
        is_error(resume(host, "slow", "r-2", (asked["id"], True)), "interrupt_decided",
                 "behind its time an answer is too late")
        ok("Answer" not in text_of(run(host, "single", "slow", "r-3")), "and the thread is free")


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
    equal(host.stop(), 0, "it ends well")
test_timeout()
done()
