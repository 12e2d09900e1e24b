# SPDX-License-Identifier: MIT
"""A host is backed up while users talk to it, killed and restored: every message in the backup has one outcome
afterwards, and the files of instances are restored."""
import contextlib
import random
import sqlite3
import stat

import ledger
from chatter import Chatter
from deaths import crowded_host
from killing import talk_until
from talk import done, equal, note, ok, until

import on_bus  # noqa: E402, after talk, which has added its folder to the path

# Longer than the others, so that turns run and messages wait.
QUESTIONS = ("tools=4 ms=150", "tools=6 ms=700")
CROWD = {"telegram": 10, "slack": 10}


def read(file, query):
    with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as db:
        return db.execute(query).fetchall()


def open_turns(file):
    return {t: s for t, s in read(file, "select id, state from turn where ended_at is null")}


def back_up(host, chatter):
    """Makes backups under load; returns the path of the last one, which has running turns and waiting messages."""
    file = host.folder / "backup"

    def has_work():
        chatter.go_on()
        status, said = host.run("backup", str(file))
        if status:
            ok(False, "the backup beside the running host succeeds", said)
        return {"running", "waiting"} <= set(open_turns(file).values())

    until(has_work, "a backup with turns in every state")
    return file


def check_refusals(host, file):
    status, said = host.run("restore", str(file))
    equal(status, 2, "restore refuses beside a host")
    ok("is in use by another turncast" in said, "restore says that the host is running", said)
    broken = host.folder / "broken"
    data = bytearray(file.read_bytes())
    data[8192:12288] = b"\xa5" * 4096
    broken.write_bytes(data)
    broken.chmod(0o600)
    return broken


def restore(host, file, broken):
    before = (host.state / "state.db").read_bytes()
    status, said = host.run("restore", str(broken))
    equal(status, 2, "a damaged backup is refused")
    equal((host.state / "state.db").read_bytes(), before, f"nothing is changed: {said}")
    (host.state / "instances" / "tg" / "file-of-a-message").unlink()
    status, said = host.run("restore", str(file))
    equal(status, 0, f"the backup is restored: {said}")
    kept = host.state / "instances" / "tg" / "file-of-a-message"
    ok(kept.exists() and kept.read_text() == "a photo", "the files of instances are restored")
    equal(len(list(host.state.glob("before-restore.*/state.db"))), 1, "the old state is kept")


def check_outcomes(host, known):
    ended = {t.id: t for t in ledger.turns(host)}
    # The servers of a bus know which turns were delivered since the backup: those are not delivered again.
    told = on_bus.told_turns()
    known = {t: state for t, state in known.items() if t in ended or t not in told}
    ok(known, "the backup has turns that were not delivered since")
    equal([t for t in known if t not in ended], [], "every turn of the backup is known")
    left = [t for t in known if not ended[t].ended]
    equal(left, [], "every turn of the backup has ended")
    waited = [ended[t].state for t, state in known.items() if state == "waiting"]
    # They also know which agents have begun since: those turns end as interrupted, and are not begun again.
    answered = {"final", "merged", "error"} if on_bus.WANTED else {"final", "merged"}
    equal(set(waited) - answered, set(), "waiting turns were answered")
    ran = [ended[t].code for t, state in known.items() if state == "running"]
    equal(set(ran), {"host_restart"}, "running turns ended by the restart")
    equal(ledger.outbox(host), [], "no delivery is pending")
    note(f"{len(waited)} waited, {len(ran)} ran")


def main():
    with crowded_host(CROWD) as (host, _, crowds):
        host.start()
        until(host.has_started, "the host runs")
        (host.state / "instances" / "tg" / "file-of-a-message").write_text("a photo")
        chatter = Chatter(crowds, random.Random(5), QUESTIONS)
        chatter.begin()
        file = back_up(host, chatter)
        equal(stat.S_IMODE(file.stat().st_mode), 0o600, "only its owner can read it")
        broken = check_refusals(host, file)
        talk_until(chatter, lambda: False, 1)
        host.kill()
        known = open_turns(file)
        restore(host, file, broken)
        host.start()
        until(lambda: not ledger.open_work(host), "all outcomes are delivered in the end", 120)
        equal(host.stop(), 0, "the host exits with status 0")
        check_outcomes(host, known)
        broken.unlink()
        file.unlink()
    done()


main()
