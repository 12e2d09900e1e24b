#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A turn on one host is shown in the chat of a bot that another host leads: its progress, the requests of its
agent, and one outcome."""
import os
import re
import sqlite3
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from bus import ASKER, Member, done, equal, natsd, ok, short_leases, skip_without_server, until  # noqa: E402
from people import messages  # noqa: E402
from shown import is_marked  # noqa: E402
from t_adopt import queued  # noqa: E402

from t_lead import await_leader, leads  # noqa: E402
from talk import Fake, telegram  # noqa: E402

TTL_S = 5
PERSON, STRANGER = 1000, 1001
STOP = "⏹ Stop"
CHAT = str(PERSON)


def seen(fake, pattern, chat=CHAT):
    """The newest message of the bot in the chat in which that is found."""
    found = [m for m in messages(fake, chat) if re.search(pattern, m.get("text") or "")]
    return found[-1] if found else None


def hear(fake, pattern):
    return until(lambda: seen(fake, pattern), f"the chat has a message with {pattern}")


def press(fake, message, button, user=PERSON):
    """The text that the user sees after a press."""
    query = fake.control("callback", {"from": user, "chat": PERSON, "message_id": message["id"], "button": button})["id"]

    def told():
        for call in fake.record():
            if call.get("method") == "answerCallbackQuery" and call.get("status") == 200:
                if call["params"]["callback_query_id"] == query:
                    return call["params"]
        return None

    return until(told, "the press is answered").get("text", "")


def answers(fake, id_):
    """The messages with the answer of the talker, except progress messages."""
    return [m for m in messages(fake, CHAT) if f"Answer {id_} of " in (m.get("text") or "") and "⏱" not in m["text"]]


def decided_in_chat(fake, leader, other):
    """An approval of a turn that runs on the other host is decided in the chat."""
    turn = other.begin("run=echo A1", agent="asker", instances=["tg"])["id"]
    card = hear(fake, "echo A1")
    equal(card["buttons"][0][0], "Allow", "the chat has a card with buttons")
    equal(press(fake, card, "Allow", STRANGER), "You are not allowed to answer this request.", "a stranger may not answer")
    equal(other.turn(turn)["state"], "running", "the turn waits")
    equal(press(fake, card, "Allow"), "Allowed.", "a listed user may answer")
    ended(fake, card, "Allowed by User 1000 (tg)")
    equal(other.await_state(turn, "final", "error")["state"], "final", "the agent continues")
    until(lambda: seen(fake, '"behavior":"allow"'), "the answer is in the chat")
    settled(fake, leader, other)
    equal(len([m for m in messages(fake, CHAT) if '"behavior":"allow"' in m["text"]]), 1, "once")


def ended(fake, card, text):
    """Waits until the card shows the decision and has no buttons."""
    def found():
        now = next(m for m in messages(fake, CHAT) if m["id"] == card["id"])
        return text in now["text"] and not now["buttons"]

    until(found, f"the card shows: {text}")


def settled(fake, *hosts):
    until(lambda: all(queued(h) == 0 for h in hosts), "no delivery is pending")
    until(lambda: not seen(fake, "⏱"), "no progress message is left")


def decided_elsewhere(fake, leader, other):
    """A request that is decided over HTTP is closed in the chat, too; a question is answered there."""
    turn = other.begin("run=echo A2, single", agent="asker", instances=["tg"])["id"]
    card = hear(fake, "echo A2")
    status = leader.status("POST", f"/turns/{turn}/requests/req-1", key="ann", body={"choice": "deny"})
    equal(status, 200, "the request is denied over HTTP")
    ended(fake, card, "Denied by ann")
    card = hear(fake, "Which colour")
    equal(press(fake, card, "Green"), "Answered.", "a question is answered in the chat")
    ended(fake, card, "Answered by User 1000 (tg)")
    until(lambda: seen(fake, '"Which colour\\?":"Green"'), "the agent receives the answer")
    settled(fake, leader, other)


def progress(fake, leader, other):
    """Progress is shown in one message, which is removed when the outcome is there; hidden events are not shown."""
    turn = other.begin("tools=2 gated id=p1", instances=["tg"])["id"]
    first = hear(fake, "⏱")
    other.let_go("p1", 1)
    until(lambda: "part 2" in (seen(fake, "⏱") or {"text": ""})["text"], "the progress message is edited")
    equal(seen(fake, "⏱")["id"], first["id"], "the progress message keeps its id")
    ok("Bash" not in seen(fake, "⏱")["text"], "hidden tools are not shown", seen(fake, "⏱"))
    other.let_go("p1", 1)
    until(lambda: answers(fake, "p1"), "the outcome is in the chat")
    settled(fake, leader, other)
    equal(len(answers(fake, "p1")), 1, "once")
    ok(not is_marked(answers(fake, "p1")[0]["text"]), "the outcome is not marked as a repeat")
    other.await_state(turn, "final")


def stopped(fake, host, id_):
    """A turn of that host is stopped by the button of its progress."""
    turn = host.begin(f"tools=2 gated id={id_}", instances=["tg"])["id"]
    shown = hear(fake, "⏱")
    equal(press(fake, shown, STOP, STRANGER), "You are not allowed to stop this turn.", "a stranger may not stop it")
    equal(host.turn(turn)["state"], "running", "so it runs")
    equal(press(fake, shown, STOP), "Stopping the running turn.", "a person who may stops it")
    host.await_state(turn, "cancelled")
    until(lambda: seen(fake, r"^Stopped\.$"), "which the chat is told")


def stopped_in_chat(fake, leader, other):
    """Turns that did not begin in the chat are stopped there, on the other host and on the leader."""
    for host, id_ in ((other, "s1"), (leader, "s2")):
        before = len([m for m in messages(fake, CHAT) if m["text"] == "Stopped."])
        stopped(fake, host, id_)
        settled(fake, leader, other)
        equal(len([m for m in messages(fake, CHAT) if m["text"] == "Stopped."]) - before, 1, "once")
        equal(answers(fake, id_), [], "without an answer")


def stopped_by_command(fake, leader, other):
    """A turn of the chat continues on the host that led the bot when it began: the command /stop reaches it there."""
    fake.control("message", {"from": PERSON, "text": "tools=2 gated id=c1"})
    hear(fake, "⏱")
    turn, = (t["id"] for t in leader.turns() if t["state"] == "running")
    equal(leader.run("drain", "--detach")[0], 0, "the leader drains")
    until(lambda: leads(other), "the other host leads")
    until(lambda: other.knows(turn, "running"), "and knows the turn")
    fake.control("message", {"from": PERSON, "text": "/stop"})
    until(lambda: seen(fake, "^Stopping the running turn"), "the command is answered")
    leader.await_state(turn, "cancelled")
    settled(fake, leader, other)
    equal(answers(fake, "c1"), [], "the turn has no answer")
    equal(leader.run("drain", "--undo")[0], 0, "the former leader works again")
    return other, leader


def asked_by_rule(fake, leader, other):
    """A rule of the agent sends a request to a chat, which sees nothing else of the turn."""
    other.begin("run=echo A3", agent="asker")
    card = hear(fake, "echo A3")
    equal(press(fake, card, "Deny"), "Denied.", "the request is decided there")
    ended(fake, card, "Denied by User 1000 (tg)")
    settled(fake, leader, other)
    equal(seen(fake, '^{"behavior":"deny"[^;]*$'), None, "the outcome is not shown there")


def led_by_another(fake, leader, other, third):
    """The leader is killed during a turn of the other host: the next leader continues in the same messages."""
    turn = other.begin("run=echo A4", agent="asker", instances=["tg"])["id"]
    card = hear(fake, "echo A4")
    gated = other.begin("tools=2 gated id=l1", instances=["tg"])["id"]
    first = until(lambda: seen(fake, "part 1"), "the second turn shows its progress")
    until(lambda: f'"live":"{first["id"]}"' in str(about(other, gated)), "the host of the turn knows the message")
    until(lambda: f'"m":"{card["id"]}"' in str(about(other, turn)), "the host of the turn knows the card")
    equal(other.run("drain", "--detach")[0], 0, "the host of the turn drains")
    leader.kill()
    until(lambda: leads(third), "the third host takes over")
    equal(press(fake, card, "Allow"), "Allowed.", "the buttons of the killed leader are valid")
    ended(fake, card, "→ ")
    other.let_go("l1", 2)
    until(lambda: answers(fake, "l1"), "the outcome is in the chat")
    for ident in (turn, gated):
        equal(other.await_state(ident, "final", "error")["state"], "final", "both turns are completed")
    settled(fake, third, other)
    equal(len(answers(fake, "l1")), 1, "once")
    equal(len([m for m in messages(fake, CHAT) if "echo A4" in m["text"] and "✋" in m["text"]]), 1, "there is one card")
    equal(len([m for m in messages(fake, CHAT) if "part 1" in m["text"]]), 0, "no progress message is left")
    leader.start()
    leader.await_bus()
    equal(other.run("drain", "--undo")[0], 0, "all hosts work again")


def about(host, turn):
    """The memory of the instance in the journal of the host."""
    with sqlite3.connect(f"file:{host.state}/state.db?mode=ro", uri=True) as db:
        return db.execute("select text from memory where turn=?", (turn,)).fetchall()


def died(fake, leader, other):
    """The host of two turns dies: a button says so, and the outcomes come when it is back, once."""
    turn = other.begin("run=echo A5", agent="asker", instances=["tg"])["id"]
    card = hear(fake, "echo A5")
    other.begin("tools=2 gated id=d1", instances=["tg"])
    shown = hear(fake, "part 1")
    other.kill()
    equal(press(fake, shown, STOP), "The host of this turn cannot be reached at present. Try again later.", "nobody stops it")
    equal(press(fake, card, "Allow"), "The host of this turn cannot be reached at present. Try again later.", "the press reports that the host is unreachable")
    ok(card["buttons"], "the card keeps its buttons")
    other.start()
    other.await_bus()
    until(lambda: seen(fake, "^⚠"), "the turn was interrupted")
    ended(fake, card, "the turn has ended")
    settled(fake, leader, other)
    equal(len([m for m in messages(fake, CHAT) if m["text"].startswith("⚠")]), 2, "which is told once of each")
    equal(other.turn(turn)["state"], "error", "the turn has failed on its host")


if __name__ == "__main__" and not skip_without_server():
    with natsd.NatsServer() as nats, Fake("telegram") as bots:
        short_leases(nats, "tc_lead", TTL_S)
        bots.control("chat", {"id": PERSON, "type": "private"})
        tg = telegram(bots, allow=[PERSON], chat=CHAT, progress_after_ms=0, grants=["submit", "cancel", "answer"])
        rule = f'approvals = ({{ action = "ask"; tool = "Bash"; exact = "echo A3"; to = ["tg:{CHAT}"]; }});'
        agents = ASKER.replace("attempts = 1;", f"attempts = 1; {rule}")
        with Member("h1", nats.url(), instances=tg, agents=agents) as one, Member("h2", nats.url(), instances=tg, agents=agents) as two:
            one.await_bus()
            two.await_bus()
            led, far = await_leader(one, two)
            decided_in_chat(bots, led, far)
            decided_elsewhere(bots, led, far)
            progress(bots, led, far)
            stopped_in_chat(bots, led, far)
            led, far = stopped_by_command(bots, led, far)
            asked_by_rule(bots, led, far)
            died(bots, led, far)
            with Member("h3", nats.url(), instances=tg, agents=agents) as three:
                three.await_bus()
                led_by_another(bots, led, far, three)
    done()
