// SPDX-License-Identifier: MIT
// The Discord fake, driven by discord.js: what the client most bots use takes for Discord is no opinion
// of ours. Prints TAP.
//
//     node discord.mjs NODE_MODULES FOLDER-OF-FAKES
import { createPublicKey, verify } from "node:crypto";
import { createServer } from "node:http";
import { Fake, done, equal, failure, load, ok } from "./fake.mjs";

const {
  ActionRowBuilder, ButtonBuilder, ButtonStyle, Client, Events, GatewayIntentBits, LabelBuilder, ModalBuilder, Partials,
  StringSelectMenuBuilder, TextInputBuilder, TextInputStyle,
} = load("discord.js");

const TOKEN = "fake-discord-bot-token.AAAAAA.not-a-real-one";
// PUBLIC_KEY of tests/fake/discord_endpoint.py, in front of which is what DER says of an Ed25519 key.
const publicKey = createPublicKey({
  key: Buffer.from("302a300506032b6570032100" + "2a83ab95b3f70d01816c8b08e4e7e179d478662140d3043fa1feed1bb31943ff", "hex"), format: "der", type: "spki",
});
const ANN = "100000000000000001";
const CHANNEL = "500000000000000001";
const DIRECT = "500000000000000002";

async function started() {
  const fake = await Fake.start("discord");
  await fake.do("user", { id: ANN, name: "ann" });
  await fake.do("channel", { id: CHANNEL });
  await fake.do("channel", { id: DIRECT, type: "dm", user: ANN });
  const client = new Client({
    intents: [GatewayIntentBits.Guilds, GatewayIntentBits.GuildMessages, GatewayIntentBits.DirectMessages],
    partials: [Partials.Channel, Partials.Message],
    allowedMentions: { parse: [], repliedUser: true },
    rest: { api: `${fake.url}/api` },
  });
  const ready = new Promise((resolve) => client.once(Events.ClientReady, resolve));
  await client.login(TOKEN);
  await ready;
  return { fake, client };
}

const next = (client, event, fits = () => true) =>
  new Promise((resolve) => {
    const look = (value) => fits(value) && (client.off(event, look), resolve(value));
    client.on(event, look);
  });

const screen = async (fake) => await fake.get("/_control/screen");

async function testConversation({ fake, client }) {
  equal(client.user.username, "fake_bot", "READY");
  const people = (message) => !message.author.bot;
  let heard = next(client, Events.MessageCreate, people);
  await fake.do("message", { user: ANN, channel: CHANNEL, text: "hello", mention: true });
  const asked = await heard;
  ok(asked.mentions.has(client.user), "a mention is heard");
  equal(asked.content, `<@${client.user.id}> hello`, "with its text");
  heard = next(client, Events.MessageCreate, people);
  await fake.do("message", { user: ANN, channel: CHANNEL, text: "to others" });
  equal((await heard).content, "", "other text is not for a bot without the privileged intent");
  await asked.channel.sendTyping();
  await asked.react("👀");
  const row = new ActionRowBuilder().addComponents(
    new ButtonBuilder().setCustomId("go").setLabel("Go").setStyle(ButtonStyle.Primary));
  const answer = await asked.reply({ content: "**Hi**", components: [row] });
  let [seen] = (await screen(fake)).filter((message) => message.author === client.user.id);
  equal([seen.text, seen.reply_to, seen.buttons], ["**Hi**", asked.id, [["Go"]]], "a reply with a button");
  const nonce = { content: "once", nonce: "n1", enforceNonce: true };
  const [first, again] = [await asked.channel.send(nonce), await asked.channel.send(nonce)];
  equal(first.id, again.id, "a nonce is recognised");
  const pressed = next(client, Events.InteractionCreate);
  await fake.do("press", { user: ANN, channel: CHANNEL, id: answer.id, label: "Go" });
  const press = await pressed;
  ok(press.isButton() && press.customId === "go", "a press");
  await press.deferUpdate();
  await press.followUp({ content: "for you", flags: 64 });
  ok(!(await screen(fake)).some((message) => message.text === "for you"), "a word to one person");
  await answer.edit({ content: "new", components: [] });
  [seen] = (await screen(fake)).filter((message) => message.id === answer.id);
  equal([seen.text, seen.edits, seen.buttons], ["new", 1, []], "an edit");
  await answer.delete();
  ok(!(await screen(fake)).some((message) => message.id === answer.id), "a deletion");
  const gone = await failure(answer.edit("x"));
  equal([gone.code, gone.status], [10008, 404], "an unknown message");
  const long = await failure(asked.channel.send("x".repeat(2001)));
  equal(long.code, 50035, "a text that is too long");
  const file = await asked.channel.send({ content: "c", files: [{ attachment: Buffer.from("whole"), name: "a.md" }] });
  equal(file.attachments.first()?.name, "a.md", "a file");
  const history = await asked.channel.messages.fetch({ after: asked.id, limit: 10 });
  ok(history.has(file.id), "the history");
}

