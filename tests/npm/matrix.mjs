// SPDX-License-Identifier: MIT
// The Matrix fake, driven by matrix-js-sdk: what the client of the Matrix.org Foundation takes for a
// homeserver is no opinion of ours. Prints TAP.
//
//     node matrix.mjs NODE_MODULES FOLDER-OF-FAKES
import { pathToFileURL } from "node:url";
import { Fake, done, equal, failure, load, ok } from "./fake.mjs";

const sdk = await import(pathToFileURL(load.resolve("matrix-js-sdk")));

const BOT = "@bot:fake.example";
const ANN = "@ann:fake.example";
const ROOM = "!room:fake.example";
const silent = { trace() {}, debug() {}, info() {}, warn() {}, error() {}, getChild: () => silent };
for (const logger of Object.values(load("loglevel").getLoggers())) logger.setLevel("silent");

async function started() {
  const fake = await Fake.start("matrix");
  await fake.do("pace", { on: false });
  await fake.do("user", { id: ANN, name: "Ann" });
  await fake.do("room", { id: ROOM, members: [ANN], name: "Room" });
  return fake;
}

function client(fake, more = {}) {
  const accessToken = "syt_fake_matrix_token";
  const me = { accessToken, userId: BOT, deviceId: "FAKEDEVICE" };
  return sdk.createClient({ baseUrl: fake.url, logger: silent, ...me, ...more });
}

async function synced(made, options = {}) {
  await made.startClient({ initialSyncLimit: 5, pollTimeout: 5000, ...options });
  await new Promise((resolve) => {
    const look = (state) => state === "PREPARED" && resolve();
    made.on(sdk.ClientEvent.Sync, look);
  });
  return made;
}

// Resolves with the first event of the timeline that fits.
function timeline(made, fits) {
  return new Promise((resolve) =>
    made.on(sdk.RoomEvent.Timeline, (event, _room, toStart) => !toStart && fits(event) && resolve(event)));
}

