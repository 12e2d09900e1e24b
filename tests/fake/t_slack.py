# SPDX-License-Identifier: MIT
"""The Slack fake refuses the same requests as Slack: one check per rule."""

import base64
import hashlib
import hmac
import http.client
import json
import os
import socket
import struct
import sys
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, HTTPServer

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tap"))
from drive import Fake  # noqa: E402
from tap import done, equal, ok  # noqa: E402

BOT, APP = "xoxb-fake-bot", "xapp-fake-app"
C, D = "C0GENERAL", "D0ALICE"
RECIPIENT = {"recipient_user_id": "U0ALICE", "recipient_team_id": "T0FAKE"}


class Client:
    def __init__(self, fake, token=BOT):
        self.connection = http.client.HTTPConnection("127.0.0.1", fake.port, timeout=30)
        self.token = token

    def raw(self, path, body=b"", content_type="application/json; charset=utf-8", verb="POST"):
        headers = {"Content-Type": content_type} if content_type else {}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        self.connection.request(verb, path, body, headers)
        answer = self.connection.getresponse()
        return answer.status, answer.headers, answer.read()

    def __call__(self, method, **params):
        answer = json.loads(self.raw(f"/api/{method}", json.dumps(params).encode())[2])
        return answer if answer["ok"] else answer["error"]

    def form(self, method, **params):
        body = urllib.parse.urlencode(params).encode()
        kind = "application/x-www-form-urlencoded"
        answer = json.loads(self.raw(f"/api/{method}", body, kind)[2])
        return answer if answer["ok"] else answer["error"]


def section(text):
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def markdown(text):
    return {"type": "markdown", "text": text}


def button(text="Go", **more):
    label = {"type": "plain_text", "text": text}
    return {"type": "button", "text": label, "action_id": "a", **more}


def actions(*elements):
    return {"type": "actions", "elements": list(elements)}


def label(text="x"):
    return {"type": "plain_text", "text": text}


def options(count, **more):
    return [{"text": label(f"{i}"), "value": f"{i}", **more} for i in range(count)]


def choose(kind, **more):
    """Returns an input block."""
    element = {"type": kind, "action_id": "a", "options": options(1), **more}
    return {"type": "input", "block_id": "q", "label": label(), "element": element}


def rich(*runs, kind="rich_text_section"):
    return {"type": "rich_text", "elements": [{"type": kind, "elements": list(runs)}]}


def post(*blocks, **params):
    text = {} if "text" in params or "markdown_text" in params else {"text": "x"}
    return ("chat.postMessage", {"channel": C, **text, "blocks": list(blocks), **params})


def update(**params):
    return ("chat.update", {"channel": C, "ts": "POSTED", **params})


def start(**params):
    return ("chat.startStream", {"channel": C, "thread_ts": "ASKED", **RECIPIENT, **params})


