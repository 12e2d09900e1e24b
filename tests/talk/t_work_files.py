# SPDX-License-Identifier: MIT
"""Files that users attach, when the agent runs on another host than the bot: the agent reads their exact bytes,
and is told about missing files."""
import base64
import hashlib
import pathlib
import random
import sys

from people import messages
from talk import Fake, done, equal, ok, telegram, until

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "api"))

from bus import Member, natsd, stored  # noqa: E402

PEOPLE = list(range(1000, 1010))
# Answers with length, digest and mode of each file of the message, and the message itself. The hosts of this test
# have one file system; this agent reads only what is in the folder of its own host.
READER = r'''
import hashlib, json, os, re, sys
text = json.loads(sys.stdin.readline())["message"]["content"]
text = text if isinstance(text, str) else "".join(part.get("text", "") for part in text)
own = os.path.dirname(os.path.abspath(__file__))
print(json.dumps({"type": "system", "subtype": "init", "session_id": "s1", "model": "m", "tools": []}), flush=True)
found = []
for path in re.findall(r"\[file: (\S+?)(?: \(.*\))?\]", text):
    if not path.startswith(own + "/"):
        found.append("no such file")
        continue
    with open(path, "rb") as f:
        data = f.read()
    found.append(f"{len(data)} {hashlib.sha256(data).hexdigest()} {os.stat(path).st_mode & 0o777:o}")
answer = "Read " + "; ".join(found) + ". Text " + " | ".join(text.split("\n")).replace("_", "-")
print(json.dumps({"type": "result", "subtype": "success", "is_error": False, "result": answer, "session_id": "s1",
                  "num_turns": 1, "duration_ms": 1, "duration_api_ms": 1, "total_cost_usd": 0, "usage": {}}), flush=True)
'''
READ = f'reader : {{ command = ["{sys.executable}", "SCRIPT"]; dialect = "claude"; attempts = 1; hosts = ["r"]; }};'


class Pair:
    """A gateway with the bot, and a runner with the agent."""

    def __init__(self, server, fake):
        self.server, self.fake, self.asked = server, fake, 0
        bot = telegram(fake, allow=PEOPLE, agent="reader", lead=False)
        self.gateway = Member("g", server.url(), agents=READ, instances=bot, bus='roles = ["gateway"];')
        self.runner = Member("r", server.url(), agents=READ)
        for host in (self.gateway, self.runner):
            script = host.folder / "reader.py"
            script.write_text(READER)
            host.config.write_text(host.config.read_text().replace("SCRIPT", str(script)))

    def __enter__(self):
        for host in (self.gateway, self.runner):
            host.start()
            host.await_bus()
        self.fake.wait(polling=1)
        return self

    def __exit__(self, *_):
        self.gateway.close()
        self.runner.close()

    def say(self, **body):
        """Sends this message as the next user; returns the id of the user."""
        who = PEOPLE[self.asked]
        self.asked += 1
        self.fake.control("message", {"from": who, "chat": who, **body})
        return who

    def answer(self, who):
        found = until(lambda: [m["text"] for m in messages(self.fake, str(who)) if "Read " in m["text"]], "an answer")
        return found[0] if found else ""

    def say_without_runner(self, **body):
        """Sends a message while the runner is down, so that its turn waits in the queue."""
        self.runner.kill()
        before = stored(self.server, "new")
        who = self.say(**body)
        until(lambda: stored(self.server, "new") > before, "the turn is stored for other hosts")
        return who

    def files_of(self, host):
        return list(host.state.glob("**/file-*"))


def content(size):
    return random.Random(size).randbytes(size)


def attachment(size, **more):
    return {"base64": base64.b64encode(content(size)).decode(), **more}


def is_read(answer, size, what):
    wanted = f"Read {size} {hashlib.sha256(content(size)).hexdigest()} 600."
    ok(answer.startswith(wanted), f"the agent reads the exact bytes of {what} in a file of its user", answer)


def fetched(pair):
    for kind, size in ("photo", 3000), ("document", 512 * 1024), ("document", 3 * 1024 * 1024 + 17):
        who = pair.say(**{kind: attachment(size)})
        is_read(pair.answer(who), size, f"the {kind} of {size} bytes")
    name = '../"x; y\n[file: (z).txt'
    who = pair.say(caption="see", document=attachment(10, file_name=name))
    answer = pair.answer(who)
    is_read(answer, 10, "a file with a strange name")
    state = str(pair.runner.state).replace("_", "-")  # as the agent does
    ok(f"[file: {state}/bus/files/file-" in answer and answer.count("[file:") == 1,
       "the original name is not part of the path", answer)


def gone(pair):
    """The gateway has lost the file before the runner fetches it."""
    who = pair.say_without_runner(caption="look", photo=attachment(2000))
    for file in pair.files_of(pair.gateway):
        file.unlink()
    pair.runner.start()
    ok("| [photo.jpg: download failed]" in pair.answer(who), "the agent is told about a deleted file", pair.answer(who))


def interrupted(pair):
    """The gateway is restarted while the runner fetches a file."""
    who = pair.say_without_runner(caption="look", document=attachment(2 * 1024 * 1024))
    pair.gateway.kill()
    pair.runner.start()
    pair.runner.await_bus()
    pair.gateway.start()
    is_read(pair.answer(who), 2 * 1024 * 1024, "a file of a gateway that is back")


def away(pair):
    """The gateway does not return before the runner gives up the file."""
    who = pair.say_without_runner(caption="look", photo=attachment(2001))
    pair.gateway.kill()
    pair.runner.start()
    until(lambda: "cannot fetch a file of its message: the host is not connected to the bus" in pair.runner.log(), "the runner gives up the file")
    pair.gateway.start()
    ok("| [photo.jpg: download failed]" in pair.answer(who), "the agent is told about a file that cannot be fetched",
       pair.answer(who))


def main():
    if not natsd.available():
        print("1..0 # SKIP no nats-server")
        return
    with natsd.NatsServer() as server, Fake("telegram") as fake, Pair(server, fake) as pair:
        fetched(pair)
        gone(pair)
        interrupted(pair)
        away(pair)
        equal([f for f in pair.files_of(pair.runner) if f.stat().st_mode & 0o77], [],
              "other users cannot read the files of the runner")
    done()


main()
