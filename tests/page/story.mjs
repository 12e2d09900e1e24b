// SPDX-License-Identifier: MIT
// What people do with the page, for any host: a turn is something with say(kind, payload).
import { ok, same } from "./tap.mjs";

// The timeline as it reads: one line an item, its kind before it.
export function told(page) {
  return page.evaluate(() => [...document.querySelectorAll(".item")].map((item) => {
    const kind = [...item.classList].filter((c) => c !== "item" && c !== "live").join(" ");
    const copy = item.cloneNode(true);
    for (const out of copy.querySelectorAll("button, .elapsed, .unseen, .tool-body, .now")) out.remove();
    return `${kind}: ${copy.textContent.replace(/\s+/g, " ").trim()}`;
  }));
}

export const whole = [
  "thought: ThinkingThe notes first.",
  "narration: I read the notes.",
  "tool succeeded: Read/srv/notes.txt",
  "tool failed: Bashfalse",
  "notice warn: Slow. [busy]",
  "request resolved: Approval neededallowedBashls",
  "answer: AnswerThree lines.",
  "ending: Completed",
].map((line) => line.replace("[busy]", "busy"));

export async function live(page, turn) {
  await page.locator(".turn .connection[data-state=live]").waitFor();
  turn.say("start", { model: "m-1" });
  turn.say("thinking", { text: "The notes ", message_id: "t" });
  turn.say("thinking", { text: "first.", message_id: "t" });
  turn.say("narration", { text: "I read ", message_id: "m#0" });
  await page.getByText("I read").waitFor();
  turn.say("narration", { text: "the *notes*.", message_id: "m#0" });
  await page.locator(".narration em", { hasText: "notes" }).waitFor();
  same(await page.locator(".narration em").allTextContents(), ["notes"], "narration appears as it comes, as Markdown");
  turn.say("progress", { tool_use_id: "a", name: "Read", phase: "preparing" });
  turn.say("tool_call", { tool_use_id: "a", name: "Read", args: { file_path: "/srv/notes.txt" } });
  await page.locator(".tool.running", { hasText: "/srv/notes.txt" }).waitFor();
  ok(await page.locator(".activity", { hasText: "Running Read" }).count(), "a tool that runs is shown to run");
  turn.say("tool_result", { tool_use_id: "a", content: "one\ntwo\nthree", is_error: false, duration_ms: 1500 });
  await page.locator(".tool.succeeded .elapsed", { hasText: "1.5 s" }).waitFor();
  turn.say("tool_call", { tool_use_id: "b", name: "Bash", args: { command: "false" } });
  turn.say("tool_result", { tool_use_id: "b", content: "exit 1", is_error: true });
  await page.locator(".tool.failed").waitFor();
  same(await page.locator(".tool").count(), 2, "its end, good or bad, changes the same chip");
  await page.locator(".tool.failed summary").click();
  same(await page.locator(".tool.failed .value").innerText(), "exit 1", "unfolded, it shows what it gave");
  turn.say("notice", { level: "warn", text: "Slow.", code: "busy" });
  turn.say("request", { request_id: "r", kind: "approval", state: "open", tool: "Bash", subject: "ls", blocking: true });
  await page.locator(".request.open").waitFor();
  turn.say("request", { request_id: "r", kind: "approval", state: "resolved", decision: "allow", blocking: false });
  await page.locator(".request.resolved").waitFor();
  same(await page.locator(".request").count(), 1, "a request waits, then is resolved, and is there once");
  turn.say("narration", { text: "Three lines.", message_id: "n#0" });
  turn.say("message", { role: "assistant", text: "Three lines.", message_id: "n" });
  turn.say("final", { text: "Three lines.", message_id: "n" });
  turn.say("usage", { scope: "turn", input_tokens: 1200, output_tokens: 34, cost_usd: 0.05 });
  turn.say("done", { reason: "completed" });
  await page.locator(".ending").waitFor();
  same(await told(page), whole, "all of it is there once, in order, and the last words are the answer");
  same(await page.locator(".usage dd").allInnerTexts(), ["m-1", "1.2 k", "34", "$0.050"], "usage and cost are summed up");
}

// Words numbered from 0; none may be missing or be there twice.
function words(from, to) {
  return Array.from({ length: to - from }, (_, i) => `w${from + i} `).join("");
}

