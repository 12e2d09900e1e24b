# SPDX-License-Identifier: MIT
"""After a failed test of several hosts: which messages lack an outcome or have too many, their turns, the hosts that
ran them, and what those hosts have logged of them. The folders of the hosts are kept."""
import collections
import sqlite3

import ledger
from talk import note

LINES, LINES_OF_SERVER = 30, 10  # of each log, at its end
MESSAGES = 20
LINES_OF_TURN = 10  # in each log


def keep(hosts):
    """Also the ends of their logs."""
    for host in hosts:
        host.is_kept = True
        _note_end(f"{host.name}, kept in {host.folder}", host.log(), LINES)


def explain(fleet):
    keep(fleet.hosts)
    for server in fleet.servers:
        _note_end(f"the NATS server on port {server.port}", server.log(), LINES_OF_SERVER)
    wrong = list(_wrong_messages(fleet))
    for told, turns in wrong[:MESSAGES]:
        note(told)
        for turn in turns:
            _note_turn(fleet, turn.id)
    note(f"{len(wrong)} of {len(fleet.chatter.asked)} messages without one outcome, or begun more than once")


def _note_end(name, text, lines):
    note(f"---- {name}; the last lines of its log:")
    for line in text.splitlines()[-lines:]:
        note(f"  {line}")


def _note_turn(fleet, turn):
    for host in fleet.hosts:
        for line in [line for line in host.log().splitlines() if turn in line][-LINES_OF_TURN:]:
            note(f"  {host.name}: {line}")


def _turns_of(host):
    try:
        found = ledger.turns(host)
    except sqlite3.DatabaseError as error:  # it runs, and has written while the file was copied
        note(f"the journal of {host.name} cannot be read: {error}")
        return {}
    by_message = collections.defaultdict(list)
    for turn in found:
        by_message[turn.chat, turn.message].append(turn)
    return by_message


def begun_on(fleet):
    """id of a message -> the hosts whose agents were given it, once for each time."""
    found = collections.defaultdict(list)
    for host in fleet.hosts:
        for id_ in fleet.begun_on(host):
            found[id_].append(host.name)
    return found


def _wrong_messages(fleet):
    """A line of each message that has failed, and its turns in the journal of the gateway."""
    shown, turns, begun = fleet.deaths.shown()["telegram"], _turns_of(fleet.gateway), begun_on(fleet)
    for _, q in fleet.chatter.asked:
        mine, seen, hosts = turns.get((q.chat, q.message), []), shown.outcomes(q), begun[q.id]
        merged = [t for t in mine if t.state == "merged"]
        is_one = len(mine) == 1 and mine[0].ended and (merged or sum(not o.is_marked for o in seen) <= 1 <= len(seen))
        if not is_one or len(hosts) > 1:
            told = ", ".join(f"turn {t.id} {t.state} {t.code or ''}".strip() for t in mine) or "no turn"
            yield f"{q.id} (chat {q.chat}, message {q.message}): {told}; begun on {hosts}; outcomes {seen}", mine
