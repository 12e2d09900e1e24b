# SPDX-License-Identifier: MIT
"""Actions of users in the workspace of the Slack fake, and the events that result."""

import time
import uuid

from control import Unable
from slack_elements import state_of
from slack_messages import APP, BOT_USER, TEAM
from slack_text import Refused, buttons

RESPONSE_USES, RESPONSE_SECONDS = 5, 30 * 60


class People:
    def __init__(self, service):
        self.service = service
        self.workspace = service.workspace
        self.events = service.events
        self.responses = {}  # id: [remaining uses, end, channel, message]
        self.controls = {
            "channel": self.make_channel,
            "user": self.make_user,
            "message": self.writes,
            "edit": self.edits,
            "delete": self.deletes,
            "event": lambda body: {
                "event_id": self.events.event(body["event"], body.get("event_id"))
            },
            "action": self.presses,
            "again": self.again,
            "command": self.commands,
            "stop": self.stops,
        }

    def make_channel(self, body):
        channel = self.workspace.channels.get(body["id"])
        if channel is None:
            kind = body.get("type", "channel")
            channel = self.workspace.add_channel(body["id"], kind, body.get("user"))
        channel.member = body.get("member", channel.member)
        channel.archived = body.get("archived", channel.archived)

    def make_user(self, body):
        names = (body["name"], body.get("real_name"))
        self.workspace.add_user(
            body["id"], *names, body.get("is_bot", False), body.get("tz", "Europe/Berlin")
        )

    def _channel(self, body):
        try:
            return self.workspace.channel(body["channel"])
        except Refused:
            raise Unable(f"no channel {body['channel']}") from None

    def _there(self, body):
        message = self._channel(body).find(body["ts"])
        if message is None:
            raise Unable(f"no message {body['ts']}")
        return message

    # ---- messages ----

    def writes(self, body):
        channel = self._channel(body)
        if body["user"] not in self.workspace.users:
            raise Unable(f"no user {body['user']}")
        message = self.workspace.add_message(channel, body["user"], body.get("thread_ts"))
        message.text = body.get("text", "")
        for file in body.get("files", []):
            data = file["content"].encode()
            base = self.service.base_url()
            message.files.append(self.workspace.keep_file(file["name"], data, base, body["user"]))
        event = self._message_event(message)
        ids = []
        if not body.get("mention"):
            ids.append(self.events.event(event))
        if body.get("mention") or body.get("both"):
            mention = {k: v for k, v in event.items() if k not in ("channel_type", "subtype")}
            ids.append(self.events.event({**mention, "type": "app_mention"}))
        return {"ts": message.ts, "event_id": ids[0], "event_ids": ids}

    def _message_event(self, message):
        channel = message.channel
        kinds = {"im": "im", "mpim": "mpim", "group": "group", "channel": "channel"}
        event = {"type": "message", "user": message.user, "text": message.text, "ts": message.ts}
        event |= {"channel": channel.id, "channel_type": kinds[channel.kind], "team": TEAM}
        event |= {"event_ts": message.ts, "client_msg_id": str(uuid.uuid4())}
        if message.thread_ts:
            event["thread_ts"] = message.thread_ts
            parent = channel.find(message.thread_ts)
            event["parent_user_id"] = parent.user if parent else None
        if message.files:
            event |= {"subtype": "file_share", "files": message.files, "upload": False}
        if message.by_bot():
            event |= {"bot_id": "B0BOT", "app_id": APP}
            del event["client_msg_id"]
        return event

    def echo(self, message):
        """The app gets its own messages in channels of which it gets events."""
        self.events.event(self._message_event(message))

    def edits(self, body):
        message = self._there(body)
        before = self._message_event(message)
        message.text = body["text"]
        message.edits += 1
        changed = {"type": "message", "subtype": "message_changed", "hidden": True}
        changed |= {"message": self._message_event(message), "previous_message": before}
        changed |= self._where(message)
        return {"event_id": self.events.event(changed)}

    def deletes(self, body):
        message = self._there(body)
        message.deleted = True
        deleted = {"type": "message", "subtype": "message_deleted", "hidden": True}
        deleted |= {"deleted_ts": message.ts, "previous_message": self._message_event(message)}
        return {"event_id": self.events.event(deleted | self._where(message))}

    def _where(self, message):
        ts = self.workspace.new_ts()
        channel = message.channel
        return {"channel": channel.id, "channel_type": channel.kind, "ts": ts, "event_ts": ts}

    def stops(self, body):
        channel = self._channel(body)
        ended = self.service.streams.stop_by_user(channel, body["thread_ts"])
        event = {"type": "agent_session_stopped", "channel": channel.id, "user": body["user"]}
        event |= {"thread_ts": body["thread_ts"], "streaming_message_ts": ended}
        event["event_ts"] = self.workspace.new_ts()
        return {"event_id": self.events.event(event), "streams": ended}

    # ---- buttons and commands ----

    def _response_url(self, channel, message):
        number = uuid.uuid4().hex[:12]
        until = self.service.record.now() + self.service.seconds(RESPONSE_SECONDS)
        self.responses[number] = [RESPONSE_USES, until, channel, message]
        return f"{self.service.base_url()}/response/{number}"

    def _who(self, body):
        user = self.workspace.users[body["user"]]
        return {"id": user["id"], "username": user["name"], "name": user["name"], "team_id": TEAM}

    def _pressed(self, message, body):
        for block, row in buttons(message.blocks):
            for element in row:
                same = element.get("action_id") == body["action_id"]
                if same and element.get("value") == body.get("value", element.get("value")):
                    return block, element
        if body.get("force"):
            element = {"type": "button", "action_id": body["action_id"], "text": {}}
            return {"block_id": "forced"}, {**element, "value": body.get("value")}
        raise Unable(f"the message shows no button {body['action_id']}")

    def presses(self, body):
        message = self._there(body)
        block, element = self._pressed(message, body)
        trigger = f"{int(time.time() * 1000)}.1.fake"
        url = self._response_url(message.channel, message)
        action = {"type": "button", "action_id": element["action_id"], "text": element["text"]}
        action |= {"block_id": block.get("block_id", "auto"), "value": element.get("value")}
        action["action_ts"] = self.workspace.new_ts()
        container = {"type": "message", "message_ts": message.ts, "channel_id": message.channel.id}
        container |= {"is_ephemeral": message.ephemeral_for is not None}
        if message.thread_ts:
            container["thread_ts"] = message.thread_ts
        payload = {"type": "block_actions", "user": self._who(body), "api_app_id": APP}
        payload |= {"team": {"id": TEAM, "domain": "fake"}, "container": container}
        payload |= {"channel": {"id": message.channel.id, "name": "x"}, "message": message.api()}
        payload |= {"trigger_id": trigger, "response_url": url, "actions": [action]}
        payload["state"] = {"values": state_of(message.blocks, body.get("values", {}))}
        self.events.deliver("interactive", payload)
        return {"trigger_id": trigger, "response_url": url}

    def again(self, body):
        """Sends a payload again that was recorded, or an invented one."""
        self.events.deliver("interactive", body["payload"])

    def commands(self, body):
        channel = self._channel(body)
        user = self._who(body)
        payload = {"team_id": TEAM, "team_domain": "fake", "channel_id": channel.id}
        payload |= {"channel_name": "x", "user_id": user["id"], "user_name": user["name"]}
        payload |= {"command": body["command"], "text": body.get("text", ""), "api_app_id": APP}
        payload |= {"is_enterprise_install": "false"}
        payload |= {"trigger_id": f"{int(time.time() * 1000)}.2.fake"}
        payload["response_url"] = self._response_url(channel, None)
        self.events.deliver("slash_commands", payload)
        return {"response_url": payload["response_url"]}

    def respond(self, number, params):
        """Handles a request of the app to a response_url."""
        response = self.responses.get(number)
        if response is None or response[0] == 0 or response[1] < self.service.record.now():
            raise Refused("used_url" if response else "expired_url")
        response[0] -= 1
        _, _, channel, message = response
        if params.get("delete_original") and message:
            message.deleted = True
        elif params.get("replace_original") and message:
            message.text = params.get("text", "")
            message.blocks = params.get("blocks") or []
            message.edits += 1
        else:
            answer = self.workspace.add_message(channel, BOT_USER)
            answer.text, answer.blocks = params.get("text", ""), params.get("blocks") or []
            if params.get("response_type") != "in_channel":
                answer.ephemeral_for = "whoever asked"