export async function cut(page, turn, wire, seen) {
  const say = (from, to) => {
    for (let i = from; i < to; i++) turn.say("narration", { text: `w${i} `, message_id: "m" });
  };
  turn.say("start", {});
  say(0, 50);
  await page.getByText("w49").waitFor();
  wire.cut();
  await page.locator(".turn .connection[data-state=lost]").waitFor();
  ok(await page.getByText("w49").isVisible(), "the loss is told, and what came stays");
  say(50, 100);
  wire.mend();
  await page.getByText("w99").waitFor();
  await page.locator(".turn .connection[data-state=live]").waitFor();
  wire.cut();
  wire.mend();
  say(100, 150);
  await page.getByText("w149").waitFor();
  same(await page.locator(".narration").innerText(), words(0, 150).trim(), "nothing is lost or doubled after two cuts");
  if (seen) same(seen.resumed.slice(0, 1), [51], "it goes on behind the last event it had");
}

// Where it is once a wheel has run out.
async function still(scroller) {
  return scroller.evaluate((e) => new Promise((resolve) => {
    let last = -1;
    const look = () => {
      if (e.scrollTop === last) resolve(last);
      last = e.scrollTop;
      setTimeout(look, 100);
    };
    look();
  }));
}

export async function scroll(page, turn) {
  const scroller = page.locator(".scroller");
  const gap = () => scroller.evaluate((e) => Math.round(e.scrollHeight - e.scrollTop - e.clientHeight));
  const say = async (from, to) => {
    for (let i = from; i < to; i++) turn.say("notice", { level: "info", text: `line ${i}` });
    await page.getByText(`line ${to - 1}`, { exact: true }).waitFor({ state: "attached" });
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  };
  turn.say("start", {});
  await say(0, 100);
  ok((await gap()) < 40, "the end stays in sight", await gap());
  await scroller.hover();
  await page.mouse.wheel(0, -600);
  await page.waitForFunction(() => {
    const e = document.querySelector(".scroller");
    return e.scrollHeight - e.scrollTop - e.clientHeight > 300;
  });
  const before = await still(scroller);
  await say(100, 200);
  same(await scroller.evaluate((e) => e.scrollTop), before, "a reader who scrolled up is left there");
  await page.getByRole("button", { name: "new" }).click();
  ok((await gap()) < 40, "the pill leads back to the end", await gap());
  await say(200, 250);
  ok((await gap()) < 40, "from where it is followed again", await gap());
}

// Of several agents one is chosen, the first unless somebody does.
export async function choose(page, message) {
  const field = page.getByRole("textbox", { name: "Message" });
  await page.getByRole("combobox", { name: "Agent" }).selectOption("second");
  await field.fill("You do it.");
  await field.press("Enter");
  await page.locator(".turn-facts .fact", { hasText: "second" }).waitFor();
  same((await message).agent, "second", "the agent that was chosen is asked");
  same((await message).background, "follow", "and may go on by itself behind its answer");
}