async function testCommands({ fake, client }) {
  await client.application.commands.set([{ name: "stop", description: "Stop" }]);
  const given = next(client, Events.InteractionCreate);
  await fake.do("command", { user: ANN, channel: DIRECT, name: "stop" });
  const command = await given;
  equal(command.commandName, "stop", "a slash command");
  await command.reply({ content: "Stopping.", flags: 64 });
}

async function testModal({ fake, client }) {
  const channel = await client.channels.fetch(DIRECT);
  const row = new ActionRowBuilder().addComponents(
    new ButtonBuilder().setCustomId("open").setLabel("Answer").setStyle(ButtonStyle.Primary));
  const card = await channel.send({ content: "Which?", components: [row] });
  let given = next(client, Events.InteractionCreate);
  const { interaction } = await fake.do("press", { user: ANN, channel: DIRECT, id: card.id, label: "Answer" });
  const press = await given;
  const options = ["Red", "Blue"].map((name, i) => ({ label: name, value: String(i) }));
  const select = new StringSelectMenuBuilder().setCustomId("p0").addOptions(options);
  select.setMinValues(0).setMaxValues(2).setRequired(false);
  const words = new TextInputBuilder().setCustomId("w0").setStyle(TextInputStyle.Paragraph).setRequired(false);
  const modal = new ModalBuilder().setCustomId("form").setTitle("Question").addLabelComponents(
    new LabelBuilder().setLabel("Colour").setStringSelectMenuComponent(select),
    new LabelBuilder().setLabel("Your answer").setTextInputComponent(words));
  await press.showModal(modal);
  given = next(client, Events.InteractionCreate);
  await fake.do("submit", { interaction, values: { p0: ["Blue"], w0: "or grey" } });
  const filled = await given;
  ok(filled.isModalSubmit() && filled.customId === "form", "a modal");
  equal(filled.fields.getStringSelectValues("p0"), ["1"], "what was chosen in it");
  equal(filled.fields.getTextInputValue("w0"), "or grey", "what was written in it");
  equal(filled.message?.id, card.id, "the message with its button");
  await filled.deferUpdate();
}

// A signature as Node checks it.
async function testEndpoint({ fake }) {
  const seen = [];
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const signed = Buffer.concat([Buffer.from(request.headers["x-signature-timestamp"]), body]);
    const signature = Buffer.from(request.headers["x-signature-ed25519"], "hex");
    const good = verify(null, signed, publicKey, signature);
    seen.push(good);
    response.writeHead(good ? 200 : 401, { "Content-Type": "application/json" });
    response.end(JSON.stringify({ type: 1 }));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  await fake.do("endpoint", { url: `http://127.0.0.1:${server.address().port}/` });
  equal(seen, [true, false], "requests are signed, and an endpoint is tested by a wrong signature");
  await fake.do("endpoint", { url: null });
  server.close();
}

async function testResume({ fake, client }) {
  const missed = next(client, Events.MessageCreate, (message) => message.content === "missed");
  const resumed = next(client, Events.ShardResume);
  await fake.do("gateway", { do: "reconnect" });
  await fake.do("message", { user: ANN, channel: DIRECT, text: "missed" });
  await resumed;
  ok(await missed, "a session that is resumed has missed nothing");
  const began = next(client, Events.ShardReady);
  await fake.do("gateway", { do: "invalid" });
  equal(await began, 0, "a session that is gone is followed by a new one, on the same shard");
}

const all = await started();
await testConversation(all);
await testCommands(all);
await testModal(all);
await testEndpoint(all);
await testResume(all);
const rules = (await all.fake.rules()).filter((rule) => !["bad-request", "session-ended"].includes(rule));
equal(rules, [], "nothing else to object to");
await all.client.destroy();
all.fake.end();
done();