REFUSALS = [
    # method and arguments, the error
    (post(channel="C0NONE"), "channel_not_found"),
    (post(channel="C0ARCHIVE"), "is_archived"),
    (post(channel="C0CLOSED"), "not_in_channel"),
    (post(text=""), "no_text"),
    (post(text="x", markdown_text="x"), "markdown_text_conflict"),
    (post(markdown_text="x" * 12001), "msg_too_long"),
    (post(thread_ts="REPLY"), "invalid_thread_ts"),
    (post(thread_ts="yesterday"), "invalid_thread_ts"),
    (post(thread_ts="1234567890.123456"), "thread_not_found"),
    (post(*[{"type": "divider"}] * 51), "invalid_blocks"),
    (post({"type": "heading"}), "invalid_blocks"),
    (post({"type": "section"}), "invalid_blocks"),
    (post(section("")), "invalid_blocks"),
    (post(section("x" * 3001)), "invalid_blocks"),
    (post({"type": "header", "text": {"type": "plain_text", "text": "x" * 151}}), "invalid_blocks"),
    (post({"type": "header", "text": {"type": "mrkdwn", "text": "x"}}), "invalid_blocks"),
    (post(markdown("x" * 6000), markdown("x" * 6001)), "msg_blocks_too_long"),
    (post(actions()), "invalid_blocks"),
    (post(actions(*[button()] * 26)), "invalid_blocks"),
    (post(actions(button("x" * 76))), "invalid_blocks"),
    (post(actions(button(value="x" * 2001))), "invalid_blocks"),
    (post(actions(button(action_id="x" * 256))), "invalid_blocks"),
    (post(actions(button(style="blue"))), "invalid_blocks"),
    (post(actions(button(), button())), "invalid_blocks"),
    (post(actions(button(confirm={"title": label(), "text": label(), "confirm": label()}))),
     "invalid_blocks"),
    (post(actions({**choose("multi_static_select")["element"]})), "invalid_blocks"),
    (post(choose("radio_buttons", options=options(11))), "invalid_blocks"),
    (post(choose("checkboxes", options=[])), "invalid_blocks"),
    (post(choose("static_select", options=options(101))), "invalid_blocks"),
    (post(choose("static_select", options=options(2, value="v"))), "invalid_blocks"),
    (post(choose("radio_buttons", options=options(1, value="x" * 151))), "invalid_blocks"),
    (post(choose("radio_buttons", options=options(1, text=label("x" * 76)))), "invalid_blocks"),
    (post(choose("button")), "invalid_blocks"),
    (post(choose("plain_text_input", max_length=3001)), "invalid_blocks"),
    (post({**choose("radio_buttons"), "label": label("x" * 2001)}), "invalid_blocks"),
    (post({"type": "input", "label": label()}), "invalid_blocks"),
    (post(rich({"type": "text", "text": ""})), "invalid_blocks"),
    (post(rich({"type": "text", "text": "x", "style": "bold"})), "invalid_blocks"),
    (post(rich({"type": "mrkdwn", "text": "x"})), "invalid_blocks"),
    (post(rich(kind="section")), "invalid_blocks"),
    (post(rich({"type": "text", "text": "x" * 13200})), "msg_blocks_too_long"),
    (post({"type": "context", "elements": [{"type": "mrkdwn", "text": "x"}] * 11}),
     "invalid_blocks"),
    (post({"type": "table", "rows": [[{}] * 21]}), "invalid_blocks"),
    (post({**section("x"), "block_id": "b"}, {**section("y"), "block_id": "b"}), "invalid_blocks"),
    (post(attachments=[{}] * 101), "too_many_attachments"),
    (post(metadata={"event_type": 5}), "invalid_metadata_format"),
    (post(metadata={"event_type": "x", "event_payload": {"x": "x" * 8000}}), "metadata_too_large"),
    (update(text="x" * 4001), "msg_too_long"),
    (update(text="<" * 1001), "msg_too_long"),
    (update(text="ä" * 2001), "msg_too_long"),
    (update(ts="ASKED", text="x"), "cant_update_message"),
    (update(ts="1234567890.123456", text="x"), "message_not_found"),
    (update(), "no_text"),
    (("chat.delete", {"channel": C, "ts": "ASKED"}), "cant_delete_message"),
    (("chat.postEphemeral", {"channel": C, "user": "U0NONE", "text": "x"}), "user_not_in_channel"),
    (start(recipient_team_id=None), "missing_recipient_team_id"),
    (start(thread_ts=None), "invalid_arguments"),
    (start(thread_ts="REPLY"), "invalid_thread_ts"),
    (start(markdown_text="x" * 12001), "msg_too_long"),
    (start(chunks=[{"type": "text"}]), "invalid_chunks"),
    (start(chunks=[{"type": "task_update", "id": "1", "title": "x", "status": "busy"}]),
     "invalid_chunks"),
    (("chat.appendStream", {"channel": C, "ts": "POSTED", "markdown_text": "x"}),
     "message_not_in_streaming_state"),
    (("reactions.add", {"channel": C, "timestamp": "ASKED", "name": ":eyes:"}), "invalid_name"),
    (("reactions.remove", {"channel": C, "timestamp": "ASKED", "name": "eyes"}), "no_reaction"),
    (("agents.sessions.setStatus", {"channel_id": C, "thread_ts": "ASKED", "status": "busy"}),
     "invalid_arguments"),
    (("agents.sessions.setStatus", {"channel_id": C, "thread_ts": "ASKED", "status": "active",
                                    "title": "x" * 201}), "invalid_arguments"),
    (("assistant.threads.setStatus", {"channel_id": C, "thread_ts": "ASKED", "status": "x",
                                      "loading_messages": ["x"] * 11}), "invalid_arguments"),
    (("files.completeUploadExternal", {"files": [{"id": "F1"}], "channel_id": C}),
     "file_not_found"),
    (("users.info", {"user": "U0ALICE"}), "invalid_arguments"),  # the method does not accept JSON
    (("conversations.open", {"users": "U0NONE"}), "user_not_found"),
    (("apps.connections.open", {}), "not_allowed_token_type"),
    (("chat.shout", {}), "unknown_method"),
]  # fmt: skip


