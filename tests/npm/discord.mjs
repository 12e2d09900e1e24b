// SPDX-License-Identifier: MIT
// The Discord fake, driven by discord.js: what the client most bots use takes for Discord is no opinion
// of ours. Prints TAP.
//
//     node discord.mjs NODE_MODULES FOLDER-OF-FAKES
import { Fake, done, equal, failure, load, ok } from "./fake.mjs";

const { ActionRowBuilder, ButtonBuilder, ButtonStyle, Client, Events, GatewayIntentBits, Partials } = load("discord.js");

const TOKEN = "fake-discord-bot-token.AAAAAA.not-a-real-one";
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
await testResume(all);
const rules = (await all.fake.rules()).filter((rule) => !["bad-request", "session-ended"].includes(rule));
equal(rules, [], "nothing else to object to");
await all.client.destroy();
all.fake.end();
done();
