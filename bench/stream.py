# SPDX-License-Identifier: MIT
"""What a stream costs: to read it, to translate it, and to cast it to connectors."""
import pathlib
import subprocess

from lab import interleave

KINDS = ("mix", "big", "unicode")
SINKS = (1, 4, 16)
PLACES = ("thread", "process")
# A validating reader bound by memory was measured at 2,920 MB/s where jansson made 68.
VALIDATING_FLOOR = 2920 / 68


LABELS = {
    "split": "memchr, lines only",
    "reader": "turncast, JSON only",
    "translate": "turncast, events",
    "node": "Node JSON.parse",
    "jansson": "jansson json_loadb",
    "jq": "jq -c .",
}


def facts(lab, path):
    """Lines of a stream, and events that somebody sees of them."""
    told = lab.rows([lab.program("bench/translate"), "--rounds", 1, path, "split", "translate"])
    _, lines, events = told["stream"]
    return lines, events


def translate(lab, path, contender):
    told = lab.rows(lab.on_core([lab.program("bench/translate"), "--rounds", 1, path, contender]))
    return told[contender][1]


def node(lab, path):
    said = lab.run(lab.on_core(["node", lab.source / "parse.mjs", path]))
    lines, cpu = map(float, said.split())
    return cpu * 1e9 / lines


def jq(lab, path, lines):
    return lab.cost(lab.on_core(["jq", "-c", ".", path])).cpu * 1e9 / lines


def read_one_kind(lab, kind):
    """ns of CPU a line by contender, and bytes a line. The slowest reads less of it."""
    path, little = lab.corpus(kind, lab.choose(100, 20)), lab.corpus(kind, lab.choose(20, 5))
    lines, _ = facts(lab, path)
    little_lines, _ = facts(lab, little)
    contenders = {
        name: lambda name=name: translate(lab, path, name)
        for name in ("split", "reader", "translate", "jansson")
    }
    contenders["node"] = lambda: node(lab, path)
    contenders["jq"] = lambda: jq(lab, little, little_lines)
    return interleave(lab.choose(7, 3), contenders), path.stat().st_size / lines


def reading(lab, report):
    ns, length, rows = {}, {}, []
    for kind in KINDS:
        ns[kind], length[kind] = read_one_kind(lab, kind)
    for name, label in LABELS.items():
        row = [label, ns["mix"][name]]
        for kind in KINDS:
            row += [length[kind] / ns[kind][name] * 1e3, ns[kind]["jansson"] / ns[kind][name]]
        rows.append(row)
    report.section(
        "Reading a stream",
        "CPU time of one core, line by line, the whole file in memory. × is how many times as fast "
        "as jansson. memchr only finds the ends of lines. \"JSON only\" reads and checks all of the JSON; "
        "\"events\" also makes events of it, guards them, and decides which instances see them.",
        ["", "mix ns/line", "MB/s", "×", "big MB/s", "×", "unicode MB/s", "×"],
        rows,
    )
    report.plot("reading", [(row[0], row[2]) for row in rows[1:]])
    judge_reading(report, ns)


def judge_reading(report, ns):
    """Streams that are not the mix may be half as fast."""
    for kind in KINDS:
        share = 1 if kind == "mix" else 0.5
        for name, least in (("jansson", 25), ("node", 15)):
            report.goal(
                f"{kind}: translate, as fast as {LABELS[name]}",
                ns[kind][name] / ns[kind]["translate"], least * share, least=True,
            )
    report.goal(
        "mix: translate, 0.6 × the validating floor (43 × jansson)",
        ns["mix"]["jansson"] / ns["mix"]["translate"] / VALIDATING_FLOOR, 0.6,
        unit="× floor", least=True,
    )


def write_conf(lab, sinks, place):
    path = lab.scratch / f"{sinks}-{place}.conf"
    instances = " ".join(
        f'null{i} : {{ plugin = "null"; isolation = "{place}"; }};' for i in range(sinks)
    )
    path.write_text(f"plugins : {{ instances : {{ {instances} }}; }};\n")
    return path


def replay(lab, stream, sinks, place, producer=None):
    """Of the host and all its connectors, the stream coming through a pipe."""
    command = [
        lab.program("turncast"), "replay", "--dialect", "claude",
        "-c", write_conf(lab, sinks, place), "-",
    ]
    return lab.cost_of_reading(producer or ["cat", stream], lab.on_core(command))


