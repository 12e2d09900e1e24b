# SPDX-License-Identifier: MIT
"""An AG-UI client that reads the events of one run."""
import http.client
import json

from door import secret


def said(text, role="user", **more):
    return {"id": f"m-{abs(hash(str(text)))}", "role": role, "content": text, **more}


def run_input(*messages, thread="t-1", run="r-1", **more):
    return {
        "threadId": thread,
        "runId": run,
        "state": {},
        "messages": [said(m) if isinstance(m, str) else m for m in messages],
        "tools": [],
        "context": [],
        "forwardedProps": {},
        **more,
    }


class Run:
    """A client of one run."""

    def __init__(self, host, body, key="ann", path="/ag-ui"):
        self.connection = http.client.HTTPConnection("127.0.0.1", host.port, timeout=30)
        headers = {
            "Content-Type": "application/json",
            "Accept": "text/event-stream",
            "Authorization": f"Bearer {secret(key)}",
        }
        self.connection.request("POST", path, json.dumps(body), headers)
        self.answer = self.connection.getresponse()
        self.status = self.answer.status

    def next(self):
        """The next event; None: the stream has ended."""
        while line := self.answer.readline():
            if line.startswith(b"data: "):
                return json.loads(line[6:])
        return None

    def rest(self):
        return list(iter(self.next, None))

    def await_type(self, kind):
        while (event := self.next()) and event["type"] != kind:
            pass
        return event

    def leave(self):
        self.answer.close()
        self.connection.close()


def text_of(events):
    return "".join(e["delta"] for e in events if e["type"] == "TEXT_MESSAGE_CONTENT")
