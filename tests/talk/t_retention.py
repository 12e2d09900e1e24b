# SPDX-License-Identifier: MIT
"""A reload with a shorter retention deletes old turns while users talk: each message has one answer."""
import contextlib
import sqlite3

from people import TelegramPeople, outcomes
from talk import Fake, Host, done, equal, ok, telegram, until

OLD = 3000  # turns of three days ago: several steps of the deletion
PEOPLE = 20  # with a message each: of several that wait in a chat, the agent is given all as one
DAYS_MS = 3 * 24 * 3600 * 1000


def configure(host, days):
    text = host.config.read_text()
    begin = text.index("retention : {")
    end = text.index("};", begin)
    host.config.write_text(f"{text[:begin]}retention : {{ turns_days = {days}; {text[end:]}")


def count_old(host):
    with contextlib.closing(sqlite3.connect(f"file:{host.state}/state.db?mode=ro", uri=True)) as db:
        return db.execute("select count(*) from turn where id like 'old-%'").fetchone()[0]


def add_old_turns(host):
    """Inserts copies of an ended turn, dated three days ago."""
    with contextlib.closing(sqlite3.connect(host.state / "state.db")) as db:
        db.row_factory = sqlite3.Row
        turn = dict(db.execute("select * from turn where ended_at is not null").fetchone())
        for name in turn:
            if name.endswith("_at") and turn[name]:
                turn[name] -= DAYS_MS
        rows = [{**turn, "id": f"old-{i}", "msg_id": f"old-{i}"} for i in range(OLD)]
        db.executemany(f"insert into turn({','.join(turn)}) values({','.join(':' + n for n in turn)})", rows)
        db.commit()


def ask_all(crowd):
    return [crowd.ask(who, f"q{who}", "tools=1") for who in range(PEOPLE)]


def prepare(host, crowd):
    first = crowd.ask(0, "first", "")
    until(lambda: outcomes(crowd, first), "a turn ends")
    equal(host.stop(), 0, "the host ends")
    add_old_turns(host)
    host.start()
    until(host.has_started, "the host starts again")
    equal(count_old(host), OLD, "turns of three days ago are kept with a retention of ten days")


def main():
    with Fake("telegram") as fake:
        crowd = TelegramPeople(fake, PEOPLE)
        extra = "retention : { turns_days = 10; }; conversations : { debounce_ms = 0; };"
        with Host(telegram(fake, allow=crowd.ids), extra=extra) as host:
            prepare(host, crowd)
            configure(host, 0)
            status, said = host.run("reload")
            ok(status != 0 and "retention.turns_days" in said, "an invalid retention is refused", said)
            equal(count_old(host), OLD, "an invalid retention deletes nothing")
            configure(host, 1)
            questions = ask_all(crowd)
            status, said = host.run("reload")
            equal(status, 0, f"a shorter retention is accepted: {said.strip()}")
            until(lambda: all(outcomes(crowd, q) for q in questions), "all messages are answered")
            until(lambda: count_old(host) == 0, "the old turns are deleted")
            texts = [[m["text"].split(" of ")[0] for m in outcomes(crowd, q)] for q in questions]
            equal(texts, [[f"Answer {q.id}"] for q in questions], "each message has one answer")
            equal(count_old(host), 0, "the old turns are deleted without a restart")
            equal(host.stop(), 0, "the host exits with status 0")
    done()


main()
