// SPDX-License-Identifier: MIT
// Says whether what is shown is what is: joining, live, lost, ended.
import { make, setText } from "./dom.mjs";

const words = { joining: "Connecting", live: "Live", lost: "Reconnecting", ended: "", refused: "" };

export class Connection {
  constructor(retry) {
    this.word = make("span.connection-word");
    this.retry = make("button.quiet", { type: "button", hidden: true, click: retry }, "Reconnect now");
    this.element = make("span.connection", { "data-state": "joining" }, make("span.dot"), this.word, this.retry);
  }

  // A first joining is no news; one after a loss stays a loss until it is live.
  show(state) {
    const shown = state === "joining" && this.element.dataset.state === "lost" ? "lost" : state;
    this.element.dataset.state = shown;
    setText(this.word, words[shown]);
    this.retry.hidden = shown !== "lost";
  }
}
