# SPDX-License-Identifier: MIT
"""What a fake remembers of the questions people asked: what they see as the outcome, what was done
after it, what still looks as if it ran."""
import collections
import json
import re
from dataclasses import dataclass

from people import OUTCOME, can_stop, is_bot
from talk import SANITIZED, crowding

LOST = "⚠ An answer could not be delivered here"  # which is no outcome
ANSWERED_S = 6 if SANITIZED else 1.5  # until an idle host has on disk what a service has answered


@dataclass(frozen=True)
class Outcome:
    is_error: bool
    is_marked: bool  # it says that it may be a repeat, or stands where the progress was
    thread: str  # or None
    place: int  # of its message among all messages of the chat


class Shown:
    """`kills`: when the host was killed, by the clock of the machine, which is so much ahead."""

    TIDIES_ONCE = False
    REPEATS = True  # the service does not recognise a message that is sent again

    def __init__(self, fake, kills, clock):
        self.fake = fake
        self.kills = [kill - clock for kill in kills]
        self.answered = ANSWERED_S * crowding()
        self.calls = [e for e in fake.record() if e["kind"] == "call"]
        self.chats = fake.state()["chats"]
        self.messages = {
            (chat, str(m["id"])): m for chat, one in self.chats.items() for m in one["messages"]
        }
        self._places = {
            (chat, str(m["id"])): place for chat, one in self.chats.items() for place, m in enumerate(one["messages"])
        }
        self._calls_of = collections.defaultdict(list)
        for call in self.calls:
            self._calls_of[str(call["chat"]), self.question_of(call)].append(call)
        self._calls_in = collections.defaultdict(list)
        for call in self.calls:
            self._calls_in[str(call["chat"])].append(call)
        self._seen = collections.defaultdict(list)
        for (chat, _), message in self.messages.items():
            if is_bot(message) and not message["deleted"]:
                self._seen[chat, str(self.answers_to(message))].append(message)

    # ---- of each service

    def question_of(self, call):
        """The id of the question a call is about, or None."""
        raise NotImplementedError

    def answers_to(self, message):
        raise NotImplementedError

    def edited(self, call):
        """The id of the message that a call edits, and its chat; or None."""
        raise NotImplementedError

    def is_outcome(self, message):
        raise NotImplementedError

    def tells_outcome(self, call):
        """Whether a call tells an outcome, not whether it did so with success."""
        raise NotImplementedError

    def is_live(self, call):
        raise NotImplementedError

    def is_running(self, message):
        raise NotImplementedError

    # ---- of a question

    def calls_of(self, question):
        return self._calls_of[question.chat, question.message]

    def seen(self, question):
        return self._seen[question.chat, question.message]

    def outcomes(self, question):
        return [
            Outcome(
                is_error="⚠" in message["text"] and f"Answer {question.id} " not in message["text"],
                is_marked=is_marked(message["text"]) or message["edits"] > 0,
                thread=message.get("thread"),
                place=self._places[question.chat, str(message["id"])],
            )
            for message in self.seen(question)
            if self.is_outcome(message) and LOST not in message["text"]
        ]

    def doubts(self, question):
        """The number of calls about the question whose reply was lost."""
        return sum(map(is_lost, self.calls_of(question)))

    def late_calls(self, question):
        """Calls that show the turn as running after its outcome was accepted."""
        calls = self.calls_of(question)
        told = [c["seq"] for c in calls if self.tells_outcome(c) and _was_taken(c)]
        return [c for c in calls if told and c["seq"] > told[0] and self.is_live(c)]

    def objections(self):
        return [v for v in self.fake.violations() if not self._is_beside_confirming(v)]

    def _call(self, seq):
        return next(c for c in self.calls if c["seq"] == seq)

    def _is_beside_confirming(self, violation):
        """Whether one of two concurrent calls repeats an edit. A repeated edit is sent some time after the
        first one, when no late execution is possible, and no request waits for it."""
        if violation["rule"] != "in-flight":
            return False
        return any(self._confirms(self._call(violation[which])) for which in ("call", "beside"))

    def _confirms(self, call):
        target = self.edited(call)
        same = [c for c in self.calls if c["seq"] < call["seq"] and c.get("done") and c["text"] == call["text"]]
        return target is not None and target in map(self.edited, same)

    def left_running(self, question):
        return [m for m in self.seen(question) if self.is_running(m)]

    def is_busy(self, question):
        """Whether the service shows outside of messages that the turn runs."""
        return False

    def was_cut_off(self, question, message):
        """Whether the host was killed before it had stored the creation of the message, or before it had
        cleaned up after an outcome that is not kept on disk."""
        made = [c for c in self._calls_in[question.chat] if _made(c) == str(message["id"])]
        told = [c for c in self.calls_of(question) if self.tells_outcome(c) and _was_taken(c)]
        return not made or any(map(self._died_at, made + (told if self.TIDIES_ONCE else [])))

    def history(self, question):
        """The calls and kills of a question in their order, for the analysis of a failure."""
        calls = [(c["t"], c["method"], c.get("status"), c.get("t_done")) for c in self.calls_of(question)]
        kills = [(k, "killed") for k in self.kills if calls and calls[0][0] < k]
        return sorted([*calls, *kills], key=lambda at: at[0])

    def _died_at(self, call):
        return any(call["t"] <= k <= call.get("t_done", k) + self.answered for k in self.kills)


