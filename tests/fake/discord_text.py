# SPDX-License-Identifier: MIT
"""The checks of Discord for the body of a message, and the texts of its refusals."""

import re

MAX_CONTENT, MAX_NONCE, MAX_COMPONENTS = 2000, 25, 40
CREATE_FLAGS = 4 | 4096 | 64 | (1 << 13) | (1 << 15)
COMMAND_NAME = re.compile(r"^[-_'\w]{1,32}$")


class Refused(Exception):
    def __init__(self, status, code, message, rule="bad-request", **more):
        super().__init__(f"{code}: {message} {more}")
        self.status, self.rule = status, rule
        self.body = {"message": message, "code": code, **more}


def invalid(field, code, words):
    """Error 50035 with the name of the invalid field."""
    errors = {"_errors": [{"code": code, "message": words}]}
    for name in reversed(field.split(".")):
        errors = {name: errors}
    return Refused(400, 50035, "Invalid Form Body", errors=errors)


def check_content(body):
    text = body.get("content")
    if text is None:
        return
    if not isinstance(text, str):
        raise invalid("content", "STRING_TYPE_CONVERT", "Could not interpret as string.")
    if len(text) > MAX_CONTENT:
        words = f"Must be {MAX_CONTENT} or fewer in length."
        raise invalid("content", "BASE_TYPE_MAX_LENGTH", words)


def check_nonce(body):
    nonce = body.get("nonce")
    if nonce is not None and len(str(nonce)) > MAX_NONCE:
        words = f"Must be {MAX_NONCE} or fewer in length."
        raise invalid("nonce", "NONCE_TYPE_TOO_LONG", words)


def _check_button(at, button, seen):
    label, data = button.get("label", ""), button.get("custom_id")
    if button.get("type") != 2 or button.get("style") not in (1, 2, 3, 4):
        raise invalid(f"{at}.style", "BASE_TYPE_CHOICES", "Value must be one of {1, 2, 3, 4}.")
    if not isinstance(label, str) or not 1 <= len(label) <= 80:
        raise invalid(f"{at}.label", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 80 in length.")
    if not isinstance(data, str) or not 1 <= len(data) <= 100:
        raise invalid(f"{at}.custom_id", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
    if data in seen:
        words = "Component custom id cannot be duplicated"
        raise invalid(f"{at}.custom_id", "COMPONENT_CUSTOM_ID_DUPLICATED", words)
    seen.add(data)


def check_components(body):
    rows, seen = body.get("components") or [], set()
    if len(rows) > 5:
        raise invalid("components", "BASE_TYPE_BAD_LENGTH", "Must be between 0 and 5 in length.")
    for i, row in enumerate(rows):
        inside = row.get("components") if isinstance(row, dict) else None
        if not inside or row.get("type") != 1 or len(inside) > 5:
            at = f"components.{i}.components"
            raise invalid(at, "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.")
        for j, button in enumerate(inside):
            _check_button(f"components.{i}.components.{j}", button, seen)


def check_mentions(body):
    allowed = body.get("allowed_mentions")
    if allowed is None:
        return
    parse = allowed.get("parse", [])
    if not set(parse) <= {"roles", "users", "everyone"}:
        at = "allowed_mentions.parse"
        raise invalid(at, "BASE_TYPE_CHOICES", "Value must be one of {'roles', 'users', 'everyone'}.")


def check_message(body):
    check_content(body)
    check_nonce(body)
    check_components(body)
    check_mentions(body)
    flags = body.get("flags") or 0
    if flags & ~CREATE_FLAGS:
        raise invalid("flags", "BASE_TYPE_FLAGS", "unknown flags")
    if flags & (1 << 15) and body.get("content"):
        raise invalid("content", "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2", "no content")


def pings(body, users):
    """The users that the text of a message notifies: their ids, and whether it notifies
    everybody."""
    text, allowed = body.get("content") or "", body.get("allowed_mentions")
    parse = ["roles", "users", "everyone"] if allowed is None else allowed.get("parse", [])
    named = {user for user in re.findall(r"<@!?(\d+)>", text) if user in users}
    rung = named if "users" in parse else named & set((allowed or {}).get("users", []))
    everyone = "everyone" in parse and bool(re.search(r"@(everyone|here)\b", text))
    return sorted(rung), everyone


def check_commands(commands):
    names = set()
    for i, one in enumerate(commands):
        name, help_ = one.get("name", ""), one.get("description", "")
        if not COMMAND_NAME.match(name) or name != name.lower():
            raise invalid(f"{i}.name", "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")
        if one.get("type", 1) == 1 and not 1 <= len(help_) <= 100:
            raise invalid(f"{i}.description", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
        if name in names:
            words = "Application command names must be unique"
            raise invalid(f"{i}", "APPLICATION_COMMANDS_DUPLICATE_NAME", words)
        names.add(name)
        for option in one.get("options", []):
            if not COMMAND_NAME.match(option["name"]) or not 1 <= len(option["description"]) <= 100:
                raise invalid(f"{i}.options", "APPLICATION_COMMAND_INVALID_NAME", "option")
    if len(commands) > 100:
        raise Refused(400, 30032, "Maximum number of application commands reached (100)")