def unpaced(scale=1.0):
    fake = Fake("slack", scale)
    fake.control("pace", {"on": False})
    return fake


def rules_of(fake):
    return [violation["rule"] for violation in fake.violations()]


def asked(fake, channel=C):
    return fake.control("message", {"user": "U0ALICE", "channel": channel, "text": "please"})["ts"]


def test_refusals():
    with unpaced() as fake:
        api = Client(fake)
        fake.control("channel", {"id": "C0ARCHIVE", "archived": True})
        fake.control("channel", {"id": "C0CLOSED", "member": False})
        names = {"ASKED": asked(fake)}
        reply = api("chat.postMessage", channel=C, thread_ts=names["ASKED"], text="r")
        names["REPLY"] = reply["ts"]
        names["POSTED"] = api("chat.postMessage", channel=C, text="p")["ts"]
        for (method, params), wanted in REFUSALS:
            params = {k: names.get(v, v) if isinstance(v, str) else v for k, v in params.items()}
            equal(api(method, **params), wanted, f"{method}: {wanted}")
        texts = [message["text"] for message in fake.state()["chats"][C]["messages"]]
        equal(texts, ["please", "r", "p"], "no refused message is visible")
        wanted = {"bad-request", "thread-of-reply", "stream-misuse", "token-kind", "method-unknown"}
        equal(set(rules_of(fake)), wanted, "the violations are recorded")


def test_tokens():
    with unpaced() as fake:
        equal(Client(fake, None)("auth.test"), "not_authed", "a missing token")
        equal(Client(fake, "xoxb-other")("auth.test"), "invalid_auth", "an unknown token")
        equal(Client(fake, APP)("auth.test"), "not_allowed_token_type", "a token for sockets")
        api = Client(fake)
        fake.control("options", {"missing_scope": "chat:write"})
        message = b'{"channel":"C0GENERAL","text":"x"}'
        body = json.loads(api.raw("/api/chat.postMessage", message)[2])
        equal((body["error"], body["needed"]), ("missing_scope", "chat:write"), "a missing scope")
        fake.control("options", {"tokens_revoked": True})
        equal(api("auth.test"), "token_revoked", "a revoked token")


def test_forms():
    with unpaced() as fake:
        api = Client(fake)
        sent = api.form("chat.postMessage", channel=C, text="f", blocks=json.dumps([section("b")]))
        equal(sent["message"]["blocks"], [section("b")], "a form with JSON")
        equal(api.form("users.info", user="U0BOB")["user"]["name"], "bob",
              "a method that reads requires a form")  # fmt: skip
        equal(api.raw("/api/auth.test", b"{")[2], b'{"ok": false, "error": "invalid_json"}',
              "a body that is not JSON")  # fmt: skip
        body = api.raw("/api/auth.test", b"x", "text/plain")[2]
        equal(json.loads(body)["error"], "invalid_post_type", "another type of the body")
        equal(api("conversations.open", users="U0BOB")["channel"]["user"], "U0BOB",
              "a channel is created")  # fmt: skip


