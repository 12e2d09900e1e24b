# SPDX-License-Identifier: MIT
"""What a new user does in the system where the packages have just been installed: turncast init without
questions, turncast serve, and a first message in Telegram. Prints how long each step took."""
import os
import pathlib
import signal
import subprocess
import sys
import time

SOURCE = pathlib.Path(os.environ["TURNCAST_SRCDIR"])
sys.path.insert(0, str(SOURCE / "tests" / "talk"))

from people import TelegramPeople, outcomes  # noqa: E402
from talk import PATIENCE_S, TELEGRAM_TOKEN, Fake, done, equal, note, ok, until  # noqa: E402

ROOT = pathlib.Path(os.environ["TURNCAST_DEB_ROOT"])
HOME = ROOT / "home/ann"
LOG = ROOT / "run/first-answer.log"


def command(*words):
    """As the user ann, who has the agent `claude` in her PATH and a token in her environment."""
    return ["chroot", str(ROOT), "setpriv", "--reuid=ann", "--regid=ann", "--clear-groups",
            "env", "-i", "PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/home/ann", "LANG=C.UTF-8",
            f"TELEGRAM_TOKEN={TELEGRAM_TOKEN}", "sh", "-c", 'cd && exec "$@"', "sh", *words]  # fmt: skip


def run(*words):
    ended = subprocess.run(command(*words), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return ended.returncode, ended.stdout + ended.stderr


def install_agent():
    agent = ROOT / "usr/local/bin/claude"
    agent.write_text("#!/bin/sh\nexec /usr/local/bin/talker\n", encoding="utf-8")
    agent.chmod(0o755)


def configure(fake, crowd):
    begun = time.monotonic()
    status, text = run("turncast", "init", "--yes", "--connector", "telegram", "--set", f"api_base={fake.url}",
                       "--allow", str(crowd.ids[0]))  # fmt: skip
    note(f"turncast init, with the agent's first turn: {time.monotonic() - begun:.1f} s")
    equal(status, 0, "turncast init writes a configuration")
    ok("accepts the credentials (account fake_bot)" in text, "it has asked Telegram about the token", text)
    ok("Answer - of " in text, "it has run a first turn", text)
    ok("Next, run: turncast serve" in text, "it says what to run next", text)
    equal(run("turncast", "check")[0], 0, "turncast check accepts it")


def converse(fake, crowd):
    begun = time.monotonic()
    with LOG.open("wb") as log:
        host = subprocess.Popen(command("turncast", "serve"), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    question = crowd.ask(0, "first", "How full is the disk? tools=1")
    until(lambda: outcomes(crowd, question) or host.poll() is not None, "the first message is answered")
    note(f"turncast serve, until the first message is answered: {time.monotonic() - begun:.1f} s")
    texts = [message["text"] for message in outcomes(crowd, question)]
    equal([text.split(" of ")[0] for text in texts], ["Answer first"], "the first message has its answer")
    host.send_signal(signal.SIGTERM)
    equal(host.wait(PATIENCE_S), 0, "the host ends well")
    lines = [line for line in LOG.read_text(errors="replace").splitlines() if "[progress]" not in line]
    equal(lines, [], "it has logged no warning and no error")


def main():
    install_agent()
    with Fake("telegram") as fake:
        crowd = TelegramPeople(fake, 1)
        configure(fake, crowd)
        converse(fake, crowd)
    (ROOT / "usr/local/bin/claude").unlink()
    done()


main()
