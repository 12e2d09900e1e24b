# SPDX-License-Identifier: MIT
"""The connector exec under `turncast serve`: its protocol, and programs that break each rule.

A program that misbehaves costs a restart of its instance: the outcome is delivered to the next
process, and the connector beside it and the host notice nothing."""
import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "api"))

from door import BUILD, LOG, Door, done, equal, note, ok, until  # noqa: E402

PROGRAM = pathlib.Path(__file__).resolve().parent / "program.py"
ASKER = f'asks : {{ command = ["{BUILD}/tests/fake/asker"]; }};'
PYTHON = os.path.realpath(sys.executable)
ROOTS = [sys.prefix, sys.base_prefix, str(PROGRAM.parent), str(PROGRAM.parents[2] / "share")]


def instance(name, *arguments, **more):
    """A group of the configuration for program.py with these arguments."""
    lines = {"plugin": "exec", "command": [PYTHON, "-B", str(PROGRAM), *arguments], "read": ROOTS}
    text = " ".join(f"{key} = {json.dumps(value)};" for key, value in (lines | more).items())
    return f"{name} : {{ {text} }}; "


def seen(host, name):
    """The outcomes that the program was sent, in order."""
    for path in host.state.rglob("seen"):
        if path.parent.name == name:
            return path.read_text().splitlines()
    return []


def deaths(host, name):
    status = json.loads(host.run("status", "--json")[1])
    return next(i["deaths"] for i in status["instances"] if i["name"] == name)


def said(host, name):
    mark = f"instance {name}: "
    return [line.split(mark, 1)[1] for line in host.log().splitlines() if mark in line]


def await_said(host, name, text, seconds=30):
    until(lambda: any(text in line for line in said(host, name)), f"{name}: {text}", seconds)


def test_good():
    with Door(instances=instance("good", "by-fives", grants=["submit"], turns="all", language="de",
                                 env=["TOKEN=canary-plain-value"])) as host:
        await_said(host, "good", "init of good good de")
        await_said(host, "good", "token canary-plain-value")
        turns = [host.begin(f"id=g{i}")["id"] for i in range(10)]
        until(lambda: len(seen(host, "good")) == 10, "all outcomes reach the program")
        equal(sorted(seen(host, "good")), sorted(turns), "each once")
        equal(host.stop(), 0, "the host ends")
        equal(seen(host, "good")[-1], "stop", "the program is asked to stop")
        equal(deaths_in_log(host, "good"), 0, "it was never restarted")
        equal(breaks(host), [], "no message breaks the schema")


def breaks(host):
    return [line for line in host.log().splitlines() if "breaks the schema" in line]


def deaths_in_log(host, name):
    return sum("restart" in line or "exited" in line for line in said(host, name))


def test_people():
    """A message, an approval and its answer; what is wrong is refused with a reason."""
    hello = "hello=" + json.dumps({"wants": ["final", "request"]})
    text = instance("room", "submit", hello, grants=["submit", "answer"], turns="all", allow=["7"],
                    pairing=True)
    text += instance("beside", turns="own")
    with Door(instances=text, agents=ASKER) as host:
        await_said(host, "room", '"status": "accepted"')
        await_said(host, "room", 'route {"room": 1}')
        until(lambda: seen(host, "beside"), "the instance that it named is told the outcome")
        named = host.turns()[-1]
        equal(seen(host, "beside"), [named["id"]], "of that turn and no other")
        equal(named.get("instances"), ["beside"], "which is shown with its name")
        host.begin("run=ls", agent="asks")
        await_said(host, "room", "request open")
        await_said(host, "room", '"id": "a1", "status": "command"')
        await_said(host, "room", "request resolved")
        text = "\n".join(said(host, "room"))
        ok("id, chat, user and text must be strings" in text, "a submit without a user is refused", text)
        ok('"status": "invalid"' in text, "and answered as invalid")
        ok("turncast pair room " in text, "a stranger in a direct chat gets a pairing code", text)
        ok("I can read text and files, but" in text, "a sticker gets a reply", text)
        ok("instances must be a list of strings" in text, "so is one whose instances are none", text)
        ok('"id": "s4", "status": "invalid", "error": "an argument is not valid' in text,
           "and one that names an unknown instance", text)
        ok('instance room: refused a message: instances: unknown instance "besides" '
           '(did you mean "beside"?)' in host.log(), "the log has its name", host.log())
        equal(len(host.turns()), 2, "none of them is a turn")
        ok("id, ticket, choice, user and chat must be strings" in text,
           "so is an answer without a chat", text)
        equal(breaks(host), [], "no message breaks the schema")


