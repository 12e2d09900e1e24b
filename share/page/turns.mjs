// SPDX-License-Identifier: MIT
// The turns the host tells of, now and before, kept up to date as long as somebody looks.
import { get } from "./api.mjs";
import { text } from "./format.mjs";
import { Stream } from "./stream.mjs";

const most = 500;

export class Turns {
  #known = new Map();
  #stream;
  me; // { name, grants }
  agents = [];

  // on.turn(turn), on.gone(id), on.state(state, error)
  constructor(on) {
    this.on = on;
    this.#stream = new Stream("turns/events", {
      event: ({ data }) => this.#told(data),
      state: (state, error) => this.on.state(state, error),
      end: () => false,
    });
    // A page that is not seen needs no list, and a browser has few connections to a host.
    document.addEventListener("visibilitychange", () => (document.hidden ? this.stop() : this.start()));
  }

  // Throws what the host answers.
  async load() {
    const told = await get("turns?limit=200");
    this.me = told.me;
    this.agents = told.agents.map(text);
    for (const turn of told.turns) this.put(turn);
    this.loaded = true;
    this.start();
  }

  start() {
    if (this.loaded && !document.hidden) this.#stream.start();
  }

  stop() {
    this.#stream.stop();
  }

  retry() {
    this.#stream.retry();
  }

  forget() {
    this.stop();
    this.loaded = false;
    for (const id of [...this.#known.keys()]) this.#drop(id);
  }

  get(id) {
    return this.#known.get(id);
  }

  // The one behind it in its conversation, if there is one.
  next(turn) {
    let next;
    for (const other of this.#known.values())
      if (other.conversation === turn.conversation && other.source === turn.source &&
        other.created_ms > turn.created_ms && !(next?.created_ms <= other.created_ms)) next = other;
    return next;
  }

  may(grant) {
    return Array.isArray(this.me?.grants) && this.me.grants.includes(grant);
  }

  #told(data) {
    try {
      this.put(JSON.parse(data));
    } catch {
      // Not a turn: nothing to show.
    }
  }

  put(turn) {
    if (typeof turn !== "object" || turn === null || typeof turn.id !== "string") return;
    this.#known.set(turn.id, turn);
    this.on.turn(turn);
    if (this.#known.size > most) this.#drop(this.#oldest());
  }

  #oldest() {
    let oldest;
    for (const turn of this.#known.values())
      if (!oldest || (turn.created_ms ?? 0) < (oldest.created_ms ?? 0)) oldest = turn;
    return oldest.id;
  }

  #drop(id) {
    this.#known.delete(id);
    this.on.gone(id);
  }
}
