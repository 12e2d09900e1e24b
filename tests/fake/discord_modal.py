# SPDX-License-Identifier: MIT
"""Modals of the Discord fake: the checks of the service, and the input of users."""

from control import Unable
from discord_text import invalid

SELECT, TEXT_INPUT, LABEL = 3, 4, 18
MOST_OPTIONS, MOST_TEXT = 25, 4000


def _length(at, value, least, most):
    if not isinstance(value, str) or not least <= len(value) <= most:
        raise invalid(at, "BASE_TYPE_BAD_LENGTH", f"Must be between {least} and {most} in length.")


def _check_select(at, one):
    options, required = one.get("options") or [], one.get("required", True)
    if not 1 <= len(options) <= MOST_OPTIONS:
        raise invalid(f"{at}.options", "BASE_TYPE_BAD_LENGTH", f"Must be between 1 and {MOST_OPTIONS} in length.")
    for i, option in enumerate(options):
        _length(f"{at}.options.{i}.label", option.get("label"), 1, 100)
        _length(f"{at}.options.{i}.value", option.get("value"), 1, 100)
        _length(f"{at}.options.{i}.description", option.get("description", "x"), 1, 100)
    if len({option["value"] for option in options}) < len(options):
        raise invalid(f"{at}.options", "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED", "a value is duplicated")
    least, most = one.get("min_values", 1), one.get("max_values", 1)
    if not (required <= least <= most <= len(options)):
        raise invalid(f"{at}.min_values", "BASE_TYPE_CHOICES", "min_values and max_values do not fit")


def _check_text(at, one):
    least, most = one.get("min_length", 0), one.get("max_length", MOST_TEXT)
    if one.get("style") not in (1, 2) or "label" in one:
        raise invalid(f"{at}.style", "BASE_TYPE_CHOICES", "Value must be one of {1, 2}.")
    if not (0 <= least <= most and 1 <= most <= MOST_TEXT):
        raise invalid(f"{at}.max_length", "NUMBER_TYPE_MAX", f"int value should be at most {MOST_TEXT}.")


def check_modal(data):
    _length("custom_id", data.get("custom_id"), 1, 100)
    _length("title", data.get("title"), 1, 45)
    labels, seen = data.get("components") or [], set()
    if not 1 <= len(labels) <= 5:
        raise invalid("components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.")
    for i, label in enumerate(labels):
        at, one = f"components.{i}", label.get("component") or {}
        if label.get("type") != LABEL or one.get("type") not in (SELECT, TEXT_INPUT):
            raise invalid(f"{at}.type", "UNION_TYPE_CHOICES", "Value of field \"type\" must be one of (18,).")
        _length(f"{at}.label", label.get("label"), 1, 45)
        _length(f"{at}.component.custom_id", one.get("custom_id"), 1, 100)
        if one["custom_id"] in seen:
            words = "Component custom id cannot be duplicated"
            raise invalid(f"{at}.component.custom_id", "COMPONENT_CUSTOM_ID_DUPLICATED", words)
        seen.add(one["custom_id"])
        (_check_select if one["type"] == SELECT else _check_text)(f"{at}.component", one)


def _filled(one, given):
    """Returns what the client sends for an input. The value of a select is given by the labels of
    its options."""
    made = {"type": one["type"], "custom_id": one["custom_id"]}
    if one["type"] == TEXT_INPUT:
        text = given or ""
        if not isinstance(text, str) or (one.get("required", True) and not text):
            raise Unable(f"{one['custom_id']} wants a text")
        return {**made, "value": text}
    values = {option["label"]: option["value"] for option in one["options"]}
    chosen = given or []
    if set(chosen) - set(values) or not one.get("min_values", 1) <= len(chosen) <= one.get("max_values", 1):
        raise Unable(f"{one['custom_id']} does not offer {chosen}")
    return {**made, "values": [values[label] for label in chosen]}


def submission(modal, values):
    """Returns the data of the interaction for a filled modal."""
    inputs = [label["component"] for label in modal["components"]]
    unknown = set(values) - {one["custom_id"] for one in inputs}
    if unknown:
        raise Unable(f"the modal has no inputs {sorted(unknown)}")
    made = [
        {"type": LABEL, "id": 2 * i + 1, "component": {"id": 2 * i + 2, **_filled(one, values.get(one["custom_id"]))}}
        for i, one in enumerate(inputs)
    ]
    return {"custom_id": modal["custom_id"], "components": made}
