# SPDX-License-Identifier: MIT
"""The Matrix fake refuses the same requests as a homeserver: one check per rule."""

import http.client
import json
import os
import sys
import threading
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tap"))
from drive import Fake  # noqa: E402
from tap import done, equal, ok  # noqa: E402

TOKEN = "syt_fake_matrix_token"
BOT, ANN, BOB = "@bot:fake.example", "@ann:fake.example", "@bob:fake.example"
ROOM, OTHER = "!room:fake.example", "!other:fake.example"
V3 = "/_matrix/client/v3"


def quote(*parts):
    return "/".join(urllib.parse.quote(part, safe="") for part in parts)


class Client:
    """One keep-alive connection."""

    def __init__(self, fake, token=TOKEN):
        self.connection = http.client.HTTPConnection("127.0.0.1", fake.port, timeout=30)
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.count = 0

    def raw(self, verb, path, body=None, **headers):
        self.connection.request(verb, path, body, {**self.headers, **headers})
        answer = self.connection.getresponse()
        return answer.status, answer.headers, answer.read()

    def __call__(self, verb, path, body=None, **query):
        """Returns the response, or "STATUS ERRCODE error"."""
        path = path if path.startswith("/_") else V3 + path
        path += "?" + urllib.parse.urlencode(query) if query else ""
        data = None if body is None else json.dumps(body).encode()
        status, _, text = self.raw(verb, path, data)
        answer = json.loads(text)
        return answer if status == 200 else f"{status} {answer['errcode']} {answer['error']}"

    def send(self, content, room=ROOM, kind="m.room.message", txn=None):
        self.count += 1
        return self("PUT", "/rooms/" + quote(room, "send", kind, txn or f"t{self.count}"), content)

    def redact(self, event, room=ROOM, txn=None):
        self.count += 1
        return self("PUT", "/rooms/" + quote(room, "redact", event, txn or f"t{self.count}"), {})

    def sync(self, since=None, limit=None, timeout=0, **more):
        room = {"timeline": {} if limit is None else {"limit": limit}, **more}
        room["state"] = {"lazy_load_members": True}
        query = {"filter": json.dumps({"room": room}), "timeout": timeout}
        return self("GET", "/sync", **query, **({"since": since} if since else {}))


def text(words="x", **more):
    return {"msgtype": "m.text", "body": words, "m.mentions": {}, **more}


def relates(kind, event, **more):
    return {"m.relates_to": {"rel_type": kind, "event_id": event, **more}}


def edit(event, words, **more):
    return {**text(f"* {words}"), "m.new_content": text(words), **relates("m.replace", event), **more}


def unpaced(scale=1.0):
    fake = Fake("matrix", scale)
    fake.control("pace", {"on": False})
    fake.control("user", {"id": ANN, "name": "Ann"})
    fake.control("room", {"id": ROOM, "members": [ANN, BOB]})
    fake.control("room", {"id": OTHER, "members": [BOB], "bot": "none"})
    return fake


def rules_of(fake):
    return [violation["rule"] for violation in fake.violations()]


