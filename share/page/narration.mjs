// SPDX-License-Identifier: MIT
// What the agent says between its tools; it may turn out to be the answer, or to be taken back.
import { copyButton } from "./copy.mjs";
import { icon, make } from "./dom.mjs";
import { Prose } from "./prose.mjs";

export class Narration {
  constructor(id = "") {
    this.id = id;
    this.prose = new Prose();
    this.element = make("li.item.narration", {}, this.prose.element);
  }

  get text() {
    return this.prose.text;
  }

  append(text) {
    this.prose.append(text);
  }

  flush() {
    this.prose.flush();
  }

  // Whose text this is, in whichever way the source names it: "m1" or "m1#0".
  isOf(messageId) {
    return this.id === messageId || this.id.startsWith(`${messageId}#`);
  }

  becomeAnswer(synthesized) {
    this.element.className = "item answer";
    this.element.prepend(make("div.answer-head", {},
      icon("check"),
      make("h2", {}, "Answer"),
      synthesized && make("span.tag", { title: "The agent gave no final answer; this is its last message." }, "last message"),
      copyButton("Copy the answer", () => this.text, "Copy")));
  }

  retract() {
    if (this.element.classList.contains("retracted")) return;
    this.element.classList.add("retracted");
    this.element.prepend(make("span.tag", {}, "retracted"));
  }

  get spoken() {
    return this.text;
  }
}