export async function submit(page) {
  const field = page.getByRole("textbox", { name: "Message" });
  await field.fill("What is new?");
  await field.press("Shift+Enter");
  await field.pressSequentially("Tell me.");
  await field.press("Enter");
  await page.locator(".prompt", { hasText: "What is new?\nTell me." }).waitFor();
  ok(/#\/turn\/./.test(page.url()), "Enter sends a message, and its turn is shown");
  const first = await page.locator(".turn-facts .fact").last().innerText();
  await field.fill("And then?");
  await page.getByRole("button", { name: "Send" }).click();
  await page.locator(".prompt", { hasText: "And then?" }).waitFor();
  same(await page.locator(".turn-facts .fact").last().innerText(), first, "the next one goes on with the conversation");
}

export async function cancel(page, turn) {
  turn.say("start", {});
  turn.say("tool_call", { tool_use_id: "a", name: "Bash", args: { command: "sleep 1000" } });
  await page.locator(".tool.running").waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.locator(".ending", { hasText: "Stopped" }).waitFor();
  ok(!(await page.getByRole("button", { name: /Stop/ }).isVisible()), "a turn is stopped, once");
  await page.waitForFunction(() => !document.querySelector(".turn .spinner, .row[aria-current] .spinner"));
  same(await page.locator(".tool.running").count(), 0, "and nothing of it seems to run");
  same(await page.locator(".answer").count(), 0, "and it has no answer without words");
}

const choices = ["allow", "allow_session", "allow_always", "deny"].map((id) => ({ id, label: { allow: "Allow", allow_session: "Allow for this session", allow_always: "Always allow", deny: "Deny" }[id] }));

export function approval(id, more = {}) {
  return { request_id: id, kind: "approval", state: "open", tool: "Bash", subject: `rm -r /srv/${id}`, args: { command: `rm -r /srv/${id}` },
    expires_ms: Date.now() + 100000, blocking: true, choices, ...more };
}

// What is asked of a person is answered where it stands, once. said(): what the host got last.
export async function decisions(page, turn, said) {
  const card = page.locator(".request").last();
  const press = (name) => card.getByRole("button", { name, exact: true }).click();
  const wait = (kind, words) => page.locator(`.request.${kind}`, { hasText: words }).last().waitFor();
  turn.say("start", {});
  turn.say("request", approval("a"));
  await card.getByText("Denied automatically in 1:").waitFor();
  same(await card.locator("pre").innerText(), "rm -r /srv/a", "what is asked for stands there as it is");
  const first = await card.locator(".countdown").innerText();
  await page.waitForFunction((was) => document.querySelector(".countdown").textContent !== was, first);
  ok(await card.locator(".countdown").innerText() < first, "the time that is left runs down", first);
  await press("Always allow");
  await card.getByText("Always allow Bash: rm -r /srv/a without asking again?").waitFor();
  same(said(), undefined, "what is allowed for good is asked for twice");
  await press("Back");
  ok(await page.evaluate(() => document.activeElement.dataset.choice === "allow_always"), "and may be thought over");
  await press("Always allow");
  await press("Yes, always");
  await wait("resolved", "allowedby local");
  same(said(), ["a", { choice: "allow_always" }], "then it is");
  turn.say("request", approval("b"));
  await card.getByRole("textbox", { name: "Reason for denying (optional)" }).fill("Not that folder.");
  await press("Deny");
  await wait("denied", "deniedby local");
  same(said(), ["b", { choice: "deny", reason: "Not that folder." }], "a denial has its reason");
  turn.say("request", approval("c"));
  await card.getByRole("button", { name: "Allow", exact: true }).focus();
  await page.keyboard.press("Enter");
  await wait("resolved", "/srv/c");
  same(said(), ["c", { choice: "allow" }], "the keyboard will do");
  ok(await page.evaluate(() => document.activeElement.closest(".request") !== null), "and is left where it was");
}

// Somebody else was first; the host does not take it; it is over.
export async function late(page, turn, mock) {
  const card = page.locator(".request").last();
  const decide = mock.decide;
  turn.say("start", {});
  turn.say("request", approval("x"));
  mock.decide = (_, id, body, answer) => answer(503, { error: { message: "Not now.", type: "server_error", code: "busy" } });
  await card.getByRole("button", { name: "Allow", exact: true }).click();
  await card.getByRole("alert").filter({ hasText: "Not now." }).waitFor();
  ok(await card.getByRole("button", { name: "Allow", exact: true }).isEnabled(), "what was not taken may be tried again");
  let release;
  mock.decide = (_, id, body, answer) => { release = () => answer(409, { error: { message: "late", type: "invalid_request_error", code: "decided" }, decision: "deny", by: "Ann (telegram)" }); };
  await card.getByRole("button", { name: "Allow", exact: true }).click();
  await page.locator(".answers[aria-busy=true]").waitFor();
  same(await card.locator("button:enabled, input:enabled").count(), 0, "while it is sent nothing else can be");
  release();
  await card.getByText("Already denied by Ann (telegram).").waitFor();
  ok(await page.locator(".request.denied").count(), "who was late learns who was first");
  mock.decide = decide;
  turn.say("request", approval("y", { expires_ms: Date.now() + 1500 }));
  await page.getByText("Expired.").waitFor();
  turn.say("request", { request_id: "y", state: "resolved", decision: "timeout", by: "host" });
  await page.locator(".request.denied", { hasText: "timed out" }).waitFor();
  same(await page.locator(".request.open").count(), 0, "one whose time is up says so, and is open no longer");
  turn.say("request", approval("z"));
  await card.getByRole("button", { name: "Deny" }).waitFor();
  await page.reload();
  await card.getByRole("button", { name: "Deny" }).waitFor();
  ok(await card.getByRole("button", { name: "Deny" }).isEnabled(), "who comes late finds it open");
  turn.say("request", approval("p", { blocking: false, choices: undefined }));
  await page.locator(".request.open", { hasText: "/srv/p" }).waitFor();
  same(await card.getByRole("button").count(), 0, "one that cannot be answered here has no buttons");
}

const questions = [
  { id: "colour", header: "Colour", prompt: "Which colour?", multi: false, options: [{ label: "Red", description: "as a rose" }, { label: "Green" }] },
  { id: "fit", header: "Fit", prompt: "Which fit?", multi: true, options: [{ label: "One" }, { label: "Two" }] },
  { id: "name", prompt: "What name?", multi: false, options: [] },
];

export async function answers(page, turn, said) {
  const card = page.locator(".request").last();
  const send = () => card.getByRole("button", { name: "Answer" }).click();
  const ask = { kind: "ask", state: "open", tool: "AskUserQuestion", blocking: true, choices: [{ id: "answer", label: "Answer" }, { id: "deny", label: "Decline" }] };
  turn.say("start", {});
  turn.say("request", { request_id: "q", ...ask, questions });
  await send();
  await card.getByText("Please answer every question.").waitFor();
  await card.getByRole("radio", { name: "Red" }).check();
  await card.getByRole("group", { name: "Colour" }).getByRole("textbox").fill("Blue");
  same(await card.getByRole("radio", { name: "Red" }).isChecked(), false, "of one answer, words of one's own are it");
  await card.getByRole("radio", { name: "Green" }).check();
  await card.getByRole("checkbox", { name: "One" }).check();
  await card.getByRole("checkbox", { name: "Two" }).check();
  await card.getByRole("group", { name: "Fit" }).getByRole("textbox").fill("Three");
  await card.getByRole("textbox", { name: "Answer", exact: true }).fill("Ünal <b>");
  await send();
  await page.locator(".request.resolved").waitFor();
  same(said(), ["q", { choice: "answer", answers: { colour: "Green", fit: ["One", "Two", "Three"], name: "Ünal <b>" } }],
    "several questions, each with its kind of answer");
  await card.getByText("One, Two, Three").waitFor();
  ok(await card.getByText("What name?").count(), "and what was answered stands under what was asked");
  turn.say("request", { request_id: "i", ...ask, kind: "input", message: "The host's name?" });
  await card.getByRole("textbox", { name: "Answer", exact: true }).fill("db.example.org");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelectorAll(".request.resolved").length === 2);
  same(said(), ["i", { choice: "answer", answers: "db.example.org" }], "what has no questions is one field");
  turn.say("request", { request_id: "k", ...ask, kind: "credential", message: "The token?" });
  same(await card.getByLabel("Answer", { exact: true }).first().getAttribute("type"), "password", "a secret is not shown");
}

