# SPDX-License-Identifier: MIT
"""Interactive elements of blocks in Slack: their limits, and their state."""

PLAIN, MARKED = ("plain_text",), ("plain_text", "mrkdwn")
CHOICES = {  # the maximum of options, and their kinds of text
    "radio_buttons": (10, MARKED),
    "checkboxes": (10, MARKED),
    "static_select": (100, PLAIN),
    "multi_static_select": (100, PLAIN),
    "overflow": (5, PLAIN),
}
SEVERAL = ("checkboxes", "multi_static_select")
PLACES = {
    "actions": ("button", "static_select", "radio_buttons", "checkboxes", "overflow"),
    "section": ("button", "image", *CHOICES),
    "input": ("plain_text_input", "static_select", "multi_static_select", "radio_buttons",
              "checkboxes"),
}  # fmt: skip
CONFIRM = {"title": 100, "text": 300, "confirm": 30, "deny": 30}
RICH = ("rich_text_section", "rich_text_list", "rich_text_preformatted", "rich_text_quote")
RUNS = ("text", "link", "emoji", "user", "channel", "usergroup", "date", "broadcast", "color")
STYLES = {"bold", "italic", "strike", "code", "underline", "highlight"}


class ElementCheck:
    """`_refuse(what)` and `_text(value, limit, kinds)` are those of the blocks."""

    def _element(self, element, place):
        if not isinstance(element, dict) or element.get("type") not in PLACES[place]:
            self._refuse("invalid element")
        for name, limit in (("action_id", 255), ("value", 2000), ("url", 3000)):
            if len(element.get(name, "")) > limit:
                self._refuse(f"{name} must be less than {limit + 1} characters")
        if "placeholder" in element:
            self._text(element["placeholder"], 150, PLAIN)
        if "confirm" in element:
            for name, limit in CONFIRM.items():
                self._text(element["confirm"].get(name), limit, MARKED if name == "text" else PLAIN)
        if element["type"] in CHOICES:
            self._options(element)
        elif element["type"] == "button":
            self._text(element.get("text"), 75, PLAIN)
            if element.get("style", "primary") not in ("primary", "danger"):
                self._refuse("invalid style")
        elif not 1 <= element.get("max_length", 3000) <= 3000:
            self._refuse("invalid max_length")

    def _options(self, element):
        limit, kinds = CHOICES[element["type"]]
        options = element.get("options")
        if not isinstance(options, list) or not 1 <= len(options) <= limit:
            self._refuse(f"from 1 to {limit} options allowed")
        for option in options:
            self._text(option.get("text"), 75, kinds)
            if not isinstance(option.get("value"), str) or not 1 <= len(option["value"]) <= 150:
                self._refuse("value must be from 1 to 150 characters")
            if "description" in option:
                self._text(option["description"], 75, kinds)
        if len({option["value"] for option in options}) < len(options):
            self._refuse("options have the same value")

    def _ids(self, elements):
        ids = [e["action_id"] for e in elements if "action_id" in e]
        if len(set(ids)) < len(ids):
            self._refuse("action_id is not unique")

    def _input(self, block):
        self._text(block["label"], 2000, PLAIN)
        if "hint" in block:
            self._text(block["hint"], 2000, PLAIN)
        self._element(block["element"], "input")

    def _rich_text(self, block):
        for part in block["elements"]:
            if not isinstance(part, dict) or part.get("type") not in RICH:
                self._refuse("unsupported element of rich text")
            if part["type"] == "rich_text_list":
                if part.get("style") not in ("bullet", "ordered"):
                    self._refuse("invalid style")
                self._rich_text(part)
            else:
                for run in part.get("elements", []):
                    self._run(run)

    def _run(self, run):
        if not isinstance(run, dict) or run.get("type") not in RUNS:
            self._refuse("unsupported element of rich text")
        if run["type"] == "text" and not (isinstance(run.get("text"), str) and run["text"]):
            self._refuse("must be more than 0 characters")
        style = run.get("style", {})
        if not isinstance(style, dict) or set(style) - STYLES:
            self._refuse("invalid style")


def state_of(blocks, filled):
    """state.values of a message; filled: {block_id: the input of a user}."""
    values = {}
    for block in blocks:
        if block["type"] == "input":
            element, chosen = block["element"], filled.get(block["block_id"])
            state = {"type": element["type"], **_chosen(element, chosen)}
            values[block["block_id"]] = {element["action_id"]: state}
    return values


def _chosen(element, chosen):
    if element["type"] not in CHOICES:
        return {"value": chosen}
    if element["type"] in SEVERAL:
        return {"selected_options": [_option(element, one) for one in chosen or []]}
    return {"selected_option": _option(element, chosen) if chosen is not None else None}


def _option(element, text):
    """Users select options by their texts, not their values."""
    return next(option for option in element["options"] if option["text"]["text"] == text)
