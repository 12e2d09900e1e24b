#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a person sees: screens of 80 and 200 columns are compared with those in screens/. With
TURNCAST_REGOLDEN=1 these are written anew."""
import json
import os
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.environ["TURNCAST_SRCDIR"], "tests", "tap"))

from screen import HERE, Screen, agent, masked, replay  # noqa: E402
from tap import done, equal, ok  # noqa: E402

ANEW = os.environ.get("TURNCAST_REGOLDEN") == "1"
REPLAYED = ("markdown", "table", "todo", "diff", "subagent", "retries")
SIZES = (80, 200)


def compare(name, text):
    path = HERE / "screens" / f"{name}.txt"
    if ANEW:
        path.write_text(text)
    equal(text.split("\n"), path.read_text().split("\n") if path.exists() else None, name)


def line(**members):
    return "text=" + json.dumps(members)


INIT = line(type="system", subtype="init", session_id="s-1", model="m")
RESULT = line(type="result", subtype="success", is_error=False, result="It is done.",
              session_id="s-1", num_turns=1)


def asks(tool, **arguments):
    return line(type="control_request", request_id="r-1", request={
        "subtype": "can_use_tool", "tool_name": tool, "input": arguments})


COMMAND = asks("Bash", command="find . -name '*.o' -newer Makefile -exec rm -f {} + && make -j2 "
               "CFLAGS='-O2 -g' all check && echo 'all is built, and all tests have passed'",
               description="Build anew")
EDIT = asks("Edit", file_path="/srv/main.c", old_string="int main(void)\n{\n    return 1;\n}\n",
            new_string="int main(void)\n{\n    puts(\"\u202ehello\");\n    return 0;\n}\n")
CALL = line(type="assistant", session_id="s-1", message={
    "id": "m-1", "role": "assistant", "content": [
        {"type": "text", "text": "I build **all** of it."},
        {"type": "tool_use", "id": "t-1", "name": "Bash", "input": {"command": "make -j2 all"}}]})


def test_replayed(columns):
    for name in REPLAYED:
        with Screen(replay(name), columns, 60) as s:
            ok(s.end(), f"{name}: ends")
            compare(f"{name}.{columns}", s.text())


def test_styled():
    for name in ("markdown", "diff"):
        with Screen(replay(name), 80, 60) as s:
            s.end()
            compare(f"{name}.styled.80", s.text(styled=True).replace("\033", "␛"))


def test_approval(columns):
    for name, request in (("approval", COMMAND), ("approval-edit", EDIT)):
        with tempfile.TemporaryDirectory() as folder:
            command = agent(folder, INIT, request, "await=r-1", RESULT, "eof")
            with Screen(command + " >/dev/null", columns, LOGNAME="ann") as s:
                ok(s.see("[d]eny"), f"{name}: a prompt")
                compare(f"{name}.{columns}", masked(s.text()))
                s.keys("C-c")
                ok(s.end(), f"{name}: ends")


def test_live(columns):
    with tempfile.TemporaryDirectory() as folder:
        command = agent(folder, INIT, CALL, "sleep")
        with Screen(command + " >/dev/null", columns) as s:
            ok(s.see("Running a tool"), "a live line")
            compare(f"live.{columns}", masked(s.text()))
            s.keys("C-c")
            s.keys("C-c")
            ok(s.end(), "live: ends")


def test_german():
    """A replay, what is asked and how it is answered, and an error of the host."""
    with Screen(replay("todo", "-p cli,language=de"), 80, 60) as s:
        ok(s.end(), "German: a replay ends")
        compare("todo.german.80", s.text())
    german = 'language = "de";'
    with tempfile.TemporaryDirectory() as folder:
        command = agent(folder, INIT, COMMAND, "await=r-1", RESULT, "eof", options=german)
        with Screen(command + " >/dev/null", 80, LOGNAME="ann") as s:
            ok(s.see("[d] nein"), "German: a prompt")
            compare("approval.german.80", masked(s.text()))
            s.keys("C-c")
            ok(s.end(), "German: ends")
    with tempfile.TemporaryDirectory() as folder:
        with Screen(agent(folder, INIT, "exit=3", options=german) + " >/dev/null", 80) as s:
            ok(s.see("Fehler: Der Agent endete mit Status 3."), "German: an agent that fails")
            ok(s.see("agent main: The agent exited with status 3"), "and the log is in English")


def test_log_lines():
    """With -v, a line of the log takes the place of the live rows, and nothing of them stays beside it."""
    with tempfile.TemporaryDirectory() as folder:
        call = CALL.replace("make -j2 all", "make " + "all " * 45)
        command = agent(folder, INIT, call, "ms=500", "stderr=5", "sleep").replace(" run ", " run -v ")
        with Screen(command + " >/dev/null", 120) as s:
            ok(s.see("stderr: eeeee"), "log lines: what the agent writes to stderr")
            ok(s.see("Running a tool"), "log lines: live rows")
            rests = [line for line in s.text().split("\n") if re.search("stderr: eeeee.", line)]
            equal(rests, [], "log lines: no rest of a live row")
            s.keys("C-c")
            s.keys("C-c")
            ok(s.end(), "log lines: ends")


def main():
    for columns in SIZES:
        test_replayed(columns)
        test_approval(columns)
        test_live(columns)
    test_styled()
    test_german()
    test_log_lines()
    known = {path.name for path in pathlib.Path(HERE / "screens").iterdir()}
    wanted = {f"{n}.{c}.txt" for c in SIZES
              for n in (*REPLAYED, "approval", "approval-edit", "live")}
    wanted |= {f"{n}.styled.80.txt" for n in ("markdown", "diff")}
    wanted |= {f"{n}.german.80.txt" for n in ("todo", "approval")}
    equal(known, wanted, "no other screens")
    done()


if __name__ == "__main__":
    main()