def test_messages():
    with unpaced() as fake:
        api = Client(fake)
        fake.control("final", {"text": "the answer"})
        long = api("chat.postMessage", channel=C, text="x" * 40001)
        equal((len(long["message"]["text"]), long["warning"]), (40000, "message_truncated"),
              "40,000")  # fmt: skip
        blocks = [markdown("b"), actions(button())]
        ts = api("chat.postMessage", channel=C, text="f", blocks=blocks)["ts"]
        equal(api("chat.update", channel=C, ts=ts, text="x" * 4000)["ok"], True, "4,000 bytes fit")
        link = "<https://example.org/|x>" * 166
        equal(api("chat.update", channel=C, ts=ts, text=link)["ok"], True, "characters of markup count once")
        api("chat.update", channel=C, ts=ts, text="the answer")
        equal(api("chat.update", channel=C, ts=ts, text="the answer")["ok"], True, "the same edit again")
        api("chat.update", channel=C, ts=ts, text="working")
        api("chat.postMessage", channel=C, text="hello <!channel>")
        api("chat.postMessage", channel=C, blocks=[markdown("no text")])
        api("chat.postMessage", channel=C, text="x", colour="red")
        wanted = ["text-truncated", "same-text", "final-changed", "mass-mention",
                  "no-fallback-text", "bad-request"]  # fmt: skip
        equal(rules_of(fake), wanted, "violations that are not refused are recorded")


def test_choices():
    with unpaced() as fake:
        api = Client(fake)
        blocks = [
            rich({"type": "text", "text": "<!here>"}), choose("radio_buttons", options=options(3)),
            {**choose("checkboxes", options=options(3)), "block_id": "r"},
            {**choose("plain_text_input"), "block_id": "t"},
            actions(button(value="v")),
        ]
        ts = api("chat.postMessage", channel=C, text="f", blocks=blocks)["ts"]
        press = {"user": "U0ALICE", "channel": C, "ts": ts, "action_id": "a"}
        fake.control("action", {**press, "values": {"q": "1", "r": ["0", "2"], "t": "mine"}})
        payload = fake.wait(kind="inbound")[0]["payload"]
        values = {k: v["a"] for k, v in payload["state"]["values"].items()}
        equal(values["q"]["selected_option"]["value"], "1", "a pressed button has the selected option")
        equal([o["value"] for o in values["r"]["selected_options"]], ["0", "2"], "several")
        equal(values["t"]["value"], "mine", "a pressed button has the text input")
        fake.control("again", {"payload": payload})
        again = fake.wait(kind="inbound", count=2)[1]["payload"]
        equal(again, payload, "an interaction is delivered again")
        equal(rules_of(fake), [], "rich text notifies nobody")


def test_uploads():
    with unpaced() as fake:
        api = Client(fake)
        ticket = api.form("files.getUploadURLExternal", filename="a.md", length=4)
        path = urllib.parse.urlsplit(ticket["upload_url"]).path
        equal(api.raw(path, b"# A", "application/octet-stream")[0], 400, "an upload of another length is refused")
        early = api("files.completeUploadExternal", files=[{"id": ticket["file_id"]}], channel_id=C)
        equal(early, "file_not_found", "a file is unknown before its upload")
        equal(api.raw(path, b"# A\n", "application/octet-stream")[0], 200, "a file is uploaded")
        file = api("files.completeUploadExternal", files=[{"id": ticket["file_id"]}], channel_id=C)
        url = urllib.parse.urlsplit(file["files"][0]["url_private_download"]).path
        equal(api.raw(url, verb="GET")[2], b"# A\n", "a file is downloaded")
        equal(Client(fake, None).raw(url, verb="GET")[0], 302, "a download without a token is redirected")


