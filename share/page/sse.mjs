// SPDX-License-Identifier: MIT
// Reads a stream of server-sent events, however its bytes are cut; pure.

const longest = 32 * 1024 * 1024;

export class Sse {
  #decoder = new TextDecoder();
  #rest = "";
  #data = [];
  #event = "";
  #id = "";

  // on({ event, data, id }): id is the last one seen, as Last-Event-ID wants it.
  constructor(on) {
    this.on = on;
  }

  feed(bytes) {
    this.#rest += this.#decoder.decode(bytes, { stream: true });
    const end = /\r\n|\n|\r(?!$)/g;
    let from = 0;
    for (let found; (found = end.exec(this.#rest)); from = end.lastIndex)
      this.#line(this.#rest.slice(from, found.index));
    this.#rest = this.#rest.slice(from);
    if (this.#rest.length > longest) throw new Error("event stream error: line too long");
  }

  #line(line) {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") this.#data.push(value);
    else if (field === "event") this.#event = value;
    else if (field === "id" && !value.includes("\0")) this.#id = value;
  }

  #dispatch() {
    const told = { event: this.#event || "message", data: this.#data.join("\n"), id: this.#id };
    const empty = this.#data.length === 0;
    this.#data = [];
    this.#event = "";
    if (!empty) this.on(told);
  }
}
