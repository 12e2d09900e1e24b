# SPDX-License-Identifier: MIT
"""The Discord fake refuses the same requests as Discord: one check per rule."""

import base64
import http.client
import http.server
import json
import os
import socket
import struct
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tap"))
from drive import Fake  # noqa: E402
from tap import done, equal, ok  # noqa: E402

TOKEN = "fake-discord-bot-token.AAAAAA.not-a-real-one"
BOT, APP = "900000000000000001", "900000000000000002"
HOOK = "/webhooks/800000000000000001/fake-discord-webhook-token"
ANN, C, D = "100000000000000001", "500000000000000001", "500000000000000002"
NOBODY = {"allowed_mentions": {"parse": []}}
PLAIN = (1 << 9) | (1 << 12)


class Client:
    def __init__(self, fake, token=TOKEN):
        self.connection = http.client.HTTPConnection("127.0.0.1", fake.port, timeout=30)
        self.headers = {"User-Agent": "DiscordBot (test, 1)", "Content-Type": "application/json"}
        if token:
            self.headers["Authorization"] = f"Bot {token}"

    def raw(self, verb, path, body=None, **headers):
        self.connection.request(verb, path, body, {**self.headers, **headers})
        answer = self.connection.getresponse()
        return answer.status, answer.headers, answer.read()

    def __call__(self, verb, path, body=None):
        """Returns the response, or "STATUS CODE message"."""
        data = None if body is None else json.dumps(body).encode()
        status, _, text = self.raw(verb, "/api/v10" + path, data)
        answer = json.loads(text) if text else None
        return answer if status < 300 else f"{status} {answer['code']} {answer['message']}"

    def post(self, channel=C, **body):
        return self("POST", f"/channels/{channel}/messages", {"content": "x", **NOBODY, **body})

    def edit(self, message, channel=C, **body):
        return self("PATCH", f"/channels/{channel}/messages/{message}", {**NOBODY, **body})


class Gateway:
    """A client of the gateway that is controlled by the test."""

    def __init__(self, fake, query="v=10&encoding=json"):
        self.socket = socket.create_connection(("127.0.0.1", fake.port), 30)
        self.file = self.socket.makefile("rb")
        key = base64.b64encode(b"0123456789abcdef").decode()
        head = f"GET /gateway?{query} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        head += f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n"
        self.socket.sendall(head.encode())
        while self.file.readline() not in (b"\r\n", b""):
            pass

    def frame(self, opcode, data):
        size = bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + struct.pack(">H", len(data))
        masked = bytes(b ^ b"\1\2\3\4"[i % 4] for i, b in enumerate(data))
        self.socket.sendall(bytes([0x80 | opcode]) + size + b"\1\2\3\4" + masked)

    def send(self, op, data=None):
        self.frame(1, json.dumps({"op": op, "d": data}).encode())

    def identify(self, intents=PLAIN, token=TOKEN):
        self.send(2, {"token": token, "intents": intents, "properties": {}})

    def next(self):
        """Returns a payload, the status of a close frame, or None at the end of the connection."""
        while True:
            head = self.file.read(2)
            if len(head) < 2:
                return None
            size = head[1] & 0x7F
            if size == 126:
                (size,) = struct.unpack(">H", self.file.read(2))
            elif size == 127:
                (size,) = struct.unpack(">Q", self.file.read(8))
            data = self.file.read(size)
            if head[0] & 15 == 1:
                return json.loads(data)
            if head[0] & 15 == 8:
                return struct.unpack(">H", data[:2])[0] if data else 1005

    def until(self, kind):
        while True:
            payload = self.next()
            if not isinstance(payload, dict) or payload["t"] == kind:
                return payload

    def leave(self, code):
        self.frame(8, struct.pack(">H", code))
        while self.next() is not None:
            pass
        self.socket.close()


def unpaced(scale=1.0):
    fake = Fake("discord", scale)
    fake.control("pace", {"on": False})
    fake.control("user", {"id": ANN, "name": "ann"})
    fake.control("channel", {"id": C})
    fake.control("channel", {"id": D, "type": "dm", "user": ANN})
    return fake


def rules_of(fake):
    return [violation["rule"] for violation in fake.violations()]


def button(label="Go", data="go", **more):
    return {"type": 2, "style": 1, "label": label, "custom_id": data, **more}


def rows(*buttons):
    return [{"type": 1, "components": list(buttons)}]