def test_refusals():
    with unpaced() as fake:
        api = Client(fake)
        asked = fake.control("say", {"user": ANN, "room": ROOM, "text": "hi"})["event_id"]
        mine = api.send(text("mine"))["event_id"]
        threaded = api.send({**text("in"), **relates("m.thread", asked)})["event_id"]
        nowhere = relates("m.thread", "$nowhere")
        cases = [
            # the content, the response of the homeserver
            ({"msgtype": "m.text"}, "400 M_UNKNOWN 'body' not in content"),
            ({"body": "x"}, "400 M_UNKNOWN 'msgtype' not in content"),
            (text(1), "400 M_UNKNOWN 'body' not a string type"),
            (text(**{"m.mentions": []}), "400 M_BAD_JSON [] is not of type 'object'"),
            (text(**{"m.mentions": {"user_ids": "x"}}), "400 M_BAD_JSON 'x' is not of type 'array'"),
            (text(**{"m.mentions": {"user_ids": [1]}}), "400 M_BAD_JSON 1 is not of type 'string'"),
            (text(n=1.5), "400 M_BAD_JSON Bad JSON value: float"),
            (text(n=2**53), "400 M_BAD_JSON JSON integer out of range"),
            (text("\ud83d"), "400 M_BAD_JSON Bad JSON value: lone surrogate"),
            (text("x" * 65536), "413 M_TOO_LARGE event too large"),
            ({**text(), **nowhere}, "400 M_UNKNOWN Can't send relation to unknown event"),
            (
                {**text(), **relates("m.thread", threaded)},
                "400 M_UNKNOWN Cannot start threads from an event with a relation",
            ),
            (edit("$nowhere", "x"), "400 M_UNKNOWN Can't send relation to unknown event"),
        ]
        for content, wanted in cases:
            said = api.send(content)
            equal(said, wanted, f"R25: {wanted}")
        missing = api.send(relates("m.annotation", asked), kind="m.reaction")
        equal(missing, "400 M_UNKNOWN Missing aggregation key", "R25: a reaction without a key")
        like = relates("m.annotation", asked, key="👀")
        ok("event_id" in api.send(like, kind="m.reaction"), "a reaction is accepted")
        twice = api.send(like, kind="m.reaction")
        equal(twice[:26], "400 M_DUPLICATE_ANNOTATION", "R25: the same reaction again")
        equal(api.redact("$nowhere")[:15], "404 M_NOT_FOUND", "R25: redacting an unknown event")
        equal(api.redact(asked)[:15], "403 M_FORBIDDEN", "R25: redacting an event of another user")
        ok("event_id" in api.redact(mine), "an own event can be redacted")
        equal(api.send(text(), OTHER)[:15], "403 M_FORBIDDEN", "R25: a message to a room that the user has not "
                                                               "joined")
        equal(api.send(text(), "!none:x")[:15], "403 M_FORBIDDEN", "R25: a message to an unknown room")
        fake.control("room", {"id": ROOM, "needed": 50})
        said = api.send(text())
        ok(said.startswith("403 M_FORBIDDEN You don't have permission to post"), "R25: a power level that is too low", said)
        equal(len(fake.screen()), 2, "no refused event is visible")
        ok("bad-request" in rules_of(fake), "a malformed request is a violation")


