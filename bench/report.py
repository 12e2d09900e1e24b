# SPDX-License-Identifier: MIT
"""What was measured: tables and goals, as Markdown and as a file that gnuplot reads."""
import textwrap


def number(value):
    """Three digits that mean something."""
    if isinstance(value, str):
        return value
    if value >= 1000:
        return f"{value:,.0f}"
    if value >= 100:
        return f"{value:.0f}"
    if value >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}"


def table(head, rows):
    """A Markdown table, aligned so that it also reads as text; numbers to the right."""
    cells = [[number(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [head, *cells]) for i in range(len(head))]

    def line(row):
        first, *rest = (
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths))
        )
        return "| " + " | ".join([first, *rest]) + " |"

    rule = "|" + "|".join("-" * (w + 1) + (":" if i else "-") for i, w in enumerate(widths)) + "|"
    return "\n".join([line(head), rule, *map(line, cells)])


def paragraph(text):
    return textwrap.fill(text, 100, break_on_hyphens=False)


class Goal:
    """A measured number and the bound it is held to: at least, or at most."""

    def __init__(self, what, measured, bound, unit="×", least=False):
        self.what, self.measured, self.bound = what, measured, bound
        self.unit, self.least = unit, least

    @property
    def met(self):
        return self.measured >= self.bound if self.least else self.measured <= self.bound

    def row(self):
        sign = "≥" if self.least else "≤"
        return [
            self.what,
            f"{sign} {self.bound:g} {self.unit}",
            f"{number(self.measured)} {self.unit}",
            "met" if self.met else "**missed**",
        ]


class Report:
    """Sections in the order they were measured; goals of all of them on top."""

    def __init__(self):
        self.sections, self.goals, self.series, self.doubled = [], [], {}, []

    def section(self, title, text, head, rows):
        self.sections.append((title, text, head, rows))
        print(f"\n{title}\n\n{table(head, rows)}", flush=True)

    def goal(self, *args, **named):
        self.goals.append(Goal(*args, **named))

    def twice(self, what, once, twice):
        """CPU seconds of something, and of twice as much of it."""
        self.doubled.append((what, once, twice, twice / once))

    def close(self):
        """What needs everything."""
        if not self.doubled:
            return
        self.section(
            "Twice as much", "CPU seconds; what is linear doubles at most.",
            ["", "once", "twice", "×"], self.doubled,
        )
        for what, _, _, ratio in self.doubled:
            self.goal(f"twice as many {what}", round(ratio, 1), 2)

    def plot(self, name, rows):
        """A block of the data file: a label and numbers a row."""
        self.series[name] = rows

    def goal_table(self):
        return table(["goal", "bound", "measured", ""], [goal.row() for goal in self.goals])

    def markdown(self, machine, command):
        missed = sum(not goal.met for goal in self.goals)
        parts = [
            "# What turncast costs\n",
            paragraph(f"Written by `{command}`: {machine}") + "\n",
            f"## Goals\n\n{len(self.goals) - missed} of {len(self.goals)} are met.\n",
            self.goal_table() + "\n",
        ]
        for title, text, head, rows in self.sections:
            parts.append(f"## {title}\n\n{paragraph(text)}\n\n{table(head, rows)}\n")
        return "\n".join(parts)

    def data(self):
        """Blocks for gnuplot's `index NAME`."""
        blocks = []
        for name, rows in self.series.items():
            lines = [f'"{label}" ' + " ".join(f"{n:.6g}" for n in rest) for label, *rest in rows]
            blocks.append("\n".join([f"# {name}", *lines]))
        return "\n\n\n".join(blocks) + "\n"