def test_messages():
    with unpaced() as fake:
        api = Client(fake)
        asked = fake.control("message", {"user": ANN, "channel": C, "text": "hi"})["id"]
        bad = "400 50035 Invalid Form Body"
        cases = [
            ({"content": "x" * 2001}, bad),
            ({"nonce": "n" * 26}, bad),
            ({"flags": 1 << 20}, bad),
            ({"components": rows()}, bad),
            ({"components": rows(*[button(data=f"b{n}") for n in range(6)])}, bad),
            ({"components": rows(button("x" * 81))}, bad),
            ({"components": rows(button(data="x" * 101))}, bad),
            ({"components": rows(button(), button())}, bad),
            ({"components": rows(button(style=9))}, bad),
            ({"message_reference": {"message_id": "1"}}, bad),
            ({"content": ""}, "400 50006 Cannot send an empty message"),
        ]
        for body, wanted in cases:
            equal(api.post(**body), wanted, f"R25: {str(body)[:60]}")
        equal(api.post("1"), "404 10003 Unknown Channel", "R25: an unknown channel")
        equal(api.edit("1", content="x"), "404 10008 Unknown Message", "R25: an unknown message")
        equal(api.edit(asked, content="x"), "403 50005 Cannot edit a message authored by another user", "R25: a message of another author")
        mine = api.post(message_reference={"message_id": asked}, components=rows(button()))
        seen = [m for m in fake.screen() if m["id"] == mine["id"]][0]
        equal((seen["reply_to"], seen["buttons"]), (asked, [["Go"]]), "a reply has a button")
        api.edit(mine["id"], content="y", components=[])
        seen = [m for m in fake.screen() if m["id"] == mine["id"]][0]
        equal((seen["text"], seen["buttons"], seen["edits"]), ("y", [], 1), "an edit changes the text")
        first, again = api.post(nonce="n1", enforce_nonce=True), api.post(nonce="n1", enforce_nonce=True)
        equal(first["id"], again["id"], "R25: a repeated nonce returns the same message")
        other = api.post(nonce="n1", enforce_nonce=True, content="z")
        equal((other["id"], "nonce-reused" in rules_of(fake)), (first["id"], True), "a repeated nonce with another "
                                                                                    "content is a violation")
        ok(api.post(nonce="n1")["id"] != first["id"], "a nonce that is not enforced creates another message")
        api("POST", f"/channels/{C}/messages", {"content": "@everyone"})
        ok({"no-mentions", "mass-mention"} <= set(rules_of(fake)), "R14: text that may notify users", rules_of(fake))
        fake.control("age", {"id": mine["id"], "seconds": 4000})
        said = [api.edit(mine["id"], content=f"{n}") for n in range(4)]
        ok(isinstance(said[2], dict) and said[3].startswith("429 30046"), "R25: edits of an old message", said)
        equal(api("DELETE", f"/channels/{C}/messages/{mine['id']}"), None, "a message is deleted")
        equal(api("DELETE", f"/channels/{C}/messages/{mine['id']}"), "404 10008 Unknown Message", "once")
        equal(api("PUT", f"/channels/{C}/messages/{asked}/reactions/%F0%9F%91%80/@me"), None, "a reaction is added")
        equal(api("PUT", f"/channels/{C}/messages/{asked}/reactions/eyes/@me"), "400 10014 Unknown Emoji", "R25: an invalid emoji")
        for state, wanted in {"no_access": "403 50001", "read_only": "403 50013", "closed": "403 50007"}.items():
            fake.control("channel", {"id": C, "state": state})
            ok(api.post().startswith(wanted), f"R25: a channel in the state {state}")


def test_nonce_expires():
    with unpaced(0.0001) as fake:
        api = Client(fake)
        first = api.post(nonce="n1", enforce_nonce=True)["id"]
        fake.control("scale", {"factor": 0})
        ok(api.post(nonce="n1", enforce_nonce=True)["id"] != first, "R25: a nonce expires")


def test_access():
    with unpaced() as fake:
        equal(Client(fake, "wrong")("GET", "/users/@me"), "401 0 401: Unauthorized", "R25: an invalid token")
        equal(Client(fake, None).post(), "401 0 401: Unauthorized", "R25: a missing token")
        api = Client(fake)
        equal(api("GET", "/users/@me")["id"], BOT, "the account of the bot")
        equal(api("GET", "/applications/@me")["id"], APP, "the application of the bot")
        equal(api("GET", "/nothing"), "404 0 404: Not Found", "R25: an unknown path")
        status = api.raw("POST", f"/api/v10/channels/{C}/messages", b"{", **{"User-Agent": "curl"})[0]
        equal((status, "user-agent" in rules_of(fake)), (400, True), "R25: a body that is not JSON, and an invalid User-Agent")
        equal(fake.state()["invalid"], 2, "refused requests that count are counted")


