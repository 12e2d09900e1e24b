# SPDX-License-Identifier: MIT
"""What several hosts cost: the time by which events are later on another host, beside plain messages
through the same NATS server at the same time; and what a host without a bus pays for the code."""
import contextlib
import json
import os
import pathlib
import re
import selectors
import statistics
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent
SECONDS = {20: 30, 100: 10, 1000: 5}  # at so many lines in a second: enough events for a 99th percentile
TIMES = 3  # what the lag may be, as a multiple of plain messages


def tests_of_hosts(build):
    os.environ["TURNCAST_SRCDIR"] = str(SOURCE)
    os.environ["TURNCAST_BUILDDIR"] = str(build)
    sys.path[:0] = [str(SOURCE / "tests" / "api")]
    import bus
    import lag

    return bus, lag


def read_lines(streams):
    """When each line with an id came on each stream: [{id: seconds}]."""
    found = [{} for _ in streams]
    rest = [b"" for _ in streams]
    with selectors.DefaultSelector() as selector:
        for number, stream in enumerate(streams):
            selector.register(stream.socket, selectors.EVENT_READ, number)
        while selector.get_map():
            for key, _ in selector.select():
                data = os.read(key.fd, 1 << 20)
                now = time.monotonic()
                *lines, rest[key.data] = (rest[key.data] + data).split(b"\n")
                for line in lines:
                    if line.startswith(b"id: "):
                        found[key.data].setdefault(int(line[4:]), now)
                if not data or any(b'"type":"done"' in line for line in lines):
                    selector.unregister(key.fileobj)
    return found


def delays(lab, server, rate, seconds, size):
    """Milliseconds by which each event of a turn is later on another host, sorted; and what bench/pubsub measured
    meanwhile, of messages of that size."""
    bus, fleet_lag = tests_of_hosts(lab.build)
    ticker = json.dumps([str(lab.build / "bench" / "ticker"), str(seconds), str(rate)])
    with contextlib.ExitStack() as stack:
        agents = f"ticker : {{ command = {ticker}; exit_grace_s = 1; }};"
        hosts = [stack.enter_context(bus.Member(f"r{rate}-{n}", server.url(), agents=agents)) for n in (1, 2)]
        for host in hosts:
            host.await_bus()
        probe = fleet_lag.Probe(server, rate, size, 1)
        turn = hosts[0].begin("tick", agent="ticker")["id"]
        hosts[1].knows(turn)
        here, there = read_lines([host.follow(f"/turns/{turn}/events") for host in hosts])
        plain = probe.end()
    both = sorted((there[i] - here[i]) * 1e3 for i in here if i in there)
    if len(both) < rate * seconds * 0.9:
        raise subprocess.CalledProcessError(1, f"bench/hosts.py: {len(both)} events on both hosts")
    return both, plain


def at(values, share):
    return values[min(len(values) - 1, int(len(values) * share))]


def lags(lab, report):
    bus, fleet_lag = tests_of_hosts(lab.build)
    rows = []
    with bus.natsd.NatsServer() as server:
        delays(lab, server, 20, 1, 300)
        size = round(fleet_lag.stored(server)[2]) - fleet_lag.OVERHEAD
        for rate, seconds in SECONDS.items():
            taken, plain = delays(lab, server, rate, lab.choose(seconds, 5), size)
            p50, p99 = at(taken, 0.5), at(taken, 0.99)
            rows.append([f"{rate:,} lines/s, plain messages", *plain])
            rows.append([f"{rate:,} lines/s, events on another host", p50, p99])
            report.goal(f"p99 of an event on another host, {rate:,} lines/s, over plain messages", p99 / plain[1], TIMES, unit="×")
    report.section(
        "Events on another host",
        "ms by which an event of one turn reaches a client of another host later than a client of the turn's "
        "own host. Events that come within 1 ms after a batch wait for the next one. For comparison: a C program that "
        "publishes and subscribes with the same library (libnats) through the same NATS server, at the same time and "
        "pace, messages as large as a batch of one event: from before the call until the subscriber's callback.",
        ["", "p50", "p99"], rows,
    )


# ---- a host without a bus


def serve_alone(build, folder):
    """The command and environment of a host with one connector, cli of that build, in a new folder."""
    (folder / "state").mkdir(mode=0o700)
    (folder / "plugins").mkdir()
    (folder / "plugins" / "cli.so").symlink_to(build / "plugins" / ".libs" / "cli.so")
    config = folder / "turncast.conf"
    config.write_text(f'''agents : {{ main : {{ command = ["cat"]; }}; }}; state_directory = "{folder}/state";
http : {{ listen = "127.0.0.1:0"; }}; log : {{ level = "info"; }};
''')
    config.chmod(0o600)
    own = {"HOME": str(folder), "TURNCAST_PLUGIN_PATH": str(folder / "plugins"), "TURNCAST_SHIM": str(build / "turncast-shim")}
    return [str(build / "turncast"), "serve", "-c", str(config)], {**os.environ, **own}


@contextlib.contextmanager
def served(build, *tracer):
    """A host that serves: its folder, its PID, and milliseconds from before its start."""
    with tempfile.TemporaryDirectory(prefix="turncast-bench.") as name:
        command, environment = serve_alone(build, pathlib.Path(name))
        began = time.monotonic()
        traced = [word.format(name) for word in tracer]
        with subprocess.Popen([*traced, *command], stderr=subprocess.PIPE, text=True, env=environment) as process:
            next(line for line in process.stderr if line.endswith(" serving\n"))
            took = (time.monotonic() - began) * 1e3
            time.sleep(0.5)
            children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            pid = int(children[0]) if tracer else process.pid
            yield pathlib.Path(name), pid, took
            os.kill(pid, 15)


def look(build):
    with served(build) as (_, pid, took):
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        rss, threads = (int(re.search(rf"{key}:\s+(\d+)", status)[1]) for key in ("VmRSS", "Threads"))
        return {"ms": took, "rss": rss, "threads": threads, "files": len(os.listdir(f"/proc/{pid}/fd"))}


def count_calls(build):
    """System calls from the start of a host to its end."""
    with served(build, "strace", "-f", "-o", "{}/calls") as (folder, _, _):
        told = folder / "calls"
        while not told.exists():
            time.sleep(0.02)
        lines = told.read_text().count("\n")
    return lines


def alone(lab, report):
    """Also of the build in the folder TURNCAST_BENCH_BASE, if that is set: of an earlier commit."""
    builds = {"this build": lab.build}
    if base := os.environ.get("TURNCAST_BENCH_BASE"):
        builds["build to compare with"] = pathlib.Path(base).resolve()
    rows = []
    for name, build in builds.items():
        taken = [look(build) for _ in range(lab.choose(15, 5))]
        middle = {key: statistics.median(one[key] for one in taken) for key in taken[0]}
        calls = statistics.median(count_calls(build) for _ in range(3))
        rows.append([name, min(one["ms"] for one in taken), middle["ms"], middle["rss"], middle["threads"], middle["files"], calls])
    report.section(
        "A host without a bus",
        "`turncast serve` with one connector and no group bus: ms from before it is started until it serves (the "
        "least, the median), then its memory, threads and descriptors, and its system calls until then by strace.",
        ["", "ms, least", "ms", "RSS KiB", "threads", "descriptors", "system calls"], rows,
    )
