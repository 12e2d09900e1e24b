# SPDX-License-Identifier: MIT
"""The fake model as OpenAI's chat completions, https://platform.openai.com/docs/api-reference/chat.
Its callers: OpenCode, Qwen Code, Copilot."""

import json

from model_script import halves

USAGE = {"prompt_tokens": 100, "completion_tokens": 42, "total_tokens": 142}


def serves(path):
    return path.endswith("/chat/completions")


def streams(_path, request):
    return request.get("stream")


def tools(request):
    return [tool["function"]["name"] for tool in request.get("tools") or [] if "function" in tool]


def text_of(content):
    if isinstance(content, list):
        return "\n".join(part.get("text", "") for part in content)
    return content or ""


def conversation(request):
    roles = {"assistant": "model", "user": "user"}
    return [(roles[message["role"]], text_of(message.get("content")))
            for message in request["messages"] if message["role"] in roles]


def error(status):
    kind = {401: "invalid_api_key", 429: "rate_limit_exceeded"}.get(status, "server_error")
    return {"error": {"message": f"scripted failure {status}", "type": kind, "param": None, "code": kind}}


def calls_of(number, reply):
    return [{"index": 0, "id": f"call_{number:06d}", "type": "function",
             "function": {"name": reply.tool, "arguments": json.dumps(reply.arguments)}}]


def whole(number, request, reply):
    said = {"role": "assistant", "content": reply.text}
    if reply.tool:
        said["tool_calls"] = calls_of(number, reply)
    choice = {"index": 0, "message": said, "finish_reason": "tool_calls" if reply.tool else "stop"}
    return {"id": f"chatcmpl-{number:06d}", "object": "chat.completion", "created": 0,
            "model": request.get("model", "model"), "choices": [choice], "usage": USAGE}


def events(number, request, reply):
    def chunk(choices, **more):
        value = {"id": f"chatcmpl-{number:06d}", "object": "chat.completion.chunk", "created": 0,
                 "model": request.get("model", "model"), "choices": choices, **more}
        return f"data: {json.dumps(value)}\n\n"

    def delta(value, reason=None):
        return chunk([{"index": 0, "delta": value, "finish_reason": reason}])

    yield delta({"role": "assistant", "content": ""})
    for piece in halves(reply.text):
        yield delta({"content": piece})
    if reply.tool:
        yield delta({"tool_calls": calls_of(number, reply)})
    yield delta({}, "tool_calls" if reply.tool else "stop")
    yield chunk([], usage=USAGE)
    yield "data: [DONE]\n\n"
