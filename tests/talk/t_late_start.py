# SPDX-License-Identifier: MIT
"""A connector starts later than the turns of its conversations end: people get the outcomes in the order of
their messages."""
import os

import ledger
from people import TelegramPeople, outcomes
from talk import BUILD, Fake, Host, done, equal, telegram, until

CONNECTOR = os.environ.get("TURNCAST_CONNECTOR", str(BUILD / "turncast-connector"))
EXTRA = "conversations : { debounce_ms = 0; };\n"


def write_late_connector(host):
    """A program in place of turncast-connector, with which an instance starts when the file `open` exists."""
    program, gate = host.folder / "late", host.folder / "open"
    program.write_text(f"""#!/bin/sh
[ "$1" = --probe ] || until [ -e {gate} ]; do sleep 0.02; done
exec {CONNECTOR} "$@"
""")
    program.chmod(0o700)
    return program, gate


def begun(host):
    file = host.gates / "begun"
    return file.read_text().split() if file.exists() else []


def places(crowd, asked):
    """The ids of the questions in the order of their outcomes in the chat."""
    found = [(int(message["id"]), question.id) for question in asked for message in outcomes(crowd, question)]
    return [id_ for _, id_ in sorted(found)]


def end_before_the_connector(crowd, host, name):
    """One turn runs at a kill, another one waits; the next host ends both before its connector starts. Returns their
    questions, and the file that lets the connector start."""
    program, gate = write_late_connector(host)
    asked = [crowd.ask(0, f"{name}-1", "tools=1 gated"), crowd.ask(0, f"{name}-2", "tools=1 ms=10")]
    until(lambda: f"{name}-1" in begun(host) and len(ledger.open_states(host)) == 2, "both turns are on disk")
    host.kill()
    host.start(TURNCAST_CONNECTOR=str(program))
    until(lambda: not ledger.open_states(host), "both turns have ended")
    equal(places(crowd, asked), [], f"{name}: no outcome arrives before the connector has started")
    return asked, gate


def are_told(crowd, host, asked, what):
    until(lambda: not ledger.open_work(host), "both outcomes are delivered")
    equal(places(crowd, asked), [question.id for question in asked], what)


def starts_late(crowd, host):
    asked, gate = end_before_the_connector(crowd, host, "late")
    gate.touch()
    are_told(crowd, host, asked, "the error of the interrupted turn comes before the answer of the next turn")
    gate.unlink()


def is_killed_again(crowd, host):
    asked, _ = end_before_the_connector(crowd, host, "again")
    host.kill()
    host.start()
    are_told(crowd, host, asked, "the order is kept when the host is killed before its connector has started")


with Fake("telegram") as tg:
    people = TelegramPeople(tg, 1)
    with Host(telegram(tg, allow=people.ids), extra=EXTRA) as service:
        (service.gates / "begun").touch()
        until(service.has_started, "the host has started")
        starts_late(people, service)
        is_killed_again(people, service)
done()