def test_requests():
    with unpaced() as fake:
        said = Client(fake, None)("GET", "/account/whoami")
        equal(said, "401 M_MISSING_TOKEN Missing access token", "R25: a missing Authorization header")
        said = Client(fake, "wrong")("GET", "/account/whoami")
        equal(said, "401 M_UNKNOWN_TOKEN Invalid access token passed.", "R25: an invalid token")
        api = Client(fake)
        path = f"{V3}/rooms/{quote(ROOM, 'send', 'm.room.message', 't')}"
        for body, wanted in (
            (b"{", "M_NOT_JSON"),
            (b"[]", "M_BAD_JSON"),
            (b'{"a":NaN}', "M_NOT_JSON"),
            (b"\xff", "M_NOT_JSON"),
        ):
            status, _, answer = api.raw("PUT", path, body)
            equal((status, json.loads(answer)["errcode"]), (400, wanted), f"R25: {body}")
        equal(api("GET", "/nothing")[:18], "404 M_UNRECOGNIZED", "R25: an unknown path")
        equal(api("POST", "/sync")[:18], "405 M_UNRECOGNIZED", "R25: another method")
        equal(api("GET", "/sync", timeout="soon")[:19], "400 M_INVALID_PARAM", "R25: an invalid timeout")
        equal(api("GET", "/sync", since="x"), "400 M_UNKNOWN Invalid stream token", "R25: an invalid sync token")
        equal(api("GET", "/sync", filter="{")[:14], "400 M_NOT_JSON", "R25: a filter that is not JSON")
        equal(api("GET", "/sync", filter='{"room":{"timeline":{"limit":"1"}}}')[:14],
              "400 M_BAD_JSON", "R25: a filter with members of other types")  # fmt: skip
        for query, wanted in (({}, "400 M_MISSING_PARAM"), ({"dir": "x"}, "400 M_INVALID_PARAM")):
            said = api("GET", f"/rooms/{quote(ROOM)}/messages", **query)
            equal(said[: len(wanted)], wanted, f"R25: messages {query}")
        typing = f"/rooms/{quote(ROOM)}/typing/"
        for user, body, wanted in (
            (ANN, {"typing": True}, "400 M_FORBIDDEN"),
            (BOT, {"typing": "yes"}, "400 M_BAD_JSON"),
            (BOT, {}, "400 M_BAD_JSON"),
        ):
            said = api("PUT", typing + quote(user), body)
            equal(said[: len(wanted)], wanted, f"R25: typing {body} of {user}")
        equal(api("PUT", typing + quote(BOT), {"typing": True, "timeout": 30000}), {}, "typing")
        fake.wait(typing=1, chat=ROOM)
        api("PUT", typing + quote(BOT), {"typing": False})
        fake.wait(typing=0, chat=ROOM)
        equal(api("POST", f"/join/{quote(OTHER)}", {})[:15], "403 M_FORBIDDEN", "R25: joining without an invite")
        equal(api("GET", "/account/whoami")["user_id"], BOT, "whoami")
        fake.control("options", {"token": "other", "soft_logout": True})
        status, _, answer = api.raw("GET", V3 + "/account/whoami")
        equal((status, json.loads(answer)["soft_logout"]), (401, True), "an expired token is refused")


def test_transactions():
    with unpaced() as fake:
        api = Client(fake)
        first = api.send(text("one"), txn="a")
        equal(api.send(text("one"), txn="a"), first, "R25: a repeated transaction gets the same response")
        equal(len(fake.screen()), 1, "a repeated transaction sends one message")
        equal(fake.violations(), [], "a repeated transaction is not a violation")
        equal(api.send(text("two"), txn="a"), first, "a repeated transaction with another content gets the same "
                                                     "response")
        equal(rules_of(fake), ["txn-reused"], "a repeated transaction with another content is a violation")
        ok(api.send(text("two"), txn="b") != first, "another transaction sends another message")
        gone = api.redact(first["event_id"], txn="r")
        equal(api.redact(first["event_id"], txn="r"), gone, "a repeated redaction gets the same response")
        ok(api.redact(first["event_id"], txn="s") != gone, "an event can be redacted twice")
        fake.control("options", {"device": "NEW"})
        ok(api.send(text("one"), txn="a") != first, "the transaction of another device is another one")
        equal(api.send(text(1), txn="c")[:13], "400 M_UNKNOWN", "a refused transaction gets an error")
        ok("event_id" in api.send(text("1"), txn="c"), "a refused transaction can be repeated with a valid content")


