// SPDX-License-Identifier: MIT
// What the agent asks a person for, and what came of it. Shown here, answered where it was asked.
import { icon, make } from "./dom.mjs";
import { moment, number, oneLine, text } from "./format.mjs";
import { members, pre } from "./value.mjs";

const titles = { approval: "Approval asked for", ask: "Question", credential: "Credential asked for", input: "Input asked for" };
const decisions = { allow: "allowed", deny: "denied", answered: "answered", cancelled: "cancelled", timeout: "too late" };

function word(table, value, otherwise) {
  return Object.hasOwn(table, text(value)) ? table[value] : oneLine(value, 40) || otherwise;
}

export class Request {
  #payload = {};
  #changed = false;

  constructor() {
    this.element = make("li.item.request.open");
  }

  told(payload) {
    this.#payload = { ...this.#payload, ...payload };
    this.#changed = true;
  }

  // The turn is over: nobody waits any more.
  abandon() {
    if (this.#payload.state === "resolved") return;
    this.told({ state: "resolved", decision: "left open" });
  }

  flush() {
    if (!this.#changed) return;
    this.#changed = false;
    const p = this.#payload;
    const open = p.state !== "resolved";
    const denied = p.decision === "deny" || p.decision === "timeout";
    this.element.className = `item request ${open ? "open" : denied ? "denied" : "resolved"}`;
    this.element.replaceChildren(this.#head(p, open), ...this.#about(p, open), ...this.#answers(p));
  }

  #head(p, open) {
    const status = open ? "waits for a person" : word(decisions, p.decision, "resolved");
    return make("div.request-head", {}, icon(p.kind === "credential" ? "key" : "hand"),
      make("h3", {}, word(titles, p.kind, "Request")),
      make("span.tag", {}, status),
      p.by ? make("span.by", { dir: "auto" }, `by ${oneLine(p.by, 60)}`) : "");
  }

  #about(p, open) {
    const said = text(p.message) || text(p.reason);
    const subject = text(p.subject);
    const about = make("p.about", { dir: "auto" }, p.tool ? make("strong", {}, oneLine(p.tool, 80)) : "",
      subject && subject !== said ? make("code", {}, oneLine(subject, 500)) : "");
    const parts = [about.childNodes.length ? about : "", said ? make("p", { dir: "auto" }, said) : ""];
    if (Array.isArray(p.questions)) parts.push(...p.questions.slice(0, 20).map(question));
    const expires = number(p.expires_ms);
    if (open && expires) parts.push(make("p.nothing", {}, `until ${moment(expires)}`));
    if (p.args && typeof p.args === "object" && !Array.isArray(p.questions) && Object.keys(p.args).length)
      parts.push(make("details.fold", {}, make("summary", {}, "Arguments"), members(p.args)));
    return parts.filter(Boolean);
  }

  #answers(p) {
    if (p.answers === undefined || p.answers === null) return [];
    return [typeof p.answers === "object" ? members(p.answers) : pre(text(p.answers))];
  }

  get spoken() {
    if (this.#payload.state === "resolved") return "";
    return `${word(titles, this.#payload.kind, "Request")}: ${oneLine(this.#payload.message ?? this.#payload.subject ?? this.#payload.tool, 120)}`;
  }
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
