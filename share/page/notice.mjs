// SPDX-License-Identifier: MIT
// One line in the timeline beside the agent's words: a notice, a step, a message of somebody else,
// a gap in what the host still holds.
import { icon, make } from "./dom.mjs";
import { text } from "./format.mjs";
import { pre } from "./value.mjs";

const levels = { info: "info", warn: "hand", error: "cross" };

export class Notice {
  constructor(level, words, { code, detail } = {}) {
    const known = Object.hasOwn(levels, text(level)) ? level : "info";
    this.spoken = known === "info" ? "" : text(words);
    this.element = make(`li.item.notice.${known}`, {},
      icon(levels[known]),
      make("div.notice-text", { dir: "auto" },
        make("span", {}, text(words)), " ",
        code ? make("span.tag", {}, text(code)) : "",
        detail ? make("details.fold", {}, make("summary", {}, "Details"), pre(text(detail))) : ""));
  }

  flush() {}
}

export class Divider {
  spoken = "";

  constructor(words) {
    this.element = make("li.item.divider", { dir: "auto" }, make("span", {}, text(words)));
  }

  flush() {}
}
