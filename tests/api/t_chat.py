#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""POST /v1/chat/completions and /v1/models: refused requests, the bytes of the answer, the prompt of the agent,
conversations, repeated requests, and clients that disconnect."""
import http.client
import json
import os
import pathlib
import re
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from door import KEYS, Door, done, equal, http_group, ok, secret, until  # noqa: E402
from talk import BUILD, SOURCE  # noqa: E402

PATH = "/v1/chat/completions"
AGENT = BUILD / "tests" / "fake" / "agent"
RESULT = json.dumps(
    {"type": "result", "subtype": "success", "is_error": False, "result": "done",
     "session_id": "s-1", "num_turns": 1}
)
INIT = json.dumps({"type": "system", "subtype": "init", "session_id": "s-1"})


def said(text, role="user"):
    return {"role": role, "content": text}


def chat(*messages, model="main", **more):
    return {"model": model, "messages": [said(m) if isinstance(m, str) else m for m in messages],
            **more}


class Answer:
    """A client of one completion."""

    def __init__(self, host, body, key="ann", **headers):
        self.connection = http.client.HTTPConnection("127.0.0.1", host.port, timeout=30)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.connection.request(
            "POST", PATH, json.dumps(body),
            {"Content-Type": "application/json", "Authorization": f"Bearer {secret(key)}", **named},
        )
        self.answer = self.connection.getresponse()
        self.status = self.answer.status

    def header(self, name):
        return self.answer.getheader(name)

    def text(self):
        return self.answer.read().decode()

    def next(self):
        """The next chunk; "[DONE]"; None: the end."""
        while line := self.answer.readline():
            if line == b"data: [DONE]\n":
                return "[DONE]"
            if line.startswith(b"data: "):
                return json.loads(line[6:])
        return None

    def rest(self):
        return list(iter(self.next, None))

    def leave(self):
        self.answer.close()
        self.connection.close()


def stream(host, body, key="ann", **headers):
    return Answer(host, {**body, "stream": True}, key, **headers)


def whole(host, body, key="ann", **headers):
    answer = Answer(host, body, key, **headers)
    return answer.status, json.loads(answer.text())


def content(chunks):
    return "".join(
        choice["delta"].get("content", "")
        for chunk in chunks if chunk != "[DONE]" for choice in chunk["choices"]
    )


def session_of(text):
    return re.search(r"Answer \S+ of (\S+):", text).group(1)


# ---- what is refused ----


def check_refusals(host):
    good = chat("hello")
    image = {"type": "image_url", "image_url": {"url": "https://example.org/i.png"}}
    cases = [
        ("no key", 401, "invalid_api_key", good, {}),
        ("a key that may not submit", 403, "not_granted", good, {"key": "eve"}),
        ("a form", 415, "unsupported_media_type", good, {"key": "ann", "Content_Type": "text/plain"}),
        ("no JSON", 400, "invalid_json", b"{", {"key": "ann"}),
        ("no messages", 400, "invalid_value", {"model": "main"}, {"key": "ann"}),
        ("nobody's message", 400, "invalid_value", chat(said("x", "system")), {"key": "ann"}),
        ("an empty message", 400, "invalid_value", chat(""), {"key": "ann"}),
        ("an image", 400, "invalid_value", chat(said([image])), {"key": "ann"}),
        ("two answers", 400, "invalid_value", {**good, "n": 2}, {"key": "ann"}),
        ("a switch that is a text", 400, "invalid_value", {**good, "stream": "yes"}, {"key": "ann"}),
        ("an agent that there is not", 404, "model_not_found", chat("hello", model="gpt-9"),
         {"key": "ann"}),
        ("a conversation of 201 bytes", 400, "invalid_value", good,
         {"key": "ann", "X_Conversation_Id": "x" * 201}),
    ]
    for name, status, code, body, more in cases:
        found, headers, text = host.ask("POST", PATH, body=body, **more)
        error = json.loads(text)["error"]
        equal((found, error["code"], error["param"]), (status, code, None), f"{name} is refused")
        equal(headers["x-should-retry"], "false", "the error says not to retry")
    equal(host.status("GET", PATH, key="ann"), 405, "GET is refused")
    equal(host.turns(), [], "no refused request was a turn")


def check_models(host):
    equal(host.status("GET", "/v1/models"), 401, "a request without a key is refused")
    models = json.loads(host.ask("GET", "/v1/models", key="eve")[2])
    equal(models["object"], "list", "agents are models")
    equal(models["data"][0],
          {"id": "main", "object": "model", "created": 0, "owned_by": "turncast"}, "each by its name")
    one = json.loads(host.ask("GET", "/v1/models/main", key="ann")[2])
    equal(one, models["data"][0], "a single agent is returned")
    equal(host.status("GET", "/v1/models/gpt-9", key="ann"), 404, "an unknown model is not found")


# ---- the bytes ----


def check_golden(host):
    """The writer's golden file, without the text that an answer must not repeat."""
    body = chat("/show-all hello", model="golden/sonnet", stream=True)
    answer = Answer(host, body)
    equal(answer.header("Content-Type"), "text/event-stream; charset=utf-8", "server-sent events")
    text = answer.text()
    turn = answer.header("x-request-id")
    created = re.search(r'"created": (\d+)', text).group(1)
    wanted = (SOURCE / "tests/dialects/openai/agenticore.sse").read_text()
    for old, new in [
        ("chatcmpl-req-7f31", f"chatcmpl-{turn}"),
        ('"created": 1784884500', f'"created": {created}'),
        ('"model": "sonnet"', '"model": "golden/sonnet"'),
        ('{"content": "/srv is at 89 %."}, "finish_reason": null, "x_agenticore_event_type": "final"',
         '{}, "finish_reason": null, "x_agenticore_event_type": "final"'),
        ('"content": "/srv is at', '"content": "\\n\\n/srv is at'),
    ]:
        ok(old in wanted, f"the golden file has {old[:40]}")
        wanted = wanted.replace(old, new)
    equal(re.sub(r"(?m)^:.*\n\n", "", text), wanted, "the chunks are equal to the golden file")
    host.ask("POST", PATH, key="ann", body=chat("/hide-all", model="golden"))


