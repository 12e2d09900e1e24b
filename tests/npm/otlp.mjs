// SPDX-License-Identifier: MIT
// Traces of recorded turns, read with the schema that OpenTelemetry publishes (opentelemetry-proto in
// @opentelemetry/otlp-transformer) and with its list of attributes. Prints TAP.
//
//     node otlp.mjs NODE_MODULES FOLDER-OF-FAKES
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import { spawn } from "node:child_process";
import { done, equal, load, ok } from "./fake.mjs";

const { opentelemetry } = load("@opentelemetry/otlp-transformer/build/src/generated/root.js");
const conventions = load("@opentelemetry/semantic-conventions/incubating");
const Request = opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
const known = new Set(Object.entries(conventions).filter(([name]) => name.startsWith("ATTR_")).map(([, key]) => key));
const build = process.env.TURNCAST_BUILDDIR;
const recordings = path.join(process.env.TURNCAST_SRCDIR, "tests/dialects/claude");
const IDS = ["traceId", "spanId", "parentSpanId"]; // hexadecimal in OTLP, base64 in other JSON of protobuf

const rewrite = (value, change) => {
  if (Array.isArray(value)) return value.map((item) => rewrite(item, change));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) =>
    [key, IDS.includes(key) ? change(inner) : rewrite(inner, change)]));
};
// In one order, without what protobuf does not write.
const bare = (value) => {
  if (Array.isArray(value)) return value.map(bare);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).sort().map(([key, inner]) => [key, bare(inner)])
    .filter(([, inner]) => !(inner === "" || (Array.isArray(inner) && !inner.length) ||
      (inner && typeof inner === "object" && !Array.isArray(inner) && !Object.keys(inner).length))));
};

// Through protobuf and back: a field that the schema does not have, or a value of another type, is
// not the same afterwards.
function strictlyDecoded(json) {
  const message = Request.fromObject(rewrite(json, (hex) => Buffer.from(hex, "hex")));
  const read = Request.decode(Request.encode(message).finish());
  const back = Request.toObject(read, { longs: String, bytes: Buffer });
  return bare(rewrite(back, (bytes) => Buffer.from(bytes).toString("hex")));
}

async function traced(recording, options = "") {
  const requests = [];
  const server = http.createServer(async (request, answer) => {
    let text = "";
    for await (const piece of request) text += piece;
    requests.push({ url: request.url, type: request.headers["content-type"], body: JSON.parse(text) });
    answer.setHeader("Content-Type", "application/json");
    answer.end("{}");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "turncast-otlp."));
  const config = path.join(folder, "turncast.conf");
  const endpoint = `http://127.0.0.1:${server.address().port}`;
  const instances = `otlp : { endpoint = "${endpoint}"; ${options} }; log : { plugin = "jsonl"; path = "${folder}/events"; };`;
  fs.writeFileSync(config, `plugins : { instances : { ${instances} }; };`, { mode: 0o600 });
  const env = { ...process.env, HOME: folder, XDG_STATE_HOME: folder };
  const replay = spawn(path.resolve(build, "turncast"), ["replay", "-c", config, path.join(recordings, recording)], { env });
  const status = await new Promise((resolve) => replay.once("exit", resolve));
  const events = fs.readFileSync(path.join(folder, "events"), "utf8").trim().split("\n").map((line) => JSON.parse(line));
  server.close();
  fs.rmSync(folder, { recursive: true });
  return { status, requests, events };
}

const attributes = (span) =>
  Object.fromEntries(span.attributes.map(({ key, value }) => [key, value.intValue !== undefined ? Number(value.intValue) : Object.values(value)[0]]));
const sum = (spans, key) => spans.reduce((total, span) => total + (attributes(span)[key] ?? 0), 0);