async function until(look) {
  for (;;) {
    const found = await look();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const screen = async (fake) => await fake.get("/_control/screen");

async function testConversation() {
  const fake = await started();
  await fake.do("say", { user: ANN, room: ROOM, text: "before" });
  const made = client(fake);
  equal((await made.whoami()).user_id, BOT, "whoami");
  await synced(made);
  const room = made.getRoom(ROOM);
  equal(room.name, "Room", "a room");
  equal(room.getJoinedMemberCount(), 2, "its members");
  equal(room.getMember(ANN).name, "Ann", "their names");
  const heard = timeline(made, (event) => event.getSender() === ANN && event.getType() === "m.room.message");
  await fake.wait({ polling: 1 });
  await fake.do("say", { user: ANN, room: ROOM, text: "hello", mention: true });
  const asked = await heard;
  equal(asked.getContent()["m.mentions"], { user_ids: [BOT] }, "a mention is heard");
  await made.sendReadReceipt(asked);
  await made.sendTyping(ROOM, true, 30000);
  ok((await fake.get("/_state")).chats[ROOM].typing, "typing");
  const sent = await made.sendMessage(ROOM, {
    msgtype: "m.text",
    body: "bold",
    format: "org.matrix.custom.html",
    formatted_body: "<b>bold</b>",
    "m.mentions": {},
    "m.relates_to": { "m.in_reply_to": { event_id: asked.getId() } },
  });
  let [seen] = (await screen(fake)).filter((message) => message.author === BOT);
  equal([seen.id, seen.text, seen.reply_to], [sent.event_id, "bold", asked.getId()], "a reply");
  const edit = await made.sendMessage(ROOM, {
    msgtype: "m.text",
    body: "* new",
    "m.mentions": {},
    "m.new_content": { msgtype: "m.text", body: "new", "m.mentions": {} },
    "m.relates_to": { rel_type: "m.replace", event_id: sent.event_id },
  });
  [seen] = (await screen(fake)).filter((message) => message.author === BOT);
  equal([seen.text, seen.edits], ["new", 1], "an edit");
  const mine = await until(() => room.findEventById(sent.event_id));
  await until(() => mine.getContent().body === "new");
  equal(mine.replacingEventId(), edit.event_id, "which the client sees, too");
  const reaction = (key) => made.sendEvent(ROOM, "m.reaction", {
    "m.relates_to": { rel_type: "m.annotation", event_id: asked.getId(), key },
  });
  const eyes = await reaction("👀");
  const twice = await failure(reaction("👀"));
  equal([twice.errcode, twice.httpStatus], ["M_DUPLICATE_ANNOTATION", 400], "a reaction, once");
  await made.redactEvent(ROOM, eyes.event_id);
  equal((await screen(fake)).find((message) => message.id === asked.getId()).reactions, [], "it goes again");
  await fake.do("react", { user: ANN, room: ROOM, event_id: sent.event_id, key: "✅" });
  const liked = await until(() => room.relations.getChildEventsForEvent(sent.event_id, "m.annotation", "m.reaction"));
  await until(() => liked.getSortedAnnotationsByKey().length === 1);
  equal(liked.getSortedAnnotationsByKey()[0][0], "✅", "a person reacts");
  await made.redactEvent(ROOM, sent.event_id);
  await until(() => mine.isRedacted());
  equal((await screen(fake)).filter((message) => message.author === BOT), [], "a redaction");
  made.stopClient();
  equal(await fake.rules(), [], "nothing to object to");
  fake.end();
}

async function testThread() {
  const fake = await started();
  const made = await synced(client(fake), { threadSupport: false });
  const { event_id } = await fake.do("say", { user: ANN, room: ROOM, text: "root" });
  await until(() => made.getRoom(ROOM).findEventById(event_id));
  const text = () => ({ msgtype: "m.text", body: "in", "m.mentions": {} });
  const sent = await made.sendMessage(ROOM, event_id, text());
  const seen = (await screen(fake)).find((message) => message.id === sent.event_id);
  equal([seen.thread, seen.reply_to], [event_id, null], "a message in a thread");
  const nested = await failure(made.sendMessage(ROOM, sent.event_id, text()));
  const words = "Cannot start threads from an event with a relation";
  equal([nested.httpStatus, nested.data?.error], [400, words], "no thread in a thread");
  made.stopClient();
  fake.end();
}

async function testGap() {
  const fake = await started();
  const made = await synced(client(fake));
  await fake.do("options", { timeline_limit: 2 });
  await fake.wait({ polling: 1 });
  const room = made.getRoom(ROOM);
  const bodies = () =>
    room.getLiveTimeline().getEvents().map((event) => event.getContent().body).filter(Boolean);
  await fake.do("fault", { match: { method: "sync" }, do: "hold", done: false });
  await fake.do("say", { user: ANN, room: ROOM, text: "wakes" });
  await fake.wait({ method: "sync", stage: "arrived", count: 3 });
  for (let i = 0; i < 6; i++) await fake.do("say", { user: ANN, room: ROOM, text: `gap ${i}` });
  await fake.do("release");
  await until(() => bodies().includes("gap 5"));
  ok(!bodies().includes("gap 0"), "a timeline that is limited", bodies());
  while (!bodies().includes("gap 0")) await made.scrollback(room, 2);
  const gap = [0, 1, 2, 3, 4, 5].map((n) => `gap ${n}`);
  equal(bodies().filter((body) => body.startsWith("gap")), gap, "is filled by paging");
  made.stopClient();
  fake.end();
}

async function testInvite() {
  const fake = await started();
  const made = await synced(client(fake));
  const invited = new Promise((resolve) => {
    const look = (room, membership) => membership === "invite" && resolve(room);
    made.on(sdk.RoomEvent.MyMembership, look);
  });
  await fake.do("room", { id: "!new:fake.example", members: [ANN], bot: "invite" });
  const room = await invited;
  equal(room.getMember(BOT).events.member.getSender(), ANN, "an invite");
  await made.joinRoom(room.roomId);
  await until(() => made.getRoom(room.roomId).getMyMembership() === "join");
  equal((await fake.get("/_state")).chats[room.roomId].membership, "join", "is accepted");
  const refused = await failure(made.joinRoom("!none:fake.example"));
  equal(refused.errcode, "M_UNKNOWN", "what is not there cannot be joined");
  await made.leave(room.roomId);
  equal((await fake.get("/_state")).chats[room.roomId].membership, "leave", "and left");
  made.stopClient();
  fake.end();
}

async function testMedia() {
  const fake = await started();
  const made = client(fake);
  const options = { name: "a.md", type: "text/markdown", includeFilename: true };
  const { content_uri } = await made.uploadContent(Buffer.from("# A"), options);
  const url = made.mxcUrlToHttp(content_uri, undefined, undefined, undefined, false, true, true);
  const anonymous = await fetch(url);
  equal(anonymous.status, 401, "media needs a token");
  const answer = await fetch(url, { headers: { Authorization: "Bearer syt_fake_matrix_token" } });
  equal([await answer.text(), answer.headers.get("content-type")], ["# A", "text/markdown"], "a file, up and down");
  equal((await made.getMediaConfig(true))["m.upload.size"], 50 << 20, "how large it may be");
  fake.end();
}

async function testRefusals() {
  const fake = await started();
  const wrong = client(fake, { accessToken: "wrong" });
  const refused = await failure(wrong.whoami());
  equal([refused.errcode, refused.httpStatus], ["M_UNKNOWN_TOKEN", 401], "a wrong token");
  const made = client(fake);
  const text = (body, transaction) =>
    made.sendEvent(ROOM, "m.room.message", { msgtype: "m.text", body, "m.mentions": {} }, transaction);
  const large = await failure(text("x".repeat(65536)));
  equal([large.errcode, large.httpStatus], ["M_TOO_LARGE", 413], "too large");
  await fake.do("fault", { match: { method: "send" }, do: "flood", retry_after: 1 });
  const started_ = Date.now();
  await text("later");
  const calls = await fake.wait({ method: "send", text: "later", count: 2 });
  equal(calls.map((call) => call.status), [429, 200], "a limit: the client waits and sends again");
  ok(Date.now() - started_ >= 1000 && calls[0].params.txn === calls[1].params.txn, "the same transaction");
  await fake.do("fault", { match: { method: "send" }, do: "reset", done: true });
  const lost = await failure(text("once", "txn-once"));
  equal(lost.name, "ConnectionError", "a lost answer");
  await text("once", "txn-once");
  const seen = (await screen(fake)).filter((message) => message.text === "once");
  equal(seen.length, 1, "sent again it is there once");
  fake.end();
}

for (const test of [testConversation, testThread, testGap, testInvite, testMedia, testRefusals]) await test();
done();
