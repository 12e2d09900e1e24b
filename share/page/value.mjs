// SPDX-License-Identifier: MIT
// Arguments, results and diffs, as long as they are worth showing at once.
import { copyButton } from "./copy.mjs";
import { make } from "./dom.mjs";
import { number, text } from "./format.mjs";
import { visible } from "./reveal.mjs";

const first = 16384;

// A block of text, with a button for what is beyond the first part of it.
export function pre(raw, name = "pre.value") {
  const value = visible(raw);
  const block = make(name, { tabindex: "0", dir: "ltr" }, value.slice(0, first));
  if (value.length <= first) return block;
  const more = make("button.quiet.more", {
    type: "button",
    click: () => {
      block.append(value.slice(first));
      more.remove();
      block.focus();
    },
  }, `Show all ${value.length.toLocaleString()} characters`);
  return make("div", {}, block, more);
}

export function section(title, value, content = pre(value)) {
  return make("section.part", {},
    make("div.part-head", {}, make("h3", {}, title), copyButton(`Copy: ${title}`, () => value)),
    content);
}

// An object as names and values: what is short in one line, the rest as blocks.
export function members(object) {
  const list = make("dl.members");
  for (const [name, value] of Object.entries(object).slice(0, 100)) {
    const shown = typeof value === "string" ? value : JSON.stringify(value, undefined, 2);
    const long = shown.length > 100 || shown.includes("\n");
    list.append(make("dt", {}, visible(name)), make("dd", {}, long ? pre(shown) : make("code", {}, visible(shown))));
  }
  return list;
}

export function diff(value) {
  const block = make("pre.value.diff", { tabindex: "0", dir: "ltr" });
  for (const line of value.slice(0, first * 4).split("\n").slice(0, 1000)) {
    const name = /^\+(?!\+\+)/.test(line) ? "ins" : /^-(?!--)/.test(line) ? "del" : line.startsWith("@@") ? "span.hunk" : "span";
    block.append(make(name, {}, `${visible(line)}\n`));
  }
  return block;
}

// "+3 −1", where the source counted.
export function changed(payload) {
  const added = number(payload.added);
  const removed = number(payload.removed);
  if (!added && !removed) return "";
  return make("span.changed", {},
    added ? make("span.added", {}, `+${added}`) : "", removed ? make("span.removed", {}, `−${removed}`) : "");
}

export function asText(value) {
  return typeof value === "object" && value !== null ? JSON.stringify(value, undefined, 2) : text(value);
}