async function testSchema() {
  const { status, requests } = await traced("2.1-subagent-nested.jsonl", "content = true;");
  equal(status, 0, "a recorded turn with sub-agents");
  for (const { url, type, body } of requests) {
    equal([url, type], ["/v1/traces", "application/json"], "where it is sent");
    equal(strictlyDecoded(body), bare(body), "the schema has every field, with every type");
    equal(Request.verify(Request.fromObject(rewrite(body, (hex) => Buffer.from(hex, "hex")))), null, "and verifies it");
  }
  const wrong = structuredClone(requests[0].body);
  wrong.resourceSpans[0].scopeSpans[0].spans[0].title = "x";
  ok(JSON.stringify(strictlyDecoded(wrong)) !== JSON.stringify(bare(wrong)), "an unknown field is noticed");
  const spans = requests.flatMap(({ body }) => body.resourceSpans[0].scopeSpans[0].spans);
  const keys = new Set(spans.flatMap((span) => span.attributes.map(({ key }) => key)));
  equal([...keys].filter((key) => !key.startsWith("turncast.") && !known.has(key)), [], "the conventions have all attributes");
  const operations = Object.entries(conventions).filter(([name]) => name.startsWith("GEN_AI_OPERATION_NAME_VALUE_"));
  const used = new Set(spans.map((span) => attributes(span)["gen_ai.operation.name"]));
  equal([...used].sort(), ["chat", "execute_tool", "invoke_agent"], "operations");
  ok([...used].every((name) => operations.some(([, value]) => value === name)), "which the conventions have");
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const chain = (span) => (span.parentSpanId ? [span.name, ...chain(byId.get(span.parentSpanId))] : [span.name]);
  equal(chain(spans.find((span) => span.name === "execute_tool Bash")),
    ["execute_tool Bash", "invoke_agent general-purpose", "execute_tool Agent", "invoke_agent general-purpose",
      "execute_tool Agent", "invoke_agent claude-code"], "sub-agents nest");
}

async function testTokens() {
  for (const recording of ["2.1-subagent-nested.jsonl", "2.1-narr-tool-final.jsonl", "1.0-narr-tool-final.jsonl"]) {
    const { requests, events } = await traced(recording);
    const spans = requests.flatMap(({ body }) => body.resourceSpans[0].scopeSpans[0].spans);
    const usage = events.find(({ type, payload }) => type === "usage" && payload.scope === "turn").payload;
    const cached = usage.cache_read_tokens + usage.cache_write_tokens;
    equal(["input_tokens", "output_tokens", "cache_read.input_tokens", "cache_creation.input_tokens"]
      .map((name) => sum(spans, `gen_ai.usage.${name}`)),
    [usage.input_tokens + cached, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens],
    `${recording}: the tokens of all spans add up to the tokens of the turn`);
    ok(!JSON.stringify(requests).includes("hello-from-tool"), "no content without the option");
  }
}

// Prices of a model per million tokens: input, cache read, cache write, output.
const price = ([input, read, written, output]) => (input * 3 + read * 0.3 + written * 3.75 + output * 15) / 1e6;

async function testCost() {
  for (const [options, inclusive] of [["", true], ["input_includes_cache = false;", false]]) {
    const { requests, events } = await traced("2.1-narr-tool-final.jsonl", options);
    const spans = requests.flatMap(({ body }) => body.resourceSpans[0].scopeSpans[0].spans);
    const read = sum(spans, "gen_ai.usage.cache_read.input_tokens");
    const written = sum(spans, "gen_ai.usage.cache_creation.input_tokens");
    const full = sum(spans, "gen_ai.usage.input_tokens") - (inclusive ? read + written : 0);
    const shown = price([full, read, written, sum(spans, "gen_ai.usage.output_tokens")]);
    const { payload } = events.find(({ type, payload: p }) => type === "usage" && p.scope === "turn");
    const real = price([payload.input_tokens, payload.cache_read_tokens, payload.cache_write_tokens, payload.output_tokens]);
    equal(shown, real, `${inclusive ? "a receiver that subtracts" : "one that does not"}: the cost of cached tokens is counted once`);
  }
}

for (const test of [testSchema, testTokens, testCost]) await test();
done();
