# SPDX-License-Identifier: MIT
"""The Teams fake refuses the same requests as Microsoft Teams: one check per rule."""

import http.client
import json
import os
import sys
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tap"))
from drive import Fake  # noqa: E402
from tap import done, equal, ok  # noqa: E402

CHAT, CHANNEL = "a:ann", "19:c@thread.tacv2"
GOOD = {"grant_type": "client_credentials", "client_id": "fake-app-id", "client_secret": "fake~client.secret",
        "scope": "https://api.botframework.com/.default"}  # fmt: skip
FREE = {"on": False}


class Client:
    def __init__(self, fake):
        self.connection = http.client.HTTPConnection("127.0.0.1", fake.port, timeout=30)
        self.token = None

    def raw(self, verb, path, body=None, **headers):
        self.connection.request(verb, path, body, headers)
        answer = self.connection.getresponse()
        return answer.status, answer.headers, answer.read()

    def login(self, **more):
        form = urllib.parse.urlencode({**GOOD, **more})
        tenant = more.get("tenant", "fake-tenant")
        status, _, text = self.raw("POST", f"/{tenant}/oauth2/v2.0/token", form,
                                   **{"Content-Type": "application/x-www-form-urlencoded"})  # fmt: skip
        self.token = json.loads(text).get("access_token", self.token)
        return status, json.loads(text)

    def __call__(self, verb, chat, body=None, id_=None):
        """Returns the id or True, or "STATUS code message"."""
        path = "/amer/v3/conversations/" + urllib.parse.quote(chat, safe="") + "/activities"
        path += f"/{id_}" if id_ else ""
        data = None if body is None else json.dumps(body)
        status, _, text = self.raw(verb, path, data, Authorization=f"Bearer {self.token}",
                                   **{"Content-Type": "application/json"})  # fmt: skip
        answer = json.loads(text) if text else {}
        if status < 300:
            return answer.get("id", True)
        return f"{status} {answer['error']['code']} {answer['error']['message']}"

    def say(self, text="hi", chat=CHAT, **more):
        return self("POST", chat, {"type": "message", "text": text, **more})

    def stream(self, kind, text, sequence=None, id_=None, chat=CHAT):
        info = {"type": "streaminfo", "streamType": kind, "streamSequence": sequence, "streamId": id_}
        info = {k: v for k, v in info.items() if v is not None}
        return self("POST", chat, {"type": "message" if kind == "final" else "typing", "text": text, "entities": [info]})


def refuses(fake, found, wanted, rule=None):
    rules = [v["rule"] for v in fake.violations()]
    equal((str(found)[: len(wanted)], rules), (wanted, [rule] if rule else []), f"R25: {wanted}")
    fake.control("reset")
    fake.control("pace", FREE)


def logins(fake, client):
    refuses(fake, client("POST", CHAT, {"type": "message", "text": "x"}), "401 Unauthorized", "bad-token")
    for name, value in (("client_secret", "other"), ("client_id", "other"), ("scope", "https://graph.microsoft.com/.default")):
        status, answer = client.login(**{name: value})
        refuses(fake, f"{status} {answer['error']}", "401 invalid_client", "bad-token")
    equal(client.login()[0], 200, "a login is accepted")
    fake.control("options", {"locked": True})
    refuses(fake, client.say(), "401 Unauthorized")
    fake.control("options", {"locked": False})
    client.login()


def messages(fake, client):
    refuses(fake, client.say(chat="a:nobody"), "404 ConversationNotFound", "bad-request")
    refuses(fake, client.say(""), "400 BadSyntax Activity must include text", "bad-request")
    refuses(fake, client.say("x" * 51200), "413 MessageSizeTooBig")
    refuses(fake, client.say(textFormat="html"), "400 BadSyntax Bad textFormat", "bad-request")
    refuses(fake, client("PUT", CHAT, {"type": "message", "text": "x"}, "7"), "404 ActivityNotFoundInConversation")
    asked = fake.control("say", {"user": "ann", "chat": CHAT, "text": "mine"})["id"]
    refuses(fake, client("DELETE", CHAT, None, asked), "404 ActivityNotFoundInConversation")
    refuses(fake, client("GET", CHAT), "405 BadArgument", "method-unknown")
    for state, wanted in (("gone", "404 ConversationNotFound"), ("blocked", "403 MessageWritesBlocked")):
        fake.control("chat", {"id": CHAT, "state": state})
        refuses(fake, client.say(), wanted)
    fake.control("chat", {"id": CHAT, "state": "ok"})
    root = fake.control("say", {"user": "ann", "chat": CHANNEL, "text": "x", "mention": True})["id"]
    client.say(chat=CHANNEL)
    refuses(fake, True, "True", "outside-thread")
    client.say(chat=f"{CHANNEL};messageid={root}", replyToId=root)
    refuses(fake, True, "True")
    client("POST", f"{CHANNEL};messageid={root}", {"type": "typing"})
    refuses(fake, True, "True", "typing-in-channel")


