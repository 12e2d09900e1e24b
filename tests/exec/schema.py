# SPDX-License-Identifier: MIT
"""Checks messages against share/turncast-exec.schema.json: the parts of JSON Schema that it uses."""
import json
import pathlib

SHARE = pathlib.Path(__file__).resolve().parent.parent.parent / "share"
SCHEMA = json.loads((SHARE / "turncast-exec.schema.json").read_text())
TYPES = {"string": str, "integer": int, "boolean": bool, "object": dict, "array": list}


def _fault(value, schema):
    """What is wrong, or None."""
    types = schema.get("type")
    types = [types] if isinstance(types, str) else types
    if types and not any(isinstance(value, TYPES[t]) for t in types):
        return f"{value!r} is not {types}"
    if "const" in schema and value != schema["const"]:
        return f"{value!r} is not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{value!r} is not one of {schema['enum']}"
    if isinstance(value, int) and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        return f"{value!r} is out of range"
    if isinstance(value, list):
        return next((f for v in value if (f := _fault(v, schema.get("items", {})))), None)
    if isinstance(value, dict):
        missing = [key for key in schema.get("required", []) if key not in value]
        unknown = schema.get("properties") and [k for k in value if k not in schema["properties"]]
        if "tc" in schema.get("properties", {}) and unknown:
            return f"unknown members {unknown}"
        return f"missing {missing}" if missing else next(
            (f for k, v in value.items() if (f := _fault(v, schema.get("properties", {}).get(k, {})))),
            None)
    return None


def fault(message, direction):
    """direction: "to_program" or "from_program"."""
    rows = SCHEMA["$defs"][direction]["oneOf"]
    row = next((r for r in rows if r["title"] == message.get("tc")), None)
    return f"unknown message {message.get('tc')}" if row is None else _fault(message, row)
