# SPDX-License-Identifier: MIT
"""Many events through the connector exec to a program that writes as much as it reads: with a window
of 64 both pipes are full again and again, and neither side may wait for the other for ever."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "api"))

from door import BUILD, done, equal, note, ok  # noqa: E402

EVENTS = 20000
TEXT_BYTES = 2000  # 64 events are more than a pipe takes (64 KiB), and less than the window in bytes
SECONDS = 300
PROGRAM = pathlib.Path(__file__).resolve().parent / "echo.py"
PYTHON = os.path.realpath(sys.executable)
OF_SESSION = {"parent_tool_use_id": None, "session_id": "8e1f5a60-0000-4000-8000-000000000001"}


def stream(event):
    return {"type": "stream_event", "event": event, **OF_SESSION}


def text(i):
    return f"piece {i} ".ljust(TEXT_BYTES, "-")


def recording():
    """One turn of so many pieces of narration."""
    yield {"type": "system", "subtype": "init", "tools": [], "model": "claude-test", **OF_SESSION}
    yield stream({"type": "message_start", "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-test", "content": []}})
    yield stream({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})
    for i in range(EVENTS):
        yield stream({"type": "content_block_delta", "index": 0,
                      "delta": {"type": "text_delta", "text": text(i)}})
    yield stream({"type": "content_block_stop", "index": 0})
    yield stream({"type": "message_stop"})
    yield {"type": "result", "subtype": "success", "is_error": False, "num_turns": 1, "result": "Done.",
           **OF_SESSION}


def main():
    with tempfile.TemporaryDirectory(prefix="turncast-window.") as folder:
        place = pathlib.Path(folder)
        sink, conf, turn = place / "sink", place / "turncast.conf", place / "turn.jsonl"
        with turn.open("w") as file:
            file.writelines(json.dumps(line) + "\n" for line in recording())
        keys = {"plugin": "exec", "command": [PYTHON, "-B", str(PROGRAM), str(sink)],
                "read": [sys.prefix, sys.base_prefix, str(PROGRAM.parent)], "paths": [folder],
                "cpu_percent": 100}
        text_of = " ".join(f"{key} = {json.dumps(value)};" for key, value in keys.items())
        conf.write_text(f"plugins : {{ instances : {{ sink : {{ {text_of} }}; }}; }};\n")
        conf.chmod(0o600)
        began = time.monotonic()
        try:
            run = subprocess.run(
                [f"{BUILD}/turncast", "replay", "-d", "claude", "-c", str(conf), str(turn)], check=False,
                stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS)
        except subprocess.TimeoutExpired as stuck:
            ok(False, f"{EVENTS} events within {SECONDS} s", stuck.stderr)
            done()
        note(f"{EVENTS} events in {time.monotonic() - began:.1f} s")
        equal((run.returncode, run.stderr), (0, ""), f"{EVENTS} events and back: nobody waits for ever")
        told = sink.read_text().splitlines()
        equal(len(told), EVENTS + 1, "every event has arrived")
        equal(told == [f"piece {i} " for i in range(EVENTS)] + ["Done."], True, "in order, each once")
    done()


main()