// The list says who waits; a stop is one when nothing is left.
export async function waiting(page, mock) {
  const turn = mock.turn({ task: "Ask me" });
  turn.change({ requests: [{ id: "a" }, { id: "b" }] });
  await page.getByRole("link", { name: "Waiting for an answer: Ask me" }).waitFor();
  same(await page.locator(".row", { hasText: "Ask me" }).locator(".badge").innerText(), "asks 2", "the list says that people are asked");
  turn.change({ requests: undefined });
  await page.getByRole("link", { name: "Running: Ask me" }).waitFor();
  same(await page.locator(".badge").count(), 0, "and when not any more");
}

export async function stopping(page, turn, mock) {
  const cancel = mock.cancel;
  mock.cancel = (t) => t.say("final", { text: "As far as I came." });
  turn.say("start", {});
  await page.getByRole("button", { name: "Stop" }).click();
  await page.locator(".answer").waitFor();
  await page.locator(".sign.final").first().waitFor();
  const button = page.getByRole("button", { name: "Stopping…" });
  ok(await button.isVisible() && await button.isDisabled(), "it is being stopped as long as something of it is left");
  turn.change({ state: "cancelled" });
  turn.say("done", { reason: "cancelled" });
  await page.locator(".turn .state-word", { hasText: "Stopped" }).waitFor();
  ok(!(await button.isVisible()), "then it is stopped");
  mock.cancel = cancel;
}