def check_switches(host):
    chunks = stream(host, chat("/show-tools /stream-status")).rest()
    tags = [c["choices"][0].get("x_agenticore_event_type") for c in chunks[:-1]]
    equal(tags, [None, "stream_config", None], "a visibility token is answered without a turn")
    equal(chunks[-1], "[DONE]", "the stream ends with [DONE]")
    equal(json.loads(content(chunks))["show_tools"], True, "the stream has the changed visibility")
    status, found = whole(host, chat("/hide-tools"))
    switches = json.loads(found["choices"][0]["message"]["content"])
    equal((status, switches["show_tools"]), (200, False), "an answer without a stream has the changed visibility")
    equal(found["usage"]["total_tokens"], 0, "a visibility token uses no tokens")


def check_usage(host):
    chunks = stream(host, chat("id=a tools=1"), ).rest()
    with_usage = [c for c in chunks[:-1] if "usage" in c]
    equal(len(with_usage), 1, "usage comes once")
    equal(with_usage[0]["choices"][0]["finish_reason"], "stop", "the last choice has the usage")
    equal(len({(c["id"], c["created"], c["model"]) for c in chunks[:-1]}), 1, "all chunks belong to one completion")
    asked = stream(host, chat("id=a", stream_options={"include_usage": True})).rest()
    equal(asked[-1], "[DONE]", "the stream ends with [DONE]")
    equal(asked[-2]["choices"], [], "requested usage has a separate chunk")
    equal(asked[-2]["usage"],
          {"prompt_tokens": 12000, "completion_tokens": 345, "total_tokens": 12345}, "with all of it")
    ok(not any("usage" in c for c in asked[:-2]), "no other chunk has usage")
    ok(content(asked).count("Answer a of") == 1, "the answer is sent once", content(asked))


