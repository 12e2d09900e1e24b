// SPDX-License-Identifier: MIT
// Asks an agent something: a field that grows, the agent where there are several, and whether the
// message goes on with the conversation that is shown.
import { post } from "./api.mjs";
import { icon, make, setText } from "./dom.mjs";
import { oneLine } from "./format.mjs";
import { conversation } from "./state.mjs";

const most = 100000;

// A conversation without a name ends with its turn.
function newName() {
  const random = crypto.getRandomValues(new Uint8Array(4));
  return `page-${[...random].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

export class Composer {
  #sending = false;
  #context;

  // on.sent(turn), on.denied()
  constructor(on) {
    this.on = on;
    this.field = make("textarea", {
      rows: "1", maxlength: String(most), placeholder: "Ask the agent…", "aria-label": "Message", dir: "auto",
      enterkeyhint: "send", input: () => this.#changed(), keydown: (event) => this.#key(event),
    });
    this.agent = make("select", { "aria-label": "Agent", hidden: true });
    this.button = make("button.send", { type: "submit", "aria-label": "Send", disabled: true }, icon("send"));
    this.thread = make("button.quiet.thread", { type: "button", hidden: true, "aria-pressed": "true", click: () => this.#toggle() });
    this.trouble = make("p.trouble", { role: "alert", hidden: true });
    this.form = make("form", { submit: (event) => this.#submit(event) },
      this.trouble,
      make("div.composer-box", {}, this.field,
        make("div.composer-row", {}, this.thread, this.agent, this.button)));
    this.element = make("section.composer", { "aria-label": "New message", hidden: true }, this.form);
  }

  allow(allowed, agents) {
    this.element.hidden = !allowed;
    this.agent.replaceChildren(...agents.map((name) => make("option", { value: name }, name)));
    this.agent.hidden = agents.length < 2;
  }

  // The turn that is shown; its conversation can be gone on with if it was begun over HTTP.
  follow(turn) {
    const same = turn?.id !== undefined && turn.id === this.#context?.id;
    this.#context = turn?.source === "http" && conversation(turn) ? turn : undefined;
    this.thread.hidden = !this.#context;
    if (!same) this.#press(true);
  }

  #press(on) {
    this.thread.setAttribute("aria-pressed", String(on));
    setText(this.thread, on ? "In this conversation" : "In a new conversation");
  }

  #toggle() {
    this.#press(this.thread.getAttribute("aria-pressed") !== "true");
  }

  #changed() {
    this.field.style.height = "auto";
    this.field.style.height = `${Math.min(this.field.scrollHeight, 240)}px`;
    this.button.disabled = this.#sending || !this.field.value.trim();
  }

  // Enter sends where there is a keyboard; on a phone it begins a line.
  #key(event) {
    const touch = matchMedia("(pointer: coarse)").matches;
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || touch) return;
    event.preventDefault();
    if (!this.button.disabled) this.form.requestSubmit();
  }

  #message() {
    const message = { prompt: this.field.value, background: "follow" };
    if (this.#context && this.thread.getAttribute("aria-pressed") === "true")
      return { ...message, agent: this.#context.agent, conversation: conversation(this.#context) };
    const fresh = { ...message, conversation: newName() };
    return this.agent.hidden ? fresh : { ...fresh, agent: this.agent.value };
  }

  async #submit(event) {
    event.preventDefault();
    if (this.#sending || !this.field.value.trim()) return;
    this.#busy(true);
    try {
      const turn = await post("turns", this.#message());
      this.field.value = "";
      if (turn?.id) this.on.sent(turn);
      else this.#tell("Visibility changed. The message contained only visibility commands, so nothing was sent to the agent.");
    } catch (error) {
      if (error.status === 401) this.on.denied();
      this.#tell(error.message);
    }
    this.#busy(false);
  }

  #busy(on) {
    this.#sending = on;
    if (on) this.#tell("");
    this.field.readOnly = on;
    this.#changed();
  }

  #tell(words) {
    this.trouble.hidden = !words;
    setText(this.trouble, words);
  }
}
