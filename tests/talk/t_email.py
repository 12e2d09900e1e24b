#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Outcomes and requests as e-mails: several turns at once, a mail server that loses its reply, refuses or
is down, digests, and kills of the host. The e-mails are read by Python's parser."""
import atexit
import email.policy
import json
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from cases import await_, run, same
from deciders import ASKER, agents
from talk import BUILD, SOURCE, Host, done, note, ok, until

PASSWORD = "canary-password-of-this-test"
EXTRA = "conversations : { debounce_ms = 0; };"
FOLDER = Path(tempfile.mkdtemp(prefix="turncast-mail."))


class Server:
    """A mail server; it keeps its port when it is started again."""

    def __init__(self, name, *words):
        self.log, self.words, self.port = FOLDER / name, words, 0
        self.start()

    def start(self):
        command = [sys.executable, SOURCE / "tests/fake/smtpd.py", self.log, "--port", str(self.port), *self.words]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline().split()[1])
        atexit.register(self.process.kill)

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()

    def mails(self, part=""):
        """The accepted e-mails with this text in the subject or body."""
        found = []
        for line in self.log.read_text().splitlines() if self.log.exists() else []:
            taken = json.loads(line)
            mail = email.message_from_string(taken["data"], policy=email.policy.default)
            mail.taken = taken
            if part in mail["Subject"] + body(mail):
                found.append(mail)
        return found

    def hear(self, part, count=1):
        return await_(lambda: len(f := self.mails(part)) >= count and f, f"{count} e-mails with {part!r}")


def body(mail, kind="plain"):
    return mail.get_body((kind,)).get_content()


class Mailing(Host):
    def environment(self):
        return dict(super().environment(), SMTP_PASSWORD=PASSWORD)

    def send(self, text, conversation, *more):
        status, output = self.run("send", "-d", "-C", conversation, *more, text)
        assert status == 0, output
        return output.strip()

    def has_ended(self, turn):
        def ended():
            return any(line.split()[:2] in ([turn[:8], "final"], [turn[:8], "error"]) for line in self.run("turns")[1].splitlines())

        await_(ended, f"the end of {turn}")


def instance(name, server, to, conversations, more=""):
    return f"""{name} : {{ plugin = "email"; server = "smtp://127.0.0.1:{server.port}"; from = "bot@example.org";
        to = ["{to}"]; conversations = ["http:local:main:{conversations}", "http:local:asker:{conversations}"];
        {more} }};"""


def page_instance(name, server, more):
    """An instance as in the manual page."""
    return f"""{name} : {{ plugin = "email"; server = "smtp://127.0.0.1:{server.port}"; from = "agents@example.org";
        to = ["team@example.org"]; conversations = ["http:local:ops:*", "http:local:build:*"]; {more} }};"""


# ---- beside each other


def thread(server, host):
    """the e-mails of one conversation are one thread, those of another conversation another one"""
    for n in (1, 2):
        host.send(f"id=thread{n}", "fine-a")
        server.hear(f"Answer thread{n} ")
    host.send("id=thread3", "fine-b")
    server.hear("Answer thread3 ")
    mails = [server.mails(f"Answer thread{n} ")[0] for n in (1, 2, 3)]
    roots = [m["References"] for m in mails]
    same((roots[0] == roots[1], roots[0] == roots[2]), (True, False), "threads")
    same([m["In-Reply-To"] for m in mails], roots, "In-Reply-To")
    same(len({m["Message-ID"] for m in mails}), 3, "Message-IDs")
    assert body(mails[0], "html").count("<p>"), "HTML"
    assert "conversation http:local:main:fine-a" in body(mails[0]), body(mails[0])
    same(mails[0].taken["user"], "bot", "login")


def many(server, host):
    """R2: twenty turns at once: each outcome arrives once"""
    for n in range(20):
        host.send(f"id=m{n}", f"fine-m{n}")
    for n in range(20):
        same(len(server.hear(f"Answer m{n} ")), 1, "e-mails")


