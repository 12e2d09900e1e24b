# SPDX-License-Identifier: MIT
"""Published agents whose process waits for the next message, with a scripted model: several messages
to one process, its death while it waits, and in a chat the work that goes on behind an answer."""
import os
import signal
import sys

from agents import PATIENCE_S, SOURCE, Model, Stage, done, equal, explain, ok, outcome, program, until
from t_codex import configure

sys.path.insert(0, str(SOURCE / "tests" / "talk"))

from people import messages  # noqa: E402
from talk import Fake, Host, telegram  # noqa: E402

PERSON = 1000
CLAUDE = ["ANTHROPIC_API_KEY=sk-fake", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_MAX_RETRIES=1",
          "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"]


def agents(stage):
    """Its processes, without those of the host."""
    return stage.pids() & stage.pids("TERM=dumb")


def say(host, text, name):
    state, ran = outcome(host, host.begin(f"DO {text}", conversation="c")["id"])
    ok((state, len(ran.finals())) == ("final", 1), f"{name}: {text}", explain(ran))
    return ran


def test_messages(stage, name):
    with stage.serve() as host:
        first = say(host, "say one", name)
        waits = agents(stage)
        ok(waits, f"{name}: its process waits")
        second = say(host, "bash echo hi | say two", name)
        third = say(host, "say three", name)
        equal([ran.finals() for ran in (first, second, third)], [["one"], ["two"], ["three"]],
              f"{name}: three messages, each answered")
        now = agents(stage)
        ok(now and now <= waits, f"{name}: by one process", (now, waits))
        tokens = [ran.usage()[0].get("output_tokens") for ran in (first, third)]
        equal(tokens[0], tokens[1], f"{name}: a turn counts its own tokens")
        costs = [ran.usage()[0].get("cost_usd") or 0 for ran in (first, second, third)]
        ok(abs(costs[0] - costs[2]) < 1e-9 and costs[1] >= costs[0],
           f"{name}: and its own cost", costs)
        for pid in now:
            os.kill(pid, signal.SIGKILL)
        until(lambda: not agents(stage), "it is gone")
        again = say(host, "say four", name)
        ok(not waits & agents(stage), f"{name}: after its death a new one answers")
        sessions = {e["session_id"] for ran in (first, again) for e in ran.events if e.get("session_id")}
        equal(len(sessions), 1, f"{name}: in the same session")


def test_chat(stage):
    agents = stage.agents().split("{", 1)[1].rsplit("}", 1)[0]
    with Fake("telegram") as fake, Host(telegram(fake, allow=[PERSON]), agents=agents) as host:
        host.stop()
        host.config.write_text(host.config.read_text().replace('"main"', '"claude"'))
        host.environment = lambda given=host.environment: {**given(), **stage.environment}
        host.start()
        until(host.has_started, "the host starts")
        fake.control("message", {"from": PERSON, "chat": PERSON,
                                 "text": "DO agent wait 3 say 42 files | say INTERIM | say LATER 42"})

        def texts(part):
            return [m["text"] for m in messages(fake, str(PERSON)) if part in m["text"]]

        until(lambda: texts("INTERIM"), "the first answer", PATIENCE_S)
        equal(texts("LATER"), [], "the first answer comes while a sub-agent works")
        until(lambda: texts("LATER 42"), "what comes of its work", PATIENCE_S)
        fake.control("message", {"from": PERSON, "chat": PERSON, "text": "DO say THE NEXT"})
        until(lambda: texts("THE NEXT"), "the next answer", PATIENCE_S)
        for part in "INTERIM", "LATER 42", "THE NEXT":
            equal(len(texts(part)), 1, f"{part}: once")


def main():
    if not program("claude") or not program("codex"):
        print("1..0 # SKIP no agents in tests/agents/node_modules: tools/check agents")
        return
    with Model() as model:
        claude = [*CLAUDE, f"ANTHROPIC_BASE_URL=http://127.0.0.1:{model.port}"]
        with Stage("claude", program("claude"), claude) as stage:
            stage.variables.append(f"HOME={stage.home}")
            test_messages(stage, "claude")
            test_chat(stage)
        with Stage("codex-app", program("codex"), ["SCRIPTED_KEY=fake"]) as stage:
            configure(stage, model.port)
            test_messages(stage, "codex-app")
    done()


if __name__ == "__main__":
    main()
