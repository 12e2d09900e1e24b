// SPDX-License-Identifier: MIT
// Webhooks of a host, judged by what others publish: standardwebhooks verifies what it posts and signs
// what it receives; cloudevents reads its CloudEvents. Signatures with Ed25519, which that package does
// not know, are made and verified by Node. Prints TAP.
//
//     node webhook.mjs NODE_MODULES FOLDER-OF-FAKES
import { generateKeyPairSync, sign, verify } from "node:crypto";
import { createServer } from "node:http";
import { Host, talker } from "./host.mjs";
import { Fake, done, equal, failure, load, ok } from "./fake.mjs";

const { Webhook } = load("standardwebhooks");
const { HTTP } = load("cloudevents");

const secret = (text) => `whsec_${Buffer.from(text).toString("base64")}`;
const NEW = secret("the-new-secret-of-32-bytes-xxxxx");
const OLD = secret("the-old-secret-of-32-bytes-xxxxx");
const IN = secret("the-inbound-secret-of-32-bytes-x");

// Raw Ed25519 keys are the last 32 bytes of their DER forms.
const pair = () => {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const raw = (key, type) => key.export({ format: "der", type }).subarray(-32).toString("base64");
  return { publicKey, privateKey, whsk: `whsk_${raw(privateKey, "pkcs8")}`, whpk: `whpk_${raw(publicKey, "spki")}` };
};
const [OUR, THEIR] = [pair(), pair()];

// Signs as standardwebhooks does.
const ed25519 = ({ privateKey }) => ({
  sign: (id, date, body) => {
    const text = `${id}.${Math.floor(date / 1000)}.${body}`;
    return `v1a,${sign(null, Buffer.from(text), privateKey).toString("base64")}`;
  },
});
const isSigned = ({ publicKey }, { headers, body }) => {
  const text = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`;
  const signatures = headers["webhook-signature"].split(" ").filter((one) => one.startsWith("v1a,"));
  return signatures.some((one) => verify(null, Buffer.from(text), publicKey, Buffer.from(one.slice(4), "base64")));
};

// An endpoint: keeps each request, and refuses the first of each id once.
const posts = [];
const seen = new Set();
const server = createServer((request, response) => {
  let body = "";
  request.on("data", (text) => (body += text));
  request.on("end", () => {
    const { url, headers } = request;
    const again = url !== "/own" || seen.has(headers["webhook-id"]);
    if (url === "/own") seen.add(headers["webhook-id"]);
    posts.push({ url, headers, body, status: again ? 200 : 500 });
    response.writeHead(again ? 200 : 500).end();
  });
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const address = `http://127.0.0.1:${server.address().port}`;

const instance = (name, more) =>
  `${name} : { plugin = "webhook"; url = "${address}/${name}"; secret = "${NEW} ${OLD}"; types = ["final"];
    ${more} };`;

async function until(condition, what) {
  for (const end = Date.now() + 60000; Date.now() < end; ) {
    const found = condition();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`not within a minute: ${what}`);
}

async function send(host, signer, date = new Date(), to = "own") {
  const id = `msg_${Math.random().toString(36).slice(2)}`;
  const body = JSON.stringify({ user: "ci", text: "id=npm", route: { job: 7 } });
  const headers = {
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(date / 1000)),
    "webhook-signature": signer.sign(id, date, body),
  };
  const answer = await fetch(`${host.url}/hooks/${to}`, { method: "POST", headers, body });
  return [answer.status, await answer.json()];
}

const host = await Host.start(
  { main: { command: [talker] } },
  {},
  "",
  instance("own", `receive = true; inbound_secret = "${IN}"; grants = ["submit"]; allow = ["ci"];`) +
    instance("cloud", `format = "cloudevents"; turns = "all";`) +
    `pair : { plugin = "webhook"; url = "${address}/pair"; secret = "${OUR.whsk} ${NEW}"; types = ["final"];
      receive = true; inbound_secret = "${THEIR.whpk}"; grants = ["submit"]; allow = ["ci"]; };`,
);
await until(() => host.log.includes("serving"), "the host");

