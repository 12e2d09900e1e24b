# SPDX-License-Identifier: MIT
"""Whether connectors reach their services: /readyz, and turncast status."""
import json
import socket
import urllib.error
import urllib.request

from people import TelegramPeople
from talk import Fake, Host, SLACK_TOKENS, TELEGRAM_TOKEN, done, equal, ok, slack, telegram, until

HTTP = 'http : { listen = "127.0.0.1:0"; };'


def status(host):
    return json.loads(host.run("status", "--json")[1])


def ready(host):
    """Status and body of /readyz."""
    url = f"http://127.0.0.1:{status(host)['port']}/readyz"
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def reasons(host):
    return {r.get("instance"): r["reason"] for r in ready(host)[1].get("reasons", [])}


def instance(host, name):
    return next(i for i in status(host)["instances"] if i["name"] == name)


def closed_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def all_is_well():
    with Fake("telegram") as tg, Fake("slack") as sl:
        crowd = TelegramPeople(tg, 1)
        both = telegram(tg, allow=crowd.ids) + slack(sl)
        with Host(both + "cli : { };", extra=HTTP) as host:
            until(host.has_started, "the host has started")
            until(lambda: ready(host)[0] == 200, "all connectors have identified themselves")
            equal(ready(host), (200, {"status": "ready"}), "the host is ready")
            found = instance(host, "tg")
            ok(0 <= found["last_success_ms"] < 600000, "the last success is shown", found)
            text = host.run("status")[1]
            ok("service: last success " in text, "the table has the last success", text)
            equal(host.stop(), 0, "the host exits with status 0")


def each_reason():
    with Fake("telegram") as silent, Fake("slack") as sl, Fake("telegram") as tg:
        bad = slack(sl).replace(SLACK_TOKENS[0], "xoxb-bad-token-of-this-test").replace("sl :", "bad :")
        bot = telegram(tg).replace(TELEGRAM_TOKEN, "1:bad-token-of-this-test").replace("tg :", "bot :")
        away = telegram(tg).replace(tg.url, f"http://127.0.0.1:{closed_port()}").replace("tg :", "away :")
        lost = 'lost : { plugin = "jsonl"; path = "/no/such/folder/x"; };'
        off = 'off : { plugin = "telegram"; token = "1:a"; enabled = false; };'
        quiet = telegram(silent).replace("tg :", "quiet :")
        silent.control("fault", {"match": {}, "do": "hold", "done": False, "hold": 600, "times": 99})
        with Host(bad + bot + away + lost + off + quiet, extra=HTTP) as host:
            until(host.has_started, "the host has started")
            wanted = {"bad": "refused", "bot": "refused", "away": "unreachable", "lost": "disabled",
                      "quiet": "not_identified"}
            until(lambda: reasons(host) == wanted, "each instance has its reason")
            equal((ready(host)[0], reasons(host)), (503, wanted), "the host is not ready")
            ok("bad-token" not in json.dumps(ready(host)[1]), "no secret is shown")
            found = instance(host, "away")
            ok(found["last_failure_ms"] >= 0 and "connect" in found["last_failure"], "the failure has its reason", found)
            ok("last_success_ms" not in found, "an instance without success has no time of it", found)
            text = host.run("status")[1]
            ok("service: no success yet, last failure " in text, "the table has the last failure", text)
            ok("refuses the credentials (invalid_auth), for " in text, "the table has the reason of the service", text)
            ok("bad-token" not in text, "the table has no secret")
            host.stop()


all_is_well()
each_reason()
done()