def test_screen():
    with unpaced() as fake:
        api = Client(fake)
        asked = fake.control("say", {"user": ANN, "room": ROOM, "text": "hi"})["event_id"]
        html = {"format": "org.matrix.custom.html", "formatted_body": "<p>one <b>two</b></p><ul><li>x</li></ul>"}
        reply = {"m.relates_to": {"m.in_reply_to": {"event_id": asked}}}
        mine = api.send({**text("fallback", **html), **reply})["event_id"]
        fake.control("react", {"user": ANN, "room": ROOM, "event_id": mine, "key": "✅"})
        seen = [m for m in fake.screen() if m["author"] == BOT]
        wanted = {"chat": ROOM, "thread": None, "id": mine, "author": BOT, "text": "one two\n\n- x", "buttons": [],
                  "reply_to": asked, "silent": False, "reactions": ["✅"], "edits": 0}  # fmt: skip
        equal(seen, [wanted], "the visible message")
        api.send(edit(mine, "new"))
        api.send(edit(mine, "newer"))
        seen = fake.screen()[1]
        equal((seen["text"], seen["edits"], seen["reply_to"]), ("newer", 2, asked), "the visible message after edits")
        threaded = {**text("in", msgtype="m.notice"), **relates("m.thread", asked, is_falling_back=True)}
        threaded["m.relates_to"]["m.in_reply_to"] = {"event_id": asked}
        api.send(threaded)
        seen = fake.screen()[2]
        equal((seen["thread"], seen["reply_to"], seen["silent"]), (asked, None, True), "the visible message in a "
                                                                                       "thread")
        fake.control("edit", {"user": ANN, "room": ROOM, "event_id": asked, "text": "hello"})
        equal(fake.screen()[0]["text"], "hello", "a user edits a message")
        fake.control("delete", {"user": ANN, "room": ROOM, "event_id": mine})
        equal(len(fake.screen()), 2, "a user redacts a message")
        ok("event_id" in api.send(edit(mine, "late")), "an edit of a redacted message is accepted")
        equal(len(fake.screen()), 2, "an edit of a redacted message is not visible")
        event = api("GET", "/rooms/" + quote(ROOM, "event", mine))
        equal(event["content"], {}, "a redacted event has no content")
        equal(event["unsigned"]["redacted_because"]["sender"], ANN, "a redacted event names the user who redacted it")
        equal(fake.violations(), [], "no violation is recorded")


def test_judgement():
    """Events that a homeserver accepts, although readers ignore them or show them badly."""
    cases = [
        (text(format="org.matrix.custom.html", formatted_body="<p>x"), "bad-html"),
        (text(format="org.matrix.custom.html", formatted_body="<script>x</script>"), "bad-html"),
        (text(format="org.matrix.custom.html", formatted_body='<a href="file:///x">x</a>'), "bad-html"),
        (text(formatted_body="x"), "bad-html"),
        (text(**{"m.mentions": {"room": True}}), "mass-mention"),
        ({"msgtype": "m.text", "body": "x"}, "no-mentions"),
        (text(" "), "empty-body"),
    ]
    with unpaced() as fake:
        api = Client(fake)
        asked = fake.control("say", {"user": ANN, "room": ROOM, "text": "hi"})["event_id"]
        mine = api.send(text("mine"))["event_id"]
        edited = api.send(edit(mine, "new"))["event_id"]
        cases += [
            (edit(asked, "x"), "bad-edit"),
            (edit(edited, "x"), "bad-edit"),
            ({**text(), **relates("m.replace", mine)}, "bad-edit"),
            (edit(mine, "new"), "same-text"),
        ]
        for content, wanted in cases:
            before = len(fake.violations())
            ok("event_id" in api.send(content), f"R25: {wanted}: the homeserver accepts it")
            equal(rules_of(fake)[before:], [wanted], f"R25: {wanted}")
        fake.control("final", {"text": "^mine"})
        fake.control("room", {"id": ROOM, "encrypted": True})
        before = len(fake.violations())
        api.send(text("mine"))
        equal(rules_of(fake)[before:], ["unencrypted"], "R25: unencrypted messages in an encrypted room")


