#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The terminal view in windows of 20 to 300 columns, of which the size changes, whose host is stopped
and goes on; and where it is no window: pipes, TERM=dumb, NO_COLOR."""
import os
import pathlib
import re
import sys
import tempfile
import unicodedata

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.environ["TURNCAST_SRCDIR"], "tests", "tap"))

from screen import SPINNER, Screen, agent, replay  # noqa: E402
from t_screens import CALL, COMMAND, INIT, RESULT, line  # noqa: E402
from tap import done, equal, ok  # noqa: E402

LIVE = "Running a tool"
LONG = line(type="stream_event", session_id="s-1", parent_tool_use_id=None, event={
    "type": "content_block_delta", "index": 0, "delta": {
        "type": "text_delta", "text": "The first paragraph is long enough to be wrapped in a window "
        "of forty columns.\n\nThe second **one** is not written to its end yet, so that it"}})
MESSAGE = line(type="stream_event", session_id="s-1", parent_tool_use_id=None, event={
    "type": "message_start", "message": {"id": "m-1", "role": "assistant", "content": []}})
BLOCK = line(type="stream_event", session_id="s-1", parent_tool_use_id=None, event={
    "type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})


def width(text):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
               for c in text)


def has_one_live_line(text):
    return len(re.findall(f"[{SPINNER}]", text)) == 1


def stop(s, what):
    s.keys("C-c")
    s.keys("C-c")
    ok(s.end(), f"{what}: ends")
    ok(not re.search(f"[{SPINNER}]", s.text()), f"{what}: no live line is left", s.text())


def test_widths():
    for columns in (20, 30, 300):
        for name in ("markdown", "table", "todo", "diff", "subagent"):
            with Screen(replay(name), columns, 100) as s:
                ok(s.end(), f"{name} in {columns} columns: ends")
                text = s.text()
                ok(all(width(row) <= columns for row in text.split("\n")), "no wider row", text)
                ok("Complete" in s.text(wrapped=False), "complete", text)
                if name == "table" and columns == 300:
                    ok("─┼─" in text, "with its columns", text)


def test_narrow_live():
    for columns in (20, 300):
        with tempfile.TemporaryDirectory() as folder:
            with Screen(agent(folder, INIT, CALL, "sleep") + " >/dev/null", columns) as s:
                ok(s.see("▶ Bash"), f"{columns} columns: the call")
                ok(s.wait(lambda: has_one_live_line(s.text())), "one live line", s.text())
                stop(s, f"{columns} columns")


def test_resize():
    with tempfile.TemporaryDirectory() as folder:
        command = agent(folder, INIT, MESSAGE, BLOCK, LONG, "sleep") + " >/dev/null"
        with Screen(command, 120, 20) as s:
            ok(s.see("so that it"), "text that is being written", s.text())
            for columns in (40, 20, 90, 200, 60):
                s.resize(columns, 20)
                ok(s.wait(lambda: has_one_live_line(s.text()) and
                          s.text(wrapped=False).count("so that it") == 1),
                   f"resized to {columns} columns: one live line, the text once", s.text())
            equal(s.text().count("first paragraph"), 1, "what is written for good stays once")
            stop(s, "resized")


def test_stopped():
    with tempfile.TemporaryDirectory() as folder:
        command = agent(folder, INIT, CALL, "sleep")
        with Screen("PS1='ready: ' sh -i", 80, 30) as s:
            ok(s.see("ready:"), "a shell")
            s.keys(command + " >/dev/null", "Enter")
            ok(s.see(LIVE), "a turn runs")
            s.keys("C-z")
            ok(s.wait(lambda: "Stopped" in s.text()), "ctrl-Z stops it", s.text())
            s.keys("echo aside", "Enter")
            ok(s.wait(lambda: "\naside" in s.text()), "the shell has the terminal", s.text())
            before = s.text().split("aside\n")[0]
            s.keys("fg", "Enter")
            ok(s.wait(lambda: re.search(f"[{SPINNER}] {LIVE}", s.text().split("\naside\n")[-1])),
               "fg shows the live line again", s.text())
            ok(s.text().startswith(before), "nothing above is touched", s.text())
            s.keys("C-c")
            s.keys("C-c")
            ok(s.see("Complete: cancelled"), "and it ends", s.text())
            s.keys("exit", "Enter")
            ok(s.end(), "with the shell")


def raw(environment, name="markdown", columns=80, redirect=""):
    """What is written to a terminal (script records it), or elsewhere."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out"
        command = replay(name)
        words = f"sh -c '{command} {redirect} {out}'" if redirect else \
            f"script -qec '{command}' {out} >/dev/null"
        with Screen(words, columns, **environment) as s:
            s.end()
            return out.read_text()


