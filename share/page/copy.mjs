// SPDX-License-Identifier: MIT
// A button that puts a text on the clipboard and says so.
import { icon, make, setText } from "./dom.mjs";

export function copyButton(label, read, word = "") {
  const words = make("span", {}, word);
  const button = make("button.quiet.copy", { type: "button", title: label, "aria-label": label }, icon("copy"), words);
  let timer;
  button.addEventListener("click", async (event) => {
    event.preventDefault();
    const good = await copy(read());
    clearTimeout(timer);
    button.classList.toggle("did", good);
    button.setAttribute("aria-label", good ? "Copied" : "Copying was blocked by the browser");
    if (word) setText(words, good ? "Copied" : "Not copied");
    timer = setTimeout(() => {
      button.classList.remove("did");
      button.setAttribute("aria-label", label);
      setText(words, word);
    }, 1600);
  });
  return button;
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

// Without TLS, and not on this machine, a page has no clipboard.
function copyBySelection(text) {
  const area = make("textarea.unseen", { "aria-hidden": "true", tabindex: "-1" });
  const focused = document.activeElement;
  area.value = text;
  document.body.append(area);
  area.select();
  const good = document.execCommand("copy");
  area.remove();
  focused?.focus();
  return good;
}
