// SPDX-License-Identifier: MIT
// Makes elements. Text becomes text nodes, and there is no other way in: nothing parses markup.

const drawings = {
  back: "M10 3.500 5.500 8l4.500 4.500",
  bolt: "M9 1.500 3.500 9H8l-1 5.500L12.500 7H8z",
  check: "m3.500 8.500 3 3 6-7",
  copy: "M5.500 5.500v-3h8v8h-3M2.500 5.500h8v8h-8z",
  cross: "m4 4 8 8m0-8-8 8",
  down: "M8 3v9.500M4 9l4 3.500L12 9",
  dash: "M4 8h8",
  hand: "M8 4.500v4M8 11.400v.1M8 1.500 15 14H1z",
  info: "M8 7.500v3.500M8 4.900V5M14.500 8a6.500 6.500 0 1 1-13 0 6.500 6.500 0 0 1 13 0z",
  key: "M10.500 9.500a4 4 0 1 0-3.700-2.400L2 12v2h2.500v-1.500H6V11l1.500-1.500M11 5.100V5",
  plus: "M8 3.500v9M3.500 8h9",
  send: "M8 13V3.500M4 7l4-3.500L12 7",
  stop: "M4.500 4.500h7v7h-7z",
  thought: "M8 2.500c3.600 0 6 2 6 4.500s-2.400 4.500-6 4.500c-.7 0-1.300-.1-1.900-.2L3 13.500l.6-3.100C2.600 9.600 2 8.400 2 7c0-2.500 2.400-4.500 6-4.500z",
  wait: "M8 4.500V8l2.500 1.500M14.500 8a6.500 6.500 0 1 1-13 0 6.500 6.500 0 0 1 13 0z",
};

// make("a.link", { href }, "text", node…): a name with classes, attributes and listeners, children.
export function make(name, attributes = {}, ...children) {
  const [tag, ...classes] = name.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child || child === 0));
  return element;
}

export function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  const path = document.createElementNS(space, "path");
  svg.setAttribute("class", "icon");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", drawings[name]);
  svg.append(path);
  return svg;
}

export function spinner() {
  return make("span.spinner", { "aria-hidden": "true" });
}

// Touches the document only if there is something to change.
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