def failed(server, host):
    """a turn that fails"""
    host.send("id=bad fail", "fine-bad")
    mail = server.hear("main failed: ")[0]
    assert mail["Subject"].startswith("main failed: "), mail["Subject"]


def asked(server, host):
    """an approval: the e-mail shows the call and how to answer; the answer is accepted"""
    host.send("run=make all", "fine-ask", "-a", "asker")
    mail = server.hear("asks for approval")[0]
    assert "make all" in body(mail), body(mail)
    command = next(line for line in body(mail).splitlines() if "turncast answer" in line).split("turncast ")[1]
    status, output = host.run(*shlex.split(command))
    same(status, 0, output)
    server.hear("asker: ")


def lost(server, host):
    """R1: the reply to a message is lost: the message is sent once more, marked, with the same Message-ID"""
    host.send("id=lost", "lost")
    mails = server.hear("Answer lost ", 2)
    assert mails[1]["Subject"].startswith("(sent again) "), mails[1]["Subject"]
    same(mails[0]["Message-ID"], mails[1]["Message-ID"], "Message-IDs")


def refused(server, host):
    """R2: a recipient that does not exist: the dead letter has the text of the server"""
    host.send("id=refused", "refused")
    await_(lambda: "no such user" in host.run("dead", "list")[1], "a dead letter")
    same(server.mails("Answer refused "), [], "e-mails")


def long(server, host):
    """a text above 256 KiB is cut, with a notice"""
    host.send("id=long chars=300000", "fine-long")
    text = body(server.hear("Answer long ")[0]).replace("\r\n", "\n")
    assert "\n[…]\n" in text and 260000 < len(text) < 263000, (len(text), text[-300:])


# ---- the manual page

OPS = """ops : {{ command = ["cat", "{file}"]; dialect = "turncast"; attempts = 1; }};
build : {{ command = ["{asker}"]; attempts = 1; }};"""
FULL = "/var fills the disk, with 31 of 50 GB:\n\n- /var/log: 24 GB\n- /var/lib: 7 GB"
ANSWERS = (("final", {"text": FULL}, "completed"),
           ("error", {"message": "The turn took too long.", "code": "agent_timeout"}, "error"))  # fmt: skip
VARYING = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|\d{4}-\d\d-\d\d \d\d:\d\d UTC")


def page_blocks():
    page = (SOURCE / "plugins" / "email" / "turncast-email.7").read_text()
    section = page.split(".Ss E-mails of a conversation")[1].split("\n.Ss ")[0]
    for mark, character in ((r"\[u2022]", "•"), (r"\[em]", "—"), ("\\&", "")):
        section = section.replace(mark, character)
    return [VARYING.sub("-", block.split("\n.Ed")[0]) for block in section.split(".Bd -literal -offset indent\n")[1:]]


def as_read(mails):
    """Sender, subject and text of each e-mail."""
    told = []
    for mail in mails:
        text = "".join(f"    {line}".rstrip() + "\n" for line in body(mail).rstrip().splitlines())
        told.append(f"From:    {mail['From']}\nSubject: {mail['Subject']}\n\n{text}")
    return VARYING.sub("-", "\n".join(told)).rstrip()


def manual(server, host):
    """the manual page shows the e-mails of a conversation unchanged"""
    for kind, payload, reason in ANSWERS:
        lines = [("start", {}), (kind, payload), ("done", {"reason": reason})]
        text = "".join(json.dumps({"type": type_, "payload": given}) + "\n" for type_, given in lines)
        (FOLDER / "ops.jsonl").write_text(text)
        host.has_ended(host.send("How full is the disk?", "disk", "-a", "ops"))
    asking = host.send("run=make all", "tools", "-a", "build")
    outcomes, requests = server.hear("Turn ", 3)[:2], server.hear("build asks")
    digests = server.hear("turns: 2")
    for nth, (mails, block) in enumerate(zip((outcomes, requests, digests), page_blocks(), strict=True)):
        same(as_read(mails), block, f"block {nth}, wanted\n{as_read(mails)}")
    same(host.run("cancel", asking)[0], 0, "cancel")