class ShownByTelegram(Shown):
    def question_of(self, call):
        params = call["params"]
        if "reply_parameters" in params:
            return str(_read(params["reply_parameters"])["message_id"])
        message = self.messages.get((str(call["chat"]), str(params.get("message_id"))))
        return str(message["reply_to"]) if message else None

    def answers_to(self, message):
        return message["reply_to"]

    def edited(self, call):
        is_edit = call["method"] == "editMessageText"
        return (call["chat"], str(call["params"].get("message_id"))) if is_edit else None

    def is_outcome(self, message):
        return OUTCOME.search(message["text"] or "")

    def tells_outcome(self, call):
        # The progress may show a notice that looks like an error.
        return call["method"] in ("sendMessage", "editMessageText") and self.is_outcome(call) and not self.is_live(call)

    def is_live(self, call):
        markup = _read(call["params"].get("reply_markup") or {})
        return can_stop(markup.get("inline_keyboard"))

    def is_running(self, message):
        return can_stop(message["buttons"])


def is_answer(metadata):
    return bool(metadata) and metadata["event_type"] == "turncast_answer"


class ShownBySlack(Shown):
    TIDIES_ONCE = True  # the service itself ends a stream after some minutes
    LIVE = ("chat.startStream", "chat.appendStream", "chat.update")

    def question_of(self, call):
        params = call["params"]
        if params.get("thread_ts"):
            return str(params["thread_ts"])
        ts = params.get("ts") or params.get("timestamp")
        message = self.messages.get((str(call["chat"]), str(ts)))
        return str(message["thread"] or ts) if message else None

    def answers_to(self, message):
        return message["thread"]

    def edited(self, call):
        is_edit = call["method"] == "chat.update"
        return (call["chat"], str(call["params"].get("ts"))) if is_edit else None

    def is_outcome(self, message):
        return is_answer(message["metadata"]) and OUTCOME.search(message["text"] or "")  # or a further part

    def tells_outcome(self, call):
        return is_answer(_read(call["params"].get("metadata")))

    def is_live(self, call):
        is_post = call["method"] == "chat.postMessage"
        return call["method"] in self.LIVE or (is_post and not self.tells_outcome(call))

    def is_running(self, message):
        return message["streaming"] or can_stop(message["buttons"])

    def is_busy(self, question):
        chat = self.chats[question.chat]
        session = chat["sessions"].get(question.message, {}).get("status", "active")
        return bool(chat["status"].get(question.message)) or session != "active"


def is_marked(text):
    """Whether the text says that it may be a repeat."""
    return any(mark in text for mark in ("(may be a repeat)", "(resent)"))


class ShownByTeams(Shown):
    def question_of(self, call):
        body = call["params"].get("body") or {}
        if body.get("replyToId"):
            return str(body["replyToId"])
        message = self.messages.get((str(call["chat"]), str(call["params"].get("id"))))
        return str(message["reply_to"]) if message else None

    def answers_to(self, message):
        return message["reply_to"]

    def edited(self, call):
        return (call["chat"], call["params"]["id"]) if call["method"] == "edit" else None

    def is_outcome(self, message):
        return OUTCOME.search(message["text"] or "") and not can_stop(message["buttons"])

    def tells_outcome(self, call):
        return call["method"] in ("post", "edit") and OUTCOME.search(call["text"] or "") and not self.is_live(call)

    def is_live(self, call):
        return can_stop(call["params"].get("body", {}).get("attachments"))

    def is_running(self, message):
        return can_stop(message["buttons"]) or message["streaming"]


