# SPDX-License-Identifier: MIT
"""The real Codex as its app-server on a host, with a scripted model: answers, approvals, a question,
stop, errors."""
import json

from agents import Model, Stage, asked, decide, done, ends_well, equal, explain, fails, ok, outcome
from agents import program, until
from t_codex import configure

FLAGS = ("-c", "sandbox_mode=workspace-write", "-c", "features.default_mode_request_user_input=true")
QUESTION = json.dumps({"questions": [{
    "id": "colour", "header": "Colour", "question": "Which colour?",
    "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]}]})


def escalated(command):
    """A command that is to run outside of the sandbox."""
    return "call exec_command " + json.dumps({
        "cmd": command, "sandbox_permissions": "require_escalated", "justification": "May I?"})


def test_run(stage):
    ends_well(stage.run("DO bash echo from-the-shell | say Done", flags=FLAGS), ["Done"], "a tool")
    fails(stage.run("DO fail 401", options="attempts = 1;", flags=FLAGS), "401", "HTTP 401")


def test_resume(stage):
    """codex app-server tells the totals of a resumed thread before its turn begins."""
    for text in ("One", "Two"):
        ran = stage.run(f"DO say {text}", words=("-C", "talk"), flags=FLAGS)
        ends_well(ran, [text], f"a conversation: {text}")
        equal([(u["input_tokens"], u["output_tokens"]) for u in ran.usage()], [(100, 42)],
              f"{text}: its own usage")


def test_approval(host, stage):
    for choice, done_it in (("allow", True), ("deny", False)):
        mark = stage.work / choice
        turn = host.begin(f"DO {escalated(f'touch {mark}')} | say The end")["id"]
        requests = asked(host, turn)
        equal([(r["kind"], f"touch {mark}" in r["subject"]) for r in requests], [("approval", True)],
              f"{choice}: it asks before it acts")
        ok(not mark.exists(), f"{choice}: it waits")
        for request in requests:
            equal(decide(host, turn, request, choice=choice), 200, f"{choice}: is accepted")
        state, ran = outcome(host, turn)
        ok((state, ran.finals()) == ("final", ["The end"]), f"{choice}: the turn goes on to its end",
           explain(ran))
        equal(mark.exists(), done_it, f"{choice}: is what happens")


def test_question(host):
    turn = host.begin(f"DO call request_user_input {QUESTION} | say Noted")["id"]
    requests = asked(host, turn)
    equal([(r["kind"], [q["prompt"] for q in r.get("questions", [])]) for r in requests],
          [("ask", ["Which colour?"])], "a question is asked")
    for request in requests:
        question = request["questions"][0]["id"]
        equal(decide(host, turn, request, choice="answer", answers={question: "Blue"}), 200,
              "its answer is accepted")
    state, ran = outcome(host, turn)
    ok((state, ran.finals()) == ("final", ["Noted"]), "and the turn goes on", explain(ran))


def test_stop(host, stage):
    began = stage.work / "began"
    turn = host.begin(f"DO bash touch {began}; sleep 600 | say Never")["id"]
    until(began.exists, "the command runs")
    host.ask("POST", f"/turns/{turn}/cancel", key="ann", body={})
    state, ran = outcome(host, turn)
    ok((state, len(ran.payloads("done"))) == ("cancelled", 1), "a turn that is stopped is cancelled, once",
       explain(ran))


def main():
    if not program("codex"):
        print("1..0 # SKIP no Codex in tests/agents/node_modules: tools/check agents")
        return
    with Model() as model, Stage("codex-app", program("codex"), ["SCRIPTED_KEY=fake"]) as stage:
        configure(stage, model.port)
        test_run(stage)
        test_resume(stage)
        with stage.serve(flags=FLAGS) as host:
            test_approval(host, stage)
            test_question(host)
            test_stop(host, stage)
    done()


if __name__ == "__main__":
    main()
