#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Agents that run through NATS (transport.kind = "nats") on servers with TLS, tokens and client certificates,
and the errors for wrong certificates and tokens in the turn and in turncast doctor."""
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from bus import done, equal, natsd, ok, skip_without_server, until  # noqa: E402
from certificates import make_certificates  # noqa: E402
from door import LOG, Door  # noqa: E402

TOKEN = "run-Token.4711"
WRONG = "not-the-token-4711"
CA = "the authority of the server's certificate is not known; set tls.ca to its certificate"
LATE = "cannot connect to the NATS servers: "


def agent(name, url, tls=None, **more):
    keys = " ".join(f"{k} = {json.dumps(v)};" for k, v in {"kind": "nats", "subject": "nobody.here", **more}.items())
    group = "tls : { " + " ".join(f'{k} = "{v}";' for k, v in tls.items()) + " };" if tls else ""
    return (f'{name} : {{ transport : {{ url = ["{url}"]; {keys} {group} }}; attempts = 1; exit_grace_s = 1;'
            " term_grace_s = 1; };")


def server(folder, certificate, *more):
    """A server with TLS. No program accepts runs there, so a turn with a connection reports that."""
    lines = "".join(f"{line}\n" for line in more)
    # A server gives up a handshake after 2 s by default, and a busy machine may need longer.
    return natsd.NatsServer(f'tls {{ timeout: 60\ncert_file: "{folder}/{certificate}.pem"\n'
                            f'key_file: "{folder}/{certificate}.key"\n{lines}}}\n')


def judge(cases):
    """cases: name, agent, expected error. All turns run at once, because each needs the time limit of connecting."""
    with Door(agents=" ".join(text for _, text, _ in cases), extra=LOG + "conversations : { max_turns = 20; };") as host:
        turns = [(name, host.begin("hello", agent=name)["id"], wanted) for name, _, wanted in cases]
        for name, turn, wanted in turns:
            host.await_state(turn, "final", "error", "cancelled")
            ok(wanted in host.turn(turn).get("error", ""), f"a turn of {name}: {wanted}", host.turn(turn))
        found = {}

        def look():
            found["text"] = re.sub(r"\s+", " ", host.run("doctor")[1])
            return all(wanted in part(found["text"], name) for name, _, wanted in cases)

        def part(text, name):
            return text.split(f"agent {name}:", 1)[-1].split("agent ", 1)[0]

        until(look, "turncast doctor reports the same", seconds=60)
        ok(look(), "doctor reports each agent", found["text"])
        told = host.log() + host.events.read_text() + found["text"] + host.run("check")[1]
        ok(TOKEN not in told and WRONG not in told, "no token is shown")


def main():
    if skip_without_server():
        return
    at = pathlib.Path(tempfile.mkdtemp(prefix="turncast-runs."))
    make_certificates(at)
    for file, text in (("token", TOKEN), ("wrong", WRONG)):
        (at / file).write_text(text + "\n")
        (at / file).chmod(0o600)
    ca, other = {"ca": at / "ca.pem"}, {"ca": at / "other.pem"}
    own = {**ca, "cert": at / "build1.pem", "key": at / "build1.key"}
    strange = {**ca, "cert": at / "stranger.pem", "key": at / "stranger.key"}
    nobody = "nobody takes runs at the subject nobody.here"

    def tls(name, where, tls=None, **more):
        return agent(name, f"tls://localhost:{where.port}", tls, **more)

    with server(at, "server") as good, server(at, "expired") as expired, server(at, "elsewhere") as elsewhere, \
            natsd.NatsServer() as bare, server(at, "server", f'ca_file: "{at}/ca.pem"', "verify: true") as verifying, \
            natsd.NatsServer(f'authorization {{ token: "{TOKEN}" }}') as guarded:
        judge([(name, text, wanted) for name, text, wanted in (
            ("right", tls("right", good, ca), nobody),
            ("other-ca", tls("other-ca", good, other), LATE + CA),
            ("no-ca", tls("no-ca", good), LATE + CA),
            ("old", tls("old", expired, ca), LATE + "the server's certificate has expired; renew it on the server"),
            ("renamed", tls("renamed", elsewhere, ca),
             LATE + "the server's certificate is for another name; use a name in url that it has"),
            ("no-tls", tls("no-tls", bare, ca), LATE + "the server has no TLS; add tls to its configuration, or use nats://"),
            ("plain", agent("plain", f"nats://localhost:{good.port}"), LATE + CA),  # it uses TLS if the server wants it
            ("certified", tls("certified", verifying, own), nobody),
            ("uncertified", tls("uncertified", verifying, ca), LATE + "the server has closed the connection; if it demands a "
             "certificate, set tls.cert and tls.key"),
            ("stranger", tls("stranger", verifying, strange),
             LATE + "the server has closed the connection; check that it accepts the certificate of tls.cert"),
            ("token", agent("token", guarded.url(), token=f"file:{at}/token"), nobody),
            ("wrong-token", agent("wrong-token", guarded.url(), token=f"file:{at}/wrong"),
             LATE + "the server refuses the token; correct token"),
            ("no-token", agent("no-token", guarded.url()),
             LATE + "the server demands to know who connects; set credentials, token or credentials_file"),
        )])
    shutil.rmtree(at)
    done()


main()