def test_pace():
    with Fake("discord") as fake:
        fake.control("channel", {"id": C})
        api, path = Client(fake), f"/api/v10/channels/{C}/messages"
        body = json.dumps({"content": "x", **NOBODY}).encode()
        said = [api.raw("POST", path, body) for _ in range(6)]
        left = [headers["X-RateLimit-Remaining"] for _, headers, _ in said[:5]]
        equal(left, ["4", "3", "2", "1", "0"], "a header has the number of remaining requests")
        told = json.loads(said[5][2])
        equal((said[5][0], told["global"]), (429, False), "R25: the sixth request is refused")
        ok(0 < told["retry_after"] <= 5, "the refusal has the time to wait", told)
        api.raw("POST", path, body)
        equal(rules_of(fake), ["too-fast", "retry-too-early"], "a request before the end of the pause is a violation")
        equal(api.raw("POST", f"/api/v10/channels/{C}/typing")[0], 204, "another method has its own limit")


def hello(fake, **more):
    gateway = Gateway(fake)
    equal(gateway.next()["op"], 10, "hello")
    gateway.identify(**more)
    return gateway


def test_gateway():
    with unpaced() as fake:
        gateway = hello(fake)
        ready = gateway.until("READY")
        equal(ready["s"], 1, "identify is answered by READY")
        gateway.send(1, 1)
        equal(gateway.next(), {"op": 11}, "a heartbeat is acknowledged")
        asked = fake.control("message", {"user": ANN, "channel": C, "text": "hi", "mention": True})["id"]
        fake.control("message", {"user": ANN, "channel": C, "text": "to others"})
        told = [gateway.until("MESSAGE_CREATE")["d"] for _ in range(2)]
        equal([told[0]["id"], told[0]["content"]], [asked, f"<@{BOT}> hi"], "a mention of the bot can be read")
        equal(told[1]["content"], "", "R25: a bot without the privileged intent reads only messages that concern it")
        gateway.leave(4000)
        fake.control("message", {"user": ANN, "channel": D, "text": "missed"})
        again = Gateway(fake)
        again.next()
        again.send(6, {"token": TOKEN, "session_id": ready["d"]["session_id"], "seq": 2})
        missed = [again.next()["d"]["content"] for _ in range(2)]
        equal(missed, ["", "missed"], "R17: a resumed session gets the missed events")
        equal(again.next()["t"], "RESUMED", "the resume is confirmed")
        again.leave(1000)
        gone = Gateway(fake)
        gone.next()
        gone.send(6, {"token": TOKEN, "session_id": ready["d"]["session_id"], "seq": 2})
        equal((gone.next()["op"], rules_of(fake)), (9, ["session-ended"]), "R25: close status 1000 ends the session")
        gone.send(6, {"token": TOKEN, "session_id": "x", "seq": 2})
        equal(gone.next()["d"], False, "R25: an unknown session is invalid")


def test_gateway_refusals():
    with unpaced() as fake:
        for words, code, act in (
            ("a wrong token", 4004, lambda g: g.identify(token="x")),
            ("unknown intents", 4013, lambda g: g.identify(1 << 30)),
            ("a privileged intent", 4014, lambda g: g.identify(PLAIN | 1 << 15)),
            ("an unknown opcode", 4001, lambda g: g.send(99)),
            ("a payload that is not JSON", 4002, lambda g: g.frame(1, b"{")),
            ("a payload that is too long", 4002, lambda g: g.send(1, "x" * 5000)),
            ("a payload before identify", 4003, lambda g: g.send(3, {})),
        ):
            gateway = Gateway(fake)
            gateway.next()
            act(gateway)
            equal(gateway.next(), code, f"R25: {words}: {code}")
        twice = hello(fake)
        twice.until("READY")
        twice.identify()
        equal(twice.next(), 4005, "R25: a second identify")
        equal(Gateway(fake, "v=9").next(), 4012, "R25: another version of the gateway")
        fake.control("options", {"remaining": 1})
        last = hello(fake)
        equal((last.next(), "token-reset" in rules_of(fake)), (4004, True), "R25: an identify above the limit")


