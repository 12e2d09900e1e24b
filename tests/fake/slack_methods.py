# SPDX-License-Identifier: MIT
"""The methods of the Web API of Slack that the fake supports, each with its tier and its
arguments."""

import re

from slack_messages import APP, BOT, BOT_USER, TEAM
from slack_text import (
    MAX_MARKDOWN,
    MAX_METADATA,
    MAX_TEXT,
    MAX_UPDATE_BYTES,
    MASS,
    BlockCheck,
    Refused,
    escaped_size,
    parsed,
    truth,
    waking,
    words,
)

MAX_FILE = 1 << 30
SESSION_STATES = ("processing", "active", "suspended", "closed")
_CONTENT = "text blocks attachments markdown_text metadata parse link_names "

# name: tier (or "post"), token, whether it accepts JSON, arguments
METHODS = {
    "apps.connections.open": (1, "app", True, ""),
    "auth.test": (4, "bot", True, ""),
    "chat.postMessage": ("post", "bot", True, _CONTENT + "channel thread_ts reply_broadcast mrkdwn "
                         "unfurl_links unfurl_media username icon_url icon_emoji client_msg_id"),
    "chat.update": (3, "bot", True, _CONTENT + "channel ts file_ids reply_broadcast"),
    "chat.delete": (3, "bot", True, "channel ts"),
    "chat.postEphemeral": (4, "bot", True, _CONTENT + "channel user thread_ts username icon_url "
                           "icon_emoji"),
    "chat.startStream": (2, "bot", True, "channel thread_ts markdown_text chunks recipient_user_id "
                         "recipient_team_id task_display_mode username icon_url icon_emoji"),
    "chat.appendStream": (4, "bot", True, "channel ts markdown_text chunks"),
    "chat.stopStream": (2, "bot", True, "channel ts markdown_text chunks blocks metadata "
                        "session_status"),
    "reactions.add": (3, "bot", True, "channel timestamp name"),
    "reactions.remove": (2, "bot", True, "channel timestamp name"),
    "agents.sessions.setStatus": (3, "bot", True, "channel_id thread_ts status title "
                                  "initiator_user_id icon_emoji icon_url username"),
    "assistant.threads.setStatus": (4, "bot", True, "channel_id thread_ts status loading_messages "
                                    "username icon_emoji icon_url"),
    "files.getUploadURLExternal": (4, "bot", False, "filename length alt_txt snippet_type"),
    "files.completeUploadExternal": (4, "bot", True, "files channel_id channels thread_ts "
                                     "initial_comment blocks"),
    "conversations.replies": (3, "bot", False, "channel ts cursor limit oldest latest inclusive "
                              "include_all_metadata"),
    "conversations.history": (3, "bot", False, "channel cursor limit oldest latest inclusive "
                              "include_all_metadata"),
    "conversations.info": (3, "bot", False, "channel include_locale include_num_members"),
    "conversations.open": (3, "bot", True, "users channel return_im prevent_creation"),
    "users.info": (4, "bot", False, "user include_locale"),
}  # fmt: skip


