// SPDX-License-Identifier: MIT
// Tokens and money of a turn: its calls added up, until the turn's own sum is told.
import { make } from "./dom.mjs";
import { count, duration, money, number, oneLine, plural } from "./format.mjs";

const counted = ["input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens", "cost_usd", "cost"];

export class Usage {
  element = make("dl.usage");
  #calls = 0;
  #sum = new Map();
  #turn;
  #model = "";
  #currency;
  #changed = false;

  told(payload) {
    this.#changed = true;
    if (payload.currency) this.#currency = oneLine(payload.currency, 8);
    if (!payload.parent_id && payload.model) this.#model = oneLine(payload.model, 60);
    if (payload.scope === "turn") {
      this.#turn = payload;
      return;
    }
    this.#calls++;
    for (const name of counted) {
      const amount = number(payload[name]);
      if (amount !== undefined) this.#sum.set(name, (this.#sum.get(name) ?? 0) + amount);
    }
  }

  model(name) {
    if (name) this.#model = oneLine(name, 60);
    this.#changed = true;
  }

  #get(name) {
    return number(this.#turn?.[name]) ?? this.#sum.get(name);
  }

  flush() {
    if (!this.#changed) return;
    this.#changed = false;
    const rows = [];
    const row = (name, value, title) => rows.push(make(name === "model" || name === "cached" ? "div.minor" : "div", { title }, make("dt", {}, name), make("dd", {}, value)));
    const read = this.#get("cache_read_tokens");
    const given = this.#get("input_tokens");
    const made = this.#get("output_tokens");
    if (this.#model) row("model", this.#model);
    if (given !== undefined) row("in", count(given), plural(given, "input token"));
    if (read) row("cached", count(read), `${plural(read, "token")} read from the cache`);
    if (made !== undefined) row("out", count(made), plural(made, "output token"));
    const cost = this.#cost();
    if (cost) row("cost", cost);
    const ms = number(this.#turn?.duration_ms);
    if (ms !== undefined) row("time", duration(ms), this.#calls ? plural(this.#calls, "model call") : undefined);
    this.element.replaceChildren(...rows);
  }

  #cost() {
    const dollars = this.#get("cost_usd");
    if (dollars !== undefined) return money(dollars);
    const other = this.#get("cost");
    return other === undefined ? "" : money(other, this.#currency ?? "");
  }
}