export async function background(page, turn, mock) {
  const cancel = mock.cancel;
  mock.cancel = (t) => t.change({ background: undefined });
  turn.say("start", {});
  turn.say("final", { text: "It runs." });
  turn.change({ background: true });
  turn.say("done", { reason: "completed" });
  await page.locator(".turn .state-word", { hasText: "Answered, working in the background" }).waitFor();
  const button = page.getByRole("button", { name: "Stop background work" });
  await button.click();
  await button.waitFor({ state: "hidden" });
  same(await page.locator(".turn .state-word").innerText(), "Answered", "the work behind a turn that is over can be stopped");
  ok(!(await page.getByRole("button", { name: /Stop/ }).isVisible()), "then there is nothing to stop");
  turn.change({ background: true });
  await button.waitFor();
  turn.change({ background: undefined });
  await button.waitFor({ state: "hidden" });
  turn.change({ late_result: "<b>Too late.</b>" });
  await page.getByText("Its result is not used.").click();
  ok(await page.getByText("<b>Too late.</b>").isVisible(), "what came of a lost turn later can be read, as text");
  mock.cancel = cancel;
}

export async function login(page, key) {
  const field = page.getByLabel("Key");
  await field.fill("wrong");
  await field.press("Enter");
  await page.getByText("Invalid key.").waitFor();
  ok(await page.locator(".row").count() === 0, "a wrong key shows nothing");
  await field.fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.locator(".side .list").waitFor();
  await page.locator(".brand .connection[data-state=live]").waitFor();
  same(await page.getByRole("heading", { name: "Sign in" }).count(), 0, "the right one shows the turns");
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  same(await page.locator(".row").count(), 0, "who signs out is out, and sees nothing");
  await page.getByLabel("Key").fill(key);
  await page.getByLabel("Key").press("Enter");
  await page.locator(".brand .connection[data-state=live]").waitFor();
}

export async function keyboard(page) {
  const focused = () => page.evaluate(() => {
    const e = document.activeElement;
    const { outlineStyle, outlineWidth } = getComputedStyle(e);
    return { name: e.id || e.className, text: e.querySelector(".row-task")?.textContent, ring: outlineStyle !== "none" && parseFloat(outlineWidth) > 1 };
  });
  await page.keyboard.press("Tab");
  const first = await focused();
  same(first.name, "skip", "the first stop leads past the list");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  const rows = [await focused()];
  for (const key of ["j", "ArrowDown", "k", "ArrowUp", "End", "Home"]) {
    await page.keyboard.press(key);
    rows.push(await focused());
  }
  const tasks = await page.locator(".row-task").allTextContents();
  same(rows.map((r) => r.text), [0, 1, 2, 1, 0, tasks.length - 1, 0].map((i) => tasks[i]), "j, k, arrows, Home and End walk the list");
  ok([first, ...rows].every((r) => r.ring), "what has the focus shows it");
  await page.keyboard.press("Enter");
  await page.locator(".turn .scroller").waitFor();
  same((await focused()).text, tasks[0], "Enter opens a turn beside the list");
  const stops = [];
  for (let i = 0; i < tasks.length + 12; i++) {
    await page.keyboard.press("Tab");
    const at = await focused();
    stops.push(at.name);
    if (!at.ring && at.name && at.name !== "field") ok(at.name === "" || page.isClosed(), `a ring around ${at.name}`, at);
    if (at.name === "scroller") break;
  }
  ok(stops.includes("scroller"), "the timeline is a stop", stops);
  await page.keyboard.press("Escape");
  same((await focused()).text, tasks[0], "Esc goes back to the list");
}