def casting(lab, report):
    stream = lab.corpus("mix", lab.choose(400, 100))  # starts are measured by themselves
    lines, events = facts(lab, stream)
    taken = interleave(
        lab.choose(5, 2),
        {
            (sinks, place): lambda s=sinks, p=place: replay(lab, stream, s, p)._asdict()
            for place in PLACES
            for sinks in SINKS
        } | {"jansson": lambda: {"ns": translate(lab, stream, "jansson")}},
    )
    jansson_ns = taken.pop("jansson")["ns"]
    size = stream.stat().st_size
    rows = []
    for (sinks, place), cost in taken.items():
        ns = cost["cpu"] * 1e9 / lines
        rows.append([
            f"{sinks} null sink{'s' * (sinks > 1)}, {place}", size / 1e6 / cost["cpu"], ns,
            jansson_ns / ns, cost["cpu"] * 1e9 / events, lines / cost["wall"],
            cost["rss"] / 1024,
        ])
    report.section(
        "A whole replay",
        "`turncast replay` of the mix from a pipe: CPU time of the host, its connectors and their "
        "processes, all on one core. × is against jansson's bare parse of the same lines.",
        ["", "MB/s", "ns/line", "×", "ns/event", "lines/s of wall", "MiB at the peak"],
        rows,
    )
    for place in PLACES:
        report.plot(f"casting {place}", [
            (f"{sinks} sink{'s' * (sinks > 1)}", taken[sinks, place]["cpu"] * 1e6 / lines)
            for sinks in SINKS
        ])
    one = taken[1, "thread"]["cpu"]
    report.goal(
        "replay, 1 sink in a thread, as fast as jansson's bare parse",
        jansson_ns / (one * 1e9 / lines), 10, least=True,
    )
    report.goal("16 sinks instead of one, CPU", taken[16, "thread"]["cpu"] / one, 2.5)
    for sinks in SINKS:
        report.goal(
            f"{sinks} sink{'s' * (sinks > 1)} in processes instead of threads, CPU",
            taken[sinks, "process"]["cpu"] / taken[sinks, "thread"]["cpu"], 2,
        )


def doubling(lab, report):
    """Lines and sinks; of turns, many in turns.py tells."""
    half, whole = lab.choose((50, 100), (20, 40))
    rounds = lab.choose(7, 3)
    taken = interleave(rounds, {
        mb: lambda mb=mb: replay(lab, lab.corpus("mix", mb), 1, "thread").cpu
        for mb in (half, whole)
    })
    report.twice(f"lines: {half} → {whole} MB", taken[half], taken[whole])
    stream, counts = lab.corpus("mix", half), (1, 2, 4, 8, 16)
    taken = interleave(
        rounds, {n: lambda n=n: replay(lab, stream, n, "thread").cpu for n in counts}
    )
    for n in counts[1:]:
        report.twice(f"sinks: {n // 2} → {n}", taken[n // 2], taken[n])


def long_stream(lab, report):
    sizes = lab.choose((100, 1000), (100, 300))
    mib = interleave(lab.choose(3, 1), {
        mb: lambda mb=mb: replay(
            lab, None, 1, "thread", producer=[lab.program("bench/corpus"), "mix", mb]
        ).rss / 1024
        for mb in sizes
    })
    report.section(
        "Memory over a long stream",
        "The largest resident size of a replay with one sink.",
        ["", "MiB"],
        [[f"{mb:,} MB", size] for mb, size in mib.items()],
    )
    little, much = sizes
    report.goal(f"memory that {much:,} MB need beyond {little} MB", mib[much] - mib[little], 1,
                unit="MiB")


def redis_cost(lab, protocol, socket, pid):
    def server():
        return int(pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9

    before = server()
    with protocol.open() as file:
        client = lab.cost(["redis-cli", "-s", socket, "--pipe"], stdin=file)
    return {"cpu": client.cpu + server() - before, "wall": client.wall}


def broker(lab, report):
    """The same events appended to a stream of Redis, for who would cast through it."""
    protocol, events = write_protocol(lab)
    socket = lab.scratch / "redis.socket"
    with subprocess.Popen(
        ["redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly",
         "no", "--dir", lab.scratch],
        stdout=subprocess.DEVNULL,
    ) as server:
        try:
            lab.wait_for(socket)
            stream = lab.corpus("mix", lab.choose(20, 5))
            taken = interleave(lab.choose(5, 2), {
                "turncast": lambda: replay(lab, stream, 1, "thread")._asdict(),
                "redis": lambda: redis_cost(lab, protocol, socket, server.pid),
            })
        finally:
            server.terminate()
    rows = [
        [label, taken[key]["cpu"] * 1e9 / events, events / taken[key]["wall"]]
        for key, label in (
            ("turncast", "turncast replay: lines read, translated and cast to 1 sink"),
            ("redis", "Redis: XADD of the same events, pipelined, read by nobody"),
        )
    ]
    report.section(
        "Beside a broker", "CPU of all processes an event.", ["", "ns/event", "events/s of wall"],
        rows,
    )


def write_protocol(lab):
    """What redis-cli --pipe takes, of the events that the connector jsonl sees."""
    stream = lab.corpus("mix", lab.choose(20, 5))
    said = lab.run([lab.program("turncast"), "replay", "-d", "claude", "-p", "jsonl", stream])
    lines = said.encode().splitlines()
    path = lab.scratch / "xadd"
    with path.open("wb") as file:
        for line in lines:
            words = [b"XADD", b"events", b"MAXLEN", b"~", b"10000", b"*", b"event", line]
            file.write(b"*%d\r\n" % len(words))
            file.writelines(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)
    return path, len(lines)
