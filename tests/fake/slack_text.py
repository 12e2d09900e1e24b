# SPDX-License-Identifier: MIT
"""The checks of Slack for texts and blocks: sizes, formats, and the users that they notify."""

import json
import re

from slack_elements import ElementCheck

MAX_TEXT, MAX_UPDATE_BYTES, MAX_MARKDOWN, MAX_BLOCKS = 40000, 4000, 12000, 50
MAX_ID, MAX_METADATA = 255, 8000
MAX_BLOCKS_BYTES = 13200  # undocumented; measured by others
MASS = re.compile(r"<!(?:channel|here|everyone|group)(?:\|[^>]*)?>|<!subteam\^")

# type: required fields
BLOCKS = {
    "actions": ("elements",),
    "alert": ("text",),
    "card": (),
    "carousel": ("elements",),
    "context": ("elements",),
    "context_actions": ("elements",),
    "data_table": (),
    "divider": (),
    "file": ("external_id",),
    "header": ("text",),
    "image": ("alt_text",),
    "input": ("label", "element"),
    "markdown": ("text",),
    "plan": ("title",),
    "rich_text": ("elements",),
    "section": (),
    "table": ("rows",),
    "task_card": ("task_id", "title"),
    "video": ("alt_text", "title", "video_url"),
}
MAX_ELEMENTS = {"actions": 25, "context": 10, "context_actions": 5}


class Refused(Exception):
    """ok:false. `rule`: the name of the violation, or None if a correct client may get the
    error."""

    def __init__(self, error, *messages, rule="bad-request", **more):
        super().__init__(error)
        self.error = error
        self.rule = rule
        self.more = more
        if messages:
            self.more["response_metadata"] = {"messages": [f"[ERROR] {m}" for m in messages]}


def escaped_size(text):
    """The bytes of a text as Slack stores it: `&`, `<` and `>` outside of markup are escaped."""
    parts = re.split(r"(<[^<>\s][^<>]*>|&(?:amp|lt|gt);)", text)
    plain = "".join(parts[::2])
    plain = plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return len(plain.encode()) + len("".join(parts[1::2]).encode())


def parsed(value, error, kind):
    """Parses an argument that is JSON, or a JSON string in forms."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            raise Refused(error, "it is no JSON") from None
    if not isinstance(value, kind):
        raise Refused(error, "it is of the wrong type")
    return value


def truth(value):
    return value is True or str(value).lower() in ("true", "1")


class BlockCheck(ElementCheck):
    """Checks all blocks of one message."""

    def __init__(self, error="invalid_blocks"):
        self._error = error
        self._block_ids = set()
        self._where = ""

    def _refuse(self, what):
        raise Refused(self._error, f"{what} [json-pointer:{self._where}]")

    def all(self, blocks):
        if len(blocks) > MAX_BLOCKS:
            self._where = "/blocks"
            self._refuse("no more than 50 items allowed")
        markdown = 0
        for number, block in enumerate(blocks):
            self._where = f"/blocks/{number}"
            self._one(block)
            if block["type"] == "markdown":
                markdown += len(block["text"])
        told = len(json.dumps(blocks, ensure_ascii=False, separators=(",", ":")))
        if not markdown and told > MAX_BLOCKS_BYTES:
            raise Refused("msg_blocks_too_long", f"{told} characters")
        if markdown > MAX_MARKDOWN:
            raise Refused("msg_blocks_too_long", "markdown blocks hold more than 12000 characters")
        return blocks

    def _one(self, block):
        if not isinstance(block, dict) or block.get("type") not in BLOCKS:
            self._refuse("unsupported type")
        for name in BLOCKS[block["type"]]:
            if name not in block:
                self._refuse(f"missing required field: {name}")
        number = block.get("block_id")
        if number is not None:
            if number in self._block_ids or len(number) > MAX_ID:
                self._refuse("invalid block_id")
            self._block_ids.add(number)
        getattr(self, f"_{block['type']}", lambda _: None)(block)

    def _text(self, value, limit, kinds=("plain_text", "mrkdwn")):
        if not isinstance(value, dict) or value.get("type") not in kinds:
            self._refuse("invalid text object")
        text = value.get("text")
        if not isinstance(text, str) or not text:
            self._refuse("must be more than 0 characters")
        if len(text) > limit:
            self._refuse(f"must be less than {limit + 1} characters")

    def _section(self, block):
        if "text" not in block and not block.get("fields"):
            self._refuse("missing required field: text")
        if "text" in block:
            self._text(block["text"], 3000)
        if len(block.get("fields", [])) > 10:
            self._refuse("no more than 10 items allowed")
        for field in block.get("fields", []):
            self._text(field, 2000)
        if "accessory" in block:
            self._element(block["accessory"], "section")

    def _header(self, block):
        self._text(block["text"], 150, ("plain_text",))

    def _markdown(self, block):
        if not isinstance(block["text"], str) or not block["text"]:
            self._refuse("must be more than 0 characters")

    def _elements(self, block):
        elements = block["elements"]
        limit = MAX_ELEMENTS[block["type"]]
        if not isinstance(elements, list) or not 1 <= len(elements) <= limit:
            self._refuse(f"from 1 to {limit} items allowed")
        return elements

    def _actions(self, block):
        for element in self._elements(block):
            self._element(element, "actions")
        self._ids(block["elements"])

    def _context(self, block):
        for element in self._elements(block):
            if element.get("type") != "image":
                self._text(element, 3000)

    def _table(self, block):
        rows = block["rows"]
        if not isinstance(rows, list) or not 1 <= len(rows) <= 100:
            self._refuse("from 1 to 100 rows allowed")
        if any(not isinstance(row, list) or len(row) > 20 for row in rows):
            self._refuse("no more than 20 cells allowed")


def words(value):
    """All text in blocks or chunks."""
    if isinstance(value, list):
        return "\n".join(filter(None, map(words, value)))
    if not isinstance(value, dict):
        return ""
    texts = []
    for name, inner in value.items():
        if isinstance(inner, str):
            if name in ("text", "title", "details", "output") and value.get("type") != "url":
                texts.append(inner)
        else:
            texts.append(words(inner))
    return "\n".join(filter(None, texts))


def waking(blocks):
    """The text that may notify users: rich text never contains markup."""
    return words([block for block in blocks if block["type"] != "rich_text"])


def buttons(blocks):
    """Rows of buttons as a user sees them."""
    rows = []
    for block in blocks:
        elements = block.get("elements", []) if block["type"] == "actions" else []
        elements = elements + ([block["accessory"]] if "accessory" in block else [])
        row = [e for e in elements if e.get("type") == "button"]
        if row:
            rows.append((block, row))
    return rows


CHUNKS = {
    "markdown_text": ("text",),
    "task_update": ("id", "title", "status"),
    "plan_update": ("title",),
    "blocks": ("blocks",),
}
STATES = ("pending", "in_progress", "complete", "error")


def checked_chunks(value, tasks):
    chunks = parsed(value, "invalid_chunks", list)
    for chunk in chunks:
        if not isinstance(chunk, dict) or chunk.get("type") not in CHUNKS:
            raise Refused("invalid_chunks", "unsupported type")
        for name in CHUNKS[chunk["type"]]:
            if name not in chunk:
                raise Refused("invalid_chunks", f"missing required field: {name}")
        if chunk["type"] == "task_update":
            if chunk["status"] not in STATES:
                raise Refused("invalid_chunks", "unsupported status")
            if not tasks:
                raise Refused("invalid_chunks", "task_update is for agents", rule=None)
        if chunk["type"] == "blocks":
            BlockCheck().all(chunk["blocks"])
    return chunks
