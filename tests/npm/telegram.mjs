// SPDX-License-Identifier: MIT
// The Telegram fake, driven by grammY: what a client that others wrote takes for Telegram is no
// opinion of ours. Prints TAP.
//
//     node telegram.mjs NODE_MODULES FOLDER-OF-FAKES
import http from "node:http";
import { Fake, done, equal, failure, load, ok } from "./fake.mjs";

const { Bot, GrammyError, InlineKeyboard, InputFile, webhookCallback } = load("grammy");
const { autoRetry } = load("@grammyjs/auto-retry");

const TOKEN = "123456:FAKE-telegram-token";
const ANN = 111;

async function bot(fake) {
  const client = { apiRoot: fake.url };
  const made = new Bot(TOKEN, { client });
  made.catch((error) => ok(false, "no error in a handler", String(error.error)));
  await made.init();
  return made;
}

async function testPolling() {
  const fake = await Fake.start("telegram");
  const grammy = await bot(fake);
  await fake.do("pace", { on: false });
  equal(grammy.botInfo.username, "fake_bot", "getMe");
  grammy.command("start", (context) => context.reply(`hi ${context.from.first_name}`));
  grammy.on("message:text", async (context) => {
    const sent = await context.reply("bold link", {
      entities: [
        { type: "bold", offset: 0, length: 4 },
        { type: "text_link", offset: 5, length: 4, url: "https://example.org/x" },
      ],
      reply_parameters: { message_id: context.msg.message_id, allow_sending_without_reply: true },
      reply_markup: new InlineKeyboard().text("Go", "token-1"),
    });
    equal(sent.entities.map((e) => e.type), ["bold", "text_link"], "entities come back");
    equal(sent.reply_to_message.text, "please", "so does what it answers");
    await context.api.editMessageText(ANN, sent.message_id, "edited");
    const same = await failure(context.api.editMessageText(ANN, sent.message_id, "edited"));
    ok(same instanceof GrammyError && same.description.includes("message is not modified"),
      "the same edit again is an error", String(same));
    await context.api.editMessageReplyMarkup(ANN, sent.message_id, {
      reply_markup: new InlineKeyboard().text("Go", "token-2"),
    });
    await context.react("👀");
    await context.replyWithChatAction("typing");
  });
  grammy.on("callback_query:data", async (context) => {
    equal(context.callbackQuery.data, "token-2", "a button is pressed");
    await context.answerCallbackQuery({ text: "fine" });
    await context.deleteMessage();
  });
  const running = grammy.start({ drop_pending_updates: false });
  await fake.wait({ polling: 1 });
  await fake.do("message", { from: ANN, name: "Ann", text: "/start" });
  const greeted = await fake.wait({ visible: 1, chat: ANN, text: "^hi Ann$" });
  equal(greeted.length, 1, "a command is heard and answered, once");
  await fake.do("message", { from: ANN, text: "please" });
  await fake.wait({ method: "sendChatAction" });
  const [seen] = await fake.wait({ visible: 1, chat: ANN, text: "^edited$" });
  equal(seen.buttons, [["Go"]], "the message as it is seen");
  await fake.do("callback", { from: ANN, message_id: seen.id, button: "Go" });
  await fake.wait({ visible: 1, gone: 1, chat: ANN, text: "^edited$" });
  await fake.wait({ polling: 1 });
  equal(await fake.rules(), ["same-text"], "nothing else to object to");
  await grammy.stop();
  await running;
  equal((await grammy.api.getUpdates()).length, 0, "all updates are confirmed");
  fake.end();
}

async function testButtons() {
  const fake = await Fake.start("telegram");
  const grammy = await bot(fake);
  await fake.do("pace", { on: false });
  await fake.do("message", { from: ANN, name: "Ann", text: "hi" });
  const keyboard = (data) => new InlineKeyboard().text("Allow", data).row().text("Deny", "a:t:deny");
  const long = await failure(
    grammy.api.sendMessage(ANN, "?", { reply_markup: keyboard("ä".repeat(33)) }));
  equal(long.description, "Bad Request: BUTTON_DATA_INVALID", "data of 66 bytes");
  const reply_markup = keyboard("a:t:allow");
  const asked = await grammy.api.sendMessage(ANN, "May it?", { reply_markup });
  const press = { from: ANN, name: "Ann", chat: ANN, message_id: asked.message_id };
  const { id } = await fake.do("callback", { ...press, button: "Allow" });
  await fake.do("callback", { ...press, from: 222, data: "forged", force: true });
  await fake.do("callback", { ...press, button: "Deny", inaccessible: true });
  await fake.do("message", { from: ANN, text: "no", reply_to: asked.message_id });
  const updates = (await grammy.api.getUpdates()).slice(1);
  const queries = updates.slice(0, 3).map((update) => update.callback_query);
  equal(queries.map((q) => [q.from.id, q.data]),
    [[ANN, "a:t:allow"], [222, "forged"], [ANN, "a:t:deny"]], "who pressed what");
  equal(queries[0].message.reply_markup, asked.reply_markup, "the message has its buttons");
  equal(queries[2].message, { chat: asked.chat, message_id: asked.message_id, date: 0 },
    "one that is not accessible says where it is, no more");
  equal(updates[3].message.reply_to_message.reply_markup, asked.reply_markup,
    "so has the one that is replied to");
  for (const query of queries) await grammy.api.answerCallbackQuery(query.id, { text: "fine" });
  const again = await failure(grammy.api.answerCallbackQuery(id));
  ok(again.description.startsWith("Bad Request: query is too old"), "a press is answered once");
  const edited = await grammy.api.editMessageReplyMarkup(ANN, asked.message_id);
  equal(edited.reply_markup, undefined, "the buttons go");
  equal(await fake.rules(), ["bad-request", "late-answer"], "nothing else to object to");
  fake.end();
}

