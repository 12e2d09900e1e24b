# SPDX-License-Identifier: MIT
"""The methods of the Bot API that the fake supports, each with its known parameters."""

import re

import telegram_rich
from telegram_chats import BOT, DRAFT_SECONDS, TYPING_SECONDS
from telegram_text import (
    MAX_CAPTION,
    MAX_TEXT,
    Refused,
    encoded,
    formatted,
    inline_keyboard,
    integer,
    parsed,
)

MAX_UPLOAD, MAX_DOWNLOAD = 50 << 20, 20 << 20
QUERY_SECONDS = 15
NOT_MODIFIED = (
    "message is not modified: specified new message content and reply markup are exactly the "
    "same as a current content and reply markup of the message"
)
QUERY_TOO_OLD = "query is too old and response timeout expired or query ID is invalid"
REACTIONS = set(
    "👍 👎 ❤ 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤‍🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 💋 "
    "🖕 😈 😴 😭 🤓 👻 👨‍💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂ 🤷 🤷‍♀ "
    "😡".split()
)
ACTIONS = ("typing", "upload_photo", "record_video", "upload_video", "record_voice",
           "upload_voice", "upload_document", "choose_sticker", "find_location",
           "record_video_note", "upload_video_note")  # fmt: skip

_SEND = ("chat_id message_thread_id disable_notification protect_content reply_parameters "
         "reply_markup message_effect_id business_connection_id allow_paid_broadcast "
         "direct_messages_topic_id suggested_post_parameters "
         "ephemeral_message_parameters ")  # fmt: skip

# name: what it changes (write, draft, or nothing), parameters
METHODS = {
    "getMe": (None, ""),
    "getUpdates": ("poll", "offset limit timeout allowed_updates"),
    "setWebhook": (None, "url certificate ip_address max_connections allowed_updates "
                         "drop_pending_updates secret_token"),
    "deleteWebhook": (None, "drop_pending_updates"),
    "getWebhookInfo": (None, ""),
    "sendMessage": ("write", _SEND + "text parse_mode entities link_preview_options"),
    "sendRichMessage": ("write", _SEND + "rich_message"),
    "sendDocument": ("write", _SEND + "document thumbnail caption parse_mode caption_entities "
                     "disable_content_type_detection"),
    "editMessageText": ("write", "chat_id message_id text parse_mode entities rich_message "
                        "link_preview_options reply_markup business_connection_id "
                        "inline_message_id"),
    "editMessageReplyMarkup": ("write", "chat_id message_id reply_markup business_connection_id "
                               "inline_message_id"),
    "deleteMessage": ("write", "chat_id message_id"),
    "deleteMessages": ("write", "chat_id message_ids"),
    "sendMessageDraft": ("draft", "chat_id message_thread_id draft_id text parse_mode entities "
                         "can_stop keep_on_stop"),
    "sendRichMessageDraft": ("draft", "chat_id message_thread_id draft_id rich_message can_stop "
                             "keep_on_stop"),
    "sendChatAction": (None, "chat_id message_thread_id action business_connection_id"),
    "setMessageReaction": (None, "chat_id message_id reaction is_big"),
    "answerCallbackQuery": (None, "callback_query_id text show_alert url cache_time"),
    "setMyCommands": (None, "commands scope language_code"),
    "getMyCommands": (None, "scope language_code"),
    "deleteMyCommands": (None, "scope language_code"),
    "getFile": (None, "file_id"),
    "getChat": (None, "chat_id"),
}  # fmt: skip
BY_LOWER = {name.lower(): name for name in METHODS}


def truth(value):
    return value is True or str(value).lower() in ("true", "yes", "1")


