# SPDX-License-Identifier: MIT
"""Both services through a proxy with credentials: HTTP and Slack's websocket. The proxy learns the
host and port of a service, and nothing else; the credentials are in no log."""
import subprocess
import sys
import threading

import slackers
import people
from talk import SOURCE, Fake, Host, done, equal, ok, slack, telegram, until

CREDENTIALS = "ann:pr0xy-s3cret"
WHO = 1000


class Proxy:
    """tests/fake/proxyd.py: its port, and the lines that it prints."""

    def __init__(self):
        program = [sys.executable, SOURCE / "tests" / "fake" / "proxyd.py"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen(program, text=True, **pipes)
        self.port = int(self.process.stdout.readline().split()[1])
        self.lines = []
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def has(self, word, port):
        return f"{word} 127.0.0.1:{port} {CREDENTIALS}" in self.lines


def configured(proxy, scheme, no_proxy="[]"):
    return f"""proxy : {{ url = "{scheme}://127.0.0.1:{proxy.port}"; no_proxy = {no_proxy};
    credentials = "env:PROXY_CREDENTIALS"; }};"""


def ask(fake):
    """One question, answered."""
    made = fake.control("message", {"from": WHO, "text": "id=q0"})
    question = people.Question("telegram", str(WHO), str(made["message_id"]), "q0")
    asker = people.TelegramPeople(fake, 1)
    return until(lambda: people.outcomes(asker, question), "the answer")


def both_services(proxy):
    with Fake("telegram") as tg, Fake("slack") as sl:
        instances = telegram(tg, allow=[WHO]) + slack(sl, allow=slackers.ALLOWED)
        host = Host(instances, extra=configured(proxy, "http"))
        host.start(PROXY_CREDENTIALS=CREDENTIALS)
        ok(ask(tg), "Telegram through a proxy: a question is answered")
        sl.wait(sockets=1)
        person = slackers.Person(sl)
        ok(person.answer(person.ask()), "Slack through a proxy: a question is answered")
        ok(proxy.has("connect", tg.port), "Telegram's requests went through it")
        ok(proxy.has("connect", sl.port), "Slack's too")
        equal(host.stop(), 0, "the host exits with status 0")
        ok("pr0xy-s3cret" not in host.log(), "R23: the credentials are in no log")
        equal([x for x in proxy.lines if x.startswith("fault") or "bot" in x], [],
              "R23: the proxy learns hosts and ports, and nothing else")
        host.close()


def socks(proxy):
    with Fake("telegram") as tg:
        host = Host(telegram(tg, allow=[WHO]), extra=configured(proxy, "socks5h"))
        host.start(PROXY_CREDENTIALS=CREDENTIALS)
        ok(ask(tg), "through SOCKS: a question is answered")
        ok(proxy.has("socks", tg.port), "the requests went through it")
        host.close()


def exempt(proxy):
    with Fake("telegram") as tg:
        before = len(proxy.lines)
        host = Host(telegram(tg, allow=[WHO]), extra=configured(proxy, "http", '["127.0.0.1"]'))
        host.start(PROXY_CREDENTIALS=CREDENTIALS)
        ok(ask(tg), "a host in no_proxy: a question is answered")
        equal(len(proxy.lines), before, "without the proxy")
        host.close()


with Proxy() as served:
    both_services(served)
    socks(served)
    exempt(served)
done()
