# SPDX-License-Identifier: MIT
"""The host is killed again and again while people talk to it and the services misbehave: every
message gets one outcome, every outcome arrives or is a dead letter, nothing is shown behind an
outcome, and what arrives twice was on the wire at a kill, or its answer got lost."""
import collections
import os
import random
import time

import ledger
from chatter import Chatter
from people import SlackPeople, TelegramPeople
from shown import ShownBySlack, ShownByTelegram, is_lost
from talk import LONG, Fake, Host, done, equal, note, ok, slack, telegram, until

KILLS = 300 if LONG else 30
PEOPLE = {"telegram": 15, "slack": 35}  # Telegram lets a bot say less in a second
FAULTS = (
    {"do": "answer", "status": 502, "rate": 0.01},
    {"do": "reset", "rate": 0.01},
    {"do": "reset", "done": True, "rate": 0.01},
    # No fault: an answer that takes its time, so that a kill can come before its end.
    {"do": "slow", "chunk": 100, "every": 0.05, "rate": 0.3, "match": {"text": "."}},
)
# A host that is killed every second forgets what it did in this minute.
SLACK_PACE = {f"tier{n}": 60000 for n in (1, 2, 3, 4)}
# Objections to what a host does that does not know what its predecessor did a moment ago.
FORGOTTEN = {"too-fast", "retry-too-early", "late-ack", "no-ack"}
# To what is done once more because its answer got lost: an edit, the end of a stream.
REPEATED = {"same-text", "stream-misuse"}


def pause(chance, number):
    """Until the next kill: at times a turn with a progress message lives to its end."""
    return chance.uniform(3, 4.5) if number % 4 == 3 else chance.uniform(0.02, 1.2)


def kill_loop(host, chatter, chance):
    """When it was killed (as the machine counts), and what was on the wire then."""
    kills, in_flight = [], collections.Counter()
    for number in range(KILLS):
        deadline = time.monotonic() + pause(chance, number)
        while time.monotonic() < deadline:
            chatter.go_on()
            time.sleep(0.03)
        kills.append(time.monotonic())
        host.kill()
        in_flight.update(ledger.in_flight(host))
        host.start()
    return kills, in_flight


def script_faults(fake, seed):
    for number, fault in enumerate(FAULTS):
        fake.control("fault", {"times": 0, "seed": seed + number, **fault})


# ---- what came of it


def by_question(turns):
    found = collections.defaultdict(list)
    for turn in turns:
        found[turn.chat, turn.message].append(turn)
    return found


def judge_turns(chatter, host):
    """Each message is one turn, each turn has ended once. Returns question -> turn."""
    turns = ledger.turns(host)
    known = by_question(turns)
    mine = {q: known[q.chat, q.message] for _, q in chatter.asked}
    equal([q.id for q, t in mine.items() if len(t) != 1], [], "R18: every message is one turn")
    equal(len(turns), len(chatter.asked), "and nothing else is")
    equal(
        [t for t in turns if not t.ended or t.state not in ("final", "error", "merged")],
        [],
        "every turn has ended with one outcome",
    )
    heads = {t.id for t in turns if t.state in ("final", "error")}
    equal(
        [t for t in turns if t.state == "merged" and t.code not in heads],
        [],
        "what went into another turn has the outcome of that one",
    )
    equal(
        {t.code for t in turns if t.state == "error"} - {"host_restart"},
        set(),
        "only a kill makes an error",
    )
    equal(ledger.outbox(host), [], "nothing is left to be told")
    note(f"turns: {dict(collections.Counter(t.state for t in turns))}")
    return {q: t[0] for q, t in mine.items() if t}


def judge_arrival(ends, seen, buried):
    """`ends`: the questions whose turn has an outcome of its own, and that turn."""
    lost = [q.id for q, t in ends.items() if not seen[q] and t.id not in buried]
    equal(lost, [], "R2: every outcome has arrived or is a dead letter")
    wrong = [q.id for q, t in ends.items() if {o.is_error for o in seen[q]} - {t.state == "error"}]
    equal(wrong, [], "what has arrived is the outcome that was kept")
    equal([q.id for q in seen if q not in ends and seen[q]], [], "and nothing else")
    unseen = sum(not seen[q] for q in ends)
    note(f"outcomes: {len(ends)}; not seen: {unseen}, of {len(buried)} with a dead letter")


def judge_repeats(ends, seen, doubts):
    unmarked = [q.id for q in ends if sum(not o.is_marked for o in seen[q]) > 1]
    equal(unmarked, [], "R1: a repeat says that it is one, or is where the progress was")
    unfounded = [q.id for q, t in ends.items() if len(seen[q]) > 1 + doubts[t.id]]
    equal(unfounded, [], "what is repeated was on the wire at a kill, or its answer got lost")
    note(f"outcomes repeated: {sum(len(seen[q]) - 1 for q in ends if seen[q])}")


