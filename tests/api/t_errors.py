#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every error of the HTTP server is the documented object, whether a handler or the server itself detects it,
with the limit and its configuration key if there is one; and a refused Host or Origin is in the log, with the
configuration key."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from door import Door, done, equal, http_group, ok  # noqa: E402

HOST = b"Host: localhost\r\n"
MAX_BODY = 100_000


def parse(answer):
    """Status, headers (lower case) and body of the first answer in these bytes."""
    head, _, body = answer.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines[1:])
    return int(lines[0].split()[1]), headers, body[: int(headers["content-length"])]


def check(name, answer, status, code, kind="invalid_request_error", says=()):
    found, headers, body = answer
    equal(found, status, f"{name}: {status}")
    equal(headers.get("content-type"), "application/json; charset=utf-8", f"{name}: the error is JSON")
    try:
        error = json.loads(body)["error"]
    except (ValueError, KeyError) as e:
        ok(False, f"{name}: an error object", (e, body))
        return
    equal((error["type"], error["param"], error["code"]), (kind, None, code), f"{name}: {code}")
    for text in says:
        ok(text in error["message"], f"{name}: the message has {text}", error["message"])
    temporary = status in (408, 429, 503)
    equal(headers.get("x-should-retry"), "true" if temporary else "false",
          f"{name}: x-should-retry")


def test_framing(host):
    post = b"POST /turns HTTP/1.1\r\n" + HOST
    for name, bytes_, status, code, kind, says in (
        ("two spaces", b"GET  /turns HTTP/1.1\r\n" + HOST + b"\r\n", 400, "invalid_http",
         "invalid_request_error", ()),
        ("two lengths", post + b"Content-Length: 0\r\nContent-Length: 1\r\n\r\n", 400, "invalid_http",
         "invalid_request_error", ("Content-Length",)),
        ("a long body", post + b"Content-Length: 100001\r\n\r\n", 413, "body_too_large",
         "invalid_request_error", (str(MAX_BODY), "http.max_body")),
        ("a long chunk", post + b"Transfer-Encoding: chunked\r\n\r\nFFFFF\r\n", 413, "body_too_large",
         "invalid_request_error", (str(MAX_BODY), "http.max_body")),
        ("a long target", b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\n" + HOST + b"\r\n", 414,
         "target_too_long", "invalid_request_error", ("8192",)),
        ("a long head", b"GET / HTTP/1.1\r\n" + HOST + b"X: " + b"a" * 40000 + b"\r\n\r\n", 431,
         "head_too_large", "invalid_request_error", ("32768", "100")),
        ("an expectation", post + b"Expect: tea\r\n\r\n", 417, "unknown_expectation",
         "invalid_request_error", ()),
        ("a method", b"BREW / HTTP/1.1\r\n" + HOST + b"\r\n", 501, "not_implemented", "server_error",
         ()),
        ("a version", b"GET / HTTP/2.0\r\n" + HOST + b"\r\n", 505, "version_not_supported",
         "server_error", ()),
    ):
        check(name, parse(host.say(bytes_)), status, code, kind, says)


def test_names(host):
    answer = host.ask("GET", "/turns", key="ann", Host="agent.example.org")
    check("a Host", answer, 421, "host_not_allowed", says=("agent.example.org", "http.hosts"))
    answer = host.ask("GET", "/turns", key="ann", Origin="https://page.example.org")
    check("an Origin", answer, 403, "origin_not_allowed", "permission_error",
          ("https://page.example.org", "http.origins"))
    log = host.log()
    ok(re.search(r'refused \(421\).*"agent\.example\.org".*http\.hosts', log),
       "the log has the refused Host and its configuration key", log)
    ok(re.search(r'refused \(403\).*"https://page\.example\.org".*http\.origins', log),
       "the log has the refused Origin", log)
    for i in range(20):
        host.status("GET", "/turns", Host=f"n{i}.example.org")
    equal(len(re.findall(r"refused \(4", host.log())), 10, "at most ten refusals are logged per minute")
    bytes_ = b"GET / HTTP/1.1\r\nHost: b\xffd.example.org\r\n\r\n"
    check("a Host that is no text", parse(host.say(bytes_ + b"GET /end HTTP/9.9\r\n\r\n")), 421,
          "host_not_allowed", says=("b?d.example.org",))


def test_routes(host):
    for method in ("GET", "POST", "PUT"):
        body = {} if method != "GET" else None
        for path in ("/nothing", "/v1/responses", "/index.html"):
            answer = host.ask(method, path, key="ann", body=body)
            check(f"{method} {path}", answer, 404, "not_found", "not_found_error")
    for method, path, allow in (("GET", "/v1/chat/completions", "POST"),
                                ("DELETE", "/turns", "GET, HEAD, POST"),
                                ("POST", "/turns/events", "GET, HEAD")):
        answer = host.ask(method, path, key="ann")
        check(f"{method} {path}", answer, 405, "method_not_allowed", says=(method, allow))
        equal(answer[1].get("allow"), allow, f"{method} {path}: Allow")


def test_members(host):
    """Each wrong member has its own error text, and no agent is started."""
    chat = "/v1/chat/completions"
    for name, path, body, says in (
        ("no prompt", "/turns", b"{}", "prompt is missing"),
        ("a number", "/turns", b'{"prompt":1}', "prompt must be a string"),
        ("an empty prompt", "/turns", b'{"prompt":""}', "prompt is empty"),
        ("a blank prompt", "/turns", b'{"prompt":" \\n "}', "prompt is blank"),
        ("a NUL", "/turns", b'{"prompt":"a\\u0000b"}', "prompt contains a NUL"),
        ("an agent that is a list", "/turns", b'{"prompt":"a","agent":[]}', "agent must be a string"),
        ("a long conversation", "/turns", b'{"prompt":"a","conversation":"%s"}' % (b"c" * 201),
         "conversation is too long (limit: 200 bytes)"),
        ("a blank message", chat, b'{"messages":[{"role":"user","content":"  "}]}', "empty or blank"),
        ("a NUL in a message", chat, b'{"messages":[{"role":"user","content":"a\\u0000"}]}', "NUL"),
        ("nobody's message", chat, b'{"messages":[]}', 'role "user"'),
    ):
        check(name, host.ask("POST", path, key="ann", body=body), 400, "invalid_value", says=(says,))
    equal(host.turns(), [], "no turn has begun")


def test_big_body(host):
    """A request below the limit is accepted; with a larger limit in the configuration, a larger request is accepted, too."""
    body = {"prompt": "id=big " + "x" * (MAX_BODY - 100)}
    equal(host.status("POST", "/turns", key="ann", body=body), 202, "a body below the limit")
    text = host.config.read_text()
    host.config.write_text(text.replace(f"max_body = {MAX_BODY}", f"max_body = {2 * MAX_BODY}"))
    equal(host.run("reload")[0], 0, "a reload with a larger limit succeeds")
    body["prompt"] *= 2
    equal(host.status("POST", "/turns", key="ann", body=body), 202, "the larger limit applies at once")


with Door(http=http_group(max_body=MAX_BODY)) as door:
    test_framing(door)
    test_names(door)
    test_routes(door)
    test_members(door)
    test_big_body(door)
    equal(door.stop(), 0, "the host exits with status 0")
done()
