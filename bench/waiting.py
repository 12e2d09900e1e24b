# SPDX-License-Identifier: MIT
"""What an agent's process that waits saves and takes: published agents with a scripted model."""
import json
import os
import pathlib
import sys
import time

from lab import medians

SOURCE = pathlib.Path(__file__).resolve().parent.parent
AGENTS = {  # the file in share/agents: the program, and whether tools/check --long installs it
    "claude": ("claude", False),
    "codex-app": ("codex", False),
    "opencode-acp": ("opencode", True),
}


def tests_of_agents(build):
    """The module that they share, and those that know how an agent is configured."""
    os.environ.setdefault("TURNCAST_SRCDIR", str(SOURCE))
    os.environ["TURNCAST_BUILDDIR"] = str(build)
    sys.path[:0] = [str(SOURCE / "tests" / "agents"), str(SOURCE / "tests" / "agents" / "more")]
    import agents
    import t_codex
    import t_more
    import t_waiting

    return agents, t_codex, t_more, t_waiting


def configured(build, name, port):
    """A stage for `with`, or None: the agent is not installed."""
    agents, t_codex, t_more, t_waiting = tests_of_agents(build)
    command, more = AGENTS[name]
    program = agents.program(command, more)
    if not program:
        return None
    url = f"http://127.0.0.1:{port}"
    variables = {
        "claude": [*t_waiting.CLAUDE, f"ANTHROPIC_BASE_URL={url}"],
        "codex-app": ["SCRIPTED_KEY=fake"],
        "opencode-acp": t_more.variables_of("opencode", url),
    }[name]
    stage = agents.Stage(name, program, variables)
    stage.variables.append(f"HOME={stage.home}")
    if command == "codex":
        t_codex.configure(stage, port)
    else:
        t_more.configure(stage, command, url)
    return stage


def take(host, text):
    """Milliseconds from the message to the turn's first event, and to its outcome."""
    began = time.monotonic()
    turn = host.begin(f"DO say {text}", conversation="bench")["id"]
    events = host.follow(f"/turns/{turn}/events")
    took = {}
    while (item := events.next()) is not None:
        kind = json.loads(item[2])["type"]
        now = (time.monotonic() - began) * 1000
        took.setdefault("first", now)
        if kind in ("final", "error"):
            took.setdefault(kind, now)
    events.close()
    return {"first": took["first"], "final": took["final"]}


def memory_mib(pids):
    """Their share of what there is (PSS)."""
    total = 0
    for pid in pids:
        for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            total += int(line.split()[1]) if line.startswith("Pss:") else 0
    return total / 1024


def messages(host, stage, rounds):
    """Of a session that there is: the first message, which begins it, does not count."""
    take(host, "the first")
    taken = medians([take(host, f"number {i}") for i in range(rounds)])
    waiting = stage.pids() & stage.pids("TERM=dumb")
    return taken, memory_mib(waiting)


def measure(build, name, port, rounds):
    """A row of the table, or None."""
    stage = configured(build, name, port)
    if not stage:
        return None
    with stage:
        with stage.serve() as host:
            warm, mib = messages(host, stage, rounds)
        with stage.changed("keep_alive_s = 600", "keep_alive_s = 0"), stage.serve() as host:
            cold, _ = messages(host, stage, rounds)
    return [name, cold["first"], warm["first"], cold["final"], warm["final"], mib]


def waiting(lab, report):
    """Nothing where no agent is installed."""
    agents = tests_of_agents(lab.build)[0]
    rounds = 2 if lab.quick else 5
    with agents.Model() as model:
        rows = [row for name in AGENTS if (row := measure(lab.build, name, model.port, rounds))]
    if not rows:
        return
    report.section(
        "Agents that wait",
        "Milliseconds from a message of a session that there is to the first event of its turn and "
        "to its outcome, over HTTP, with a scripted model: where the process of the agent has ended "
        "and the session is resumed (cold), and where it waits (warm, `keep_alive_s`). Medians of "
        f"{rounds}. Memory is that of the waiting processes of one conversation (PSS). Claude Code, "
        "Codex and OpenCode as tests/agents installs them.",
        ["", "first event, cold", "warm", "outcome, cold", "warm", "MiB"],
        rows,
    )