def check_whole(host):
    answer = Answer(host, chat("id=w tools=1", temperature=0.5, tools=[{"type": "function"}]))
    equal(answer.status, 200, "a completion without a stream")
    found = json.loads(answer.text())
    equal(sorted(found), ["choices", "created", "id", "model", "object", "usage"], "the completion has its members")
    equal(found["id"], f"chatcmpl-{answer.header('x-request-id')}", "the completion has the id of its turn")
    ok(found["choices"][0]["message"]["content"].startswith("Answer w of"), "the completion has the answer only")
    equal(found["choices"][0]["finish_reason"], "stop", "the completion has ended")
    equal(found["usage"]["total_tokens"], 12345, "the completion has its usage")
    hidden = whole(host, chat("/hide-final /hide-narration id=h"))[1]
    ok(hidden["choices"][0]["message"]["content"].startswith("Answer h of"), "the completion has the answer only, with any visibility")
    host.ask("POST", PATH, key="ann", body=chat("/show-narration /show-final"))


# ---- failures ----


def check_failures(host):
    answer = Answer(host, chat("id=f fail"))
    error = json.loads(answer.text())["error"]
    equal((answer.status, error["type"]), (500, "server_error"), "a failed turn has a status")
    ok("Part f is broken" in error["message"], "the error has the message of the turn", error)
    equal(answer.header("x-should-retry"), "false", "the error says not to retry")
    none = stream(host, chat("hello", model="missing"))
    equal((none.status, json.loads(none.text())["error"]["type"]), (500, "server_error"),
          "an agent that cannot be started is an error before the first byte")
    late = stream(host, chat("id=late tools=1 gated fail"))
    equal(late.status, 200, "a turn that fails later has begun with 200")
    host.let_go("late")
    chunks = late.rest()
    equal(chunks[-1], "[DONE]", "the failed stream ends with [DONE]")
    last = chunks[-2]
    equal((last["choices"][0]["finish_reason"], last["choices"][0]["x_agenticore_event_type"]),
          ("stop", "error"), "tagged, with an end that clients know")
    ok("Part late is broken" in last["error"]["message"], "the last chunk has the error", last)


# ---- what the agent is told ----


def told(host):
    """The prompt of the agent, which the agent has saved when its turn has ended."""
    return json.loads(host.told.read_text())["message"]["content"]


def check_prompts(host):
    history = [said("Be brief.", "system"), "one", said("1", "assistant"),
               said([{"type": "text", "text": "two /show-tools"}, {"type": "text", "text": "three"}])]
    status, _ = whole(host, chat(*history, model="taught"), X_Conversation_Id="c-1")
    equal(status, 200, "a history")
    equal(told(host), "[system] Be brief.\n[user] one\n[assistant] 1\n[user] two \nthree",
          "the complete history is the first prompt, without text of the host")
    whole(host, chat(*history, said("4", "assistant"), "four", model="taught"), X_Conversation_Id="c-1")
    equal(told(host), "four", "only the new message is the next prompt")
    whole(host, chat("a", said("b", "assistant"), "c", model="taught"))
    equal(told(host), "[user] a\n[assistant] b\n[user] c", "without a conversation the complete history is the prompt")
    whole(host, chat("  alone\n\t/not-a-token", model="taught"))
    equal(told(host), "  alone\n\t/not-a-token", "a single message is unchanged")


