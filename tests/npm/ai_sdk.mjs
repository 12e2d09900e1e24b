// SPDX-License-Identifier: MIT
// The package `ai` and what turncast writes for it: recordings, and a chat over HTTP by its own
// transport, as useChat has it. Prints TAP.
//
//     node ai_sdk.mjs NODE_MODULES FOLDER-OF-RECORDINGS FOLDER-OF-WRITTEN
import fs from "node:fs";
import path from "node:path";
import { done, equal, failure, load, ok } from "./fake.mjs";
import { judge, textOf } from "./ai_judge.mjs";
import { Host, KEY, asker, fakeAgent, talker } from "./host.mjs";

const { DefaultChatTransport, readUIMessageStream } = load("ai");
const [recordings, written] = process.argv.slice(3);

for (const file of fs.readdirSync(written).sort()) {
  const lines = fs.readFileSync(path.join(written, file), "utf8").split("\n").filter(Boolean);
  const { problems } = await judge(lines);
  ok(problems.length === 0, file, problems);
}
const bad = await judge(['{"type":"start","messageId":"m"}', '{"type":"text-delta","id":"1","delta":"x"}', '{"type":"finish"}']);
ok(bad.problems.length > 0, "the judge refuses a delta without a start");
const wrong = await judge(['{"type":"start"}', '{"type":"tool-output-available"}', '{"type":"finish"}']);
ok(wrong.problems.length > 0, "and a chunk without a member");

const play = (name) => ({ command: [fakeAgent, `play=${path.join(recordings, name)}`] });
const host = await Host.start({
  talker: { command: [talker], resume: ["{session_id}"] },
  tools: play("1.0-narr-tool-final.jsonl"),
  thinking: play("1.0-thinking-nopartial.jsonl"),
  broken: play("1.0-err-401-before.jsonl"),
  asker: { command: [asker] },
}, { visibility: "all" });

const user = (text) => ({ id: `u-${text}`, role: "user", parts: [{ type: "text", text }] });

async function chat(agent, chatId, messages, key = KEY) {
  const transport = new DefaultChatTransport({
    api: `${host.url}/ai-sdk/${agent}`, headers: { Authorization: `Bearer ${key}` },
  });
  const stream = await transport.sendMessages({ trigger: "submit-message", chatId, messages, abortSignal: undefined });
  let message;
  const errors = [];
  for await (const m of readUIMessageStream({ stream, onError: (e) => errors.push(e.message) })) message = m;
  return { message, errors };
}

const first = await chat("talker", "c1", [user("id=first")]);
const session = /Answer first of (\S+):/.exec(textOf(first.message))?.[1];
ok(session, "a chat has the answer", first);
equal(first.errors, [], "without an error");
const second = await chat("talker", "c1", [user("id=first"), first.message, user("id=second")]);
equal(/Answer second of (\S+):/.exec(textOf(second.message))?.[1], session, "the next message continues the session");
const history = await chat("talker", "c2", [user("id=first"), first.message, user("id=third")]);
ok(/With third/.test(textOf(history.message)), "a new session is told the messages before, too", history);

const tools = await chat("tools", "c3", [user("look")]);
const call = tools.message.parts.find((p) => p.type === "dynamic-tool");
equal([call?.toolName, call?.input.command, call?.state, call?.output],
  ["Bash", "echo hello-from-tool", "output-available", "hello-from-tool"], "a tool's call and its result");
const thinking = await chat("thinking", "c4", [user("think")]);
ok(thinking.message.parts.some((p) => p.type === "reasoning" && p.text), "thinking", thinking.message);

const broken = await chat("broken", "c5", [user("go")]);
equal(broken.errors.length, 1, "an agent's error is one of the stream");
const nobody = await failure(chat("nobody", "c6", [user("hi")]));
ok(/no_such_agent/.test(nobody.message), "an unknown agent is an error of the request", String(nobody));
const stranger = await failure(chat("talker", "c7", [user("hi")], "wrong-key-0123456789"));
ok(/invalid_api_key/.test(stranger.message), "so is a wrong key", String(stranger));
const file = { id: "f", role: "user", parts: [{ type: "file", mediaType: "image/png", url: "data:image/png;base64,AA==" }] };
ok(/invalid_messages/.test((await failure(chat("talker", "c8", [file]))).message), "a file is refused");

const asked = chat("asker", "c9", [user("run=df -h")]);
let request;
for (const until = Date.now() + 20000; !request && Date.now() < until; )
  [request] = (await host.get("/requests")).requests;
await fetch(`${host.url}/turns/${request.turn}/requests/${request.id}`, {
  method: "POST", headers: { Authorization: `Bearer ${KEY}`, "Content-Type": "application/json" },
  body: JSON.stringify({ choice: "allow" }),
});
const { message } = await asked;
equal(message.parts.find((p) => p.type === "data-request")?.data.decision, "allow", "what is asked is answered elsewhere");
equal(JSON.parse(textOf(message)).behavior, "allow", "and the agent is told");

equal(await host.stop(), 0, "the host ends well");
done();
