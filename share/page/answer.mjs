// SPDX-License-Identifier: MIT
// What somebody who may says to a request: its choices as buttons, its questions as a form. Sends
// one decision, and says what became of it.
import { make, setText } from "./dom.mjs";
import { oneLine, text } from "./format.mjs";

const words = { allow: "allowed", deny: "denied", answered: "answered", cancelled: "cancelled", timeout: "denied (timed out)" };
const most = 20; // Questions, and options of each are 30.

let forms = 0; // For names of fields, which belong to the whole page.

export function decided(decision, by) {
  const word = Object.hasOwn(words, text(decision)) ? words[decision] : oneLine(decision, 40) || "decided";
  return by && decision !== "timeout" ? `${word} by ${oneLine(by, 60)}` : word;
}

// One question: a legend, its options, and a field for words of one's own.
class Question {
  #inputs = [];

  constructor(told, name) {
    const question = typeof told === "object" && told !== null ? told : { prompt: told };
    const options = Array.isArray(question.options) ? question.options.slice(0, 30) : [];
    this.id = text(question.id);
    this.multi = question.multi === true;
    this.own = make("input.own", {
      type: "text", name, dir: "auto", autocomplete: "off", maxlength: "4000",
      "aria-label": options.length ? "Another answer" : "Answer", placeholder: options.length ? "Another answer" : "",
      input: () => this.#typed(),
    });
    this.element = make("fieldset.question", { dir: "auto" },
      make("legend", {}, question.header ? make("span.tag", {}, oneLine(question.header, 60)) : "", " ", text(question.prompt)),
      ...options.map((option) => this.#option(option, name)), this.own);
  }

  #option(told, name) {
    const option = typeof told === "object" && told !== null ? told : { label: told };
    const input = make("input", {
      type: this.multi ? "checkbox" : "radio", name, value: text(option.label),
      change: () => { if (!this.multi) this.own.value = ""; },
    });
    this.#inputs.push(input);
    return make("label.option", {}, input,
      make("span", {}, make("strong", {}, text(option.label)), option.description ? ` ${text(option.description)}` : ""));
  }

  // Of one answer only, words of one's own are it.
  #typed() {
    if (!this.multi && this.own.value.trim()) for (const input of this.#inputs) input.checked = false;
  }

  // undefined: there is none yet.
  get answer() {
    const chosen = this.#inputs.filter((input) => input.checked).map((input) => input.value);
    const own = this.own.value.trim();
    if (own) chosen.push(own);
    if (!chosen.length) return undefined;
    return this.multi ? chosen : chosen[0];
  }

  focus() {
    (this.#inputs[0] ?? this.own).focus();
  }
}

export class Answer {
  #questions;
  #request;
  #on;

  // on.decide(body): a promise of { decision, by }; on.decided(decision, by, late);
  // on.hold(): takes the focus.
  constructor(request, on) {
    const name = `answer-${++forms}`;
    const asked = Array.isArray(request.questions) ? request.questions.slice(0, most) : [];
    this.#request = request;
    this.#on = on;
    this.#questions = asked.map((question, i) => new Question(question, `${name}-${i}`));
    this.alone = request.kind === "approval" || asked.length ? undefined
      : make("input.own", { type: request.kind === "credential" ? "password" : "text", dir: "auto", autocomplete: "off", "aria-label": "Answer" });
    const reason = request.kind === "approval" ? "Reason for denying (optional)" : "Reason for declining (optional)";
    this.reason = make("input.reason", {
      type: "text", dir: "auto", autocomplete: "off", maxlength: "2000", "aria-label": reason, placeholder: reason,
    });
    this.trouble = make("p.trouble", { role: "alert", hidden: true });
    this.buttons = make("div.choices");
    this.element = make("form.answers", { submit: (event) => this.#submit(event) },
      ...this.#questions.map((question) => question.element), this.alone ?? "", this.reason, this.buttons, this.trouble);
    this.#offer();
  }

  #offer() {
    const choices = this.#request.choices.filter((choice) => text(choice?.id));
    this.buttons.replaceChildren(...choices.map((choice) => this.#button(choice)));
  }

  #button({ id, label }) {
    const answers = id === "answer";
    const kind = answers || id === "allow" ? "button.primary" : id.startsWith("deny") ? "button.danger" : "button";
    return make(kind, { type: answers ? "submit" : "button", "data-choice": id, click: () => !answers && this.#chose(id) },
      oneLine(label, 60) || id);
  }

  // Enter in a field answers; where there is nothing to answer it does nothing.
  #submit(event) {
    event.preventDefault();
    if (!this.#request.choices.some((choice) => choice?.id === "answer")) return;
    const missing = this.#questions.find((question) => question.answer === undefined);
    if (missing || (this.alone && !this.alone.value)) {
      this.#tell("Please answer every question.");
      (missing ?? this.alone).focus();
      return;
    }
    const answers = this.alone ? this.alone.value
      : Object.fromEntries(this.#questions.map((question) => [question.id, question.answer]));
    this.#send({ choice: "answer", answers });
  }

  #chose(id) {
    if (id === "allow_always") this.#confirm();
    else if (id.startsWith("deny") && this.reason.value.trim()) this.#send({ choice: id, reason: this.reason.value.trim() });
    else this.#send({ choice: id });
  }

  // What is allowed for good is asked for twice.
  #confirm() {
    const what = [oneLine(this.#request.tool, 60), oneLine(this.#request.subject, 120)].filter(Boolean).join(": ");
    const yes = make("button.primary", { type: "button", click: () => this.#send({ choice: "allow_always" }) }, "Yes, always");
    const no = make("button", { type: "button", click: () => this.#back() }, "Back");
    this.buttons.replaceChildren(make("p.confirm", { dir: "auto" }, `Always allow ${what || "this"} without asking again?`), yes, no);
    yes.focus();
  }

  #back() {
    this.#offer();
    this.buttons.querySelector("[data-choice=allow_always]")?.focus();
  }

  async #send(body) {
    this.#busy(true);
    try {
      const told = await this.#on.decide(body);
      this.#on.decided(told?.decision, told?.by);
    } catch (error) {
      if (error.status === 409) this.#late(error);
      else this.#failed(error);
    }
  }

  #late({ told, message }) {
    if (!told?.decision) {
      this.#tell(message);
      return;
    }
    this.#on.decided(told.decision, told.by, `Already ${decided(told.decision, told.by)}.`);
  }

  #failed(error) {
    this.#busy(false);
    this.#offer();
    this.#tell(error.message);
    this.buttons.querySelector("button").focus({ preventScroll: true });
  }

  // What is disabled loses the focus: the title of the request has it until there is an answer.
  #busy(on) {
    if (on && this.element.contains(document.activeElement)) this.#on.hold();
    for (const field of this.element.elements) field.disabled = on;
    this.element.setAttribute("aria-busy", String(on));
    if (on) this.#tell("");
  }

  #tell(said) {
    this.trouble.hidden = !said;
    setText(this.trouble, said);
  }
}
