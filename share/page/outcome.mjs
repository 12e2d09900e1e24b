// SPDX-License-Identifier: MIT
// How a turn ended: the error, and the line under everything.
import { icon, make } from "./dom.mjs";
import { oneLine, text } from "./format.mjs";

const reasons = {
  completed: "Completed",
  cancelled: "Stopped",
  suspended: "Suspended (can be resumed)",
  stopped: "Stopped: limit reached",
  refused: "Refused",
  error: "Failed",
  lost: "The agent's output ended without a result",
};

export class Failure {
  constructor(payload) {
    this.spoken = `The turn failed: ${oneLine(payload.message, 200)}`;
    this.element = make("li.item.failure", {},
      make("div.failure-head", {}, icon("cross"), make("h2", {}, "Error"),
        payload.code ? make("span.tag", {}, text(payload.code)) : ""),
      make("p", { dir: "auto" }, text(payload.message)));
  }

  flush() {}
}

export class Ending {
  constructor(payload) {
    const reason = text(payload.reason);
    const words = Object.hasOwn(reasons, reason) ? reasons[reason] : oneLine(reason, 80);
    this.spoken = `Turn ended: ${words}`;
    this.element = make(`li.item.ending`, {},
      make("span", {}, words),
      payload.code ? make("span.tag", {}, text(payload.code)) : "",
      payload.detail ? make("span.detail", { dir: "auto" }, oneLine(payload.detail, 300)) : "");
  }

  flush() {}
}
