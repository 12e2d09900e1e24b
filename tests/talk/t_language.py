#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two instances of one host, one in German and one in English, used at the same time: messages of the host and
of the connector are in the language of the instance, also for a turn that both show, and after a restart. In
both isolation modes, because the language belongs to a thread."""
import re
from concurrent.futures import ThreadPoolExecutor

from cases import await_, run, same
from deciders import agents
from people import messages
from talk import Fake, Host, done, equal, telegram

STRANGER, BUSY, FAILING, ASKING, KILLED = 2000, 3000, 4000, 5000, 6000
FRIENDS = list(range(1000, 1006))
PEOPLE = [*FRIENDS, BUSY, FAILING, ASKING, KILLED]


def spoken(fake, chat):
    """All messages sent to the chat, edits included."""
    calls = [r for r in fake.record() if r["kind"] == "call" and r["chat"] == str(chat)]
    return [c["text"] for c in calls if c.get("text")]


def hear(fake, chat, pattern, after=0):
    def found():
        return next((t for t in spoken(fake, chat)[after:] if re.search(pattern, t)), None)

    return await_(found, f"{pattern!r} in {chat}")


def say(fake, user, text):
    fake.control("message", {"from": user, "text": text})


def both(german, english, user, text, in_german, in_english):
    """Sends a message to both at once; the answers are found in the language of each."""
    before = [len(spoken(f, user)) for f in (german, english)]
    say(german, user, text)
    say(english, user, text)
    hear(german, user, in_german, before[0])
    hear(english, user, in_english, before[1])


def commands_of(german, english, user):
    both(german, english, user, "/status", "^Derzeit läuft kein", "^Nothing is running")
    both(german, english, user, "/help", "queue: Wartende", "queue: List the queued")
    both(german, english, user, "/usage", "^(In diesem|Heute)", "^(No turn|Today)")
    both(german, english, user, "/sessions", "noch keine Sitzungen", "no sessions yet")
    both(german, english, user, "/queue clear", "Warteschlange ist leer", "queue is empty")
    both(german, english, user, "/hide-tools", "^Sichtbar: Antworten", "^Shown: answers")


def commands(german, english, _host):
    """concurrent commands of several users, also those whose answers wait for the disk"""
    with ThreadPoolExecutor(len(FRIENDS)) as pool:
        list(pool.map(lambda user: commands_of(german, english, user), FRIENDS))


def strangers(german, english, _host):
    """a stranger gets the pairing code in the language of the instance"""
    both(german, english, STRANGER, "hello", "eine Stunde lang gültig ist: ", "valid for an hour: ")


def progress(german, english, host):
    """a running turn: progress, button, a waiting message, and the end of both turns"""
    for fake, name, button in ((german, "g", "⏹ Stopp"), (english, "e", "⏹ Stop")):
        say(fake, BUSY, f"id={name}1 gated tools=1")
        await_(lambda f=fake, b=button: any([b] in m["buttons"] for m in messages(f, str(BUSY))), button)
    both(german, english, BUSY, "/stop", "Gestoppt", "Stopped")


def errors(german, english, _host):
    """the error of an agent that was killed, and its button"""
    both(german, english, FAILING, "hello", "⚠ Der Agent endete mit Status 3", "⚠ The agent exited")
    for fake, button in ((german, "Wiederholen"), (english, "Retry")):
        same(messages(fake, str(FAILING))[-1]["buttons"], [[button]], "its button")


def card(fake, words):
    found = [m for m in messages(fake, str(ASKING)) if m["text"].startswith(f"✋ {words}")]
    return found[-1] if found else None


def press(fake, message, button):
    body = {"from": ASKING, "chat": ASKING, "message_id": message["id"], "button": button}
    fake.control("callback", body)


def asked_in_both(german, english, _host):
    """a request that is shown in both: each card, its buttons and its end are in the language of its chat"""
    both(german, english, ASKING, "/queue", "^Die Warteschlange", "^The queue")
    say(german, ASKING, "run=pwd")
    here = await_(lambda: card(german, "Freigabe erforderlich"), "the card in German")
    there = await_(lambda: card(english, "Approval needed"), "the card in English")
    same([here["buttons"][0][0], there["buttons"][0][0]], ["Erlauben", "Allow"], "a button of each")
    press(english, there, "Allow")
    hear(german, ASKING, f"→ Von User {ASKING} .* erlaubt")
    hear(english, ASKING, f"→ Allowed by User {ASKING}")
    hear(german, ASKING, '"behavior":"allow"')


def killed(german, english, host):
    """after a restart of the host: the messages about turns that the kill has ended"""
    for fake, id_ in ((german, "g2"), (english, "e2")):
        say(fake, KILLED, f"id={id_} gated tools=1")
        await_(lambda f=fake: any("⏹ Stop" in str(m["buttons"]) for m in messages(f, str(KILLED))), "the turn runs")
    host.kill()
    host.start()
    hear(german, KILLED, "⚠ Dieser Auftrag wurde durch einen Neustart von turncast unterbrochen")
    hear(english, KILLED, "⚠ This turn was interrupted because turncast restarted")


def reloaded(german, english, host):
    """another language after a reload, in the host and in the connector"""
    host.config.write_text(host.config.read_text().replace('language = "de"', 'language = "en"'))
    same(host.run("reload")[0], 0, "reload")
    both(german, english, KILLED, "/queue clear", "^The queue is empty", "^The queue is empty")
    say(german, KILLED, "id=g3 gated tools=1")
    await_(lambda: any(["⏹ Stop"] in m["buttons"] for m in messages(german, str(KILLED))), "its button")
    host.let_go("g3", 9)


def converse(isolation):
    """All cases, with instances of that isolation mode."""
    rules = f"""approvals = ({{ action = "ask"; tool = "*"; to = ["tg", "en:{ASKING}"]; }});"""
    dying = 'dying : { command = ["sh", "-c", "exit 3"]; attempts = 1; }; '
    bound = f"""bindings = ({{ chat = {FAILING}; agent = "dying"; }}, {{ chat = {ASKING}; agent = "asker"; }});"""
    common = {"allow": PEOPLE, "pairing": True, "isolation": isolation, "grants": ["submit", "cancel", "answer"]}
    with Fake("telegram") as german, Fake("telegram") as english:
        first = telegram(german, language="de", **common)
        second = telegram(english, **common).replace("tg :", "en :", 1)
        instances = "".join(text.replace("};", f"{bound} }};") for text in (first, second))
        with Host(instances, agents=dying + agents(rules=rules)) as host:
            await_(host.has_started, "the host")
            run([commands, strangers, progress, errors, asked_in_both], german, english, host)
            said = re.findall("(?:The agent|Der Agent) [^;\n]* 3", host.log_path.read_text())
            equal(said, 2 * ["The agent exited with status 3"], f"{isolation}: the log is in English")
            run([killed, reloaded], german, english, host, at_once=1)
        for fake in (german, english):
            equal(fake.violations(), [], f"{isolation}: Telegram rejected no request")


def main():
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(converse, ("process", "thread")))
    done()


main()
