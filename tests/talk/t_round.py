# SPDX-License-Identifier: MIT
"""The rounds in the README and in manual pages are the output of round.py, except for times."""
import pathlib
import re
import subprocess
import sys

from talk import SOURCE, done, equal

TIMES = re.compile(r"\((\d+m)?[0-9.]+m?s\)|(?<=⏱ )\S+")


def without_times(text):
    return TIMES.sub("(time)", text).strip().splitlines()


def shown(service):
    text = (SOURCE / "README.md").read_text()
    block = re.search(rf"<!-- round: {service} -->\n```\n(.*?)```", text, re.DOTALL)
    return without_times(block.group(1))


def in_manual(service):
    text = (SOURCE / "plugins" / service / f"turncast-{service}.7").read_text()
    block = re.search(r'\.\\" round\n\.Bd -literal\n(.*?)\.Ed\n', text, re.DOTALL)
    return without_times(block.group(1).replace("\\&", ""))


def printed(service):
    script = pathlib.Path(__file__).with_name("round.py")
    run = subprocess.run(
        [sys.executable, "-B", script, service], capture_output=True, text=True, check=False
    )
    return without_times(run.stdout + run.stderr)


def shown_in_page():
    text = (SOURCE / "plugins" / "teams" / "turncast-teams.7").read_text()
    block = re.search(r"round: teams\n\.Bd [^\n]*\n(.*?)\.Ed", text, re.DOTALL)
    return without_times(block.group(1).replace("\\[u2713]", "✓"))


equal(printed("teams"), shown_in_page(), "the manual page shows a round in teams")
for name in ("telegram", "slack"):
    equal(printed(name), shown(name), f"the README shows a round in {name}")
equal(printed("discord"), in_manual("discord"), "turncast-discord(7) shows a round in discord")
done()
