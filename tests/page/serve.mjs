// SPDX-License-Identifier: MIT
// The live page as `turncast serve` serves it, with an agent that says what the test tells it.
// Prints TAP.
//
//     node serve.mjs NODE_MODULES BUILD-FOLDER PAGE-FOLDER
import { desktop, launch, open } from "./browser.mjs";
import { attacks, corpus, outcomes } from "./corpus.mjs";
import { Host } from "./host.mjs";
import { policy } from "./mock.mjs";
import { finish, note, ok, same, test } from "./tap.mjs";
import { Wire } from "./wire.mjs";
import * as story from "./story.mjs";

const [modules, build, pages] = process.argv.slice(2);
const key = "sesame-open-sesame";
const { browser } = await launch(modules);
const host = new Host(build, pages);
const grants = 'grants = ["submit", "cancel", "watch"];';
const direct = await host.start(`keys = { ops = { secret = "${key}"; ${grants} }; watcher = { secret = "${key}-2"; grants = ["watch"]; }; };`);
const wire = new Wire(new URL(direct).port);
const url = await wire.listen();

// Everybody is signed in but who says otherwise.
async function visit(name, run, secret = key) {
  await test(name, async () => {
    const page = await open(browser, desktop);
    try {
      await page.goto(url);
      if (secret) {
        await page.getByLabel("Key").fill(secret);
        await page.getByLabel("Key").press("Enter");
        await page.locator(".brand .connection[data-state=live]").waitFor();
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

await visit("a key that may only watch", async (page) => {
  await page.locator(".row").first().waitFor();
  ok(!(await page.getByRole("textbox", { name: "Message" }).isVisible()), "is offered no message to write");
}, `${key}-2`);

await browser.close();
wire.close();
await host.stop();
if (/\b(panic|assert|Sanitizer)\b/.test(host.log)) note(host.log);
finish();
