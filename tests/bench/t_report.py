#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench/report.py and bench/lab.py: tables, goals and medians say what was measured; bench/run says
what it cannot measure without."""
import contextlib
import io
import os
import pathlib
import subprocess
import sys
import tempfile

BENCH = os.path.join(os.environ.get("TURNCAST_SRCDIR", "."), "bench")
sys.path.insert(0, BENCH)

from lab import interleave  # noqa: E402
from report import Goal, Report, number, table  # noqa: E402

results = []


def check(what, good):
    results.append(good)
    print(f"{'ok' if good else 'not ok'} {len(results)} - {what}")


def filled():
    report = Report()
    with contextlib.redirect_stdout(io.StringIO()):
        report.section("Speed", "Of one core.", ["", "MB/s"], [["us", 2012.4], ["them", 7.25]])
        report.twice("lines", 1.0, 2.04)
        report.twice("sinks", 1.0, 2.06)
        report.goal("as fast as them", 277.6, 25, least=True)
        report.plot("speed", [("us", 2012.4, 1), ("them", 7.25, 2)])
        report.close()
    return report


def run_bare(folder, *parts):
    """What bench/run says where that is the build tree, and no program is installed."""
    done = subprocess.run(
        [sys.executable, os.path.join(BENCH, "run"), *parts], stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, check=False,
        env={"TURNCAST_BUILDDIR": folder, "PATH": folder},
    )
    return done.returncode, done.stdout


check("numbers keep three digits", [number(n) for n in (2012.4, 277.6, 12.34, 7.25, "x")]
      == ["2,012", "278", "12.3", "7.25", "x"])
check("columns of a table are aligned", table(["", "MB/s"], [["us", 2012.4], ["them", 7.25]]) == (
    "|      |  MB/s |\n|------|------:|\n| us   | 2,012 |\n| them |  7.25 |"))
check("at least", Goal("x", 25, 25, least=True).met and not Goal("x", 24.9, 25, least=True).met)
check("at most", Goal("x", 2.5, 2.5).met and not Goal("x", 2.51, 2.5).met)
check("a goal that is missed says so", Goal("x", 3, 2, unit="ms").row()
      == ["x", "≤ 2 ms", "3.00 ms", "**missed**"])

report = filled()
markdown = report.markdown("a machine.", "bench/run")
check("the page names the machine and the command", "`bench/run`: a machine." in markdown)
check("it counts the goals that are met", "2 of 3 are met." in markdown)
check("what doubles is held to two, to a tenth",
      [g.met for g in report.goals] == [True, True, False])
check("every section is on the page, with its text", "## Speed\n\nOf one core.\n\n|" in markdown)
check("the data is in blocks with names",
      report.data() == '# speed\n"us" 2012.4 1\n"them" 7.25 2\n')

order = []
taken = interleave(3, {
    "a": lambda: order.append("a") or len(order),
    "b": lambda: order.append("b") or {"cpu": len(order), "wall": -len(order)},
})
check("contenders take turns", "".join(order) == "ababab")
check("the middle one counts", taken == {"a": 3, "b": {"cpu": 4, "wall": -4}})

with tempfile.TemporaryDirectory() as folder:
    check("where nothing is built, that is all it says", run_bare(folder) == (
        1, f"bench/run: nothing to measure in {folder}:"
           " run it in the build tree after `make bench`\n"))
    ticker = pathlib.Path(folder, "bench/ticker")
    ticker.parent.mkdir()
    ticker.touch()
    check("what is not installed is said before anything is measured", run_bare(folder) == (
        1, "bench/run: not installed: jq, nats-server, nodejs, redis-server, redis-tools, strace;"
           " tools/deps bench does that\n"))
    check("of the parts that are wanted", "not installed: redis-server, redis-tools;"
          in run_bare(folder, "broker")[1])
print(f"1..{len(results)}")
sys.exit(not all(results))