CASES = [manual, many, thread, failed, asked, lost, refused, long]


# ---- one after the other


def digest(server, host):
    """R2: a digest of one conversation contains the outcomes from before and after a kill of the host"""
    host.has_ended(host.send("id=d1", "digest-a"))
    host.has_ended(host.send("id=other", "digest-b"))
    host.kill()
    host.start()
    until(host.has_started, "the host serves")
    host.send("id=d2", "digest-a")
    mail = server.hear("Answer d2 ")[0]
    found = server.mails("Answer d1 ") + server.mails("Answer other ")
    same(len(server.mails("Answer d1 ")), 1, "e-mails with the first outcome")
    same(len(found), 2, "digests")
    assert "Answer other " not in body(mail), "another conversation"


def died(server, host):
    """R2: the host is killed after the outcome was passed to the digest: the digest contains it"""
    said = subprocess.run([BUILD / "turncast", "--version"], capture_output=True, text=True, check=True)
    if "after-expand" not in said.stdout:
        note("built without --enable-crash-points")
        return
    same(host.stop(), 0, "the host ends")
    host.start(TURNCAST_CRASH_POINT="after-expand")
    until(host.has_started, "the host serves")
    host.send("id=died", "digest-c")
    await_(lambda: host.process.poll() is not None, "the death")
    host.process = None
    host.start()
    same(len(server.hear("Answer died ")), 1, "e-mails")


def down(server, host):
    """R2: the mail server is down and the host is killed: the outcome arrives once"""
    server.stop()
    host.has_ended(host.send("id=down", "fine-down"))
    host.kill()
    host.start()
    server.start()
    same(len(server.hear("Answer down ")), 1, "e-mails")


def doctor(server, host):
    """doctor: the mail server accepts the login, refuses it, or cannot be reached"""
    place = f"127.0.0.1:{server.port}"
    assert f"ok    instance fine: {place} accepts the credentials" in host.run("doctor")[1], host.run("doctor")
    text = host.config.read_text()
    host.config.write_text(text.replace("env:SMTP_PASSWORD", "another-password"))
    told = host.run("doctor")[1]
    assert f"{place} does not accept password (" in told and "535" in told, told
    assert "another-password" not in told
    host.config.write_text(text)
    server.stop()
    assert f"warn  instance fine: cannot reach {place}" in host.run("doctor")[1]


def main():
    fine, other = Server("fine", "--auth", f"bot:{PASSWORD}"), Server("other")
    shown = Server("shown")
    instances = (
        instance("fine", fine, "ann@example.org", "fine*", 'user = "bot"; password = "env:SMTP_PASSWORD";')
        + instance("lost", other, "lost@example.org", "lost")
        + instance("refused", other, "refused@example.org", "refused")
        + instance("digest", other, "ann@example.org", "digest*", "digest_s = 5;")
        + page_instance("each", shown, "")
        + page_instance("together", shown, "digest_s = 20; requests = false;")
    )
    told = agents() + OPS.format(file=FOLDER / "ops.jsonl", asker=ASKER)
    with Mailing(instances, agents=told, extra=EXTRA) as host:
        until(host.has_started, "the host serves")
        for case in CASES:
            case.server = shown if case is manual else fine if case in (many, thread, failed, asked, long) else other
        run([bound(c) for c in CASES], host)
        run([bound(digest, other), bound(died, other), bound(down, fine), bound(doctor, fine)], host, at_once=1)
        same(host.stop(), 0, "the host ends")
        secrets = [p for p in host.folder.rglob("*") if p.is_file() and PASSWORD.encode() in p.read_bytes()]
        ok(not secrets, "R23: no secret is in files and logs of the host", secrets)
        note(f"e-mails: {len(fine.mails()) + len(other.mails())}")
    done()


def bound(case, server=None):
    def call(host):
        case(server or case.server, host)

    call.__doc__ = case.__doc__
    return call


main()