def test_sync():
    with unpaced() as fake:
        api = Client(fake)
        say = {"user": ANN, "room": ROOM}
        for n in range(5):
            fake.control("say", {**say, "text": f"old {n}"})
        first = api.sync(limit=1)
        room = first["rooms"]["join"][ROOM]
        equal([e["content"]["body"] for e in room["timeline"]["events"]], ["old 4"], "the timeline has the newest "
                                                                                     "events")
        ok(room["timeline"]["limited"], "the timeline is limited")
        equal(room["summary"]["m.joined_member_count"], 3, "the summary has the number of members")
        since = first["next_batch"]
        empty = api.sync(since)
        equal(empty["rooms"], {"join": {}, "invite": {}, "leave": {}}, "a sync without new events is empty")
        equal(empty["next_batch"], since, "a sync without new events returns the same position")
        found = []
        wait = threading.Thread(target=lambda: found.append(Client(fake).sync(since, timeout=30000)))
        wait.start()
        fake.wait(polling=1)
        fake.control("say", {**say, "text": "new"})
        wait.join()
        timeline = found[0]["rooms"]["join"][ROOM]["timeline"]
        equal([e["content"]["body"] for e in timeline["events"]], ["new"], "a long poll returns a new event")
        equal(timeline["limited"], False, "the timeline of a long poll is not limited")
        for n in range(7):
            fake.control("say", {**say, "text": f"gap {n}"})
        gap = api.sync(found[0]["next_batch"], limit=2)["rooms"]["join"][ROOM]["timeline"]
        equal([e["content"]["body"] for e in gap["events"]], ["gap 5", "gap 6"], "a limited timeline has the newest "
                                                                                 "events")
        ok(gap["limited"], "the timeline is marked as limited")
        back, at = [], gap["prev_batch"]
        path = f"/rooms/{quote(ROOM)}/messages"
        while at:
            page = api("GET", path, dir="b", limit=2, to=found[0]["next_batch"], **{"from": at})
            back += [e["content"]["body"] for e in page["chunk"]]
            at = page.get("end")
        equal(back, [f"gap {n}" for n in (4, 3, 2, 1, 0)], "missing events are read page by page")
        page = api("GET", path, dir="f", limit=9, **{"from": found[0]["next_batch"]})
        equal(len(page["chunk"]), 7, "events are read forwards")
        page = api("GET", path, dir="f", **{"from": page["end"]})
        equal((page["chunk"], page.get("end")), ([], None), "the last page has no end")
        none = {"dir": "f", "filter": '{"types":["m.none"]}', "from": found[0]["next_batch"]}
        page = api("GET", path, **none)
        ok(page["chunk"] == [] and page["end"], "a page may be empty although others follow")
        mine = api.send(text("mine"), txn="m")
        timeline = api.sync(limit=1)["rooms"]["join"][ROOM]["timeline"]["events"]
        equal(timeline[0]["unsigned"].get("transaction_id"), "m", "own events have their transaction id")
        typed = api.sync(since, limit=9, types=["m.reaction"])["rooms"]["join"]
        ok(mine and typed, "a sync has the room with new events")
        since = api.sync()["next_batch"]
        fake.control("invite", {"room": OTHER, "user": BOB})
        invited = api.sync(since)["rooms"]["invite"][OTHER]["invite_state"]["events"]
        mine = [e for e in invited if e.get("state_key") == BOT]
        equal((mine[0]["sender"], mine[0]["content"]["membership"]), (BOB, "invite"), "an invite is received")
        equal(api("POST", f"/join/{quote(OTHER)}", {}), {"room_id": OTHER}, "an invite is accepted")
        joined = api.sync(since)["rooms"]["join"][OTHER]
        ok(joined["timeline"]["events"], "the joined room has its timeline")
        fake.control("kick", {"room": OTHER})
        ok(OTHER in api.sync(since)["rooms"]["leave"], "a user who is kicked has left the room")


def test_media():
    with unpaced() as fake:
        api = Client(fake)
        head = {"Content-Type": "text/markdown"}
        status, _, answer = api.raw("POST", "/_matrix/media/v3/upload?filename=a.md", b"# A", **head)
        url = json.loads(answer)["content_uri"]
        equal(status, 200, "a file is uploaded")
        path = "/_matrix/client/v1/media/download/" + url[len("mxc://") :]
        status, headers, data = api.raw("GET", path)
        equal((status, data, headers["Content-Type"]), (200, b"# A", "text/markdown"), "a file is downloaded")
        equal(Client(fake, None).raw("GET", path)[0], 401, "R25: a download without a token")
        old = "/_matrix/media/v3/download/" + url[len("mxc://") :]
        equal(api.raw("GET", old)[0], 404, "R25: a download by the old path")
        equal(api.raw("GET", path + "x")[0], 404, "R25: an unknown file")
        fake.control("options", {"max_upload": 2})
        equal(api.raw("POST", "/_matrix/media/v3/upload", b"# A")[0], 413, "R25: a file that is too large")
        file = {"name": "a.txt", "content": "ä"}
        fake.control("say", {"user": ANN, "room": ROOM, "text": "see", "file": file})
        event = api.sync(limit=1)["rooms"]["join"][ROOM]["timeline"]["events"][0]["content"]
        equal((event["msgtype"], event["info"]["size"]), ("m.file", 2), "a user sends a file")
        media = api.raw("GET", "/_matrix/client/v1/media/download/" + event["url"][len("mxc://") :])
        equal(media[2].decode(), "ä", "the file of the user has its bytes")


