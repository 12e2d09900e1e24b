// SPDX-License-Identifier: MIT
// The list of turns: those of now above those of before, newest first; arrows and j, k walk it.
import { encoded, now } from "./api.mjs";
import { make, setText } from "./dom.mjs";
import { moment, number } from "./format.mjs";
import { facts, isOver, look, sign, title, when, word } from "./state.mjs";
import { watch } from "./ticker.mjs";

class Row {
  constructor(id) {
    this.task = make("span.row-task", { dir: "auto" });
    this.sign = make("span.row-sign");
    this.word = make("span.unseen");
    this.facts = make("span.facts");
    this.when = make("time.row-when");
    this.link = make("a.row", { href: `#/turn/${encoded(id)}` },
      this.sign, this.word, this.task, this.facts, this.when);
    this.element = make("li", {}, this.link);
    watch(this.element, (time) => this.#tick(time));
  }

  #tick(time) {
    if (this.turn) setText(this.when, when(this.turn, time));
  }

  show(turn) {
    if (!this.turn || look(turn) !== look(this.turn)) this.sign.replaceChildren(sign(turn));
    this.turn = turn;
    this.order = number(turn.created_ms) ?? 0;
    setText(this.word, `${word(turn)}: `);
    setText(this.task, title(turn, 200));
    this.facts.replaceChildren(...facts(turn));
    this.#tick(now());
    this.element.className = isOver(turn) ? "over" : "on";
    if (this.order) this.link.title = `${word(turn)}, ${moment(this.order)}`;
  }
}

class Group {
  constructor(title, id) {
    this.list = make("ul", { "aria-labelledby": id });
    this.element = make("section.group", { hidden: true }, make("h2", { id }, title), this.list);
  }

  // To its place by age; a row that is there already stays, and with it the focus.
  place(row) {
    const rows = [...this.list.children].map((element) => element.row).filter((other) => other !== row);
    const next = rows.find((other) => other.order < row.order)?.element ?? null;
    const stays = row.element.parentNode === this.list && row.element.nextSibling === next;
    if (!stays) this.list.insertBefore(row.element, next);
    this.check();
  }

  check() {
    this.element.hidden = this.list.childElementCount === 0;
  }
}

export class List {
  #rows = new Map();
  #now = new Group("Now", "turns-now");
  #before = new Group("Earlier", "turns-before");
  #current;

  constructor() {
    this.empty = make("p.void", {}, "No turns yet. Messages sent here or in a connector appear immediately.");
    this.element = make("div.list", { keydown: (event) => this.#key(event) },
      this.empty, this.#now.element, this.#before.element);
  }

  put(turn) {
    let row = this.#rows.get(turn.id);
    if (!row) {
      row = new Row(turn.id);
      row.element.row = row;
      this.#rows.set(turn.id, row);
    }
    const focused = document.activeElement === row.link;
    row.show(turn);
    (isOver(turn) ? this.#before : this.#now).place(row);
    if (focused) row.link.focus({ preventScroll: true });
    if (turn.id === this.#current) this.mark(turn.id);
    this.#check();
  }

  drop(id) {
    this.#rows.get(id)?.element.remove();
    this.#rows.delete(id);
    this.#check();
  }

  #check() {
    this.#now.check();
    this.#before.check();
    this.empty.hidden = this.#rows.size > 0;
  }

  // The turn that is shown beside the list.
  mark(id) {
    this.#rows.get(this.#current)?.link.removeAttribute("aria-current");
    this.#current = id;
    const row = this.#rows.get(id);
    row?.link.setAttribute("aria-current", "page");
    row?.element.scrollIntoView({ block: "nearest" });
  }

  focus() {
    (this.#rows.get(this.#current)?.link ?? this.element.querySelector("a"))?.focus();
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const links = [...this.element.querySelectorAll("a.row")];
    const at = links.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, j: at + 1, ArrowUp: at - 1, k: at - 1, Home: 0, End: links.length - 1 }[event.key];
    if (to === undefined || at < 0) return;
    event.preventDefault();
    links[Math.max(0, Math.min(links.length - 1, to))].focus();
  }
}
