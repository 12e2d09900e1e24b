# SPDX-License-Identifier: MIT
"""The time by which events are later on other hosts, beside plain messages of a C program with the same library through
the same NATS server at the same time: at the pace and of the size of the batches that the hosts store, to as many
subscribers.

The figures are reported and not judged, since other programs on the machine change them."""
import contextlib
import http.client
import re
import socket
import subprocess
import threading
import time

from talk import BUILD, LONG, note, ok

METRIC = "turncast_bus_lag_seconds"
SAMPLE_S = 10 if LONG else 1  # in which the pace of the hosts is counted
OVERHEAD = 22  # bytes of each message that only the store of the server has
LEAST_S = 60 if LONG else 1  # that events are measured for
AT_MOST_S = 100000
GOAL = 3


class Viewers:
    """People with a page of another host: each follows one running turn after another there, on both other hosts."""

    COUNT = 2

    def __init__(self, hosts):
        self.hosts = hosts
        self.is_over = threading.Event()
        self.seen = set()
        self.open = set()  # streams that a page reads
        self.threads = [threading.Thread(target=self._look, daemon=True) for _ in range(self.COUNT)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        # A page is closed at any time; a turn whose host was killed may never end for it.
        for stream in list(self.open):
            with contextlib.suppress(OSError):
                stream.socket.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join()

    def _look(self):
        while not self.is_over.wait(0.05):  # so often a page asks
            with contextlib.suppress(OSError, ValueError, http.client.HTTPException):
                running = [t["id"] for t in self.hosts[0].turns() if t["state"] == "running" and t["id"] not in self.seen]
                if running:
                    self.seen.add(running[0])
                    self._follow(running[0])

    def _follow(self, turn):
        streams = [host.follow(f"/turns/{turn}/events") for host in self.hosts]
        self.open.update(streams)
        for stream in streams:
            if not self.is_over.is_set():
                stream.answer.read()
            self.open.discard(stream)
            stream.close()


def stored(server):
    """When, how many batches of events the server has been given, and the bytes of one."""
    client = server.client()
    state = client.api("STREAM.INFO.TC_EV")["state"]
    client.close()
    return time.monotonic(), state["last_seq"], state["bytes"] / max(state["messages"], 1)


class Probe:
    """bench/pubsub beside the hosts."""

    def __init__(self, server, rate, size, subscribers):
        command = ["setpriv", "--pdeathsig", "KILL", BUILD / "bench/pubsub", server.port, rate, AT_MOST_S, size, subscribers]
        self.process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()  # it publishes

    def end(self):
        """p50 and p99 in milliseconds; None: it did not run to its end."""
        self.process.terminate()
        try:
            text = self.process.communicate(timeout=120)[0]
        except subprocess.TimeoutExpired:
            self.process.kill()
            text = self.process.communicate()[0]
        found = re.match(r"pubsub +([0-9.]+) +([0-9.]+)", text)
        return [float(us) / 1000 for us in found.groups()] if found else None


def at(buckets, share):
    """The value, in milliseconds, within which that share of them is; between bounds as if they were spread evenly.
    buckets: (bound, count up to it), ascending; what is beyond the last bound counts as that."""
    total = buckets[-1][1]
    low, before = 0.0, 0
    for bound, count in buckets[:-1]:
        if count >= share * total:
            return 1000 * (low + (bound - low) * (share * total - before) / (count - before))
        low, before = bound, count
    return 1000 * low


def grown(before, after):
    return [(bound, count - was) for (bound, count), (_, was) in zip(after, before)]


def note_lags(hosts, before, plain):
    worst = 0
    for host in hosts:
        buckets = grown(before[host], host.histogram(METRIC))
        if buckets[-1][1]:
            p50, p99 = at(buckets, 0.5), at(buckets, 0.99)
            worst = max(worst, p99)
            note(f"{host.name}: {buckets[-1][1]} events of other hosts came within p50 {p50:.2f} ms, p99 {p99:.2f} ms")
    if plain:
        note(f"plain messages meanwhile: p50 {plain[0]:.2f} ms, p99 {plain[1]:.2f} ms")
    if plain and worst:
        note(f"p99 of events is {worst / plain[1]:.1f} times that of plain messages (goal: {GOAL})")


@contextlib.contextmanager
def measured(fleet, subscribers):
    """While this lasts. subscribers: hosts that a batch goes to."""
    server = fleet.servers[0]
    began, had, _ = stored(server)
    fleet.talk(SAMPLE_S)
    now, has, size = stored(server)
    rate, size = max(round((has - had) / (now - began)), 1), max(round(size) - OVERHEAD, 21)
    before = {host: host.histogram(METRIC) for host in fleet.hosts}
    probe = Probe(server, rate, size, subscribers)
    try:
        fleet.talk(LEAST_S)
        yield
    finally:
        plain = probe.end()
    ok(plain, "plain messages were measured beside the hosts")
    end, has_now, _ = stored(server)
    note(f"pace of plain messages: {rate}/s of {size} bytes, subscribers: {subscribers};"
         f" the hosts stored {(has_now - has) / (end - now):.0f} batches/s in {end - now:.0f} s")
    note_lags(fleet.hosts, before, plain)
