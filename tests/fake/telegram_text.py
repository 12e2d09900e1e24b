# SPDX-License-Identifier: MIT
"""The changes of Telegram to a text and its entities, and its refusals."""

import json
import re
from urllib.parse import urlsplit

MAX_TEXT, MAX_CAPTION, MAX_RAW_BYTES, MAX_ENTITIES = 4096, 1024, 32768, 100

NESTABLE = ("bold", "italic", "underline", "strikethrough", "spoiler")
QUOTES = ("blockquote", "expandable_blockquote")
CODES = ("code", "pre")
AUTOMATIC = ("mention", "hashtag", "cashtag", "bot_command", "url", "email", "phone_number")
KINDS = (*NESTABLE, *QUOTES, *CODES, *AUTOMATIC, "text_link", "text_mention", "custom_emoji",
         "date_time")  # fmt: skip

_DROPPED = "\r" + "".join(chr(c) for c in range(0x2028, 0x202F))
_BLANK = " \n\t\u00a0"


class Refused(Exception):
    """A refusal by the service. `rule`: the name of the violation; None: a correct client may get
    it."""

    def __init__(self, description, code=400, rule="bad-request", parameters=None):
        super().__init__(description)
        self.code = code
        self.rule = rule
        self.parameters = parameters

    def description(self):
        prefix = {400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
                  409: "Conflict", 413: "Request Entity Too Large"}[self.code]  # fmt: skip
        text = str(self)
        if not text:
            return prefix
        # The server begins the text of an inner error in lower case; constants stay unchanged.
        if not (text[1:2].isupper() or text[1:2] == "_"):
            text = text[:1].lower() + text[1:]
        return f"{prefix}: {text}"


def units(text):
    """The length in UTF-16."""
    return len(text.encode("utf-16-le")) // 2


def integer(value, what):
    """Returns a number, which may also be a string, as in the server."""
    if isinstance(value, bool) or not re.fullmatch(r"-?\d+", str(value)):
        raise Refused(f"{what} must be of type Number")
    return int(value)


def parsed(value, what, kind):
    """Returns a parameter that is JSON: an object in a JSON body, a string elsewhere."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            raise Refused(f"can't parse {what} JSON object") from None
    if not isinstance(value, kind):
        raise Refused(f"can't parse {what}: wrong type")
    return value


def encoded(text):
    """Refuses lone surrogates, which JSON permits and UTF-8 does not."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Refused("strings must be encoded in UTF-8") from None
    return text


def link_works(url):
    """Whether the service accepts the URL as a text_link; an invalid one makes the message
    invalid."""
    if not re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:", url):
        url = "http://" + url
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        parts.port  # noqa: B018: raises if it is not a number
    except ValueError:
        return False
    if parts.scheme.lower() in ("tg", "ton", "tonsite"):
        return True
    if parts.scheme.lower() not in ("http", "https"):
        return False
    if ":" in host:
        return True
    if "." not in host.strip(".") or re.search(r"[\s<>\"]", host):
        return False
    return all(host.split("."))


def _entity(value):
    if not isinstance(value, dict):
        raise Refused("can't parse MessageEntity: expected an Object")
    kind = value.get("type")
    if not isinstance(kind, str) or kind not in KINDS:
        raise Refused(f"can't parse MessageEntity: unsupported type {kind!r} specified")
    for field in ("offset", "length"):
        if field not in value:
            raise Refused(f"can't parse MessageEntity: can't find field \"{field}\"")
    entity = dict(value)
    entity["offset"] = integer(value["offset"], 'can\'t parse MessageEntity: field "offset"')
    entity["length"] = integer(value["length"], 'can\'t parse MessageEntity: field "length"')
    for field in ("offset", "length"):
        if not 0 <= entity[field] <= 1000000:
            raise Refused(f"Receive an entity with incorrect {field} {entity[field]}")
    if kind == "text_link":
        if not isinstance(value.get("url"), str):
            raise Refused('can\'t parse MessageEntity: can\'t find field "url"')
        if not link_works(value["url"]):
            raise Refused(f"Wrong message entity: URL '{value['url']}' is invalid: Wrong HTTP URL")
    if not isinstance(value.get("language", ""), str):
        raise Refused('can\'t parse MessageEntity: field "language" must be of type String')
    return entity


def _check_ends(text, entities):
    size = units(text)
    starts, offset = set(), 0
    for char in text:
        starts.add(offset)
        offset += 2 if ord(char) > 0xFFFF else 1
    starts.add(size)
    for entity in entities:
        begin, end = entity["offset"], entity["offset"] + entity["length"]
        if begin > size or (begin == size and entity["length"]):
            raise Refused(f"Entity begins after the end of the text at UTF-16 offset {begin}")
        if end > size:
            raise Refused(
                f"Entity beginning at UTF-16 offset {begin} ends after the end of the text "
                f"at UTF-16 offset {end}"
            )
        if begin not in starts:
            raise Refused(f"Entity begins in a middle of a UTF-16 symbol at byte offset {begin}")
        if end not in starts:
            raise Refused(
                f"Entity beginning at UTF-16 offset {begin} ends in a middle of a UTF-16 symbol "
                f"at byte offset {end}"
            )


def _clean(text, entities):
    """Control characters become spaces or are dropped; whitespace at both ends is removed."""
    kept, places, offset = [], {}, 0  # places: UTF-16 offset before -> after
    after = 0
    for char in text:
        places[offset] = after
        offset += 2 if ord(char) > 0xFFFF else 1
        if char in _DROPPED:
            continue
        kept.append(" " if char < " " and char != "\n" else char)
        after += 2 if ord(char) > 0xFFFF else 1
    places[offset] = after
    cleaned = "".join(kept)
    left = units(cleaned) - units(cleaned.lstrip(_BLANK))
    cleaned = cleaned.strip(_BLANK)
    size = units(cleaned)
    moved = []
    for entity in entities:
        begin = min(max(places[entity["offset"]] - left, 0), size)
        end = min(max(places[entity["offset"] + entity["length"]] - left, 0), size)
        if end > begin:
            moved.append({**entity, "offset": begin, "length": end - begin})
    return cleaned, moved