def test_routes():
    """An HTTP request reaches the program, and its answer the client."""
    hello = "hello=" + json.dumps({"routes": ["/in"]})
    with Door(instances=instance("web", "x", hello)) as host:
        await_said(host, "web", "init of web")
        status, _, body = host.ask("POST", "/hooks/web/in", body={"a": 1}, X_MiXed="Yes", ETAG="7")
        equal((status, body), (201, b"made"), "the program answers")
        await_said(host, "web", 'hit POST /in {"a": 1}')
        await_said(host, "web", 'x-mixed: Yes; etag: 7')
        equal(host.status("POST", "/hooks/web/other", body={}), 404, "another path is not its own")
        equal(breaks(host), [], "no message breaks the schema")


def test_nap():
    """A time limit begins with what the program has to read, however long it was idle before."""
    hello = "hello=" + json.dumps({"routes": ["/in"]})
    with Door(instances=instance("naps", "nap", hello, ping_s=1)) as host:
        await_said(host, "naps", "init of naps")
        body = {"a": "x" * 300000}  # more than a pipe takes
        equal(host.status("POST", "/hooks/naps/in", body=body), 504, "no answer: the program naps")
        next(host.state.rglob("naps")).joinpath("go").touch()
        await_said(host, "naps", "hit POST /in")
        equal(deaths_in_log(host, "naps"), 0, "it was not restarted")


BREAKERS = {
    "bad-lines": "3 lines in a row that are not JSON",
    "long-line": "a line of more than 1048576 bytes",
    "wrong-ack": "acknowledged event 99999",
    "exit": "exited with status 1",
    "kill": "was terminated by signal",
    "close": "closed its standard output",
    "no-ack": "has acknowledged nothing for 1 s",
}


def test_breakers():
    """Each breaks a rule at its first event; beside them one that does not."""
    text = instance("good")
    for mode in BREAKERS:
        text += instance(mode.replace("-", "_"), mode, ack_s=1)
    with Door(instances=text) as host:
        until(host.has_started, "all run")
        turn = host.begin("id=first")["id"]
        for mode, why in BREAKERS.items():
            name = mode.replace("-", "_")
            await_said(host, name, why)
            until(lambda n=name: any(line.startswith(turn) for line in seen(host, n)),
                  f"{mode}: the next process is told the outcome")
        until(lambda: seen(host, "good") == [turn], "the good one is told once")
        second = host.begin("id=second")["id"]
        for mode in BREAKERS:
            name = mode.replace("-", "_")
            until(lambda n=name: any(line.startswith(second) for line in seen(host, n)),
                  f"{mode}: the instance works again")
        equal(deaths(host, "good"), 0, "the good one was never restarted")
        equal(host.stop(), 0, "the host ends")


WRONG_CHATS = [("can", ["identify", "sing"]), ("can", "post"), ("text", "rtf"), ("units", -1), ("edit_ms", "soon"),
               ("fields", 1 << 31), ("flags", ["tables"]), ("input", "voice"), ("idempotency", "luck"),
               ("unit", "words"), ("command", "#"), ("reactions", ["joy"]), ("roles", {"live": {"bytes": 0.5}}),
               ("stream", {"pace_ms": True})]