def test_heartbeat():
    with unpaced(0.001) as fake:
        gateway = hello(fake)
        gateway.until("READY")
        while gateway.next() not in (4000, None):
            pass
        ok("late-heartbeat" in rules_of(fake), "R25: a missing heartbeat")


def test_interactions():
    with unpaced() as fake:
        api = Client(fake)
        names = [{"name": "stop", "description": "Stop"}]
        equal(api("PUT", f"/applications/{APP}/commands", names)[0]["name"], "stop", "commands")
        wrong = api("PUT", f"/applications/{APP}/commands", [{"name": "Queue clear", "description": "x"}])
        equal(wrong, "400 50035 Invalid Form Body", "R25: a command name with a blank")
        gateway = hello(fake)
        gateway.until("READY")
        card = api.post(components=rows(button("Allow", "t:1:allow")))["id"]
        fake.control("press", {"user": ANN, "channel": C, "id": card, "label": "Allow"})
        press = gateway.until("INTERACTION_CREATE")["d"]
        equal(press["data"]["custom_id"], "t:1:allow", "a pressed button creates an interaction")
        path, follow = f"/interactions/{press['id']}/{press['token']}/callback", f"/webhooks/{APP}/{press['token']}"
        equal(api("POST", follow, {"content": "x"}), "404 10015 Unknown Webhook", "R25: a message before the response")
        equal(api("POST", path, {"type": 6}), None, "the interaction is acknowledged")
        equal(api("POST", path, {"type": 6}), "400 40060 Interaction has already been acknowledged.", "R25: an interaction is acknowledged once")
        ok(api("POST", follow, {"content": "told", "flags": 64, **NOBODY})["id"], "an ephemeral message is sent")
        equal([m for m in fake.screen() if m["text"] == "told"], [], "an ephemeral message is not visible to others")
        fake.control("command", {"user": ANN, "channel": D, "name": "stop"})
        command = gateway.until("INTERACTION_CREATE")["d"]
        equal((command["type"], command["user"]["id"]), (2, ANN), "a slash command creates an interaction")
        fake.control("options", {"ack_time": 0})
        late = api("POST", f"/interactions/{command['id']}/{command['token']}/callback", {"type": 4, "data": {"content": "x"}})
        equal((late, "late-ack" in rules_of(fake)), ("404 10062 Unknown interaction", True), "R25: a late acknowledgement")


def test_modals():
    with unpaced() as fake:
        api, gateway = Client(fake), hello(fake)
        gateway.until("READY")
        card = api.post(components=rows(button("Answer", "a:1:answer")))["id"]

        def asked(kind=3):
            if kind == 3:
                fake.control("press", {"user": ANN, "channel": C, "id": card, "label": "Answer"})
            one = gateway.until("INTERACTION_CREATE")["d"]
            return one, f"/interactions/{one['id']}/{one['token']}/callback"

        def text(**more):
            return {"type": 4, "custom_id": "w", "style": 2, **more}

        def select(**more):
            options = [{"label": "Red", "value": "0"}, {"label": "Blue", "value": "1"}]
            return {"type": 3, "custom_id": "p", "options": options, **more}

        def modal(*inputs, label="L", kind=18, **more):
            components = [{"type": kind, "label": label, "component": one} for one in inputs]
            return {"type": 9, "data": {"custom_id": "m", "title": "T", "components": components, **more}}

        one, path = asked()
        for words, wrong in (
            ("a missing title", modal(text(), title="")),
            ("a long title", modal(text(), title="x" * 46)),
            ("no input", modal()),
            ("six inputs", modal(*(text(custom_id=str(i)) for i in range(6)))),
            ("an action row", modal(text(), kind=1)),
            ("a long label", modal(text(), label="x" * 46)),
            ("a button", modal({"type": 2, "custom_id": "b"})),
            ("two inputs with the same id", modal(text(), text())),
            ("an input with a label of its own", modal(text(label="x"))),
            ("an input without a style", modal({"type": 4, "custom_id": "w"})),
            ("5,000 characters", modal(text(max_length=5000))),
            ("no option", modal(select(options=[]))),
            ("a long option", modal(select(options=[{"label": "x" * 101, "value": "0"}]))),
            ("two options with the same value", modal(select(options=[{"label": n, "value": "0"} for n in "ab"]))),
            ("a minimum of 0 for a required input", modal(select(min_values=0))),
            ("a maximum above the number of options", modal(select(max_values=3))),
        ):
            equal(api("POST", path, wrong), "400 50035 Invalid Form Body", f"R25: {words}")
        good = modal(select(min_values=0, max_values=2, required=False), text(custom_id="w", required=False))
        equal(api("POST", path, good), None, "a valid modal is accepted")
        equal(fake.state()["modals"][one["id"]]["title"], "T", "the modal is shown")
        fake.control("submit", {"interaction": one["id"], "values": {"p": ["Blue"], "w": "words"}})
        filled, path = asked(5)
        inputs = [c["component"] for c in filled["data"]["components"]]
        told = (filled["type"], inputs[0]["values"], inputs[1]["value"], filled["message"]["id"])
        equal(told, (5, ["1"], "words", card), "a filled modal creates an interaction")
        equal(api("POST", path, modal(text())), "400 50035 Invalid Form Body", "R25: a modal in response to a modal")
        equal(api("POST", path, {"type": 6}), None, "the filled modal is acknowledged")
        equal(set(rules_of(fake)), {"bad-request"}, "no other violation is recorded")