def check_conversations(host):
    def session(body=None, key="ann", **headers):
        return session_of(whole(host, {**chat("id=c"), **(body or {})}, key, **headers)[1]
                          ["choices"][0]["message"]["content"])

    uuid = "0b1c2d3e-0000-4000-8000-0123456789ab"
    ways = [
        ("X-Conversation-Id", {}, {"X_Conversation_Id": "k"}),
        ("X-LibreChat-Conversation-Id", {}, {"X_LibreChat_Conversation_Id": "l"}),
        ("X-OpenWebUI-Chat-Id", {}, {"X_OpenWebUI_Chat_Id": "o"}),
        ("metadata", {"metadata": {"conversation_id": "m"}}, {}),
        ("a user that is a UUID", {"user": uuid}, {}),
    ]
    sessions = []
    for name, body, headers in ways:
        first = session(body, **headers)
        equal(session(body, **headers), first, f"{name} names a conversation")
        sessions.append(first)
    equal(len(set(sessions)), len(ways), "each way names another conversation")
    ok(session(X_Conversation_Id="k", key="bob") not in sessions, "a conversation belongs to one key")
    ok(session(X_Conversation_Id="k", X_User_Id="u") not in sessions, "a conversation belongs to one user")
    ok(session() != session(), "without a name each request has its own session")


# ---- the same again ----


def check_again(host):
    before = len(host.turns())
    body = chat("id=again tools=2 gated")
    first = stream(host, body, X_Request_Id="r-1")
    role = first.next()
    second = stream(host, body, X_Request_Id="r-1")
    third = stream(host, body, Idempotency_Key="r-1")
    host.let_go("again", 2)
    one = [role, *first.rest()]
    equal(second.rest(), one, "a repeated request gets the same turn from its beginning")
    equal(third.rest(), one, "both headers name a request")
    equal(stream(host, body, X_Request_Id="r-1").rest(), one, "an ended turn is repeated")
    equal(first.header("x-request-id"), "r-1", "the response has the name of the request")
    equal(len(host.turns()), before + 1, "the repeated requests are one turn")
    stream(host, chat("id=other"), X_Request_Id="r-1").rest()
    equal(len(host.turns()), before + 2, "another request with the same name is another turn")
    stream(host, body, key="bob", X_Request_Id="r-1").rest()
    equal(len(host.turns()), before + 3, "a request of another key is another turn")
    retried = chat("id=retried gated")
    leader = stream(host, retried, X_Stainless_Retry_Count="0")
    follower = stream(host, retried, X_Stainless_Retry_Count="1")
    host.let_go("retried")
    equal(leader.rest(), follower.rest(), "the retry of a client follows the first request")
    equal(len(host.turns()), before + 4, "the retry is the same turn")
    stream(host, retried, X_Stainless_Retry_Count="0").rest()
    equal(len(host.turns()), before + 5, "a first request is a separate turn")


def newest(host):
    return host.turns()[0]


def check_leaving(host):
    for name, body in [("a stream", {"stream": True}), ("a whole", {})]:
        connection = http.client.HTTPConnection("127.0.0.1", host.port)
        connection.request("POST", PATH, json.dumps({**chat("id=leave hang"), **body}),
                           {"Content-Type": "application/json",
                            "Authorization": f"Bearer {secret('ann')}"})
        until(lambda: newest(host)["task"] == "id=leave hang" and newest(host)["state"] == "running",
              "the turn runs")
        turn = newest(host)["id"]
        connection.close()
        found = host.await_state(turn, "error", "final", "cancelled")
        ok(found["state"] != "running", f"{name} whose client disconnected is cancelled", found)
    body = chat("id=two hang")
    first = stream(host, body, X_Request_Id="two")
    first.next()
    second = stream(host, body, X_Request_Id="two")
    second.next()
    turn = newest(host)["id"]
    first.leave()
    equal(host.status("GET", "/healthz"), 200, "the host still answers")
    equal(host.turn(turn)["state"], "running", "a turn with another client continues")
    second.leave()
    host.await_state(turn, "error", "final", "cancelled")
    hung = stream(host, chat("id=again hang"), X_Stainless_Retry_Count="0")
    hung.next()
    turn = newest(host)["id"]
    hung.leave()
    host.await_state(turn, "error", "final", "cancelled")
    other = stream(host, chat("id=again hang"), X_Stainless_Retry_Count="1")
    other.next()
    ok(newest(host)["id"] != turn, "a retry after a cancelled turn is a separate turn")
    other.leave()


