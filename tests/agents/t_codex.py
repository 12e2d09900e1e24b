# SPDX-License-Identifier: MIT
"""The real Codex with a scripted model: `codex exec` through `turncast run`."""
from agents import Model, Stage, done, ends_well, equal, explain, fails, ok, outcome
from agents import program

PROVIDER = """model = "gpt-5.5"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "http://127.0.0.1:{port}/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1
stream_idle_timeout_ms = {idle_ms}
supports_websockets = false
[analytics]
enabled = false
[feedback]
enabled = false
"""


def configure(stage, port, idle_ms=60000):
    folder = stage.home / ".codex"
    folder.mkdir(exist_ok=True)
    (folder / "config.toml").write_text(PROVIDER.format(port=port, idle_ms=idle_ms))


def test_answers(stage):
    ends_well(stage.run("DO say Hello"), ["Hello"], "a text")
    ran = stage.run("DO bash echo from-the-shell | say Done")
    ends_well(ran, ["Done"], "a tool")
    results = [p["content"] for p in ran.payloads("tool_result")]
    ok(len(results) == 1 and "from-the-shell" in results[0], "a tool: its output is told", explain(ran))


def test_resume(stage):
    first = stage.run("DO say One", words=("-C", "talk"))
    second = stage.run("DO say Two", words=("-C", "talk"))
    ends_well(first, ["One"], "the first turn of a conversation")
    ends_well(second, ["Two"], "the second one")
    counted = [(u["input_tokens"], u["output_tokens"]) for u in first.usage() + second.usage()]
    equal(counted, [(100, 42), (100, 42)], "each reports what it used itself")


def test_host(stage):
    """The same on a host."""
    with stage.serve() as host:
        for text in ("Three", "Four"):
            turn = host.begin(f"DO say {text}", conversation="talk")["id"]
            state, ran = outcome(host, turn)
            equal((state, ran.finals()), ("final", [text]), f"on a host: {text}")
            equal([u["input_tokens"] for u in ran.usage()], [100], f"on a host: usage of {text}")


def test_errors(stage):
    for status, words in ((401, "401"), (429, "429"), (500, "high demand")):
        fails(stage.run(f"DO fail {status}", options="attempts = 1;"), words, f"HTTP {status}")
    fails(stage.run("DO fail cut", options="attempts = 1;"), "stream disconnected", "a stream that is cut")
    ran = stage.run("DO once 500 say Recovered")
    ends_well(ran, ["Recovered"], "an error that Codex gets over")
    ran = stage.run("DO bash echo acted | fail 500", options="attempts = 2;")
    fails(ran, "high demand", "an error after a tool")
    equal((len(ran.payloads("tool_call")), "retry" in ran.codes()), (1, True),
          "after a tool the session is continued, and the tool is not called again")


def main():
    if not program("codex"):
        print("1..0 # SKIP no Codex in tests/agents/node_modules: tools/check agents")
        return
    with Model() as model, Stage("codex", program("codex"), ["SCRIPTED_KEY=fake"]) as stage:
        configure(stage, model.port)
        test_answers(stage)
        test_resume(stage)
        test_host(stage)
        test_errors(stage)
    done()


if __name__ == "__main__":
    main()
