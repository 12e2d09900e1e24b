// SPDX-License-Identifier: MIT
// The Teams fake, judged by Microsoft's own client: its check of requests accepts the tokens of the
// fake and refuses those that are wrong, and its connector client speaks to the fake. Prints TAP.
//
//     node teams.mjs NODE_MODULES FOLDER-OF-FAKES
import http from "node:http";
import { Fake, done, equal, failure, load, ok } from "./fake.mjs";

const { ChannelValidation, ConnectorClient, JwtTokenValidation, SimpleCredentialProvider } = load("botframework-connector");

const APP = "fake-app-id";
const WRONG = ["issuer", "audience", "expired", "early", "service", "no-service"];
console.error = () => {}; // the client tells of each token that it refuses

// A bot: checks each request as Microsoft's adapter does, and keeps what it accepts.
async function bot(fake) {
  ChannelValidation.OpenIdMetadataEndpoint = `${fake.url}/v1/.well-known/openidconfiguration`;
  const credentials = new SimpleCredentialProvider(APP, "");
  const taken = [];
  const server = http.createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const activity = JSON.parse(body);
    try {
      await JwtTokenValidation.authenticateRequest(activity, request.headers.authorization, credentials, "");
      taken.push(activity);
      response.writeHead(200).end(activity.type === "invoke" ? JSON.stringify({
        statusCode: 200, type: "application/vnd.microsoft.activity.message", value: "done" }) : "");
    } catch {
      response.writeHead(401).end();
    }
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  await fake.do("hook", { url: `http://127.0.0.1:${server.address().port}/api/messages` });
  return { server, taken };
}

// The connector client, with a token of the login service of the fake.
async function connect(fake, serviceUrl) {
  const form = new URLSearchParams({ grant_type: "client_credentials", client_id: APP,
    client_secret: "fake~client.secret", scope: "https://api.botframework.com/.default" });
  const login = await fetch(`${fake.url}/fake-tenant/oauth2/v2.0/token`, { method: "POST", body: form });
  const { access_token: token } = await login.json();
  const credentials = { signRequest: async (request) => {
    request.headers.set("authorization", `Bearer ${token}`);
    return request;
  } };
  return new ConnectorClient(credentials, { baseUri: serviceUrl });
}

async function testTokens(fake, { taken }) {
  equal((await fake.do("push", { text: "good" })).status, 200, "a good token");
  equal(taken.pop().text, "good", "and its activity");
  for (const wrong of WRONG)
    equal((await fake.do("push", { wrong })).status, 401, `a token that is wrong: ${wrong}`);
  for (const right of ["old", "soon"])
    equal((await fake.do("push", { wrong: right })).status, 200, `five minutes are granted: ${right}`);
  for (const how of [{ alg: "none" }, { alg: "HS256" }, { signed_by: "fake-key-2" }, { changed: true }, { kid: "fake-key-2" }])
    equal((await fake.do("push", how)).status, 401, `a token that is wrong: ${JSON.stringify(how)}`);
  equal((await fake.do("push", { more: { channelId: "slack" } })).status, 401, "a channel without endorsement");
}

async function testMessages(fake, { taken }) {
  const chat = "a:ann";
  await fake.do("user", { id: "ann", name: "Ann" });
  await fake.do("chat", { id: chat });
  taken.length = 0;
  const { id } = await fake.do("say", { user: "ann", chat, text: "hi" });
  await fake.wait({ taken: 1 });
  const [activity] = taken;
  equal([activity.text, activity.id, activity.from.name], ["hi", id, "Ann"], "a message of a person");
  const client = await connect(fake, activity.serviceUrl);
  const sent = await client.conversations.sendToConversation(activity.conversation.id, {
    type: "message", text: "one", from: activity.recipient, replyToId: id });
  ok(sent.id, "a message of the bot has an id");
  await client.conversations.sendToConversation(chat, { type: "typing" });
  ok((await fake.wait({ typing: 1, chat })).length === 0, "typing is seen");
  await client.conversations.updateActivity(chat, sent.id, { type: "message", text: "two" });
  equal((await fake.get("/_control/screen")).map((m) => m.text), ["hi", "two"], "it is edited");
  await client.conversations.deleteActivity(chat, sent.id);
  equal((await fake.get("/_control/screen")).map((m) => m.text), ["hi"], "and deleted");
  const gone = await failure(client.conversations.updateActivity(chat, sent.id, { type: "message", text: "x" }));
  equal([gone.statusCode, gone.code], [404, "ActivityNotFoundInConversation"], "what is gone cannot be edited");
  const nowhere = await failure(client.conversations.sendToConversation("a:nobody", { type: "message", text: "x" }));
  equal([nowhere.statusCode, nowhere.code], [404, "ConversationNotFound"], "no such conversation");
  await fake.do("fault", { match: { method: "post", chat }, do: "error", status: 403, code: "BotNotInConversationRoster", message: "no" });
  const out = await failure(client.conversations.sendToConversation(chat, { type: "message", text: "x" }));
  equal([out.statusCode, out.code], [403, "BotNotInConversationRoster"], "a refusal has its code");
  return client;
}

