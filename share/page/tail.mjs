// SPDX-License-Identifier: MIT
// Keeps the end of a growing text in sight until its reader scrolls up, and offers the way back.
import { icon, make } from "./dom.mjs";

const near = 40;

export class Tail {
  #last = 0;
  #following = true;
  #watch;

  constructor(scroller, content) {
    this.scroller = scroller;
    this.pill = make("button.pill", { type: "button", hidden: true, click: () => this.follow() }, "new", icon("down"));
    scroller.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    this.#watch = new ResizeObserver(() => this.#following && this.#pin());
    this.#watch.observe(content);
    this.#watch.observe(scroller);
  }

  stop() {
    this.#watch.disconnect();
  }

  get following() {
    return this.#following;
  }

  follow() {
    this.#following = true;
    this.pill.hidden = true;
    this.#pin();
  }

  // Something was drawn.
  grew() {
    if (this.#following) this.#pin();
    else if (!this.#atEnd()) this.pill.hidden = false;
  }

  #pin() {
    this.scroller.scrollTop = this.scroller.scrollHeight;
    this.#last = this.scroller.scrollTop;
  }

  #atEnd() {
    const { scrollHeight, scrollTop, clientHeight } = this.scroller;
    return scrollHeight - scrollTop - clientHeight < near;
  }

  // Up is the reader's; down to the end is, too.
  #scrolled() {
    const { scrollTop } = this.scroller;
    if (this.#atEnd()) {
      this.#following = true;
      this.pill.hidden = true;
    } else if (scrollTop < this.#last - 2) {
      this.#following = false;
    }
    this.#last = scrollTop;
  }
}
