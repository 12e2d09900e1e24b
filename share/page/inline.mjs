// SPDX-License-Identifier: MIT
// Markdown within a line: code, emphasis, links, breaks. Text in, a tree out; pure, and linear in
// what it is given. A node is a string or { type, children?, text?, href? }.

const longest = 20000;
const schemes = ["http:", "https:", "mailto:"];
const punctuation = /[!-/:-@[-`{-~\p{P}\p{S}]/u;
const entities = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", hellip: "…", mdash: "—", ndash: "–" };

// The address if a person may be sent there, else undefined.
export function safeAddress(href) {
  const trimmed = href.trim();
  if (!/^(https?:\/\/|mailto:)/i.test(trimmed)) return undefined;
  try {
    const url = new URL(trimmed);
    return schemes.includes(url.protocol) ? url.href : undefined;
  } catch {
    return undefined;
  }
}

export function inline(text) {
  if (text.length > longest) return [text];
  return new Reader(text).read();
}

class Reader {
  #at = 0;
  #pieces = []; // Nodes and runs: { mark, count, opens, closes }.
  #brackets = []; // Where in #pieces a link may have begun: { index, image }.
  #plain = "";
  #unclosed = new Set(); // Lengths of backtick runs that nothing closes any more.

  constructor(text) {
    this.text = text;
  }

  read() {
    const special = /[\\`*_~[\]!<&\n:]/g;
    while (this.#at < this.text.length) {
      special.lastIndex = this.#at;
      const found = special.exec(this.text);
      const next = found ? found.index : this.text.length;
      this.#plain += this.text.slice(this.#at, next);
      this.#at = next;
      if (found && !this.#special(found[0])) {
        this.#plain += found[0];
        this.#at++;
      }
    }
    this.#cut();
    return emphasized(this.#pieces);
  }

  // Whether something was made of the character here.
  #special(c) {
    switch (c) {
      case "\\": return this.#escape();
      case "`": return this.#code();
      case "*": case "_": case "~": return this.#run(c);
      case "[": return this.#open(false);
      case "!": return this.text[this.#at + 1] === "[" && this.#open(true);
      case "]": return this.#close();
      case "<": return this.#angle();
      case "&": return this.#entity();
      case ":": return this.#bare();
      default: return this.#newline();
    }
  }

  #cut() {
    if (this.#plain) this.#pieces.push(this.#plain);
    this.#plain = "";
  }

  #add(node, length) {
    this.#cut();
    this.#pieces.push(node);
    this.#at += length;
    return true;
  }

  #sticky(pattern) {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.text);
  }

  #escape() {
    const next = this.text[this.#at + 1];
    if (next === "\n") return this.#add({ type: "break" }, 2);
    if (!next || !/[!-/:-@[-`{-~]/.test(next)) return false;
    this.#plain += next;
    this.#at += 2;
    return true;
  }

  #code() {
    const ticks = this.#sticky(/`+/y)[0];
    const from = this.#at + ticks.length;
    const end = this.#unclosed.has(ticks.length) ? -1 : closing(this.text, ticks.length, from);
    if (end < 0) {
      this.#unclosed.add(ticks.length);
      this.#plain += ticks;
      this.#at = from;
      return true;
    }
    const inner = this.text.slice(from, end).replace(/\n/g, " ");
    const padded = /^ .*[^ ].* $/.test(inner) || /^ `|` $/.test(inner);
    const text = padded ? inner.slice(1, -1) : inner;
    return this.#add({ type: "code", text }, end + ticks.length - this.#at);
  }

  #run(mark) {
    const count = this.#sticky(mark === "*" ? /\*+/y : mark === "_" ? /_+/y : /~+/y)[0].length;
    if (mark === "~" && count !== 2) return false;
    const before = this.text[this.#at - 1] ?? " ";
    const after = this.text[this.#at + count] ?? " ";
    const left = !/\s/.test(after) && (!punctuation.test(after) || /\s/.test(before) || punctuation.test(before));
    const right = !/\s/.test(before) && (!punctuation.test(before) || /\s/.test(after) || punctuation.test(after));
    const opens = mark === "_" ? left && (!right || punctuation.test(before)) : left;
    const closes = mark === "_" ? right && (!left || punctuation.test(after)) : right;
    return this.#add({ mark, count, whole: count, opens, closes }, count);
  }

  #open(image) {
    this.#cut();
    this.#brackets.push({ index: this.#pieces.length, image });
    return this.#add(image ? "![" : "[", image ? 2 : 1);
  }

  // A link is only what has a target that may be shown; the rest stays as it was written.
  #close() {
    const bracket = this.#brackets.pop();
    if (!bracket) return false;
    const target = destination(this.text, this.#at + 1);
    const href = target && safeAddress(target.href);
    if (!href) return false;
    this.#cut();
    const children = emphasized(this.#pieces.splice(bracket.index).slice(1));
    if (!bracket.image) this.#brackets = [];
    return this.#add({ type: "link", href, children, image: bracket.image }, target.end - this.#at);
  }

  #angle() {
    const found = this.#sticky(/<(https?:\/\/[^\s<>]{1,2000}|[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,8})>/iy);
    if (!found) return false;
    const href = safeAddress(found[1].includes("://") ? found[1] : `mailto:${found[1]}`);
    return href ? this.#add({ type: "link", href, children: [found[1]] }, found[0].length) : false;
  }

  #entity() {
    const found = this.#sticky(/&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|(\w{2,6}));/y);
    if (!found) return false;
    const [whole, decimal, hex, name] = found;
    const code = decimal ? Number(decimal) : hex ? parseInt(hex, 16) : 0;
    const text = name ? Object.hasOwn(entities, name) && entities[name] : code > 31 && code < 0x110000 && (code < 0xd800 || code > 0xdfff) && String.fromCodePoint(code);
    if (!text) return false;
    this.#plain += text;
    this.#at += whole.length;
    return true;
  }

  // "https://…" without any mark: what stood before the colon is taken back.
  #bare() {
    const scheme = /(?:^|[^A-Za-z0-9])(https?)$/i.exec(this.#plain.slice(-6));
    if (!scheme) return false;
    const rest = this.#sticky(/:\/\/[^\s<>"`\\]{1,2000}/y);
    if (!rest) return false;
    const shown = withoutTail(scheme[1] + rest[0]);
    const href = safeAddress(shown);
    if (!href) return false;
    this.#plain = this.#plain.slice(0, -scheme[1].length);
    return this.#add({ type: "link", href, children: [shown] }, shown.length - scheme[1].length);
  }

  #newline() {
    const hard = this.#plain.endsWith("  ");
    this.#plain = this.#plain.replace(/ {1,1000}$/, "");
    return this.#add(hard ? { type: "break" } : "\n", 1);
  }
}

