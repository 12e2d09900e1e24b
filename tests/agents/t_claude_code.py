# SPDX-License-Identifier: MIT
"""The real Claude Code with a scripted model, through `turncast run`: every answer is told, also one
that comes after background work; errors are errors."""
import os
import subprocess

from agents import LONG, PATIENCE_S, Model, Stage, done, ends_well, equal, explain, fails, ok, program

FLAGS = ("--allowedTools=Bash,Agent,Monitor,ScheduleWakeup",)
KEY = "ANTHROPIC_API_KEY=sk-fake"
CASES = (
    # name, script, texts of the agent, calls of the model
    ("a text", "say Hello", ["Hello"], 1),
    ("a tool", "bash echo hi | say Done", ["Done"], 2),
    ("a sub-agent in the background",
     "agent wait 3 say 42 files | say INTERIM | say FINAL 42", ["INTERIM", "FINAL 42"], 4),
    ("a sub-agent that works for longer than exit_grace_s",
     "agent wait 9 say 42 files | say INTERIM | say FINAL 42", ["INTERIM", "FINAL 42"], 4),
    ("a sub-agent behind which nothing is to be said",
     "agent wait 3 say 42 files | say THE ANSWER | nothing", ["THE ANSWER"], 5),  # asked once more
    ("a command in the background", "bash sleep 3; echo out & | say INTERIM | say FINAL",
     ["INTERIM", "FINAL"], 3),
)
MONITOR = '{"command":"sleep 2; echo ready","description":"a log","timeout_ms":60000,"persistent":false}'
WAKEUP = '{"delaySeconds":60,"reason":"look again","prompt":"DO say AWAKE"}'
LONG_CASES = (
    ("a Monitor", f"call Monitor {MONITOR} | say INTERIM | say FINAL", ["INTERIM", "FINAL"]),
    ("a wake-up", f"call ScheduleWakeup {WAKEUP} | say INTERIM", ["INTERIM", "AWAKE"]),
)


def prints(stage, port, prompt):
    """What Claude Code itself prints for people."""
    env = {"PATH": os.environ["PATH"], "HOME": str(stage.home), "ANTHROPIC_API_KEY": "sk-fake",
           "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}"}
    return subprocess.run(
        [program("claude"), "-p", *FLAGS, prompt], env=env, cwd=stage.work, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=PATIENCE_S, check=False).stdout


def check_case(stage, port, name, script, texts, calls):
    ran = stage.run(f"DO {script}", KEY, flags=FLAGS)
    ends_well(ran, texts, name)
    equal(prints(stage, port, f"DO {script}").strip(), "\n\n".join(texts),
          f"{name}: as Claude Code prints it")
    usage = ran.usage()
    equal(len(usage), 1, f"{name}: usage of the turn")
    paid = usage[0]["cost_usd"] / 0.00124 if usage else 0  # 100 tokens in, 42 out
    ok(abs(paid - calls) < 0.01, f"{name}: {calls} calls of the model are paid", usage)
    ok("late_event" not in ran.codes(), f"{name}: nothing comes behind the outcome", explain(ran))
    equal(stage.processes(), [], f"{name}: no process is left")


def check_without_states(stage):
    name, script, texts, _ = CASES[2]
    with stage.changed(', "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS=1"', ""):
        ends_well(stage.run(f"DO {script}", KEY, flags=FLAGS), texts, f"{name}, without states")


def check_failures(stage):
    fails(stage.run("DO say Hello"), "/login", "nobody is logged in")
    fails(stage.run("DO say Hello", KEY, "ANTHROPIC_BASE_URL=http://127.0.0.1:9"), "refused",
          "nobody listens")
    for status, words in ((401, "401"), (429, "429"), (500, "500")):
        fails(stage.run(f"DO fail {status}", KEY, options="attempts = 1;"), words, f"HTTP {status}")
    ends_well(stage.run("DO once 500 say Recovered", KEY), ["Recovered"],
              "an error that Claude Code gets over")
    with stage.changed('resume = ["--resume={session_id}"];', ""):
        ran = stage.run("DO bash echo acted >>acted | fail 500", KEY, flags=FLAGS)
    fails(ran, "not tried again", "an error after a tool")
    equal((stage.work / "acted").read_text(), "acted\n", "after a tool nothing is repeated")


def main():
    if not program("claude"):
        print("1..0 # SKIP no Claude Code in tests/agents/node_modules: tools/check agents")
        return
    with Model() as model:
        variables = [f"ANTHROPIC_BASE_URL=http://127.0.0.1:{model.port}",
                     "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "CLAUDE_CODE_MAX_RETRIES=1"]
        with Stage("claude", program("claude"), variables) as stage:
            for case in CASES:
                check_case(stage, model.port, *case)
            check_without_states(stage)
            check_failures(stage)
            for name, script, texts in LONG_CASES if LONG else ():
                ends_well(stage.run(f"DO {script}", KEY, flags=FLAGS), texts, name)
    done()


if __name__ == "__main__":
    main()