class Methods:
    """`service` has chats, updates, record; each do_… is the method of that name."""

    def __init__(self, service):
        self.service = service
        self.chats = service.chats
        self.record = service.record
        self.commands = {}
        self.queries = {}  # open callback queries: id -> time of creation

    def do(self, call):
        known = METHODS[call.method][1].split()
        for name in set(call.params) - set(known):
            self.record.violate("bad-request", f"{call.method} has no parameter {name}")
        if call.params.get("parse_mode"):
            self.record.violate("parse-mode", f"{call.method} {call.params['parse_mode']}")
        return getattr(self, "do_" + re.sub("[A-Z]", lambda m: "_" + m[0].lower(), call.method))(
            call
        )

    # ---- parameters ----

    def _chat(self, call):
        value = call.params.get("chat_id", "")
        if value == "":
            raise Refused("chat_id is empty")
        if not re.fullmatch(r"-?\d+", str(value)):
            raise Refused("chat not found", rule=None)
        return self.chats.find(int(value))

    def _message(self, call, chat, missing):
        if "message_id" not in call.params:
            raise Refused("message identifier is not specified")
        message = chat.find(integer(call.params["message_id"], "message_id"))
        if message is None:
            raise Refused(missing, rule=None)
        return message

    def _text(self, call, name, limit, empty_is_fine=False):
        entities_name = "entities" if name == "text" else "caption_entities"
        text = call.params.get(name, "")
        text = text if isinstance(text, str) else str(text)
        entities = parsed(call.params.get(entities_name) or [], "entities", list)
        objections = []
        result = formatted(text, entities, limit, objections, empty_is_fine=empty_is_fine)
        for rule, detail in objections:
            self.record.violate(rule, detail)
        return result

    def _thread(self, call, chat, for_action=False):
        if call.params.get("message_thread_id") in (None, "", 0, "0"):
            return None
        thread = integer(call.params["message_thread_id"], "message_thread_id")
        if not chat.has_topic(thread) or (thread == 1 and not for_action):
            raise Refused("message thread not found", rule="bad-request" if thread == 1 else None)
        return thread

    def _reply(self, call, chat):
        if not call.params.get("reply_parameters"):
            return None
        asked = parsed(call.params["reply_parameters"], "reply parameters", dict)
        unknown = set(asked) - set(
            "message_id chat_id allow_sending_without_reply quote quote_parse_mode "
            "quote_entities quote_position checklist_task_id poll_option_id".split()
        )
        if unknown:
            raise Refused(f"can't parse reply parameters: unknown {sorted(unknown)}")
        for name in ("allow_sending_without_reply",):
            if not isinstance(asked.get(name, False), bool):
                raise Refused(f"can't parse reply parameters: field \"{name}\" must be Boolean")
        may_fail = asked.get("allow_sending_without_reply", False)
        if not may_fail:
            self.record.violate("no-allow-sending", f"{call.method} in {chat.id}")
        message = chat.find(integer(asked.get("message_id", ""), "message_id"))
        if message is None:
            if may_fail:
                return None
            raise Refused("message to be replied not found", rule=None)
        self._check_quote(asked.get("quote"), message)
        return message

    def _check_quote(self, quote, message):
        if quote is None:
            return
        if len(quote) > 1024 or quote not in message.text:
            raise Refused("QUOTE_TEXT_INVALID")

    def _markup(self, call, only_inline=False):
        value = call.params.get("reply_markup")
        if value in (None, ""):
            return None
        markup = parsed(value, "reply keyboard markup", dict)
        if "inline_keyboard" in markup:
            return inline_keyboard(markup)
        if only_inline or not set(markup) & {"keyboard", "remove_keyboard", "force_reply"}:
            raise Refused("inline keyboard expected")
        return None

    def _send(self, call, message_of):
        """Sends a new message of the bot after all checks."""
        chat = self._chat(call)
        chat.check_open()
        thread = self._thread(call, chat)
        reply_to = self._reply(call, chat)
        markup = self._markup(call)
        fill = message_of(chat)
        message = chat.add(BOT, thread)
        message.reply_to, message.markup = reply_to, markup
        message.silent = truth(call.params.get("disable_notification"))
        fill(message)
        chat.forget_typing(thread)
        return message.api()

    # ---- messages ----

    def do_send_message(self, call):
        if call.params.get("link_preview_options"):
            parsed(call.params["link_preview_options"], "link preview options", dict)

        def message_of(chat):
            text, entities = self._text(call, "text", MAX_TEXT)

            def fill(message):
                message.text, message.entities = text, entities

            return fill

        return self._send(call, message_of)

    def do_send_rich_message(self, call):
        def message_of(chat):
            rich, text = telegram_rich.checked(call.params.get("rich_message", ""))

            def fill(message):
                message.rich, message.text = rich, text

            return fill

        return self._send(call, message_of)

    def _document(self, call):
        if "document" in call.files:
            name, data, kind = call.files["document"]
            if len(data) > MAX_UPLOAD:
                raise Refused("", 413)
            if not data:
                raise Refused("file must be non-empty")
            return self.chats.keep_file(name, kind, data)
        number = str(call.params.get("document", ""))
        if number.startswith("attach://") and number[9:] in call.files:
            name, data, kind = call.files[number[9:]]
            return self.chats.keep_file(name, kind, data)
        if number in self.chats.files:
            return self.chats.describe_file(number)
        if not number:
            raise Refused("there is no document in the request")
        raise Refused("wrong file identifier/HTTP URL specified")

    def do_send_document(self, call):
        def message_of(chat):
            caption, entities = self._text(call, "caption", MAX_CAPTION, empty_is_fine=True)
            document = self._document(call)

            def fill(message):
                message.text, message.entities, message.document = caption, entities, document

            return fill

        return self._send(call, message_of)

    def _editable(self, call):
        chat = self._chat(call)
        chat.check_open()
        message = self._message(call, chat, "message to edit not found")
        if not message.by_bot():
            raise Refused("message can't be edited")
        return chat, message

    def _change(self, call, message, text, entities, rich, markup):
        if (text, entities, markup, rich) == message.shape():
            self.record.violate("same-text", f"{call.method} of {message.id} in {call.chat}")
            raise Refused(NOT_MODIFIED, rule=None)
        self.service.text_changed(message.chat.id, message.id, message.text, text)
        message.text, message.entities, message.rich = text, entities, rich
        message.markup = markup
        message.edits += 1
        return message.api()

    def do_edit_message_text(self, call):
        _, message = self._editable(call)
        if message.document:
            raise Refused("there is no text in the message to edit")
        markup = self._markup(call, only_inline=True)
        if call.params.get("rich_message"):
            rich, text = telegram_rich.checked(call.params["rich_message"])
            return self._change(call, message, text, [], rich, markup)
        text, entities = self._text(call, "text", MAX_TEXT)
        return self._change(call, message, text, entities, None, markup)

    def do_edit_message_reply_markup(self, call):
        _, message = self._editable(call)
        markup = self._markup(call, only_inline=True)
        return self._change(call, message, message.text, message.entities, message.rich, markup)

    def _delete(self, message):
        if not message.by_bot() and message.chat.kind != "private":
            raise Refused("message can't be deleted")
        message.deleted = True
        if message.by_bot():
            self.service.text_changed(message.chat.id, message.id, message.text, None)

    def do_delete_message(self, call):
        chat = self._chat(call)
        self._delete(self._message(call, chat, "message to delete not found"))
        return True

    def do_delete_messages(self, call):
        chat = self._chat(call)
        numbers = parsed(call.params.get("message_ids", ""), "message_ids", list)
        if not 1 <= len(numbers) <= 100:
            raise Refused("there must be from 1 to 100 message identifiers")
        for message in filter(None, (chat.find(integer(n, "message_id")) for n in numbers)):
            self._delete(message)
        return True

    # ---- drafts, typing, reactions ----

    def _draft(self, call, text):
        chat = self._chat(call)
        if chat.kind != "private":
            raise Refused("TEXTDRAFT_PEER_INVALID")
        chat.check_open()
        self._thread(call, chat)
        number = integer(call.params.get("draft_id", 0), "draft_id")
        if number == 0 or not -(1 << 63) <= number < 1 << 63:
            raise Refused("RANDOM_ID_INVALID")
        until = self.record.now() + self.service.seconds(DRAFT_SECONDS)
        chat.draft = (number, text, until)
        return True

    def do_send_message_draft(self, call):
        return self._draft(call, self._text(call, "text", MAX_TEXT, empty_is_fine=True)[0])

    def do_send_rich_message_draft(self, call):
        rich = call.params.get("rich_message", "")
        return self._draft(call, telegram_rich.checked(rich, draft=True)[1])

    def do_send_chat_action(self, call):
        chat = self._chat(call)
        chat.check_open()
        thread = self._thread(call, chat, for_action=True)
        if call.params.get("action") not in ACTIONS:
            raise Refused("wrong parameter action in request")
        until = self.record.now() + self.service.seconds(TYPING_SECONDS)
        chat.typing_until[None if thread == 1 else thread] = until
        # A request that waits for the end of typing must check it again.
        self.service.timers.after(TYPING_SECONDS, lambda: None)
        return True

    def do_set_message_reaction(self, call):
        chat = self._chat(call)
        chat.check_open()
        message = self._message(call, chat, "message to react not found")
        reactions = parsed(call.params.get("reaction") or [], "reaction", list)
        if len(reactions) > 1:
            raise Refused("REACTIONS_TOO_MANY")
        for reaction in reactions:
            if not isinstance(reaction, dict) or reaction.get("type") != "emoji":
                raise Refused("REACTION_INVALID")
            if reaction.get("emoji") not in REACTIONS:
                raise Refused("REACTION_INVALID")
        message.reactions.pop(BOT["id"], None)
        if reactions:
            message.reactions[BOT["id"]] = reactions[0]["emoji"]
        return True

    # ---- other methods ----

    def do_answer_callback_query(self, call):
        number = str(call.params.get("callback_query_id", ""))
        made = self.queries.pop(number, None)
        if len(encoded(str(call.params.get("text", "")))) > 200:
            raise Refused("MESSAGE_TOO_LONG")
        if made is None or self.record.now() - made > self.service.seconds(QUERY_SECONDS):
            self.record.violate("late-answer", f"callback query {number}")
            raise Refused(QUERY_TOO_OLD, rule=None)
        return True

    def do_set_my_commands(self, call):
        commands = parsed(call.params.get("commands", ""), "commands", list)
        if len(commands) > 100:
            raise Refused("BOT_COMMANDS_TOO_MUCH")
        for command in commands:
            if not re.fullmatch(r"[a-z0-9_]{1,32}", str(command.get("command"))):
                raise Refused("BOT_COMMAND_INVALID")
            if not 1 <= len(str(command.get("description", ""))) <= 256:
                raise Refused("BOT_COMMAND_DESCRIPTION_INVALID")
        self.commands[str(call.params.get("scope", ""))] = commands
        return True

    def do_get_my_commands(self, call):
        return self.commands.get(str(call.params.get("scope", "")), [])

    def do_delete_my_commands(self, call):
        self.commands.pop(str(call.params.get("scope", "")), None)
        return True

    def do_get_file(self, call):
        number = str(call.params.get("file_id", ""))
        if number not in self.chats.files:
            raise Refused("invalid file_id" if number else "file_id not specified")
        file = self.chats.describe_file(number)
        if file["file_size"] > MAX_DOWNLOAD:
            raise Refused("file is too big", rule=None)
        return {
            "file_id": number,
            "file_unique_id": file["file_unique_id"],
            "file_size": file["file_size"],
            "file_path": f"documents/{number}",
        }

    def do_get_chat(self, call):
        return self._chat(call).api()

    def do_get_me(self, call):
        return {
            **BOT,
            "can_join_groups": True,
            "can_read_all_group_messages": False,
            "supports_inline_queries": False,
            "has_topics_enabled": self.service.topics,
        }

    def do_get_updates(self, call):
        return self.service.updates.get(call)

    def do_set_webhook(self, call):
        return self.service.updates.set_webhook(call)

    def do_delete_webhook(self, call):
        return self.service.updates.delete_webhook(call)

    def do_get_webhook_info(self, call):
        return self.service.updates.info(call)