class Methods:
    """`service` has workspace, streams, record, options, base_url."""

    def __init__(self, service):
        self.service = service
        self.workspace = service.workspace
        self.record = service.record
        self.uploads = {}  # file id: [name, length, bytes or None]
        self._clears = {}  # (channel, thread): the timer that ends a status

    def do(self, call):
        known = METHODS[call.method][3].split()
        for name in set(call.params) - {*known, "token"}:
            self.record.violate("bad-request", f"{call.method} has no argument {name}")
        return getattr(self, "do_" + re.sub(r"[.A-Z]", lambda m: "_" + m[0].strip(".").lower(),
                                            call.method))(call)  # fmt: skip

    # ---- contents of messages ----

    def _content(self, call):
        """Returns text, markdown and blocks of a message after checking them."""
        text = call.params.get("text") or ""
        markdown = call.params.get("markdown_text") or ""
        if not isinstance(text, str) or not isinstance(markdown, str):
            raise Refused("invalid_arguments", "must be a string")
        blocks = parsed(call.params.get("blocks") or [], "invalid_blocks_format", list)
        attachments = parsed(call.params.get("attachments") or [], "invalid_attachments", list)
        if len(attachments) > 100:
            raise Refused("too_many_attachments")
        if markdown and (text or blocks):
            raise Refused("markdown_text_conflict")
        if len(markdown) > MAX_MARKDOWN:
            raise Refused("msg_too_long")
        if not text.strip() and not markdown and not blocks and not attachments:
            raise Refused("no_text")
        BlockCheck().all(blocks)
        if blocks and not text:
            self.record.violate("no-fallback-text", f"{call.method} in {call.chat}")
        if MASS.search("\n".join([text, markdown, waking(blocks)])):
            self.record.violate("mass-mention", f"{call.method} in {call.chat}")
        return text, markdown, blocks

    def metadata_of(self, call):
        if not call.params.get("metadata"):
            return None
        metadata = parsed(call.params["metadata"], "invalid_metadata_format", dict)
        if not isinstance(metadata.get("event_type"), str) or not isinstance(
            metadata.get("event_payload"), dict
        ):
            raise Refused("invalid_metadata_format")
        if len(str(metadata)) > MAX_METADATA:
            raise Refused("metadata_too_large")
        return metadata

    def thread_of(self, channel, ts):
        """The id of a thread is that of its first message, never of a reply."""
        if not ts:
            return None
        message = channel.find(str(ts))
        if message is None:
            known = re.fullmatch(r"\d{10}\.\d{6}", str(ts))
            raise Refused("thread_not_found" if known else "invalid_thread_ts", rule=None)
        if message.thread_ts:
            raise Refused("invalid_thread_ts", rule="thread-of-reply")
        return message.ts

    # ---- chat ----

    def do_chat_post_message(self, call):
        channel = self.workspace.writable(str(call.params.get("channel", "")))
        text, markdown, blocks = self._content(call)
        metadata = self.metadata_of(call)
        thread = self.thread_of(channel, call.params.get("thread_ts"))
        warning = None
        if len(text) > MAX_TEXT:
            self.record.violate("text-truncated", f"{len(text)} characters in {channel.id}")
            text, warning = text[:MAX_TEXT], "message_truncated"
        message = self.workspace.add_message(channel, BOT_USER, thread)
        message.text, message.markdown, message.blocks = text, markdown, blocks
        message.metadata = metadata
        message.broadcast = truth(call.params.get("reply_broadcast"))
        channel.status.pop(message.root(), None)
        result = {"channel": channel.id, "ts": message.ts, "message": message.api(True)}
        return result | ({"warning": warning} if warning else {})

    def _own(self, call, refusal):
        channel = self.workspace.channel(str(call.params.get("channel", "")))
        message = channel.find(str(call.params.get("ts", "")))
        if message is None:
            raise Refused("message_not_found", rule=None)
        if not message.by_bot():
            raise Refused(refusal)
        return channel, message

    def do_chat_update(self, call):
        channel, message = self._own(call, "cant_update_message")
        if message.stream:
            self.record.violate("stream-misuse", f"chat.update of {message.ts}, which streams")
            raise Refused("streaming_state_conflict", rule=None)
        text, markdown, blocks = self._content(call)
        if escaped_size(text) > MAX_UPDATE_BYTES:
            raise Refused("msg_too_long")
        metadata = self.metadata_of(call)
        if (text, markdown, blocks) == (message.text, message.markdown, message.blocks):
            self.record.violate("same-text", f"chat.update of {message.ts} in {channel.id}")
        before = message.read()
        message.text, message.markdown, message.blocks = text, markdown, blocks
        message.metadata = metadata or message.metadata
        message.edits += 1
        message.tasks = {}
        self.service.text_changed(channel.id, message.ts, before, message.read())
        return {"channel": channel.id, "ts": message.ts, "text": text, "message": message.api(True)}

    def do_chat_delete(self, call):
        channel, message = self._own(call, "cant_delete_message")
        message.deleted = True
        self.service.text_changed(channel.id, message.ts, message.read(), None)
        return {"channel": channel.id, "ts": message.ts}

    def do_chat_post_ephemeral(self, call):
        channel = self.workspace.writable(str(call.params.get("channel", "")))
        if call.params.get("user") not in self.workspace.users:
            raise Refused("user_not_in_channel", rule=None)
        text, markdown, blocks = self._content(call)
        thread = self.thread_of(channel, call.params.get("thread_ts"))
        message = self.workspace.add_message(channel, BOT_USER, thread)
        message.text, message.markdown, message.blocks = text, markdown, blocks
        message.ephemeral_for = call.params["user"]
        return {"message_ts": message.ts}

    def _stream(self, call, action):
        if not self.service.options["streams"]:
            raise Refused("unknown_method", rule=None)
        text = "\n".join([call.params.get("markdown_text") or "", words(call.params.get("chunks"))])
        if MASS.search(text):
            self.record.violate("mass-mention", f"{call.method} in {call.chat}")
        return action(call)

    def do_chat_start_stream(self, call):
        return self._stream(call, self.service.streams.start)

    def do_chat_append_stream(self, call):
        return self._stream(call, self.service.streams.append)

    def do_chat_stop_stream(self, call):
        return self._stream(call, self.service.streams.stop)

    # ---- reactions, status ----

    def _reaction(self, call):
        channel = self.workspace.channel(str(call.params.get("channel", "")))
        message = channel.find(str(call.params.get("timestamp", "")))
        if message is None:
            raise Refused("message_not_found", rule=None)
        name = str(call.params.get("name", ""))
        if not re.fullmatch(r"[a-z0-9_+'-]+(::skin-tone-[2-6])?", name):
            raise Refused("invalid_name")
        return message, name

    def do_reactions_add(self, call):
        message, name = self._reaction(call)
        users = message.reactions.setdefault(name, [])
        if BOT_USER in users:
            raise Refused("already_reacted", rule=None)
        users.append(BOT_USER)
        return {}

    def do_reactions_remove(self, call):
        message, name = self._reaction(call)
        if BOT_USER not in message.reactions.get(name, []):
            raise Refused("no_reaction", rule=None)
        message.reactions[name].remove(BOT_USER)
        if not message.reactions[name]:
            del message.reactions[name]
        return {}

    def set_session(self, channel, thread, status, title=None):
        if status not in SESSION_STATES:
            raise Refused("invalid_arguments", "unsupported status")
        session = channel.sessions.setdefault(thread, {"status": status, "title": title or ""})
        session["status"] = status
        return session

    def do_agents_sessions_set_status(self, call):
        if not self.service.options["agent"]:
            raise Refused("access_denied", rule=None)
        channel = self.workspace.writable(str(call.params.get("channel_id", "")))
        if not call.params.get("thread_ts"):
            raise Refused("invalid_arguments", "missing required field: thread_ts")
        thread = self.thread_of(channel, call.params["thread_ts"])
        title = call.params.get("title") or ""
        if len(title) > 200:
            raise Refused("invalid_arguments", "must be less than 201 characters")
        session = self.set_session(channel, thread, call.params.get("status"), title)
        return {"status": session["status"], "agent_status": session["status"], "title": title}

    def do_assistant_threads_set_status(self, call):
        if not self.service.options["assistant"]:
            raise Refused("access_denied", rule=None)
        channel = self.workspace.writable(str(call.params.get("channel_id", "")))
        thread = self.thread_of(channel, call.params.get("thread_ts") or "none")
        if "status" not in call.params:
            raise Refused("invalid_arguments", "missing required field: status")
        loading = parsed(call.params.get("loading_messages") or [], "invalid_arguments", list)
        if len(loading) > 10:
            raise Refused("invalid_arguments", "no more than 10 loading_messages")
        self.service.timers.cancel(self._clears.pop((channel.id, thread), None))
        channel.status.pop(thread, None)
        if call.params["status"]:
            channel.status[thread] = str(call.params["status"])
            clear = self.service.timers.after(120, lambda: channel.status.pop(thread, None))
            self._clears[channel.id, thread] = clear
        return {}

    # ---- files ----

    def do_files_get_upload_u_r_l_external(self, call):
        name, length = call.params.get("filename"), str(call.params.get("length", ""))
        if not name or not length.isdigit() or not 0 < int(length) <= MAX_FILE:
            raise Refused("invalid_arguments", "filename and length are needed")
        number = f"FUP{len(self.uploads) + 1:06}"
        self.uploads[number] = [name, int(length), None]
        return {"upload_url": f"{self.service.base_url()}/upload/{number}", "file_id": number}

    def upload(self, number, data):
        """Accepts the bytes for an upload URL. Returns whether the file was announced."""
        upload = self.uploads.get(number)
        if upload is None or len(data) != upload[1]:
            self.record.violate("bad-request", f"{len(data)} bytes for upload {number}")
            return False
        upload[2] = data
        return True

    def do_files_complete_upload_external(self, call):
        files = parsed(call.params.get("files", ""), "invalid_arguments", list)
        done = []
        for file in files:
            upload = self.uploads.get(file.get("id"))
            if upload is None or upload[2] is None:
                raise Refused("file_not_found")
            del self.uploads[file["id"]]
            name, _, data = upload
            base = self.service.base_url()
            done.append(self.workspace.keep_file(name, data, base, title=file.get("title")))
        if call.params.get("channel_id"):
            channel = self.workspace.writable(str(call.params["channel_id"]))
            thread = self.thread_of(channel, call.params.get("thread_ts"))
            message = self.workspace.add_message(channel, BOT_USER, thread)
            message.text = call.params.get("initial_comment") or ""
            message.files = done
        return {"files": done}

    # ---- reading ----

    def _page(self, messages, params):
        if params.get("oldest"):
            oldest = str(params["oldest"])
            inclusive = truth(params.get("inclusive"))
            messages = [m for m in messages if m.ts > oldest or (inclusive and m.ts == oldest)]
        if params.get("latest"):
            messages = [m for m in messages if m.ts <= str(params["latest"])]
        limit = min(int(params.get("limit") or 100), 999)
        start = int(params.get("cursor") or 0)
        page = messages[start : start + limit]
        more = start + limit < len(messages)
        result = {"messages": [m.api(truth(params.get("include_all_metadata"))) for m in page]}
        cursor = str(start + limit) if more else ""
        return result | {"has_more": more, "response_metadata": {"next_cursor": cursor}}

    def do_conversations_replies(self, call):
        channel = self.workspace.channel(str(call.params.get("channel", "")))
        parent = channel.find(str(call.params.get("ts", "")))
        if parent is None:
            raise Refused("thread_not_found", rule=None)
        return self._page([parent] + channel.replies(parent.ts), call.params)

    def do_conversations_history(self, call):
        channel = self.workspace.channel(str(call.params.get("channel", "")))
        messages = [
            m
            for m in channel.messages.values()
            if not m.deleted and not m.ephemeral_for and (not m.thread_ts or m.broadcast)
        ]
        return self._page(messages[::-1], call.params)

    def do_conversations_info(self, call):
        return {"channel": self.workspace.channel(str(call.params.get("channel", ""))).api()}

    def do_conversations_open(self, call):
        user = str(call.params.get("users") or "")
        if user not in self.workspace.users:
            raise Refused("user_not_found" if user else "users_list_not_supplied", rule=None)
        return {"channel": self.workspace.direct(user).api()}

    def do_users_info(self, call):
        user = self.workspace.users.get(call.params.get("user"))
        if user is None:
            raise Refused("user_not_found", rule=None)
        return {"user": user}

    def do_auth_test(self, call):
        me = {"url": "https://fake.slack.com/", "team": "Fake", "user": "fake_bot"}
        me |= {"team_id": TEAM, "user_id": BOT_USER, "bot_id": BOT, "is_enterprise_install": False}
        return me | {"app_id": APP}

    def do_apps_connections_open(self, call):
        return self.service.sockets.open()
