# SPDX-License-Identifier: MIT
"""What has to hold of all that people asked and were shown after a host died again and again: every
message got one outcome, every outcome arrived or is a dead letter, those of a conversation in their
order, nothing was shown behind an outcome, and what arrived twice was on the wire at a death, or its
answer got lost."""
import collections
import json
import subprocess

import ledger
from shown import is_lost
from talk import BUILD, equal, note, ok, written

# Objections to what a host does that does not know what its predecessor did a moment ago.
FORGOTTEN = {"too-fast", "retry-too-early", "late-ack", "no-ack"}
# To what is done once more because its answer got lost: an edit, the end of a stream.
REPEATED = {"same-text", "stream-misuse"}


def by_question(turns):
    found = collections.defaultdict(list)
    for turn in turns:
        found[turn.chat, turn.message].append(turn)
    return found


def judge_turns(chatter, host, causes=frozenset({"host_restart"})):
    """Checks that each message is one turn, and that each turn has ended once, with an error of the given
    causes only. Returns question -> turn."""
    turns = ledger.turns(host)
    asked = [t for t in turns if not t.by_agent]
    known = by_question(asked)
    mine = {q: known[q.chat, q.message] for _, q in chatter.asked}
    equal([(q.id, t) for q, t in mine.items() if len(t) != 1], [], "R18: every message is one turn")
    equal(len(asked), len(chatter.asked), "there is no other turn")
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
        [t for t in turns if t.state == "error" and t.code not in causes],
        [],
        "only a kill makes an error",
    )
    equal(ledger.outbox(host), [], "no delivery is pending")
    note(f"turns: {dict(collections.Counter(t.state for t in turns))}")
    return {q: t[0] for q, t in mine.items() if t}


def lost(ends, seen, buried):
    """Questions whose outcome has neither arrived nor become a dead letter, with their turns."""
    return [(q.id, t) for q, t in ends.items() if not seen[q] and t.id not in buried]


def judge_arrival(ends, seen, buried):
    """`ends`: the questions whose turn has its own outcome, and that turn."""
    equal(lost(ends, seen, buried), [], "R2: every outcome has arrived or is a dead letter")
    wrong = [(q.id, t, seen[q]) for q, t in ends.items() if {o.is_error for o in seen[q]} - {t.state == "error"}]
    equal(wrong, [], "the outcome that arrived is the stored one")
    equal([(q.id, seen[q]) for q in seen if q not in ends and seen[q]], [], "no other outcome has arrived")
    unseen = sum(not seen[q] for q in ends)
    note(f"outcomes: {len(ends)}; not seen: {unseen}, of {len(buried)} with a dead letter")


def judge_repeats(ends, seen, doubts, once):
    """`once`: the services that recognise repeated messages."""
    doubled = [(q.id, t, seen[q]) for q, t in ends.items() if q.service in once and len(seen[q]) > 1]
    equal(doubled, [], "R1: no message is duplicated where the service recognises repeats")
    unmarked = [(q.id, t, seen[q]) for q, t in ends.items() if sum(not o.is_marked for o in seen[q]) > 1]
    equal(unmarked, [], "R1: a repeated message is marked as a repeat, or replaces the progress message")
    unfounded = [(q.id, t, seen[q]) for q, t in ends.items() if len(seen[q]) > 1 + doubts[t.id]]
    equal(unfounded, [], "a repeated message was in flight at a kill, or its reply was lost")
    note(f"outcomes repeated: {sum(len(seen[q]) - 1 for q in ends if seen[q])}")


def judge_order(ends, seen):
    """Checks that the outcomes of each conversation come in the order of its messages. Threads have no order
    among each other: people follow a thread, not the chat."""
    places = collections.defaultdict(list)
    for question, turn in ends.items():
        for thread in {o.thread for o in seen[question]}:
            first = min(o.place for o in seen[question] if o.thread == thread)
            places[turn.conversation, thread].append((first, question.id))
    wrong = [pair for told in places.values() for pair in zip(told, told[1:]) if pair[0] > pair[1]]
    equal(wrong, [], "outcomes come in the order of the conversation")
    note(f"outcomes behind another one: {sum(len(told) - 1 for told in places.values())}")


def judge_dead(host, dead, doubts):
    # In flight at three deaths says the journal itself, also of a request that the service did not
    # come to read.
    unfounded = [d for d in dead if not doubts[d[0]] and d[1] != "poison"]
    equal(unfounded, [], "a dead letter was in flight at a kill, or its reply was lost")
    status, listed = host.run("dead", "list")
    lines = [line for line in listed.splitlines() if line != "No dead letters."]
    equal((status, len(lines)), (0, len(dead)), "the dead letters are reported")
    for reason, count in collections.Counter(reason for _, reason in dead).items():
        note(f"dead letters: {count}: {reason}")


