# SPDX-License-Identifier: MIT
"""The real Claude Code on a host: it asks before it acts, asks a question, and is stopped."""
import json

from agents import Model, Stage, asked, decide, done, equal, ok, outcome, program, until

QUESTION = json.dumps({"questions": [{
    "question": "Which colour?", "header": "Colour", "multiSelect": False,
    "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]}]})


def test_approval(host, stage):
    for choice, done_it in (("allow", True), ("deny", False)):
        mark = stage.work / choice
        turn = host.begin(f"DO bash touch {mark} | say The end")["id"]
        requests = asked(host, turn)
        equal([(r["kind"], r["tool"], r["subject"]) for r in requests],
              [("approval", "Bash", f"touch {mark}")], f"{choice}: it asks before it acts")
        ok(not mark.exists(), f"{choice}: it waits")
        for request in requests:
            equal(decide(host, turn, request, choice=choice), 200, f"{choice}: is accepted")
        state, ran = outcome(host, turn)
        equal((state, ran.finals()), ("final", ["The end"]), f"{choice}: the turn goes on to its end")
        equal(mark.exists(), done_it, f"{choice}: is what happens")


def test_question(host):
    turn = host.begin(f"DO call AskUserQuestion {QUESTION} | say Noted")["id"]
    requests = asked(host, turn)
    equal([(r["kind"], [q["prompt"] for q in r.get("questions", [])]) for r in requests],
          [("ask", ["Which colour?"])], "a question is asked")
    for request in requests:
        question = request["questions"][0]["id"]
        equal(decide(host, turn, request, choice="answer", answers={question: "Blue"}), 200,
              "its answer is accepted")
    state, ran = outcome(host, turn)
    equal((state, ran.finals()), ("final", ["Noted"]), "and the turn goes on")


def test_stop(host, stage):
    began = stage.work / "began"
    turn = host.begin(f"DO bash touch {began}; sleep 600 | say Never")["id"]
    for request in asked(host, turn):
        decide(host, turn, request, choice="allow")
    until(began.exists, "the command runs")
    host.ask("POST", f"/turns/{turn}/cancel", key="ann", body={})
    state, ran = outcome(host, turn)
    equal((state, len(ran.payloads("done"))), ("cancelled", 1), "a turn that is stopped is cancelled, once")


def main():
    if not program("claude"):
        print("1..0 # SKIP no Claude Code in tests/agents/node_modules: tools/check agents")
        return
    with Model() as model:
        variables = [f"ANTHROPIC_BASE_URL=http://127.0.0.1:{model.port}", "ANTHROPIC_API_KEY=sk-fake",
                     "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "CLAUDE_CODE_MAX_RETRIES=1"]
        with Stage("claude", program("claude"), variables) as stage, stage.serve() as host:
            test_approval(host, stage)
            test_question(host)
            test_stop(host, stage)
    done()


if __name__ == "__main__":
    main()
