# SPDX-License-Identifier: MIT
"""The Telegram fake refuses the same requests as Telegram: one check per rule."""

import http.client
import json
import os
import sys
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, HTTPServer

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tap"))
from drive import Fake  # noqa: E402
from tap import done, equal, ok  # noqa: E402

TOKEN = "123456:FAKE-telegram-token"
ANN, GROUP, FORUM = 111, -500, -100600


class Client:
    """One keep-alive connection."""

    def __init__(self, fake, token=TOKEN):
        self.connection = http.client.HTTPConnection("127.0.0.1", fake.port, timeout=30)
        self.prefix = f"/bot{token}/"

    def raw(self, method, body=None, content_type="application/json", verb="POST"):
        headers = {"Content-Type": content_type} if body is not None else {}
        self.connection.request(verb, self.prefix + method, body, headers)
        answer = self.connection.getresponse()
        return answer.status, answer.headers, answer.read()

    def __call__(self, method, **params):
        status, _, body = self.raw(method, json.dumps(params).encode())
        answer = json.loads(body)
        assert answer["ok"] == (status == 200) and answer.get("error_code", 200) == status
        return answer["result"] if answer["ok"] else f"{status} {answer['description']}"


def send(**params):
    return ("sendMessage", {"chat_id": ANN, "text": "x", **params})


def entity(kind, offset, length, **more):
    return {"type": kind, "offset": offset, "length": length, **more}


def button(**more):
    return {"inline_keyboard": [[{"text": "Go", **more}]]}


TABLE = {"type": "table", "cells": [[{"text": "x"}] * 21]}
DEEP = {"type": "paragraph", "text": "x"}
for _ in range(16):
    DEEP = {"type": "details", "summary": "s", "blocks": [DEEP]}