// Where a run of so many backticks is, from there on.
function closing(text, length, from) {
  const runs = /`+/g;
  runs.lastIndex = from;
  for (let found; (found = runs.exec(text)); ) if (found[0].length === length) return found.index;
  return -1;
}

// "(target)" or "(<target> "title")" at `at`: { href, end }.
function destination(text, at) {
  if (text[at] !== "(") return undefined;
  const piece = text.slice(at, at + 2500);
  const found = /^\(\s{0,9}(?:<([^<>\n]{0,2000})>|((?:[^\s()\\]|\\.|\([^\s()]{0,500}\)){0,2000}))(?:\s{1,9}(?:"[^"]{0,300}"|'[^']{0,300}'))?\s{0,9}\)/.exec(piece);
  if (!found) return undefined;
  const href = (found[1] ?? found[2]).replace(/\\([!-/:-@[-`{-~])/g, "$1");
  return { href, end: at + found[0].length };
}

// What ends a sentence is no part of its last address; a bracket is if it was opened there.
function withoutTail(url) {
  let end = url.length;
  for (; end > 0; end--) {
    const last = url[end - 1];
    if (last === ")" && url.slice(0, end).split("(").length >= url.slice(0, end).split(")").length) break;
    if (!/[.,;:!?'*_~)\]}|]/.test(last)) break;
  }
  return url.slice(0, end);
}

// Runs of marks become emphasis, by the rules of CommonMark; what is left of them is text.
function emphasized(pieces) {
  const floor = new Map(); // Below which nothing opens what closes here.
  const open = []; // Of out: where runs are that may open.
  const out = [];
  for (const piece of pieces) {
    if (!piece.mark) {
      out.push(piece);
      continue;
    }
    let rest = piece;
    while (rest.closes && rest.count > 0) {
      const key = `${rest.mark}${rest.opens}${rest.whole % 3}`;
      const from = matching(out, open, rest, floor.get(key) ?? 0);
      if (from < 0) {
        floor.set(key, open.length);
        break;
      }
      const index = open[from];
      const used = rest.mark === "~" ? 2 : Math.min(2, rest.count, out[index].count);
      const type = rest.mark === "~" ? "deleted" : used === 2 ? "strong" : "emphasis";
      const children = out.splice(index + 1).map(left);
      open.length = out[index].count > used ? from + 1 : from;
      for (const [k, n] of floor) floor.set(k, Math.min(n, open.length));
      out[index] = { ...out[index], count: out[index].count - used };
      out.push({ type, children });
      rest = { ...rest, count: rest.count - used };
    }
    if (rest.count === 0) continue;
    if (rest.opens) open.push(out.length);
    out.push(rest);
  }
  return out.map(left).filter((node) => node !== "");
}

function matching(out, open, closer, floor) {
  for (let i = open.length - 1; i >= floor; i--) {
    const run = out[open[i]];
    if (run.mark !== closer.mark) continue;
    const odd = (run.closes || closer.opens) && (run.whole + closer.whole) % 3 === 0;
    if (odd && !(run.whole % 3 === 0 && closer.whole % 3 === 0)) continue;
    return i;
  }
  return -1;
}

function left(node) {
  return node.mark ? node.mark.repeat(node.count) : node;
}