def test_streams():
    with unpaced() as fake:
        api = Client(fake)
        thread = asked(fake)

        def begin(**more):
            return api("chat.startStream", channel=C, thread_ts=thread, **RECIPIENT, **more)["ts"]

        ts = begin(markdown_text="a" * 7000)
        append = {"channel": C, "ts": ts}
        equal(api("chat.update", channel=C, ts=ts, text="x"), "streaming_state_conflict", "no edit of a streamed message")
        equal(api("chat.appendStream", **append), "invalid_arguments", "an empty append is refused")
        equal(api("chat.appendStream", **append, markdown_text="b" * 5001), "msg_too_long",
              "12,000")  # fmt: skip
        equal(api("chat.appendStream", **append, markdown_text="b" * 5000)["ok"], True, "an append up to the total limit is accepted")
        blocks = [{"type": "blocks", "blocks": [section("x")] * 50}]
        equal(api("chat.appendStream", **append, chunks=blocks)["ok"], True, "50 blocks")
        task = [{"type": "task_update", "id": "1", "title": "t", "status": "complete"}]
        said = api("chat.appendStream", **append, chunks=task)
        equal(said, "msg_blocks_too_many", "a task counts as an additional block")
        equal(api("chat.stopStream", **append, blocks=[section("x")]), "msg_blocks_too_many",
              "a text after it is refused, too")  # fmt: skip
        equal(api("chat.stopStream", **append)["ok"], True, "a stream is ended")
        equal(api("chat.stopStream", **append), "message_not_in_streaming_state", "once")
        ts = begin()
        stopped = fake.control("stop", {"user": "U0ALICE", "channel": C, "thread_ts": thread})
        equal(stopped["streams"], [ts], "a user stops a stream")
        equal(api("chat.appendStream", channel=C, ts=ts, markdown_text="x"), "stopped_by_user",
              "the refusal names the reason")  # fmt: skip
        fake.control("options", {"tasks": False})
        said = api("chat.startStream", channel=C, thread_ts=thread, **RECIPIENT, chunks=task)
        equal(said, "invalid_chunks", "tasks in a channel without an agent are refused")
        fake.control("options", {"stream_idle": 0.01, "stream_life": 1000})
        ts = begin(markdown_text="idle")
        fake.wait(visible=1, text="^idle$", streaming="False")
        said = api("chat.appendStream", channel=C, ts=ts, markdown_text="x")
        equal(said, "message_not_in_streaming_state", "R25: a stream that was idle for too long")
        fake.control("options", {"stream_idle": 1000, "stream_life": 0.01})
        ts = begin(markdown_text="old")
        fake.wait(visible=1, text="^old$", streaming="False")
        said = api("chat.stopStream", channel=C, ts=ts)
        equal(said, "message_not_in_streaming_state", "R25: a stream that is too old")
        fake.control("options", {"streams": False})
        equal(api("chat.startStream", channel=C), "unknown_method", "streams can be disabled")


def test_status():
    with unpaced(scale=0.001) as fake:
        api = Client(fake)
        thread = asked(fake)
        where = {"channel_id": C, "thread_ts": thread}
        api("assistant.threads.setStatus", **where, status="thinking")
        fake.wait(typing=0, chat=C)
        fake.control("scale", {"factor": 100})
        api("assistant.threads.setStatus", **where, status="thinking")
        equal(fake.state()["chats"][C]["typing"], True, "a status is shown")
        api("chat.postMessage", channel=C, thread_ts=thread, text="x")
        equal(fake.state()["chats"][C]["typing"], False, "a message clears the status")
        ts = api("chat.startStream", channel=C, thread_ts=thread, **RECIPIENT)["ts"]
        api("agents.sessions.setStatus", **where, status="processing", title="t")
        api("chat.stopStream", channel=C, ts=ts, session_status="active")
        session = fake.state()["chats"][C]["sessions"][thread]
        equal(session, {"status": "active", "title": "t"}, "a session has its status and title")
        fake.control("options", {"agent": False})
        equal(api("agents.sessions.setStatus", **where, status="active"), "access_denied",
              "a session of an app that is not an agent")  # fmt: skip


def test_pace():
    with Fake("slack") as fake:
        api = Client(fake)
        said = [api("chat.postMessage", channel=C, text="x") for _ in range(6)]
        equal([s == "ratelimited" for s in said], [False] * 5 + [True], "a burst in one channel is limited")
        equal(api("chat.postMessage", channel=D, text="x")["ok"], True, "another channel is not limited")
        status, headers, _ = api.raw("/api/chat.postMessage", b'{"channel":"C0GENERAL","text":"x"}')
        equal((status, headers["Retry-After"]), (429, "1"), "the header has the time to wait")
        equal(rules_of(fake), ["too-fast", "retry-too-early"], "noted")
        fake.control("pace", {"tier3": 2})
        ts = api("chat.postMessage", channel=D, text="y")["ts"]
        said = [api("chat.update", channel=D, ts=ts, text=f"{i}") for i in range(3)]
        equal([s == "ratelimited" for s in said], [False, False, True], "a tier is limited over all channels")