REFUSALS = [
    # method and parameters, the error text
    (send(text=""), "400 Bad Request: message text is empty"),
    (send(text=" \n \t"), "400 Bad Request: message text is empty"),
    (send(text="x" * 4097), "400 Bad Request: message is too long"),
    (send(text="😀" * 4097), "400 Bad Request: message is too long"),
    (send(text="x" * 32769), "400 Bad Request: text is too long"),
    (send(text="\ud83d"), "400 Bad Request: strings must be encoded in UTF-8"),
    (send(chat_id=999), "400 Bad Request: chat not found"),
    (send(chat_id=""), "400 Bad Request: chat_id is empty"),
    (send(entities=[entity("bold", 0, 2)]), "400 Bad Request: entity beginning at UTF-16 offset 0 "
     "ends after the end of the text at UTF-16 offset 2"),
    (send(entities=[entity("bold", 5, 1)]), "400 Bad Request: entity begins after the end"),
    (send(entities=[entity("bold", -1, 1)]), "400 Bad Request: receive an entity with incorrect"),
    (send(text="😀", entities=[entity("bold", 1, 1)]),
     "400 Bad Request: entity begins in a middle of a UTF-16 symbol"),
    (send(text="😀", entities=[entity("bold", 0, 1)]),
     "400 Bad Request: entity beginning at UTF-16 offset 0 ends in a middle of a UTF-16 symbol"),
    (send(entities=[entity("strong", 0, 1)]), "400 Bad Request: can't parse MessageEntity"),
    (send(entities=[{"type": "bold", "offset": 0}]), "400 Bad Request: can't parse MessageEntity"),
    (send(entities=[entity("text_link", 0, 1, url="http://localhost:3000")]), "400 Bad Request: "
     "wrong message entity: URL 'http://localhost:3000' is invalid"),
    (send(entities=[entity("text_link", 0, 1, url="file:///etc/x.conf")]),
     "400 Bad Request: wrong"),
    (send(entities=[entity("text_link", 0, 1, url="#anchor")]), "400 Bad Request: wrong message"),
    (send(entities=[entity("text_link", 0, 1, url="src/main.c:12")]), "400 Bad Request: wrong mes"),
    (send(entities=[entity("text_link", 0, 1, url="mailto:a@b.org")]),
     "400 Bad Request: wrong mes"),
    (send(entities={"type": "bold"}), "400 Bad Request: can't parse entities"),
    (send(reply_parameters={"message_id": 77}), "400 Bad Request: message to be replied not found"),
    (send(reply_parameters={"message_id": 1, "quote": "no such words"}), "400 Bad Request: QUOTE_"),
    (send(message_thread_id=5), "400 Bad Request: message thread not found"),
    (send(chat_id=FORUM, message_thread_id=1), "400 Bad Request: message thread not found"),
    (send(chat_id=FORUM, message_thread_id=9), "400 Bad Request: message thread not found"),
    (send(reply_markup=button(callback_data="x" * 65)), "400 Bad Request: BUTTON_DATA_INVALID"),
    (send(reply_markup=button(callback_data="é" * 33)), "400 Bad Request: BUTTON_DATA_INVALID"),
    (send(reply_markup=button(callback_data="")), "400 Bad Request: BUTTON_DATA_INVALID"),
    (send(reply_markup=button()), "400 Bad Request: text buttons are unallowed"),
    (send(reply_markup=button(callback_data="x", style="blue")), "400 Bad Request: BUTTON_STYLE"),
    (send(reply_markup={"inline_keyboard": {}}), "400 Bad Request: field \"inline_keyboard\""),
    (("editMessageText", {"chat_id": ANN, "message_id": 99, "text": "y"}),
     "400 Bad Request: message to edit not found"),
    (("editMessageText", {"chat_id": ANN, "message_id": 1, "text": "y"}),
     "400 Bad Request: message can't be edited"),
    (("editMessageText", {"chat_id": ANN, "text": "y"}),
     "400 Bad Request: message identifier is not specified"),
    (("deleteMessage", {"chat_id": ANN, "message_id": 99}),
     "400 Bad Request: message to delete not found"),
    (("deleteMessage", {"chat_id": GROUP, "message_id": 1}),
     "400 Bad Request: message can't be deleted"),
    (("deleteMessages", {"chat_id": ANN, "message_ids": list(range(101))}),
     "400 Bad Request: there must be from 1 to 100"),
    (("sendChatAction", {"chat_id": ANN, "action": "thinking"}),
     "400 Bad Request: wrong parameter"),
    (("setMessageReaction", {"chat_id": ANN, "message_id": 1,
                             "reaction": [{"type": "emoji", "emoji": "✅"}]}),
     "400 Bad Request: REACTION_INVALID"),
    (("setMessageReaction", {"chat_id": ANN, "message_id": 99, "reaction": []}),
     "400 Bad Request: message to react not found"),
    (("answerCallbackQuery", {"callback_query_id": "1"}), "400 Bad Request: query is too old"),
    (("setMyCommands", {"commands": [{"command": "Stop", "description": "x"}]}),
     "400 Bad Request: BOT_COMMAND_INVALID"),
    (("setMyCommands", {"commands": [{"command": "stop", "description": ""}]}),
     "400 Bad Request: BOT_COMMAND_DESCRIPTION_INVALID"),
    (("sendMessageDraft", {"chat_id": GROUP, "draft_id": 1, "text": "x"}),
     "400 Bad Request: TEXTDRAFT_PEER_INVALID"),
    (("sendMessageDraft", {"chat_id": ANN, "draft_id": 0, "text": "x"}),
     "400 Bad Request: RANDOM_ID_INVALID"),
    (("sendRichMessage", {"chat_id": ANN, "rich_message": {"markdown": "x" * 32769}}),
     "400 Bad Request: MESSAGE_TOO_LONG"),
    (("sendRichMessage", {"chat_id": ANN, "rich_message": {"markdown": "x", "html": "x"}}),
     "400 Bad Request: exactly one of"),
    (("sendRichMessage", {"chat_id": ANN, "rich_message": {"blocks": [TABLE]}}),
     "400 Bad Request: RICH_TABLE_COLUMNS_TOO_MUCH"),
    (("sendRichMessage", {"chat_id": ANN, "rich_message": {"blocks": [DEEP]}}),
     "400 Bad Request: RICH_MESSAGE_TOO_DEEP"),
    (("sendRichMessage", {"chat_id": ANN, "rich_message": {"blocks": [
        {"type": "thinking", "text": "x"}]}}), "400 Bad Request: RICH_BLOCK_THINKING_INVALID"),
    (("getFile", {"file_id": "nope"}), "400 Bad Request: invalid file_id"),
    (("setWebhook", {"url": "http://example.org/x"}), "400 Bad Request: bad webhook: An HTTPS URL"),
    (("setWebhook", {"url": "https://example.org:444/x"}), "400 Bad Request: bad webhook: Webhook"),
    (("setWebhook", {"url": "https://127.0.0.1/", "secret_token": "a b"}),
     "400 Bad Request: secret token contains unallowed characters"),
    (("sendPigeon", {}), "404 Not Found"),
]  # fmt: skip


