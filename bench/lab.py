# SPDX-License-Identifier: MIT
"""Where it is measured: the programs, a scratch folder, which core, and in what order."""
import collections
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

Cost = collections.namedtuple("Cost", "cpu wall rss")


def medians(takes):
    """Of dictionaries of numbers, or of numbers."""
    if isinstance(takes[0], dict):
        return {key: statistics.median(take[key] for take in takes) for key in takes[0]}
    return statistics.median(takes)


def interleave(rounds, contenders):
    """Each contender once a round, so that a change of the machine hits all; medians."""
    takes = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, measure in contenders.items():
            takes[name].append(measure())
    return {name: medians(all_takes) for name, all_takes in takes.items()}


class Lab:
    def __init__(self, build, quick):
        self.build = pathlib.Path(build).resolve()
        self.source = pathlib.Path(__file__).resolve().parent
        self.quick = quick
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="turncast-bench."))
        mine = sorted(os.sched_getaffinity(0))
        self.core = mine[-1]  # of what is to have one
        self.cores = (mine[0], mine[-1])
        self.environment = {
            **os.environ,
            "TURNCAST_BUILDDIR": str(self.build),
            "TURNCAST_PLUGIN_PATH": str(self.build / "plugins/.libs"),
            "TMPDIR": str(self.scratch),
        }

    def close(self):
        shutil.rmtree(self.scratch, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @staticmethod
    def wait_for(path):
        """Until a server has made its socket."""
        deadline = time.monotonic() + 20
        while not path.exists() and time.monotonic() < deadline:
            time.sleep(0.02)

    def choose(self, full, quick):
        return quick if self.quick else full

    def program(self, name):
        return str(self.build / name)

    def on_core(self, command):
        return ["taskset", "-c", str(self.core), *command]

    def run(self, command, **more):
        """Its output; whatever does not end well ends the benchmark."""
        return subprocess.run(
            list(map(str, command)),
            check=True, stdout=subprocess.PIPE, text=True, env=self.environment, **more,
        ).stdout

    def rows(self, command, **more):
        """Of a program that prints a name and numbers a line: those numbers by name."""
        found = {}
        for line in self.run(command, **more).splitlines():
            name, *rest = line.split() or [""]
            numbers = []
            for word in rest:
                try:
                    numbers.append(float(word))
                except ValueError:
                    pass
            found[name] = numbers
        return found

    def cost(self, command, stdin=None):
        """What the command and all its children took; its output is dropped."""
        told = self.scratch / "cost"
        subprocess.run(
            [self.program("bench/cost"), told, *map(str, command)],
            check=True, stdin=stdin or subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            env=self.environment,
        )
        return Cost(*map(float, told.read_text().split()))

    def cost_of_reading(self, producer, command):
        """As cost, of a command that reads from a pipe what the producer writes."""
        with subprocess.Popen(
            list(map(str, producer)), stdout=subprocess.PIPE, env=self.environment
        ) as other:
            taken = self.cost(command, stdin=other.stdout)
            other.stdout.close()
            other.wait()
        return taken

    def corpus(self, kind, megabytes):
        path = self.scratch / f"{kind}-{megabytes}.jsonl"
        if not path.exists():
            with path.open("w") as file:
                subprocess.run(
                    [self.program("bench/corpus"), kind, str(megabytes)], check=True, stdout=file
                )
        return path
