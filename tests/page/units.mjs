// SPDX-License-Identifier: MIT
// The parts of the page that need no browser. Prints TAP.
//
//     node units.mjs PAGE-FOLDER
import path from "node:path";
import { pathToFileURL } from "node:url";
import { finish, note, ok, same } from "./tap.mjs";

const load = (name) => import(pathToFileURL(path.resolve(process.argv[2], name)));
const { blocks } = await load("markdown.mjs");
const { inline, safeAddress } = await load("inline.mjs");
const { Sse } = await load("sse.mjs");
const { visible } = await load("reveal.mjs");
const { count, duration, mainArgument, money, oneLine } = await load("format.mjs");
const { place } = await load("state.mjs");

// A tree as text: (strong a(em b)).
const marks = { strong: "b", emphasis: "i", deleted: "s", link: "a", code: "c", break: "br" };
function flat(node) {
  if (typeof node === "string") return node;
  const inner = node.type === "code" ? node.text : (node.children ?? []).map(flat).join("");
  return `<${marks[node.type]}${node.href ? ` ${node.href}` : ""}>${inner}</>`;
}
const line = (text) => inline(text).map(flat).join("");

const lines = [
  ["plain text", "plain text"],
  ["**a *b* c** d", "<b>a <i>b</> c</> d"],
  ["***a***", "<i><b>a</></>"],
  ["*a **b*", "*a *<i>b</>"],
  ["a * b * c", "a * b * c"],
  ["snake_case_name and __b__", "snake_case_name and <b>b</>"],
  ["~~a~~ ~b~", "<s>a</> ~b~"],
  ["`a *b* <c>` ``d`e``", "<c>a *b* <c></> <c>d`e</>"],
  ["`open", "`open"],
  ["\\*a\\* &amp; &lt;b&gt; &#65; &#0; &no;", "*a* & <b> A &#0; &no;"],
  ["a  \nb\\\nc\nd", "a<br></>b<br></>c\nd"],
  ["<b>x</b>", "<b>x</b>"],
  ["[a **b**](https://e.org/x_(y) \"t\")", "<a https://e.org/x_(y)>a <b>b</></>"],
  ["[a](<https://e.org/a b>)", "<a https://e.org/a%20b>a</>"],
  ["![i](https://e.org/i.png)", "<a https://e.org/i.png>i</>"],
  ["[a [b](https://e.org) c](https://f.org)", "[a <a https://e.org/>b</> c](<a https://f.org/>https://f.org</>)"],
  ["see https://e.org/a_(b), or (https://e.org/c).", "see <a https://e.org/a_(b)>https://e.org/a_(b)</>, or (<a https://e.org/c>https://e.org/c</>)."],
  ["<https://e.org> <a@e.org>", "<a https://e.org/>https://e.org</> <a mailto:a@e.org>a@e.org</>"],
  ["[a](javascript:alert(1))", "[a](javascript:alert(1))"],
  ["[a](JaVa\tScript:x) [b](data:text/html,x) [c](//e.org) [d](/x)", "[a](JaVa\tScript:x) [b](data:text/html,x) [c](//e.org) [d](/x)"],
  ["[a](https://good.org@evil.org/)", "<a https://good.org@evil.org/>a</>"],
];
for (const [text, wanted] of lines) same(line(text), wanted, `in a line: ${JSON.stringify(text).slice(0, 60)}`);

// What cannot be seen in calls of tools and their results.
for (const [raw, wanted] of [
  ["echo ok\u200b # \u202e hs.live\u202c \u2066x\u2069", "echo ok<U+200B> # <U+202E> hs.live<U+202C> <U+2066>x<U+2069>"],
  ["\u001b[31mred\u0007", "<U+001B>[31mred<U+0007>"],
  ["a\u{e0041}\u00ad\ufeff\u2028", "a<U+E0041><U+00AD><U+FEFF><U+2028>"],
  ["a\r\nb\rc\td", "a\r\nb<U+000D>c\td"],
  ["a\u200db \u2764\ufe0f \u{1f468}\u200d\u{1f4bb} \u0645\u06cc\u200c\u062e", "a<U+200D>b \u2764\ufe0f \u{1f468}\u200d\u{1f4bb} \u0645\u06cc\u200c\u062e"],
]) same(visible(raw), wanted, `visible: ${JSON.stringify(wanted).slice(0, 60)}`);
same(oneLine("a\u202eb  c", 20), "a<U+202E>b c", "in a line");

for (const href of ["javascript:x", " javascript:x", "java\nscript:x", "data:text/html,x", "vbscript:x", "file:///etc/passwd", "blob:https://e.org/x", "https:", "http://", "x", ""])
  same(safeAddress(href), undefined, `no link leads to ${JSON.stringify(href)}`);

function shape(list) {
  return list.map((b) => {
    if (b.type === "list") return `${b.ordered ? "ol" : "ul"}${b.loose ? "~" : ""}[${b.items.map((i) => `${i.task === undefined ? "" : i.task ? "x:" : "o:"}${shape(i.children)}`).join("|")}]`;
    if (b.type === "quote") return `>[${shape(b.children)}]`;
    if (b.type === "table") return `table(${b.align.map((a) => a[0]).join("")})[${[b.head, ...b.rows].map((r) => r.join(",")).join("|")}]`;
    if (b.type === "heading") return `h${b.level}(${b.text})`;
    if (b.type === "code") return `code${b.language ? `.${b.language}` : ""}(${b.text})`;
    return b.type === "rule" ? "hr" : `p(${b.text})`;
  }).join(" ");
}

