# SPDX-License-Identifier: MIT
"""Scripted faults, outages, waiting and the record of the fakes work as described in README.md."""

import http.client
import json
import os
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tap"))
import server  # noqa: E402
from drive import Fake, Timeout  # noqa: E402
from pace import Limit, Pace  # noqa: E402
from record import Record  # noqa: E402
from tap import done, equal, ok  # noqa: E402

ANN = 111


def ask(fake, method="sendMessage", **params):
    """Sends a request; returns status and body, or the error."""
    connection = http.client.HTTPConnection("127.0.0.1", fake.port, timeout=30)
    body = json.dumps({"chat_id": ANN, "text": "x", **params})
    headers = {"Content-Type": "application/json"}
    try:
        connection.request("POST", f"/bot123456:FAKE-telegram-token/{method}", body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    except (OSError, http.client.HTTPException) as error:
        return 0, type(error).__name__
    finally:
        connection.close()


def started():
    fake = Fake("telegram")
    fake.control("pace", {"on": False})
    fake.control("message", {"from": ANN, "text": "hi"})
    return fake


def seen(fake):
    return [m["text"] for m in fake.state()["chats"][str(ANN)]["messages"] if m["bot"]]


KINDS = [
    # fault, status, the beginning of the body or the error, whether it was executed
    ({"do": "answer", "status": 503, "body": {"a": 1}}, 503, b'{"a": 1}', False),
    ({"do": "error", "description": "Bad Request: x"}, 400, b'{"ok": false', False),
    ({"do": "flood", "retry_after": 7}, 429, b'{"ok": false', False),
    ({"do": "reset"}, 0, "ConnectionResetError", False),
    ({"do": "reset", "done": True}, 0, "ConnectionResetError", True),
    ({"do": "close"}, 0, "RemoteDisconnected", False),
    ({"do": "close", "done": True}, 0, "RemoteDisconnected", True),
    ({"do": "slow", "chunk": 40, "every": 0.001}, 200, b'{"ok": true', True),
    ({"do": "cut"}, 0, "IncompleteRead", True),
    ({"do": "garbage"}, 200, b'{"ok":true,"result":{"message_id":', True),
    ({"do": "html"}, 502, b"<html>", False),
    ({"do": "huge", "bytes": 1 << 20}, 200, b'{"ok":true,"result":"xxxx', True),
    ({"do": "hold", "hold": 0.01}, 200, b'{"ok": true', True),
]


def test_kinds():
    with started() as fake:
        for spec, status, begins, is_done in KINDS:
            fake.control("reset")
            fake.control("fault", {"match": {"method": "sendmessage"}, **spec})
            name = str(spec)
            before = len(seen(fake))
            found, body = ask(fake, text=name)
            good = found == status and body[: len(begins)] == begins
            ok(good, f"{name}: the response to the client", (found, body[:80]))
            equal(len(seen(fake)) - before, int(is_done), f"{name}: whether it was done")
            equal(ask(fake, text="next")[0], 429 if status == 429 else 200, f"{name}: only once")
        calls = [entry for entry in fake.record() if entry["kind"] == "call"]
        equal([(c["status"], "fault" in c) for c in calls], [(200, True), (200, False)], "recorded")


def test_record():
    with started() as fake:
        ask(fake, text="old")
        last = fake.last_seq()
        equal(last, fake.record()[-1]["seq"], "the number of the newest entry")
        equal(fake.record(last), [], "no entry follows the newest")
        ask(fake, text="new")
        equal([e["text"] for e in fake.record(last) if e["kind"] == "call"], ["new"], "later entries follow the "
                                                                                      "newest")


def test_choice():
    with started() as fake:
        fake.control("fault", {"match": {"text": "^b"}, "do": "html", "skip": 1, "times": 2})
        said = [ask(fake, text=text)[0] for text in ("a", "b1", "b2", "a", "b3", "b4")]
        equal(said, [200, 200, 502, 200, 502, 200], "faults are chosen by text, after one call, twice")
        fake.control("clear")
        fake.control("fault", {"match": {"chat": 222}, "do": "html", "times": 0})
        equal([ask(fake)[0], ask(fake, chat_id=222)[0]], [200, 502], "faults are chosen by chat")
        runs = []
        for _ in range(2):
            fake.control("clear")
            fake.control("fault", {"do": "html", "times": 0, "rate": 0.5, "seed": 3})
            runs.append([ask(fake, "getMe")[0] for _ in range(12)])
        equal(runs[0], runs[1], "faults are chosen at random, but the same on each run")
        equal(set(runs[0]), {200, 502}, "some of the calls have faults")


def test_hold():
    with started() as fake:
        fault = {"match": {"text": "held"}, "do": "hold", "done": False}
        number = fake.control("fault", fault)["id"]
        answers = []
        held = threading.Thread(target=lambda: answers.append(ask(fake, text="held")[0]))
        held.start()
        fake.wait(method="sendMessage", stage="arrived")
        equal((seen(fake), answers), ([], []), "a call is held before it is executed")
        fake.control("release", {"id": number})
        held.join()
        equal((seen(fake), answers), (["held"], [200]), "a released call is executed")


def test_clear():
    with started() as fake:
        faults = [{"match": {"text": word}, "do": "answer", "status": 500, "times": 0} for word in "ab"]
        first, _ = [fake.control("fault", fault)["id"] for fault in faults]
        fake.control("clear", {"id": first})
        equal([ask(fake, text=word)[0] for word in "ab"], [200, 500], "one fault is removed")
        fake.control("clear")
        equal(ask(fake, text="b")[0], 200, "all faults are removed")


def test_outage():
    with started() as fake:
        kept = http.client.HTTPConnection("127.0.0.1", fake.port, timeout=30)
        kept.request("GET", "/bot123456:FAKE-telegram-token/getMe")
        kept.getresponse().read()
        fake.control("down")
        equal(ask(fake)[1], "ConnectionRefusedError", "while the service is down connections are refused")
        try:
            kept.request("GET", "/bot123456:FAKE-telegram-token/getMe")
            kept.getresponse()
            ok(False, "an open connection is cut")
        except (ConnectionError, http.client.HTTPException):
            ok(True, "an open connection is cut")
        fake.control("up")
        equal(ask(fake)[0], 200, "after the outage the port is the same")
        fake.control("refuse", {"times": 1})
        ok(ask(fake)[0] == 0 and ask(fake)[0] == 200, "one connection is reset before its request is read")


def test_waiting():
    with started() as fake:
        try:
            fake.wait(visible=1, text="never", timeout=0.05)
            ok(False, "waiting for a condition ends after its limit")
        except Timeout:
            ok(True, "waiting for a condition ends after its limit")
        later = threading.Timer(0.05, lambda: ask(fake, text="later"))
        later.start()
        match = fake.wait(method="sendMessage", text="^later$", chat=ANN)[0]
        equal((match["status"], match["answer"]["result"]["text"]), (200, "later"), "a matching call ends the wait")
        equal(fake.wait(visible=1, text="later")[0]["id"], 2, "a visible message ends the wait")
        for name, body in (("fault", {"do": "nothing"}), ("nothing", {}), ("options", {"x": 1})):
            try:
                fake.control(name, body)
                ok(False, f"an invalid control is refused: {name} {body}")
            except RuntimeError:
                ok(True, f"an invalid control is refused: {name} {body}")


def test_arrival():
    """A request is read later than it arrives."""
    came = []

    class Late(server.Handler):
        def handle_one_request(self):
            read.wait()
            super().handle_one_request()

    def serve(request):
        came.append(request.arrived)
        return server.Answer()

    usual, read = server.Handler, threading.Event()
    server.Handler = Late
    listener = server.Listener(Record(), serve)
    client = socket.create_connection(("127.0.0.1", listener.port))
    for _ in range(2):
        before = time.monotonic()
        client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        written = time.monotonic()
        while time.monotonic() < written + 0.1:
            pass
        read.set()
        ok(client.recv(4096).startswith(b"HTTP/1.1 200"), "the delayed request is answered")
        ok(before - 0.01 <= came[-1] <= written + 0.01, "the time of arrival is that of the write", (before, came[-1], written))
        read.clear()
    server.Handler = usual
    client.close()
    listener.down()


def test_held_back():
    for limit in Limit(("bucket",), 1, 1, 2), Limit(("window",), 2, 1):
        pace = Pace(Record())
        equal(pace.refuses([limit], 10.0), None, "a call at the permitted rate is accepted")
        equal(pace.refuses([limit], 1.0), None, "a call that a fault has delayed, and that arrived before, is "
                                                "accepted")
        equal(pace.refuses([limit], 10.1), 1, "both calls count")


def test_end():
    fake = started()
    fake.process.stdin.close()
    equal(fake.process.wait(10), 0, "the fake ends with its stdin")
    fake.process.stdout.close()
    fake = started()
    fake.process.terminate()
    equal(fake.process.wait(10), 0, "the fake ends with SIGTERM")
    fake.process.stdin.close()
    fake.process.stdout.close()


for test in (test_kinds, test_record, test_choice, test_hold, test_clear, test_outage, test_waiting, test_arrival, test_held_back, test_end):
    test()
done()
