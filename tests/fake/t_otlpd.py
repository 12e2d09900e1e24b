#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The receiver of traces refuses requests that are not OTLP in JSON, and fails on request."""
import copy
import json
import os
import sys
import urllib.error
import urllib.request

for folder in ("tap", "fake"):
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", folder))
from otlpd import Receiver  # noqa: E402
from tap import done, equal, ok  # noqa: E402

SPAN = {
    "traceId": "0af7651916cd43dd8448eb211c80319c",
    "spanId": "b7ad6b7169203331",
    "parentSpanId": "",
    "name": "chat m",
    "kind": 3,
    "startTimeUnixNano": "1544712660000000000",
    "endTimeUnixNano": "1544712661000000000",
    "attributes": [{"key": "n", "value": {"intValue": "5"}}],
    "events": [{"timeUnixNano": "1544712660300000000", "name": "e", "attributes": []}],
    "status": {"code": 2, "message": "no"},
}


def request(span=None, **changes):
    span = copy.deepcopy(span or SPAN)
    span.update(changes)
    return {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"scope": {"name": "x"}, "spans": [span]}]}]}


def post(receiver, body, path="/v1/traces", **headers):
    """Posts a request; returns the status or the error, and the response."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    call = urllib.request.Request(receiver.url + path, data, {"Content-Type": "application/json", **headers})
    try:
        with urllib.request.urlopen(call, timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as e:
        return e.code, json.load(e)
    except OSError as e:
        return type(e).__name__, {}


REFUSED = [
    ("R25: a span with an unknown field", request(title="x")),
    ("R25: a number as an integer value", request(attributes=[{"key": "n", "value": {"intValue": 5}}])),
    ("R25: a time as a number", request(startTimeUnixNano=1)),
    ("R25: a kind as a name", request(kind="SPAN_KIND_CLIENT")),
    ("R25: an id in base64", request(traceId="CvdlGRbNQ92ESOshHIAxnA==")),
    ("R25: an id of zeros", request(spanId="0" * 16)),
    ("R25: an end before the start", request(endTimeUnixNano="1")),
    ("R25: a key twice", request(attributes=SPAN["attributes"] * 2)),
    ("R25: two values", request(attributes=[{"key": "n", "value": {"intValue": "5", "stringValue": "5"}}])),
    ("R25: an event without a time", request(events=[{"name": "e"}])),
    ("R25: an unknown status", request(status={"code": 7})),
    ("R25: names in another style", {"resource_spans": []}),
    ("R25: no JSON", b"\x0a\x00"),
]


def main():
    receiver = Receiver.start()
    equal(post(receiver, request())[0], 200, "a span")
    equal(post(receiver, {"resourceSpans": []})[0], 200, "no span")
    equal(len(receiver.spans()), 1, "what was accepted is remembered")
    for name, body in REFUSED:
        equal(post(receiver, body)[0], 400, name)
    twice = request()
    twice["resourceSpans"] *= 2
    equal(post(receiver, twice)[0], 400, "R25: two spans with one id")
    equal(post(receiver, request(), path="/v1/trace")[0], 400, "R25: another path")
    equal(post(receiver, request(), **{"Content-Type": "text/plain"})[0], 400, "R25: another type")
    receiver.header = "Authorization=Basic x"
    equal(post(receiver, request())[0], 401, "without credentials")
    equal(post(receiver, request(), Authorization="Basic x")[0], 200, "with them")
    receiver.header = None
    receiver.answer(503, "partial", "lost")
    equal(post(receiver, request())[0], 503, "a status of the test")
    equal(post(receiver, request()), (200, {"partialSuccess": {"rejectedSpans": "1", "errorMessage": "too old"}}),
          "a part is rejected")  # fmt: skip
    ok(isinstance(post(receiver, request())[0], str), "no answer")
    equal(post(receiver, request())[0], 200, "then as usual")
    receiver.stop()
    done()


main()
