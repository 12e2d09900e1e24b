// SPDX-License-Identifier: MIT
// HttpAgent of the published AG-UI clients, 0.x and 1.0, asked by an agent behind `turncast serve`:
// it is interrupted, answers with resume, and has the whole turn then. Prints TAP.
//
//     node ag_ui_ask.mjs NODE_MODULES
import { done, equal, failure, load, ok } from "./fake.mjs";
import { Host, KEY, asker } from "./host.mjs";

const host = await Host.start({ asker: { command: [asker] } }, { visibility: "all" });
let threads = 0;

function agentOf(client) {
  const { HttpAgent } = load(client);
  const agent = new HttpAgent({
    url: `${host.url}/ag-ui`,
    headers: { Authorization: `Bearer ${KEY}` },
    threadId: `${client}-${++threads}`,
  });
  agent.seen = [];
  const onEvent = ({ event }) => void agent.seen.push(event);
  agent.say = (content) => {
    agent.addMessage({ id: `u-${threads}-${agent.messages.length}`, role: "user", content });
    return agent.runAgent({}, { onEvent });
  };
  agent.answer = (resume) => agent.runAgent({ resume }, { onEvent });
  return agent;
}

const resolved = (interrupt, payload) => ({ interruptId: interrupt.id, status: "resolved", payload });
const calls = (agent) => agent.messages.flatMap((m) => m.toolCalls ?? []).map((c) => c.id);
const results = (agent) => agent.messages.filter((m) => m.role === "tool").map((m) => m.toolCallId);
const said = (agent) => agent.messages.at(-1).content;
const turns = async (agent) => (await host.get("/turns")).turns.filter((t) => t.conversation.endsWith(`:${agent.threadId}`));

for (const client of ["ag-ui-client-0", "ag-ui-client-1"]) {
  const is = `${client}: `;
  const { buildResumeArray, isInterruptExpired } = load(client);

  const allows = agentOf(client);
  await allows.say("run=df -h");
  const [asked, ...others] = allows.pendingInterrupts;
  equal([asked?.reason, asked?.message, others.length], ["tool_call", "Bash: df -h", 0], `${is}a run is interrupted`);
  equal(calls(allows), [asked.toolCallId], `${is}by a call that it knows`);
  ok(!isInterruptExpired(asked), `${is}with time left`);
  const refused = await failure(allows.say("and now?"));
  ok(/pending interrupt/.test(String(refused)), `${is}the client itself says nothing else then`, String(refused));
  await allows.answer(buildResumeArray([asked], { [asked.id]: { status: "resolved", payload: { approved: true } } }));
  equal(allows.pendingInterrupts, [], `${is}answered, it waits for nothing`);
  equal(results(allows), [asked.toolCallId], `${is}the result is that of the call`);
  equal(JSON.parse(said(allows)).behavior, "allow", `${is}and the agent was told`);
  equal((await turns(allows)).map((t) => t.state), ["final"], `${is}in one turn`);

  const denies = agentOf(client);
  await denies.say("run=rm -r /");
  await denies.answer([resolved(denies.pendingInterrupts[0], { approved: false, reason: "Never." })]);
  equal(JSON.parse(said(denies)), { behavior: "deny", message: "Never." }, `${is}a denial, with its reason`);

  const edits = agentOf(client);
  await edits.say("run=ls");
  await edits.answer([resolved(edits.pendingInterrupts[0], { approved: true, editedArgs: { command: "ls -l" } })]);
  equal(JSON.parse(said(edits)).updatedInput, { command: "ls -l" }, `${is}leave for something else`);

  const asks = agentOf(client);
  await asks.say("two");
  const [question] = asks.pendingInterrupts;
  const [one, many] = question.responseSchema.properties.answers.required;
  await asks.answer([resolved(question, { answers: { [one]: "Red", [many]: ["Green", "Blue"] } })]);
  ok(/Red/.test(said(asks)) && /Green/.test(said(asks)) && /Blue/.test(said(asks)), `${is}questions`, said(asks));

  const several = agentOf(client);
  await several.say("together run=a1, run=a2");
  equal(several.pendingInterrupts.length, 2, `${is}two at once`);
  const half = await failure(several.answer([resolved(several.pendingInterrupts[0], true)]));
  ok(/not addressed/.test(String(half)), `${is}are answered at once`, String(half));
  await several.answer(buildResumeArray(several.pendingInterrupts, {
    [several.pendingInterrupts[0].id]: { status: "cancelled" },
    [several.pendingInterrupts[1].id]: { status: "resolved", payload: { approved: true } },
  }));
  equal(said(several).split("; ").map((t) => JSON.parse(t).behavior), ["deny", "allow"], `${is}each as it was meant`);

  const row = agentOf(client);
  await row.say("run=b1, run=b2, run=b3");
  for (let n = 0; n < 3; n++) await row.answer([resolved(row.pendingInterrupts[0], true)]);
  equal(calls(row).length, 3, `${is}three one after another, each call once`);
  equal(results(row), calls(row), `${is}with its result`);
  equal(row.seen.filter((e) => e.type === "RUN_STARTED").length, 4, `${is}in four runs`);
  ok(new Set(row.messages.map((m) => m.id)).size === row.messages.length, `${is}no message has another's name`);

  const late = agentOf(client);
  await late.say("run=c1");
  const [turn] = await turns(late);
  await fetch(`${host.url}/turns/${turn.id}/requests/req-1`, {
    method: "POST",
    headers: { Authorization: `Bearer ${KEY}`, "Content-Type": "application/json" },
    body: '{"choice":"deny"}',
  });
  await failure(late.answer([resolved(late.pendingInterrupts[0], true)]));
  const error = late.seen.findLast((e) => e.type === "RUN_ERROR");
  ok(/Already denied by client/.test(error?.message), `${is}who is late learns who was first`, late.seen);
  await late.answer([{ interruptId: late.pendingInterrupts[0].id, status: "cancelled" }]);
  equal([late.pendingInterrupts, JSON.parse(said(late)).behavior], [[], "deny"], `${is}and gets the rest`);
}

equal(await host.stop(), 0, "the host ends well");
done();
