// SPDX-License-Identifier: MIT
// Markdown that grows, as elements. Blocks that stay as they are keep their elements, and with them
// what a reader has selected in them.
import { blocks } from "./markdown.mjs";
import { inline } from "./inline.mjs";
import { copyButton } from "./copy.mjs";
import { make } from "./dom.mjs";

export class Prose {
  text = "";
  #sources = [];

  constructor(name = "div.prose") {
    this.element = make(name, { dir: "auto" });
  }

  append(text) {
    this.text += text;
  }

  flush() {
    const now = blocks(this.text);
    let same = 0;
    while (same < now.length && this.#sources[same] === now[same].source) same++;
    while (this.element.childNodes.length > same) this.element.lastChild.remove();
    this.element.append(...now.slice(same).map(block));
    this.#sources = now.map((b) => b.source);
  }
}

const makers = { code, heading, list, paragraph, quote, rule, table };

function block(b) {
  return makers[b.type](b);
}

function paragraph(b) {
  return make("p", {}, ...inline(b.text).map(span));
}

// The page's own titles are h1 and h2.
function heading(b) {
  return make(`h${Math.min(b.level + 2, 6)}.h${b.level}`, {}, ...inline(b.text).map(span));
}

function code(b) {
  return make("div.code", {},
    make("div.code-head", {}, make("span", {}, b.language), copyButton("Copy the code", () => b.text)),
    make("pre", { tabindex: "0", dir: "ltr" }, make("code", {}, b.text)));
}

function quote(b) {
  return make("blockquote", {}, ...b.children.map(block));
}

function rule() {
  return make("hr");
}

function list(b) {
  const items = b.items.map((item) => make(item.task === undefined ? "li" : "li.task", {},
    ...mark(item), ...item.children.flatMap((child) => child.type === "paragraph" && !b.loose
      ? inline(child.text).map(span) : [block(child)])));
  return make(b.ordered ? "ol" : "ul", { start: b.start !== 1 && b.start }, ...items);
}

function mark(item) {
  if (item.task === undefined) return [];
  return [make("span.box", { role: "img", "aria-label": item.task ? "done" : "to do" }, item.task ? "☑" : "☐"), " "];
}

function table(b) {
  const row = (tag, cells) => make("tr", {}, ...cells.map((cell, i) =>
    make(`${tag}.${b.align[i] ?? "left"}`, {}, ...inline(cell).map(span))));
  return make("div.table", { tabindex: "0", role: "region", "aria-label": "Table" },
    make("table", {}, make("thead", {}, row("th", b.head)), make("tbody", {}, ...b.rows.map((r) => row("td", r)))));
}

const spans = {
  break: () => make("br"),
  code: (node) => make("code", {}, node.text),
  deleted: (node) => make("del", {}, ...node.children.map(span)),
  emphasis: (node) => make("em", {}, ...node.children.map(span)),
  strong: (node) => make("strong", {}, ...node.children.map(span)),
  link,
};

function span(node) {
  return typeof node === "string" ? document.createTextNode(node) : spans[node.type](node);
}

// Where a link leads is always to be read beside it. Nothing is fetched: an image is a link.
function link(node) {
  const url = new URL(node.href);
  const target = url.protocol === "mailto:" ? url.pathname : url.host;
  const words = node.children.length ? node.children.map(span) : [node.href];
  const anchor = make("a", { href: node.href, rel: "noopener noreferrer", target: "_blank", title: node.href }, ...words);
  const told = anchor.textContent.toLowerCase().startsWith(`${url.protocol}//${url.host}`) || anchor.textContent === target;
  return make("span.link", {}, node.image && "image: ", anchor, told ? "" : make("span.target", {}, ` (${target})`));
}
