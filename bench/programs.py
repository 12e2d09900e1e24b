# SPDX-License-Identifier: MIT
"""What a connector costs that is a program, beside one that is a plugin: all of its events, each
written to a file and acknowledged on its own."""
import json
import os
import sys

from lab import interleave

SESSION = '"parent_tool_use_id":null,"session_id":"8e1f5a60-0000-4000-8000-000000000001"'
BEGIN = """{"type":"system","subtype":"init","tools":[],"model":"claude-bench",%s}
{"type":"stream_event","event":{"type":"message_start","message":{"id":"msg_1","type":"message",\
"role":"assistant","model":"claude-bench","content":[]}},%s}
{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":\
{"type":"text","text":""}},%s}
"""
DELTA = """{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":\
{"type":"text_delta","text":"and %d words "}},%s}
"""
END = """{"type":"stream_event","event":{"type":"content_block_stop","index":0},%s}
{"type":"stream_event","event":{"type":"message_stop"},%s}
{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"Done.",%s}
"""


def write_stream(lab, events):
    """One turn that says so many pieces."""
    path = lab.scratch / "narration.jsonl"
    with path.open("w") as file:
        file.write(BEGIN % ((SESSION,) * 3))
        file.writelines(DELTA % (i, SESSION) for i in range(events))
        file.write(END % ((SESSION,) * 3))
    return path


def plugin(lab, place):
    return {"plugin": "jsonl", "isolation": place, "path": str(lab.scratch / "sink")}


def program(lab, command, window):
    return {"plugin": "exec", "command": [*map(str, command), str(lab.scratch / "sink"), str(window)],
            "read": [sys.prefix, sys.base_prefix, str(lab.source)]}


def replay(lab, stream, events, instance):
    """CPU time of everybody and time; every event must have arrived, in order."""
    sink, conf = lab.scratch / "sink", lab.scratch / "programs.conf"
    sink.unlink(missing_ok=True)
    keys = {**instance, "paths": [str(lab.scratch)], "cpu_percent": 100}
    text = " ".join(f"{key} = {json.dumps(value)};" for key, value in keys.items())
    conf.write_text(f"plugins : {{ instances : {{ sink : {{ {text} }}; }}; }};\n")
    conf.chmod(0o600)
    cost = lab.cost([lab.program("turncast"), "replay", "-d", "claude", "-c", conf, stream])
    with sink.open() as file:
        told = [m.get("event", m) for m in map(json.loads, file)]
    said = [m["payload"]["text"] for m in told if m["type"] == "narration"]
    if len(said) != events or said != [f"and {i} words " for i in range(events)]:
        raise RuntimeError(f"{len(said)} of {events} events have arrived")
    return {"cpu": cost.cpu, "wall": cost.wall}


def programs(lab, report):
    events = lab.choose(200000, 40000)
    stream = write_stream(lab, events)
    c, python = [lab.program("bench/relay")], [os.path.realpath(sys.executable), "-B",
                                               lab.source / "relay.py"]
    contenders = {
        "jsonl, thread": plugin(lab, "thread"),
        "jsonl, process": plugin(lab, "process"),
        "exec, C, window 64": program(lab, c, 64),
        "exec, C, window 512": program(lab, c, 512),
        "exec, Python, window 64": program(lab, python, 64),
        "exec, Python, window 512": program(lab, python, 512),
    }
    taken = interleave(lab.choose(3, 1), {
        name: lambda i=i: replay(lab, stream, events, i) for name, i in contenders.items()
    })
    base = taken["jsonl, process"]
    report.section(
        "Connectors that are programs",
        f"One turn of {events:,} pieces of narration, replayed to one connector that writes each to "
        "a file. The programs acknowledge each event on its own; all have arrived, in order. × is "
        "the time beside that of the plugin jsonl in a process. CPU is that of all processes.",
        ["", "events/s", "×", "CPU µs/event"],
        [[name, events / cost["wall"], cost["wall"] / base["wall"], cost["cpu"] * 1e6 / events]
         for name, cost in taken.items()],
    )
