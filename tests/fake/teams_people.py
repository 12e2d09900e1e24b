# SPDX-License-Identifier: MIT
"""Actions of users in the Teams fake, which are delivered to the bot as signed requests to its
address, one after another for each conversation, and again until they are accepted."""

import base64
import copy
import http.client
import json
import queue
import time
from urllib.parse import urlsplit

import teams_jwt
from control import Unable
from service import in_thread
from teams_chats import BOT, CARD, actions_of

AGAIN_S = 0.2  # real seconds; the service does not document when it repeats a failed request
FILE_TYPE = "application/vnd.microsoft.teams.file.download.info"
WRONG = {
    "issuer": {"iss": "https://sts.windows.net/x/"}, "audience": {"aud": "another-app"},
    "expired": {"exp": -310}, "early": {"nbf": 310}, "no-exp": {"exp": None}, "service": {"serviceurl": "https://evil.example/"},
    "no-service": {"serviceurl": None}, "text-exp": {"exp": "9999999999"},
    "old": {"exp": -290}, "soon": {"nbf": 290},
}  # fmt: skip


class People:
    def __init__(self, service):
        self.service, self.record, self.chats = service, service.record, service.chats
        self.names, self.files = {}, {}
        self._queues, self._open = {}, 0
        self.controls = {
            "user": self.make_user, "chat": self.make_chat, "hook": self.set_hook, "say": self.says,
            "press": self.presses, "delete": self.deletes, "stop": self.stops, "expire": self.expires, "push": self.pushes,
        }  # fmt: skip

    # ---- users and chats ----

    def make_user(self, body):
        self.names[body["id"]] = body["name"]

    def make_chat(self, body):
        chat = self.chats.make(body["id"], body.get("type", "personal"))
        chat.state = body.get("state", chat.state)

    def set_hook(self, body):
        self.service.hook = body["url"]

    def _chat(self, body):
        if body["chat"] not in self.chats.known:
            raise Unable(f"no chat {body['chat']}")
        return self.chats.known[body["chat"]]

    # ---- activities ----

    def activity(self, chat, user, thread, **more):
        conversation = f"{chat.id};messageid={thread}" if thread else chat.id
        return {
            "id": self.chats.new_id(),
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime()),
            "serviceUrl": self.service.service_url,
            "channelId": "msteams",
            "from": {"id": f"29:{user}", "name": self.names.get(user, user), "aadObjectId": user},
            "conversation": {
                "id": conversation,
                "conversationType": chat.kind,
                "tenantId": "fake-tenant",
                **({"isGroup": True} if chat.kind != "personal" else {}),
            },
            "recipient": {"id": BOT, "name": "Fake Bot"},
            "channelData": {"tenant": {"id": "fake-tenant"}},
            **more,
        }

    def says(self, body):
        chat = self._chat(body)
        text, thread = body.get("text", ""), body.get("thread")
        given = {"type": "message", "textFormat": "plain", "text": text, "locale": "en-US", "entities": []}
        if body.get("mention"):
            given["text"] = f"<at>Fake Bot</at>&nbsp;{text}\n"
            mention = {"type": "mention", "mentioned": {"id": BOT, "name": "Fake Bot"}, "text": "<at>Fake Bot</at>"}
            given["entities"].append(mention)
        if body.get("reply_to"):
            given["replyToId"] = body["reply_to"]
        given["attachments"] = [self._file(f) for f in body.get("files", [])]
        given["attachments"].append({"contentType": "text/html", "content": f"<div>{text}</div>"})
        activity = self.activity(chat, body["user"], thread, **given)
        if chat.kind == "channel" and not thread:  # a new thread
            thread = activity["id"]
            activity["conversation"]["id"] += f";messageid={thread}"
        self.chats.add(chat, thread, body["user"], {"text": text}, activity["id"])
        self._deliver(chat, activity, text)
        return {"id": activity["id"]}

    def _file(self, file):
        data = base64.b64decode(file["base64"]) if "base64" in file else file["content"].encode()
        number = f"f{len(self.files)}"
        kind = file.get("type", "text/plain")
        self.files[number] = (file["name"], kind, data)
        base = self.service.service_url
        if kind.startswith("image/"):
            return {"contentType": kind, "contentUrl": f"{base}files/{number}", "name": file["name"]}
        content = {"downloadUrl": file.get("url", f"{base}files/{number}"), "uniqueId": number, "fileType": "txt"}
        return {"contentType": FILE_TYPE, "contentUrl": "https://fake.sharepoint.com/x", "name": file["name"], "content": content}

    def deletes(self, body):
        self.chats.messages[body["chat"], body["id"]].deleted = True

    def stops(self, body):
        return {"streams": self.chats.stop(body["chat"])}

    def expires(self, body):
        """Ends a stream as after two minutes."""
        return {"streams": self.chats.stop(body["chat"], "late")}

    # ---- pressed buttons ----

    def _action(self, body):
        message = self.chats.messages.get((body["chat"], body["id"]))
        if message is None or message.deleted:
            raise Unable(f"no message {body['id']}")
        for row in actions_of(message.body):
            for action in row:
                if "button" in body and body["button"] in action.get("title", ""):
                    return message, action["card"]["actions"][0] if "card" in action else action
        raise Unable(f"no such button; there are {actions_of(message.body)}")

    def presses(self, body):
        """Returns the status and the body of the response of the bot, and the activity."""
        with self.record.changed:
            chat = self._chat(body)
            activity = copy.deepcopy(body.get("activity")) or self._press(chat, body)
        status, text, _ = self.push(activity, {})
        return {"status": status, "body": text, "activity": activity}

    def _press(self, chat, body):
        message, action = self._action(body)
        data = {**action["data"], **body.get("values", {})}
        where = (chat, body["user"], message.thread)
        if body.get("submit"):  # a client that does not know Action.Execute
            return self.activity(*where, type="message", value=data, replyToId=message.id)
        value = {"action": {"type": action["type"], "title": action["title"], "verb": action["verb"], "data": data},
                 "trigger": "manual"}  # fmt: skip
        return self.activity(*where, type="invoke", name="adaptiveCard/action", value=value, replyToId=message.id)

    # ---- delivery ----

    def _deliver(self, chat, activity, text):
        self.record.add("inbound", event=activity["type"], chat=chat.id, text=text, payload=activity)
        self._open += 1
        if chat.id not in self._queues:
            self._queues[chat.id] = queue.Queue()
            in_thread(self._work, self._queues[chat.id])
        self._queues[chat.id].put(activity)

    def _work(self, waiting):
        while True:
            activity = waiting.get()
            while True:
                status = self.push(activity, {})[0] if self.service.hook else 0
                if 200 <= status < 300 or status in (400, 401, 403):
                    break
                time.sleep(AGAIN_S)
            with self.record.changed:
                self._open -= 1
                self.record.changed.notify_all()

    def all_taken(self):
        return self._open == 0

    def pushes(self, body):
        """Sends one request as given; `wrong`: what is invalid in its token."""
        with self.record.changed:
            chat = self.chats.make(body.get("chat", "a:push"))
            text = {"type": "message", "text": body.get("text", "hi"), "textFormat": "plain"}
            activity = body.get("activity") or self.activity(chat, body.get("user", "u"), None, **text)
            activity |= body.get("more", {})
        status, text, _ = self.push(activity, body)
        return {"status": status, "body": text, "activity": activity}

    def _token(self, activity, how):
        claims = teams_jwt.claims_of(BOT[len("28:") :], activity["serviceUrl"])
        now = int(time.time())
        for name, value in WRONG.get(how.get("wrong"), {}).items():
            if value is None:
                del claims[name]
            else:
                claims[name] = now + value if isinstance(value, int) else value
        claims |= how.get("claims", {})
        given = {k: how[k] for k in ("kid", "alg", "signed_by", "changed") if k in how}
        return teams_jwt.token(claims, **{"kid": self.service.keys[0], **given})

    def push(self, activity, how):
        """Returns the status (0: none), body and headers."""
        parts = urlsplit(self.service.hook)
        headers = {"Content-Type": "application/json; charset=utf-8"}
        if how.get("wrong") != "none":
            headers["Authorization"] = how.get("authorization") or "Bearer " + self._token(activity, how)
        status, text, error = 0, "", None
        try:
            connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)
            connection.request("POST", parts.path, json.dumps(activity).encode(), headers)
            answer = connection.getresponse()
            status, text = answer.status, answer.read(1 << 20).decode(errors="replace")
            connection.close()
        except (OSError, http.client.HTTPException) as failure:
            error = str(failure)
        self.record.add("push", payload=activity, status=status, body=text, error=error)
        self._check_response(activity, status, text)
        return status, text, {}

    def _check_response(self, activity, status, text):
        """Checks the response to a pressed button, which the client shows."""
        if activity["type"] != "invoke" or status != 200:
            return
        try:
            body = json.loads(text)
            good = isinstance(body["statusCode"], int) and body["value"] is not None
            good = good and body["type"] in ("application/vnd.microsoft.activity.message", CARD)
        except (ValueError, KeyError, TypeError):
            good = False
        if not good:
            self.record.violate("bad-response", text[:200])
