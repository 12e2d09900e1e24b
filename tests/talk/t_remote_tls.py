#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Agents that are services behind HTTPS (transport.kind = "sse"): a private certificate authority, a client
certificate, and the errors for invalid certificates in the turn and in turncast doctor."""
import json
import pathlib
import re
import shutil
import ssl
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from remotes import TOKEN, done, near, ok, until  # noqa: E402
from agent_service import AgentService  # noqa: E402
from certificates import make_certificates  # noqa: E402

LINES = [("start", {}), ("narration", {"text": "Hello."}), ("final", {"text": "Hello."}), ("done", {"reason": "completed"})]


class Far(AgentService):
    """A host of turncast that has one turn, with TLS."""

    def __init__(self, folder, certificate, client_ca=None, newest=ssl.TLSVersion.TLSv1_3):
        super().__init__(token=TOKEN)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / f"{certificate}.pem", folder / f"{certificate}.key")
        context.maximum_version = newest
        if client_ca:
            context.load_verify_locations(client_ca)
            context.verify_mode = ssl.CERT_REQUIRED
        # The handshake is made by the thread of the connection, not by the one that accepts.
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)

    def serve(self, handler, method, path, body):
        if path == "/turns?limit=1":
            handler.reply(200, {"turns": []})
        elif path == "/turns":
            handler.reply(202, {"id": "t1"})
        elif path == "/turns/t1/events":
            stream = self.subscribe()
            for seq, (type_, payload) in enumerate(LINES):
                stream.send(f"id: {seq + 1}\ndata: " + json.dumps({"type": type_, "payload": payload, "seq": seq + 1}) + "\n\n")
            handler.stream(stream)
        else:
            self.wrong(handler, 404, "unknown path")


def service(name, far, tls=None):
    group = "tls : { " + " ".join(f'{k} = "{v}";' for k, v in tls.items()) + " };" if tls else ""
    return (f'{name} : {{ transport : {{ kind = "sse"; agent = "turncast"; url = "https://localhost:{far.port}/";'
            f' token = "{TOKEN}"; outage_s = 1; {group} }}; exit_grace_s = 3; term_grace_s = 3; }};\n')


def judge(host, cases):
    """cases: name, service, expected error; "": the turn ends well."""
    turns = [(name, far, host.begin("hello", agent=name)["id"], wanted) for name, far, _, wanted in cases]
    for name, far, turn, wanted in turns:
        ended = host.ended(turn, "error" if wanted else "final")
        if wanted:
            text = ended.get("error", "")
            ok(f"https://localhost:{far.port}" in text and re.search(wanted, text), f"a turn of {name}: {wanted}", text)
            ok("remote_unreachable" in json.dumps(host.told(turn)), f"a turn of {name}: no turn was started", host.told(turn))
        else:
            ok(ended["answer"] == "Hello.", f"a turn of {name} ends well", ended)
    told = {}

    def look():
        told["text"] = re.sub(r"\s+", " ", host.run("doctor")[1])
        return all(re.search(wanted or "accepts requests", told["text"].split(f"agent {name}:", 1)[-1].split("agent ", 1)[0])
                   for name, _, _, wanted in cases)

    until(look, "turncast doctor reports the same", seconds=60)
    ok(look(), "doctor reports each agent", told["text"])
    ok(TOKEN not in host.log() + told["text"] + host.events.read_text(), "the token is not shown")


def main():
    at = pathlib.Path(tempfile.mkdtemp(prefix="turncast-https."))
    make_certificates(at)
    ca, other = {"ca": at / "ca.pem"}, {"ca": at / "other.pem"}
    own = {**ca, "cert": at / "build1.pem", "key": at / "build1.key"}
    strange = {**ca, "cert": at / "stranger.pem", "key": at / "stranger.key"}
    good, expired, elsewhere = (Far(at, name) for name in ("server", "expired", "elsewhere"))
    verifying = Far(at, "server", client_ca=at / "ca.pem")
    older = Far(at, "server", client_ca=at / "ca.pem", newest=ssl.TLSVersion.TLSv1_2)
    demands = "; if the service demands a certificate, set tls.cert and tls.key to one that it accepts"
    unknown = "unable to get local issuer certificate; .* set tls.ca"
    cases = [(name, far, service(name, far, tls), wanted) for name, far, tls, wanted in (
        ("right", good, ca, ""),
        ("other-ca", good, other, unknown),
        ("no-ca", good, None, unknown),
        ("old", expired, ca, "certificate has expired"),
        ("renamed", elsewhere, ca, "no alternative certificate subject name matches target host name 'localhost'"),
        ("certified", verifying, own, ""),
        ("certified-2", older, own, ""),
        ("uncertified-2", older, ca, demands),
        ("stranger-2", older, strange, demands),
    )]
    with near("".join(text for _, _, text, _ in cases)
              + service("uncertified", verifying, ca) + service("stranger", verifying, strange)) as host:
        until(host.has_started, "all instances run")
        judge(host, cases)
        for name in ("uncertified", "stranger"):
            turn = host.ended(host.begin("hello", agent=name)["id"], "error")
            # With TLS 1.3 the service refuses behind the handshake, and may hang up before its reason is read.
            ok(f"https://localhost:{verifying.port}" in turn["error"], f"a turn of {name} fails", turn)
    for far in (good, expired, elsewhere, verifying, older):
        far.close()
    shutil.rmtree(at)
    done()


main()
