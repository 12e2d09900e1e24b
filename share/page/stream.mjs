// SPDX-License-Identifier: MIT
// Follows one stream of the host for as long as it is wanted: goes on behind the last event after a
// lost connection, and knows a dead one by the keep-alives that do not come. Not an EventSource,
// which cannot tell why it was refused, and forgets its place when it is.
import { ApiError, ask } from "./api.mjs";
import { Sse } from "./sse.mjs";

const silence_ms = 45000; // Three keep-alives.
const pauses_ms = [250, 1000, 2000, 4000, 8000, 15000];

export class Stream {
  #path;
  #on;
  #last = "";
  #failures = 0;
  #cut;
  #wake;
  #run; // The run that is wanted: a stopped one ends when it notices.

  // on.event({ event, data }); on.state("joining" | "live" | "lost" | "refused", ApiError?);
  // on.end(): the host ended it; true: it is not to be asked again.
  constructor(path, on) {
    this.#path = path;
    this.#on = on;
  }

  start() {
    if (this.#run) return;
    this.#run = {};
    this.#go(this.#run);
  }

  stop() {
    this.#run = undefined;
    this.#cut?.abort();
    this.#wake?.();
  }

  // Does not wait any longer.
  retry() {
    this.#failures = 0;
    this.#wake?.();
  }

  async #go(run) {
    while (this.#run === run) {
      this.#on.state("joining");
      const error = await this.#follow(run).catch((e) => e);
      if (this.#run !== run) return;
      const refused = error instanceof ApiError && [401, 403, 404, 410].includes(error.status);
      const over = refused || (!error && (await this.#on.end()));
      if (this.#run !== run) return;
      if (over) this.#run = undefined;
      if (refused) this.#on.state("refused", error);
      if (!over) await this.#pause();
    }
  }

  // Until the host ends it; throws when it broke.
  async #follow(run) {
    const cut = new AbortController();
    let watch;
    const awake = () => {
      clearTimeout(watch);
      watch = setTimeout(() => cut.abort(), silence_ms);
    };
    this.#cut = cut;
    awake();
    try {
      const headers = { Accept: "text/event-stream" };
      if (this.#last) headers["Last-Event-ID"] = this.#last;
      const response = await ask(this.#path, { headers, signal: cut.signal });
      const reader = response.body.getReader();
      const sse = new Sse((told) => this.#run === run && this.#take(told));
      this.#on.state("live");
      for (let part; !(part = await reader.read()).done; awake()) sse.feed(part.value);
    } finally {
      clearTimeout(watch);
    }
  }

  #take(told) {
    this.#failures = 0;
    if (told.id) this.#last = told.id;
    this.#on.event(told);
  }

  #pause() {
    const step = pauses_ms[Math.min(this.#failures++, pauses_ms.length - 1)];
    const wait = step * (0.75 + Math.random() / 2);
    this.#on.state("lost");
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, wait);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
