// SPDX-License-Identifier: MIT
// Debian's Chromium, and what a page did there that it must not: dialogs, violations of its policy,
// errors, requests to others.
import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";

export async function launch(modules) {
  const require = createRequire(path.resolve(modules, "any.js"));
  const { chromium } = require("playwright-core");
  const browser = await chromium.launch({
    executablePath: process.env.TURNCAST_CHROMIUM ?? "/usr/bin/chromium",
    // Root has no sandbox; what is shown is ours.
    args: process.getuid() === 0 ? ["--no-sandbox"] : [],
  });
  return { browser, axe: require.resolve("axe-core") };
}

export const desktop = { viewport: { width: 1200, height: 800 } };
export const phone = { viewport: { width: 320, height: 640 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 };

// A page of its own context, with a list of what went wrong in it.
export async function open(browser, options = desktop) {
  const context = await browser.newContext({ reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(60000);
  page.wrong = [];
  await page.exposeFunction("tellWrong", (what) => page.wrong.push(what));
  await page.addInitScript(() => {
    addEventListener("securitypolicyviolation", (e) => window.tellWrong(`policy: ${e.violatedDirective} ${e.blockedURI} ${e.sample}`));
  });
  page.on("dialog", (dialog) => {
    page.wrong.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("pageerror", (error) => page.wrong.push(`error: ${error.stack}`));
  page.on("popup", (popup) => page.wrong.push(`popup: ${popup.url()}`));
  page.on("request", (request) => {
    const host = new URL(request.url()).hostname;
    if (host !== "127.0.0.1") page.wrong.push(`request: ${request.url()}`);
  });
  return page;
}

// What axe finds that is serious or worse.
export async function findings(page, axe) {
  await page.evaluate(fs.readFileSync(axe, "utf8"));
  return page.evaluate(async () => {
    const { violations } = await window.axe.run(document, { resultTypes: ["violations"] });
    return violations.filter((v) => v.impact === "serious" || v.impact === "critical")
      .map((v) => `${v.id}: ${v.nodes.map((n) => n.target.join(" ")).slice(0, 4).join(", ")}: ${v.nodes[0].failureSummary}`);
  });
}