class ShownOnce(Shown):
    """A service that recognises repeated messages by their KEY."""

    REPEATS = False
    KEY = ""

    def objections(self):
        return [v for v in super().objections() if not self._asks_for_id(v)]

    def _asks_for_id(self, violation):
        """Whether the request fetches the id of a progress message that the host never received: the reply was
        lost, or the host was killed before it had stored it."""
        if not asks_for_id(violation):
            return False
        key = self._call(violation["call"])["params"][self.KEY]
        before = [c for c in self.calls if c["params"].get(self.KEY) == key and c["seq"] < violation["call"]]
        return all(is_lost(c) or self._died_at(c) for c in before)


class ShownByMatrix(ShownOnce):
    KEY = "txn"

    def __init__(self, fake, kills, clock):
        calls = [c for c in fake.record() if c["kind"] == "call" and _made(c)]
        # Of a message that is gone only its sending tells what it answered.
        self._questions = {_made(c): _replied_to(c) for c in calls if c["method"] == "send"}
        super().__init__(fake, kills, clock)

    def question_of(self, call):
        params = call["params"]
        if call["method"] == "send":
            return _replied_to(call)
        about = params.get("event") or (params.get("m.relates_to") or {}).get("event_id")
        return self._questions.get(about, about)

    def answers_to(self, message):
        return message["reply_to"]

    def edited(self, call):
        is_edit = call["method"] == "edit"
        return (call["chat"], call["params"]["m.relates_to"]["event_id"]) if is_edit else None

    def is_outcome(self, message):
        return not message["silent"] and OUTCOME.search(message["text"] or "")

    def tells_outcome(self, call):
        is_text = call["method"] == "send" and call["params"].get("msgtype") == "m.text"
        return is_text and OUTCOME.search(call["text"] or "")

    def is_live(self, call):
        is_shown = call["method"] in ("send", "edit") and not _is_summary(call["text"])
        return is_shown and call["params"].get("msgtype") == "m.notice"

    def is_running(self, message):
        return message["silent"] and not _is_summary(message["text"])


class ShownByDiscord(ShownOnce):
    KEY = "nonce"

    def question_of(self, call):
        params = call["params"]
        reference = params.get("message_reference")
        if reference:
            return str(reference["message_id"])
        message = self.messages.get((str(call["chat"]), str(params.get("message"))))
        return str(message["reply_to"] or message["id"]) if message else None

    def answers_to(self, message):
        return message["reply_to"]

    def edited(self, call):
        is_edit = call["method"] == "edit"
        return (call["chat"], call["params"]["message"]) if is_edit else None

    def is_outcome(self, message):
        return not can_stop(message["components"]) and OUTCOME.search(message["text"] or "")

    def tells_outcome(self, call):
        is_text = call["method"] in ("post", "edit") and not self.is_live(call)
        return is_text and OUTCOME.search(call["text"] or "")

    def is_live(self, call):
        return can_stop(call["params"].get("components"))

    def is_running(self, message):
        return can_stop(message["components"])


def asks_for_id(violation):
    """A progress message with an unknown id is sent again with its transaction, with a different text."""
    asks = re.search(r"then '(Working…|Done\b[^']*)'\Z", violation["detail"])
    return violation["rule"] in ("txn-reused", "nonce-reused") and asks


def _is_summary(text):
    return (text or "").startswith("Done")


def _replied_to(call):
    relates = call["params"].get("m.relates_to") or {}
    return (relates.get("m.in_reply_to") or {}).get("event_id")


def is_lost(call):
    """Whether a scripted fault kept the reply from the host."""
    return "fault" in call and call.get("status", 200) != 200


def _read(value):
    return json.loads(value) if isinstance(value, str) else value


def _was_taken(call):
    """Whether the service accepted the call."""
    answer = call.get("answer")
    return call.get("done") and (answer is None or bool(answer.get("ok", "event_id" in answer or "id" in answer)))


def _made(call):
    """The id of the message that a call created, from its reply."""
    answer = call.get("answer") if call.get("status") == 200 else None
    if not isinstance(answer, dict) or not call.get("done"):
        return None
    result = answer.get("result", answer)
    if not isinstance(result, dict):
        return None
    return next((str(result[k]) for k in ("message_id", "ts", "event_id", "id") if k in result), None)
