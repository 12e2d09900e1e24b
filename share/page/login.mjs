// SPDX-License-Identifier: MIT
// Asks for the key that the host wants before it tells anything.
import { post } from "./api.mjs";
import { icon, make, setText } from "./dom.mjs";

export class Login {
  constructor(entered) {
    this.entered = entered;
    this.field = make("input", { type: "password", id: "key", name: "key", autocomplete: "current-password", required: true });
    this.trouble = make("p.trouble", { role: "alert", hidden: true });
    this.button = make("button.primary", { type: "submit" }, "Sign in");
    this.element = make("form.login", { submit: (event) => this.#submit(event) },
      icon("key"), make("h1", {}, "Sign in"),
      make("p", {}, "Enter an API key to view turns on this server."),
      make("label", { for: "key" }, "Key"), this.field, this.trouble, this.button);
  }

  focus() {
    this.field.focus();
  }

  async #submit(event) {
    event.preventDefault();
    this.button.disabled = true;
    try {
      await post("login", { key: this.field.value });
      this.field.value = "";
      this.trouble.hidden = true;
      this.entered();
    } catch (error) {
      this.trouble.hidden = false;
      setText(this.trouble, error.status === 401 ? "Invalid key." : error.message);
      this.field.select();
    }
    this.button.disabled = false;
  }
}
