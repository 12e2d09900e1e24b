// SPDX-License-Identifier: MIT
// HttpAgent of the published AG-UI clients, 0.x and 1.0, against `turncast serve`: what they keep of
// a run, what an error is to them, and that a run is gone when they are. Prints TAP.
//
//     node ag_ui_http.mjs NODE_MODULES FOLDER-OF-RECORDINGS
import path from "node:path";
import { spawnSync } from "node:child_process";
import { done, equal, failure, load, ok } from "./fake.mjs";
import { Host, KEY, fakeAgent, talker } from "./host.mjs";

const recordings = process.argv[3];
const play = (name) => ({ command: [fakeAgent, `play=${path.join(recordings, name)}`] });
const mark = `mark=ag-ui-${process.pid}`;

const host = await Host.start({
  talker: { command: [talker], resume: ["{session_id}"] },
  tools: play("1.0-narr-tool-final.jsonl"),
  thinking: play("1.0-thinking-nopartial.jsonl"),
  broken: play("1.0-err-401-before.jsonl"),
  child: play("1.0-subagent.jsonl"),
  hanging: { command: [fakeAgent, mark,
    'text={"type":"system","subtype":"init","session_id":"s-h"}',
    'text={"type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"working"}]},"session_id":"s-h"}',
    "sleep"] },
}, { visibility: "all" });

let threads = 0;
function agentOf(client, name, threadId = `thread-${++threads}`, key = KEY) {
  const { HttpAgent } = load(client);
  const agent = new HttpAgent({
    url: `${host.url}/ag-ui${name ? `/${name}` : ""}`,
    headers: { Authorization: `Bearer ${key}` },
    threadId,
  });
  agent.seen = [];
  agent.say = (content, parameters = {}, subscriber = {}) => {
    agent.addMessage({ id: `u-${threads}-${agent.messages.length}`, role: "user", content });
    const onEvent = ({ event }) => void agent.seen.push(event);
    return agent.runAgent(parameters, { onEvent, ...subscriber });
  };
  return agent;
}

const running = () => spawnSync("pgrep", ["-f", "--", mark]).status === 0;
const types = (agent) => agent.seen.map((e) => e.type);

for (const client of ["ag-ui-client-0", "ag-ui-client-1"]) {
  const is = `${client}: `;

  const text = agentOf(client, "");
  await text.say("id=first", { runId: `${client}-1` });
  const [started] = text.seen;
  equal([started.type, started.threadId, started.runId], ["RUN_STARTED", text.threadId, `${client}-1`],
    `${is}a run has the client's own names`);
  equal(started.protocolVersion, client.endsWith("1") ? "1.0" : undefined,
    `${is}and is of its version`);
  equal(text.messages.map((m) => m.role), ["user", "assistant"], `${is}a text is a message`);
  const session = /Answer first of (\S+):/.exec(text.messages[1].content)?.[1];
  ok(session, `${is}what the agent said`, text.messages);
  await text.say("id=second");
  equal(/Answer second of (\S+):/.exec(text.messages[3]?.content)?.[1], session,
    `${is}a second run on the thread resumes`);

  const tools = agentOf(client, "tools");
  await tools.say("look");
  const call = tools.messages.find((m) => m.toolCalls)?.toolCalls[0];
  equal([call?.function.name, JSON.parse(call?.function.arguments ?? "{}").command],
    ["Bash", "echo hello-from-tool"], `${is}a tool's call, with its arguments`);
  equal(tools.messages.find((m) => m.role === "tool")?.content, "hello-from-tool",
    `${is}and its result`);
  equal(tools.messages.at(-1).content, "The command printed hello-from-tool. All done.",
    `${is}and what was said last`);

  const thinking = agentOf(client, "thinking");
  await thinking.say("think");
  ok(types(thinking).includes("REASONING_MESSAGE_CONTENT"), `${is}thinking`, types(thinking));
  equal(types(thinking).at(-1), "RUN_FINISHED", `${is}which ends`);

  const child = agentOf(client, "child");
  await child.say("delegate");
  equal(types(child).at(-1), "RUN_FINISHED", `${is}a sub-agent`);

  const broken = agentOf(client, "broken");
  const wrong = await failure(broken.say("go"));
  const error = broken.seen.find((e) => e.type === "RUN_ERROR");
  ok(error?.message, `${is}an agent's error is a run's`, { wrong: String(wrong), seen: broken.seen });

  const nobody = await failure(agentOf(client, "nobody").say("hi"));
  ok(/404/.test(nobody.message), `${is}an unknown agent is an HTTP error`, String(nobody));
  const stranger = await failure(agentOf(client, "", "x", "wrong-key-0123456789").say("hi"));
  ok(/401/.test(stranger.message), `${is}so is a wrong key`, String(stranger));

  const leaves = agentOf(client, "hanging");
  const onTextMessageContentEvent = () => void leaves.abortRun();
  await failure(leaves.say("go", {}, { onTextMessageContentEvent }));
  const [turn] = await host.turns("cancelled");
  equal(turn.agent, "hanging", `${is}an aborted run is over`);
  ok(!running(), `${is}and its agent gone`);

  const switches = agentOf(client, "");
  await switches.say("/stream-status");
  ok("show_tools" in JSON.parse(switches.messages.at(-1).content), `${is}switches are told`);
}

equal(await host.stop(), 0, "the host ends well");
done();