// Everything is unfolded; then there is no element that a text made, and no link but to the web.
export async function harmless(page, attacks, ready = ".ending") {
  await page.locator(ready).first().waitFor();
  await page.evaluate(() => {
    for (const details of document.querySelectorAll("details")) details.open = true;
  });
  await page.evaluate(() => new Promise((done) => setTimeout(done, 300)));
  const found = await page.evaluate(() => {
    const allowed = new Set(("html head meta title link script body button header a nav main noscript div section h1 h2 h3 h4 h5 h6 " +
      "ul ol li span svg path time article p strong em code del pre blockquote hr br details summary dl dt dd footer form textarea " +
      "select option label table thead input fieldset legend tbody tr th td progress ins").split(" "));
    const all = [...document.querySelectorAll("*")];
    return {
      strangers: [...new Set(all.map((e) => e.localName).filter((n) => !allowed.has(n)))],
      scripts: document.scripts.length,
      handlers: all.flatMap((e) => e.getAttributeNames().filter((n) => n !== "style" || !e.matches(".composer textarea"))).filter((n) => /^on|^srcdoc$|^style$|^formaction$/i.test(n)),
      links: [...document.links].map((a) => a.protocol).filter((p) => !["http:", "https:", "mailto:"].includes(p)),
      rels: [...document.querySelectorAll("a[target]")].filter((a) => a.rel !== "noopener noreferrer").length,
      mains: document.querySelectorAll("#main, #said").length,
      text: document.body.textContent,
    };
  });
  same(found.strangers, [], "no element comes from a text");
  same(found.scripts, 1, "no script but the page's own");
  same(found.handlers, [], "no handler, no style");
  same(found.links, [], "no link but to the web and to mail");
  same(found.rels, 0, "what a link opens knows nothing of the page");
  same(found.mains, 2, "no name of the page is taken");
  const shown = attacks.filter((attack) => found.text.includes(attack.slice(0, 24)));
  ok(shown.length === attacks.length, "each text is shown as it is", attacks.filter((a) => !shown.includes(a)));
  // Whoever clicks on everything is still here.
  await page.evaluate(() => {
    for (const e of document.querySelectorAll(".turn *")) if (!e.matches("a[target], button")) e.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
  });
}

// How long the page stands still at most while it fills, and that it fills.
export async function large(page, hash, note) {
  await page.evaluate(() => {
    window.longest = 0;
    new PerformanceObserver((list) => {
      for (const task of list.getEntries()) window.longest = Math.max(window.longest, task.duration);
    }).observe({ type: "longtask" });
    window.began = performance.now();
  });
  await page.evaluate((h) => { location.hash = h; }, hash);
  await page.waitForFunction(() => document.querySelectorAll(".item").length === 2000, undefined, { timeout: 60000 });
  await page.waitForFunction(() => {
    const e = document.querySelector(".scroller");
    return e.scrollHeight - e.scrollTop - e.clientHeight < 40;
  });
  const { longest, took } = await page.evaluate(() => ({ longest: window.longest, took: performance.now() - window.began }));
  note(`5,001 events drawn in ${Math.round(took)} ms, longest task ${Math.round(longest)} ms`);
  ok(longest < 1000, "they fill in without the page standing still", longest);
  ok(await page.locator(".tool-name").last().isVisible(), "and the end is in sight");
}

const answer = `The cause was a **step without a name**: \`name_of()\` returned a null pointer.

1. It has a default now, in \`src/dialect/ag_ui/ag_ui_write_step.c\`.
2. The test for it is in place:
   - it failed before,
   - it passes now.

\`\`\`c
return e->u.step.name ? e->u.step.name : "step";
\`\`\`

| stage | before | after |
| --- | ---: | ---: |
| npm | 2 failed | 0 failed |

> Nothing else used it.

See [the specification](https://docs.example.org/events#step), or <anna@example.org>.`;

// Turns to look at: one that runs, with everything there is; an answer; an error.
export function gallery(mock) {
  const hour = 3600000;
  const past = ["Fix the flaky test in tests/io", "What changed in the billing module?", "Write the release notes for 2.4", "Translate the manual"];
  past.forEach((task, i) => {
    const began = Date.now() - (past.length - i) * 2.3 * hour;
    mock.turn({ task, state: i === 1 ? "cancelled" : "final", source: ["telegram", "http", "slack", "http"][i], conversation: ["ops-room", "main", "C0123ABCD", "docs"][i], created_ms: began, started_ms: began, ended_ms: began + 143000 });
  });
  const answered = mock.turn({ task: "Why does the npm stage fail?", source: "telegram", conversation: "ops-room" });
  answered.say("start", { model: "claude-opus-5-5" });
  answered.say("narration", { text: answer, message_id: "m#0" });
  answered.say("final", { text: answer, message_id: "m" });
  answered.say("usage", { scope: "turn", input_tokens: 12000, output_tokens: 2310, cost_usd: 0.12, duration_ms: 43000 });
  answered.say("done", { reason: "completed" });
  const failed = mock.turn({ task: "Summarise the incidents of yesterday", source: "slack", conversation: "C0123ABCD" });
  failed.say("start", { model: "claude-opus-5-5" });
  failed.say("notice", { level: "error", text: "The provider answered 401.", code: "api_error", detail: "{\"status\":401}" });
  failed.say("error", { message: "Authentication failed with the provider (HTTP 401).\n  Check its key.", code: "agent_error" });
  failed.say("done", { reason: "error" });
  mock.turn({ task: "And then deploy it to staging", state: "waiting", source: "slack", conversation: "C0123ABCD", started_ms: undefined });
  const running = mock.turn({ task: "Please repair the failing job. Use the helpers there are, and tell me what the cause was.", started_ms: Date.now() - 73000 });
  busy(running, Date.now() / 1000 - 72);
  return { running, answered, failed };
}

