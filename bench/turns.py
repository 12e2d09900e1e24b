# SPDX-License-Identifier: MIT
"""What turns cost: how late a line is, and many agents at once."""
import resource

from lab import interleave

LATENCY = ("p50", "p99", "p99.9")
ROWS = ("cpu-line", "cpu-turn", "begun", "at-once", "rss-turn")


def serve(lab, turns, rate, seconds, process=False):
    command = [
        lab.program("bench/serve"), "--turns", turns, "--rate", rate, "--seconds", seconds,
        "--clients", 0,
    ]
    told = lab.rows(command + ["--process"] * process)
    return {
        **dict(zip(LATENCY, told["latency-settled"])),
        **{name: told[name][0] for name in ROWS},
        "cpu": told["cpu-all"][0],
    }


def floor(lab, kind, rate, seconds, cores=()):
    told = lab.rows([lab.program("bench/floor"), kind, rate, seconds, *cores])
    return dict(zip(LATENCY, told["floor"]))


def latency_at(lab, rate, seconds, rounds):
    return interleave(rounds, {
        "floor": lambda: floor(lab, "eventfd", rate, seconds),
        "thread": lambda: serve(lab, 1, rate, seconds),
        "process": lambda: serve(lab, 1, rate, seconds, process=True),
        "apart": lambda: floor(lab, "eventfd", rate, seconds, lab.cores),
        "pipe": lambda: floor(lab, "pipe", rate, seconds),
        "hops": lambda: floor(lab, "hops", rate, seconds),
    })


LABELS = {
    "pipe": "floor: pipe, one way",
    "floor": "floor: eventfd, there and back",
    "apart": "floor: the same, a core each",
    "hops": "floor: the hops of a line, nothing done",
    "thread": "turncast, connector in a thread",
    "process": "turncast, connector in a process",
}


def idle_turn(lab, report, rate, seconds, rounds):
    """One turn and nothing else; rows of the table."""
    pace = f"{rate:,} lines/s"
    taken = latency_at(lab, rate, seconds, rounds)
    for floor_name, where in (("floor", "eventfd floor"), ("hops", "same hops")):
        for p, bound in (("p50", 2), ("p99", 5)):
            report.goal(
                f"{p} of an idle turn, {pace}, over the {where}",
                taken["thread"][p] / taken[floor_name][p], bound,
            )
    report.plot(f"latency {rate}", [
        (label, taken[name]["p50"], taken[name]["p99"]) for name, label in LABELS.items()
    ])
    return [[f"{pace}, {label}", *(taken[name][p] for p in LATENCY)]
            for name, label in LABELS.items()]


def busy_turns(lab, report):
    taken = interleave(lab.choose(3, 1), {
        place: lambda place=place: serve(lab, 101, 100, lab.choose(5, 3), place == "process")
        for place in ("thread", "process")
    })
    for place, times in taken.items():
        report.goal(f"p99 beside 100 busy turns, {place}", times["p99"] / 1e3, 5, unit="ms")
    return [[f"101 turns of 100 lines/s, connector in a {place}", *(times[p] for p in LATENCY)]
            for place, times in taken.items()]


def latency(lab, report):
    rows = [
        *idle_turn(lab, report, 1000, lab.choose(3, 2), lab.choose(7, 3)),
        *idle_turn(lab, report, 20, lab.choose(10, 4), lab.choose(3, 1)),
        *busy_turns(lab, report),
    ]
    report.section(
        "From the agent's write to the connector's callback",
        "µs under `turncast serve`; the agents run on the same cores, none pinned. The floors are "
        "paced alike: one thread wakes another and is woken by it; and by the hops of a line, from "
        "another process through a pipe to a thread that polls, reads, and wakes another.",
        ["", *LATENCY],
        rows,
    )


def listen(lab, agents, rate, seconds):
    """As serve, of a loop that does nothing but read."""
    told = lab.rows([lab.program("bench/listen"), agents, rate, seconds])
    return {"cpu-line": told["cpu-line"][0]}


def as_many_as_may(agents):
    """Each takes four descriptors of the host, which needs some of its own."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    return agents if most == resource.RLIM_INFINITY else min(agents, (most - 200) // 4)


def many(lab, report):
    """Agents, lines a second of each, and for how long: the last are to run at once."""
    cases = lab.choose(
        [(500, 20, 10), (1000, 20, 10), (as_many_as_may(5000), 4, 80)],
        [(100, 20, 4), (200, 20, 4), (1000, 20, 8)],
    )
    taken, floors = {}, {}
    for n, rate, seconds in cases:
        both = interleave(lab.choose(3, 1) if n <= 1000 else 1, {
            "serve": lambda: serve(lab, n, rate, seconds),
            "floor": lambda: listen(lab, n, rate, min(seconds, 10)),
        })
        taken[n], floors[n] = both["serve"], both["floor"]["cpu-line"]
    report.section(
        "Many agents at once",
        "Each says its lines under `turncast serve`. The CPU is the host's and the connector's; an "
        "agent is two processes beside, on the same cores. A line is measured while all run, apart "
        "from what it takes to begin and end a turn. The floor is a loop that only reads as many "
        "agents.",
        ["agents", "lines/s of each", "at once", "s until all had begun", "begin and end ms",
         "µs/line", "floor µs/line", "CPU % of a core", "p50 ms", "p99 ms",
         "KiB a turn at the peak"],
        [
            [f"{n:,}", f"{rate}", f"{taken[n]['at-once']:,.0f}", taken[n]["begun"],
             taken[n]["cpu-turn"], taken[n]["cpu-line"], floors[n],
             taken[n]["cpu-line"] * n * rate / 1e4,
             taken[n]["p50"] / 1e3, taken[n]["p99"] / 1e3, taken[n]["rss-turn"]]
            for n, rate, _ in cases
        ],
    )
    report.plot("many", [
        (f"{n:,} agents, {rate}/s", taken[n]["cpu-line"], floors[n]) for n, rate, _ in cases
    ])
    report.goal("1,000 agents, 20 lines/s: of a core, beyond the floor that only reads",
                (taken[1000]["cpu-line"] - floors[1000]) * 1000 * 20 / 1e4, 10, unit="%")
    half, whole = cases[0][0], cases[1][0]
    report.twice(f"turns: {half} → {whole}", taken[half]["cpu"], taken[whole]["cpu"])


def quiet(lab, report):
    turns = lab.choose(1000, 200)
    told = interleave(lab.choose(3, 1), {
        "quiet": lambda: lab.rows(
            [lab.program("bench/serve"), "--turns", turns, "--quiet"]
        )["rss-turn"][0],
    })
    report.goal(
        f"host's memory of a running turn that is idle ({turns:,} of them)", told["quiet"], 24,
        unit="KiB",
    )


def startup(lab, report):
    cases = [(n, place) for n in (1, 10) for place in ("thread", "process")]
    taken = interleave(lab.choose(11, 5), {
        case: lambda case=case: dict(zip(
            ("first", "last"), lab.rows([lab.program("bench/startup"), *case])["startup"]
        ))
        for case in cases
    })
    report.section(
        "Start",
        "ms from before `turncast replay` is started to the first line in the first and in the "
        "last of its connectors; each is loaded from a file of its own.",
        ["connectors", "first", "last"],
        [[f"{n}, {place}", *taken[n, place].values()] for n, place in cases],
    )
    for place in ("thread", "process"):
        report.goal(f"start to the first callback, 10 connectors, {place}",
                    taken[10, place]["first"], 30, unit="ms")