def check_limits(host):
    held = [stream(host, chat(f"id=u{i} hang"), key="bob", X_User_Id="greedy") for i in range(2)]
    for one in held:
        one.next()
    waits = stream(host, chat("id=u3"), key="bob", X_User_Id="greedy")
    equal(waits.status, 200, "a waiting request is answered with 200")
    line = waits.answer.readline()
    equal(line, b": keep-alive\n", "a waiting stream gets keep-alive comments")
    equal(stream(host, chat("id=u4"), key="bob", X_User_Id="modest").rest()[-1], "[DONE]",
          "another user of the key does not wait")
    held[0].leave()
    equal(waits.rest()[-1], "[DONE]", "the waiting request is answered later")
    held[1].leave()
    busy = [stream(host, chat(f"id=q{i} hang"), X_Conversation_Id="busy") for i in range(2)]
    full = Answer(host, chat("id=q3"), X_Conversation_Id="busy")
    equal((full.status, full.header("x-should-retry")), (429, "true"), "a request for a full queue is refused")
    for one in busy:
        one.leave()


def check_shutdown(host):
    told = stream(host, chat("id=end tools=1 ms=1 hang"))
    told.next()
    with ThreadPoolExecutor(1) as pool:
        waits = pool.submit(whole, host, chat("id=end-whole hang"))
        until(lambda: newest(host)["task"] == "id=end-whole hang"
              and newest(host)["state"] == "running", "both run")
        equal(host.stop(), 0, "the host exits with status 0")
        status, error = waits.result()
    equal((status, error["error"]["code"]), (500, "host_shutdown"), "at the exit of the host an answer without a stream is an error")
    chunks = told.rest()
    equal((chunks[-2]["error"]["code"], chunks[-1]), ("host_shutdown", "[DONE]"), "at the exit of the host a stream ends with an error")


def agents(folder):
    golden = folder / "golden.jsonl"
    lines = (SOURCE / "tests/dialects/claude/agenticore-stdout.jsonl").read_text()
    golden.write_text(lines[: lines.index("\n", lines.index('\n{"type":"result"') + 1) + 1])
    play = ", ".join(json.dumps(w) for w in [str(AGENT), f"play={golden}", "eof"])
    taught = ", ".join(json.dumps(w) for w in [str(AGENT), f"text={INIT}", f"text={RESULT}",
                                               f"save={folder}/told"])
    return (f'golden : {{ command = [{play}]; dialect = "claude"; }};'
            f'taught : {{ command = [{taught}]; dialect = "claude"; resume = ["mark={{session_id}}"]; }};'
            'missing : { command = ["/nonexistent/agent"]; dialect = "claude"; };')


def main():
    folder = pathlib.Path(os.environ.get("TMPDIR", "/tmp")) / f"turncast-chat.{os.getpid()}"
    folder.mkdir()
    limits = "conversations : { per_user = 2; queue = 1; max_turns = 20; drain_s = 0.2; };"
    with Door(http=http_group(disconnect_grace_s=0), agents=agents(folder), extra=f'log : {{ level = "info"; }}; {limits}') as host:
        host.told = folder / "told"
        for check in (check_refusals, check_models, check_golden, check_switches, check_usage,
                      check_whole, check_failures, check_prompts, check_conversations, check_again,
                      check_leaving, check_limits, check_shutdown):
            check(host)
    with Door(http=http_group({"ann": KEYS["ann"]}, on_disconnect="continue")) as host:
        left = stream(host, chat("id=on tools=1 gated", model="any-name"))
        equal(left.status, 200, "any model name selects the only agent")
        left.leave()
        host.let_go("on")
        host.await_state(newest(host)["id"], "final")
        ok(True, "on_disconnect = continue: the turn of a disconnected client continues")
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    done()


main()