class WebSocket:
    """A client of Socket Mode that is controlled by the test."""

    def __init__(self, fake, masked=True):
        self.masked = masked
        url = Client(fake, APP)("apps.connections.open")["url"]
        parts = urllib.parse.urlsplit(url)
        self.path = f"{parts.path}?{parts.query}"
        self.socket = socket.create_connection(("127.0.0.1", parts.port), 30)
        self.file = self.socket.makefile("rb")
        self.status = self.ask(self.path)

    def ask(self, path):
        key = base64.b64encode(b"0123456789abcdef").decode()
        head = f"GET {path} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        head += f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n"
        self.socket.sendall(head.encode())
        status = int(self.file.readline().split()[1])
        while self.file.readline() not in (b"\r\n", b""):
            pass
        return status

    def send(self, text, opcode=1):
        data = text.encode()
        mask = b"\1\2\3\4" if self.masked else b""
        size = len(data) | (0x80 if self.masked else 0)
        if self.masked:
            data = bytes(b ^ mask[i % 4] for i, b in enumerate(data))
        self.socket.sendall(bytes([0x80 | opcode, size]) + mask + data)

    def frame(self):
        """Returns opcode and payload; None at the end of the connection."""
        head = self.file.read(2)
        if len(head) < 2:
            return None
        size = head[1] & 0x7F
        if size == 126:
            (size,) = struct.unpack(">H", self.file.read(2))
        return head[0] & 0x0F, self.file.read(size)

    def json(self):
        while True:
            frame = self.frame()
            if frame is None or frame[0] == 1:
                return frame and json.loads(frame[1])

    def ack(self, envelope):
        self.send(json.dumps({"envelope_id": envelope["envelope_id"]}))

    def close(self):
        self.file.close()
        self.socket.close()


