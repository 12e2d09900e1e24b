# SPDX-License-Identifier: MIT
"""The package is upgraded while turns run and messages wait: each message gets one outcome. The
test takes the place of systemd: it starts the service, and does what maintainer scripts ask of systemctl."""
import collections
import contextlib
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import threading

SOURCE = pathlib.Path(os.environ["TURNCAST_SRCDIR"])
sys.path.insert(0, str(SOURCE / "tests" / "talk"))

import ledger  # noqa: E402
from people import TelegramPeople, messages, outcomes  # noqa: E402
from talk import PATIENCE_S, Fake, done, equal, ok, telegram, until  # noqa: E402

ROOT = pathlib.Path(os.environ["TURNCAST_DEB_ROOT"])
PEOPLE = 20  # each has a turn that runs and a message that waits
FINISHED = 10  # of these turns end while the old host shuts down
DRAIN_S = 20
USER = ("setpriv", "--reuid=turncast", "--regid=turncast", "--clear-groups")
ENVIRONMENT = ("env", "-i", "PATH=/usr/bin:/bin", "HOME=/var/lib/turncast", "XDG_STATE_HOME=/var/lib")
# Commands of systemctl are answered one at a time: the caller waits until they are done.
SYSTEMCTL = """#!/bin/sh
echo "$*" >/run/systemd/asked
read -r status </run/systemd/done
exit "$status"
"""


class Service:
    """turncast.service of the installed system."""

    def __init__(self):
        self.state = ROOT / "var/lib/turncast"
        self.gates = self.state / "gates"
        self.log = ROOT / "run/turncast.log"
        self.process = None

    def configure(self, instances):
        (ROOT / "etc/turncast/turncast.conf").write_text(
            f"""agents : {{ main : {{ command = ["/usr/local/bin/talker", "-g", "/var/lib/turncast/gates"];
    resume = ["{{session_id}}"]; exit_grace_s = 1; term_grace_s = 1; attempts = 1; }}; }};
plugins : {{ instances : {{ {instances} }}; }};
conversations : {{ max_turns = {PEOPLE + 5}; debounce_ms = 0; drain_s = {DRAIN_S}; }};
log : {{ level = "info"; }};
""",
            encoding="utf-8",
        )
        self.run("mkdir", "gates")

    def command(self, *words):
        return ["chroot", str(ROOT), *USER, *ENVIRONMENT, "sh", "-c", 'cd /var/lib/turncast; exec "$@"',
                "sh", *words]  # fmt: skip

    def run(self, *words):
        return subprocess.run(self.command(*words), check=True, capture_output=True, text=True).stdout

    def start(self):
        unit = (ROOT / "lib/systemd/system/turncast.service").read_text(encoding="utf-8")
        start = next(line for line in unit.splitlines() if line.startswith("ExecStart="))
        with self.log.open("ab") as log:
            words = start.removeprefix("ExecStart=").split()
            self.process = subprocess.Popen(
                self.command(*words), stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def stop(self):
        self.process.terminate()
        return self.process.wait(DRAIN_S + 60)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process and self.process.poll() is None:  # the test has failed
            self.process.kill()

    def count(self):
        """How many turns are in each state."""
        with contextlib.suppress(sqlite3.OperationalError):
            with contextlib.closing(sqlite3.connect(f"file:{self.state}/state.db?mode=ro", uri=True)) as db:
                return dict(db.execute("select state, count(*) from turn group by state").fetchall())
        return {}

    def let_go(self, id_):
        with (self.gates / id_).open("a", encoding="ascii") as gate:
            gate.write("x")


class Systemd(threading.Thread):
    """Does what systemctl is asked for, in one thread, until it is asked to exit."""

    def __init__(self, service):
        super().__init__(daemon=True)  # if a command fails, the test ends all the same
        self.service = service
        self.asked = []
        self.folder = ROOT / "run/systemd"
        (self.folder / "system").mkdir(parents=True, exist_ok=True)
        for name in ("asked", "done"):
            os.mkfifo(self.folder / name)
        (ROOT / "usr/bin/systemctl").write_text(SYSTEMCTL, encoding="utf-8")

    def run(self):
        while True:
            command = (self.folder / "asked").read_text(encoding="utf-8").strip()
            self.asked.append(command)
            if command == "exit":
                return
            if command == "try-restart turncast.service":
                self.service.stop()
                self.service.start()
            (self.folder / "done").write_text("0\n", encoding="utf-8")

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *error):
        (self.folder / "system").rmdir()  # for maintainer scripts, there is no systemd any more
        if not error[0]:
            (self.folder / "asked").write_text("exit\n", encoding="utf-8")
            self.join()


