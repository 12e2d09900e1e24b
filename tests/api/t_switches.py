#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A visibility change that cannot be stored is an error for its client in every API, and its message is not
passed to an agent."""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from ag_ui_run import Run, run_input  # noqa: E402
from door import Door, done, equal, ok  # noqa: E402

CHAT = "/v1/chat/completions"


def refused(answer, what):
    status, headers, text = answer
    error = json.loads(text)["error"]
    equal((status, error["code"]), (500, "visibility_not_stored"), what)
    ok("main" in error["message"] and "visibility.db" in error["message"],
       f"{what}: says of which agent, and why", error["message"])
    equal(headers["x-should-retry"], "false", f"{what}: the error says not to retry")


def test_refused(host):
    for text in ("/show-tools", "/show-tools id=never"):
        refused(host.ask("POST", "/turns", key="ann", body={"prompt": text}), f"POST /turns: {text}")
        for streams in (False, True):
            body = {"model": "main", "stream": streams,
                    "messages": [{"role": "user", "content": text}]}
            refused(host.ask("POST", CHAT, key="ann", body=body), f"a completion: {text}")
        told = Run(host, run_input(text)).rest()
        equal([(e["type"], e.get("code")) for e in told[-1:]],
              [("RUN_ERROR", "visibility_not_stored")], f"a run: {text}")
    equal(host.turns(), [], "no turn has begun")
    status, _, text = host.ask("POST", "/turns", key="ann", body={"prompt": "/stream-status"})
    equal((status, json.loads(text)["visibility"]["show_tools"]), (200, False),
          "the visibility is unchanged")


host = Door()
(host.state / "visibility.db").symlink_to("/dev/null")
with host:
    test_refused(host)
    equal(host.stop(), 0, "the host exits with status 0")
done()
