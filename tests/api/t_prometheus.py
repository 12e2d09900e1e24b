# SPDX-License-Identifier: MIT
"""The alert rules and the dashboard: promtool accepts the rules, their tests and what a host
answers, and every metric that they name is in that."""
import contextlib
import json
import pathlib
import re
import shutil
import subprocess
import tempfile

from door import LOG, Door, done, equal, note, ok, until
from talk import SOURCE

import natsd

SHARE = SOURCE / "share" / "metrics"
NAME = re.compile(r"\bturncast_[a-z_]+")
SUFFIX = re.compile(r"_(bucket|sum|count)$")


def bus(server):
    return f'host : {{ name = "h1"; }}; bus : {{ url = ["{server.url()}"]; }};'


def scrape():
    """After a turn, so that everything is there."""
    with contextlib.ExitStack() as stack:
        extra = LOG + "budgets : { host : { usd_per_day = 1; }; };"
        if natsd.available():
            extra += bus(stack.enter_context(natsd.NatsServer()))
        host = stack.enter_context(Door(extra=extra))
        until(host.has_started, "the host has started")
        turn = host.begin("id=x tools=1")["id"]
        host.await_state(turn, "final")
        text = until(lambda: ended(host), "the turn is counted")
        check_numbers(text)
        return text


def ended(host):
    text = host.ask("GET", "/metrics", key="ann")[2].decode()
    return text if 'turncast_turns_total{agent="main",outcome="final"} 1' in text else None


def check_numbers(text):
    samples = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    equal(samples['turncast_tokens_total{agent="main",kind="input"}'], "12000", "tokens by kind")
    equal(samples['turncast_tokens_total{agent="main",kind="output"}'], "345", "of both ways")
    equal(samples['turncast_cost_usd_total{agent="main"}'], "0.0125", "the cost")
    equal(samples['turncast_turns_with_cost_total{agent="main"}'], "1", "and of how many turns")
    equal(samples['turncast_budget_used_ratio{scope="host"}'], "0.0125", "the part of the budget")
    ok('turncast_budget_used_ratio{scope="person"}' not in samples, "no budget, no part")
    equal(samples["turncast_budget_refusals_total"], "0", "nothing was refused")
    equal(samples["turncast_requests_open"], "0", "nothing is asked")
    for name in "wait", "first_text", "duration":
        family = f"turncast_turn_{name}_seconds"
        equal(samples[family + '_count{agent="main"}'], "1", f"{family}: one turn")
        ok(0 <= float(samples[family + '_sum{agent="main"}']) < 60, "in seconds")


def check_names(text, known):
    """Both files, and what is left of them when a metric is misspelled."""
    names = {n for n in NAME.findall(text) if natsd.available() or "_bus_" not in n}
    missing = sorted(n for n in names if n not in known and SUFFIX.sub("", n) not in known)
    ok(len(names) > 5, "it names metrics")
    return missing


def promtool(*words, text=None):
    command = ["promtool", *map(str, words)]
    run = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    ok(run.returncode == 0, " ".join(words[:2]), run.stdout + run.stderr)


def check_with_promtool(text):
    with tempfile.TemporaryDirectory(prefix="turncast-rules.") as folder:
        place = pathlib.Path(folder)
        shutil.copy(SHARE / "alerts.yml", place)
        shutil.copy(SOURCE / "tests" / "api" / "metrics" / "alerts.test.yml", place)
        promtool("check", "rules", place / "alerts.yml")
        promtool("test", "rules", place / "alerts.test.yml")
        promtool("check", "metrics", text=text)


scraped = scrape()
families = set(re.findall(r"^# TYPE (\S+)", scraped, re.M))
alerts = (SHARE / "alerts.yml").read_text()
dashboard = json.loads((SHARE / "dashboard.json").read_text())
expressions = "\n".join(t["expr"] for p in dashboard["panels"] for t in p["targets"])
equal(check_names(alerts, families), [], "the rules name metrics that there are")
equal(check_names(expressions, families), [], "so does the dashboard")
equal(check_names(alerts, families - {"turncast_dead_letters", "turncast_instance_up"}),
      ["turncast_instance_up"], "a name that is gone is found")
variables = {f"${{{v['name']}}}" for v in dashboard["templating"]["list"] if v["type"] == "datasource"}
sources = {each["datasource"]["uid"] for p in dashboard["panels"] for each in (p, *p["targets"])}
equal(sources, variables, "the dashboard asks the source that the user chooses")
panels = dashboard["panels"]
equal(len({p["id"] for p in panels}), len(panels), "each panel has an ID of its own")
equal([p["title"] for p in panels if len({t["refId"] for t in p["targets"]}) != len(p["targets"])], [],
      "and each query of a panel")
if shutil.which("promtool"):
    check_with_promtool(scraped)
else:
    note("without promtool")
done()