def unpaced(scale=1.0):
    fake = Fake("telegram", scale)
    fake.control("pace", {"on": False})
    fake.control("message", {"from": ANN, "text": "hello there"})
    fake.control("chat", {"id": GROUP, "type": "group"})
    fake.control("message", {"from": ANN, "chat": GROUP, "text": "hi all"})
    fake.control("chat", {"id": FORUM, "is_forum": True, "topics": [7]})
    return fake


def rules_of(fake):
    return [violation["rule"] for violation in fake.violations()]


def test_refusals():
    with unpaced() as fake:
        api = Client(fake)
        for (method, params), wanted in REFUSALS:
            said = api(method, **params)
            ok(str(said).startswith(wanted), f"R25: {method}: {wanted}", said)
        people = [m for m in fake.state()["chats"]["111"]["messages"] if m["bot"]]
        equal(people, [], "no refused message is visible")
        ok("bad-request" in rules_of(fake), "a malformed request is a violation")


def test_states():
    with unpaced() as fake:
        api = Client(fake)
        for state, wanted in (
            ("blocked", "403 Forbidden: bot was blocked by the user"),
            ("kicked", "403 Forbidden: bot was kicked from the private chat"),
            ("deactivated", "403 Forbidden: user is deactivated"),
            ("closed", "400 Bad Request: not enough rights to send text messages"),
            ("upgraded", "400 Bad Request: group chat was upgraded to a supergroup chat"),
        ):
            fake.control("chat", {"id": ANN, "state": state, "migrate_to": -1001})
            said = api(*[send()[0]], **send()[1])
            ok(str(said).startswith(wanted), f"a chat in the state {state}", said)
        _, _, body = api.raw("sendMessage", json.dumps(send()[1]).encode())
        equal(json.loads(body)["parameters"], {"migrate_to_chat_id": -1001}, "the refusal has the new id of the chat")
        equal(rules_of(fake), [], "the state of a chat is not a violation")


def test_tokens():
    with unpaced() as fake:
        for token, wanted in (
            ("123456:wrong", "401 Unauthorized"),
            ("nonsense", "401 Unauthorized: invalid token specified"),
        ):
            said = Client(fake, token)("getMe")
            equal(said, wanted, f"token {token}")
        api = Client(fake)
        api.prefix = "/"
        equal(api.raw("getMe")[0], 404, "a path in another format")
        fake.control("options", {"token": "123456:new"})
        equal(Client(fake)("getMe"), "401 Unauthorized", "a revoked token")
        equal(Client(fake, "123456:new")("getMe")["id"], 123456, "a new token")
        fake.control("options", {"token": "777:other"})
        equal(Client(fake, "777:other")("getMe")["id"], 777, "a token of another bot")


def test_forms():
    with unpaced() as fake:
        api = Client(fake)
        query = urllib.parse.urlencode({"chat_id": ANN, "text": "q"})
        equal(api.raw("SENDmessage?" + query, verb="GET")[0], 200, "GET, and a method name in any case")
        form = "application/x-www-form-urlencoded"
        equal(api.raw("sendMessage", query.encode(), form)[0], 200, "parameters as a form")
        equal(api.raw("sendMessage", b"[1]")[0], 400, "a body that is JSON, but not an object")
        equal(api.raw("sendMessage", b"{")[0], 400, "a body that is not valid JSON")
        parts = (
            f'--B\r\nContent-Disposition: form-data; name="chat_id"\r\n\r\n{ANN}\r\n'
            '--B\r\nContent-Disposition: form-data; name="caption"\r\n\r\nsee ä\r\n'
            '--B\r\nContent-Disposition: form-data; name="document"; filename="a.md"\r\n'
            "Content-Type: text/markdown\r\n\r\n# A\r\n\r\nb\r\n--B--\r\n"
        )
        kind = "multipart/form-data; boundary=B"
        status, _, body = api.raw("sendDocument", parts.encode(), kind)
        document = json.loads(body)["result"]["document"]
        equal((status, document["file_name"]), (200, "a.md"), "a document is sent")
        equal(fake.get("file", id=document["file_id"]), b"# A\r\n\r\nb", "a document has its bytes")
        long = parts.replace("see ä", "c" * 1025)
        said = json.loads(api.raw("sendDocument", long.encode(), kind)[2])["description"]
        equal(said, "Bad Request: message caption is too long", "a caption of 1,025 characters")
        path = api("getFile", file_id=document["file_id"])["file_path"]
        api.connection.request("GET", f"/file/bot{TOKEN}/{path}")
        equal(api.connection.getresponse().read(), b"# A\r\n\r\nb", "a document is downloaded")