def test_no_color():
    text = raw({"NO_COLOR": "1"})
    ok(not re.search("\033\\[[0-9;]*m", text), "NO_COLOR: no style", text)
    ok("# Disk report" in text and "`/var/log`" in text, "the marks of Markdown instead", text)
    ok("\033]8;;https://example.org/du" in text, "links are no colour", text)
    with tempfile.TemporaryDirectory() as folder:
        with Screen(agent(folder, INIT, CALL, "sleep") + " >/dev/null", 80, NO_COLOR="1") as s:
            ok(s.see(LIVE), "nor is the live line")
            stop(s, "NO_COLOR")


def test_dumb():
    text = raw({"TERM": "dumb"})
    ok("\033" not in text, "TERM=dumb: no sequence", text)
    ok("the manual (https://example.org/du)" in text, "addresses of links", text)
    ok("▶ Bash" in raw({"TERM": "dumb"}, "todo"), "a line when a call begins")
    ok(not re.search(f"[{SPINNER}]", text), "no live line", text)


def test_multiplexer():
    text = raw({"TERM": "screen-256color"})
    ok("\033]8" not in text and "the manual (https://example.org/du)" in " ".join(text.split()),
       "screen shows no links: addresses", text)


def test_pipe():
    text = raw({}, "retries", redirect="2>")
    equal(text.split("\n"), [
        "  [progress] Starting: Show the screen",
        "  [progress] Retry: API error 401 (authentication_failed); retry 1 of 2 in 0.5 s",
        "  [progress] Retry: API error 401 (authentication_failed); retry 2 of 2 in 1.1 s",
        "  [progress] Error: Invalid API key: it was revoked yesterday. Create another one, and put "
        "it where the configuration reads it from. (attempts: 3)",
        "  [progress] Last retry: API error 401 (authentication_failed); retry 2 of 2 in 1.1 s",
        ""], "a pipe: lines, with retries and the number of attempts")


def test_pace():
    """The live line is drawn at most 10 times a second."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out"
        command = agent(folder, INIT, CALL, "ms=1500", RESULT)
        with Screen(f'script -qec "{command}" {out} >/dev/null', 80) as s:
            ok(s.end(), "a turn of 1.5 seconds")
        drawn = len(re.findall(f"[{SPINNER}]", out.read_text()))
        seconds = 1.5 + 60  # another machine may take longer
        ok(2 <= drawn <= seconds * 10, "drawn again and again, not too often", drawn)


def test_prompt_alone():
    with tempfile.TemporaryDirectory() as folder:
        command = agent(folder, INIT, COMMAND, "await=r-1", RESULT, "eof") + " >/dev/null"
        with Screen(command, 80) as s:
            ok(s.see("[d]eny"), "a prompt")
            ok(not re.search(f"[{SPINNER}]", s.text()), "has no live line", s.text())
            stop(s, "a prompt")


def test_answer():
    """run prints the answer once: the connector's, or on standard output where that is alone."""
    result = line(type="result", subtype="success", is_error=False, session_id="s-1", num_turns=1,
                  result="It **is** `done`.")
    with tempfile.TemporaryDirectory() as folder:
        command = agent(folder, INIT, result)
        for more, wanted in (("", 1), ("2>/dev/null", 1), ("-o text", 2), (">/dev/null", 1)):
            with Screen(command.replace("run", f"run {more}", 1) if more.startswith("-")
                        else f"{command} {more}") as s:
                s.end()
                equal(s.text().count("It is done."), wanted, f"the answer, rendered: {more}")
                ok("{" not in s.text(), "no JSON", s.text())
        with Screen(command.replace("run", "run --json", 1)) as s:
            s.end()
            ok('{"result":"It **is** `done`."' in s.text(), "unless it is asked for", s.text())
        with Screen(f"{command} 2>/dev/null | cat") as s:
            s.end()
            ok(s.text().startswith('{"result":'), "a pipe gets JSON", s.text())


def main():
    for test in (test_answer, test_widths, test_narrow_live, test_resize, test_stopped, test_no_color, test_dumb,
                 test_multiplexer, test_pipe, test_pace, test_prompt_alone):
        test()
    done()


main()
