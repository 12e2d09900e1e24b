// SPDX-License-Identifier: MIT
// The Slack fake, driven by Slack's own web client, Socket Mode client and receiver. Prints TAP.
//
//     node slack.mjs NODE_MODULES FOLDER-OF-FAKES
import http from "node:http";
import { Fake, done, equal, failure, load, ok } from "./fake.mjs";

const { LogLevel, WebClient } = load("@slack/web-api");
const { SocketModeClient } = load("@slack/socket-mode");
const { App } = load("@slack/bolt");

const TOKEN = "xoxb-fake-bot";
const channel = "C0GENERAL";
const recipient = { recipient_user_id: "U0ALICE", recipient_team_id: "T0FAKE" };
const quiet = { debug() {}, info() {}, warn() {}, error() {}, setLevel() {}, setName() {},
  getLevel: () => LogLevel.ERROR };

const web = (fake, more = {}) =>
  new WebClient(TOKEN, { slackApiUrl: `${fake.url}/api/`, logger: quiet, ...more });
const refusal = async (promise) => (await failure(promise)).data?.error;

// A door before the app: it is broken the first time WORD goes through.
async function failOnce(url, word) {
  let broken = true;
  const server = http.createServer(async (request, response) => {
    const body = (await request.toArray()).join("");
    if (broken && body.includes(`"${word}"`)) {
      broken = false;
      response.writeHead(500).end();
      return;
    }
    const { host, connection, "content-length": length, ...headers } = request.headers;
    const answer = await fetch(url, { method: "POST", headers, body });
    response.writeHead(answer.status).end(await answer.text());
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, url: `http://127.0.0.1:${server.address().port}/` };
}

async function testWeb() {
  const fake = await Fake.start("slack");
  const slack = web(fake);
  equal((await slack.auth.test()).user_id, "U0BOT", "auth.test");
  const asked = await fake.do("message", { user: "U0ALICE", channel, text: "please" });
  const posted = await slack.chat.postMessage({
    channel,
    thread_ts: asked.ts,
    text: "fallback",
    blocks: [
      { type: "markdown", text: "**working**" },
      { type: "actions", elements: [
        { type: "button", text: { type: "plain_text", text: "Go" }, action_id: "go", value: "1" }] },
    ],
    metadata: { event_type: "turn", event_payload: { id: "t1" } },
  });
  equal(posted.message.thread_ts, asked.ts, "a reply in a thread");
  const [seen] = await fake.wait({ visible: 1, chat: channel, text: "working" });
  equal(seen.buttons, [["Go"]], "its button");
  await slack.chat.update({ channel, ts: posted.ts, text: "done & dusted" });
  const [now] = await fake.wait({ visible: 1, chat: channel, text: "done" });
  equal([now.blocks, now.edits], [[], 1], "a text alone takes the blocks away");
  const long = "&".repeat(801);
  equal(await refusal(slack.chat.update({ channel, ts: posted.ts, text: long })), "msg_too_long",
    "4,000 bytes after escaping");
  equal((await slack.chat.postMessage({ channel, text: long })).ok, true, "a new one may be longer");
  await slack.reactions.add({ channel, timestamp: asked.ts, name: "eyes" });
  equal(await refusal(slack.reactions.add({ channel, timestamp: asked.ts, name: "eyes" })),
    "already_reacted", "a reaction, twice");
  await slack.reactions.remove({ channel, timestamp: asked.ts, name: "eyes" });
  const { messages } = await slack.conversations.replies({
    channel, ts: asked.ts, include_all_metadata: true });
  equal(messages[1].metadata.event_payload, { id: "t1" }, "replies, with metadata");
  equal((await slack.conversations.history({ channel })).messages.length, 2, "history");
  equal((await slack.users.info({ user: "U0ALICE" })).user.real_name, "Alice Example", "users.info");
  const direct = (await slack.conversations.open({ users: "U0BOB" })).channel.id;
  await slack.chat.postMessage({ channel: direct, text: "hello" });
  await slack.chat.postEphemeral({ channel, user: "U0ALICE", text: "only you" });
  await slack.files.uploadV2({ channel_id: channel, thread_ts: asked.ts, filename: "answer.md",
    content: "# A\n", initial_comment: "long" });
  const [file] = await fake.wait({ visible: 1, chat: channel, text: "^long$" });
  const bytes = await fetch(`${fake.url}/_file?id=${file.document.id}`);
  equal(await bytes.text(), "# A\n", "a file goes up");
  await slack.apiCall("agents.sessions.setStatus", { channel_id: channel, thread_ts: asked.ts,
    status: "processing", title: "x" });
  equal((await fake.get("/_state")).chats[channel].sessions[asked.ts].status, "processing",
    "a session");
  await slack.assistant.threads.setStatus({ channel_id: channel, thread_ts: asked.ts, status: "…" });
  await fake.wait({ typing: 1, chat: channel });
  await slack.chat.delete({ channel, ts: posted.ts });
  await fake.wait({ visible: 1, gone: 1, chat: channel, text: "done" });
  equal(await fake.rules(), ["bad-request"], "nothing but the long edit to object to");
  equal(await refusal(web(fake, {}).apiCall("apps.connections.open")), "not_allowed_token_type",
    "a token of the wrong kind");
  fake.end();
}

async function testFlood() {
  const fake = await Fake.start("slack");
  const slack = web(fake, { rejectRateLimitedCalls: true });
  await fake.do("fault", { match: { method: "chat.postMessage" }, do: "flood", retry_after: 1 });
  const limited = await failure(slack.chat.postMessage({ channel, text: "x" }));
  equal([limited.code, limited.retryAfter], ["slack_webapi_rate_limited_error", 1], "429");
  await fake.do("reset");
  await fake.do("fault", { match: { method: "chat.postMessage" }, do: "flood", retry_after: 1 });
  await web(fake).chat.postMessage({ channel, text: "patience" });
  const calls = await fake.wait({ method: "chat.postMessage", count: 2 });
  equal(calls.map((call) => call.status), [429, 200], "the client waits and comes again");
  equal(await fake.rules(), [], "not too early");
  await fake.do("fault", { match: { method: "auth.test" }, do: "html", status: 503 });
  const once = web(fake, { retryConfig: { retries: 0 } });
  equal((await failure(once.auth.test())).code, "slack_webapi_http_error", "an error page");
  await fake.do("down");
  equal((await failure(once.auth.test())).code, "slack_webapi_request_error", "an outage");
  fake.end();
}

async function testStreams() {
  const fake = await Fake.start("slack");
  const slack = web(fake);
  const { ts: thread_ts } = await fake.do("message", { user: "U0ALICE", channel, text: "tell" });
  const streamer = slack.chatStream({ channel, thread_ts, ...recipient, buffer_size: 8 });
  await streamer.append({ markdown_text: "once upon " });
  const [growing] = await fake.wait({ visible: 1, chat: channel, text: "once" });
  equal(growing.streaming, true, "a stream grows");
  await streamer.append({ markdown_text: "a time" });
  await streamer.append({ chunks: [
    { type: "task_update", id: "1", title: "Looking", status: "in_progress" }] });
  await streamer.stop({ markdown_text: ".", chunks: [
    { type: "task_update", id: "1", title: "Looked", status: "complete" }] });
  const [ended] = await fake.wait({ visible: 1, chat: channel, text: "once upon a time\\.\\nLooked" });
  equal([ended.streaming, ended.tasks.length], [false, 1], "and ends");
  const stopped = slack.chatStream({ channel, thread_ts, ...recipient, buffer_size: 1 });
  await stopped.append({ markdown_text: "endless" });
  const busy = (await fake.wait({ visible: 1, chat: channel, text: "endless" }))[0].id;
  equal(await refusal(slack.chat.update({ channel, ts: busy, text: "x" })),
    "streaming_state_conflict", "no edit while it streams");
  await fake.do("stop", { user: "U0ALICE", channel, thread_ts });
  equal(await refusal(stopped.append({ markdown_text: "more" })), "stopped_by_user",
    "a person stops it");
  await fake.do("options", { stream_life: 1, stream_idle: 1 });
  await fake.do("scale", { factor: 0.01 });
  const short = slack.chatStream({ channel, thread_ts, ...recipient, buffer_size: 1 });
  await short.append({ markdown_text: "short" });
  await fake.wait({ visible: 1, chat: channel, text: "^short$", streaming: "False" });
  equal(await refusal(short.stop()), "message_not_in_streaming_state", "or it dies of age");
  equal(await refusal(slack.chat.startStream({ channel, thread_ts })), "missing_recipient_user_id",
    "in a channel it has to be for somebody");
  fake.end();
}

async function testSocketMode() {
  const fake = await Fake.start("slack");
  const client = new SocketModeClient({ appToken: "xapp-fake-app", logger: quiet,
    clientPingTimeout: 200, clientOptions: { slackApiUrl: `${fake.url}/api/` } });
  const heard = [];
  let deaf = false;
  client.on("slack_event", async ({ body, ack, retry_num: retry }) => {
    heard.push([body.event?.text ?? body.actions?.[0].action_id ?? body.command, retry]);
    if (!deaf) await ack();
  });
  await client.start();
  await fake.wait({ sockets: 1 });
  const { ts } = await fake.do("message", { user: "U0ALICE", channel, text: "one" });
  await fake.wait({ acked: 1, kind: "socket", event: "ack" });
  await fake.wait({ kind: "socket", event: "ack" });
  equal(heard, [["one", 0]], "an envelope comes and is acknowledged");
  const first = await fake.wait({ kind: "call", method: "apps.connections.open" });
  await fake.do("socket", { do: "disconnect", reason: "refresh_requested" });
  const again = await fake.wait({ kind: "call", method: "apps.connections.open", since: first[0].seq });
  await fake.wait({ kind: "socket", event: "close" });
  await fake.wait({ sockets: 1 });
  equal(again.length, 1, "asked to refresh, it comes again, once");
  deaf = true;
  await fake.do("message", { user: "U0ALICE", channel, text: "two" });
  await fake.wait({ kind: "socket", event: "sent", count: 5 });
  deaf = false;
  await fake.do("socket", { do: "drop" });
  await fake.wait({ kind: "socket", event: "ack", count: 2, timeout: 20 });
  equal(heard.slice(1), [["two", 0], ["two", 1]], "what was not acknowledged comes again");
  const { ts: posted } = await web(fake).chat.postMessage({ channel, thread_ts: ts, text: "?",
    blocks: [{ type: "actions", elements: [
      { type: "button", text: { type: "plain_text", text: "Go" }, action_id: "go", value: "1" }] }] });
  await fake.do("action", { user: "U0ALICE", channel, ts: posted, action_id: "go" });
  await fake.do("command", { user: "U0ALICE", channel, command: "/agent", text: "stop" });
  await fake.wait({ kind: "socket", event: "ack", count: 4 });
  equal(heard.slice(3).map(([what]) => what), ["go", "/agent"], "buttons and commands");
  equal(await fake.rules(), [], "nothing to object to");
  await client.disconnect();
  fake.end();
}

async function testEvents() {
  const fake = await Fake.start("slack", 0.1);
  const app = new App({ token: TOKEN, signingSecret: "fake-signing-secret", logger: quiet,
    clientOptions: { slackApiUrl: `${fake.url}/api/` } });
  const failures = [];
  app.error(async (error) => failures.push(String(error)));
  app.message(async ({ message, say }) => {
    await say({ text: `heard ${message.text}`, thread_ts: message.ts });
  });
  app.event("app_mention", async ({ event, say }) => say(`mentioned in ${event.text}`));
  app.action("go", async ({ ack, respond }) => {
    await ack();
    await respond({ replace_original: true, text: "gone" });
  });
  app.command("/agent", async ({ ack, respond }) => {
    await ack();
    await respond("commanded");
  });
  const listening = await app.start({ port: 0, host: "127.0.0.1" });
  const url = `http://127.0.0.1:${listening.address().port}/slack/events`;
  const door = await failOnce(url, "fail");
  await fake.do("events_url", { url: door.url });
  const { body } = await fake.do("push", { challenge: "c123" });
  equal(JSON.parse(body).challenge, "c123", "bolt answers the challenge");
  const event = { type: "message", channel, user: "U0ALICE", text: "forged", ts: "1.1" };
  for (const sign of ["bad", "old", "none"]) {
    const { status } = await fake.do("push", { sign, payload: { type: "event_callback", event } });
    equal(status, 401, `bolt refuses a signature that is ${sign}`);
  }
  await fake.do("message", { user: "U0ALICE", channel, text: "<@U0BOT> hi", both: true });
  await fake.wait({ visible: 1, chat: channel, text: "heard <@U0BOT> hi" });
  const taken = await fake.wait({ visible: 1, chat: channel, text: "mentioned in <@U0BOT> hi" });
  equal(taken.length, 1, "and takes good ones, once");
  await fake.do("message", { user: "U0ALICE", channel, text: "fail" });
  await fake.wait({ visible: 1, chat: channel, text: "heard fail" });
  // On a slow machine the one before may have come again, too.
  let again;
  for (let count = 1; !again && count <= 4; count++)
    again = (await fake.wait({ kind: "push", retry: 1, status: 200, count }))
      .find(({ payload }) => payload.event.text === "fail");
  ok(again, "what failed comes again");
  const { ts } = await web(fake).chat.postMessage({ channel, text: "?", blocks: [
    { type: "actions", elements: [
      { type: "button", text: { type: "plain_text", text: "Go" }, action_id: "go" }] }] });
  await fake.do("action", { user: "U0ALICE", channel, ts, action_id: "go" });
  await fake.wait({ visible: 1, chat: channel, text: "^gone$" });
  await fake.do("command", { user: "U0ALICE", channel, command: "/agent", text: "" });
  const commanded = await fake.wait({ visible: 1, chat: channel, text: "^commanded$" });
  equal(commanded.length, 1, "buttons and commands, and their response_url");
  equal(failures, [], "bolt had no trouble");
  door.server.closeAllConnections();
  door.server.close();
  await app.stop();
  fake.end();
}

for (const test of [testWeb, testFlood, testStreams, testSocketMode, testEvents]) await test();
done();