def test_text():
    with unpaced() as fake:
        api = Client(fake)
        equal(len(api("sendMessage", chat_id=ANN, text="😀" * 4096)["text"]), 4096,
              "the limit counts code points")  # fmt: skip
        sent = api("sendMessage", chat_id=ANN, text="  \n x\ty\r ", entities=[entity("bold", 3, 3)])
        equal((sent["text"], sent["entities"]), ("x y", [entity("bold", 0, 2)]),
              "spaces at both ends are removed")  # fmt: skip
        text = "ab" * 75
        many = [entity("bold", i, 1) for i in range(50)]
        many += [entity("code", i, 1) for i in range(51, 120)]
        kept = api("sendMessage", chat_id=ANN, text=text, entities=many)["entities"]
        equal(len(kept), 100, "100 entities are kept")
        equal(sum(e["type"] == "code" for e in kept), 69, "code takes precedence over bold")
        nested = [entity("pre", 0, 10, language="c"), entity("bold", 2, 3)]
        kept = api("sendMessage", chat_id=ANN, text=text, entities=nested)["entities"]
        equal(kept, nested[:1], "a code block contains no other entities")
        quotes = [entity("blockquote", 0, 10), entity("expandable_blockquote", 2, 3)]
        kept = api("sendMessage", chat_id=ANN, text=text, entities=quotes)["entities"]
        equal(kept, quotes[:1], "a quote contains no quote")
        link = entity("text_link", 20, 4, url="a.org/b")
        fine = [entity("bold", 0, 10), entity("italic", 5, 10), link]
        kept = api("sendMessage", chat_id=ANN, text=text, entities=fine)["entities"]
        equal(kept, fine, "permitted overlaps are kept")
        api("sendMessage", chat_id=ANN, text="*x*", parse_mode="MarkdownV2")
        api("sendMessage", chat_id=ANN, text="x", colour="red")
        api("sendMessage", chat_id=ANN, text="x", reply_parameters={"message_id": 1})
        api("sendMessage", chat_id=ANN, text=f"my token is {TOKEN}")
        wanted = ["entities-dropped", "bad-entity", "bad-entity", "parse-mode", "bad-request",
                  "no-allow-sending", "secret-leaked"]  # fmt: skip
        equal(rules_of(fake), wanted, "violations that are not refused are recorded")


def test_edits():
    with unpaced() as fake:
        fake.control("final", {"text": "the answer"})
        api = Client(fake)
        number = api("sendMessage", chat_id=ANN, text="a", reply_markup=button(callback_data="d"))
        number = number["message_id"]
        edited = api("editMessageText", chat_id=ANN, message_id=number, text="b")
        ok("reply_markup" not in edited, "an edit without buttons removes them")
        same = api("editMessageText", chat_id=ANN, message_id=number, text=" b ")
        ok(str(same).startswith("400 Bad Request: message is not modified:"),
           "R25: an unchanged text", same)  # fmt: skip
        markup = button(callback_data="d")
        api("editMessageReplyMarkup", chat_id=ANN, message_id=number, reply_markup=markup)
        same = api("editMessageReplyMarkup", chat_id=ANN, message_id=number, reply_markup=markup)
        ok(str(same).startswith("400 Bad Request: message is not modified:"), "unchanged buttons")
        api("editMessageText", chat_id=ANN, message_id=number, text="the answer")
        api("editMessageText", chat_id=ANN, message_id=number, text="working…")
        equal(rules_of(fake), ["same-text", "same-text", "final-changed"], "noted")
        seen = fake.wait(visible=1, chat=ANN, text="working", **{"from": "bot"})
        equal((seen[0]["edits"], seen[0]["buttons"]), (4, []), "the visible message after edits")
        api("deleteMessage", chat_id=ANN, message_id=number)
        fake.wait(visible=1, gone=1, chat=ANN, text="working")
        ok(True, "a deleted message is not visible")