def cards(fake, client):
    action = {"type": "Action.Execute", "title": "Go", "verb": "go", "fallback": {"type": "Action.Submit"}}

    def send(*body, version="1.5"):
        card = {"type": "AdaptiveCard", "version": version, "body": list(body)}
        kind = "application/vnd.microsoft.card.adaptive"
        return client("POST", CHAT, {"type": "message", "attachments": [{"contentType": kind, "content": card}]})

    ok(send({"type": "ActionSet", "actions": [action]}).isdigit(), "a valid card is accepted")
    for wrong, more in (({"type": "Table"}, {}), ({"type": "Input.Text", "id": "a"}, {}), ({"type": "TextBlock", "text": "x"}, {"version": "1.6"}),
                        ({"type": "ActionSet", "actions": [action] * 7}, {}), ({"type": "ActionSet", "actions": [{**action, "verb": ""}]}, {}),
                        ({"type": "RichTextBlock", "inlines": [{"type": "TextRun", "text": ""}]}, {})):  # fmt: skip
        refuses(fake, send(wrong, **more), "400 BadSyntax", "bad-card")
    send({"type": "ActionSet", "actions": [{**action, "fallback": {}}]})
    refuses(fake, True, "True", "no-fallback")
    refuses(fake, send({"type": "TextBlock", "text": "x" * 30000}), "413 MessageSizeTooBig")


def streams(fake, client):
    refuses(fake, client.stream("streaming", "a", 2), "400 BadRequest", "stream-misuse")
    refuses(fake, client.stream("streaming", "a", 1, chat=CHANNEL), "403 ContentStreamNotAllowed", "stream-misuse")
    refuses(fake, client.stream("informative", "a" * 1001, 1), "400 BadRequest", "stream-misuse")
    fake.control("expire", {"chat": CHAT})
    id_ = client.stream("informative", "looking", 1)
    refuses(fake, client.stream("streaming", "b", 1), "403 ContentStreamNotAllowed Content stream is not allowed")
    equal(client.stream("streaming", "one", 2, id_), True, "a stream continues")
    refuses(fake, client.stream("streaming", "one two", 2, id_), "400 BadRequest streamSequence must increase", "stream-misuse")
    refuses(fake, client.stream("informative", "x", 3, id_), "400 BadRequest informative", "stream-misuse")
    refuses(fake, client.stream("streaming", "two", 4, id_),
            "403 ContentStreamNotAllowed Request streamed content should contain", "stream-misuse")  # fmt: skip
    refuses(fake, client.stream("final", "one two", 5, id_), "400 BadRequest streamSequence must not", "stream-misuse")
    refuses(fake, client.stream("streaming", "one" + "x" * 51200, 6, id_), "403 ContentStreamNotAllowed Message size too large")
    equal(client.stream("final", "one two", None, id_), True, "a stream ends")
    refuses(fake, client.stream("final", "one two", None, id_), "403 ContentStreamNotAllowed Content stream is not allowed on an already")
    for control, words in (("stop", "Content stream was canceled by user."), ("expire", "Content stream finished due to exceeded")):
        id_ = client.stream("streaming", "one", 1)
        fake.control(control, {"chat": CHAT})
        refuses(fake, client.stream("streaming", "one two", 2, id_), f"403 ContentStreamNotAllowed {words}")


def pace(fake, client):
    fake.control("pace", {"on": True, "windows": [[7, 1], [8, 2], [60, 30], [1800, 3600]]})
    found = [client.say() for _ in range(8)]
    equal([str(f)[:3] for f in found[6:]], ["170", "429"], "R25: the eighth message in a second")
    equal([v["rule"] for v in fake.violations()], ["too-fast"], "the eighth message in a second is a violation")


with Fake("teams") as fake:
    fake.control("chat", {"id": CHAT})
    fake.control("chat", {"id": CHANNEL, "type": "channel"})
    fake.control("pace", FREE)
    client = Client(fake)
    for test in (logins, messages, cards, streams, pace):
        test(fake, client)
done()