async function testThread(fake, client, { taken }) {
  const chat = "19:c@thread.tacv2";
  await fake.do("chat", { id: chat, type: "channel" });
  taken.length = 0;
  const { id } = await fake.do("say", { user: "ann", chat, text: "hi", mention: true });
  await fake.wait({ taken: 1 });
  const [activity] = taken;
  equal(activity.conversation.id, `${chat};messageid=${id}`, "a channel names the thread");
  await client.conversations.sendToConversation(activity.conversation.id, { type: "message", text: "in the thread" });
  const shown = (await fake.get("/_control/screen")).filter((m) => m.chat === chat);
  equal(shown.map((m) => m.thread), [id, id], "an answer to it is in the thread");
}

async function testStream(fake, client) {
  const chat = "a:bob";
  await fake.do("chat", { id: chat });
  await fake.do("pace", { windows: [[100, 1]] });
  // Of entities the client sends only what it knows, so that its users tell the same in channelData.
  const send = (type, text, more) =>
    client.conversations.sendToConversation(chat, { type, text, entities: [{ type: "streaminfo", ...more }], channelData: more });
  const { id } = await send("typing", "Searching…", { streamType: "informative", streamSequence: 1 });
  ok(id, "a stream has an id");
  const late = () => new Promise((over) => setTimeout(over, 1050));
  await late();
  await send("typing", "A brown", { streamId: id, streamType: "streaming", streamSequence: 2 });
  await late();
  const other = await failure(send("typing", "Something else", { streamId: id, streamType: "streaming", streamSequence: 3 }));
  equal(other.code, "ContentStreamNotAllowed", "a stream takes nothing back");
  await late();
  await send("message", "A brown fox", { streamId: id, streamType: "final" });
  equal((await fake.get("/_control/screen")).filter((m) => m.chat === chat).map((m) => m.text), ["A brown fox"], "and is one message");
  await late();
  const again = await failure(send("message", "A brown fox", { streamId: id, streamType: "final" }));
  ok(/already completed/.test(again.message), "its end comes once", String(again));
}

async function testCard(fake, client, { taken }) {
  const chat = "a:ann";
  const data = { tc: "x" };
  const action = { type: "Action.Execute", title: "Go", verb: "go", data, fallback: { type: "Action.Submit", title: "Go", data } };
  const content = { type: "AdaptiveCard", version: "1.5", body: [{ type: "ActionSet", actions: [action] }] };
  const { id } = await client.conversations.sendToConversation(chat, {
    type: "message", attachments: [{ contentType: "application/vnd.microsoft.card.adaptive", content }] });
  taken.length = 0;
  const { status, body } = await fake.do("press", { user: "ann", chat, id, button: "Go", values: { w: "words" } });
  equal([status, JSON.parse(body).value], [200, "done"], "a press has a response");
  const [{ name, value, replyToId }] = taken;
  equal([name, value.action.data, replyToId], ["adaptiveCard/action", { tc: "x", w: "words" }, id], "with data and inputs");
}

const fake = await Fake.start("teams");
const judge = await bot(fake);
await testTokens(fake, judge);
const client = await testMessages(fake, judge);
await testThread(fake, client, judge);
await testStream(fake, client);
await testCard(fake, client, judge);
judge.server.closeAllConnections();
judge.server.close();
fake.end();
done();
