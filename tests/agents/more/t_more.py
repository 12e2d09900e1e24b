# SPDX-License-Identifier: MIT
"""Gemini CLI, OpenCode, Qwen Code and Copilot with a scripted model, through `turncast run`: a text, a
tool, and what fails at the model's server."""
import contextlib
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from agents import LONG, Model, Stage, done, ends_well, equal, explain, fails, ok, program  # noqa: E402


def written(stage, path, value):
    file = stage.home / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value))


def variables_of(name, url):
    return {
        "gemini": [f"GOOGLE_GEMINI_BASE_URL={url}", "GEMINI_API_KEY=fake"],
        "opencode": ["OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1"],
        "qwen": [f"OPENAI_BASE_URL={url}/v1", "OPENAI_API_KEY=fake", "OPENAI_MODEL=scripted"],
        "copilot": ["COPILOT_OFFLINE=true", f"COPILOT_PROVIDER_BASE_URL={url}/v1",
                    "COPILOT_PROVIDER_API_KEY=fake", "COPILOT_MODEL=gpt-4.1"],
    }[name]


def configure(stage, name, url, bash="allow"):
    """bash: whether OpenCode may run commands."""
    if name == "gemini":
        written(stage, ".gemini/settings.json", {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "privacy": {"usageStatisticsEnabled": False}, "general": {"maxAttempts": 2}})
    if name == "qwen":
        written(stage, ".qwen/settings.json", {
            "security": {"auth": {"selectedType": "openai"}},
            "privacy": {"usageStatisticsEnabled": False}})
    if name == "opencode":
        written(stage, ".config/opencode/opencode.json", {
            "model": "scripted/model", "permission": {"bash": bash},
            "provider": {"scripted": {
                "npm": "@ai-sdk/openai-compatible", "name": "scripted",
                "options": {"baseURL": f"{url}/v1", "apiKey": "fake"},
                "models": {"model": {"name": "model", "limit": {"context": 200000, "output": 8000}}}}}})


# What lets the tool run: a change of the shipped configuration, and more flags.
ASKING = '"--approval-mode", "default"'
AGENTS = {
    "gemini": ((ASKING, '"--approval-mode", "yolo"'), ("-m", "gemini-2.5-pro")),
    "opencode": (None, ()),
    "qwen": ((ASKING, '"--approval-mode", "yolo"'), ()),
    "copilot": (None, ("--allow-all-tools",)),
}


@contextlib.contextmanager
def scripted(agent, name, **more):
    """A stage for the file `agent` of share/agents, whose program is `name`, with a model of its own."""
    with Model() as model:
        url = f"http://127.0.0.1:{model.port}"
        with Stage(agent, program(name, more=True), variables_of(name, url)) as stage:
            configure(stage, name, url, **more)
            yield stage


# What each says of a request that fails. OpenCode and Qwen Code try again for longer than a test
# can wait, without a word: the host ends them.
SILENT = "no output"
FAULTS = {
    "gemini": {"429": "429", "500": "500", "cut": "terminated"},
    "opencode": {"429": SILENT, "500": SILENT, "cut": SILENT},
    "qwen": {"429": SILENT, "500": SILENT, "cut": "terminated"},
    "copilot": {"429": "429", "500": "500", "cut": "response body"},
}


def test_faults(stage, name, flags):
    limit = 20 if SILENT in FAULTS[name].values() else 120
    stage.shipped = re.sub(r"idle_timeout_s = \d+", f"idle_timeout_s = {limit}", stage.shipped)
    for fault, words in FAULTS[name].items():
        ran = stage.run(f"DO fail {fault}", flags=flags, options="attempts = 1;")
        fails(ran, words, f"{name}: a request that fails with {fault}")


def test_agent(stage, name, flags):
    ran = stage.run("DO say Hello", flags=flags)
    ends_well(ran, ["Hello"], f"{name}: a text")
    ok(" error " not in ran.said, f"{name}: a success logs no error", explain(ran))
    ran = stage.run("DO bash echo from-the-shell | say Done", flags=flags)
    ends_well(ran, ["Done"], f"{name}: a tool")
    results = [p.get("content") or "" for p in ran.payloads("tool_result")]
    ok(len(results) == 1 and "from-the-shell" in results[0], f"{name}: its output is told", explain(ran))
    fails(stage.run("DO fail 401", flags=flags, options="attempts = 1;"), "401", f"{name}: HTTP 401")
    first = stage.run("DO say One", flags=flags, words=("-C", "talk"))
    second = stage.run("DO say Two", flags=flags, words=("-C", "talk"))
    ends_well(first, ["One"], f"{name}: the first turn of a conversation")
    ends_well(second, ["Two"], f"{name}: the second one")
    sessions = {e["session_id"] for ran in (first, second) for e in ran.events if e["session_id"]}
    equal(len(sessions), 1, f"{name}: both are of one session")


def main():
    if not LONG or not all(program(name, more=True) for name in AGENTS):
        print("1..0 # SKIP no agents in tests/agents/more/node_modules: tools/check --long agents")
        return
    for name, (change, flags) in AGENTS.items():
        with scripted(name, name) as stage:
            if change:
                stage.shipped = stage.shipped.replace(*change)
            test_agent(stage, name, flags)
            test_faults(stage, name, flags)
    done()


if __name__ == "__main__":
    main()
