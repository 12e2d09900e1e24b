# SPDX-License-Identifier: MIT
"""Reads the state database of a host without changing it."""
import contextlib
import json
import pathlib
import shutil
import sqlite3
import tempfile
from dataclasses import dataclass


@dataclass(frozen=True)
class Turn:
    id: str
    state: str  # waiting, running, final, error, merged, cancelled
    code: str  # of an error, or the turn into which this one was merged; or None
    ended: bool
    chat: str
    message: str  # the service's id of the question
    conversation: str
    by_agent: bool  # nobody asked for it; its question is the last one of the conversation


@contextlib.contextmanager
def _copied(host):
    """The database of a dead host, as a copy, because the last process that closes a database empties its log."""
    with tempfile.TemporaryDirectory(prefix="turncast-ledger.") as folder:
        for file in host.state.glob("state.db*"):
            if not file.name.endswith("-shm"):
                shutil.copy(file, folder)
        with contextlib.closing(sqlite3.connect(pathlib.Path(folder) / "state.db")) as db:
            yield db


@contextlib.contextmanager
def _shared(host):
    """The database of a running host."""
    with contextlib.closing(sqlite3.connect(f"file:{host.state}/state.db?mode=ro", uri=True)) as db:
        yield db


def in_flight(host):
    """The turns with a request that was in flight when the host was killed, once per request."""
    with _copied(host) as db:
        try:
            rows = db.execute("select turn from outbox where kind='request' and state='sending'")
            return [turn for (turn,) in rows]
        except sqlite3.OperationalError:  # it died before it had made its tables
            return []


def open_work(host):
    """Turns that have not ended, and outcomes that have not been delivered."""
    with _shared(host) as db:
        return db.execute(
            "select (select count(*) from turn where ended_at is null)"
            " + (select count(*) from outbox)"
        ).fetchone()[0]


def open_states(host):
    """The states of the turns that have not ended, in the order of their admission."""
    with _shared(host) as db:
        rows = db.execute("select state from turn where ended_at is null order by rowid")
        return [state for (state,) in rows]


def requests(host):
    """Requests to services whose reply the journal does not know."""
    with _shared(host) as db:
        return db.execute("select count(*) from outbox where kind='request'").fetchone()[0]


def is_sound(host):
    with _copied(host) as db:
        return db.execute("pragma integrity_check").fetchall() == [("ok",)]


def turns(host):
    with _copied(host) as db:
        rows = db.execute(
            "select id, state, code, ended_at is not null, route, conv,"
            " not exists(select 1 from inbox where turn_id = turn.id) from turn"
        )
        return [_turn(*row) for row in rows]


def _turn(id_, state, code, ended, route, conversation, by_agent):
    to = json.loads(route)
    chat = to.get("chat", to.get("channel"))
    message = to.get("message", to.get("ts"))
    return Turn(id_, state, code, bool(ended), str(chat), str(message), conversation, bool(by_agent))


def states(host):
    """(id, state, whether it has ended) of each turn of any origin."""
    with _copied(host) as db:
        return db.execute("select id, state, ended_at is not null from turn").fetchall()


def outbox(host):
    with _copied(host) as db:
        return db.execute("select conn, turn, kind, state, attempts from outbox").fetchall()


def dead(host):
    """(turn, reason) of each dead letter."""
    with _copied(host) as db:
        return db.execute("select turn, reason from dead order by id").fetchall()
