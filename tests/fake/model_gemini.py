# SPDX-License-Identifier: MIT
"""The fake model as Gemini's generateContent, https://ai.google.dev/api/generate-content.
Its callers: Gemini CLI."""

import json

from model_script import halves

STATES = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED",
          404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"}


def serves(path):
    return path.endswith(":generateContent") or path.endswith(":streamGenerateContent")


def streams(path, _request):
    return path.endswith(":streamGenerateContent")


def tools(request):
    return [function["name"] for tool in request.get("tools", [])
            for function in tool.get("functionDeclarations", [])]


def conversation(request):
    return [("model" if content.get("role") == "model" else "user",
             "\n".join(part.get("text", "") for part in content["parts"]))
            for content in request["contents"]]


def error(status):
    return {"error": {"code": status, "message": f"scripted failure {status}",
                      "status": STATES.get(status, "INTERNAL")}}


def response(request, number, parts, reason):
    candidate = {"index": 0, "content": {"role": "model", "parts": parts}}
    if reason:
        candidate["finishReason"] = reason
    return {"responseId": f"resp{number:06d}", "modelVersion": request.get("model", "model"),
            "candidates": [candidate],
            "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 42,
                              "totalTokenCount": 142}}


def parts_of(reply):
    if reply.tool:
        return [{"functionCall": {"name": reply.tool, "args": reply.arguments}}]
    return [{"text": piece} for piece in halves(reply.text)]


def whole(number, request, reply):
    return response(request, number, parts_of(reply), "STOP")


def events(number, request, reply):
    parts = parts_of(reply)
    for i, part in enumerate(parts):
        value = response(request, number, [part], "STOP" if i == len(parts) - 1 else None)
        yield f"data: {json.dumps(value)}\n\n"
    if not parts:
        yield f"data: {json.dumps(response(request, number, [], 'STOP'))}\n\n"
