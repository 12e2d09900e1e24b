# SPDX-License-Identifier: MIT
"""Gemini CLI, OpenCode, Qwen Code and Copilot on a host, over ACP, with a scripted model: they ask
before they act, and are stopped."""
from t_more import AGENTS, scripted

from agents import LONG, check_approvals, check_stop, done, program

# OpenCode and Copilot end the turn when a tool is not allowed.
ENDED = "The agent ended the turn because a tool was not allowed."
DENIED = {"gemini": "The end", "opencode": ENDED, "qwen": "The end", "copilot": ENDED}
# Without the name of a model Gemini CLI asks one which to use, and the scripted one cannot say.
FLAGS = {"gemini": ("-m", "gemini-2.5-pro")}


def main():
    if not LONG or not all(program(name, more=True) for name in AGENTS):
        print("1..0 # SKIP no agents in tests/agents/more/node_modules: tools/check --long agents")
        return
    for name, answer in DENIED.items():
        with scripted(f"{name}-acp", name, bash="ask") as stage:
            with stage.serve(flags=FLAGS.get(name, ())) as host:
                check_approvals(host, stage, "bash {}".format, answer)
                check_stop(host, stage)
    done()


if __name__ == "__main__":
    main()
