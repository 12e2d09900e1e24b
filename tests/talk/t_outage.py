# SPDX-License-Identifier: MIT
"""All services are down while turns run and end, and the host is killed meanwhile: afterwards the outcome of
each turn arrives once, soon, in order, and nothing else."""
import json
import re
import time

from deaths import DISCORD_PACE, MATRIX_PACE, TEAMS_PACE, Deaths
from people import DiscordPeople, MatrixPeople, SlackPeople, TeamsPeople, TelegramPeople, messages, outcomes
from talk import LONG, Fake, Host, discord, done, equal, listening, matrix, note, ok, slack, teams, telegram, until, written

OUTAGE_S = 1500 if LONG else 20
PEOPLE = 5  # on each service; one more is in the middle of something when the host dies
BACK_S = 60  # a probe goes every 30 s, at most 5 s are its own, and then there is the pace
# Attempts in vain: a conversation's back-off doubles to a mean of 150 s in each of the host's two
# lives, and the instance's own probe comes every 30 s in the end.
# In Slack each thread has a lane for its status beside that for its messages.
MOST = {"tg": PEOPLE + 1, "sl": 2 * (2 * PEOPLE + 1), "mx": PEOPLE + 1, "tm": PEOPLE + 1, "dc": PEOPLE + 1}  # lanes
LIVE = ("editMessageText", "chat.update", "sendChatAction", "edit", "typing")
ONE_BY_ONE = ("Telegram", "Matrix", "Teams", "Discord")  # a chat is a conversation
READY = {"Teams": {"taken": 1}, "Slack": {"sockets": 1}, "Discord": {"sockets": 1}}  # others poll


def answered(path):
    """Turns that the agent has ended, from the log of events."""
    return [e for e in map(json.loads, written(path)) if e["type"] == "final"]


def in_vain(host, instance):
    return len(re.findall(rf"{instance}: attempt \d+ of an outbound request failed", host.log()))


def begin(crowds):
    """Turns that run when the outage begins. In Slack each is a separate thread; elsewhere the second message
    in a chat waits for the first."""
    asked = {
        name: [crowd.ask(who, f"first-{who}", "tools=1 gated") for who in range(PEOPLE)]
        for name, crowd in crowds.items()
    }
    crowds["Telegram"].fake.wait(method="sendMessage", count=PEOPLE)
    crowds["Slack"].fake.wait(method="chat.startStream", count=PEOPLE)
    crowds["Matrix"].fake.wait(method="send", count=PEOPLE)
    crowds["Teams"].fake.wait(method="post", count=PEOPLE)
    crowds["Discord"].fake.wait(method="post", count=PEOPLE)
    for name, crowd in crowds.items():
        for who in range(PEOPLE):
            asked[name].append(crowd.ask(who, f"second-{who}", "tools=2 gated"))
        asked[name].append(crowd.ask(PEOPLE, "cut-short", "tools=1 ms=600000"))
    for name in ("Telegram", "Matrix"):
        crowds[name].fake.wait(polling=1)
    crowds["Teams"].fake.wait(taken=1)
    crowds["Slack"].fake.wait(acked=1)
    crowds["Discord"].fake.wait(method="react", count=2 * PEOPLE + 1)  # each message has one
    return asked


def judge(crowd, asked, name, since, objections):
    fake = crowd.fake
    equal([len(outcomes(crowd, q)) for q in asked], [1] * len(asked), f"R2: {name}: each answer arrived once")
    # A thread of Slack is a conversation of its own, and no conversation waits for another one.
    for who in range(PEOPLE if name in ONE_BY_ONE else 0):
        shown = [m["id"] for m in messages(fake, asked[who].chat)]
        mine = [outcomes(crowd, q)[0] for q in (asked[who], asked[PEOPLE + who])]
        order = [shown.index(m["id"]) for m in mine]
        ok(order == sorted(order), f"R26: {name}: the outcomes are in order for user {who}", order)
    late = [r for r in fake.record(since) if r["kind"] == "call" and r.get("done")]
    live = [r for r in late if r["method"] in LIVE and r["params"].get("typing", True)]
    equal(live, [], f"R8: {name}: no progress message of an old turn is left")
    seen = [m for q in asked[: PEOPLE + 1] for m in messages(fake, q.chat)]
    note(f"{name}: {len(late)} calls after the outage, {len(seen)} messages, {len(asked)} turns")
    equal(objections, [], f"{name}: a strict service rejected no request")
    return seen