def test_sockets():
    with unpaced() as fake:
        first = WebSocket(fake)
        equal((first.status, first.json()["type"]), (101, "hello"), "a socket is opened and gets hello")
        again = WebSocket(fake)
        again.json()
        other = socket.create_connection(("127.0.0.1", fake.port))
        other.sendall(f"GET {again.path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        ok(other.recv(100).startswith(b"HTTP/1.1 401"), "a ticket is valid once")
        other.close()
        again.close()
        fake.wait(sockets=1)
        first.send("hi", opcode=9)
        equal(first.frame(), (10, b"hi"), "a ping is answered")
        asked(fake)
        envelope = first.json()
        equal(envelope["payload"]["event"]["text"], "please", "an envelope is delivered")
        first.ack(envelope)
        fake.wait(acked=1)
        first.ack(envelope)
        fake.wait(violation="late-ack")
        first.send("no json")
        fake.wait(violation="bad-json")
        first.send('{"envelope_id":"unknown"}')
        fake.wait(violation="bad-request")
        ok(True, "a second, an invalid and an unknown acknowledgement are violations")
        fake.control("socket", {"do": "disconnect", "reason": "warning"})
        equal(first.json()["reason"], "warning", "a warning of a disconnect is sent")
        fake.control("socket", {"do": "close", "code": 1001})
        equal(first.frame(), (8, struct.pack(">H", 1001)), "the socket is closed")
        first.close()
        fake.wait(sockets=0)
        bare = WebSocket(fake, masked=False)
        bare.json()
        bare.send("{}")
        equal(bare.frame(), (8, struct.pack(">H", 1002)), "an unmasked frame closes the socket")
        bare.close()
        fake.control("socket", {"do": "disconnect", "reason": "link_disabled"})
        said = Client(fake, APP)("apps.connections.open")
        equal(said, "socket_mode_not_enabled", "Socket Mode can be disabled")


def test_again():
    with unpaced() as fake:
        fake.control("options", {"ack_time": 0.05, "ping_every": 0.02})
        first = WebSocket(fake)
        first.json()
        asked(fake)
        tries = [first.json() for _ in range(2)]
        told = [(t["retry_attempt"], t["retry_reason"]) for t in tries]
        equal(told, [(0, ""), (1, "timeout")], "an unacknowledged event is delivered again")
        equal(tries[0]["envelope_id"], tries[1]["envelope_id"], "the repeated event has the same envelope")
        first.ack(tries[1])
        fake.wait(acked=1)
        ok("no-ack" in rules_of(fake), "a missing acknowledgement is a violation")
        fake.control("options", {"ack_time": 30})
        asked(fake)
        lost = first.json()
        first.close()
        fake.wait(sockets=0)
        second = WebSocket(fake)
        second.json()
        again = second.json()
        equal((again["envelope_id"], again["retry_attempt"]), (lost["envelope_id"], 1),
              "the events of a lost socket are sent over the next one")  # fmt: skip
        second.ack(again)
        while second.frame()[0] != 9:
            pass
        ok(True, "the service sends pings")
        fake.control("socket", {"do": "silence", "on": True})
        since = fake.last_seq()
        second.send("x", opcode=9)
        fake.wait(kind="socket", event="ping", since=since)
        fake.control("socket", {"do": "silence", "on": False})
        second.send("y", opcode=9)
        frame = second.frame()
        while frame[0] != 10:
            frame = second.frame()
        equal(frame[1], b"y", "a silent socket sends no pong")
        fake.control("socket", {"do": "drop"})
        try:
            while second.frame():
                pass
        except ConnectionResetError:
            pass
        fake.wait(sockets=0)
        ok(True, "a socket is reset")
        second.close()


class Hook(BaseHTTPRequestHandler):
    statuses, seen = [], []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        now = self.headers["X-Slack-Request-Timestamp"] or "0"
        base = b"v0:" + now.encode() + b":" + body
        digest = "v0=" + hmac.new(b"fake-signing-secret", base, hashlib.sha256).hexdigest()
        retry = self.headers["X-Slack-Retry-Num"]
        good = digest == self.headers["X-Slack-Signature"]
        self.seen.append((good, round((int(now) - time.time()) / 300), retry, body))
        self.send_response(self.statuses.pop(0) if self.statuses else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def test_events():
    server = HTTPServer(("127.0.0.1", 0), Hook)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with unpaced(scale=0.1) as fake:
        fake.control("events_url", {"url": f"http://127.0.0.1:{server.server_port}/e"})
        Hook.statuses[:] = [500]
        asked(fake)
        fake.wait(acked=1)
        equal([s[:3] for s in Hook.seen], [(True, 0, None), (True, 0, "1")], "events are signed, and delivered again")
        Hook.seen.clear()
        for sign in ("bad", "old", "future", "none"):
            fake.control("push", {"payload": {"type": "x"}, "sign": sign})
        told = [s[:2] for s in Hook.seen]
        equal(told, [(False, 0), (True, -1), (True, 1), told[3]], "events with a forged signature, an old and a future time")
        equal(told[3][0], False, "an event without a signature")
        fake.control("command", {"user": "U0ALICE", "channel": C, "command": "/a", "text": "b c"})
        fake.wait(acked=1)
        form = dict(urllib.parse.parse_qsl(Hook.seen[-1][3].decode()))
        equal((form["command"], form["text"]), ("/a", "b c"), "a command is sent as a form")
        path = urllib.parse.urlsplit(form["response_url"]).path
        uses = [Client(fake).raw(path, b'{"text":"x"}')[0] for _ in range(6)]
        equal(uses, [200] * 5 + [404], "a response_url can be used five times")
    server.shutdown()


def test_in_flight():
    def beside(method, one, thread, **more):
        """Returns the violations of a call while another one in the thread `one` is in flight."""
        last = fake.record()[-1]["seq"]
        fake.control("fault", {"match": {"text": "slow"}, "do": "hold"})
        slow = {"channel": C, "thread_ts": one, "text": "slow", **more}
        (held := threading.Thread(target=Client(fake), args=(method,), kwargs=slow)).start()
        fake.wait(method=method, stage="arrived", since=last)
        Client(fake)(method, channel=C, thread_ts=thread, text="x", **more)
        fake.control("release")
        held.join()
        return rules_of(fake)

    with unpaced() as fake:
        one, two = asked(fake), asked(fake)
        equal(beside("chat.postMessage", one, two), [], "calls in two threads at the same time are permitted")
        equal(beside("chat.postEphemeral", one, one, user="U0ALICE"), [], "an ephemeral message at the same time is permitted")
        equal(beside("chat.postMessage", one, one), ["in-flight"], "two calls in one thread at the same time are a violation")


for test in (test_refusals, test_tokens, test_forms, test_messages, test_choices, test_uploads, test_streams,
             test_status, test_pace, test_sockets, test_again, test_events, test_in_flight):  # fmt: skip
    test()
done()
