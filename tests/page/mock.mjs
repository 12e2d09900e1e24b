// SPDX-License-Identifier: MIT
// A host as the page sees it, whose turns do what the test says, at once: the same addresses and
// answers as `turncast serve`, and the same headers around the page.
import fs from "node:fs";
import http from "node:http";
import path from "node:path";

export const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
const types = { ".html": "text/html; charset=utf-8", ".css": "text/css", ".mjs": "text/javascript", ".svg": "image/svg+xml" };

export class Turn {
  events = []; // Lines, as they were told.
  first = 1; // The first that is still held.
  readers = new Set();

  constructor(mock, told) {
    this.mock = mock;
    this.told = { source: "http", state: "running", created_ms: Date.now(), started_ms: Date.now(), last_seq: 0, tools: 0, ...told };
  }

  // An event of a kind, as the host would have it.
  say(type, payload = {}, ts = Date.now() / 1000) {
    const seq = ++this.told.last_seq;
    this.line(JSON.stringify({ type, payload, ts, correlation_id: this.told.id, session_id: "s", seq, src: "claude" }));
    if (type === "final" || type === "error") this.change({ state: type });
    if (type === "done") this.change({ ended_ms: Date.now() });
    if (type === "done") for (const reader of this.readers) reader.end();
  }

  line(line) {
    this.events.push(line);
    for (const reader of this.readers) reader.write(frame(this.events.length, line));
  }

  change(told) {
    Object.assign(this.told, told);
    this.mock.tell(this.told);
  }

  read(response, after) {
    if (after + 1 < this.first) response.write(`event: gap\ndata: ${JSON.stringify({ from: after + 1, to: this.first - 1 })}\n\n`);
    for (let seq = Math.max(after + 1, this.first); seq <= this.events.length; seq++)
      response.write(frame(seq, this.events[seq - 1]));
    if (this.told.ended_ms) return response.end();
    this.readers.add(response);
    response.on("close", () => this.readers.delete(response));
  }
}

function frame(seq, line) {
  return `id: ${seq}\ndata: ${line}\n\n`;
}

export class Mock {
  turns = [];
  resumed = []; // What clients said they had seen last.
  lists = new Set();
  key; // What is asked for, if anything.
  grants = ["submit", "cancel", "watch", "answer"];
  agents = ["coder"];
  on = () => {}; // What becomes of a message: on(turn, message).
  // What becomes of a stop.
  cancel = (turn) => {
    turn.say("final", { text: "", synthesized: true });
    turn.change({ state: "cancelled" });
    turn.say("done", { reason: "cancelled" });
  };
  // What becomes of a decision: by default it counts.
  decide = (turn, id, body, answer) => {
    const decision = body.choice === "answer" ? "answered" : body.choice.split("_")[0];
    answer(200, { decision, by: "local" });
    turn.say("request", { request_id: id, state: "resolved", decision, answers: body.answers, by: "local", blocking: false });
  };

  constructor(pages) {
    this.pages = pages;
    this.server = http.createServer((request, response) => this.#serve(request, response));
  }

  async listen() {
    await new Promise((resolve) => this.server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${this.server.address().port}/`;
  }

  close() {
    this.server.close();
    this.server.closeAllConnections();
  }

  // What a browser has of before it keeps; the next one finds a new host.
  forget() {
    this.turns = [];
  }

  turn(told = {}) {
    const turn = new Turn(this, { id: `turn-${this.turns.length + 1}`, agent: "coder", conversation: "main", task: "Do it.", ...told });
    this.turns.unshift(turn);
    this.tell(turn.told);
    return turn;
  }

  tell(told) {
    for (const list of this.lists) list.write(`data: ${JSON.stringify(told)}\n\n`);
  }

  async #serve(request, response) {
    const url = new URL(request.url, "http://host/");
    if (request.method === "GET" && (url.pathname === "/" || url.pathname.startsWith("/page/"))) return this.#page(url, response);
    let body = "";
    for await (const part of request) body += part;
    if (url.pathname === "/login") return this.#login(JSON.parse(body), response);
    if (url.pathname === "/logout") return answer(response, 204, undefined, { "Set-Cookie": "turncast=; Path=/; Max-Age=0" });
    if (this.key && request.headers.cookie !== `turncast=${this.key}`)
      return answer(response, 401, { error: { message: "No valid key.", type: "authentication_error", code: "unauthorized" } });
    this.#api(request, url, body, response);
  }

  #page(url, response) {
    const name = url.pathname === "/" ? "index.html" : path.basename(url.pathname);
    const file = path.join(this.pages, name);
    if (!fs.existsSync(file)) return answer(response, 404, {});
    response.writeHead(200, {
      "Content-Type": types[path.extname(name)],
      "Content-Security-Policy": policy,
      "X-Content-Type-Options": "nosniff",
      "Referrer-Policy": "no-referrer",
      "Cache-Control": "no-cache",
    });
    response.end(fs.readFileSync(file));
  }

  #login(body, response) {
    if (body.key !== this.key) return answer(response, 401, { error: { message: "No valid key." } });
    answer(response, 204, undefined, { "Set-Cookie": `turncast=${this.key}; HttpOnly; SameSite=Strict; Path=/` });
  }

  #api(request, url, body, response) {
    const [, , id, rest, more] = url.pathname.split("/").map(decodeURIComponent);
    const events = { "Content-Type": "text/event-stream", "Cache-Control": "no-store" };
    if (request.method === "GET" && url.pathname === "/turns")
      return answer(response, 200, { turns: this.turns.map((t) => t.told), me: { name: "local", grants: this.grants }, agents: this.agents });
    if (request.method === "POST" && url.pathname === "/turns") return this.#submit(JSON.parse(body), response);
    if (url.pathname === "/turns/events") {
      response.writeHead(200, events);
      for (const turn of this.turns) response.write(`data: ${JSON.stringify(turn.told)}\n\n`);
      this.lists.add(response);
      response.on("close", () => this.lists.delete(response));
      return undefined;
    }
    const turn = this.turns.find((t) => t.told.id === id);
    if (!turn) return answer(response, 404, { error: { message: "No such turn.", type: "not_found_error", code: "no_turn" } });
    if (rest === "events") {
      const last = request.headers["last-event-id"];
      if (last) this.resumed.push(Number(last));
      response.writeHead(200, events);
      response.write(": keep-alive\n\n");
      return turn.read(response, Number(last ?? 0));
    }
    if (rest === "requests") return this.decide(turn, more, JSON.parse(body), (status, said) => answer(response, status, said));
    if (rest === "cancel") this.cancel(turn);
    return answer(response, rest === "cancel" ? 202 : 200, turn.told);
  }

  #submit(message, response) {
    const agent = message.agent ?? "coder";
    const turn = this.turn({ task: message.prompt, conversation: `http:local:${agent}:${message.conversation ?? this.turns.length}`, agent });
    answer(response, 202, turn.told, { Location: `/turns/${turn.told.id}` });
    this.on(turn, message);
  }
}

function answer(response, status, body, headers = {}) {
  response.writeHead(status, { "Content-Type": "application/json", ...headers });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}
