# SPDX-License-Identifier: MIT
"""The fake model as the Messages API of Anthropic, for Claude Code."""

import json

from model_script import halves

USAGE = {"input_tokens": 100, "output_tokens": 42}
KINDS = {400: "invalid_request_error", 401: "authentication_error", 403: "permission_error",
         404: "not_found_error", 429: "rate_limit_error", 529: "overloaded_error"}


def serves(path):
    return path.endswith("/messages")


def streams(_path, request):
    return request.get("stream")


def tools(request):
    return [tool.get("name") for tool in request.get("tools", [])]


def text_of(content):
    if isinstance(content, str):
        return content
    return "\n".join(block.get("text", "") for block in content if block["type"] == "text")


def conversation(request):
    return [("model" if message["role"] == "assistant" else "user", text_of(message["content"]))
            for message in request["messages"]]


def error(status):
    return {"type": "error", "error": {"type": KINDS.get(status, "api_error"),
                                       "message": f"scripted failure {status}"}}


def block_of(number, reply):
    """Returns the block of a message, or None, and the reason for the end of the message."""
    if reply.tool:
        return {"type": "tool_use", "id": f"toolu_{number:06d}", "name": reply.tool,
                "input": reply.arguments}, "tool_use"
    return ({"type": "text", "text": reply.text} if reply.text else None), "end_turn"


def message(number, request, content, reason):
    return {"id": f"msg_{number:06d}", "type": "message", "role": "assistant",
            "model": request.get("model", "model"), "content": content, "stop_reason": reason,
            "stop_sequence": None, "usage": USAGE}


def whole(number, request, reply):
    block, reason = block_of(number, reply)
    return message(number, request, [block] if block else [], reason)


def event(kind, data):
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n"


def events(number, request, reply):
    block, reason = block_of(number, reply)
    yield event("message_start", {"message": message(number, request, [], None)})
    if block:
        yield from pieces(block)
    delta = {"stop_reason": reason, "stop_sequence": None}
    yield event("message_delta", {"delta": delta, "usage": {"output_tokens": 42}})
    yield event("message_stop", {})


def pieces(block):
    if block["type"] == "text":
        empty = {**block, "text": ""}
        deltas = [{"type": "text_delta", "text": piece} for piece in halves(block["text"])]
    else:
        empty = {**block, "input": {}}
        deltas = [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
    yield event("content_block_start", {"index": 0, "content_block": empty})
    for delta in deltas:
        yield event("content_block_delta", {"index": 0, "delta": delta})
    yield event("content_block_stop", {"index": 0})
