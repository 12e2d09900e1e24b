#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two instances of one host, one in German and one in English, used at the same time: each hears its
own language, in what the host says and in what its connector shows."""
import re

from cases import await_, run, same
from people import messages
from talk import Fake, Host, done, equal, telegram

FRIEND, STRANGER, BUSY, FAILING = 1000, 2000, 3000, 4000
ROUNDS = 10


def spoken(fake, chat):
    """All that was sent there, edits included."""
    calls = [r for r in fake.record() if r["kind"] == "call" and r["chat"] == str(chat)]
    return [c["text"] for c in calls if c.get("text")]


def hear(fake, chat, pattern, after=0):
    def found():
        return next((t for t in spoken(fake, chat)[after:] if re.search(pattern, t)), None)

    return await_(found, f"{pattern!r} in {chat}")


def say(fake, user, text):
    fake.control("message", {"from": user, "text": text})


def both(german, english, user, text, in_german, in_english):
    """Both at once; the answers are found in the language of each."""
    before = [len(spoken(f, user)) for f in (german, english)]
    say(german, user, text)
    say(english, user, text)
    hear(german, user, in_german, before[0])
    hear(english, user, in_english, before[1])


def commands(german, english, _host):
    """commands, many times, and with answers that wait for the disk"""
    for _ in range(ROUNDS):
        both(german, english, FRIEND, "/status", "^Derzeit läuft kein", "^Nothing is running")
        both(german, english, FRIEND, "/help", "queue: Wartende", "queue: List the queued")
        both(german, english, FRIEND, "/usage", "^(In diesem|Heute)", "^(No turn|Today)")
        both(german, english, FRIEND, "/sessions", "noch keine Sitzungen", "no sessions yet")
        both(german, english, FRIEND, "/queue clear", "Warteschlange ist leer", "queue is empty")
        both(german, english, FRIEND, "/hide-tools", "^Sichtbar: Antworten", "^Shown: answers")


def strangers(german, english, _host):
    """a stranger gets the code in the language of the instance"""
    both(german, english, STRANGER, "hello", "eine Stunde lang gültig ist: ", "valid for an hour: ")


def progress(german, english, host):
    """a turn that runs: progress, button, a message that waits, and the end of both"""
    for fake, name, button in ((german, "g", "⏹ Stopp"), (english, "e", "⏹ Stop")):
        say(fake, BUSY, f"id={name}1 gated tools=1")
        await_(lambda f=fake, b=button: any([b] in m["buttons"] for m in messages(f, str(BUSY))), button)
    both(german, english, BUSY, "/stop", "^Der laufende Auftrag wird gestoppt", "^Stopping the")
    hear(german, BUSY, "Gestoppt")
    hear(english, BUSY, "Stopped")


def errors(german, english, _host):
    """what the host says about an agent that died, and the button under it"""
    both(german, english, FAILING, "hello", "⚠ Der Agent endete mit Status 3", "⚠ The agent exited")
    for fake, button in ((german, "Wiederholen"), (english, "Retry")):
        same(messages(fake, str(FAILING))[-1]["buttons"], [[button]], "its button")


def main():
    people = [FRIEND, BUSY, FAILING]
    agents = 'dying : { command = ["sh", "-c", "exit 3"]; attempts = 1; }; '
    with Fake("telegram") as german, Fake("telegram") as english:
        bound = f'bindings = ({{ chat = {FAILING}; agent = "dying"; }});'
        first = telegram(german, allow=people, language="de", pairing=True)
        second = telegram(english, allow=people, pairing=True).replace("tg :", "en :", 1)
        instances = "".join(text.replace("};", f"{bound} }};") for text in (first, second))
        with Host(instances, agents=agents) as host:
            await_(host.has_started, "the host")
            run([commands, strangers, progress, errors], german, english, host)
            said = re.findall("(?:The agent|Der Agent) [^;\n]* 3", host.log_path.read_text())
            equal(said, 2 * ["The agent exited with status 3"], "the log is in English")
        for fake in (german, english):
            equal(fake.violations(), [], "nothing that Telegram objects to")
    done()


main()
