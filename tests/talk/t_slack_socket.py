# SPDX-License-Identifier: MIT
"""Slack ends connections, tokens and streams, and the host is killed: each question is answered once. Cases are
named after requirements on a connector."""
from cases import await_, run, same, session_of
from people import outcomes
from slackers import ALLOWED, EXTRA, Person, fault, inbound
from talk import SLACK_TOKENS, Fake, Host, done, equal, slack

# Asked with the token of the bot, which is revoked, too.
HISTORY = ("conversations.history", "conversations.replies")


def sockets(fake, *events):
    return [r for r in fake.record() if r["kind"] == "socket" and r["event"] in events]


def drops(fake, host):
    """R16, R17: a lost connection is opened again, and no message is lost or answered twice"""
    people = [Person(fake) for _ in range(3)]
    asked = [people[0].ask("tools=1 gated")]
    fault(fake, "apps.connections.open", None, "html")
    fake.control("socket", {"do": "drop"})
    host.let_go(asked[0].id)
    asked.append(people[1].ask())
    fake.wait(sockets=1)
    fake.control("socket", {"do": "close", "code": 1001})
    asked.append(people[2].ask())
    for person, question in zip(people, asked):
        person.answer(question)
    same([len(outcomes(*both)) for both in zip(people, asked)], [1, 1, 1])


def refresh(fake, host):
    """R17: the next connection is open before a connection is left"""
    person = Person(fake)
    fake.wait(sockets=1)
    old = max(r["socket"] for r in sockets(fake, "open"))
    fake.control("socket", {"do": "disconnect", "reason": "refresh_requested"})
    asked = person.ask()  # goes to the old one, or to the new
    person.answer(asked)
    closed = await_(lambda: [r for r in sockets(fake, "close") if r["socket"] == old], "its end")
    opened = [r for r in sockets(fake, "open") if r["socket"] == old + 1]
    assert opened and opened[0]["seq"] < closed[0]["seq"], (opened, closed)
    same(len(outcomes(person, asked)), 1)


def expiry(fake, host):
    """R13: after Slack ends a stream the answer is still delivered"""
    fake.control("options", {"stream_life": 2})
    person = Person(fake)
    asked = person.ask("tools=4 gated")
    person.hear("Looking at part 1", asked.message, streaming=True)
    person.hear("Looking at part 1", asked.message, streaming=False)
    fake.control("options", {"stream_life": 300})
    for part in range(1, 5):
        person.hear(f"Looking at part {part}", asked.message)
        host.let_go(asked.id)
    person.answer(asked)
    same(len(outcomes(person, asked)), 1)
    told = "\n".join(m["text"] for m in person.seen(asked))
    same([told.count(f"Looking at part {n}") for n in range(1, 5)], [1] * 4, "narration")


REFUSED = "the service refuses the credentials (token_revoked)"


def restart(fake, host):
    """R17, R18, R26, R27: acknowledged messages and the session survive a kill"""
    fake.control("channel", {"id": "C0RESTART", "type": "channel"})
    group = Person(fake, "C0RESTART")
    begun = group.ask(both=True)
    session = session_of(group.answer(begun))
    busy = Person(fake)
    first = busy.ask()
    told = session_of(busy.answer(first))
    busy.ask("tools=1 ms=600000", first.message)
    busy.hear("Looking at part 1", first.message)
    waits = busy.ask("", first.message)
    asked = [Person(fake).ask() for _ in range(3)]
    fake.wait(acked=1)
    host.kill()
    host.start()
    answer = busy.hear(f"Answer {waits.id} of", first.message)
    same(session_of(answer), told, "the session after the restart")
    busy.hear("^⚠", first.message)
    payload = inbound(fake, first.message)
    fake.control("event", {"event": payload["event"], "event_id": payload["event_id"]})
    for question in asked:
        busy.answer(question)
    last = busy.ask("", first.message)
    busy.hear(f"Answer {last.id} of", first.message)
    answers = [m for m in busy.seen(first) if "Answer" in m["text"]]
    same(len(answers), 3, "answers in the thread: before the kill, to the waiting message, to the last message")
    same([len(outcomes(busy, q)) for q in asked], [1] * len(asked))
    group.prefix = ""
    goes_on = group.ask("", begun.message)
    told = session_of(group.hear(f"Answer {goes_on.id} of", begun.message))
    same(told, session, "the session of a thread of a channel, without a mention")


def held(fake, host):
    """R6: a stream that waits for a rate limit does not delay the answer"""
    person = Person(fake)
    fault(fake, "chat.startStream", None, "flood", retry_after=60)
    asked = person.ask("tools=1 gated")
    fake.wait(method="chat.startStream", status=429, chat=person.chat)
    host.let_go(asked.id)
    person.answer(asked)
    same(len(person.calls("chat.startStream")), 1)


def status_of(host):
    """State and reason of the instance in the table of `turncast status`."""
    lines = host.run("status")[1].splitlines()
    at = next((i for i, line in enumerate(lines) if line.startswith("sl ")), None)
    if at is None:
        return [None]
    below = [x.strip().rsplit(", for ", 1)[0] for x in lines[at + 1 : at + 3] if x.startswith("  ")]
    return [lines[at].split()[2], *[x for x in below if not x.startswith("led by ")][:1]]


def bad_token(fake, host):
    """R2, R16: a refused token is reported once; with a valid token the answers arrive"""
    fake.control("options", {"tokens_revoked": True})
    people = [Person(fake), Person(fake)]
    asked = [person.ask() for person in people]
    await_(lambda: REFUSED in host.log(), "the log")
    await_(lambda: status_of(host) == ["fails", REFUSED],
           "the status")
    mend(fake, host)
    for person, question in zip(people, asked):
        person.answer(question)
    same([len(outcomes(*both)) for both in zip(people, asked)], [1, 1])
    await_(lambda: status_of(host)[0] == "runs", "the status of one that runs")
    same(host.log().count(REFUSED), 1, "how often it is told")


def bad_app_token(fake, host):
    """R16: a token that opens no connection is tried and reported once"""
    fake.wait(sockets=1)
    before = fake.last_seq()
    fake.control("options", {"tokens_revoked": True})
    fake.control("socket", {"do": "drop"})
    await_(lambda: "disconnected from Slack for good" in host.log(), "the log")
    mend(fake, host)
    calls = [r for r in fake.record(before) if r["kind"] == "call"]
    refused_ = [r for r in calls if (r.get("answer") or {}).get("error") == "token_revoked"]
    opened = [r["method"] for r in refused_ if r["method"] not in HISTORY]
    same(opened, ["apps.connections.open"])
    same(host.log().count("disconnected from Slack for good"), 1, "how often it is told")
    fake.wait(sockets=1)
    person = Person(fake)
    person.answer(person.ask())


def mend(fake, host):
    same(host.stop(), 0, "the end of the host")
    assert not any(token in host.log() for token in SLACK_TOKENS), "a token in the log"
    fake.control("options", {"tokens_revoked": False})
    host.start()


def one_after_the_other():
    with Fake("slack") as fake:
        with Host(slack(fake, allow=ALLOWED), extra=EXTRA) as host:
            fake.wait(sockets=1)
            run([drops, refresh, expiry], fake, host, at_once=1)
            equal(fake.violations(), [], "a strict service rejected no request")
            run([restart, bad_token, bad_app_token, held], fake, host, at_once=1)
            equal(host.stop(), 0, "the host exits with status 0")
        # A host that was killed does not know how much of a limit is used up.
        found = {v["rule"] for v in fake.violations()} - {"too-fast"}
        equal(found, set(), "a strict service rejected no request after restarts")


one_after_the_other()
done()
