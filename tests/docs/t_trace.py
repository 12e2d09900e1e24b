#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""turncast-otlp(7) shows the trace of a recorded turn with sub-agents as a receiver gets it: its spans,
their parents and their tokens. All spans together have the tokens of the turn."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ["TURNCAST_SRCDIR"])
for folder in ("tap", "fake"):
    sys.path.insert(0, str(SOURCE / "tests" / folder))
from otlpd import Receiver, spans_of  # noqa: E402
from tap import done, equal, ok  # noqa: E402

TURNCAST = pathlib.Path(os.environ["TURNCAST_BUILDDIR"]) / "turncast"
RECORDING = SOURCE / "tests/dialects/claude/2.1-subagent-nested.jsonl"
TOKENS = ("input_tokens", "cache_read.input_tokens", "cache_creation.input_tokens", "output_tokens")
WIDTH = 46


def received():
    """Returns the spans of the recording as the receiver got them, and as jsonl wrote them to a file."""
    receiver = Receiver.start()
    with tempfile.TemporaryDirectory() as name:
        config = pathlib.Path(name) / "turncast.conf"
        file = f'file : {{ plugin = "jsonl"; format = "otlp"; path = "{name}/traces"; }};'
        config.write_text(f'plugins : {{ instances : {{ otlp : {{ endpoint = "{receiver.url}"; }}; {file} }}; }};')
        config.chmod(0o600)
        env = {**os.environ, "HOME": name, "XDG_STATE_HOME": name}
        subprocess.run([TURNCAST, "replay", "-c", config, RECORDING], env=env, check=True, timeout=60)
        lines = (pathlib.Path(name) / "traces").read_text().splitlines()
    receiver.stop()
    return receiver.spans(), [span for line in lines for span in spans_of(json.loads(line))]


def ids(spans):
    """Returns the spans without times and the resource."""
    return sorted((s["traceId"], s["spanId"], s["parentSpanId"], s["name"]) for s in spans)


def tokens(span, prefix="gen_ai.usage."):
    values = {a["key"]: int(a["value"]["intValue"]) for a in span["attributes"] if "intValue" in a["value"]}
    return [values.get(prefix + name, 0) for name in TOKENS]


def row(text, counts):
    return f"{text:{WIDTH}}" + "".join(f"{count:8}" for count in counts)


def tree(spans, parent="", depth=0):
    """Returns a line for each span, after its parent, in the order of the start times."""
    lines = []
    for span in sorted((s for s in spans if s["parentSpanId"] == parent), key=lambda s: int(s["startTimeUnixNano"])):
        text = "  " * depth + span["name"]
        lines.append(row(text, tokens(span)) if any(tokens(span)) else text)
        lines += tree(spans, span["spanId"], depth + 1)
    return lines


def in_manual():
    page = (SOURCE / "plugins" / "otlp" / "turncast-otlp.7").read_text()
    block = page.split('.\\" trace\n.Bd -literal\n')[1].split("\n.Ed")[0]
    return block.split("\n")


def main():
    spans, written = received()
    root = next(span for span in spans if not span["parentSpanId"])
    sums = [sum(counts) for counts in zip(*map(tokens, spans))]
    head = f"{'':{WIDTH}}" + "".join(f"{word:>8}" for word in ("input", "read", "written", "output"))
    lines = [head, *tree(spans), row("all spans", sums)]
    equal(sums, tokens(root, "turncast.usage."), "all spans together have the tokens of the turn")
    ok(ids(spans) == ids(written), "jsonl writes the same trace", (spans, written))
    equal(len(lines), len(spans) + 2, "each span is below its parent")
    ok(lines == in_manual(), "the manual page shows this trace", "\n".join(lines))
    done()


main()
