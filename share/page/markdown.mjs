// SPDX-License-Identifier: MIT
// Markdown's blocks: text in, a list of blocks out; pure. A block is { type, source, … }, made of
// its source alone, so that of a growing text only the last ones are made anew.

const deepest = 12;
const fence = /^( {0,3})(`{3,}|~{3,})[ \t]*([^`]*)$/;
const heading = /^ {0,3}(#{1,6})(?:[ \t]+|$)(.*?)(?:[ \t]+#+)?[ \t]*$/;
const rule = /^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/;
const quote = /^ {0,3}> ?/;
const item = /^( {0,3})([-*+]|\d{1,9}[.)])(?:( {1,4})(?=\S)|[ \t]*$| )/;
const indented = /^(?: {4}|\t)/;
const delimiter = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;

export function blocks(text) {
  return parse(text.replace(/\r\n?/g, "\n").split("\n"), 0);
}

function blank(line) {
  return !/\S/.test(line);
}

function parse(lines, depth) {
  const out = [];
  for (let at = 0; at < lines.length; ) {
    if (blank(lines[at])) {
      at++;
      continue;
    }
    const { end, ...block } = take(lines, at, depth);
    out.push({ ...block, source: lines.slice(at, end).join("\n") });
    at = end;
  }
  return out;
}

// The block that begins here, with where it ends.
function take(lines, at, depth) {
  const line = lines[at];
  if (depth >= deepest) return paragraph(lines, at, () => false);
  if (fence.test(line)) return code(lines, at);
  const title = heading.exec(line);
  if (title) return { type: "heading", level: title[1].length, text: title[2], end: at + 1 };
  if (rule.test(line)) return { type: "rule", end: at + 1 };
  if (quote.test(line)) return quoted(lines, at, depth);
  if (item.test(line)) return list(lines, at, depth);
  if (indented.test(line)) return preformatted(lines, at);
  if (isTable(lines, at)) return table(lines, at);
  return paragraph(lines, at, interrupts);
}

// What ends a paragraph without an empty line.
function interrupts(line, lines, at) {
  if (fence.test(line) || heading.test(line) || rule.test(line) || quote.test(line)) return true;
  const found = item.exec(line);
  if (found) return found[3] !== undefined && (found[2].length === 1 || /^1[.)]$/.test(found[2]));
  return isTable(lines, at);
}

function code(lines, at) {
  const [, indent, ticks, info] = fence.exec(lines[at]);
  const close = new RegExp(`^ {0,3}${ticks[0]}{${ticks.length},}[ \\t]*$`);
  let end = at + 1;
  while (end < lines.length && !close.test(lines[end])) end++;
  const strip = new RegExp(`^ {0,${indent.length}}`);
  const text = lines.slice(at + 1, end).map((l) => l.replace(strip, "")).join("\n");
  const language = info.trim().split(/\s/)[0].slice(0, 40);
  return { type: "code", text, language, end: Math.min(end + 1, lines.length) };
}

function preformatted(lines, at) {
  let end = at;
  for (let i = at; i < lines.length && (indented.test(lines[i]) || blank(lines[i])); i++)
    if (!blank(lines[i])) end = i + 1;
  const text = lines.slice(at, end).map((l) => l.replace(indented, "")).join("\n");
  return { type: "code", text, language: "", end };
}

function quoted(lines, at, depth) {
  let end = at;
  const inner = [];
  for (; end < lines.length && !blank(lines[end]); end++) {
    if (!quote.test(lines[end]) && interrupts(lines[end], lines, end)) break;
    inner.push(lines[end].replace(quote, ""));
  }
  return { type: "quote", children: parse(inner, depth + 1), end };
}

function list(lines, at, depth) {
  const first = item.exec(lines[at]);
  const ordered = first[2].length > 1;
  const kind = first[2].at(-1);
  const items = [];
  let loose = false;
  let end = at;
  while (end < lines.length) {
    const found = item.exec(lines[end]);
    if (!found || found[2].at(-1) !== kind || rule.test(lines[end])) break;
    const body = itemLines(lines, end, found);
    items.push(listItem(body.lines, depth));
    loose ||= body.lines.some((l, i) => blank(l) && i < body.lines.length - 1);
    end = body.end;
    let next = end;
    while (next < lines.length && blank(lines[next])) next++;
    const again = next < lines.length && item.exec(lines[next]);
    if (!again || again[2].at(-1) !== kind || next === end) continue;
    loose = true;
    end = next;
  }
  return { type: "list", ordered, start: ordered ? parseInt(first[2], 10) : 1, loose, items, end };
}

// Agents indent what belongs to "1." by two as often as by three: two is taken, too.
function itemLines(lines, at, found) {
  const width = found[1].length + found[2].length + (found[3]?.length ?? 1);
  const least = Math.min(width, found[1].length + 2);
  const out = [lines[at].slice(found[0].length)];
  let end = at + 1;
  for (let i = at + 1; i < lines.length; i++) {
    const line = lines[i].replace(/^\t/, "    ");
    const indent = /^ */.exec(line)[0].length;
    if (blank(line)) out.push("");
    else if (indent >= least) out.push(line.slice(Math.min(indent, width)));
    else if (blank(lines[i - 1]) || item.test(line) || interrupts(line, lines, i)) break;
    else out.push(line.trimStart());
    if (!blank(line)) end = i + 1;
  }
  return { lines: out.slice(0, end - at), end };
}

function listItem(lines, depth) {
  const task = /^\[([ xX])\] /.exec(lines[0]);
  const inner = task ? [lines[0].slice(4), ...lines.slice(1)] : lines;
  return { task: task ? task[1] !== " " : undefined, children: parse(inner, depth + 1) };
}

function isTable(lines, at) {
  const under = lines[at + 1];
  if (under === undefined || !lines[at].includes("|") || !under.includes("-") || !delimiter.test(under)) return false;
  return cells(lines[at]).length === cells(under).length;
}

function table(lines, at) {
  const align = cells(lines[at + 1]).map((cell) =>
    /^:.*:$/.test(cell) ? "center" : /:$/.test(cell) ? "right" : "left");
  const head = cells(lines[at]);
  const rows = [];
  let end = at + 2;
  for (; end < lines.length && !blank(lines[end]) && lines[end].includes("|"); end++)
    rows.push(head.map((_, i) => cells(lines[end])[i] ?? ""));
  return { type: "table", align, head, rows, end };
}

function cells(line) {
  const inner = line.trim().replace(/^\|/, "").replace(/\|$/, "");
  return inner.split(/(?<!\\)\|/).slice(0, 50).map((cell) => cell.trim().replace(/\\\|/g, "|"));
}

function paragraph(lines, at, ends) {
  let end = at + 1;
  for (; end < lines.length && !blank(lines[end]); end++) {
    const under = /^ {0,3}(=+|-+)[ \t]*$/.exec(lines[end]);
    if (under) {
      const text = lines.slice(at, end).join("\n").trim();
      return { type: "heading", level: under[1][0] === "=" ? 1 : 2, text, end: end + 1 };
    }
    if (ends(lines[end], lines, end)) break;
  }
  const text = lines.slice(at, end).map((l) => l.replace(/^[ \t]+/, "")).join("\n");
  return { type: "paragraph", text: text.replace(/[ \t]+$/, ""), end };
}