def _overlap(one, other):
    return (
        one["offset"] < other["offset"] + other["length"]
        and other["offset"] < one["offset"] + one["length"]
    )


def _nests(outer, inner):
    """Whether `inner`, which begins inside `outer`, is permitted."""
    if outer["type"] in CODES or inner["type"] in CODES:
        # A code block is permitted within a quote; no other entity may overlap code.
        return outer["type"] in QUOTES and inner["type"] in CODES
    if outer["type"] in QUOTES and inner["type"] in QUOTES:
        return False
    if outer["type"] in NESTABLE or inner["type"] in NESTABLE:
        return True
    inside = inner["offset"] + inner["length"] <= outer["offset"] + outer["length"]
    return inside and outer["type"] in QUOTES


def _order(entity):
    return (entity["offset"], -entity["length"], KINDS.index(entity["type"]) in range(5))


def _nest(entities, objections):
    taken = []
    for entity in sorted(entities, key=_order):
        clash = next((o for o in taken if _overlap(o, entity) and not _nests(o, entity)), None)
        if clash is None:
            taken.append(entity)
        else:
            objections.append(("bad-entity", f"{entity['type']} over {clash['type']} is dropped"))
    return taken


def _limit(entities, objections):
    counted = [e for e in entities if e["type"] != "custom_emoji"]
    if len(counted) <= MAX_ENTITIES:
        return entities
    objections.append(("entities-dropped", f"{len(counted)} entities, 100 are kept"))
    firm = [e for e in counted if e["type"] not in NESTABLE]
    soft = [e for e in counted if e["type"] in NESTABLE]
    kept = (firm + soft)[:MAX_ENTITIES]
    return [e for e in entities if e["type"] == "custom_emoji" or e in kept]


def formatted(text, entities, limit, objections, what="message text", empty_is_fine=False):
    """Returns text and entities as users see them. `objections`: violations that are not
    refused."""
    encoded(text)
    if len(text.encode()) > MAX_RAW_BYTES:
        raise Refused("Text is too long")
    checked = [_entity(value) for value in entities]
    _check_ends(text, checked)
    for entity in checked:
        if entity["length"] == 0:
            objections.append(("bad-entity", f"an empty {entity['type']}"))
    text, checked = _clean(text, checked)
    if not text and not empty_is_fine:
        raise Refused(f"{what} is empty")
    if len(text) > limit:
        raise Refused("message is too long" if limit == MAX_TEXT else "message caption is too long")
    return text, _limit(_nest(checked, objections), objections)


def found(text):
    """The entities that the service finds in a text of a user: commands and mentions."""
    entities = []
    for kind, pattern in (
        ("bot_command", r"(?:^|(?<=\s))/[A-Za-z0-9_]{1,64}(?:@\w+)?"),
        ("mention", r"(?:^|(?<=\s))@\w{4,32}"),
        ("url", r"https?://\S+"),
    ):
        for match in re.finditer(pattern, text):
            entities.append(
                {"type": kind, "offset": units(text[: match.start()]), "length": units(match[0])}
            )
    return sorted(entities, key=lambda entity: entity["offset"])


_STYLES = ("success", "danger", "primary")
_ACTIONS = ("url", "callback_data", "web_app", "login_url", "switch_inline_query", "copy_text",
            "switch_inline_query_current_chat", "switch_inline_query_chosen_chat")  # fmt: skip


def _button(button):
    if not isinstance(button, dict):
        raise Refused("can't parse inline keyboard button: expected an Object")
    label = button.get("text")
    if not isinstance(label, str):
        raise Refused('can\'t parse inline keyboard button: can\'t find field "text"')
    if not encoded(label).strip():
        raise Refused("inline keyboard button text must be non-empty")
    actions = [name for name in _ACTIONS if name in button]
    if len(actions) != 1:
        raise Refused("Text buttons are unallowed in the inline keyboard" if not actions
                      else "BUTTON_TYPE_INVALID")  # fmt: skip
    if "style" in button and button["style"] not in _STYLES:
        raise Refused("BUTTON_STYLE_INVALID")
    if "callback_data" in button:
        data = button["callback_data"]
        if not isinstance(data, str) or not 1 <= len(encoded(data).encode()) <= 64:
            raise Refused("BUTTON_DATA_INVALID")
    if "url" in button and not link_works(str(button["url"])):
        raise Refused(f"inline keyboard button URL '{button['url']}' is invalid: Wrong HTTP URL")
    unknown = set(button) - {"text", "style", "icon_custom_emoji_id", *_ACTIONS}
    if unknown:
        raise Refused(f"can't parse inline keyboard button: unknown {sorted(unknown)}")


def inline_keyboard(markup):
    """Checks an inline keyboard; an empty one is no keyboard."""
    rows = markup.get("inline_keyboard")
    if not isinstance(rows, list) or any(not isinstance(row, list) for row in rows):
        raise Refused('field "inline_keyboard" must be of type Array')
    buttons = [button for row in rows for button in row]
    for button in buttons:
        _button(button)
    if len(buttons) > 100 or any(len(row) > 8 for row in rows):
        raise Refused("REPLY_MARKUP_TOO_LONG")
    return {"inline_keyboard": [row for row in rows if row]} if buttons else None
