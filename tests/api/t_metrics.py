#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""GET /metrics: text that a strict reader of Prometheus' format accepts, and numbers that follow the state of
the host."""
import math
import os
import pathlib
import re
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from door import Door, done, equal, ok, until  # noqa: E402
from talk import Fake, telegram  # noqa: E402

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"'
SAMPLE = re.compile(rf"({NAME})(?:\{{((?:{LABEL},?)*)\}})? (\S+)")
SUFFIXES = {"histogram": ("_bucket", "_sum", "_count"), "counter": ("",), "gauge": ("",)}


def read(text):
    """{(name, labels): value}; raises an exception if the format is invalid."""
    assert text.endswith("\n"), "the last line ends"
    samples, seen, family, kind, helped = {}, set(), None, None, None
    for line in text.split("\n")[:-1]:
        if line.startswith("# HELP "):
            helped = line.split(" ", 3)[2]
            assert len(line.split(" ", 3)) == 4 and helped not in seen, f"twice, or no text: {line}"
            seen.add(helped)
        elif line.startswith("# TYPE "):
            _, _, family, kind = line.split(" ")
            assert family == helped and kind in SUFFIXES, line
            assert re.fullmatch(NAME, family) and family.startswith("turncast_"), line
            assert (kind == "counter") == family.endswith("_total"), f"its name: {line}"
        else:
            match = SAMPLE.fullmatch(line)
            assert match, f"no sample: {line}"
            name, labels, value = match[1], match[2] or "", float(match[5])
            assert name in {family + suffix for suffix in SUFFIXES[kind]}, f"another's: {line}"
            pairs = tuple(sorted(re.findall(LABEL, labels)))
            assert len({key for key, _ in pairs}) == len(pairs), f"a label twice: {line}"
            assert (name, pairs) not in samples, f"twice: {line}"
            assert kind == "gauge" or value >= 0, line
            samples[name, pairs] = value
    check_histograms(samples)
    return samples


def check_histograms(samples):
    rows = {}
    for (name, labels), value in samples.items():
        if name.endswith("_bucket"):
            bound = float(dict(labels)["le"].replace("+Inf", "inf"))
            rest = tuple(pair for pair in labels if pair[0] != "le")
            rows.setdefault((name.removesuffix("_bucket"), rest), []).append((bound, value))
    assert rows, "there is one"
    for (name, rest), buckets in rows.items():
        assert buckets == sorted(buckets) and buckets[-1][0] == math.inf, f"{name}: its bounds"
        counts = [value for _, value in buckets]
        assert counts == sorted(counts), f"{name}: counts fall"
        assert counts[-1] == samples[name + "_count", rest], f"{name}: its count"
        assert (name + "_sum", rest) in samples, f"{name}: its sum"


class Numbers:
    def __init__(self, host):
        until(host.has_started, "all instances have started")
        status, headers, text = host.ask("GET", "/metrics", key="ann")
        assert status == 200, text
        self.type = headers["content-type"]
        self.samples = read(text.decode())

    def get(self, name, **labels):
        return self.samples.get((f"turncast_{name}", tuple(sorted(labels.items()))))


def check_who(host):
    equal(host.status("GET", "/metrics"), 401, "a request without a key is refused")
    equal(host.status("GET", "/metrics", key="bob"), 403, "a key without the grant watch is refused")
    equal(host.status("GET", "/metrics", key="eve"), 200, "a key with the grant watch is accepted")
    equal(host.status("POST", "/metrics", key="ann", body={}), 405, "POST is refused")


def check_turns(host):
    before = Numbers(host)
    equal(before.type, "text/plain; version=0.0.4; charset=utf-8", "the media type")
    equal(before.get("turns_total", agent="main", outcome="final"), None, "no turn has ended")
    equal(before.get("events_total", kind="final"), 0, "no event was cast")
    good = host.begin("id=a tools=2")["id"]
    bad = host.begin("id=b fail")["id"]
    host.await_state(good, "final")
    host.await_state(bad, "error")
    until(lambda: Numbers(host).get("events_total", kind="done") == 2, "both turns have ended")
    equal(Numbers(host).get("turns_running"), 0, "no turn runs")
    until(lambda: Numbers(host).get("instance_delivered_total", instance="log") > 10, "all events are delivered")
    after = Numbers(host)
    equal(after.get("turns_total", agent="main", outcome="final"), 1, "a turn that ended well")
    equal(after.get("turns_total", agent="main", outcome="error"), 1, "the failed turn is counted")
    equal(after.get("events_total", kind="tool_call"), 2, "tool calls are counted")
    equal(after.get("instance_failed_total", instance="log"), 0, "no callback failed")
    took = after.get("instance_callback_seconds_count", instance="log")
    ok(took > 10, "callbacks are measured", took)
    total = after.get("instance_callback_seconds_sum", instance="log")
    ok(0 < total < 60, "callback times are in seconds", total)
    ok(after.get("http_requests_total", status="202") >= 2, "requests are counted")
    ok(after.get("http_requests_total", status="401") >= 1, "refused requests are counted")


def check_running(host):
    one = host.begin("id=h hang", conversation="c")["id"]
    two = host.begin("id=w", conversation="c")["id"]
    host.await_state(one, "running")
    stream = host.follow(f"/turns/{one}/events")
    stream.next()
    now = Numbers(host)
    equal((now.get("turns_running"), now.get("turns_waiting")), (1, 1), "one turn runs and one waits")
    equal(now.get("http_streams"), 1, "one client follows a turn")
    ok(now.get("http_connections") >= 1, "connections are counted")
    for turn in (two, one):
        host.ask("POST", f"/turns/{turn}/cancel", key="ann", body={})
    host.await_state(two, "cancelled")
    stream.rest()
    now = Numbers(host)
    equal(now.get("turns_total", agent="main", outcome="cancelled"), 2,
          "both cancelled turns are counted")
    equal(now.get("turns_total", agent="main", outcome="final"), 1, "no other turn is counted")
    equal(now.get("http_streams"), 0, "no client follows a turn")


def check_host(host):
    now = Numbers(host)
    version = [dict(labels) for name, labels in now.samples if name == "turncast_build_info"]
    ok(len(version) == 1 and version[0]["version"], "the version is exported", version)
    ok(until(lambda: Numbers(host).get("outbox_rows", state="queued") == 0, "an empty outbox"),
       "the outbox is empty after all deliveries")
    equal(now.get("dead_letters"), 0, "there is no dead letter")
    pages = now.get("process_resident_bytes")
    ok(1 << 20 < pages < 1 << 30, "the memory of the host", pages)
    ok(abs(now.get("process_open_files") - host.open_files()) < 8, "the open files of the host")
    ok(now.get("process_cpu_seconds_total") > 0, "the CPU time of the host")


def numbers_while_down(host):
    """Numbers of one moment, because the process may have returned in the next."""
    now = Numbers(host)
    return now if now.get("instance_up", instance="tg") == 0 else None


def check_death(host):
    """A connector process that is killed and restarted."""
    before = Numbers(host)
    equal((before.get("instance_up", instance="tg"), before.get("instance_up", instance="log")),
          (1, 1), "both run")
    equal(before.get("instance_deaths_total", instance="tg"), 0, "no process has died")
    rss = before.get("instance_rss_bytes", instance="tg")
    ok(100_000 < rss < 1 << 30, "the memory of the connector process", rss)
    equal(before.get("instance_rss_bytes", instance="log"), 0, "an instance in the host has no process memory")
    own = host.process.pid
    for pid in pathlib.Path(f"/proc/{own}/task/{own}/children").read_text().split():
        if b"\0tg\0" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
            os.kill(int(pid), signal.SIGKILL)
    down = until(lambda: numbers_while_down(host), "the process is down")
    equal(down.get("instance_rss_bytes", instance="tg"), 0, "a killed process has no memory")
    until(lambda: Numbers(host).get("instance_up", instance="tg") == 1, "the process is restarted")
    equal(Numbers(host).get("instance_deaths_total", instance="tg"), 1, "one death is counted")


def check_deliveries():
    """Deliveries of a connector, one of which is refused."""
    with Fake("telegram", scale=0.1) as fake:
        host = Door()
        text = host.config.read_text()
        instance = telegram(fake, allow=[111])
        host.config.write_text(text.replace("instances : { ", "instances : { " + instance, 1))
        with host:
            before = Numbers(host)
            equal(before.get("deliveries_total", instance="log", **{"class": "ok"}), 0,
                  "an instance without requests has none")
            fake.control("message", {"from": 111, "text": "id=one"})
            fake.wait(30, visible=1, text="Answer", **{"from": "bot"})
            fault = {"do": "error", "code": 400, "description": "Bad Request: chat not found"}
            fake.control("fault", {"match": {"method": "sendMessage"}, "times": 0, **fault})
            fake.control("fault", {"match": {"method": "sendRichMessage"}, "times": 0, **fault})
            fake.control("message", {"from": 111, "text": "id=two"})
            until(lambda: (Numbers(host).get("dead_letters") or 0) > 0, "one delivery is given up")
            now = Numbers(host)
            ok(now.get("deliveries_total", instance="tg", **{"class": "ok"}) >= 1, "successful deliveries are counted")
            ok(now.get("deliveries_total", instance="tg", **{"class": "rejected"}) >= 1,
               "refused deliveries are counted")
            ok(now.get("deliveries_total", instance="tg", **{"class": "dead"}) >= 1,
               "given up deliveries are counted")
            check_death(host)


check_deliveries()
with Door() as door:
    check_who(door)
    check_turns(door)
    check_running(door)
    check_host(door)
    equal(door.stop(), 0, "the host exits with status 0")
done()
