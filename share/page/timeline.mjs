// SPDX-License-Identifier: MIT
// The events of one turn as a list of items, in lanes: one for the agent, one for each sub-agent.
// Events are taken in as they come and drawn once a frame.
import { make } from "./dom.mjs";
import { number, oneLine, text } from "./format.mjs";
import { Frame } from "./frame.mjs";
import { Narration } from "./narration.mjs";
import { Divider, Notice } from "./notice.mjs";
import { Ending, Failure } from "./outcome.mjs";
import { Request } from "./request.mjs";
import { Thought } from "./thought.mjs";
import { Tool } from "./tool.mjs";

const deepest = 5;

class Lane {
  last; // The item that more text of its kind goes to.

  constructor(depth) {
    this.depth = depth;
    this.element = make("ol.lane");
  }
}

export class Timeline {
  seq = 0;
  over = false;
  #root = new Lane(0);
  #lanes = new Map(); // By the call that started the sub-agent.
  #tools = new Map();
  #requests = new Map();
  #narrations = [];
  #dirty = new Set();
  #activity = "";
  #frame;

  // on.start(payload), on.usage(payload), on.say(words), on.activity(words), on.drawn(), on.done();
  // on.mayAnswer(), on.decide(request, body)
  constructor(on) {
    this.on = on;
    this.element = this.#root.element;
    this.#frame = new Frame((event) => this.#take(event), () => this.#draw());
  }

  push(event) {
    this.#frame.push(event);
  }

  // Events that the host no longer has.
  gap(from, to) {
    const which = from === to ? `Event ${from} is` : `Events ${from} to ${to} are`;
    this.push({ type: "gap", payload: { text: `${which} no longer available.` } });
  }

  stop() {
    this.#frame.stop();
  }

