// SPDX-License-Identifier: MIT
// A queue that is emptied once a frame, and in no frame for longer than it can spare: a turn of
// many events fills in over some frames, and the page answers meanwhile.
const budget_ms = 8;
const hidden_ms = 250;

export class Frame {
  #queue = [];
  #from = 0;
  #asked = false;
  #stopped = false;

  constructor(take, draw) {
    this.take = take;
    this.draw = draw;
  }

  push(thing) {
    this.#queue.push(thing);
    this.#ask();
  }

  stop() {
    this.#stopped = true;
    this.#queue = [];
  }

  // A page that is not seen has no frames.
  #ask() {
    if (this.#asked || this.#stopped) return;
    this.#asked = true;
    if (document.hidden) setTimeout(() => this.#run(), hidden_ms);
    else requestAnimationFrame(() => this.#run());
  }

  #run() {
    this.#asked = false;
    if (this.#stopped) return;
    const until = performance.now() + budget_ms;
    while (this.#from < this.#queue.length && performance.now() < until) this.take(this.#queue[this.#from++]);
    if (this.#from === this.#queue.length) {
      this.#queue = [];
      this.#from = 0;
    }
    this.draw();
    if (this.#queue.length) this.#ask();
  }
}
