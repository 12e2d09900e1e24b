# SPDX-License-Identifier: MIT
"""The limits of rich messages of Telegram."""

from telegram_text import Refused, encoded, parsed

MAX_CHARS, MAX_BLOCKS, MAX_DEPTH, MAX_COLUMNS, MAX_MEDIA = 32768, 500, 16, 20, 50
BLOCKS = ("paragraph", "heading", "pre", "footer", "divider", "mathematical_expression", "anchor",
          "list", "blockquote", "expandable_blockquote", "pullquote", "collage", "slideshow",
          "table", "details", "map", "animation", "audio", "document", "photo", "video",
          "voice_note", "buttons", "thinking")  # fmt: skip


class _Count:
    def __init__(self, draft):
        self.chars = 0
        self.blocks = 0
        self.draft = draft

    def text(self, value):
        """Counts rich text: a string, an array of it, or an object with `text`."""
        if isinstance(value, str):
            self.chars += len(encoded(value))
        elif isinstance(value, list):
            for item in value:
                self.text(item)
        elif isinstance(value, dict) and isinstance(value.get("type"), str):
            self.text(value.get("text", ""))
        else:
            raise Refused("can't parse RichText: wrong type")

    def block(self, value, depth):
        if not isinstance(value, dict) or value.get("type") not in BLOCKS:
            raise Refused("can't parse InputRichBlock: unsupported type specified")
        if value["type"] == "thinking" and not self.draft:
            raise Refused("RICH_BLOCK_THINKING_INVALID")
        self.blocks += 1
        if depth > MAX_DEPTH:
            raise Refused("RICH_MESSAGE_TOO_DEEP")
        for name in ("text", "summary", "caption", "credit"):
            if name in value:
                self.text(value[name])
        if value["type"] == "heading" and value.get("size") not in range(1, 7):
            raise Refused("RICH_BLOCK_HEADING_INVALID")
        if value["type"] == "table":
            self.table(value)
        for inner in value.get("blocks", []):
            self.block(inner, depth + 1)
        for item in value.get("items", []) if value["type"] == "list" else []:
            for inner in item.get("blocks", []):
                self.block(inner, depth + 1)

    def table(self, value):
        rows = value.get("cells")
        if not isinstance(rows, list) or any(not isinstance(row, list) for row in rows):
            raise Refused("can't parse InputRichBlockTable: wrong type of cells")
        for row in rows:
            if sum(cell.get("colspan", 1) for cell in row) > MAX_COLUMNS:
                raise Refused("RICH_TABLE_COLUMNS_TOO_MUCH")
            for cell in row:
                self.text(cell.get("text", ""))


def _plain(value):
    """The plain text, which tests search."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(_plain(item) + ("\n" if isinstance(item, dict) and "blocks" in item else "")
                       for item in value)  # fmt: skip
    if isinstance(value, dict):
        names = ("text", "summary", "blocks", "items", "cells", "caption")
        return "\n".join(_plain(value[name]) for name in names if name in value)
    return ""


def checked(value, draft=False):
    """Returns the rich message and its text."""
    rich = parsed(value, "rich message", dict)
    forms = [name for name in ("blocks", "html", "markdown") if name in rich]
    if len(forms) != 1:
        raise Refused("exactly one of blocks, html and markdown must be specified")
    unknown = set(rich) - {*forms, "media", "is_rtl", "skip_entity_detection"}
    if unknown:
        raise Refused(f"unknown fields of a rich message: {sorted(unknown)}")
    if len(rich.get("media", [])) > MAX_MEDIA:
        raise Refused("RICH_MEDIA_TOO_MUCH")
    count = _Count(draft)
    if forms == ["blocks"]:
        if not isinstance(rich["blocks"], list):
            raise Refused("can't parse rich message: blocks must be an Array")
        for block in rich["blocks"]:
            count.block(block, 1)
        text = "\n".join(_plain(block) for block in rich["blocks"])
    else:
        text = rich[forms[0]]
        count.text(text)
    if not count.chars and not draft:
        raise Refused("message text is empty")
    if count.chars > MAX_CHARS:
        raise Refused("MESSAGE_TOO_LONG")
    if count.blocks > MAX_BLOCKS:
        raise Refused("RICH_BLOCKS_TOO_MUCH")
    return rich, text