  #take(event) {
    if (typeof event !== "object" || event === null) return;
    const seq = number(event.seq);
    if (seq !== undefined && seq <= this.seq) return;
    if (seq !== undefined) this.seq = seq;
    const handler = handlers.get(event.type);
    const payload = typeof event.payload === "object" && event.payload !== null ? event.payload : {};
    if (handler) this.#handle(handler, payload, (number(event.ts) ?? 0) * 1000);
  }

  #handle(handler, payload, at) {
    const lane = this.#laneOf(payload);
    handler.call(this, lane, payload, at);
  }

  #draw() {
    for (const item of this.#dirty) item.flush();
    this.#dirty.clear();
    this.on.activity(this.over ? "" : this.#activity);
    this.on.drawn();
  }

  #laneOf(payload) {
    const parent = text(payload.parent_id);
    if (!parent) return this.#root;
    return this.#lanes.get(parent) ?? this.#nest(parent) ?? this.#root;
  }

  #nest(parent) {
    const tool = this.#tools.get(parent);
    if (!tool) return undefined;
    if (tool.lane.depth >= deepest) return tool.lane;
    const lane = new Lane(tool.lane.depth + 1);
    tool.item.nest(lane.element);
    this.#lanes.set(parent, lane);
    return lane;
  }

  // What was last in the lane has come to its end: it is read out.
  #add(lane, item) {
    this.#close(lane);
    lane.last = item;
    lane.element.append(item.element);
    this.#dirty.add(item);
    return item;
  }

  #close(lane) {
    if (lane.last) {
      lane.last.element.classList.remove("live");
      if (lane === this.#root) this.on.say(lane.last.spoken);
    }
    lane.last = undefined;
  }

  #grow(lane, Kind, payload) {
    const id = text(payload.message_id);
    const fits = lane.last instanceof Kind && lane.last.id === id;
    const item = fits ? lane.last : this.#add(lane, new Kind());
    item.id = id;
    if (!fits && Kind === Narration) this.#narrations.push(item);
    item.element.classList.add("live");
    item.append(text(payload.text));
    this.#dirty.add(item);
  }

  narration(lane, payload) {
    this.#activity = "Writing";
    this.#grow(lane, Narration, payload);
  }

  thinking(lane, payload) {
    this.#activity = "Thinking";
    if (text(payload.text)) this.#grow(lane, Thought, payload);
  }

  // What was narrated is the message already; what somebody else said is not.
  message(lane, payload) {
    const role = text(payload.role);
    if (role === "assistant" || !text(payload.text)) return;
    this.#add(lane, new Notice("info", payload.text, { code: role }));
  }

  // Its text was mostly narrated: then that becomes the answer where it stands.
  final(lane, payload) {
    // A turn that was stopped before it said anything has no answer to show.
    if (!text(payload.text).trim()) {
      lane.last = undefined;
      return;
    }
    const answer = this.#narrated(text(payload.text).trim()) ?? this.#unsaid(payload);
    lane.last = undefined;
    answer.element.classList.remove("live");
    answer.becomeAnswer(payload.synthesized === true);
    this.#dirty.add(answer);
    this.on.say(`Answer: ${answer.text}`);
  }

  // The narration with this text, if nothing but notices stands below it.
  #narrated(wanted) {
    const last = this.#narrations.findLast((item) => item.element.parentNode === this.element);
    if (!last || last.text.trim() !== wanted) return undefined;
    for (let below = last.element.nextSibling; below; below = below.nextSibling)
      if (!below.classList.contains("notice")) return undefined;
    return last;
  }

  #unsaid(payload) {
    const item = this.#add(this.#root, new Narration());
    item.append(text(payload.text));
    return item;
  }

  #tool(lane, payload, at) {
    const id = text(payload.tool_use_id);
    let tool = this.#tools.get(id);
    if (!tool) {
      tool = { item: this.#add(lane, new Tool(at)), lane };
      this.#tools.set(id, tool);
    }
    this.#dirty.add(tool.item);
    return tool.item;
  }

  tool_call(lane, payload, at) {
    const tool = this.#tool(lane, payload, at);
    tool.called(payload);
    this.#activity = `Running ${tool.title}`;
  }

  progress(lane, payload, at) {
    if (!text(payload.tool_use_id)) {
      this.#activity = oneLine(payload.message, 120) || oneLine(payload.name, 60) || this.#activity;
      return;
    }
    const tool = this.#tool(lane, payload, at);
    tool.progressed(payload);
    if (tool.state === "preparing") this.#activity = `Preparing ${tool.title}`;
  }

  tool_result(lane, payload, at) {
    const tool = this.#tool(lane, payload, at);
    tool.returned(payload, at);
    this.#activity = "Working";
  }

  request(lane, payload) {
    const id = text(payload.request_id);
    let request = this.#requests.get(id);
    if (!request) {
      request = this.#add(lane, new Request(this.on));
      this.#requests.set(id, request);
    }
    request.told(payload);
    this.#dirty.add(request);
    this.#activity = this.#waits() ? "Waiting for an answer" : "Working";
    this.on.say(request.news);
  }

  #waits() {
    for (const request of this.#requests.values()) if (request.waits) return true;
    return false;
  }

  start(lane, payload) {
    this.#activity = "Starting";
    this.on.start(payload);
    if (payload.resumed === true) this.#add(lane, new Divider("resumed"));
  }

  // A sub-agent's run is told by its lane; a step without a name says nothing.
  step(lane, payload) {
    const tool = this.#tools.get(text(payload.parent_id));
    if (payload.kind === "agent") tool?.item.stepped(payload);
    else if (payload.name && payload.state !== "end") this.#add(lane, new Divider(payload.name));
    if (payload.state === "end" && payload.error !== undefined && payload.kind !== "agent")
      this.#add(lane, new Notice("warn", payload.error));
  }

  error(lane, payload) {
    this.#add(this.#root, new Failure(payload));
  }

  done(lane, payload) {
    this.#add(this.#root, new Ending(payload));
    this.#close(this.#root);
    for (const { item } of this.#tools.values()) this.#abandon(item);
    for (const request of this.#requests.values()) this.#abandon(request);
    for (const live of this.element.querySelectorAll(".live")) live.classList.remove("live");
    this.over = true;
    this.on.done(payload);
  }

  #abandon(item) {
    item.abandon();
    this.#dirty.add(item);
  }

  usage(lane, payload) {
    this.on.usage(payload);
  }

  notice(lane, payload) {
    if (payload.code === "retracted") this.#retract(text(payload.message_id));
    this.#add(lane, new Notice(payload.level, payload.text, payload));
  }

  #retract(id) {
    for (const item of this.#narrations) if (id && item.isOf(id)) item.retract();
  }

  gapped(lane, payload) {
    this.#add(this.#root, new Notice("warn", payload.text));
  }
}

// The only kinds that do anything; state and raw are for programs.
const handlers = new Map([
  ...["narration", "thinking", "message", "final", "tool_call", "progress", "tool_result", "request", "start",
    "step", "error", "done", "usage", "notice"].map((kind) => [kind, Timeline.prototype[kind]]),
  ["gap", Timeline.prototype.gapped],
]);
