#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The host that leads a bot is killed while a message with a file waits. The next leader has the file only if
both hosts share a disk; otherwise the agent is told that the download has failed."""
import hashlib
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from bus import Member, done, natsd, ok, skip_without_server, stored, until  # noqa: E402
from people import messages  # noqa: E402
from t_adopt import CONVERSATIONS, short_leases  # noqa: E402
from t_lead import leads  # noqa: E402
from talk import Fake, telegram  # noqa: E402

PEOPLE = [1000, 1001, 1002]
# Answers with the message, and with the digest of each file in it. For the message "hold" it never answers.
READER = r'''
import hashlib, json, os, re, signal, sys
text = json.loads(sys.stdin.readline())["message"]["content"]
text = text if isinstance(text, str) else "".join(part.get("text", "") for part in text)
print(json.dumps({"type": "system", "subtype": "init", "session_id": "s1", "model": "m", "tools": []}), flush=True)
if "hold" in text:
    signal.pause()
found = []
for path in re.findall(r"\[file: (\S+?)(?: \(.*\))?\]", text):
    own = path.startswith(os.path.dirname(os.path.abspath(__file__)) + "/")
    found.append(hashlib.sha256(open(path, "rb").read()).hexdigest() if own else "file of another host")
answer = "Read " + "; ".join(found) + ". Text " + " | ".join(text.split("\n"))
print(json.dumps({"type": "result", "subtype": "success", "is_error": False, "result": answer, "session_id": "s1",
                  "num_turns": 1, "duration_ms": 1, "duration_api_ms": 1, "total_cost_usd": 0, "usage": {}}), flush=True)
'''
READ = f'reader : {{ command = ["{sys.executable}", "SCRIPT"]; dialect = "claude"; attempts = 1; }};'


def host(name, server, fake):
    bot = telegram(fake, allow=PEOPLE, agent="reader", progress_after_ms=0)
    made = Member(name, server.url(), bus="lost_after_s = 3;", extra=CONVERSATIONS, instances=bot, agents=READ)
    script = made.folder / "reader.py"
    script.write_text(READER)
    made.config.write_text(made.config.read_text().replace("SCRIPT", str(script)))
    return made


def files_of(member):
    return list((member.state / "instances" / "tg" / "files").glob("file-*"))


def leading(hosts):
    until(lambda: [h for h in hosts if leads(h)], "one host leads the bot")
    leader = next(h for h in hosts if leads(h))
    return leader, next(h for h in hosts if h is not leader)


def say(fake, who, **body):
    fake.control("message", {"from": who, "chat": who, **body})


def answer(fake, who, count):
    def look():
        found = [m["text"] for m in messages(fake, str(who)) if "Read " in m["text"]]
        return found if len(found) >= count else None

    return (until(look, f"answer {count} to person {who}") or [""])[-1]


def is_killed_with_waiting_file(server, fake, leader, content):
    """Begins one turn, behind which a message with a photo waits."""
    say(fake, PEOPLE[0], text="hold")
    until(lambda: stored(server, "new") == 1, "a turn runs")
    say(fake, PEOPLE[1], caption="look", photo={"content": content})
    until(lambda: stored(server, "new") == 2, "a message with a photo waits")
    fake.wait(polling=1)  # Telegram knows that the leader has it, and does not give it to the next one
    leader.kill()


def without_file(server, fake, hosts):
    leader, other = leading(hosts)
    is_killed_with_waiting_file(server, fake, leader, "first")
    until(lambda: leads(other), "the other host takes over")
    text = answer(fake, PEOPLE[1], 1)
    ok("| [photo.jpg: download failed]" in text.replace("\\", ""), "the agent is told that the file is missing", text)
    ok("[file:" not in text, "the prompt has no path", text)
    until(lambda: stored(server, "new") == 0, "all outcomes are delivered")
    leader.start()
    leader.await_bus()


def with_shared_disk(server, fake, hosts):
    leader, other = leading(hosts)
    is_killed_with_waiting_file(server, fake, leader, "second")
    folder = other.state / "instances" / "tg" / "files"
    folder.mkdir(parents=True, exist_ok=True)
    for file in files_of(leader):
        shutil.copy(file, folder)
    until(lambda: leads(other), "the other host takes over")
    text = answer(fake, PEOPLE[1], 2)
    ok(text.startswith(f"Read {hashlib.sha256(b'second').hexdigest()}."),
       "the agent reads the file in the directory of the host that has adopted the turn", text)


def main():
    with natsd.NatsServer() as server, Fake("telegram") as fake:
        short_leases(server)
        hosts = [host(name, server, fake) for name in ("h1", "h2")]
        try:
            for one in hosts:
                one.start()
            for one in hosts:
                one.await_bus()
            without_file(server, fake, hosts)
            with_shared_disk(server, fake, hosts)
        finally:
            for one in hosts:
                one.close()
    done()


if __name__ == "__main__" and not skip_without_server():
    main()
