# SPDX-License-Identifier: MIT
"""The real Codex as its app-server on a host, with a scripted model: answers, approvals, a question,
stop, errors."""
import json

from agents import Model, Stage, check_approvals, check_question, check_stop, done, ends_well, equal
from agents import fails, program
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


def main():
    if not program("codex"):
        print("1..0 # SKIP no Codex in tests/agents/node_modules: tools/check agents")
        return
    with Model() as model, Stage("codex-app", program("codex"), ["SCRIPTED_KEY=fake"]) as stage:
        configure(stage, model.port)
        test_run(stage)
        test_resume(stage)
        with stage.serve(flags=FLAGS) as host:
            check_approvals(host, stage, escalated)
            check_question(host, f"call request_user_input {QUESTION}")
            check_stop(host, stage, asks=False)
    done()


if __name__ == "__main__":
    main()
