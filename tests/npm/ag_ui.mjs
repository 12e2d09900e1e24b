// SPDX-License-Identifier: MIT
// What turncast wrote, judged by the published AG-UI client: its schema for every event, its
// reader of frames, its expansion of chunks and its verifier for the sequence. Prints TAP.
//
//     node ag_ui.mjs NODE_MODULES FOLDER
//
// FOLDER/0.x/* is for readers of either version, FOLDER/1.0/* for those of 1.0; NAME.jsonl holds
// lines, NAME.sse frames.
import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";

const [modules, folder] = process.argv.slice(2);
const require = createRequire(path.resolve(modules, "any.js"));
const { asapScheduler, from, lastValueFrom, scheduled, toArray } = require("rxjs");

const readers = [
  { name: "client 0.0.58", client: "ag-ui-client-0", schemas: "ag-ui-core-0", reads: ["0.x"] },
  { name: "client 1.0.0", client: "ag-ui-client-1", schemas: "ag-ui-core-1/schemas", reads: ["0.x", "1.0"] },
];

let results = 0;
let failures = 0;
function ok(problems, name) {
  const good = problems.length === 0;
  failures += good ? 0 : 1;
  console.log(`${good ? "ok" : "not ok"} ${++results} - ${name}`);
  for (const problem of problems.slice(0, 5)) console.log(`# ${problem}`);
}

// The lines' events, each by the schema.
function readLines(reader, text, problems) {
  const { EventSchemas } = require(reader.schemas);
  return text.split("\n").filter(Boolean).map((line, i) => {
    const parsed = EventSchemas.safeParse(JSON.parse(line));
    if (!parsed.success) {
      const issue = parsed.error.issues[0];
      problems.push(`line ${i + 1}: ${issue.path.join(".")}: ${issue.message}: ${line.slice(0, 200)}`);
    }
    return parsed.data;
  });
}

// The frames' events, by the client's own reader of a response body, which wants to be listened to
// before anything comes.
function readFrames(reader, bytes) {
  const { parseSSEStream } = require(reader.client);
  const { EventSchemas } = require(reader.schemas);
  const response = [
    { type: "headers", status: 200, headers: new Headers({ "content-type": "text/event-stream" }) },
    { type: "data", data: new Uint8Array(bytes) },
  ];
  const events = parseSSEStream(scheduled(response, asapScheduler));
  return lastValueFrom(events.pipe(toArray())).then((all) => all.map((e) => EventSchemas.parse(e)));
}

async function check(reader, file) {
  const problems = [];
  try {
    const { transformChunks, verifyEvents } = require(reader.client);
    const bytes = fs.readFileSync(file);
    const events = file.endsWith(".sse")
      ? await readFrames(reader, bytes)
      : readLines(reader, bytes.toString("utf8"), problems);
    const seen = await lastValueFrom(
      from(events).pipe(transformChunks(false), verifyEvents(false), toArray()),
    );
    const last = seen.at(-1)?.type;
    if (last !== "RUN_FINISHED" && last !== "RUN_ERROR") problems.push(`it ends with ${last}`);
  } catch (error) {
    problems.push(String(error.message));
  }
  return problems;
}

for (const reader of readers) {
  for (const version of reader.reads) {
    const files = fs.readdirSync(path.join(folder, version)).sort();
    for (const file of files) {
      ok(await check(reader, path.join(folder, version, file)), `${reader.name}: ${version} ${file}`);
    }
  }
}

// The judge itself: what it must not let pass.
const started = '{"type":"RUN_STARTED","threadId":"t","runId":"r"}\n';
const bad = {
  "a run that finishes with a message open":
    started +
    '{"type":"TEXT_MESSAGE_START","messageId":"m"}\n{"type":"RUN_FINISHED","threadId":"t","runId":"r"}\n',
  "an event without a member": started + '{"type":"TOOL_CALL_START","toolCallId":"c"}\n{"type":"RUN_ERROR","message":"m"}\n',
  "an event before the start": '{"type":"CUSTOM","name":"n","value":1}\n' + started,
};
for (const reader of readers) {
  for (const [name, text] of Object.entries(bad)) {
    const file = path.join(folder, "bad.jsonl");
    fs.writeFileSync(file, text);
    const problems = await check(reader, file);
    ok(problems.length ? [] : ["it passed"], `${reader.name} refuses ${name}`);
  }
}
console.log(`1..${results}`);
process.exitCode = failures ? 1 : 0;
