// SPDX-License-Identifier: MIT
// The clients of OpenAI and of Vercel's AI SDK against `turncast serve`: what they make of a turn, of
// its failure before and behind the first byte, how often an agent runs when they try again, and
// that it is gone when they are. Prints TAP.
//
//     node openai.mjs NODE_MODULES FOLDER-OF-RECORDINGS
import net from "node:net";
import path from "node:path";
import { spawnSync } from "node:child_process";
import { done, equal, failure, load, ok } from "./fake.mjs";
import { Host, KEY, fakeAgent, talker } from "./host.mjs";

const { OpenAI } = load("openai");
const { createOpenAICompatible } = load("@ai-sdk/openai-compatible");
const { generateText, streamText } = load("ai");

const recordings = process.argv[3];
const play = (name) => ({ command: [fakeAgent, `play=${path.join(recordings, name)}`] });
const mark = `mark=openai-${process.pid}`;
const host = await Host.start({
  main: { command: [talker], resume: ["{session_id}"] },
  tools: play("1.0-narr-tool-final.jsonl"),
  thinking: play("1.0-thinking-nopartial.jsonl"),
  missing: { command: ["/nonexistent/agent"] },
  hanging: { command: [fakeAgent, mark,
    'text={"type":"system","subtype":"init","session_id":"s-h"}',
    'text={"type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"working"}]},"session_id":"s-h"}',
    "sleep"] },
}, { disconnect_grace_s: 0 });
const running = () => spawnSync("pgrep", ["-f", "--", mark]).status === 0;
const count = async () => (await host.get("/turns")).turns.length;
const said = (content) => [{ role: "user", content }];

const openai = (more = {}) => new OpenAI({ apiKey: KEY, baseURL: `${host.url}/v1`, ...more });
async function collect(stream) {
  const seen = { chunks: [], text: "", reasoning: "" };
  try {
    for await (const chunk of stream) {
      seen.chunks.push(chunk);
      seen.text += chunk.choices[0]?.delta.content ?? "";
      seen.reasoning += chunk.choices[0]?.delta.reasoning_content ?? "";
    }
  } catch (error) {
    seen.error = error;
  }
  return seen;
}
const stream = async (content, more = {}, options = {}) =>
  collect(await openai().chat.completions.create(
    { model: "main", messages: said(content), stream: true, ...more }, options));

