// SPDX-License-Identifier: MIT
// One clock for everything on the page that shows how long something takes.
import { now } from "./api.mjs";

const watched = new Map(); // Element: what to do with it each second.

function tick() {
  const time = now();
  for (const [element, update] of watched) {
    if (!element.isConnected) watched.delete(element);
    else update(time);
  }
}

setInterval(tick, 1000);

// At once, then each second until the element leaves the page or unwatch.
export function watch(element, update) {
  watched.set(element, update);
  update(now());
}

export function unwatch(element) {
  watched.delete(element);
}
