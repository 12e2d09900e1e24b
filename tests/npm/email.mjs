// SPDX-License-Identifier: MIT
// E-mails of recorded turns, taken by Nodemailer's SMTP server and read by its parser. Prints TAP.
//
//     node email.mjs NODE_MODULES FOLDER-OF-FAKES
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { spawn } from "node:child_process";
import { done, equal, load, ok } from "./fake.mjs";

const { SMTPServer } = load("smtp-server");
const { simpleParser } = load("mailparser");
const build = process.env.TURNCAST_BUILDDIR;
const LOGIN = { user: "bot", password: "canary-password-1" };

// The server, and the raw messages that it has taken.
async function listening() {
  const taken = [];
  const server = new SMTPServer({
    hideSTARTTLS: true,
    allowInsecureAuth: true,
    disableReverseLookup: true,
    logger: false,
    onAuth: ({ username, password }, _session, answer) =>
      username === LOGIN.user && password === LOGIN.password ? answer(null, { user: username }) : answer(new Error("wrong")),
    onData: async (stream, session, answer) => {
      const pieces = [];
      for await (const piece of stream) pieces.push(piece);
      const { mailFrom, rcptTo } = session.envelope;
      taken.push({ raw: Buffer.concat(pieces), user: session.user, from: mailFrom.address, to: rcptTo.map((r) => r.address) });
      answer();
    },
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, taken, url: `smtp://127.0.0.1:${server.server.address().port}` };
}

async function run(words, events, url, options) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "turncast-email."));
  const config = path.join(folder, "turncast.conf");
  const recording = path.join(folder, "recording.jsonl");
  const login = `user = "${LOGIN.user}"; password = "${LOGIN.password}";`;
  fs.writeFileSync(config, `plugins : { instances : { email : { server = "${url}"; from = "bot@example.org";
    to = ["ann@example.org", "bob@example.org"]; ${login} ${options} }; }; };`, { mode: 0o600 });
  fs.writeFileSync(recording, events.map((event) => `${JSON.stringify(event)}\n`).join(""));
  const env = { ...process.env, HOME: folder, XDG_STATE_HOME: folder };
  const command = [words, "-c", config, ...(words === "replay" ? ["-d", "turncast", recording] : [])];
  const child = spawn(path.resolve(build, "turncast"), command, { env });
  let output = "";
  child.stdout.on("data", (text) => (output += text));
  const status = await new Promise((resolve) => child.once("close", resolve));
  fs.rmSync(folder, { recursive: true });
  return { status, output };
}

async function mailed(text, options = "", outcome = { type: "final", payload: { text } }) {
  const { server, taken, url } = await listening();
  const events = [{ type: "start", payload: {} }, outcome, { type: "done", payload: { reason: "completed" } }];
  const { status } = await run("replay", events, url, options);
  server.close();
  equal([status, taken.length], [outcome.type === "final" ? 0 : 1, 1], "one e-mail");
  return { ...taken[0], mail: await simpleParser(taken[0].raw) };
}

const lines = (raw) => raw.toString("latin1").split("\r\n");

async function testMessage() {
  const text = "# Größe 🎉\n\nAll **good**, see <https://example.org/a?b=c&d=e>.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n.dot\n\nFrom here";
  const { raw, mail, user, from, to } = await mailed(text);
  equal([user, from, to], ["bot", "bot@example.org", ["ann@example.org", "bob@example.org"]], "the envelope");
  equal(mail.from.value, [{ address: "bot@example.org", name: "turncast" }], "From");
  equal(mail.to.value.map(({ address }) => address), to, "To");
  ok(mail.subject.endsWith(": Größe 🎉"), "a subject that is not ASCII", mail.subject);
  ok(/^<[0-9a-f]{32}@example\.org>$/.test(mail.messageId), "Message-ID", mail.messageId);
  equal(mail.headers.get("auto-submitted"), "auto-generated", "Auto-Submitted");
  ok(Math.abs(mail.date - Date.now()) < 3600e3, "Date", mail.date);
  ok(mail.text.includes("All good") && mail.text.includes("\n.dot") && mail.text.includes("From here"), "the text", mail.text);
  ok(mail.html.includes("<strong>good</strong>") && mail.html.includes("<table>"), "the HTML", mail.html);
  ok(mail.html.includes('href="https://example.org/a?b=c&amp;d=e"'), "a link");
  ok(lines(raw).every((line) => line.length <= 78), "no line is longer than 78");
  ok(!/[^\r]\n|\r[^\n]/.test(raw.toString("latin1")), "all lines end with CRLF");
  ok(/^[\r\n\x20-\x7e]*$/.test(raw.toString("latin1")), "all is ASCII");
}

async function testInjection() {
  const message = "bad\r\nBcc: evil@example.org\r\n\r\nbody";
  const outcome = { type: "error", payload: { message, code: "x\r\nCc: evil@example.org" } };
  const { mail, to } = await mailed("", `name = "Bot \\"x\\" <evil@example.org>, ü";`, outcome);
  equal([mail.bcc, mail.cc, to.length], [undefined, undefined, 2], "a text does not become a header");
  equal(mail.from.value, [{ address: "bot@example.org", name: 'Bot "x" <evil@example.org>, ü' }], "nor a name an address");
  const { mail: other } = await mailed(`a\u0085b\u2028c ${"=?UTF-8?Q?x?=".repeat(3)}`);
  ok(other.subject.includes("=?UTF-8?Q?x?="), "an encoded word stays text", other.subject);
}

async function testLong() {
  const word = "äöüß".repeat(5000);
  const { raw, mail } = await mailed(`${word}\n\n${"x".repeat(70000)}\n\nlast`);
  ok(mail.text.includes(word) && mail.text.includes("x".repeat(70000)) && mail.text.includes("last"), "a long line is whole");
  ok(lines(raw).every((line) => line.length <= 78), "in short lines");
  ok(mail.subject.length <= 160 && mail.subject.includes("äöü") && !mail.subject.includes("\ufffd"), "the subject is cut between characters");
  const { mail: large } = await mailed(`${"long ".repeat(100000)}\n\nlast`);
  ok(large.text.includes("[…]") && !large.text.includes("last"), "a text above 256 KiB is cut");
}

async function testPlain() {
  const { mail } = await mailed("All **good**.", "html = false;");
  equal([mail.html, mail.text.startsWith("All good.")], [false, true], "without HTML");
}

async function testDoctor() {
  const { server, taken, url } = await listening();
  const place = url.split("//")[1];
  const good = await run("doctor", [], url, "");
  ok(good.output.includes(`ok    instance email: ${place} accepts the credentials`), "doctor: the login is valid", good.output);
  LOGIN.password = "canary-password-2";
  const { server: other, url: at } = await listening();
  const right = LOGIN.password;
  LOGIN.password = "canary-password-3";
  const login = run("doctor", [], at, "");
  LOGIN.password = right;
  const bad = await login;
  ok(bad.output.includes("does not accept password (") && !bad.output.includes("canary"), "doctor: the login is refused", bad.output);
  equal(taken.length, 0, "doctor: nothing is sent");
  server.close();
  other.close();
}

for (const test of [testMessage, testInjection, testLong, testPlain, testDoctor]) await test();
done();