const [status, answer] = await (async () => {
  for (;;) {
    const got = await send(host, new Webhook(IN));
    if (got[0] !== 503) return got;
  }
})();
equal(status, 202, "a message that standardwebhooks has signed is accepted");
equal(answer.state, "accepted", "  and a turn begins");
equal((await send(host, new Webhook(NEW)))[0], 401, "one with another key is refused");
equal((await send(host, new Webhook(IN), new Date(Date.now() - 301e3)))[0], 401, "and an old one");

const own = await until(() => {
  const found = posts.filter((post) => post.url === "/own");
  return found.length === 2 && found;
}, "two attempts");
for (const [n, post] of own.entries())
  for (const key of [NEW, OLD]) {
    const event = new Webhook(key).verify(post.body, post.headers);
    equal([event.type, event.route], ["turn.final", '{"job":7}'], `attempt ${n + 1} is verified with each key`);
  }
equal(own[0].headers["webhook-id"], own[1].headers["webhook-id"], "both attempts have one id");
equal(own[0].body, own[1].body, "  and one body");
ok(own[0].headers["webhook-timestamp"] !== own[1].headers["webhook-timestamp"], "  and each its time");
const wrong = await failure((async () => new Webhook(IN).verify(own[0].body, own[0].headers))());
equal(wrong.name, "WebhookVerificationError", "another key does not verify it");

const cloud = await until(() => posts.find((post) => post.url === "/cloud"), "a CloudEvent");
new Webhook(NEW).verify(cloud.body, cloud.headers);
const event = HTTP.toEvent({ headers: cloud.headers, body: cloud.body });
ok(event.validate(), "cloudevents reads the event and finds it valid");
equal([event.type, event.id, event.subject], ["dev.turncast.turn.final", cloud.headers["webhook-id"], JSON.parse(own[0].body).turn], "  with its type, id and turn");
ok(event.source.endsWith("/cloud") && event.data.payload.text.startsWith("Answer npm of"), "  its source and data", event);
ok(Math.abs(new Date(event.time) - Date.now()) < 600e3, "  and its time", event.time);

// Keys of which each side has one half.
equal((await send(host, ed25519(THEIR), new Date(), "pair"))[0], 202, "a message that Node has signed with Ed25519");
equal((await send(host, ed25519(OUR), new Date(), "pair"))[0], 401, "  with another key it is refused");
equal((await send(host, new Webhook(NEW), new Date(), "pair"))[0], 401, "  and with a shared key");
equal((await send(host, ed25519(THEIR), new Date(Date.now() - 301e3), "pair"))[0], 401, "  and an old one");
const signed = await until(() => posts.find((post) => post.url === "/pair"), "an event of that turn");
ok(isSigned(OUR, signed), "Node verifies the Ed25519 signature of what is posted");
ok(!isSigned(THEIR, signed), "  and not with another key");
ok(!isSigned(OUR, { ...signed, body: `${signed.body} ` }), "  nor of another body");
equal(new Webhook(NEW).verify(signed.body, signed.headers).type, "turn.final", "standardwebhooks finds the shared key's beside it");

equal(await host.stop(), 0, "the host ends");

// The fake of an endpoint takes what the library signs, and nothing else.
const fake = await Fake.start("webhook");
const signer = new Webhook(secret("fake-webhook-secret-of-32-bytes!"));
async function post(id, date, body, signed = body) {
  const headers = {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(date / 1000)),
    "webhook-signature": signer.sign(id, date, signed),
  };
  return (await fetch(`${fake.url}/hook`, { method: "POST", headers, body })).status;
}
equal(await post("a", new Date(), '{"type":"x"}'), 200, "the fake accepts what standardwebhooks signs");
equal(await post("b", new Date(), '{"type":"x"}', '{"type": "x"}'), 401, "  and no other body");
equal(await post("c", new Date(Date.now() - 301e3), "{}"), 401, "  nor one that is too old");
equal(await post("d", new Date(), "[]"), 400, "  nor what is no object");
equal(await post("a", new Date(), '{"type":"y"}'), 200, "a repeat with another body");
equal(await fake.rules(), ["refused", "refused", "refused", "other-body"], "  is a violation, as are refusals");
fake.end();
server.close();
done();