async function testFiles() {
  const fake = await Fake.start("telegram");
  const grammy = await bot(fake);
  const sent = { from: ANN, caption: "see", document: { file_name: "a.txt", content: "bytes ä" } };
  await fake.do("message", sent);
  const [update] = await grammy.api.getUpdates();
  const file = await grammy.api.getFile(update.message.document.file_id);
  const down = await fetch(`${fake.url}/file/bot${TOKEN}/${file.file_path}`);
  equal(await down.text(), "bytes ä", "a file comes down");
  const up = await grammy.api.sendDocument(ANN, new InputFile(Buffer.from("# A\r\n"), "answer.md"), {
    caption: "the answer",
  });
  equal([up.document.file_name, up.document.file_size], ["answer.md", 5], "a file goes up");
  const stored = await fetch(`${fake.url}/_file?id=${up.document.file_id}`);
  equal(await stored.text(), "# A\r\n", "its bytes");
  await grammy.api.setMyCommands([{ command: "stop", description: "Stop" }]);
  equal((await grammy.api.getMyCommands())[0].command, "stop", "commands");
  await grammy.api.sendMessageDraft(ANN, 7, "so far");
  equal((await fake.get("/_state")).chats[ANN].draft.text, "so far", "a draft");
  const rich = await grammy.api.sendRichMessage(ANN, {
    blocks: [{ type: "heading", text: "Plan", size: 2 }, { type: "paragraph", text: "x" }],
  });
  equal(rich.rich_message.blocks.length, 2, "a rich message");
  equal(await fake.rules(), [], "nothing to object to");
  fake.end();
}

async function testFlood() {
  const fake = await Fake.start("telegram");
  const grammy = await bot(fake);
  await fake.do("message", { from: ANN, text: "hi" });
  await fake.do("fault", { match: { method: "sendMessage" }, do: "flood", retry_after: 1 });
  const refused = await failure(grammy.api.sendMessage(ANN, "one"));
  ok(refused instanceof GrammyError && refused.error_code === 429, "429 is an error");
  equal(refused.parameters, { retry_after: 1 }, "it says when");
  grammy.api.config.use(autoRetry());
  await fake.do("reset");
  await fake.do("fault", { match: { method: "sendMessage" }, do: "flood", retry_after: 1 });
  const sent = await grammy.api.sendMessage(ANN, "two");
  equal(sent.text, "two", "auto-retry comes through");
  const calls = await fake.wait({ method: "sendMessage", count: 2 });
  equal(calls.map((call) => call.status), [429, 200], "in two attempts");
  ok(calls[1].t - calls[0].t_done >= 1, "it waited", [calls[0].t_done, calls[1].t]);
  for (let i = 0; i < 4; i++) await grammy.api.sendMessage(ANN, `number ${i}`);
  equal(await fake.rules(), ["too-fast", "too-fast"], "the pace of a private chat is found out");
  fake.end();
}

async function testRefusals() {
  const fake = await Fake.start("telegram");
  const grammy = await bot(fake);
  await fake.do("message", { from: ANN, text: "hi" });
  const long = await failure(grammy.api.sendMessage(ANN, "x".repeat(4097)));
  equal(long.description, "Bad Request: message is too long", "a long text");
  const gone = await failure(grammy.api.sendMessage(404, "x"));
  equal(gone.description, "Bad Request: chat not found", "a chat that is not there");
  const stranger = new Bot("123456:other", { client: { apiRoot: fake.url } });
  equal((await failure(stranger.api.getMe())).error_code, 401, "a wrong token");
  for (const kind of ["reset", "close", "garbage", "html"]) {
    await fake.do("fault", { match: { method: "getMe" }, do: kind });
    const error = await failure(grammy.api.getMe());
    equal(error.name, "HttpError", `a fault: ${kind}`);
  }
  await fake.do("down");
  const refused = await failure(grammy.api.getMe());
  equal(refused.name, "HttpError", "an outage");
  fake.end();
}

async function testWebhook() {
  const fake = await Fake.start("telegram", 0.01);
  const grammy = await bot(fake);
  grammy.on("message:text", (context) => context.api.sendMessage(ANN, `heard ${context.msg.text}`));
  const server = http.createServer(webhookCallback(grammy, "http", { secretToken: "s3cret" }));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${server.address().port}/`;
  await grammy.api.setWebhook(url, { secret_token: "wrong" });
  await fake.do("message", { from: ANN, text: "this" });
  const [refused] = await fake.wait({ kind: "push", status: 401 });
  equal(refused.update.message.text, "this", "grammY refuses another secret");
  await grammy.api.setWebhook(url, { secret_token: "s3cret" });
  const heard = await fake.wait({ visible: 1, chat: ANN, text: "^heard this$" });
  equal(heard.length, 1, "with the right one it takes the update that waited");
  const conflict = await failure(grammy.api.getUpdates());
  equal(conflict.error_code, 409, "no polls beside a webhook");
  equal((await grammy.api.getWebhookInfo()).url, url, "getWebhookInfo");
  equal(await grammy.api.deleteWebhook(), true, "deleteWebhook");
  server.closeAllConnections();
  server.close();
  fake.end();
}

for (const test of [testPolling, testButtons, testFiles, testFlood, testRefusals, testWebhook]) await test();
done();
