# SPDX-License-Identifier: MIT
"""The real Claude Code on a host: it asks before it acts, asks a question, and is stopped."""
import json

from agents import Model, Stage, check_approvals, check_question, check_stop, done, program

QUESTION = json.dumps({"questions": [{
    "question": "Which colour?", "header": "Colour", "multiSelect": False,
    "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]}]})


def main():
    if not program("claude"):
        print("1..0 # SKIP no Claude Code in tests/agents/node_modules: tools/check agents")
        return
    with Model() as model:
        variables = [f"ANTHROPIC_BASE_URL=http://127.0.0.1:{model.port}", "ANTHROPIC_API_KEY=sk-fake",
                     "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "CLAUDE_CODE_MAX_RETRIES=1"]
        with Stage("claude", program("claude"), variables) as stage, stage.serve() as host:
            check_approvals(host, stage, "bash {}".format)
            check_question(host, f"call AskUserQuestion {QUESTION}")
            check_stop(host, stage)
    done()


if __name__ == "__main__":
    main()