// A door before the host that breaks the first connections behind their request; `wide`: the host
// sees that, too.
async function breakingDoor(times, wide) {
  const { hostname, port } = new URL(host.url);
  const server = net.createServer((client) => {
    const behind = net.connect(Number(port), hostname);
    client.on("error", () => {});
    behind.on("error", () => {});
    client.pipe(behind);
    if (times-- <= 0) {
      behind.pipe(client);
      return;
    }
    setTimeout(() => {
      client.resetAndDestroy();
      if (wide) behind.resetAndDestroy();
    }, 300);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, url: `http://127.0.0.1:${server.address().port}/v1` };
}

async function testAnswers() {
  const models = [];
  for await (const model of openai().models.list()) models.push(model.id);
  equal(models, ["main", "tools", "thinking", "missing", "hanging"], "openai: agents are models");
  equal((await openai().models.retrieve("tools")).id, "tools", "openai: one of them");

  const one = await stream("id=one tools=1");
  ok(/^Looking at part 1\.\n\nAnswer one of \S+: \*\*1\*\* parts looked at\.$/.test(one.text),
    "openai: a stream has each text once", one.text);
  equal(one.chunks.at(-1).choices[0].finish_reason, "stop", "openai: and its end");
  equal(one.chunks[0].choices[0].delta, { role: "assistant" }, "openai: and its role first");

  const asked = await stream("id=two", { stream_options: { include_usage: true } });
  equal(asked.chunks.at(-1).usage,
    { prompt_tokens: 12000, completion_tokens: 345, total_tokens: 12345 }, "openai: usage on request");
  equal(asked.chunks.at(-1).choices, [], "openai: in a chunk of its own");
  equal(asked.chunks.filter((c) => c.usage).length, 1, "openai: once");

  const whole = await openai().chat.completions.create({ model: "main", messages: said("id=three") });
  ok(whole.choices[0].message.content.startsWith("Answer three of"), "openai: as a whole", whole);
  equal(whole.usage.total_tokens, 12345, "openai: with usage");
  equal(`chatcmpl-${whole._request_id}`, whole.id, "openai: named by its turn");

  const runner = openai().chat.completions.stream({ model: "main", messages: said("id=four") });
  ok((await runner.finalContent()).startsWith("Answer four of"), "openai: the helper's final text");

  const status = await stream("/show-all /stream-status");
  equal(JSON.parse(status.text).show_thinking, true, "openai: switches are told");
  const tools = await stream("/show-all look", { model: "tools" });
  ok(tools.reasoning.includes("tool_use: Bash") && tools.reasoning.includes("hello-from-tool"),
    "openai: tools are text", tools.reasoning);
  ok(!tools.chunks.some((c) => c.choices[0]?.delta.tool_calls), "openai: and none of the client's");
  ok((await stream("/show-all think", { model: "thinking" })).reasoning, "openai: thinking");
}

async function testFailures() {
  const retrying = openai({ maxRetries: 2 }).chat.completions;
  const before = await count();
  const wrong = await failure(retrying.create({ model: "main", messages: said("id=x fail") }));
  equal([wrong.status, wrong.code], [500, "error_during_execution"], "openai: a failed turn", wrong);
  ok(/Part x is broken/.test(wrong.message), "openai: with its message", wrong.message);
  equal(await count(), before + 1, "openai: has run once");
  const none = await failure(
    retrying.create({ model: "missing", messages: said("go"), stream: true }));
  equal([none.status, none.type], [500, "server_error"], "openai: a stream that fails before it began");
  equal(await count(), before + 2, "openai: has run once");
  const late = await stream("id=y tools=1 ms=50 fail");
  ok(/Part y is broken/.test(late.error?.message), "openai: one that fails later", late);
  ok(late.text.includes("Looking at part 1"), "openai: after what it said", late.text);
  equal(await count(), before + 3, "openai: has run once");
  const nobody = await failure(retrying.create({ model: "gpt-9", messages: said("hi") }));
  equal([nobody.status, nobody.code], [404, "model_not_found"], "openai: an unknown agent");
  const stranger = await failure(
    openai({ apiKey: "wrong-key-0123456789" }).chat.completions.create({ model: "main", messages: said("hi") }));
  equal(stranger.constructor.name, "AuthenticationError", "openai: a wrong key");
  const bad = await failure(retrying.create({ model: "main", messages: [] }));
  equal(bad.constructor.name, "BadRequestError", "openai: no message");
}

// The first connection breaks before the answer. The next try is of the same turn, or the turn has
// been ended with its client: two never run.
async function testRetries() {
  for (const [wide, id, turns] of [[false, "r-1", 1], [false, undefined, 1], [true, "r-2", 2],
    [true, undefined, 2]]) {
    const door = await breakingDoor(1, wide);
    const client = openai({ baseURL: door.url, maxRetries: 2 });
    const before = await count();
    const answer = await client.chat.completions.create(
      { model: "main", messages: said(`id=retried-${wide}-${id ?? 0} ms=1500`) },
      { headers: id ? { "x-request-id": id } : {} });
    const name = `openai: ${wide ? "lost on both sides" : "lost"}, ${id ? "with an id" : "without"}`;
    ok(answer.choices[0].message.content.startsWith("Answer retried"), `${name}: tries again`, answer);
    const list = (await host.get("/turns")).turns.slice(0, -before);
    equal(list.length, turns, `${name}: is that turn, or instead of it`);
    door.server.close();
  }
}

async function testLeaving() {
  const stream = await openai().chat.completions.create(
    { model: "hanging", messages: said("go"), stream: true });
  let text = "";
  for await (const chunk of stream) {
    text += chunk.choices[0].delta.content ?? "";
    if (text === "working") stream.controller.abort();
  }
  await host.turns("cancelled");
  ok(!running(), "openai: the agent of an aborted stream is gone");
  const timed = await failure(openai({ timeout: 500, maxRetries: 0 }).chat.completions.create(
    { model: "hanging", messages: said("go on") }));
  equal(timed.constructor.name, "APIConnectionTimeoutError", "openai: one that waits no longer");
  await host.turns("cancelled");
  ok(!running(), "openai: nor is its agent left");
}

// With the time of grace that is the default: a client that waits too short for a turn, tries again by
// itself and is told that turn in the end. Its agent is started once.
async function testGrace() {
  const patient = await Host.start({ main: { command: [talker] } });
  try {
    const client = new OpenAI({ apiKey: KEY, baseURL: `${patient.url}/v1`, timeout: 2000, maxRetries: 5 });
    const answer = await client.chat.completions.create(
      { model: "main", messages: said("id=slow tools=1 ms=5000") });
    ok(answer.choices[0].message.content.startsWith("Answer slow of"), "openai: timed out, it tries again", answer);
    const { turns } = await patient.get("/turns");
    equal(turns.length, 1, "openai: and is told the turn that it began");
  } finally {
    equal(await patient.stop(), 0, "the host of a patient client ends well");
  }
}

async function testVercel() {
  const provider = createOpenAICompatible({
    name: "turncast", apiKey: KEY, baseURL: `${host.url}/v1`, includeUsage: true });
  const result = streamText({ model: provider("tools"), prompt: "look", onError() {} });
  const parts = [];
  for await (const part of result.fullStream) parts.push(part);
  const text = await result.text;
  equal(text.split("All done.").length, 2, "ai: streamText has the answer once");
  ok((await result.reasoningText).includes("tool_use: Bash"), "ai: tools in the reasoning");
  equal((await result.toolCalls).length, 0, "ai: and no calls");
  equal(await result.finishReason, "stop", "ai: it ends well");
  const counted = await streamText({ model: provider("main"), prompt: "id=v" }).usage;
  equal([counted.inputTokens, counted.outputTokens], [12000, 345], "ai: usage");

  const whole = await generateText({ model: provider("main"), prompt: "id=w", system: "Be brief." });
  ok(whole.text.startsWith("Answer w of"), "ai: generateText", whole.text);
  equal(whole.usage.totalTokens, 12345, "ai: with usage");

  const before = await count();
  const wrong = await failure(generateText({ model: provider("main"), prompt: "id=x fail", maxRetries: 0 }));
  equal([wrong.statusCode, wrong.data?.error.code], [500, "error_during_execution"], "ai: a failed turn is an error", wrong);
  const errors = [];
  const late = streamText({ model: provider("main"), prompt: "id=y tools=1 ms=50 fail",
    onError: ({ error }) => errors.push(error) });
  await late.consumeStream();
  ok(/Part y is broken/.test(JSON.stringify(errors) + String(errors[0]?.message ?? errors[0])),
    "ai: also behind the first byte", errors.map(String));
  ok(await count() >= before + 2, "ai: each is a turn");

  const control = new AbortController();
  const hanging = streamText({ model: provider("hanging"), prompt: "go", abortSignal: control.signal,
    onError() {} });
  for await (const piece of hanging.textStream) if (piece.includes("working")) control.abort();
  await host.turns("cancelled");
  ok(!running(), "ai: the agent of an aborted stream is gone");
}

for (const test of [testAnswers, testFailures, testRetries, testLeaving, testGrace, testVercel])
  await test().catch((error) => ok(false, test.name, String(error.stack)));
equal(await host.stop(), 0, "the host ends well");
done();