def versions(service):
    """The version of the installed package, and the one that the program of the running host prints."""
    query = ["chroot", ROOT, "dpkg-query", "-W", "-f", "${Version}", "turncast"]
    package = subprocess.run(query, check=True, capture_output=True, text=True).stdout
    program = [f"/proc/{service.process.pid}/exe", "--version"]
    return package, subprocess.run(program, check=True, capture_output=True, text=True).stdout.split()[1]


def upgrade():
    """Returns the process that installs the later version."""
    return subprocess.Popen(
        ["chroot", str(ROOT), "dpkg", "-i", "/newer/turncast.deb", "/newer/turncast-dev.deb"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
    )  # fmt: skip


def ask_all(service, crowd):
    running = [crowd.ask(who, f"run-{who}", "tools=1 gated") for who in range(PEOPLE)]
    until(lambda: service.count().get("running") == PEOPLE, f"{PEOPLE} turns run")
    waiting = [crowd.ask(who, f"wait-{who}", "tools=1") for who in range(PEOPLE)]
    until(lambda: service.count().get("waiting") == PEOPLE, f"{PEOPLE} messages wait")
    equal(service.count(), {"running": PEOPLE, "waiting": PEOPLE}, "turns before the upgrade")
    return running, waiting


def judge(service, crowd, running, waiting):
    seen = [[m["text"].startswith("Answer ") for m in outcomes(crowd, q)] for q in running]
    equal(
        collections.Counter(map(str, seen)),
        {"[True]": FINISHED, "[False]": PEOPLE - FINISHED},
        "turns that ran have one outcome: the answer, or that they were interrupted",
    )
    texts = [[m["text"].split(" of ")[0] for m in outcomes(crowd, q)] for q in waiting]
    equal(texts, [[f"Answer {q.id}"] for q in waiting], "messages that waited have one answer")
    equal(sum(len(messages(crowd.fake, q.chat)) for q in running), 2 * PEOPLE, "and nothing else is shown")
    states = collections.Counter((t.state, t.code) for t in ledger.turns(service))
    wanted = {("final", None): PEOPLE + FINISHED, ("error", "host_shutdown"): PEOPLE - FINISHED}
    equal(states, wanted, "each turn has ended once")


def container_check():
    """What the Containerfile has the engine run to see whether the host is well."""
    text = (SOURCE / "Containerfile").read_text(encoding="utf-8")
    return json.loads(re.search(r"^HEALTHCHECK .* CMD (\[.*\])$", text, re.M).group(1))


def run(service, crowd, systemd):
    check = service.command(*container_check())
    ok(subprocess.run(check, check=False, capture_output=True).returncode != 0, "no host: it is not healthy")
    service.start()
    crowd.fake.wait(polling=1)
    equal(subprocess.run(check, check=False, capture_output=True).returncode, 0, "a host: it is")
    status = subprocess.run(["chroot", ROOT, "turncast", "status"], check=False, capture_output=True, text=True)
    ok(status.returncode == 0 and "tg" in status.stdout, "root sees its state", status.stdout + status.stderr)
    running, waiting = ask_all(service, crowd)
    old = versions(service)
    equal(len(set(old)), 1, "package and host have the same version")
    installing = upgrade()
    until(lambda: "shutting down" in service.log.read_text(errors="replace"), "the host is asked to end")
    for question in running[:FINISHED]:
        service.let_go(question.id)
    equal(installing.wait(DRAIN_S + PATIENCE_S), 0, "the later version is installed")
    equal(systemd.asked, ["--system daemon-reload", "try-restart turncast.service"], "it restarts the service")
    new = versions(service)
    equal(len(set(new)), 1, "package and host have the same version again")
    later = ["dpkg", "--compare-versions", old[1], "lt", new[1]]
    equal(subprocess.run(later, check=False).returncode, 0, f"the host is a later one: {old[1]}, {new[1]}")
    ok(until(lambda: all(outcomes(crowd, q) for q in running + waiting), "all outcomes arrive"), "all outcomes are there")
    until(lambda: not ledger.open_work(service), "and have been taken")
    equal(service.stop(), 0, "the service ends well")
    judge(service, crowd, running, waiting)


def main():
    with Service() as service, Fake("telegram") as fake:
        crowd = TelegramPeople(fake, PEOPLE)
        service.configure(telegram(fake, allow=crowd.ids))
        with Systemd(service) as systemd:
            run(service, crowd, systemd)
    done()


main()
