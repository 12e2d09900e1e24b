# SPDX-License-Identifier: MIT
"""Scripts of the fake model: the newest message of the user says what the model answers.

A script is one line of a prompt, `DO step | step | ...`, one step per call of the model:

    say TEXT            ends the turn with TEXT
    nothing             ends the turn without a word
    bash COMMAND        a call of the shell tool; with `&` behind it, in the background
    agent PROMPT        a call of Agent; its prompt is a script itself, for the sub-agent
    call NAME JSON      a call of any tool
    fail FAULT          the request fails: an HTTP status, `cut` (the connection closes in the
                        middle of a text) or `stall` (the stream stops there)
    once FAULT STEP     the first request of this step fails, each later one does STEP
    wait SECONDS STEP   does STEP after a pause

`/` stands for `|` in the prompt of a sub-agent. After the last step comes `nothing`. A request that
offers no tools is one that the agent makes for itself, for the title of a session for example: it
gets a short text and counts for nothing."""

import json
import re
import threading
import time
from dataclasses import dataclass, field

SCRIPT = re.compile(r"^\s*DO (.*)$", re.M)
HALF = "This text is cut off in the middle."

# The name of the shell tool of each published agent, and the arguments that run COMMAND.
SHELLS = {
    "Bash": lambda command: {"command": command, "description": "a command"},
    "bash": lambda command: {"command": command, "description": "a command"},
    "exec_command": lambda command: {"cmd": command},
    "shell": lambda command: {"command": ["bash", "-lc", command]},
    "shell_command": lambda command: {"command": command},
    "run_shell_command": lambda command: {
        "command": command, "description": "a command", "is_background": False},
}


@dataclass
class Reply:
    """The response of the model to one call: a text, a tool call, or neither."""

    text: str = ""
    tool: str = ""
    arguments: dict = field(default_factory=dict)
    fault: object = None  # an HTTP status, "cut", "stall" or None


def fault_of(word):
    return int(word) if word.isdigit() else word


def steps_of(conversation):
    """The text of the newest script, and how often the model has spoken since. `conversation` is a
    list of (role, text), role "user" or "model"."""
    script, spoken = "", 0
    for role, text in conversation:
        if role == "model":
            spoken += 1
            continue
        found = SCRIPT.findall(text)
        if found:
            script, spoken = found[-1], 0
    return script, spoken


def reply_of(step, tools):
    word, _, rest = step.partition(" ")
    if word == "say":
        return Reply(text=rest)
    if word == "fail":
        return Reply(text=HALF, fault=fault_of(rest))
    if word == "bash":
        return shell_call(rest, tools)
    if word == "agent":
        given = {"description": "Count files", "prompt": "DO " + rest.replace("/", "|")}
        return Reply(tool="Agent", arguments={**given, "subagent_type": "general-purpose"})
    if word == "call":
        name, _, arguments = rest.partition(" ")
        return Reply(tool=name, arguments=json.loads(arguments or "{}"))
    return Reply()


def shell_call(command, tools):
    name = next((shell for shell in SHELLS if shell in tools), "Bash")
    arguments = SHELLS[name](command.removesuffix("&").strip())
    if command.endswith("&"):
        arguments["run_in_background"] = True
    return Reply(tool=name, arguments=arguments)


class Script:
    """Counts the calls of the model, and remembers which `once` steps have failed."""

    def __init__(self):
        self.lock = threading.Lock()
        self.calls = 0
        self.failed = set()

    def next(self, conversation, tools):
        """Returns the number of this call, and its Reply."""
        script, spoken = steps_of(conversation)
        steps = [step.strip() for step in script.split(" | ")]
        step = steps[spoken] if spoken < len(steps) else "nothing"
        with self.lock:
            self.calls += 1
            number = self.calls
            if not tools:
                return number, Reply(text="A title")
            if step.startswith("once "):
                _, fault, step = step.split(" ", 2)
                if (script, spoken) not in self.failed:
                    self.failed.add((script, spoken))
                    step = f"fail {fault}"
        while step.startswith("wait "):
            _, seconds, step = step.split(" ", 2)
            time.sleep(float(seconds))
        return number, reply_of(step, tools)


def halves(text):
    """Splits a text in two, so that every stream has a middle."""
    return [piece for piece in (text[: len(text) // 2], text[len(text) // 2 :]) if piece]