def test_starts():
    """Without a hello, or with one that is not valid, the instance is disabled, with the reason."""
    names = {"no_hello": ("no-hello", "wrote no hello within 1 s"),
             "bad_hello": ("bad-hello", "not a JSON object"),
             "protocol": ('hello={"protocol":2}', "protocol must be 1"),
             "window": ('hello={"window":0}', "window must be"),
             "exits": ("exit-78", "exited with status 78: no token")}
    for number, (key, value) in enumerate(WRONG_CHATS):
        chat = {"can": ["identify", "post"], **{key: value}}
        wrong = next(iter(value)) if key == "stream" else next(iter(value["live"])) if key == "roles" else key
        names[f"chat{number}"] = ("hello=" + json.dumps({"chat": chat}), f"chat: the value of {wrong} is not valid")
    names["lacking"] = ('hello={"chat":{"can":["identify"]}}', "can lacks TC_OP_IDENTIFY or TC_OP_POST")
    text = instance("good")
    for name, (mode, _) in names.items():
        text += instance(name, mode, "always", hello_s=1 if name == "no_hello" else 8)
    with Door(instances=text) as host:
        for name, (_, why) in names.items():
            await_said(host, name, why)
        turn = host.begin("id=one")["id"]
        until(lambda: seen(host, "good") == [turn], "the good one works")


def test_configuration():
    """Status 78 while it runs: the program stays down until somebody restarts the instance."""
    with Door(instances=instance("wrong", "late-78") + instance("good")) as host:
        until(host.has_started, "both run")
        turn = host.begin("id=one")["id"]
        await_said(host, "wrong", "the room is unknown; it is not started again")
        second = host.begin("id=two")["id"]
        until(lambda: seen(host, "good") == [turn, second], "the good one works")
        equal(seen(host, "wrong"), [], "it is told nothing more")
        equal(host.run("restart", "wrong")[0], 0, "the instance is restarted")
        until(lambda: any(line.startswith(turn) for line in seen(host, "wrong")),
              "the next program is told what was not acknowledged")


def test_silence():
    """No pong, and a program that does not read."""
    quiet = instance("no_pong", "no-pong", ping_s=1, ack_s=1)
    deaf = instance("deaf", "deaf", 'hello={"delivers":false,"wants":["*"]}', ack_s=1)
    with Door(instances=quiet + deaf + instance("good", ping_s=1)) as host:
        await_said(host, "no_pong", "has not answered a ping for 1 s")
        host.begin("id=big chars=300000")
        await_said(host, "deaf", "has acknowledged nothing for 1 s")
        await_said(host, "good", "ping")
        equal(deaths(host, "good"), 0, "one that answers pings runs on")
        equal(breaks(host), [], "no message breaks the schema")


def test_nack_and_reject():
    with Door(instances=instance("later", "nack") + instance("never", "reject")) as host:
        turn = host.begin("id=one")["id"]
        until(lambda: seen(host, "later") == [turn, turn], "nack: it is sent again")
        await_said(host, "never", "rejected event 1")
        until(lambda: "the room is gone" in host.run("dead", "list")[1], "reject: a dead letter")
        equal(deaths(host, "later"), 0, "nack is no fault")


def test_killed(outcomes):
    """The program dies at every 50th outcome, before it has acknowledged it."""
    with Door(instances=instance("dies", "die-every", "always"),
              extra=LOG + " conversations : { max_turns = 8; };") as host:
        until(host.has_started, "it runs")
        turns = [host.begin(f"id=k{i}")["id"] for i in range(outcomes)]
        until(lambda: set(turns) <= {line.split()[0] for line in seen(host, "dies")},
              "every outcome reaches the program", 600)
        lines = [line for line in seen(host, "dies") if line != "stop"]
        missing = set(turns) - {line.split()[0] for line in lines}
        equal(len(missing), 0, f"{outcomes} outcomes: none is lost")
        again = len(lines) - len(turns)
        doubtful = sum(line.endswith(" resumed") for line in lines)
        ok(again <= doubtful, "an outcome is sent twice only when in doubt", f"{again} > {doubtful}")
        note(f"{outcomes} outcomes, {again} in doubt, {deaths(host, 'dies')} restarts")


def main():
    test_good()
    test_people()
    test_routes()
    test_nap()
    test_breakers()
    test_starts()
    test_configuration()
    test_silence()
    test_nack_and_reject()
    test_killed(10000 if os.environ.get("TURNCAST_LONG", "0") != "0" else 300)
    done()


main()
