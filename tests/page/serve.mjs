// SPDX-License-Identifier: MIT
// The live page as `turncast serve` serves it, with an agent that says what the test tells it.
// Prints TAP.
//
//     node serve.mjs NODE_MODULES BUILD-FOLDER PAGE-FOLDER
import { desktop, findings, launch, open, phone } from "./browser.mjs";
import { attacks, corpus, outcomes } from "./corpus.mjs";
import { Host } from "./host.mjs";
import { policy } from "./mock.mjs";
import { finish, note, ok, same, test } from "./tap.mjs";
import { Wire } from "./wire.mjs";
import * as story from "./story.mjs";

const [modules, build, pages] = process.argv.slice(2);
const key = "sesame-open-sesame";
const { browser, axe } = await launch(modules);
const host = new Host(build, pages);
const grants = 'grants = ["submit", "cancel", "watch", "answer"];';
const direct = await host.start(`keys = { ops = { secret = "${key}"; ${grants} }; watcher = { secret = "${key}-2"; grants = ["watch"]; }; };`);
const wire = new Wire(new URL(direct).port);
const url = await wire.listen();

// Everybody is signed in but who says otherwise.
async function visit(name, run, secret = key, options = desktop) {
  await test(name, async () => {
    const page = await open(browser, options);
    try {
      await page.goto(url);
      if (secret) {
        await page.getByLabel("Key").fill(secret);
        await page.getByLabel("Key").press("Enter");
        await page.locator(".brand .connection[data-state=live]").waitFor({ state: "attached" });
      }
      await run(page);
      same(page.wrong, [], `${name}: nothing went wrong in the browser`);
    } finally {
      host.hush();
      await page.context().close();
    }
  });
}

// A turn that the page asks for, and that it shows.
async function ask(page, prompt) {
  const next = host.next();
  await page.getByRole("textbox", { name: "Message" }).fill(prompt);
  await page.getByRole("button", { name: "Send" }).click();
  return next;
}

await test("what the page is served with", async () => {
  const wanted = { "content-security-policy": policy, "x-content-type-options": "nosniff", "referrer-policy": "no-referrer" };
  for (const [file, type] of [["", "text/html; charset=utf-8"], ["page/main.mjs", "text/javascript; charset=utf-8"], ["page/style.css", "text/css; charset=utf-8"], ["page/icon.svg", "image/svg+xml"]]) {
    const response = await fetch(url + file);
    same(response.status, 200, `/${file} is there, for everybody`);
    same(response.headers.get("content-type"), type, `/${file} has its type`);
    same(Object.fromEntries(Object.keys(wanted).map((name) => [name, response.headers.get(name)])), wanted, `/${file} has its headers`);
  }
});

await visit("a key", (page) => story.login(page, key), "");

await visit("a turn followed live", async (page) => {
  const turn = await ask(page, "Read the notes");
  same(turn.told.task.trim(), "Read the notes", "the agent gets the message");
  await story.live(page, turn);
  await page.reload();
  await page.locator(".ending").waitFor();
  same(await story.told(page), story.whole, "opened after its end it reads the same");
});

await visit("a lost connection", async (page) => story.cut(page, await ask(page, "Long work"), wire));

await visit("cancelling", async (page) => story.cancel(page, await ask(page, "Too long")));

await visit("a message", async (page) => {
  const turns = [host.next(), host.next()];
  for (const turn of turns) turn.then((t) => t.say("start", {}));
  await story.submit(page);
});

await visit("hostile texts", async (page) => {
  const turn = await ask(page, attacks.join("\n").replaceAll("\0", ""));
  for (const { type, payload } of corpus({ strict: true })) turn.say(type, payload);
  const { final, done } = outcomes(attacks.join("\n\n"));
  turn.say("final", final);
  turn.say("done", done);
  await story.harmless(page, attacks.filter((attack) => !attack.includes("\ud800")));
});

