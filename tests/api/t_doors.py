#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Access over HTTP: malformed requests, foreign host names, credentials, bodies. Each is refused with its own
error, and no request smuggled behind one runs."""
import json
import os
import pathlib
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from door import LOG, Door, done, equal, http_group, ok, secret, until  # noqa: E402

AUTH = f"Authorization: Bearer {secret('ann')}\r\n".encode()
HOST = b"Host: localhost\r\n"
JSON = b"Content-Type: application/json\r\n"
BODY = b'{"prompt":"id=smuggled"}'
SMUGGLED = b"POST /turns HTTP/1.1\r\n%s%s%sContent-Length: %d\r\n\r\n%s" % (
    HOST,
    AUTH,
    JSON,
    len(BODY),
    BODY,
)
POST = b"POST /turns HTTP/1.1\r\n" + AUTH + JSON
FIRST = b'{"prompt":"id=first"}'
LENGTH = b"Content-Length: %d\r\n" % len(FIRST)
CHUNKS = b"%x\r\n%s\r\n0\r\n\r\n" % (len(FIRST), FIRST)
GET = b"GET /healthz HTTP/1.1\r\n"

PROBES = [
    ("Transfer-Encoding beside Content-Length", 400,
     POST + HOST + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n" + CHUNKS),
    ("two Content-Lengths", 400,
     POST + HOST + LENGTH + b"Content-Length: 0\r\n\r\n" + FIRST),
    ("two Content-Lengths that agree", 400, POST + HOST + LENGTH + LENGTH + b"\r\n" + FIRST),
    ("Content-Length: +3", 400, POST + HOST + b"Content-Length: +3\r\n\r\nabc"),
    ("Content-Length: 3, 3", 400, POST + HOST + b"Content-Length: 3, 3\r\n\r\nabc"),
    ("Content-Length: -1", 400, POST + HOST + b"Content-Length: -1\r\n\r\n"),
    ("Content-Length: 0x3", 400, POST + HOST + b"Content-Length: 0x3\r\n\r\nabc"),
    ("an empty Content-Length", 400, POST + HOST + b"Content-Length:\r\n\r\n"),
    ("Transfer-Encoding: xchunked", 501,
     POST + HOST + b"Transfer-Encoding: xchunked\r\n\r\n" + CHUNKS),
    ("Transfer-Encoding: identity", 501,
     POST + HOST + b"Transfer-Encoding: identity\r\n\r\n" + CHUNKS),
    ("Transfer-Encoding: gzip, chunked", 501,
     POST + HOST + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + CHUNKS),
    ("two Transfer-Encodings", 400,
     POST + HOST + b"Transfer-Encoding: chunked\r\n" * 2 + b"\r\n" + CHUNKS),
    ("chunks in HTTP/1.0", 400,
     b"POST /turns HTTP/1.0\r\n" + AUTH + JSON + HOST + b"Transfer-Encoding: chunked\r\n\r\n"
     + CHUNKS),
    ("a chunk's size that is no number", 400,
     POST + HOST + b"Transfer-Encoding: chunked\r\n\r\n-1\r\nabc\r\n0\r\n\r\n"),
    ("a chunk's size that begins with 0x", 400,
     POST + HOST + b"Transfer-Encoding: chunked\r\n\r\n0x3\r\nabc\r\n0\r\n\r\n"),
    ("a chunk's extension", 400,
     POST + HOST + b"Transfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\n\r\n"),
    ("a chunk longer than its size", 400,
     POST + HOST + b"Transfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n"),
    ("a trailer", 400,
     POST + HOST + b"Transfer-Encoding: chunked\r\n\r\n0\r\nX: y\r\n\r\n"),
    ("no Host", 400, GET + b"\r\n"),
    ("two Hosts", 400, GET + HOST + HOST + b"\r\n"),
    ("an empty Host", 400, GET + b"Host:\r\n\r\n"),
    ("Host: a, b", 400, GET + b"Host: localhost, evil.example\r\n\r\n"),
    ("a space before the colon", 400, POST + HOST + b"Content-Length : 0\r\n\r\n"),
    ("a folded header", 400, GET + HOST + b"X-A: b\r\n c\r\n\r\n"),
    ("a folded first header", 400, GET + b" X-A: b\r\n" + HOST + b"\r\n"),
    ("a bare LF behind a header", 400, GET + HOST + b"X-A: b\n\r\n"),
    ("a bare LF behind the request line", 400, b"GET /healthz HTTP/1.1\n" + HOST + b"\r\n"),
    ("a bare LF as the end of the head", 400, GET + HOST + b"\n"),
    ("a bare CR", 400, GET + HOST + b"X-A: b\rX-B: c\r\n\r\n"),
    ("NUL in a header", 400, GET + HOST + b"X-A: b\0c\r\n\r\n"),
    ("NUL in a header's name", 400, GET + HOST + b"X\0A: b\r\n\r\n"),
    ("NUL in the target", 400, b"GET /heal\0thz HTTP/1.1\r\n" + HOST + b"\r\n"),
    ("a header of 64 KiB", 431, GET + HOST + b"X-A: " + b"a" * 65536 + b"\r\n\r\n"),
    ("1,000 headers", 431, GET + HOST + b"X: y\r\n" * 1000 + b"\r\n"),
    ("a target of 64 KiB", 414, b"GET /" + b"a" * 65536 + b" HTTP/1.1\r\n" + HOST + b"\r\n"),
    ("an absolute target", 400, b"GET http://localhost/healthz HTTP/1.1\r\n" + HOST + b"\r\n"),
    ("CONNECT", 501, b"CONNECT localhost:80 HTTP/1.1\r\n" + HOST + b"\r\n"),
    ("HTTP/2.0", 505, b"GET /healthz HTTP/2.0\r\n" + HOST + b"\r\n"),
    ("the preface of HTTP/2", 501, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    ("HTTP/0.9", 400, b"GET /healthz\r\n\r\n"),
    ("two spaces", 400, b"GET  /healthz HTTP/1.1\r\n" + HOST + b"\r\n"),
    ("a space at the front", 400, b" " + GET + HOST + b"\r\n"),
    ("TLS", 400, bytes.fromhex("16030100a5010000a10303") + b"\0" * 160),
    ("a body of 1 GiB", 413, POST + HOST + b"Content-Length: 1073741824\r\n\r\n"),
    ("a body of 10^30 bytes", 413, POST + HOST + b"Content-Length: 1" + b"0" * 30 + b"\r\n\r\n"),
    ("a chunk of 1 GiB", 413,
     POST + HOST + b"Transfer-Encoding: chunked\r\n\r\n40000000\r\n"),
    ("a chunk of 2^64 bytes and more", 400,
     POST + HOST + b"Transfer-Encoding: chunked\r\n\r\n10000000000000003\r\n"),
    ("a body of 1 GiB that is asked for first", 413,
     POST + HOST + b"Expect: 100-continue\r\nContent-Length: 1073741824\r\n\r\n"),
]  # fmt: skip


def prompts(host):
    return [t["task"] for t in host.turns()]


def test_probes(host):
    for name, status, bytes_ in PROBES:
        answer = host.say(bytes_ + SMUGGLED)
        lines = (answer or b"").split(b"\r\n")
        ok(
            lines[0].startswith(b"HTTP/1.1 %d " % status)
            and b"Connection: close" in lines
            and answer.count(b"HTTP/1.1 ") == 1,
            f"{name}: {status}, once, and the connection is closed",
            answer if answer is None else answer[:400],
        )
    equal(prompts(host), [], "no smuggled request has run")
    answer = host.say(POST + HOST + b"Transfer-Encoding: chunked\r\n\r\n" + CHUNKS + SMUGGLED
                      + GET + HOST + b"Connection: close\r\n\r\n")
    equal(re.findall(rb"HTTP/1\.1 (\d+)", answer), [b"202", b"202", b"200"],
          "pipelined requests are answered in order")
    until(lambda: all(t["state"] == "final" for t in host.turns()), "both turns end")
    equal(sorted(prompts(host)), ["id=first", "id=smuggled"], "both turns have run")


def test_names(host):
    port = host.port
    for name in ("localhost", f"127.0.0.1:{port}", "[::1]", "LOCALHOST:1", "bot.example.org"):
        equal(host.status("GET", "/healthz", Host=name), 200, f"Host {name} is accepted")
    for name in ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.1",
                 "[::2]", "bot.example.org.", "*"):
        equal(host.status("GET", "/healthz", Host=name), 421, f"Host {name} is refused")
        equal(host.status("POST", "/turns", key="ann", body={"prompt": "no"}, Host=name), 421,
              f"Host {name} is refused with a key")
    for origin in ("https://evil.example", "null", f"http://localhost:{port}.evil.example",
                   f"http://127.0.0.1:{port + 1}", "https://pages.example.org.evil", "file://",
                   "https://PAGES.example.org:444", ""):
        equal(host.status("POST", "/turns", key="ann", body={"prompt": "no"}, Origin=origin), 403,
              f"Origin \"{origin}\": 403")
    own = f"http://127.0.0.1:{port}"
    for origin in (own, "https://pages.example.org"):
        status, headers, _ = host.ask("GET", "/turns", key="ann", Origin=origin)
        equal(status, 200, f"Origin {origin} is accepted")
        ok("access-control-allow-credentials" not in headers, "no credentials are allowed for pages")
    pages = "https://pages.example.org"
    equal(headers.get("access-control-allow-origin"), pages, "the page may read the answer")
    equal(headers.get("vary"), "Origin", "the answer varies by Origin")
    exposed = headers.get("access-control-expose-headers", "").lower().split(", ")
    ok({"location", "retry-after", "x-request-id", "x-should-retry"} <= set(exposed),
       "the page may read the headers that a client needs", exposed)
    status, headers, _ = host.ask("OPTIONS", "/turns", Origin=pages,
                                  Access_Control_Request_Method="POST",
                                  Access_Control_Request_Headers="authorization,content-type")
    equal((status, headers.get("access-control-allow-origin")), (204, pages), "the preflight is answered with 204")
    ok("POST" in headers.get("access-control-allow-methods", ""), "the preflight has the methods of the route")
    ok("Authorization" in headers.get("access-control-allow-headers", ""), "the preflight allows a key")
    equal(host.status("POST", "/turns", body={"prompt": "no"}, Origin=pages), 401,
          "a request of the page without a key is refused")
    equal(host.status("OPTIONS", "/turns", Origin=pages), 405, "an OPTIONS request that is no preflight is refused")
    _, headers, _ = host.ask("GET", "/turns", key="ann", Origin=own)
    ok("access-control-allow-origin" not in headers, "the page of the host needs no CORS header")
    equal(host.status("OPTIONS", "/turns", Origin="https://evil.example",
                      Access_Control_Request_Method="POST"), 403, "a foreign page's preflight: 403")
    rebound = f"http://evil.example:{port}"
    equal(host.status("GET", "/turns", key="ann", Host=f"evil.example:{port}", Origin=rebound), 421,
          "a name that was rebound to the host is refused, although its page has the same origin")


def refused(host, name, path="/turns", **headers):
    status, answered, text = host.ask("GET", path, **headers)
    ok(status == 401 and answered.get("www-authenticate") == "Bearer"
       and json.loads(text)["error"]["type"] == "authentication_error",
       f"{name}: 401, and how to do it", (status, answered, text))


def test_keys(host):
    ann = secret("ann")
    bearer = {"Authorization": f"Bearer {ann}"}
    refused(host, "no key")
    refused(host, "another key", Authorization="Bearer 0123456789abcdef-zed")
    refused(host, "the front of a key", Authorization=f"Bearer {ann[:-1]}")
    refused(host, "a key and more", Authorization=f"Bearer {ann}x")
    refused(host, "an empty key", Authorization="Bearer ")
    refused(host, "no scheme", Authorization=ann)
    refused(host, "another scheme", Authorization=f"Basic {ann}")
    refused(host, "two spaces before the key", Authorization=f"Bearer  {ann}")
    refused(host, "a tab before the key", Authorization=f"Bearer\t{ann}")
    refused(host, "something behind the key", Authorization=f"Bearer {ann} x")
    refused(host, "two keys in one header", Authorization=f"Bearer {ann}, Bearer {ann}")
    refused(host, "X-API-Key beside Authorization", X_API_Key=ann, **bearer)
    refused(host, "the name of a key", X_API_Key="ann")
    for name in ("key", "api_key", "token", "access_token"):
        refused(host, f"the key in the query as {name}", f"/turns?{name}={ann}")
    twice = b"GET /turns HTTP/1.1\r\nConnection: close\r\n" + HOST + AUTH + AUTH + b"\r\n"
    ok(host.say(twice).startswith(b"HTTP/1.1 401 "), "a repeated header is refused")
    ok(host.say(twice.replace(AUTH + AUTH, AUTH)).startswith(b"HTTP/1.1 200 "), "a single header is accepted")
    equal(host.status("GET", "/turns", key="ann"), 200, "a key in Authorization is accepted")
    equal(host.status("GET", "/turns", X_API_Key=ann), 200, "a key in X-API-Key is accepted")
    equal(host.status("GET", "/turns", Authorization=f"bEARER {ann}"), 200, "the scheme is accepted in any case")
    equal(host.status("GET", "/turns", Authorization=f"  Bearer {ann} \t"), 200,
          "white space around a header value is ignored")
    equal(host.status("GET", "/healthz"), 200, "the health check needs no key")


def test_grants(host):
    body = {"prompt": "id=mine hang"}
    equal(host.status("POST", "/turns", key="eve", body=body), 403, "a key with the grant watch may not submit")
    mine = host.begin(body["prompt"], key="bob")["id"]
    theirs = host.begin("id=theirs", key="ann")["id"]
    for tail in ("", "/events"):
        equal(host.status("GET", f"/turns/{theirs}{tail}", key="bob"), 404,
              f"a turn of another key{tail} is not found")
    equal(host.status("POST", f"/turns/{theirs}/cancel", key="bob", body={}), 404,
          "a turn of another key cannot be cancelled")
    equal(host.status("POST", f"/turns/{mine}/cancel", key="eve", body={}), 403,
          "a key with the grant watch may not cancel")
    equal([t["id"] for t in host.turns(key="bob")], [mine], "the list has the turns of the key")
    ok({mine, theirs} <= {t["id"] for t in host.turns(key="eve")}, "a key with the grant watch sees all turns")
    host.await_state(mine, "running")
    equal(host.status("POST", f"/turns/{mine}/cancel", key="bob", body={}), 202, "a key cancels its own turn")
    host.await_state(mine, "cancelled", key="bob")
    last = json.loads(host.follow(f"/turns/{mine}/events", key="bob").rest()[-1][2])
    equal(last["payload"]["reason"], "cancelled", "the turn ends as cancelled")
    watched = host.follow("/turns/events", key="bob")
    equal({watched.json()["id"]}, {mine}, "the live list has the turns of the key")
    host.await_state(host.begin("id=others", key="ann")["id"], "final")
    again = host.begin("id=again", key="bob")["id"]
    equal(watched.json()["id"], again, "the live list has no turns of other keys")
    watched.close()


def login(host, key):
    status, headers, text = host.ask("POST", "/login", body={"key": key})
    return status, headers.get("set-cookie", ""), text


def test_cookies(host):
    status, cookie, text = login(host, secret("ann"))
    equal((status, text), (204, b""), "a login is answered with 204")
    ok(re.fullmatch(r"turncast=[0-9a-f]{64}; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict",
                    cookie), "a cookie that no script sees and no other site sends", cookie)
    pair = cookie.split(";")[0]
    ok(secret("ann") not in cookie, "the cookie does not have the key")
    equal(host.status("GET", "/turns", Cookie=pair), 200, "the cookie is accepted")
    equal(host.status("GET", "/turns", Cookie=f"a=b; {pair}; c=d"), 200, "the cookie is accepted between other cookies")
    refused(host, "an unknown cookie", Cookie="turncast=" + "0" * 64)
    refused(host, "an empty cookie", Cookie="turncast=")
    refused(host, "the front of a cookie", Cookie=pair[:-1])
    refused(host, "another cookie's end", Cookie="x" + pair)
    refused(host, "a key as cookie", Cookie=f"turncast={secret('ann')}")
    refused(host, "a wrong key beside a cookie", Cookie=pair, X_API_Key="0123456789abcdef-zed")
    second = login(host, secret("ann"))[1].split(";")[0]
    ok(second != pair, "each login has another cookie")
    status, headers, _ = host.ask("POST", "/logout", Cookie=pair)
    ok(status == 204 and headers["set-cookie"].startswith("turncast=; Path=/; Max-Age=0"),
       "a logout is answered with 204, and deletes the cookie", headers)
    refused(host, "the cookie behind logout", Cookie=pair)
    equal(host.status("GET", "/turns", Cookie=second), 200, "the cookie of the other login is accepted")
    for body in ({"key": "0123456789abcdef-zed"}, {"key": "ann"}, {}, {"key": None}):
        equal(login(host, body.get("key"))[0], 401, f"a login with {body} is refused")
    equal(host.status("POST", "/login", body={"key": 1}), 401, "a login with a number is refused")
    equal(host.status("POST", "/login", body=b"key=" + secret("ann").encode(),
                      Content_Type="application/x-www-form-urlencoded"), 415, "a form: 415")
    for _ in range(1000):
        login(host, secret("bob"))
    refused(host, "the oldest of 1,001 cookies", Cookie=second)


def test_bodies(host):
    def post(body, path="/turns", **headers):
        return host.status("POST", path, key="ann", body=body, **headers)

    for name, body in (
        ("no JSON", b"{prompt}"),
        ("half of it", b'{"prompt":"a'),
        ("nothing", b""),
        ("something behind it", b'{"prompt":"a"}{}'),
        ("a list", b'["prompt"]'),
        ("a text", b'"prompt"'),
        ("no UTF-8", b'{"prompt":"\xff\xfe"}'),
        ("an overlong form", b'{"prompt":"\xc0\xaf"}'),
        ("half of a surrogate pair", b'{"prompt":"\\ud800"}'),
        ("the same key twice", b'{"prompt":"a","prompt":"b"}'),
        ("10^6 brackets", b'{"prompt":' + b"[" * 10**6),
        ("10^5 objects", b'{"a":' * 10**5),
        ("no prompt", b"{}"),
        ("an empty prompt", b'{"prompt":""}'),
        ("a blank prompt", b'{"prompt":" \\n\\t "}'),
        ("a number", b'{"prompt":1}'),
        ("NUL in the prompt", b'{"prompt":"a\\u0000b"}'),
        ("an agent that is a number", b'{"prompt":"a","agent":1}'),
        ("a long conversation", b'{"prompt":"a","conversation":"%s"}' % (b"c" * 201)),
    ):
        equal(post(body), 400, f"{name}: 400")
    equal(post({"prompt": "a"}, Idempotency_Key="k" * 201), 400, "a long Idempotency-Key: 400")
    equal(post({"prompt": "a", "agent": "nobody"}), 404, "an agent that is not there: 404")
    for kind in ("text/plain", "application/x-www-form-urlencoded", "application/jsonp", "",
                 "multipart/form-data; boundary=application/json"):
        equal(post(b'{"prompt":"a"}', Content_Type=kind), 415, f"Content-Type \"{kind}\": 415")
    turn = host.begin("id=kind", headers={"Content_Type": "Application/JSON; charset=utf-8"})
    unknown = "00000000-0000-4000-8000-000000000000"
    for method, path, status in (
        ("GET", "/nothing", 404), ("GET", "/turnsx", 404), ("GET", "/turns/", 404),
        ("GET", f"/turns/{unknown}", 404), ("GET", f"/turns/{unknown}/events", 404),
        ("GET", "/turns/..%2f", 404), ("GET", f"/turns/{turn['id']}/x", 404),
        ("POST", f"/turns/{unknown}/cancel", 404), ("GET", "/page/../turncast.conf", 404),
        ("GET", "/page/%2e%2e/turncast.conf", 404), ("GET", "/login/", 404),
        ("DELETE", "/turns", 405), ("PUT", "/turns", 405), ("GET", "/login", 405),
        ("POST", "/healthz", 405), ("DELETE", f"/turns/{turn['id']}", 405),
        ("POST", f"/turns/{turn['id']}", 405), ("GET", f"/turns/{turn['id']}/cancel", 405),
        ("POST", f"/turns/{turn['id']}/events", 405), ("POST", "/turns/events", 405),
    ):  # fmt: skip
        found, headers, _ = host.ask(method, path, key="ann", body={} if method != "GET" else None)
        equal(found, status, f"{method} {path}: {status}")
        ok(status != 405 or headers.get("allow"), "a 405 response has the allowed methods")
    equal(host.status("HEAD", "/turns", key="ann"), 200, "HEAD is accepted where GET is")
    status, headers, text = host.ask("HEAD", f"/turns/{turn['id']}/events", key="ann")
    equal((status, text), (200, b""), "HEAD of a stream ends")


def test_log(host):
    text = host.log()
    told = re.findall(r"(?:GET|POST) \S+ from 127\.0\.0\.1 rejected: missing or invalid", text)
    equal(len(told), 10, "at most ten failures are logged per minute, with their address")
    for name in ("ann", "bob", "eve"):
        ok(secret(name) not in text, f"the key of {name} is not in the log")
    for name in ("0123456789abcdef-zed", "smuggled", "id=mine", "turncast="):
        ok(name not in text, f"nor is {name}")
    state = b"".join(p.read_bytes() for p in host.state.rglob("*") if p.is_file())
    ok(secret("ann").encode() not in state, "no key is stored in the state directory")


def refuses_to_start(name, group, line):
    host = Door(http=group)
    try:
        host.start()
        ok(False, f"{name}: it started")
    except RuntimeError:
        equal(host.process.returncode, 2, f"{name}: the host does not start")
        ok(re.search(r"turncast\.conf:\d+: .*" + re.escape(line), host.log()),
           "the error has the line and the reason", host.log())
        host.process = None
    finally:
        host.__exit__()


def test_start():
    refuses_to_start("an address of all without keys",
                     http_group({}, listen="0.0.0.0:0", allow_remote=True),
                     "define at least one key in http.keys")
    refuses_to_start("an address of all without allow_remote", http_group(listen="0.0.0.0:0"),
                     "set http.allow_remote = true")
    refuses_to_start("a short key", http_group({"ann": ("short", ["submit"])}), "use at least 16 characters")
    refuses_to_start("two keys of one secret",
                     http_group({"ann": ("0123456789abcdef", ["submit"]),
                                 "bob": ("0123456789abcdef", ["watch"])}),
                     "same secret as key \"ann\"")


def test_open():
    with Door(http=http_group({})) as host:
        equal(host.status("GET", "/turns"), 200, "without keys a request on loopback is accepted")
        turn = json.loads(host.ask("POST", "/turns", body={"prompt": "id=open"})[2])
        ok(turn["id"], "without keys a turn is accepted")
        equal(host.status("POST", "/turns", body={"prompt": "no"}, Origin="https://evil.example"),
              403, "a foreign page may not")
        equal(host.status("POST", "/turns", body={"prompt": "no"}, Host="evil.example"), 421,
              "without keys a rebound name is refused")
        equal(host.status("POST", "/turns", body=b'{"prompt":"no"}', Content_Type="text/plain"),
              415, "nor a form")


group = http_group(hosts=["bot.example.org"], origins=["https://pages.example.org"])
with Door(http=group) as door:
    test_probes(door)
    test_names(door)
    test_keys(door)
    test_grants(door)
    test_cookies(door)
    test_bodies(door)
    test_log(door)
    equal(door.stop(), 0, "the host exits with status 0")
test_start()
test_open()
done()
