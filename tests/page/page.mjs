// SPDX-License-Identifier: MIT
// The live page in a browser, against a host that does what the test says. Prints TAP.
//
//     node page.mjs NODE_MODULES PAGE-FOLDER SCREENS-FOLDER
import fs from "node:fs";
import path from "node:path";
import { desktop, findings, launch, open, phone } from "./browser.mjs";
import { attacks, corpus, outcomes } from "./corpus.mjs";
import { Mock } from "./mock.mjs";
import { finish, note, ok, same, test } from "./tap.mjs";
import { Wire } from "./wire.mjs";
import * as story from "./story.mjs";

const [modules, pages, screens] = process.argv.slice(2);
const { browser, axe } = await launch(modules);
const mock = new Mock(pages);
const direct = await mock.listen();
const wire = new Wire(new URL(direct).port);
const url = await wire.listen();
fs.mkdirSync(screens, { recursive: true });

// visit(name, hash, options, run): a fresh browser; nothing may go wrong in it.
async function visit(name, hash, options, run) {
  await test(name, async () => {
    const page = await open(browser, options);
    try {
      await page.goto(url + hash);
      await run(page);
      same(page.wrong, [], `${name}: nothing went wrong in the browser`);
    } finally {
      await page.context().close();
    }
  });
}

function at(turn) {
  return `#/turn/${turn.told.id}`;
}

const drawn = (page) => page.evaluate(() => new Promise((resolve) => {
  requestAnimationFrame(() => requestAnimationFrame(resolve));
}));

await visit("the list", "", desktop, async (page) => {
  await page.getByText("No turns yet").waitFor();
  const one = mock.turn({ task: "One" });
  await page.getByRole("link", { name: "Running: One" }).waitFor();
  mock.turn({ task: "Two", created_ms: Date.now() + 1 });
  await page.getByRole("link", { name: "Two" }).waitFor();
  same(await page.locator(".row-task").allTextContents(), ["Two", "One"], "turns appear as they come, the newest first");
  one.change({ state: "final", ended_ms: Date.now() });
  await page.locator(".group", { hasText: "Earlier" }).getByRole("link", { name: "Answered: One" }).waitFor();
  same(await page.locator(".row-task").allTextContents(), ["Two", "One"], "a turn that ends moves from now to before, and is there once");
});

let lived;
await visit("a turn followed live", "", desktop, async (page) => {
  const turn = mock.turn({ task: "Read the notes" });
  lived = turn;
  await page.getByRole("link", { name: "Read the notes" }).click();
  await story.live(page, turn);
});

await visit("a turn opened after its end", at(lived), desktop, async (page) => {
  await page.locator(".ending").waitFor();
  same(await story.told(page), story.whole, "reads as it did live");
});

await visit("an agent that goes on by itself", "", desktop, async (page) => {
  const created = Date.now();
  const asked = mock.turn({ task: "Watch the build", conversation: "watch", created_ms: created });
  await page.goto(url + at(asked));
  asked.say("final", { text: "I watch it." });
  asked.say("done", { reason: "completed" });
  await page.locator(".ending").waitFor();
  mock.turn({ task: "Something else", conversation: "other", created_ms: created + 1 });
  mock.turn({ task: "", conversation: "watch", created_ms: created + 2 });
  mock.turn({ task: "And then?", conversation: "watch", created_ms: created + 3 });
  const link = page.getByRole("link", { name: "next turn" });
  await link.waitFor();
  same(await link.count(), 1, "the turn that was asked for leads to the one that the agent has begun");
  await link.click();
  await page.getByRole("heading", { name: "(started by the agent)" }).waitFor();
  await page.getByRole("link", { name: "And then?" }).waitFor();
  same(await page.locator(".note", { hasText: "started another turn by itself" }).count(), 0, "a turn that somebody asked for is none of these");
});

await visit("a lost connection", "", desktop, async (page) => {
  const turn = mock.turn({ task: "Long work" });
  await page.goto(url + at(turn));
  await story.cut(page, turn, wire, mock);
});

// Chromium has six connections to a host, for all tabs together.
await test("more tabs than connections", async () => {
  const first = await open(browser);
  const context = first.context();
  const tabs = [first];
  // Playwright's pages all seem to be seen; so the test says which are.
  const show = (page, hidden) => page.evaluate((value) => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => value });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);
  try {
    for (let i = 0; i < 8; i++) {
      const turn = mock.turn({ task: `Tab ${i}` });
      turn.say("start");
      turn.say("narration", { text: `Words of ${i}.`, message_id: "m" });
      if (i) {
        await show(tabs[i - 1], true);
        tabs.push(await context.newPage());
      }
      await tabs[i].goto(url + at(turn));
      await tabs[i].getByText(`Words of ${i}.`).waitFor({ timeout: 60000 });
    }
    ok(await tabs[7].getByText("Words of 7.").isVisible(), "the eighth tab is told its turn while seven more are open");
    const [turn] = mock.turns.slice(7);
    turn.say("narration", { text: " More.", message_id: "m" });
    await show(tabs[7], true);
    await show(tabs[0], false);
    await tabs[0].getByText("Words of 0. More.").waitFor({ timeout: 60000 });
    ok(await tabs[0].getByText("Words of 0. More.").isVisible(), "one that is seen again is told what it missed");
    turn.say("final", { text: "Words of 0. More." });
    turn.say("done", { reason: "completed" });
    await tabs[0].locator(".ending").waitFor({ timeout: 60000 });
    await show(tabs[0], true);
    await show(tabs[0], false);
    same(await tabs[0].locator(".ending").count(), 1, "and one that is over is not told again");
  } finally {
    await context.close();
  }
});