def judge_dead(host, dead, doubts):
    equal([d for d in dead if not doubts[d[0]]], [], "so was what became a dead letter")
    status, listed = host.run("dead", "list")
    equal((status, len(listed.splitlines())), (0, len(dead)), "the dead letters are reported")
    for reason, count in collections.Counter(reason for _, reason in dead).items():
        note(f"dead letters: {count}: {reason}")


def judge_outcomes(shown, turns, host, in_flight):
    """Returns the turns with a dead letter."""
    note(f"on the wire at a kill: {sum(in_flight.values())} requests of {len(in_flight)} turns")
    dead = ledger.dead(host)
    buried = {turn for turn, _ in dead}
    seen = {q: shown[q.service].outcomes(q) for q in turns}
    ends = {q: t for q, t in turns.items() if t.state != "merged"}
    doubts = collections.Counter(in_flight)
    for question, turn in turns.items():
        doubts[turn.id] += shown[question.service].doubts(question)
    judge_arrival(ends, seen, buried)
    judge_repeats(ends, seen, doubts)
    judge_dead(host, dead, doubts)
    return buried


def judge_shown(shown, name, turns, buried):
    mine = {q: t for q, t in turns.items() if q.service == name}
    late = [(q.id, c["method"], c["seq"]) for q in mine for c in shown.late_calls(q)]
    equal(late, [], f"R8: {name}: nothing is shown of a turn as running after its outcome")
    rules = collections.Counter(v["rule"] for v in shown.fake.violations())
    equal(set(rules) - FORGOTTEN - REPEATED, set(), f"{name}: no objection")
    left = [(q, m) for q, t in mine.items() for m in shown.left_running(q) if t.id not in buried]
    known = [(q.id, m) for q, m in left if not shown.was_cut_off(q, m)]
    equal(known, [], f"{name}: only what a kill cut off still looks as if it ran")
    lost, live = (sum(map(test, shown.calls)) for test in (is_lost, shown.is_live))
    ok(live >= KILLS // 10, f"{name}: turns were shown as running", live)
    note(f"{name}: {len(mine)} messages, {len(shown.calls)} calls, {live} live, {lost} lost")
    busy = sum(map(shown.is_busy, mine))
    note(f"{name}: left as if they ran: {len(left)} messages, the status of {busy}")
    note(f"{name}: objections that a restart explains: {dict(rules)}")


def clock_of(fake):
    """What the clock of the machine is ahead of the fake's."""
    now = time.monotonic()
    return now - fake.control("clear")["t"]


def run(host, chatter, chance, seed):
    fakes = [crowd.fake for crowd in chatter.crowds]
    for number, fake in enumerate(fakes):
        script_faults(fake, seed + 10 * number)
    chatter.begin()
    kills, in_flight = kill_loop(host, chatter, chance)
    for fake in fakes:
        fake.control("clear")
    until(lambda: not ledger.open_work(host), "all is told in the end", 120)
    equal(host.stop(), 0, "the host ends well")
    note(f"{len(chatter.asked)} messages, {KILLS} kills")
    return kills, in_flight


def judge(host, chatter, shown, in_flight):
    turns = judge_turns(chatter, host)
    buried = judge_outcomes(shown, turns, host, in_flight)
    for name, one in shown.items():
        judge_shown(one, name, turns, buried)


def main():
    seed = int(os.environ.get("TURNCAST_SEED", 0)) or (int(time.time()) if LONG else 7)
    note(f"seed {seed}")
    with Fake("telegram") as tg, Fake("slack") as sl:
        clocks = [clock_of(fake) for fake in (tg, sl)]
        sl.control("pace", SLACK_PACE)
        crowds = [TelegramPeople(tg, PEOPLE["telegram"]), SlackPeople(sl, PEOPLE["slack"])]
        instances = telegram(tg, allow=crowds[0].ids, progress_after_ms=300)
        instances += slack(sl, allow=crowds[1].ids)
        with Host(instances, extra="conversations : { max_turns = 64; debounce_ms = 0; };") as host:
            chatter = Chatter(crowds, random.Random(seed + 1))
            kills, in_flight = run(host, chatter, random.Random(seed), seed)
            shown = {
                "telegram": ShownByTelegram(tg, kills, clocks[0]),
                "slack": ShownBySlack(sl, kills, clocks[1]),
            }
            judge(host, chatter, shown, in_flight)
    done()


main()
