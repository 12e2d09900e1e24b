#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How turncast-remote exits by itself, for each kind of agent: after a turn, and when a turn is cancelled. It
runs without a host here, because a host ends it after a time in any case."""
import json
import os
import pathlib
import subprocess
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from remotes import TOKEN, done, equal, natsd, ok, until  # noqa: E402
from awaken_service import Awaken  # noqa: E402
from door import BUILD  # noqa: E402
from ethos_service import Ethos  # noqa: E402
from reasonix_service import Reasonix  # noqa: E402

SECONDS = 60


class Remote:
    """turncast-remote, whose standard input stays open."""

    def __init__(self, kind, secret="", **settings):
        words = [f"{k}={v}" for k, v in settings.items()]
        self.process = subprocess.Popen([BUILD / "turncast-remote", kind, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, bufsize=1, env={**os.environ, "TURNCAST_REMOTE_SECRET": secret})
        self.lines = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line)

    def tell(self, **command):
        self.process.stdin.write(json.dumps(command) + "\n")

    def shows(self, text):
        return until(lambda: any(text in line for line in list(self.lines)), f"it writes {text}", SECONDS)

    def ends(self, what):
        try:
            equal(self.process.wait(SECONDS), 0, what)
        except subprocess.TimeoutExpired:
            ok(False, f"{what} (it still runs)")
            self.process.kill()
            self.process.wait()
        self.process.stdin.close()
        equal(self.process.stderr.read(), "", "turncast-remote wrote no error")


def service(agent, fake):
    return Remote("sse", f"Authorization: Bearer {TOKEN}\n", agent=agent, url=f"http://127.0.0.1:{fake.port}/",
                  outage_ms=1000, remote_agent="planner")


def turns(agent, fake, cancels):
    """cancels: the number of cancellations that the service received."""
    remote = service(agent, fake)
    remote.tell(type="prompt", text="hello")
    remote.ends(f"{agent}: it ends behind its turn")
    equal(cancels(), 0, f"{agent}: an ended turn is not cancelled")
    remote = service(agent, fake)
    remote.tell(type="prompt", text="hang")
    remote.shows("Working")
    remote.tell(type="cancel")
    remote.ends(f"{agent}: it ends when its turn is cancelled")
    equal(cancels(), 1, f"{agent}: the service receives one cancellation")
    remote = service(agent, fake)
    remote.tell(type="cancel")
    remote.ends(f"{agent}: it ends when it is cancelled before its turn")
    equal(cancels(), 1, f"{agent}: a cancellation before the turn is not sent")
    equal(fake.violations, [], f"{agent}: no request violates a rule of the service")


def stopped(fake):
    """A denial that stops the turn, and a cancellation after it."""
    before = len([c for c in fake.calls if c[1].endswith("/cancel")])
    remote = service("awaken", fake)
    remote.tell(type="prompt", text="approve hang")
    remote.shows('"remote":"request"')
    request = next(r for r in map(json.loads, remote.lines) if r.get("remote") == "request")
    remote.tell(type="answer", id=request["id"], decision="deny", interrupt=True)
    remote.tell(type="cancel")
    remote.ends("awaken: it ends when a denial stops its turn")
    equal(len([c for c in fake.calls if c[1].endswith("/cancel")]), before + 1, "awaken: the run is cancelled once")


def unanswered(fake):
    """The service reports that the run is cancelled, but does not answer the cancellation."""
    remote = service("awaken", fake)
    remote.tell(type="prompt", text="hang slow")
    remote.shows("Working")
    remote.tell(type="cancel")
    remote.ends("awaken: it ends although a request is not answered")
    fake.gate.set()


def left(fake):
    """The host has exited, and the run continues although it is cancelled."""
    remote = service("awaken", fake)
    remote.tell(type="prompt", text="hang deaf")
    remote.shows("Working")
    remote.process.stdin.close()
    remote.ends("awaken: it ends when nobody writes to it any more")
    run = fake.active[f"run_{fake.runs}"]
    equal(len(fake.called(f"/v1/runs/{run.id}/cancel")), 1, "awaken: the run is cancelled before")


def cancelled_early(fake):
    """A new session of Ethos, whose id is in the reply to the message."""
    fake.gate = threading.Event()
    before = len(fake.called("/rpc/chat/abort"))
    remote = service("ethos", fake)
    remote.tell(type="prompt", text="slow hang")
    until(lambda: any("slow" in body["json"]["text"] for body in fake.called("/rpc/chat/send")), "the message is sent", SECONDS)
    remote.tell(type="cancel")
    # What follows is read behind the cancellation, so this waits until that is known.
    remote.tell(type="answer", id="ap_0", decision="allow")
    until(lambda: fake.called("/rpc/tools/approve"), "the output after the cancellation is read", SECONDS)
    fake.gate.set()
    remote.ends("ethos: it ends when the message is answered")
    equal(len(fake.called("/rpc/chat/abort")), before + 1, "ethos: the new session is aborted")


def through_nats():
    if not natsd.available():
        return
    with natsd.NatsServer() as server:
        gateway = server.client()
        gateway.subscribe("test.runs")
        for text in ("hello", "hang"):
            remote = Remote("nats", url=server.url(), subject="test.runs")
            remote.tell(type="prompt", text=text)
            m = gateway.next(SECONDS, "test.runs")
            run = json.loads(m.data)["request"]
            same = {"threadId": run["threadId"], "runId": run["runId"]}
            gateway.publish(m.reply, json.dumps({"type": "RUN_STARTED", **same}))
            if text == "hang":
                remote.shows("RUN_STARTED")
                remote.tell(type="cancel")
                remote.ends("nats: it ends when its turn is cancelled")
            else:
                gateway.publish(m.reply, json.dumps({"type": "RUN_FINISHED", **same}))
                remote.ends("nats: it ends behind its turn")
        gateway.close()


def main():
    awaken, ethos, reasonix = Awaken(TOKEN), Ethos(TOKEN), Reasonix(TOKEN)
    turns("awaken", awaken, lambda: len([c for c in awaken.calls if c[1].endswith("/cancel")]))
    turns("ethos", ethos, lambda: len(ethos.called("/rpc/chat/abort")))
    turns("reasonix", reasonix, lambda: len(reasonix.called("/cancel")))
    stopped(awaken)
    unanswered(awaken)
    left(awaken)
    cancelled_early(ethos)
    for fake in (awaken, ethos, reasonix):
        fake.close()
    through_nats()
    done()


main()