await visit("events that are gone", "", desktop, async (page) => {
  const turn = mock.turn();
  turn.say("start");
  for (let i = 0; i < 30; i++) turn.say("narration", { text: `${i} `, message_id: "m" });
  turn.first = 20;
  await page.goto(url + at(turn));
  await page.getByText("Events 1 to 19 are no longer available.").waitFor();
  same((await page.locator(".narration").innerText()).trim(), "18 19 20 21 22 23 24 25 26 27 28 29", "what is left is shown");
});

await visit("a turn that is not known", "#/turn/no%2Fsuch", desktop, async (page) => {
  await page.getByRole("heading", { name: "Unknown turn" }).waitFor();
  same(await page.locator(".narration, .ending").count(), 0, "says so, and shows nothing of one");
});

await visit("the reader's place", "", desktop, async (page) => {
  const turn = mock.turn();
  await page.goto(url + at(turn));
  await story.scroll(page, turn);
});

await visit("sub-agents", "", desktop, async (page) => {
  const turn = mock.turn();
  turn.say("start");
  for (let i = 0; i < 9; i++) {
    const parent = i ? { parent_id: `t${i - 1}`, agent: `a${i - 1}` } : {};
    turn.say("tool_call", { name: `Agent${i}`, args: {}, tool_use_id: `t${i}`, ...parent });
  }
  turn.say("tool_call", { name: "Own", args: {}, tool_use_id: "own", parent_id: "own" });
  turn.say("narration", { text: "Of nobody.", message_id: "m", parent_id: "unknown" });
  await page.goto(url + at(turn));
  await page.getByText("Of nobody.").waitFor();
  const depth = await page.locator(".tool-name", { hasText: "Agent8" }).evaluate((e) => {
    let n = 0;
    for (let up = e; (up = up.parentElement?.closest(".nest")); ) n++;
    return n;
  });
  same(depth, 5, "nest by their parents, and no deeper than can be read");
  ok(await page.locator(".content > .lane > .tool", { hasText: "Own" }).count(), "a call cannot be its own parent");
});

await visit("a message", "", desktop, async (page) => {
  mock.on = (turn, message) => turn.say("start", { task: message.prompt });
  await story.submit(page);
});

await visit("several agents", "", desktop, async (page) => {
  mock.agents = ["first", "second"];
  await page.reload();
  await story.choose(page, new Promise((resolve) => {
    mock.on = (turn, message) => resolve(message);
  }));
  mock.agents = ["coder"];
});

await visit("who may only watch", "", desktop, async (page) => {
  mock.grants = ["watch"];
  mock.turn({ task: "To be watched" });
  await page.reload();
  await page.getByRole("link", { name: "To be watched" }).click();
  await page.locator(".turn .connection[data-state=live]").waitFor();
  ok(!(await page.locator(".composer, .turn .danger").filter({ visible: true }).count()), "is offered neither a message nor a cancellation");
  mock.grants = ["submit", "cancel", "watch", "answer"];
});

await visit("cancelling", "", desktop, async (page) => {
  const turn = mock.turn();
  await page.goto(url + at(turn));
  await story.cancel(page, turn);
});

// What the page said to the host last.
function decider() {
  const decide = mock.decide;
  let last;
  mock.decide = (turn, id, body, answer) => {
    last = [id, body];
    decide(turn, id, body, answer);
  };
  return () => last;
}

for (const [look, options] of Object.entries({ desktop, phone })) {
  await visit(`approvals, ${look}`, "", options, async (page) => {
    const turn = mock.turn();
    await page.goto(url + at(turn));
    await story.decisions(page, turn, decider());
    await story.late(page, mock.turns[0], mock);
  });
  await visit(`questions, ${look}`, "", options, async (page) => {
    const turn = mock.turn();
    await page.goto(url + at(turn));
    await story.answers(page, turn, decider());
    same(await findings(page, axe), [], `questions, ${look}: axe finds nothing serious`);
  });
}

await visit("who may not answer", "", desktop, async (page) => {
  mock.grants = ["submit", "cancel", "watch"];
  const turn = mock.turn();
  turn.say("request", story.approval("a"));
  await page.goto(url + at(turn));
  await page.reload();
  await page.locator(".request.open pre").waitFor();
  same(await page.locator(".request button, .request input").count(), 0, "sees what is asked, and no buttons");
  mock.grants = ["submit", "cancel", "watch", "answer"];
});

