# SPDX-License-Identifier: MIT
"""The fake model as OpenAI's Responses API, https://platform.openai.com/docs/api-reference/responses.
Its callers: Codex."""

import json

from model_script import halves

USAGE = {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 42,
         "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 142}
SPOKEN = {"function_call", "custom_tool_call", "local_shell_call"}


def serves(path):
    return path.endswith("/responses")


def streams(_path, request):
    return request.get("stream")


def tools(request):
    return [tool.get("name", tool.get("type")) for tool in request.get("tools", [])]


def text_of(content):
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content)


def conversation(request):
    given = request["input"]
    if isinstance(given, str):
        return [("user", given)]
    said = []
    for item in given:
        if item.get("type") in SPOKEN or item.get("role") == "assistant":
            said.append(("model", ""))
        elif item.get("role") == "user":
            said.append(("user", text_of(item.get("content", ""))))
    return said


def error(status):
    kind = {401: "invalid_request_error", 429: "rate_limit_exceeded"}.get(status, "server_error")
    return {"error": {"message": f"scripted failure {status}", "type": kind, "param": None, "code": None}}


def item_of(number, reply):
    if reply.tool:
        return {"type": "function_call", "id": f"fc_{number:06d}", "call_id": f"call_{number:06d}",
                "name": reply.tool, "arguments": json.dumps(reply.arguments), "status": "completed"}
    if not reply.text:
        return None
    return {"type": "message", "id": f"msg_{number:06d}", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": reply.text, "annotations": []}]}


def whole(number, request, reply, status="completed"):
    item = item_of(number, reply)
    return {"id": f"resp_{number:06d}", "object": "response", "created_at": 0, "status": status,
            "model": request.get("model", "model"), "output": [item] if item else [], "usage": USAGE}


def event(kind, **data):
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n"


def events(number, request, reply):
    response = whole(number, request, reply)
    yield event("response.created", response={**response, "status": "in_progress", "output": []})
    for item in response["output"]:
        yield from pieces(item)
    yield event("response.completed", response=response)


def pieces(item):
    empty = {**item, "status": "in_progress"}
    if item["type"] == "message":
        yield event("response.output_item.added", output_index=0, item={**empty, "content": []})
        for piece in halves(item["content"][0]["text"]):
            yield event("response.output_text.delta", item_id=item["id"], output_index=0,
                        content_index=0, delta=piece)
    else:
        yield event("response.output_item.added", output_index=0, item={**empty, "arguments": ""})
    yield event("response.output_item.done", output_index=0, item=item)