const texts = [
  ["# A #\n## B\ntext\nmore\n\nnext", "h1(A) h2(B) p(text\nmore) p(next)"],
  ["Set\n===\nSub\n---", "h1(Set) h2(Sub)"],
  ["```js\na\n\n  b\n```\nc", "code.js(a\n\n  b) p(c)"],
  ["````\n```\n````", "code(```)"],
  ["```\nnever closed", "code(never closed)"],
  ["- a\n- b\n  more\n  - c\n- d", "ul[p(a)|p(b\nmore) ul[p(c)]|p(d)]"],
  ["1. a\n  - b\n2) c", "ol[p(a) ul[p(b)]] ol[p(c)]"],
  ["1. a\n\n   ```\n   x\n   ```\n2. b", "ol~[p(a) code(x)|p(b)]"],
  ["- [x] done\n- [ ] open", "ul[x:p(done)|o:p(open)]"],
  ["a\n- b", "p(a) ul[p(b)]"],
  ["in 1986. it was\n1986. no list", "p(in 1986. it was\n1986. no list)"],
  ["> a\nlazy\n> - b\n\nc", ">[p(a\nlazy) ul[p(b)]] p(c)"],
  ["---\n* * *", "hr hr"],
  ["| a | b |\n|:--|--:|\n| 1 | 2 \\| 3 |\n| 4 |\n\nx", "table(lr)[a,b|1,2 | 3|4,] p(x)"],
  ["a | b\nno table", "p(a | b\nno table)"],
  ["    code\n      more", "code(code\n  more)"],
  ["a\r\nb\rc", "p(a\nb\nc)"],
  ["", ""],
];
for (const [text, wanted] of texts) same(shape(blocks(text)), wanted, `blocks: ${JSON.stringify(text).slice(0, 60)}`);

// A text that grows: blocks before the last two stay what they were, so what was drawn stays, too.
{
  const text = texts.map(([t]) => t).filter((t) => !t.includes("never closed")).join("\n\n");
  let moved = 0;
  let last = [];
  for (let end = 0; end <= text.length; end++) {
    const now = blocks(text.slice(0, end)).map((b) => b.source);
    for (let i = 0; i < last.length - 2; i++) if (now[i] !== last[i]) moved++;
    last = now;
  }
  same(moved, 0, "what is above the end of a growing text does not change");
}

const patterns = ["[", "*", "_", "`", "](", "**a ", "[a](", "~~", "<", "&", "https://", "*a_", "![", "`` ` ", "\\", "* a ", "> ", "- ", "1. ", "|", "> - ", "***a** ", "(", "[a](([", "a@"];
const slow = patterns.flatMap((pattern) => [pattern, `${pattern}\n`].map((p) => {
  const text = p.repeat(200000 / p.length);
  const began = performance.now();
  for (const b of blocks(text)) inline(b.text ?? "");
  return [performance.now() - began, p];
})).sort((a, b) => b[0] - a[0]);
note(`slowest of ${slow.length} bad texts of 200 kB: ${Math.round(slow[0][0])} ms (${JSON.stringify(slow[0][1])})`);
ok(slow[0][0] < 3000, "no text takes long", slow[0]);

const stream = "\ufeff: hello\r\nid: 1\r\ndata: a\r\n\r\ndata:b\ndata: ü🙂\n\nevent: gap\rid: 3\rdata: {}\r\rid: 4\n\nretry: 5\ndata\n\ndata: cut";
const wanted = [["message", "a", "1"], ["message", "b\nü🙂", "1"], ["gap", "{}", "3"], ["message", "", "4"]];
const bytes = new TextEncoder().encode(stream);
for (const size of [1, 2, 3, 7, bytes.length]) {
  const told = [];
  const sse = new Sse(({ event, data, id }) => told.push([event, data, id]));
  for (let at = 0; at < bytes.length; at += size) sse.feed(bytes.subarray(at, at + size));
  same(told, wanted, `events in pieces of ${size}`);
}

same([0, 949, 9940, 9960, 59600, 187000, 7384000].map(duration), ["0.0 s", "0.9 s", "9.9 s", "10 s", "1:00 min", "3:07 min", "2:03 h"], "durations");
same([999, 1234, 12345, 1234567].map(count), ["999", "1.2 k", "12 k", "1.2 M"], "counts");
same([money(0), money(0.00123), money(0.0512), money(12.5), money(3, "CNY")], ["$0.00", "$0.0012", "$0.051", "$12.50", "3.00 CNY"], "money");
same([place({ host: "build2" }), place({})], ["on build2", ""], "where a turn of another host runs");
same(oneLine(" a\n\n b\tc ", 4), "a b…", "one line, cut");
same([{ description: "d", command: "c" }, { x: 1, y: "two" }, { n: 1 }, {}, "s", null, { command: "" }].map(mainArgument), ["c", "two", '{"n":1}', "", "s", "", '{"command":""}'], "what a call is about");
finish();
