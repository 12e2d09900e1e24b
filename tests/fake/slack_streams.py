# SPDX-License-Identifier: MIT
"""Streamed messages of Slack: chat.startStream, appendStream, stopStream, and their end."""

from slack_messages import BOT_USER
from slack_text import (
    MAX_BLOCKS,
    MAX_MARKDOWN,
    BlockCheck,
    Refused,
    checked_chunks,
    parsed,
)

EXPIRED, STOPPED = "message_not_in_streaming_state", "stopped_by_user"


class Stream:
    def __init__(self, message):
        self.message = message
        self.blocks = 0
        self.timers = []


class Streams:
    def __init__(self, service):
        self.service = service
        self.life, self.idle = 300, 120
        self._ended = {}  # (channel, ts): the reason of its end

    def _parts(self, call):
        """The parts that a call appends: markdown and other chunks, checked."""
        markdown = call.params.get("markdown_text") or ""
        if len(markdown) > MAX_MARKDOWN:
            raise Refused("msg_too_long")
        tasks = self.service.options["tasks"]
        chunks = checked_chunks(call.params.get("chunks") or [], tasks)
        return markdown, chunks

    def _add(self, stream, markdown, chunks):
        message = stream.message
        text = markdown + "".join(c["text"] for c in chunks if c["type"] == "markdown_text")
        blocks = [block for c in chunks if c["type"] == "blocks" for block in c["blocks"]]
        tasks = {c["id"]: c for c in chunks if c["type"] == "task_update"}
        if len(message.markdown) + len(text) > MAX_MARKDOWN:
            raise Refused("msg_too_long")
        if len(message.blocks) + len(blocks) + len({**message.tasks, **tasks}) > MAX_BLOCKS:
            raise Refused("msg_blocks_too_many")
        message.markdown += text
        message.blocks = message.blocks + blocks
        message.tasks.update(tasks)

    def start(self, call):
        params = call.params
        channel = self.service.workspace.writable(str(params.get("channel", "")))
        if not params.get("thread_ts"):
            raise Refused("invalid_arguments", "missing required field: thread_ts")
        if channel.kind not in ("im", "channel", "group", "mpim"):
            raise Refused("channel_type_not_supported", rule=None)
        if not channel.direct():
            for name in ("recipient_user_id", "recipient_team_id"):
                if not params.get(name):
                    raise Refused(f"missing_{name}")
        if params.get("task_display_mode", "timeline") not in ("timeline", "plan", "dense"):
            raise Refused("invalid_arguments", "unsupported task_display_mode")
        thread = self.service.thread_of(channel, params["thread_ts"])
        parts = self._parts(call)
        message = self.service.workspace.add_message(channel, BOT_USER, thread)
        stream = message.stream = Stream(message)
        try:
            self._add(stream, *parts)
        except Refused:
            del channel.messages[message.ts]
            raise
        after = self.service.timers.after
        stream.timers = [
            after(self.life, lambda: self._end(message, EXPIRED)),
            after(self.idle, lambda: self._end(message, EXPIRED)),
        ]
        channel.status.pop(thread, None)
        return {"channel": channel.id, "ts": message.ts}

    def _end(self, message, why):
        for timer in message.stream.timers if message.stream else ():
            self.service.timers.cancel(timer)
        message.stream = None
        self._ended[message.channel.id, message.ts] = why
        self.service.record.changed.notify_all()

    def _running(self, call):
        params = call.params
        channel = self.service.workspace.channel(str(params.get("channel", "")))
        message = channel.find(str(params.get("ts", "")))
        if message is None:
            raise Refused("message_not_found", rule=None)
        if not message.by_bot():
            raise Refused("message_not_owned_by_app")
        if message.stream is None:
            why = self._ended.get((channel.id, message.ts))
            if why is None:
                self.service.record.violate("stream-misuse", f"{message.ts} never was a stream")
            elif why == "":
                self.service.record.violate("stream-misuse", f"{message.ts} was ended before")
            raise Refused(why or EXPIRED, rule=None)
        return message

    def append(self, call):
        message = self._running(call)
        markdown, chunks = self._parts(call)
        if not markdown and not chunks:
            raise Refused("invalid_arguments", "markdown_text or chunks is needed")
        self._add(message.stream, markdown, chunks)
        self.service.timers.cancel(message.stream.timers.pop())
        idle = self.service.timers.after(self.idle, lambda: self._end(message, EXPIRED))
        message.stream.timers.append(idle)
        return {"channel": message.channel.id, "ts": message.ts}

    def stop(self, call):
        message = self._running(call)
        parts = self._parts(call)
        blocks = parsed(call.params.get("blocks") or [], "invalid_blocks", list)
        BlockCheck().all(blocks)
        if len(message.blocks) + len(blocks) > MAX_BLOCKS:
            raise Refused("msg_blocks_too_many")
        metadata = self.service.metadata_of(call)
        session = call.params.get("session_status")
        if session:
            self.service.set_session(message.channel, message.root(), session)
        self._add(message.stream, *parts)
        message.blocks = message.blocks + blocks
        message.metadata = metadata or message.metadata
        self._end(message, "")
        return {"channel": message.channel.id, "ts": message.ts, "message": message.api(True)}

    def stop_by_user(self, channel, thread_ts):
        """Returns the ts of the streams that were ended."""
        ended = []
        for message in channel.messages.values():
            if message.stream and message.thread_ts == thread_ts:
                self._end(message, STOPPED)
                ended.append(message.ts)
        return ended
