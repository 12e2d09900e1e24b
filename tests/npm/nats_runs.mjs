// SPDX-License-Identifier: MIT
// Agents of the published AG-UI clients, 0.x and 1.0, whose runs go through a nats-server to
// `turncast serve`, by the npm client of NATS, as tirea's gateway takes them: {agentId, request}, and
// one event in each reply. Prints TAP.
//
//     node nats_runs.mjs NODE_MODULES FOLDER-OF-RECORDINGS
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { spawn } from "node:child_process";
import { done, equal, failure, load, ok } from "./fake.mjs";
import { judge, textOf } from "./ai_judge.mjs";
import { Host, asker, fakeAgent, talker } from "./host.mjs";

const { connect, createInbox, StringCodec } = load("nats");
const { Observable } = load("rxjs");
const text = StringCodec();
const SUBJECT = "agentos.ag-ui.runs";

const freePort = () => new Promise((resolve) => {
  const server = net.createServer().listen(0, "127.0.0.1", () => {
    const { port } = server.address();
    server.close(() => resolve(port));
  });
});

// The server, and a client of it once it listens.
async function startNats() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "turncast-npm-nats."));
  const port = await freePort();
  const config = path.join(folder, "nats.conf");
  fs.writeFileSync(config, `listen: "127.0.0.1:${port}"\njetstream { store_dir: "${folder}/store" }\n`);
  const child = spawn("nats-server", ["-c", config], { stdio: "ignore" });
  process.once("exit", () => {
    child.kill("SIGKILL");
    fs.rmSync(folder, { recursive: true, force: true });
  });
  const servers = `127.0.0.1:${port}`;
  const client = await connect({ servers, waitOnFirstConnect: true, reconnectTimeWait: 50, maxReconnectAttempts: -1 });
  return { url: `nats://${servers}`, client };
}

const nats = await startNats();
const play = (name) => ({ command: [fakeAgent, `play=${path.join(process.argv[3], name)}`] });
const host = await Host.start({
  talker: { command: [talker], resume: ["{session_id}"] },
  tools: play("1.0-narr-tool-final.jsonl"),
  thinking: play("1.0-thinking-nopartial.jsonl"),
  child: play("1.0-subagent.jsonl"),
  broken: play("1.0-err-401-before.jsonl"),
  asker: { command: [asker] },
}, { visibility: "all" }, `host : { name = "build1"; };
bus : { url = ["${nats.url}"]; runs : { key = "client"; }; };`);

// An agent of that client: its own code checks the events and applies them to its messages.
function agentClass(client) {
  const { AbstractAgent } = load(client);
  return class NatsAgent extends AbstractAgent {
    run(input) {
      return new Observable((observer) => {
        const inbox = createInbox();
        const replies = nats.client.subscribe(inbox, {
          callback: (error, message) => {
            if (error) {
              observer.error(error);
              return;
            }
            const event = JSON.parse(text.decode(message.data));
            this.hosts.add(message.headers?.get("Turncast-Host"));
            observer.next(event);
            if (event.type === "RUN_FINISHED" || event.type === "RUN_ERROR") observer.complete();
          },
        });
        const request = { agentId: this.agentId, request: input };
        nats.client.publish(SUBJECT, text.encode(JSON.stringify(request)), { reply: inbox });
        return () => replies.unsubscribe();
      });
    }
  };
}

let threads = 0;
function agentOf(client, agentId) {
  const agent = new (agentClass(client))({ threadId: `${client}-${++threads}` });
  agent.agentId = agentId;
  agent.seen = [];
  agent.hosts = new Set();
  const onEvent = ({ event }) => void agent.seen.push(event);
  agent.say = (content, parameters = {}) => {
    agent.addMessage({ id: `u-${threads}-${agent.messages.length}`, role: "user", content });
    return agent.runAgent(parameters, { onEvent });
  };
  agent.answer = (resume) => agent.runAgent({ resume }, { onEvent });
  return agent;
}

const types = (agent) => agent.seen.map((e) => e.type);

