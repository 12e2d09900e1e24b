#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A receiver of traces for tests: OTLP over HTTP in JSON, on loopback, strict.

    otlpd.py LOG [--header NAME=VALUE] [--answer STATUS[,STATUS...]]

Prints "listening PORT", then appends one JSON line to LOG per request: status, headers, body. It
refuses (400) what the JSON mapping of opentelemetry-proto does not allow, also fields that the
protocol does not have, and spans that have the id of another one in the same request. With --header it
refuses (401) requests without that header. --answer: statuses of the first requests, in place of 200;
"lost" takes the request and closes without an answer, "partial" rejects its first span.

A test can import it: Receiver.start(), then spans(), answer(...), requests.
"""
import argparse
import http.server
import json
import pathlib
import re
import threading

UINT64 = 1 << 64
TRACES = "/v1/traces"


class Refusal(Exception):
    """A request that is not valid OTLP."""


def demand(condition, words):
    if not condition:
        raise Refusal(words)


def members(value, allowed, place):
    demand(isinstance(value, dict), f"{place} is no object")
    unknown = set(value) - set(allowed)
    demand(not unknown, f"{place} has unknown fields: {sorted(unknown)}")


def check_text(value, place):
    demand(isinstance(value, str), f"{place} is no string")


def check_id(value, digits, place):
    demand(isinstance(value, str) and re.fullmatch(f"[0-9a-f]{{{digits}}}", value), f"{place}: {value!r}")
    demand(set(value) != {"0"}, f"{place} is all zero")


def check_uint(value, place):
    demand(isinstance(value, str) and value.isdigit() and int(value) < UINT64, f"{place}: {value!r}")


def check_value(value, place):
    members(value, ["stringValue", "intValue", "doubleValue", "boolValue"], place)
    demand(len(value) == 1, f"{place} has {len(value)} values")
    (kind, inner), = value.items()
    types = {"stringValue": str, "intValue": str, "doubleValue": (int, float), "boolValue": bool}
    demand(isinstance(inner, types[kind]) and isinstance(inner, bool) == (kind == "boolValue"), f"{place}: {kind} is {inner!r}")
    demand(kind != "intValue" or re.fullmatch(r"-?[0-9]+", inner), f"{place}: {inner!r}")


def check_attributes(values, place):
    demand(isinstance(values, list), f"{place} is no array")
    for value in values:
        members(value, ["key", "value"], place)
        check_text(value.get("key"), place)
        demand(value["key"], f"{place}: an attribute without a key")
        check_value(value.get("value"), f"{place} {value['key']}")
    keys = [value["key"] for value in values]
    demand(len(keys) == len(set(keys)), f"{place} has a key twice: {sorted(keys)}")


def check_span(span):
    members(span, ["traceId", "spanId", "traceState", "parentSpanId", "flags", "name", "kind", "startTimeUnixNano",
                   "endTimeUnixNano", "attributes", "droppedAttributesCount", "events", "droppedEventsCount", "links",
                   "droppedLinksCount", "status"], "span")  # fmt: skip
    check_id(span.get("traceId"), 32, "traceId")
    check_id(span.get("spanId"), 16, "spanId")
    if span.get("parentSpanId"):
        check_id(span["parentSpanId"], 16, "parentSpanId")
    check_text(span.get("name"), "name")
    demand(span.get("kind") in range(6) and isinstance(span["kind"], int), f"kind: {span.get('kind')!r}")
    for key in ("startTimeUnixNano", "endTimeUnixNano"):
        check_uint(span.get(key), key)
    demand(int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"]), "the span ends before it starts")
    check_attributes(span.get("attributes", []), "attributes")
    for event in span.get("events", []):
        members(event, ["timeUnixNano", "name", "attributes", "droppedAttributesCount"], "event")
        check_uint(event.get("timeUnixNano"), "timeUnixNano")
        check_text(event.get("name"), "name")
        check_attributes(event.get("attributes", []), "attributes of an event")
    members(span.get("status", {}), ["code", "message"], "status")
    demand(span.get("status", {}).get("code", 0) in (0, 1, 2), "status.code")


def spans_of(body):
    """Returns all spans of a request after checking them."""
    found = []
    members(body, ["resourceSpans"], "request")
    for resource in body.get("resourceSpans", []):
        members(resource, ["resource", "scopeSpans", "schemaUrl"], "resourceSpans")
        members(resource.get("resource", {}), ["attributes", "droppedAttributesCount"], "resource")
        check_attributes(resource["resource"].get("attributes", []), "attributes of the resource")
        for scope in resource.get("scopeSpans", []):
            members(scope, ["scope", "spans", "schemaUrl"], "scopeSpans")
            members(scope.get("scope", {}), ["name", "version", "attributes"], "scope")
            for span in scope.get("spans", []):
                check_span(span)
                found.append(span)
    ids = [(span["traceId"], span["spanId"]) for span in found]
    demand(len(ids) == len(set(ids)), "two spans have one id")
    return found


class Receiver(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, log=None, header=None, port=0):
        super().__init__(("127.0.0.1", port), Handler)
        self.log, self.header = log, header
        self.answers, self.requests, self.lock = [], [], threading.Lock()
        self.hold = threading.Event()  # cleared: no response until it is set
        self.hold.set()
        self.is_stopped = False

    @classmethod
    def start(cls, **more):
        receiver = cls(**more)
        threading.Thread(target=receiver.serve_forever, args=(0.05,), daemon=True).start()
        return receiver

    def stop(self):
        """Stops the server and its open connections."""
        self.is_stopped = True
        self.shutdown()
        self.server_close()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def answer(self, *answers):
        """Sets the responses to the next requests: a status, "lost" or "partial"."""
        with self.lock:
            self.answers.extend(answers)

    def spans(self):
        """The spans of accepted requests."""
        with self.lock:
            return [s for r in self.requests if r["status"] == 200 for s in spans_of(r["body"])]

    def check_request(self, path, headers, text):
        """Returns the status or word of the response, and the reason of a refusal."""
        try:
            demand(path == TRACES, f"no such path: {path}")
            demand(headers.get("Content-Type", "").split(";")[0] == "application/json", "no JSON")
            spans_of(json.loads(text))
        except (Refusal, ValueError) as e:
            return 400, str(e)
        if self.header:
            name, value = self.header.split("=", 1)
            if headers.get(name) != value:
                return 401, "wrong credentials"
        return (self.answers.pop(0), "as the test wants") if self.answers else (200, "")

    def accept_request(self, path, headers, text):
        with self.lock:
            status, why = self.check_request(path, headers, text)
            record = {"status": status, "why": why, "headers": dict(headers), "body": None}
            if status != 400:
                record["body"] = json.loads(text)
            if status == "partial":
                record["status"] = 200
            self.requests.append(record)
            if self.log:
                with open(self.log, "a", encoding="utf-8") as file:
                    file.write(json.dumps(record) + "\n")
        return status, why


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        text = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.hold.wait(60)
        if self.server.is_stopped:
            self.close_connection = True
            return
        status, why = self.server.accept_request(self.path, self.headers, text)
        body = {"code": 3, "message": why} if status not in (200, "partial") else {"partialSuccess": {}}
        if status == "lost":
            self.close_connection = True
            return
        if status == "partial":
            status, body = 200, {"partialSuccess": {"rejectedSpans": "1", "errorMessage": "too old"}}
        answer = json.dumps(body).encode()
        self.send_response(status)
        if status in (429, 503):
            self.send_header("Retry-After", "1")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("log", type=pathlib.Path)
    parser.add_argument("--header")
    parser.add_argument("--answer", default="")
    args = parser.parse_args()
    receiver = Receiver(args.log, args.header)
    receiver.answer(*[int(a) if a.isdigit() else a for a in args.answer.split(",") if a])
    print("listening", receiver.server_address[1], flush=True)
    receiver.serve_forever()


if __name__ == "__main__":
    main()
