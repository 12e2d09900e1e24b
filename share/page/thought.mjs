// SPDX-License-Identifier: MIT
// A thought of the agent: folded, dimmed, with its last line on its face.
import { icon, make, setText } from "./dom.mjs";
import { oneLine } from "./format.mjs";

export class Thought {
  text = "";

  constructor() {
    this.glimpse = make("span.glimpse", { dir: "auto" });
    this.body = make("div.thought-text", { dir: "auto" });
    this.details = make("details", { toggle: () => this.flush() },
      make("summary", {}, icon("thought"), make("span.label", {}, "Thinking"), this.glimpse),
      this.body);
    this.element = make("li.item.thought", {}, this.details);
  }

  append(text) {
    this.text += text;
  }

  flush() {
    const lines = this.text.trimEnd().slice(-2000).split("\n");
    setText(this.glimpse, this.details.open ? "" : oneLine(lines.at(-1), 160));
    if (this.details.open) setText(this.body, this.text);
  }

  get spoken() {
    return "";
  }
}