def test_pace():
    with unpaced(scale=0.1) as fake:
        api = Client(fake)
        fake.control("pace", {"on": True, "send": [0.5, 3]})
        said = [api.send(text(str(n))) for n in range(4)]
        ok(said[3].startswith("429 M_LIMIT_EXCEEDED"), "R25: too many requests", said[3])
        status, headers, answer = api.raw(
            "PUT", f"{V3}/rooms/{quote(ROOM, 'send', 'm.room.message', 'x')}", json.dumps(text())
        )
        wait = json.loads(answer)["retry_after_ms"]
        ok(status == 429 and 0 < wait <= 1000, "the refusal has the time to wait", wait)
        equal(headers["Retry-After"], "1", "the header has the time to wait, too")
        equal(rules_of(fake), ["too-fast", "retry-too-early"], "the violations are recorded")
        ok("user_id" in api("GET", "/account/whoami"), "other requests are not limited")
        fake.control("reset")
        fault = {"match": {"method": "send"}, "do": "flood", "retry_after": 1.5}
        fake.control("fault", fault)
        ok(api.send(text()).startswith("429"), "a scripted rate limit")
        fake.control("reset")
        fault = {"match": {"method": "send", "text": "lost"}, "do": "reset", "done": True}
        fake.control("fault", fault)
        try:
            api.send(text("lost"), txn="L")
            ok(False, "the response is lost")
        except (ConnectionError, http.client.HTTPException):
            ok(True, "the response is lost")
        api = Client(fake)
        api.send(text("lost"), txn="L")
        equal([m["text"] for m in fake.screen()].count("lost"), 1, "R25: a repeated request sends the message once")
        words = {"errcode": "M_FORBIDDEN", "status": 403, "error": "no"}
        fake.control("fault", {"match": {"method": "send"}, "do": "error", **words})
        equal(api.send(text()), "403 M_FORBIDDEN no", "a scripted refusal")


def test_late():
    with unpaced() as fake:
        api = Client(fake)
        fake.control("pace", {"on": True, "send": [0.01, 2, 100]})
        said = [str(api.send(text(str(n)))) for n in range(4)]
        ok(not any(s.startswith("429") for s in said[:3]), "a burst within the tolerance of 100 s is accepted", said)
        ok(said[3].startswith("429"), "the next request is refused", said)
        equal(rules_of(fake), ["too-fast"], "the violation is recorded")


def test_versions():
    with unpaced() as fake:
        fake.control("room", {"id": "!old:fake.example", "members": [ANN], "version": "3"})
        api = Client(fake)
        mine = api.send(text("mine"), "!old:fake.example")["event_id"]
        ok("/" in mine, "ids of old rooms have slashes")
        ok("event_id" in api.redact(mine, "!old:fake.example"), "ids with slashes must be escaped")
        equal(api.redact(mine.replace("/", "_"), "!old:fake.example")[:3], "404", "an id that is escaped wrongly is "
                                                                                  "unknown")
        ok("v1.11" in Client(fake, None)("GET", "/_matrix/client/versions")["versions"], "versions")


for test in (
    test_refusals,
    test_requests,
    test_transactions,
    test_screen,
    test_judgement,
    test_sync,
    test_media,
    test_pace,
    test_late,
    test_versions,
):
    test()
done()