def judge_outcomes(shown, turns, host, in_flight, refused):
    """Checks the outcomes and returns the turns with a dead letter."""
    note(f"on the wire at a kill: {sum(in_flight.values())} requests of {len(in_flight)} turns")
    dead = ledger.dead(host)
    buried = {turn for turn, _ in dead}
    seen = {q: shown[q.service].outcomes(q) for q in turns}
    ends = {q: t for q, t in turns.items() if t.state != "merged"}
    doubts = collections.Counter(in_flight)
    for question, turn in turns.items():
        doubts[turn.id] += shown[question.service].doubts(question) + (turn.chat in refused)
    judge_arrival(ends, seen, buried)
    judge_order(ends, seen)
    judge_repeats(ends, seen, doubts, {name for name, one in shown.items() if not one.REPEATS})
    judge_dead(host, dead, doubts)
    return buried


def judge_shown(shown, name, turns, buried, least_live):
    mine = {q: t for q, t in turns.items() if q.service == name}
    late = [(q.id, c["method"], c["seq"]) for q in mine for c in shown.late_calls(q)]
    equal(late, [], f"R8: {name}: no turn is shown as running after its outcome")
    rules = collections.Counter(v["rule"] for v in shown.objections())
    equal(set(rules) - FORGOTTEN - REPEATED, set(), f"{name}: no objection")
    left = [(q, m) for q, t in mine.items() for m in shown.left_running(q) if t.id not in buried]
    known = [(q.id, m) for q, m in left if not shown.was_cut_off(q, m)]
    equal(known, [], f"{name}: only what a kill cut off still looks as if it ran")
    for question in {q for q, m in left if not shown.was_cut_off(q, m)}:
        note(f"{question.id}: {shown.history(question)}")
    gone, live = (sum(map(test, shown.calls)) for test in (is_lost, shown.is_live))
    ok(live >= least_live, f"{name}: turns were shown as running", live)
    note(f"{name}: {len(mine)} messages, {len(shown.calls)} calls, {live} live, {gone} lost")
    busy = sum(map(shown.is_busy, mine))
    note(f"{name}: left as if they ran: {len(left)} messages, the status of {busy}")
    note(f"{name}: objections that a restart explains: {dict(rules)}")


def audited(host):
    """turn -> its events in the order of the log, as (type, is it told again)."""
    found = collections.defaultdict(list)
    for line in (line for path in audit_files(host.audit) for line in written(path)):
        event = json.loads(line).get("event")
        if event:
            again = event["type"] == "start" and event["payload"].get("resumed", False)
            found[event["correlation_id"]].append((event["type"], again))
    return found


def behind_done(events):
    """Events of a turn that were delivered after its end, without those of a repeated delivery."""
    kinds = [kind if not again else "again" for kind, again in events]
    return [after for kind, after in zip(kinds, kinds[1:]) if kind == "done" and after != "again"]


def audit_files(path):
    """Those of a rotated log, oldest first: PATH.2, PATH.1, PATH."""
    rotated = [p for p in path.parent.glob(f"{path.name}.*") if p.suffix[1:].isdigit()]
    return [*sorted(rotated, key=lambda p: -int(p.suffix[1:])), path]


def judge_audit(host, turns):
    verified = subprocess.run(
        [BUILD / "turncast", "audit", "verify", *audit_files(host.audit)],
        capture_output=True, text=True, check=False)
    equal(verified.returncode, 0, "the audit log holds")
    note(f"audit: {verified.stdout.splitlines()[0] if verified.stdout else verified.stderr}")
    told = audited(host)
    equal([t for t, e in told.items() if behind_done(e)], [], "no event is behind done")
    decided = {t.id: t.state for t in turns.values()}
    wrong = [
        turn
        for turn, events in told.items()
        for kind, _ in events
        if kind in ("final", "error") and decided.get(turn, kind) != kind
    ]
    equal(wrong, [], "the outcome in the log is the one that was kept")


def judge(chatter, deaths, least_live, refused=frozenset(), causes=frozenset({"host_restart"})):
    """`refused`: chats in which nothing can be said."""
    host, shown = deaths.host, deaths.shown()
    ok(ledger.is_sound(host), "the state is sound")
    turns = judge_turns(chatter, host, causes)
    buried = judge_outcomes(shown, turns, host, deaths.in_flight, refused)
    for name, one in shown.items():
        judge_shown(one, name, turns, buried, least_live)
    judge_audit(host, turns)