class Careless(http.server.BaseHTTPRequestHandler):
    """An endpoint that verifies no signature."""

    def do_POST(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"type":1}')

    def log_message(self, *_):
        pass


def test_endpoint():
    with unpaced() as fake, http.server.HTTPServer(("127.0.0.1", 0), Careless) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            fake.control("endpoint", {"url": f"http://127.0.0.1:{server.server_port}/"})
            saved = "saved"
        except RuntimeError as refusal:
            saved = str(refusal)
        ok("could not be verified" in saved, "R25: an endpoint that accepts an invalid signature is not saved", saved)
        server.shutdown()


def test_files():
    with unpaced() as fake:
        api = Client(fake)
        asked = {"user": ANN, "channel": D, "text": "", "files": [{"name": "a.txt", "content": "abc"}]}
        gateway = hello(fake)
        gateway.until("READY")
        fake.control("message", asked)
        url = gateway.until("MESSAGE_CREATE")["d"]["attachments"][0]["url"]
        path = url.split(str(fake.port))[1]
        del api.headers["Authorization"]
        equal(api.raw("GET", path)[2], b"abc", "an attachment is downloaded")
        equal(api.raw("GET", path.split("?")[0])[0], 404, "R25: a URL without its signature")
        api.raw("GET", path, Authorization=f"Bot {TOKEN}")
        ok("secret-leaked" in rules_of(fake), "R23: the token is sent to the host of attachments")
        part = b'--b\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\n%s\r\n'
        told = json.dumps({"content": "c", **NOBODY, "attachments": [{"id": 0, "filename": "b.md"}]}).encode()
        body = part % (b"payload_json", b"", told) + part % (b"files[0]", b'; filename="b.md"', b"whole") + b"--b--\r\n"
        path, kind = f"/api/v10/channels/{C}/messages", "multipart/form-data; boundary=b"
        made = Client(fake).raw("POST", path, body, **{"Content-Type": kind})
        number = json.loads(made[2])["attachments"][0]["id"]
        equal(fake.get("file", id=number), b"whole", "a file of the bot is stored")


def test_webhook():
    with unpaced() as fake:
        api = Client(fake, None)
        equal(api("GET", HOOK)["name"], "Fake webhook", "a webhook is returned")
        equal(api("POST", HOOK, {"content": "x", **NOBODY}), None, "a message of a webhook has no response")
        made = api("POST", HOOK + "?wait=true", {"content": "x", **NOBODY})["id"]
        equal(api("PATCH", f"{HOOK}/messages/{made}", {"content": "y", **NOBODY})["content"], "y", "a message of a webhook is edited")
        wrong = api("POST", HOOK, {"content": "x", "components": rows(button())})
        equal(wrong, "400 50035 Invalid Form Body", "R25: buttons in a message of a webhook")
        fake.control("options", {"webhook_gone": True})
        equal(api("GET", HOOK), "404 10015 Unknown Webhook", "R25: a webhook that was deleted")


for test in (test_messages, test_nonce_expires, test_access, test_pace, test_gateway, test_gateway_refusals,
             test_heartbeat, test_interactions, test_modals, test_endpoint, test_files, test_webhook):  # fmt: skip
    test()
done()
