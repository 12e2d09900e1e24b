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
    ("R25: an integer value as a JSON number", request(attributes=[{"key": "n", "value": {"intValue": 5}}])),
    ("R25: a time as a number", request(startTimeUnixNano=1)),
    ("R25: a kind as a name", request(kind="SPAN_KIND_CLIENT")),
    ("R25: an id in base64", request(traceId="CvdlGRbNQ92ESOshHIAxnA==")),
    ("R25: an id of zeros", request(spanId="0" * 16)),
    ("R25: an end before the start", request(endTimeUnixNano="1")),
    ("R25: a duplicate key", request(attributes=SPAN["attributes"] * 2)),
    ("R25: a value of two types", request(attributes=[{"key": "n", "value": {"intValue": "5", "stringValue": "5"}}])),
    ("R25: an event without a time", request(events=[{"name": "e"}])),
    ("R25: an unknown status", request(status={"code": 7})),
    ("R25: names in snake case", {"resource_spans": []}),
    ("R25: a body that is not JSON", b"\x0a\x00"),
]


def main():
    receiver = Receiver.start()
    equal(post(receiver, request())[0], 200, "a valid span is accepted")
    equal(post(receiver, {"resourceSpans": []})[0], 200, "an empty list of spans is accepted")
    equal(len(receiver.spans()), 1, "accepted spans are stored")
    for name, body in REFUSED:
        equal(post(receiver, body)[0], 400, name)
    twice = request()
    twice["resourceSpans"] *= 2
    equal(post(receiver, twice)[0], 400, "R25: two spans with one id")
    equal(post(receiver, request(), path="/v1/trace")[0], 400, "R25: another path")
    equal(post(receiver, request(), **{"Content-Type": "text/plain"})[0], 400, "R25: another content type")
    receiver.header = "Authorization=Basic x"
    equal(post(receiver, request())[0], 401, "a request without credentials is refused")
    equal(post(receiver, request(), Authorization="Basic x")[0], 200, "a request with credentials is accepted")
    receiver.header = None
    receiver.answer(503, "partial", "lost")
    equal(post(receiver, request())[0], 503, "the test sets the status")
    equal(post(receiver, request()), (200, {"partialSuccess": {"rejectedSpans": "1", "errorMessage": "too old"}}),
          "a part of the spans is rejected")  # fmt: skip
    ok(isinstance(post(receiver, request())[0], str), "a request without a response")
    equal(post(receiver, request())[0], 200, "the next request is accepted")
    receiver.stop()
    done()


main()