def main():
    with Fake("telegram") as tg, Fake("slack") as sl, Fake("matrix") as mx, Fake("teams") as tm, Fake("discord") as dc:
        mx.control("pace", MATRIX_PACE)
        tm.control("pace", TEAMS_PACE)
        dc.control("pace", DISCORD_PACE)
        crowds = {"Telegram": TelegramPeople(tg, PEOPLE + 1), "Slack": SlackPeople(sl, PEOPLE + 1),
                  "Matrix": MatrixPeople(mx, PEOPLE + 1), "Teams": TeamsPeople(tm, PEOPLE + 1),
                  "Discord": DiscordPeople(dc, PEOPLE + 1)}  # fmt: skip
        instances = telegram(tg, allow=crowds["Telegram"].ids)
        instances += slack(sl, allow=crowds["Slack"].ids)
        instances += matrix(mx, allow=crowds["Matrix"].ids, after="delete")
        instances += teams(tm, allow=crowds["Teams"].ids, stream=False)
        instances += discord(dc, allow=crowds["Discord"].ids)
        extra = listening(tm) + """visibility : { show_tools = true; show_narration = true; };
log : { level = "debug"; };
conversations : { max_turns = 64; debounce_ms = 0; };"""
        with Host(instances, events=True, extra=extra) as host:
            run(host, crowds)
    done()


def run(host, crowds):
    deaths = Deaths(host, [crowd.fake for crowd in crowds.values()])
    for name, crowd in crowds.items():
        crowd.fake.wait(**READY.get(name, {"polling": 1}))
    asked = begin(crowds)
    early = len(answered(host.events))
    for crowd in crowds.values():
        crowd.fake.control("down")
    away = time.monotonic()
    for who in range(PEOPLE):
        host.let_go(f"first-{who}")
        host.let_go(f"second-{who}", 2)
    until(lambda: len(answered(host.events)) == 2 * len(crowds) * PEOPLE, "the turns end during the outage")
    equal(early, 0, "no outcome arrived during the outage")
    wait_until(away + OUTAGE_S / 2)
    deaths.kill()
    host.start()
    wait_until(away + OUTAGE_S)
    since = {name: crowd.fake.last_seq() for name, crowd in crowds.items()}
    vain = {name: in_vain(host, name) for name in MOST}
    back = time.monotonic()
    lasted = back - away
    for crowd in crowds.values():
        crowd.fake.control("up")
    pairs = [(crowd, q) for name, crowd in crowds.items() for q in asked[name]]
    until(lambda: all(outcomes(*pair) for pair in pairs), "all outcomes arrive", BACK_S)
    note(f"all told {time.monotonic() - back:.1f} s after the services were back")
    note(f"attempts in vain in {lasted:.0f} s: {vain}")
    for name, count in vain.items():
        most = MOST[name] * (2 * 10 + lasted // 100) + 2 * 10 + lasted // 3
        ok(0 < count <= most, f"R1: {name}: the number of requests is limited, {count} of {most:.0f}", count)
    equal(host.stop(), 0, "the host exits with status 0")
    shown = deaths.shown()
    for name, crowd in crowds.items():
        judge(crowd, asked[name], name, since[name], shown[crowd.fake.name].objections())


def wait_until(moment):
    """Waits for the time of the outage, because nothing can be observed."""
    time.sleep(max(0, moment - time.monotonic()))


main()
