# SPDX-License-Identifier: MIT
"""Helpers of tests with agents that are services: a host with such an agent, a relay that can be cut, and a
user who follows turns and answers their requests."""
import json
import pathlib
import socket
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "api"))

from door import Door, done, equal, ok, until  # noqa: E402,F401
from bus import natsd  # noqa: E402,F401

TOKEN = "remote-0123456789abcdef"


class Relay:
    """Forwards connections to a port until it is cut."""

    def __init__(self, port):
        self.target = port
        self.open = set()
        self.listener = None
        self.port = 0
        self.restore()

    def restore(self):
        self.listener = socket.create_server(("127.0.0.1", self.port), reuse_port=False)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, args=(self.listener,), daemon=True).start()

    def cut(self):
        """Ends all connections and refuses new ones."""
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for s in list(self.open):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def _accept(self, listener):
        while True:
            try:
                near, _ = listener.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                near.close()
                continue
            for a, b in ((near, far), (far, near)):
                self.open.add(a)
                threading.Thread(target=self._pump, args=(a, b), daemon=True).start()

    def _pump(self, source, target):
        try:
            while data := source.recv(65536):
                target.sendall(data)
        except OSError:
            pass
        for s in (source, target):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self.open.discard(source)


def service(name, kind, port, more="", keys=""):
    """The agent `name` of a configuration; `more`: keys of its transport, `keys`: of the agent."""
    return (f'{name} : {{ transport : {{ kind = "sse"; agent = "{kind}"; url = "http://127.0.0.1:{port}/";'
            f' token = "{TOKEN}"; {more} }}; exit_grace_s = 3; term_grace_s = 3; {keys} }};\n')


def through_nats(name, url, keys="", **transport):
    """The agent `name` of a configuration, which is run through NATS."""
    more = " ".join(f"{k} = {json.dumps(v)};" for k, v in transport.items())
    return (f'{name} : {{ transport : {{ kind = "nats"; url = ["{url}"]; {more} }};'
            f' exit_grace_s = 3; term_grace_s = 3; {keys} }};\n')


class Near(Door):
    """The host whose agents are services."""

    def told(self, turn_id):
        """The events of a turn so far, as written by the instance `log`."""
        lines = self.events.read_text().splitlines() if self.events.exists() else []
        return [e for e in map(json.loads, lines) if e["correlation_id"] == turn_id]

    def types(self, turn_id):
        return [e["type"] for e in self.told(turn_id)]

    def ended(self, turn_id, state="final"):
        """Waits for the end of the turn, checks its state, and returns the turn."""
        until(lambda: "done" in self.types(turn_id), "the end of the turn is shown")
        turn = self.turn(turn_id)
        equal(turn["state"], state, f"the turn ends as {state}: {turn.get('error', '')}")
        return turn

    def request(self, turn_id):
        """The first open request of the turn that can be answered."""
        def look():
            every = json.loads(self.ask("GET", "/requests", key="root")[2])["requests"]
            return [q for q in every if q["turn"] == turn_id and q.get("choices")]
        found = until(look, "the agent asks")
        return found[0] if found else {"id": "none", "kind": ""}

    def answer(self, turn_id, request, **body):
        return self.status("POST", f"/turns/{turn_id}/requests/{request['id']}", key="root", body=body)


def near(agents, **more):
    from door import KEYS, LOG, http_group
    KEYS.setdefault("root", ("root-0123456789abcdef", ["submit", "cancel", "watch", "answer"]))
    return Near(agents=agents, http=http_group(), extra=LOG + "conversations : { drain_s = 0; };", **more)