function busy(turn, began) {
  let at = began;
  const say = (kind, payload) => turn.say(kind, payload, at++);
  const call = (id, name, args, more = {}) => say("tool_call", { tool_use_id: id, name, args, ...more });
  const result = (id, content, more = {}) => say("tool_result", { tool_use_id: id, content, is_error: false, outcome: "succeeded", ...more });
  say("start", { model: "claude-opus-5-5" });
  say("thinking", { text: "The job fails in the npm stage.\nProbably the port is taken.", message_id: "t" });
  say("narration", { text: "I look at the **log** first, then at `tools/check`.", message_id: "m1#0" });
  call("a", "Bash", { command: "tail -n 200 npm.log | grep 'not ok'", description: "Find what failed" });
  result("a", "not ok 14 - client 0.0.58: claude-subagent\n", { duration_ms: 1320 });
  call("g", "Agent", { description: "Search callers of name_of", prompt: "Find every caller." });
  say("step", { state: "start", kind: "agent", name: "explorer", parent_id: "g", agent: "x" });
  say("narration", { text: "I search the sources.", message_id: "s1", parent_id: "g", agent: "x" });
  call("g1", "Grep", { pattern: "name_of\\(", path: "src/" }, { parent_id: "g", agent: "x" });
  result("g1", "src/dialect/ag_ui/ag_ui_write_step.c:178\n", { duration_ms: 210, parent_id: "g" });
  call("g2", "WebFetch", { url: "https://docs.example.org/steps" }, { parent_id: "g", agent: "x" });
  result("g2", "403 Forbidden", { is_error: true, outcome: "failed", duration_ms: 860, parent_id: "g" });
  say("step", { state: "end", kind: "agent", name: "explorer", parent_id: "g", agent: "x", outcome: "completed" });
  result("g", "One caller; it expects a name.");
  say("notice", { level: "warn", text: "The model's service was busy; asked again.", code: "api_retry" });
  say("request", { request_id: "r", kind: "approval", state: "open", tool: "Bash", subject: "git push origin fix", message: "Push the branch", args: { command: "git push origin fix" }, blocking: true });
  say("request", { request_id: "r", kind: "approval", state: "resolved", decision: "allow", by: "anna", blocking: false });
  say("request", approval("cache", { expires_ms: Date.now() + 275000 }));
  say("request", { request_id: "q", kind: "ask", state: "open", blocking: true, choices: [{ id: "answer", label: "Answer" }, { id: "deny", label: "Decline" }], questions: [{ id: "0", header: "Release", prompt: "Into which release should it go?", options: [{ label: "2.4.1", description: "the next patch" }, { label: "2.5", description: "in two weeks" }] }] });
  say("usage", { scope: "call", input_tokens: 2312, output_tokens: 842, cache_read_tokens: 18000, cost_usd: 0.0213, model: "claude-opus-5-5" });
  say("step", { state: "mark", name: "second attempt" });
  call("e", "Edit", { file_path: "src/dialect/ag_ui/ag_ui_write_step.c", old_string: "return name;", new_string: "return name ? name : \"step\";" });
  result("e", "ok", { added: 1, removed: 1, diff: "@@ -40,3 +40,3 @@\n {\n-    return name;\n+    return name ? name : \"step\";\n }", duration_ms: 400 });
  call("d", "Bash", { command: "make check TESTS=tests/npm/ag_ui.t" });
  say("progress", { tool_use_id: "d", phase: "running", message: "compiling ag_ui_write_step.c", percent: 42 });
}
