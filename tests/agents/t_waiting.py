# SPDX-License-Identifier: MIT
"""Published agents whose process waits for the next message, with a scripted model: several messages
to one process, its death while it waits, and in a chat the work that goes on behind an answer."""
import os
import re
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


class Chat:
    """Somebody who writes to an agent in Telegram."""

    def __init__(self, stage, **more):
        agents = stage.agents(**more).split("{", 1)[1].rsplit("}", 1)[0]
        self.fake = Fake("telegram")
        self.host = Host(telegram(self.fake, allow=[PERSON]), agents=agents,
                         extra="conversations : { debounce_ms = 0; };")
        own = re.match(r"\s*(\w+)", agents)[1]
        self.host.config.write_text(self.host.config.read_text().replace('"main"', f'"{own}"'))
        self.host.environment = lambda given=self.host.environment: {**given(), **stage.environment}

    def __enter__(self):
        self.fake.__enter__()
        self.host.start()
        until(self.host.has_started, "the host starts")
        return self

    def __exit__(self, *_):
        self.host.close()
        self.fake.__exit__(None, None, None)

    def say(self, text):
        self.fake.control("message", {"from": PERSON, "chat": PERSON, "text": text})

    def texts(self, part):
        return [m["text"] for m in messages(self.fake, str(PERSON)) if part in m["text"]]

    def hear(self, part):
        until(lambda: self.texts(part), part, PATIENCE_S)


def test_steer(stage, name, *flags):
    began = stage.work / "began"
    with Chat(stage, flags=flags, options='while_running = "steer";') as chat:
        chat.say(f"DO bash touch {began}; sleep 3 | say NEVER SAID")
        until(began.exists, "the command runs", 30)
        chat.say("DO say BOTH ANSWERED")
        chat.hear("BOTH ANSWERED")
        chat.say("DO say THE NEXT")
        chat.hear("THE NEXT")
        # The progress message goes behind the answer, at the pace of the chat.
        until(lambda: not chat.texts("⏱"), "no progress message is left", 30)
        equal([len(chat.texts(part)) for part in ("NEVER SAID", "BOTH ANSWERED", "THE NEXT")], [0, 1, 1],
              f"{name}: a message joins the turn that runs; both have one answer")
    began.unlink()


def test_chat(stage):
    with Chat(stage) as chat:
        chat.say("DO agent wait 3 say 42 files | say INTERIM | say LATER 42")
        chat.hear("INTERIM")
        equal(chat.texts("LATER"), [], "the first answer comes while a sub-agent works")
        chat.hear("LATER 42")
        chat.say("DO say THE NEXT")
        chat.hear("THE NEXT")
        for part in "INTERIM", "LATER 42", "THE NEXT":
            equal(len(chat.texts(part)), 1, f"{part}: once")


def main():
    if not program("claude") or not program("codex"):
        print("1..0 # SKIP no agents in tests/agents/node_modules: tools/check agents")
        return
    with Model() as model:
        claude = [*CLAUDE, f"ANTHROPIC_BASE_URL=http://127.0.0.1:{model.port}"]
        with Stage("claude", program("claude"), claude) as stage:
            stage.variables.append(f"HOME={stage.home}")
            test_messages(stage, "claude")
            test_steer(stage, "claude", "--allowedTools=Bash")
            test_chat(stage)
        with Stage("codex-app", program("codex"), ["SCRIPTED_KEY=fake"]) as stage:
            configure(stage, model.port)
            test_messages(stage, "codex-app")
            test_steer(stage, "codex-app", "-c", "sandbox_mode=workspace-write")
    done()


if __name__ == "__main__":
    main()
