// SPDX-License-Identifier: MIT
// One use of a tool: a chip that says what, how it stands and how long; unfolded, what it was given
// and what it gave. What a sub-agent does that it started is in its own lane below.
import { icon, make, setText, spinner } from "./dom.mjs";
import { count, duration, mainArgument, number, oneLine, text, ticking } from "./format.mjs";
import { unwatch, watch } from "./ticker.mjs";
import { asText, changed, diff, members, section } from "./value.mjs";

const outcomes = {
  succeeded: { word: "succeeded", icon: "check" },
  failed: { word: "failed", icon: "cross" },
  denied: { word: "denied", icon: "stop" },
  cancelled: { word: "cancelled", icon: "stop" },
  unknown: { word: "no result", icon: "dash" },
};
const most_output = 200000;

export class Tool {
  state = "preparing";
  #call = {};
  #result;
  #progress = {};
  #output = "";
  #chars = 0;
  #began;
  #ended;
  #built = "";

  constructor(began) {
    this.#began = began;
    this.mark = make("span.mark", {}, spinner());
    this.name = make("span.tool-name", {}, "tool");
    this.argument = make("code.argument", { dir: "auto" });
    this.changed = make("span.changes");
    this.elapsed = make("span.elapsed");
    this.word = make("span.unseen", {}, "running");
    this.bar = make("progress", { hidden: true, "aria-label": "Progress" });
    this.told = make("span.told", { dir: "auto" });
    this.running = make("div.now", { hidden: true }, this.told, this.bar);
    this.body = make("div.tool-body");
    this.details = make("details", { toggle: () => this.flush() },
      make("summary", {}, this.mark, this.name, this.argument, this.changed, this.elapsed, this.word),
      this.body);
    this.element = make("li.item.tool.running", {}, make("div.chip", {}, this.details, this.running));
    this.#tick();
  }

  #tick() {
    watch(this.elapsed, (time) => setText(this.elapsed, this.#ended === undefined ? this.#time(time) : ""));
  }

  #time(time) {
    const ms = time - this.#began;
    return ms >= 1000 && ms < 1e9 ? ticking(ms) : "";
  }

  called(payload) {
    this.#call = payload;
    if (this.state === "preparing") this.state = "running";
  }

  progressed(payload) {
    this.#progress = { ...this.#progress, ...payload };
    this.#output = (this.#output + text(payload.output)).slice(-most_output);
    this.#chars = number(payload.arg_chars) ?? this.#chars + text(payload.args_delta).length;
  }

  returned(payload, ended) {
    this.#result = payload;
    const told = Object.hasOwn(outcomes, text(payload.outcome)) ? payload.outcome : undefined;
    this.state = told ?? (payload.is_error === true ? "failed" : "succeeded");
    this.#end(number(payload.duration_ms) ?? ended - this.#began);
  }

  // The turn is over, and this was never told to be.
  abandon() {
    if (this.#ended !== undefined) return;
    this.state = "unknown";
    this.#end(0);
  }

  #end(ms) {
    this.#ended = ms;
    unwatch(this.elapsed);
    setText(this.elapsed, ms >= 100 && ms < 1e9 ? duration(ms) : "");
  }

  get title() {
    return oneLine(this.#call.name ?? this.#result?.name ?? this.#progress.name ?? "tool", 80) || "tool";
  }

  get spoken() {
    return this.state === "failed" || this.state === "denied" ? `${this.title} ${outcomes[this.state].word}` : "";
  }

  flush() {
    setText(this.name, this.title);
    setText(this.argument, this.#argument());
    this.#flushState();
    this.#flushRunning();
    if (this.details.open) this.#flushBody();
  }

  #argument() {
    if (this.#call.args !== undefined) return mainArgument(this.#call.args);
    return this.#chars ? `receiving arguments: ${count(this.#chars)} character${this.#chars === 1 ? "" : "s"}` : "";
  }

  #flushState() {
    const name = `item tool ${this.#ended === undefined ? "running" : this.state}`;
    if (this.element.className === name) return;
    this.element.className = name;
    const outcome = outcomes[this.state];
    this.mark.replaceChildren(outcome ? icon(outcome.icon) : spinner());
    setText(this.word, outcome?.word ?? "running");
    this.changed.replaceChildren(...[changed(this.#result ?? {})].filter(Boolean));
  }

  #flushRunning() {
    const live = this.#ended === undefined;
    const { message, percent, loaded, total } = this.#progress;
    const line = oneLine(message, 300) || oneLine(this.#output.slice(-1000).trimEnd().split("\n").at(-1), 300);
    const share = number(percent) ?? (number(total) ? ((number(loaded) ?? 0) / total) * 100 : undefined);
    this.running.hidden = !live || (!line && share === undefined);
    setText(this.told, line);
    this.bar.hidden = share === undefined;
    if (share !== undefined) {
      this.bar.max = 100;
      this.bar.value = Math.max(0, Math.min(100, share));
    }
  }

  // Made when it is looked at, and again when there is more to look at.
  #flushBody() {
    const version = `${this.#call.args !== undefined}${Boolean(this.#result)}${this.#result ? 0 : this.#output.length}`;
    if (version === this.#built) return;
    this.#built = version;
    this.body.replaceChildren(...this.#arguments(), ...this.#given());
  }

  #arguments() {
    const { args } = this.#call;
    if (args === undefined) return [];
    if (typeof args !== "object" || args === null) return [section("Arguments", text(args))];
    if (typeof args._raw === "string") return [section("Arguments (invalid JSON)", args._raw)];
    const copied = JSON.stringify(args, undefined, 2);
    return Object.keys(args).length ? [section("Arguments", copied, members(args))] : [];
  }

  #given() {
    const result = this.#result;
    if (!result) return this.#output ? [section("Output so far", this.#output)] : [];
    const parts = [];
    if (typeof result.diff === "string" && result.diff) parts.push(section("Change", result.diff, diff(result.diff)));
    const content = text(result.content);
    const title = this.state === "failed" ? "Error" : "Result";
    if (content) parts.push(section(result.truncated === true ? `${title} (shortened)` : title, content));
    else if (this.#output) parts.push(section("Output", this.#output));
    if (!content && result.structured !== undefined) parts.push(section("Data", asText(result.structured)));
    if (!parts.length) parts.push(make("p.nothing", {}, `${title}: nothing`));
    return parts;
  }

  // Where what its sub-agent does goes.
  nest(lane) {
    this.agentName = make("span.agent-name", { dir: "auto" }, "Sub-agent");
    this.agentWord = make("span.agent-outcome");
    this.element.append(make("details.nest", { open: true },
      make("summary", {}, this.agentName, this.agentWord), lane));
  }

  stepped(payload) {
    if (!this.agentName) return;
    if (payload.name) setText(this.agentName, oneLine(payload.name, 80));
    if (payload.state === "end") setText(this.agentWord, oneLine(payload.outcome, 60) || "ended");
  }
}
