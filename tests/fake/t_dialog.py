#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The agent that plays a recorded dialog accepts equivalent input, and no other."""

import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tap"))
from tap import done, equal, ok  # noqa: E402

FAKE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "dialog.py")
TMP = tempfile.TemporaryDirectory()


def play(recording, said, *words, wait=False):
    """Returns the status, stdout and the report. `wait`: stdin stays open."""
    path, report = (os.path.join(TMP.name, name) for name in ("dialog", "report"))
    with open(path, "w", encoding="utf-8") as f:
        f.write(recording)
    agent = subprocess.Popen([sys.executable, FAKE, path, "report=" + report, *words],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    if wait:
        agent.wait(timeout=30)
    out, _ = agent.communicate(said.encode(), timeout=30)
    with open(report, encoding="utf-8") as f:
        return agent.returncode, out.decode(), f.read()


def status(recording, said, *words, **how):
    return play(recording, said, *words, **how)[0]


RPC = ("> {\"id\":1,\"method\":\"open\",\"params\":{\"cwd\":\"/a\"}}\n"
       "< {\"id\":1,\"result\":{\"session\":\"s\"}}\n"
       "< {\"id\":0,\"method\":\"may\"}\n"
       "> {\"id\":0,\"result\":{\"ok\":true,\"n\":1}}\n"
       "< {\"method\":\"bye\"}\n")
OPEN, MAY = ('{"id":1,"method":"open","params":{"cwd":"/a"}}\n', '{"result":{"n":1.0,"ok":true},"id":0}\n')


def test_same():
    code, out, report = play(RPC, OPEN + MAY)
    equal(code, 0, "members in another order, and a number in another form, are accepted")
    equal(out.splitlines(), [line[2:] for line in RPC.splitlines() if line[0] == "<"], "the agent has written its "
                                                                                       "lines")
    equal(report.splitlines(), ["ok 1 - line 1", "ok 2 - line 2", "ok 3 - then its input ends",
                                "1..3"], "the report has one result per line")
    code, out, _ = play(RPC, OPEN.replace("1", '"x-1"', 1) + MAY)
    equal((code, json.loads(out.splitlines()[0])["id"]), (0, "x-1"), "the agent answers with the id that the host "
                                                                     "has used")
    equal(status(RPC, OPEN.replace("}}", '},"x":null}') + MAY), 0, "a member that is null is equal to a missing one")


def test_wrong():
    equal(status(RPC, OPEN + MAY.replace("true", "false")), 97, "another value is refused")
    equal(status(RPC, OPEN + MAY.replace("true", "1")), 97, "a number instead of true is refused")
    equal(status(RPC, OPEN + MAY.replace('"id":0', '"id":1')), 97, "a response to another request is refused")
    equal(status(RPC, OPEN + MAY.replace('"id":0', '"id":0,"x":1')), 97, "an additional member is refused")
    equal(status(RPC, OPEN), 97, "an input that ends too early is refused")
    equal(status(RPC, OPEN + MAY + "{}\n"), 97, "an additional line is refused")
    equal(status(RPC, OPEN + MAY.rstrip("\n")), 97, "a last line without a newline is refused")
    equal(status(RPC, OPEN + "no json\n"), 97, "a line that is not JSON is refused")
    code, _, report = play(RPC, OPEN.replace("/a", "/b") + MAY)
    ok(code == 97 and "not ok 1" in report and "ok 2 - line 2" in report, "the dialog continues after a wrong line", report)
    code, _, report = play(RPC, "", "deadline=0.2", wait=True)
    ok(code == 98 and "not ok 1 - in time" in report, "a missing line is reported", report)


def test_rules():
    equal(status(RPC, OPEN.replace("/a", "/b") + MAY, "ignore=params.cwd"), 0, "ignore")
    equal(status(RPC, OPEN.replace("/a", "/b") + MAY, "ignore=cwd"), 97, "ignore applies to one place only")
    equal(status(RPC, OPEN.replace("/a", "/b") + MAY, "ignore=*.cwd"), 0, "ignore with * applies to all places below")
    equal(status(RPC, OPEN, "skip=2"), 0, "skip")
    equal(status(RPC, OPEN + '{"id":0,"error":1}\n', 'swap=2,{"error":1,"id":0}'), 0, "swap")
    equal(status(RPC, OPEN + '{"x":1}\n' + MAY, 'also=2,{"x":1}'), 0, "also")
    equal(status(RPC, OPEN + MAY + '{"x":1}\n', 'more={"x":1}'), 0, "more")
    equal(status(RPC, OPEN + MAY, 'more={"x":1}'), 97, "a missing additional line is refused")
    code, out, _ = play(RPC, OPEN, "until=1")
    equal((code, len(out.splitlines())), (0, 2), "until")
    two = '> {"id":7,"result":1}\n> {"id":8,"result":2}\n'
    lines = two.replace("> ", "").splitlines(True)
    equal(status(two, lines[1] + lines[0]), 97, "another order is refused")
    equal(status(two, lines[1] + lines[0], "loose=1"), 0, "loose: the other order is accepted")
    equal(status(two, lines[0] + lines[1], "loose=1"), 0, "loose: the recorded order is accepted")
    equal(status(two, lines[0] * 2, "loose=1"), 97, "loose: both lines are required")
    equal(status(RPC, OPEN + MAY, "quit", wait=False), 0, "quit")


def test_json_form():
    steps = [{"ms": 1, "dir": "in", "line": "{\"a\":1}"}, {"ms": 2, "note": "x"},
             {"dir": "out", "line": "not json"}, {"dir": "in", "eof": True}, {"exit": 3}]
    code, out, report = play("\n".join(map(json.dumps, steps)) + "\n", '{"a":1}\n')
    equal((code, out), (3, "not json\n"), "a recording in lines of JSON, and its exit status")
    ok("ok 2 - line 2: the end" in report, "the end of the input is a step")
    equal(status("! exit 4\n", ""), 4, "the exit status of a recording in lines of text")
    with open(os.path.join(TMP.name, "more"), "w", encoding="utf-8") as more:
        more.write("1\n2\n3\n")
    _, out, _ = play("! play more 2\n< x\n! play more 1\n", "")
    equal(out, "1\n2\nx\n3\n", "lines of another file are played")
    equal(status("", "", "exit=5"), 5, "exit= sets the exit status")
    request = {"type": "control_request", "request_id": "r", "request": {}}
    answer = {"type": "control_response", "response": {"request_id": "r"}}
    steps = [{"dir": "in", "line": json.dumps(request)}, {"dir": "out", "line": json.dumps(answer)}]
    code, out, _ = play("\n".join(map(json.dumps, steps)) + "\n",
                        json.dumps({**request, "request_id": "mine"}) + "\n")
    equal(json.loads(out)["response"]["request_id"], "mine", "the response has the id of the control protocol that "
                                                             "the host has used")
    equal(code, 0, "the response is equivalent")


test_same()
test_wrong()
test_rules()
test_json_form()
done()