def test_buttons():
    with unpaced(scale=0.001) as fake:
        api = Client(fake)
        sent = api("sendMessage", chat_id=ANN, text="ok?", reply_markup=button(callback_data="tok"))
        press = {"from": ANN, "message_id": sent["message_id"], "button": "Go"}
        late = fake.control("callback", press)["id"]
        query = api("getUpdates")[-1]["callback_query"]
        equal((query["data"], query["from"]["id"], query["id"]), ("tok", ANN, late), "a pressed button creates a "
                                                                                     "callback query")
        equal(rules_of(fake), ["unanswered-callback"], "a missing answer to a callback query is a violation")
        fake.control("scale", {"factor": 100})
        now = fake.control("callback", press)["id"]
        equal(api("answerCallbackQuery", callback_query_id=now), True, "a callback query is answered in time")
        again = api("answerCallbackQuery", callback_query_id=now)
        ok(str(again).startswith("400 Bad Request: query is too old"), "a callback query is answered once", again)
        fake.control("scale", {"factor": 0})
        said = api("answerCallbackQuery", callback_query_id=late)
        ok(str(said).startswith("400 Bad Request: query is too old"), "a late answer to a callback query", said)
        try:
            fake.control("callback", {**press, "button": "Stop"})
            ok(False, "an unknown button cannot be pressed")
        except RuntimeError:
            ok(True, "an unknown button cannot be pressed")


def test_typing():
    with unpaced(scale=0.02) as fake:
        api = Client(fake)
        api("sendChatAction", chat_id=ANN, action="typing")
        fake.wait(typing=0, chat=ANN)
        ok(True, "typing ends after a while")
        fake.control("scale", {"factor": 100})
        api("sendChatAction", chat_id=ANN, action="typing")
        fake.wait(typing=1, chat=ANN)
        api("sendMessageDraft", chat_id=ANN, draft_id=5, text="so far")
        equal(fake.state()["chats"]["111"]["draft"], {"draft_id": 5, "text": "so far"}, "a draft is shown")
        api("sendMessage", chat_id=ANN, text="x")
        chat = fake.state()["chats"]["111"]
        equal((chat["typing"], chat["draft"]), (False, None), "a message ends typing and the draft")
        equal(api("sendChatAction", chat_id=FORUM, message_thread_id=1, action="typing"), True,
              "chat actions have the general topic as a thread")  # fmt: skip
        fake.control("options", {"rich": False, "drafts": False})
        for method in ("sendRichMessage", "sendRichMessageDraft", "sendMessageDraft"):
            equal(api(method, chat_id=ANN), "404 Not Found", f"{method} may not be there")
        fake.control("stop", {"chat": ANN, "draft_id": 5})
        stop = api("getUpdates")[-1]["stopped_message_generation"]
        equal(stop["draft_id"], 5, "a draft is stopped")


def test_polls():
    with unpaced(scale=0.01) as fake:
        api = Client(fake)
        updates = api("getUpdates", offset=0)
        equal([u["update_id"] for u in updates], [1000, 1001], "updates are returned in order")
        equal(len(api("getUpdates", offset=1001, limit=1)), 1, "an offset confirms earlier updates")
        equal(api("getUpdates", offset=1002), [], "without unconfirmed updates the result is empty")
        fake.control("options", {"updates_lost": 1})
        equal(api("getUpdates", offset=0)[0]["update_id"], 1001,
              "confirmed updates may be returned again")  # fmt: skip
        equal(api("getUpdates", offset=1002), [], "the updates are confirmed again")
        fake.control("options", {"next_update": 500})
        fake.control("message", {"from": ANN, "text": "a week later"})
        equal(api("getUpdates", offset=1002)[0]["update_id"], 500, "with new ids an old offset is ignored")
        equal(api("getUpdates", offset=501), [], "a new offset confirms the new ids")
        fake.control("options", {"next_update": 1002})
        fake.control("scale", {"factor": 1})
        heard = []
        poller = threading.Thread(
            target=lambda: heard.append(api("getUpdates", offset=1002, timeout=50))
        )
        poller.start()
        fake.wait(polling=1)
        fake.control("message", {"from": ANN, "text": "while it waits"})
        poller.join()
        equal(heard[0][0]["message"]["text"], "while it waits", "a long poll returns a new update")
        fake.control("scale", {"factor": 0.05})
        first = threading.Thread(
            target=lambda: heard.append(api("getUpdates", offset=1003, timeout=50))
        )
        first.start()
        fake.wait(polling=1)
        other = Client(fake)
        equal(other("getUpdates", offset=1003, timeout=1), [], "the second poller continues")
        first.join()
        ok(heard[1].startswith("409 Conflict: terminated by other getUpdates"),
           "the first poller is refused")  # fmt: skip
        equal(rules_of(fake), ["two-pollers"], "two pollers are a violation")