await visit("the list while people are asked", "", desktop, (page) => story.waiting(page, mock));

await visit("a stop", "", desktop, async (page) => {
  const turn = mock.turn();
  await page.goto(url + at(turn));
  await story.stopping(page, turn, mock);
});

await visit("work behind a turn", "", desktop, async (page) => {
  const turn = mock.turn();
  await page.goto(url + at(turn));
  await story.background(page, turn, mock);
});

await visit("a key", "", desktop, async (page) => {
  mock.key = "sesame";
  await page.reload();
  await story.login(page, "sesame");
  mock.key = "other";
  wire.cut();
  wire.mend();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  same(await page.locator(".row").count(), 0, "a key that is no longer taken leads back to the form, which shows nothing");
  mock.key = undefined;
});

await visit("the keyboard", "", desktop, async (page) => {
  await page.getByRole("link", { name: "Read the notes" }).waitFor();
  await story.keyboard(page);
});

for (const [i, attack] of attacks.entries()) {
  const turn = mock.turn({ task: attack, agent: attack, conversation: attack, source: attack, id: `x${i}${attack}` });
  if (i) turn.change({ state: attack });
}
await visit("hostile texts", "", desktop, async (page) => {
  const turn = mock.turn({ task: attacks.join("\n"), agent: attacks[0], source: attacks[2], id: attacks[8] });
  turn.say("start", {});
  for (const { type, payload } of corpus({ strict: false })) turn.say(type, payload);
  for (const { type, payload } of corpus({ strict: true })) turn.say(type, payload);
  const { final, error, done } = outcomes(attacks.join("\n\n"));
  turn.say("final", final);
  turn.say("error", error);
  turn.say("done", done);
  turn.change({ state: "final" });
  await page.goto(`${url}#/turn/${encodeURIComponent(turn.told.id)}`);
  await story.harmless(page, attacks);
});

await visit("hostile questions", "", desktop, async (page) => {
  const turn = mock.turn({ task: "Ask" });
  turn.say("start", {});
  for (const { type, payload } of corpus({ strict: true }))
    if (type === "request") turn.say(type, { ...payload, request_id: `${payload.request_id}`, choices: [...payload.choices, { id: payload.subject, label: payload.subject }, null, "x", 1] });
  await page.goto(url + at(turn));
  await story.harmless(page, attacks.filter((attack) => !/[\0\ud800]/.test(attack)), ".answers");
});

await visit("five thousand events", "", desktop, async (page) => {
  const turn = mock.turn();
  turn.say("start");
  for (let i = 0; i < 1000; i++) {
    turn.say("narration", { text: `Step ${i}: **look** at `, message_id: `m${i}` });
    turn.say("narration", { text: `\`file${i}\`.`, message_id: `m${i}` });
    turn.say("tool_call", { name: "Read", args: { file_path: `/srv/file${i}` }, tool_use_id: `t${i}` });
    turn.say("tool_result", { tool_use_id: `t${i}`, content: "x".repeat(500), is_error: false });
    turn.say("usage", { scope: "call", input_tokens: 1 });
  }
  await page.goto(url);
  await drawn(page);
  await story.large(page, at(turn), note);
});

// ---- how it looks, and whether everybody can use it ----

mock.forget();
const { running, answered, failed } = story.gallery(mock);
const looks = {
  light: desktop,
  dark: { ...desktop, colorScheme: "dark" },
  phone,
  "phone-dark": { ...phone, colorScheme: "dark" },
};
for (const [look, options] of Object.entries(looks)) {
  for (const [what, hash] of Object.entries({ list: "", running: at(running), answer: at(answered), error: at(failed) })) {
    await visit(`${look}, ${what}`, hash, options, async (page) => {
      if (hash) await page.locator(".item").last().waitFor();
      else await page.locator(".row").last().waitFor();
      await drawn(page);
      await page.screenshot({ path: path.join(screens, `${what}-${look}.png`) });
      const wide = await page.evaluate(() => [...document.querySelectorAll("html, .main, .content, .side")]
        .filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.className || e.tagName));
      same(wide, [], `${look}, ${what}: nothing is wider than the screen`);
      for (const summary of await page.locator(".chip summary, .thought summary, .fold > summary").all()) await summary.click();
      await drawn(page);
      same(await findings(page, axe), [], `${look}, ${what}: axe finds nothing serious`);
    });
  }
  mock.key = "sesame";
  await visit(`${look}, login`, "", options, async (page) => {
    await page.getByRole("button", { name: "Sign in" }).waitFor();
    await page.screenshot({ path: path.join(screens, `login-${look}.png`) });
    same(await findings(page, axe), [], `${look}, login: axe finds nothing serious`);
  });
  mock.key = undefined;
}

await browser.close();
wire.close();
mock.close();
finish();