// Until the host listens: it may take a moment longer than to serve.
async function awaitService() {
  for (const until = Date.now() + 30000; Date.now() < until; ) {
    try {
      await nats.client.request(SUBJECT, text.encode("{}"), { timeout: 10000 });
      return;
    } catch (error) {
      if (error.code !== "503") throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  throw new Error(`nobody serves ${SUBJECT}: ${host.log}`);
}

await awaitService();
for (const client of ["ag-ui-client-0", "ag-ui-client-1"]) {
  const is = `${client}: `;

  const talks = agentOf(client, "talker");
  await talks.say("id=first", { runId: `${client}-1` });
  equal([talks.seen[0].type, talks.seen[0].threadId, talks.seen[0].runId],
    ["RUN_STARTED", talks.threadId, `${client}-1`], `${is}a run has the client's own names`);
  equal(types(talks).at(-1), "RUN_FINISHED", `${is}and ends`);
  equal([...talks.hosts], ["build1"], `${is}each event says which host runs it`);
  const session = /Answer first of (\S+):/.exec(talks.messages[1]?.content)?.[1];
  ok(session, `${is}what the agent said`, talks.messages);
  await talks.say("id=second");
  equal(/Answer second of (\S+):/.exec(talks.messages[3]?.content)?.[1], session,
    `${is}a second run on the thread resumes`);

  const tools = agentOf(client, "tools");
  await tools.say("look");
  equal(tools.messages.find((m) => m.role === "tool")?.content, "hello-from-tool", `${is}a tool's result`);
  equal(tools.messages.at(-1).content, "The command printed hello-from-tool. All done.",
    `${is}and what was said last`);

  for (const name of ["thinking", "child"]) {
    const agent = agentOf(client, name);
    await agent.say("go");
    equal(types(agent).at(-1), "RUN_FINISHED", `${is}${name}`);
  }

  const broken = agentOf(client, "broken");
  await failure(broken.say("go"));
  ok(broken.seen.find((e) => e.type === "RUN_ERROR")?.message, `${is}an agent's error is a run's`, broken.seen);

  const nobody = agentOf(client, "nobody");
  await failure(nobody.say("hi"));
  equal([types(nobody), nobody.seen[0]?.code], [["RUN_ERROR"], "no_such_agent"],
    `${is}an unknown agent is one RUN_ERROR`);

  const asks = agentOf(client, "asker");
  await asks.say("run=df -h");
  const [question] = asks.pendingInterrupts;
  equal(question?.message, "Bash: df -h", `${is}a run is interrupted by what the agent asks`);
  await asks.answer([{ interruptId: question.id, status: "resolved", payload: { approved: true } }]);
  equal(JSON.parse(asks.messages.at(-1).content).behavior, "allow", `${is}and the next run answers`);
}

// The AI SDK's events, judged by its package.
async function runAiSdk(request) {
  const replies = nats.client.subscribe(createInbox());
  nats.client.publish("agentos.ai-sdk.runs", text.encode(JSON.stringify(request)), { reply: replies.getSubject() });
  const events = [];
  for await (const message of replies) {
    events.push(text.decode(message.data));
    const { type } = JSON.parse(events.at(-1));
    if (["finish", "abort"].includes(type) || (type === "error" && events.length === 1)) break;
  }
  return events;
}

const one = await judge(await runAiSdk({ agentId: "talker", sessionId: "s1", input: "id=one", runId: "r1" }));
equal(one.problems, [], "ai: the stream is valid");
const own = /Answer one of (\S+):/.exec(textOf(one.message))?.[1];
ok(own, "ai: what the agent said", one);
const two = await judge(await runAiSdk({ agentId: "talker", sessionId: "s1", input: "id=two" }));
equal(/Answer two of (\S+):/.exec(textOf(two.message))?.[1], own, "ai: the next run of the session resumes");
const look = await judge(await runAiSdk({ agentId: "tools", sessionId: "s2", input: "look" }));
equal([look.problems, look.message.parts.find((p) => p.type === "dynamic-tool")?.output], [[], "hello-from-tool"], "ai: a tool");
const unknown = await runAiSdk({ agentId: "nobody", sessionId: "s3", input: "hi" });
equal(unknown.map((e) => JSON.parse(e).type), ["error"], "ai: an unknown agent is one error");
const mute = await runAiSdk({ agentId: "talker", sessionId: "s4" });
equal(JSON.parse(mute[0]), { type: "error", errorText: "sessionId and input must be strings." }, "ai: so is a wrong request");

await nats.client.drain();
equal(await host.stop(), 0, "the host ends well");
done();