class Hook(BaseHTTPRequestHandler):
    statuses, seen = [], []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.seen.append((self.headers["X-Telegram-Bot-Api-Secret-Token"], json.loads(body)))
        self.send_response(self.statuses.pop(0) if self.statuses else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def test_webhook():
    server = HTTPServer(("127.0.0.1", 0), Hook)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with unpaced(scale=0.01) as fake:
        api = Client(fake)
        Hook.statuses[:] = [500, 200]
        url = f"http://127.0.0.1:{server.server_port}/hook"
        equal(api("setWebhook", url=url, secret_token="s3cret"), True, "a webhook is set")
        fake.wait(kind="push", status=200, count=2)
        ids = [update["update_id"] for _, update in Hook.seen]
        equal(ids, [1000, 1000, 1001], "an update is delivered until it is accepted")
        equal({secret for secret, _ in Hook.seen}, {"s3cret"}, "a webhook request has the secret")
        said = api("getUpdates")
        ok(said.startswith("409 Conflict: can't use getUpdates method while webhook"),
           "a poll while a webhook is set is refused", said)  # fmt: skip
        equal(api("getWebhookInfo")["url"], url, "the webhook is described")
        api("deleteWebhook")
        equal(api("getUpdates"), [], "polling works after the webhook is removed")
    server.shutdown()


def test_pace():
    with Fake("telegram") as fake:
        fake.control("message", {"from": ANN, "text": "hi"})
        api = Client(fake)
        for _ in range(3):
            api("sendMessage", chat_id=ANN, text="x")
        status, headers, body = api.raw("sendMessage", json.dumps(send()[1]).encode())
        answer = json.loads(body)
        equal((status, headers["Retry-After"]), (429, "1"), "a request that is too fast is refused")
        equal(answer["parameters"], {"retry_after": 1}, "the refusal has the time to wait")
        equal(answer["description"], "Too Many Requests: retry after 1", "the description has the time to wait")
        equal(api("sendMessage", chat_id=ANN, text="x")[:3], "429", "a request before that time is refused")
        equal(rules_of(fake), ["too-fast", "retry-too-early"], "noted")
        fake.control("chat", {"id": GROUP})
        fake.control("reset")
        fake.control("pace", {"private": [1000, 1000], "group": [20]})
        said = [api("sendMessage", chat_id=GROUP, text="x") for _ in range(21)]
        equal([str(s)[:3] == "429" for s in said], [False] * 20 + [True], "20 a minute in a group")


def test_in_flight():
    with unpaced() as fake:
        fake.control("fault", {"match": {"text": "slow"}, "do": "hold"})
        held = threading.Thread(
            target=lambda: Client(fake)("sendMessage", chat_id=ANN, text="slow")
        )
        held.start()
        fake.wait(method="sendMessage", stage="arrived")
        Client(fake)("sendMessage", chat_id=GROUP, text="elsewhere")
        equal(rules_of(fake), [], "calls in two chats at the same time are permitted")
        Client(fake)("sendMessage", chat_id=ANN, text="next")
        fake.control("release")
        held.join()
        equal(rules_of(fake), ["in-flight"], "two calls in one chat at the same time are a violation")
        pair = fake.violations()[0]
        texts = {r["seq"]: r.get("text") for r in fake.record()}
        equal([texts[pair["call"]], texts[pair["beside"]]], ["next", "slow"], "the violation names both calls")


for test in (test_refusals, test_states, test_tokens, test_forms, test_text, test_edits,
             test_buttons, test_typing, test_polls, test_webhook, test_pace,
             test_in_flight):  # fmt: skip
    test()
done()
