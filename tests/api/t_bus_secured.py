#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Several hosts on NATS servers with TLS, users and permissions: configured exactly as in turncast-bus(7); with
a credentials file; and the errors for wrong certificates, passwords and permissions."""
import base64
import hashlib
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from bus import Member, done, equal, natsd, ok, skip_without_server, until  # noqa: E402
from certificates import make_certificates  # noqa: E402
import ed25519  # noqa: E402, I001
from talk import SOURCE  # noqa: E402

HOSTS = ("build1", "build2", "build3")
PASSWORDS = {name.upper(): f"{name}-secret-password" for name in HOSTS}


# ---- what turncast-bus(7) shows

def blocks():
    manual = (SOURCE / "man" / "turncast-bus.7").read_text()
    return re.findall(r"\.Bd -literal[^\n]*\n(.*?)\.Ed", manual, re.DOTALL)


def block(mark):
    return next(b for b in blocks() if mark in b).replace("\\e", "\\")


def replaced(text, *pairs):
    for old, new in pairs:
        if old not in text:
            raise AssertionError(f"the manual does not show {old}")
        text = text.replace(old, new)
    return text


def server_as_shown(folder, *more, change=lambda text: text):
    """A server with the documented configuration, with other addresses and paths. more: to verify clients."""
    server = natsd.NatsServer(**PASSWORDS)
    text = block("authorization")
    if more:
        text = replaced(text, ("tls {\n", "tls {\n" + block("verify: true")))
    server.config = change(replaced(text, ("0.0.0.0:4222", f"127.0.0.1:{server.port}"),
                                    ("/var/lib/nats", f"{server.folder}/store"), ("/etc/nats", str(folder))))
    return server


def group_as_shown(folder, server, name, *pairs):
    """The documented groups host and bus; the password is in the file that they name."""
    password = folder / f"{name}.password"
    password.write_text(f"{name}:{PASSWORDS[name.upper()]}\n")
    password.chmod(0o600)
    return replaced(block("bus.password"), ('"build1"', f'"{name}"'), ("nats.example.org:4222", f"localhost:{server.port}"),
                    ("/etc/turncast/bus.password", str(password)), ("/etc/turncast/bus-ca.pem", f"{folder}/ca.pem"), *pairs)


def keeps_secrets(*hosts):
    for host in hosts:
        told = host.log() + host.run("doctor")[1] + host.run("status", "--json")[1] + host.run("check")[1]
        ok(not any(p in told for p in PASSWORDS.values()), f"{host.name} shows no password", told)


def set_up(folder):
    """Three hosts, configured as by a new user."""
    with server_as_shown(folder) as server:
        members = [Member(name, "", group=group_as_shown(folder, server, name), hosts=HOSTS[1:]) for name in HOSTS]
        with members[0] as a, members[1] as b, members[2] as c:
            for host in members:
                host.await_bus()
                status, text = host.run("doctor")
                ok("answers, with JetStream" in text and "permit" not in text, f"turncast doctor of {host.name} reports no error",
                   text)
            status, text = a.run("hosts")
            ok(status == 0 and all(name in text for name in HOSTS), "turncast hosts shows all three", text)
            turn = a.begin("id=s1 tools=2 ms=5")["id"]
            equal(a.await_state(turn, "final", "error")["state"], "final", "a turn ends")
            ok(b.metric("turncast_turns_taken_total") + c.metric("turncast_turns_taken_total") == 1, "the turn ran on another host")
            equal(c.knows(turn, "final")["host"], "build1", "the third host knows the turn")
            equal(c.all_events(turn), a.all_events(turn), "the third host shows its events")
            question = a.begin("run=ls", agent="asker")["id"]
            request = until(lambda: c.knows(question, "running").get("requests"), "the third host knows the request")[0]
            equal(c.status("POST", f"/turns/{question}/requests/{request['id']}", key="ann", body={"choice": "allow"}), 200,
                  "the third host answers the request")
            a.await_state(question, "final")
            a.run("visibility", "--show-tools")
            ok("Violation" not in server.log(), "the documented permissions are sufficient",
               [x for x in server.log().splitlines() if "Violation" in x])
            keeps_secrets(*members)


def verified(folder):
    """Servers that require a certificate of each host."""
    own = f'cert = "{folder}/build1.pem"; key = "{folder}/build1.key"; '
    strange = f'cert = "{folder}/stranger.pem"; key = "{folder}/stranger.key"; '
    with server_as_shown(folder, "verify") as server:
        good, bare, stranger = (
            Member(name, "", group=group_as_shown(folder, server, name, ("tls : { ", "tls : { " + lines)))
            for name, lines in zip(HOSTS, (own, "", strange)))
        with good, bare, stranger:
            good.await_bus()
            ok("answers, with JetStream" in good.run("doctor")[1], "a host with a certificate joins")
            refused(bare, "set tls.cert and tls.key", "a host without a certificate")
            refused(stranger, "check that it accepts the certificate of tls.cert", "a host with a certificate of another authority")


def refused(host, remedy, why):
    """The host has no connection, works without the bus, and names the remedy in its log and status; doctor names it, too."""
    until(lambda: remedy in host.bus().get("reason", ""), f"{why}: the status has the remedy", seconds=60)
    equal(host.bus()["state"], "disconnected", f"{why}: no connection")
    ok(remedy in host.log(), f"{why}: the log has the remedy", host.log())
    until(lambda: remedy in host.run("doctor")[1], f"{why}: turncast doctor has the remedy", seconds=60)


def wrong_certificates(folder):
    cases = (("server", [("ca.pem", "other.pem")], "set tls.ca to its certificate", "another authority"),
             ("expired", [], "has expired; renew it on the server", "an expired certificate"),
             ("elsewhere", [], "use a name in url that it has", "a certificate of another name"))
    for certificate, pairs, remedy, why in cases:
        with server_as_shown(folder, change=lambda t, c=certificate: t.replace("/server.", f"/{c}.")) as server, \
                Member("build1", "", group=group_as_shown(folder, server, "build1", *pairs)) as host:
            refused(host, remedy, why)
            equal(host.status("GET", "/readyz", key="ann"), 200, f"{why}: the host works without the bus")
    with natsd.NatsServer() as server, Member("build1", "", group=group_as_shown(folder, server, "build1")) as host:
        refused(host, "the server has no TLS; add tls to its configuration", "a server without TLS")


def wrong_password(folder):
    with server_as_shown(folder) as server:
        group = group_as_shown(folder, server, "build1")
        (folder / "build1.password").write_text("build1:not-the-password\n")
        with Member("build1", "", group=group) as host:
            refused(host, "refuses the user or its password; correct credentials", "a wrong password")
            ok("not-the-password" not in host.log() + host.run("doctor")[1], "the password is not shown")


# ---- permissions

def lacking(folder, old, new, wanted):
    """turncast doctor names each permission of the documented account that is missing."""
    with server_as_shown(folder, change=lambda text: replaced(text, (old, new))) as server, \
            Member("build1", "", group=group_as_shown(folder, server, "build1")) as host:
        until(lambda: host.bus().get("state") not in ("disconnected", None), "the host is connected")
        wanted = f"add to the user's permissions in nats.conf: {wanted}"
        until(lambda: wanted in re.sub(r"\s+", " ", host.run("doctor")[1]), wanted, seconds=40)
        ok(host.run("doctor")[0] != 0, "a missing permission is an error", host.run("doctor")[1])
        return host.log()


def permissions(folder):
    log = lacking(folder, ', "$KV.tc_lock.>"', "", 'publish: ["$KV.tc_lock.>"]')
    ok(True, "a bucket without write permission is reported")
    log = lacking(folder, '"$JS.API.>", ', "", 'publish: ["$JS.API.>"]')
    ok('Permissions Violation for Publish to "$JS.API.' in log, "the log of the host names the subject", log)
    lacking(folder, 'subscribe: ["tc.>"', 'subscribe: ["tc.live.>", "tc.known.>"', 'subscribe: ["tc.h.>", "tc.conf.>"]')
    ok(True, "subjects without subscribe permission are reported")
    lacking(folder, 'publish: ["tc.>"', 'publish: ["tc.ev.>", "tc.state.>", "tc.h.>"', 'publish: ["tc.turn.>", "tc.work.>"]')
    ok(True, "streams without publish permission are reported")


def runs_permissions(folder):
    """Runs for other programs need more permissions than those documented for hosts."""
    with server_as_shown(folder) as server:
        group = replaced(group_as_shown(folder, server, "build1"), ("bus : {", 'bus : { runs = { key = "ann"; };'))
        with Member("build1", "", group=group) as host:
            host.await_bus()
            wanted = 'in nats.conf: subscribe: ["agentos.ag-ui.>", "agentos.ai-sdk.>"]'
            until(lambda: wanted in re.sub(r"\s+", " ", host.run("doctor")[1]), wanted, seconds=40)
            ok("violation for subscription" in host.log().lower(), "runs for other programs: the log reports the violation", host.log())


# ---- a credentials file

def nkey(prefix, data):
    """The text form of a key: prefix, key, and CRC-16/XMODEM, in Base32."""
    raw = bytes([prefix]) + data
    crc = 0
    for byte in raw:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1) ^ 0x1021 if crc & 0x8000 else crc << 1
            crc &= 0xFFFF
    return base64.b32encode(raw + crc.to_bytes(2, "little")).decode().rstrip("=")


OPERATOR, ACCOUNT, USER, SEED = 14 << 3, 0, 20 << 3, 18 << 3


class Key:
    def __init__(self, kind):
        self.seed = os.urandom(32)
        self.kind = kind
        self.name = nkey(kind, ed25519.public_key(self.seed))

    def seed_text(self):
        raw = bytes([SEED | (self.kind >> 5), (self.kind & 31) << 3]) + self.seed
        return nkey(raw[0], raw[1:])

    def sign(self, subject, name, claims):
        """A JWT about the subject, in the form of NATS."""
        def part(value):
            return base64.urlsafe_b64encode(json.dumps(value, separators=(",", ":")).encode()).rstrip(b"=")

        body = {"iat": 1700000000, "iss": self.name, "name": name, "sub": subject, "nats": dict(claims, version=2)}
        digest = hashlib.new("sha512_256", json.dumps(body).encode()).digest()
        body["jti"] = base64.b32encode(digest).decode().rstrip("=")
        text = part({"typ": "JWT", "alg": "ed25519-nkey"}) + b"." + part(body)
        return (text + b"." + base64.urlsafe_b64encode(ed25519.sign(self.seed, text)).rstrip(b"=")).decode()


NO_LIMITS = dict.fromkeys(("subs", "conn", "leaf", "imports", "exports", "data", "payload", "mem_storage", "disk_storage",
                           "streams", "consumer"), -1)


def with_credentials_file(folder):
    """Users with a credentials file, which has their JWT and the seed of their key: the server knows their account only."""
    operator, account, system, user = Key(OPERATOR), Key(ACCOUNT), Key(ACCOUNT), Key(USER)
    accounts = {
        account.name: operator.sign(account.name, "A", {"type": "account", "limits": dict(NO_LIMITS, wildcards=True)}),
        system.name: operator.sign(system.name, "SYS", {"type": "account", "limits": dict(
            NO_LIMITS, mem_storage=0, disk_storage=0, wildcards=True)}),
    }
    jwt = account.sign(user.name, "build1", {"type": "user", "subs": -1, "data": -1, "payload": -1, "pub": {}, "sub": {}})
    creds = folder / "bus.creds"
    creds.write_text(f"-----BEGIN NATS USER JWT-----\n{jwt}\n------END NATS USER JWT------\n\n"
                     f"-----BEGIN USER NKEY SEED-----\n{user.seed_text()}\n------END USER NKEY SEED------\n")
    creds.chmod(0o600)
    server = natsd.NatsServer(
        f"operator: {operator.sign(operator.name, 'O', {'type': 'operator', 'system_account': system.name})}\n"
        f"system_account: {system.name}\nresolver: MEMORY\nresolver_preload: {json.dumps(accounts)}\n")
    with server, Member("build1", server.url(), bus=f'credentials_file = "{creds}";') as host, \
            Member("build2", server.url()) as stranger:
        host.await_bus()
        ok(True, "a host joins with a credentials file")
        told = host.log() + host.run("doctor")[1] + host.run("check")[1]
        ok(user.seed_text() not in told and jwt not in told, "seed and JWT are not shown")
        refused(stranger, "demands to know who connects; set credentials, token or credentials_file", "a host without credentials")


# ---- a token

TOKEN = "bus-Token.4711"


def with_token(folder):
    """A server with one token for all hosts: from a file, from the environment, wrong, and missing."""
    right, wrong = folder / "token", folder / "wrong"
    for file, text in ((right, TOKEN), (wrong, "not-the-token-4711")):
        file.write_text(text + "\n")
        file.chmod(0o600)
    os.environ["TURNCAST_TEST_TOKEN"] = TOKEN
    with natsd.NatsServer(f'authorization {{ token: "{TOKEN}" }}') as server, \
            Member("build1", server.url(), bus=f'token = "file:{right}";') as a, \
            Member("build2", server.url(), bus='token = "env:TURNCAST_TEST_TOKEN";') as b, \
            Member("build3", server.url(), bus=f'token = "file:{wrong}";') as c, \
            Member("build4", server.url(), bus=f'credentials = "u:{TOKEN}";') as d:
        turn = a.await_bus().begin("id=t1")["id"]
        a.await_state(turn, "final")
        equal(b.await_bus().knows(turn, "final")["host"], "build1", "hosts join with a token from a file and from a variable")
        ok("answers, with JetStream" in a.run("doctor")[1], "turncast doctor uses the token")
        refused(c, "the server refuses the token; correct token", "a wrong token")
        refused(d, "refuses the user or its password; correct credentials", "the token as a password")
        for host in (a, b, c, d):
            told = host.log() + "".join(host.run(*words)[1] for words in (("doctor",), ("status", "--json"), ("check",)))
            ok(TOKEN not in told and "not-the-token" not in told, f"{host.name} shows no token", told)
    del os.environ["TURNCAST_TEST_TOKEN"]


if not skip_without_server():
    at = pathlib.Path(tempfile.mkdtemp(prefix="turncast-secured."))
    make_certificates(at)
    set_up(at)
    verified(at)
    wrong_certificates(at)
    wrong_password(at)
    permissions(at)
    runs_permissions(at)
    with_credentials_file(at)
    with_token(at)
    shutil.rmtree(at)
    done()