// An agent that waits for its answers over the control protocol, on a screen of 320 pixels.
await visit("an agent that asks, on a phone", async (page) => {
  const begin = async (prompt) => {
    await page.goto(url);
    await page.getByRole("combobox", { name: "Agent" }).selectOption("asker");
    await page.getByRole("textbox", { name: "Message" }).fill(prompt);
    await page.getByRole("button", { name: "Send" }).tap();
    await page.locator(".request.open").waitFor();
  };
  const card = page.locator(".request").last();
  const heard = () => page.locator(".answer .prose").innerText();

  await begin("run=rm -r /srv/cache");
  same(await card.locator("pre").innerText(), "rm -r /srv/cache", "what it asks for is shown");
  await card.getByText("Denied automatically in").waitFor();
  same(await page.evaluate(() => [...document.querySelectorAll("html, .main, .content, .request")].filter((e) => e.scrollWidth > e.clientWidth).length), 0, "nothing is wider than the screen");
  same(await findings(page, axe), [], "axe finds nothing serious");
  await page.reload();
  await card.getByRole("button", { name: "Allow", exact: true }).tap();
  await page.locator(".ending").waitFor();
  same(JSON.parse(await heard()).behavior, "allow", "allowed after a reload, the agent goes on");
  same(await page.locator(".request.resolved .by").innerText(), "by ops", "and who allowed it is said");

  await begin("run=mkfs");
  await card.getByRole("textbox", { name: "Reason for denying (optional)" }).fill("Not this disk.");
  await card.getByRole("button", { name: "Deny" }).tap();
  await page.locator(".ending").waitFor();
  same(JSON.parse(await heard()), { behavior: "deny", message: "Not this disk." }, "denied, it hears why");

  await begin("two");
  await card.getByRole("radio", { name: "Green" }).tap();
  await card.getByRole("checkbox", { name: "Red" }).tap();
  await card.getByRole("checkbox", { name: "Blue" }).tap();
  same(await findings(page, axe), [], "axe finds nothing serious in a form");
  await card.getByRole("button", { name: "Answer" }).tap();
  await page.locator(".ending").waitFor();
  const answers = await heard();
  ok(["Green", "Red", "Blue"].every((word) => answers.includes(word)), "it hears the answers to its questions", answers);

  await begin("run=sleep 1000");
  await page.locator(".back").tap();
  const badge = page.locator(".row", { hasText: "run=sleep" }).locator(".badge", { hasText: "asks" });
  await badge.waitFor();
  same(await badge.count(), 1, "the list says who waits");
  await page.getByRole("link", { name: "Waiting for an answer: run=sleep 1000" }).tap();
  await page.getByRole("button", { name: "Stop" }).tap();
  await page.locator(".turn .state-word", { hasText: "Stopped" }).waitFor();
  await page.locator(".request:not(.open)").waitFor();
  same(await page.locator(".request button").count(), 0, "stopped, it asks no more");
}, key, phone);

await visit("two who answer", async (page) => {
  const other = await open(browser, desktop);
  await page.getByRole("combobox", { name: "Agent" }).selectOption("asker");
  await page.getByRole("textbox", { name: "Message" }).fill("run=date");
  await page.getByRole("button", { name: "Send" }).click();
  await page.locator(".request.open").waitFor();
  await other.goto(page.url());
  await other.getByLabel("Key").fill(key);
  await other.getByLabel("Key").press("Enter");
  await other.getByRole("button", { name: "Deny" }).waitFor();
  // Both press what they see; whose button is gone by then was late, too.
  const press = (p, choice) => p.evaluate((id) => document.querySelector(`[data-choice=${id}]`)?.click(), choice);
  await Promise.all([press(page, "allow"), press(other, "deny")]);
  const words = (p) => p.locator(".request:not(.open) .request-head").innerText();
  await Promise.all([page, other].map((p) => p.locator(".ending").waitFor()));
  same(await words(page), await words(other), "one decides, and both see what");
  same(other.wrong, [], "nothing went wrong with the other");
  await other.context().close();
});

await visit("a key that may only watch", async (page) => {
  await page.locator(".row").first().waitFor();
  ok(!(await page.getByRole("textbox", { name: "Message" }).isVisible()), "is offered no message to write");
  const response = await fetch(`${url}turns`, { method: "POST", headers: { "Content-Type": "application/json", "X-API-Key": key }, body: JSON.stringify({ prompt: "run=id", agent: "asker" }) });
  const { id } = await response.json();
  await page.goto(`${url}#/turn/${id}`);
  await page.locator(".request.open pre").waitFor();
  same(await page.locator(".request button, .request input, .turn .danger:visible").count(), 0, "and nothing to decide");
  await fetch(`${url}turns/${id}/cancel`, { method: "POST", headers: { "Content-Type": "application/json", "X-API-Key": key }, body: "{}" });
}, `${key}-2`);

await browser.close();
wire.close();
await host.stop();
if (/\b(panic|assert|Sanitizer)\b/.test(host.log)) note(host.log);
finish();
