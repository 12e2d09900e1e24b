#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The findings of turncast doctor about the NATS servers of a bus, with a remedy, while no host runs."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from bus import Member, done, equal, natsd, ok, skip_without_server  # noqa: E402

OK, WARN, FAIL = "ok bus:", "warn bus:", "FAIL bus:"


def doctor(url, *wanted, bus="", absent=(), status=None):
    """The lines about the bus contain each of the texts, and none of `absent`."""
    host = Member("h1", url, bus=bus)
    found, text = host.run("doctor")
    host.close()
    told = re.sub(r"\s+", " ", text)
    for words in wanted:
        ok(words in told, words, told)
    for words in absent:
        ok(words not in told, f"the output does not have: {words}", told)
    if status is not None:
        equal(found, status, "the exit status")


def server(config=""):
    made = natsd.NatsServer()
    made.config = f'listen: "127.0.0.1:{made.port}"\n{config}\n'
    return made


def jetstream(made, more=""):
    made.config += f'jetstream {{ store_dir: "{made.folder}/store" }}\n{more}\n'
    return made


def permitted(publish, subscribe):
    """A server with a user who has only these permissions."""
    return jetstream(server(), "authorization { users: [ { user: u, password: p, permissions: "
                               f"{{ publish: [{publish}], subscribe: [{subscribe}] }} }} ] }}")


def stream(made, name, **more):
    client = made.client()
    made_ = client.api(f"STREAM.CREATE.{name}", {"name": name, "subjects": [f"{name[:-3].lower()}.ev.>"], "retention": "limits",
                                                 "storage": "file", "allow_direct": True, "discard": "old", **more})
    ok("error" not in made_, f"the stream {name} exists", made_)
    client.close()


def main():
    if skip_without_server():
        return
    port = natsd.free_port()
    doctor(f"nats://127.0.0.1:{port}", f"{FAIL} cannot connect to nats://127.0.0.1:{port}: no server can be reached",
           "start the NATS server, or change bus.url, bus.tls, or the bus.token or bus.credentials of this host", status=1)
    with jetstream(server()) as good:
        at = f"127.0.0.1:{good.port}"
        doctor(good.url(), f"{OK} nats://{at} answers, with JetStream; this host is \"h1\"",
               "ok shared:", absent=(FAIL, WARN, "takes messages of at most", "has no JetStream", "permit"))
        stream(good, "BAD_EV")
        doctor(good.url(), f"{FAIL} stream BAD_EV has another republish than turncast needs",
               "delete the stream, or set another bus.prefix", f"{OK} nats://{at} answers", bus='prefix = "bad";', status=1)
        stream(good, "LESS_EV", max_msgs_per_subject=3, republish={"src": "less.ev.>", "dest": "less.live.>"})
        doctor(good.url(), "stream LESS_EV has other limits: max_age 0 instead of 86400000000000",
               "delete the stream while no host runs; it is created anew", bus='prefix = "less";', absent=(FAIL,))
    with server() as bare:
        doctor(bare.url(), f"{FAIL} nats://127.0.0.1:{bare.port} has no JetStream",
               'add jetstream { store_dir: "/var/lib/nats" } to its configuration', absent=("answers, with JetStream",), status=1)
    with jetstream(server(), "accounts { A { users: [ { user: u, password: p } ] }, B { jetstream: enabled } }") as other:
        doctor(other.url(), f"{FAIL} nats://127.0.0.1:{other.port} has no JetStream", bus='credentials = "u:p";',
               absent=("answers, with JetStream",), status=1)
    with jetstream(server("max_payload: 65536")) as small:
        doctor(small.url(), f"{FAIL} nats://127.0.0.1:{small.port} takes messages of at most 65536 bytes",
               "set max_payload: 1MB in its configuration", "answers, with JetStream", status=1)
    with jetstream(server("max_payload: 1048576")) as enough:
        doctor(enough.url(), "answers, with JetStream", absent=("takes messages of at most",))
    with permitted('"tc.>"', '"tc.>"') as deaf:
        doctor(deaf.url(), f"{FAIL} nats://127.0.0.1:{deaf.port} does not answer requests for JetStream",
               "permit the user to publish to $JS.API.> and to subscribe to _INBOX.>",
               f"{FAIL} the NATS servers do not permit the user of this host all that it needs", "$JS.API.>",
               bus='credentials = "u:p";', status=1)
    with permitted('">"', '"_INBOX.>", "tc.live.>", "tc.known.>", "tc.conf.>"') as quiet:
        doctor(quiet.url(), "answers, with JetStream",
               'add to the user\'s permissions in nats.conf: subscribe: ["tc.h.>"]', bus='credentials = "u:p";',
               absent=("does not answer", "publish: ["), status=1)
        doctor(quiet.url(), "the server refuses the user or its password; correct credentials", bus='credentials = "u:q";',
               absent=("u:q",), status=1)
    done()


main()
