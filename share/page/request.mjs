// SPDX-License-Identifier: MIT
// What the agent asks a person for, and what came of it; who may answers here.
import { now } from "./api.mjs";
import { Answer, decided } from "./answer.mjs";
import { icon, make, setText } from "./dom.mjs";
import { number, oneLine, text } from "./format.mjs";
import { unwatch, watch } from "./ticker.mjs";
import { members, pre } from "./value.mjs";

const titles = { approval: "Approval needed", ask: "Question", credential: "Credential needed", input: "Input needed" };
const decisions = { allow: "allowed", deny: "denied", answered: "answered", cancelled: "cancelled", timeout: "timed out" };

function word(table, value, otherwise) {
  return Object.hasOwn(table, text(value)) ? table[value] : oneLine(value, 40) || otherwise;
}

// "4:07", "0:09".
function clock(ms) {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const minutes = Math.floor(seconds / 60);
  const rest = String(seconds % 60).padStart(2, "0");
  return minutes < 60 ? `${minutes}:${rest}` : `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}:${rest}`;
}

export class Request {
  #payload = {};
  #changed = false;
  #late = "";
  #on;

  // on.mayAnswer(), on.decide(id, body): a promise of { decision, by }
  constructor(on) {
    this.#on = on;
    this.element = make("li.item.request.open");
  }

  told(payload) {
    this.#payload = { ...this.#payload, ...payload };
    this.#changed = true;
  }

  // The turn is over: nobody waits any more.
  abandon() {
    if (this.#payload.state === "resolved") return;
    this.told({ state: "resolved", decision: "not answered" });
  }

  flush() {
    if (!this.#changed) return;
    this.#changed = false;
    const p = this.#payload;
    const open = p.state !== "resolved";
    const denied = p.decision === "deny" || p.decision === "timeout";
    const held = this.element.contains(document.activeElement);
    this.element.className = `item request ${open ? "open" : denied ? "denied" : "resolved"}`;
    this.element.replaceChildren(this.#head(p, open), ...this.#about(p), ...(open ? this.#asked(p) : this.#answers(p)));
    if (held) this.#hold();
  }

  #hold() {
    this.element.querySelector("h3").focus({ preventScroll: true });
  }

  #head(p, open) {
    const status = open ? "waiting for an answer" : word(decisions, p.decision, "resolved");
    return make("div.request-head", {}, icon(p.kind === "credential" ? "key" : "hand"),
      make("h3", { tabindex: "-1" }, word(titles, p.kind, "Request")),
      make("span.tag", {}, status),
      p.by && p.decision !== "timeout" ? make("span.by", { dir: "auto" }, `by ${oneLine(p.by, 60)}`) : "");
  }

  #about(p) {
    const said = text(p.message) || text(p.reason);
    const subject = text(p.preview) || text(p.subject);
    const parts = [
      p.tool && !(this.#isForm(p) && Array.isArray(p.questions)) ? make("p.about", { dir: "auto" }, make("strong", {}, oneLine(p.tool, 80))) : "",
      subject && subject !== said ? pre(subject) : "",
      said ? make("p", { dir: "auto" }, said) : "",
    ];
    if (Array.isArray(p.questions) && !this.#isForm(p)) parts.push(...p.questions.slice(0, 20).map(question));
    if (p.args && typeof p.args === "object" && !Array.isArray(p.questions) && Object.keys(p.args).length)
      parts.push(make("details.fold", {}, make("summary", {}, "Arguments"), members(p.args)));
    return parts.filter(Boolean);
  }

  // It can be answered here, and whoever looks may.
  #isForm(p) {
    return p.state !== "resolved" && Array.isArray(p.choices) && p.choices.length > 0 && this.#on.mayAnswer();
  }

  #asked(p) {
    const parts = [];
    if (this.#isForm(p)) {
      const answer = new Answer(p, {
        decide: (body) => this.#on.decide(text(p.request_id), body),
        decided: (decision, by, late) => this.#decided(decision, by, late),
        hold: () => this.#hold(),
      });
      parts.push(answer.element);
    }
    if (number(p.expires_ms) > 0) parts.push(this.#countdown(number(p.expires_ms)));
    return parts;
  }

  #countdown(expires) {
    const left = make("p.countdown");
    watch(left, (time) => {
      const over = time >= expires;
      setText(left, over ? "Expired." : `Denied automatically in ${clock(expires - time)}`);
      if (over) unwatch(left);
    });
    setText(left, now() >= expires ? "Expired." : `Denied automatically in ${clock(expires - now())}`);
    return left;
  }

  // What the host said of it; the event that tells everybody follows.
  #decided(decision, by, late) {
    this.#late = late ?? "";
    this.told({ state: "resolved", decision, by });
    this.flush();
  }

  #answers(p) {
    const late = this.#late ? [make("p.late", { role: "alert", dir: "auto" }, this.#late)] : [];
    if (p.answers === undefined || p.answers === null) return late;
    return [...late, typeof p.answers === "object" ? members(named(p.answers, p.questions)) : pre(text(p.answers))];
  }

  get waits() {
    return this.#payload.state !== "resolved";
  }

  // When it is told: what is asked, or what came of it.
  get news() {
    return this.waits ? this.spoken : `${this.#what}, ${decided(this.#payload.decision, this.#payload.by)}`;
  }

  get spoken() {
    return this.waits ? this.#what : "";
  }

  get #what() {
    const p = this.#payload;
    return `${word(titles, p.kind, "Request")}: ${oneLine(p.preview ?? p.message ?? p.subject ?? p.tool, 120)}`;
  }
}

// Answers under what was asked, not under ids.
function named(answers, questions) {
  const names = new Map((Array.isArray(questions) ? questions : []).map((q) => [text(q?.id), oneLine(q?.header || q?.prompt, 80)]));
  return Object.fromEntries(Object.entries(answers).map(([id, answer]) =>
    [names.get(id) || id, Array.isArray(answer) ? answer.map(text).join(", ") : answer]));
}

function question(q) {
  if (typeof q !== "object" || q === null) return make("p", { dir: "auto" }, text(q));
  const options = Array.isArray(q.options) ? q.options.slice(0, 30) : [];
  return make("div.question", { dir: "auto" },
    q.header ? make("span.tag", {}, oneLine(q.header, 60)) : "",
    make("p", {}, text(q.prompt)),
    options.length ? make("ul", {}, ...options.map(option)) : "");
}

function option(o) {
  if (typeof o !== "object" || o === null) return make("li", {}, text(o));
  return make("li", {}, make("strong", {}, text(o.label)), o.description ? ` ${text(o.description)}` : "");
}
