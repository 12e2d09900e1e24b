// SPDX-License-Identifier: MIT
// How a turn stands: its sign, its word, and how long it has taken or when it was.
import { icon, make, setText, spinner } from "./dom.mjs";
import { ago, duration, number, oneLine, text, ticking } from "./format.mjs";

const states = {
  waiting: { word: "Waiting", sign: "wait" },
  running: { word: "Running" },
  final: { word: "Answered", sign: "check" },
  error: { word: "Failed", sign: "cross" },
  merged: { word: "Merged", sign: "dash" },
  cancelled: { word: "Stopped", sign: "stop" },
};

function known(turn) {
  return Object.hasOwn(states, String(turn.state)) ? turn.state : undefined;
}

export function isOver(turn) {
  return turn.state !== "waiting" && turn.state !== "running";
}

// What comes of work in the background is a turn that the agent begins, without a message.
export function title(turn, most) {
  return oneLine(turn.task, most) || "(started by the agent)";
}

// How many people are waited for.
export function asks(turn) {
  return !isOver(turn) && Array.isArray(turn.requests) ? turn.requests.length : 0;
}

// The turn is over, and its agent works on.
export function worksOn(turn) {
  return isOver(turn) && turn.background === true;
}

// Changes with what is to be seen of it.
export function look(turn) {
  return `${text(turn.state)} ${asks(turn) > 0} ${worksOn(turn)}`;
}

export function word(turn) {
  if (asks(turn)) return "Waiting for an answer";
  const state = known(turn) ? states[turn.state].word : oneLine(turn.state, 20) || "Unknown";
  return worksOn(turn) ? `${state}, working in the background` : state;
}

export function sign(turn) {
  if (asks(turn)) return make("span.sign.asking", {}, icon("hand"));
  const state = known(turn);
  const drawn = state === "running" ? spinner() : icon(states[state]?.sign ?? "info");
  return make(`span.sign.${state ?? "unknown"}`, {}, drawn);
}

// Of a turn that runs: how long by now; of one that is over: how long it took.
export function taken(turn, time) {
  const began = number(turn.started_ms) ?? number(turn.created_ms);
  if (began === undefined) return "";
  if (!isOver(turn)) return ticking(time - began);
  const ended = number(turn.ended_ms);
  return ended === undefined ? "" : duration(ended - began);
}

export function when(turn, time) {
  if (!isOver(turn)) return taken(turn, time);
  const at = number(turn.ended_ms) ?? number(turn.created_ms);
  return at === undefined ? "" : ago(at, time);
}

// The name of its conversation without where it is: "http:KEY:AGENT:NAME", "slack:CHANNEL". A turn that
// has one of its own has no name for it.
export function conversation(turn) {
  const whole = text(turn.conversation);
  const place = turn.source === "http" ? /^http:[^:]*:[^:]*:/ : /^[^:]*:/;
  const name = whole.startsWith(`${turn.source}:`) ? whole.replace(place, "") : whole;
  return name === turn.id ? "" : name;
}

// Where a turn runs that is another host's.
export function place(turn) {
  return turn.host ? `on ${turn.host}` : "";
}

// "agent · source · host · conversation", as far as they are there.
export function facts(turn) {
  const asked = asks(turn) ? [make("span.badge", {}, asks(turn) > 1 ? `asks ${asks(turn)}` : "asks")] : [];
  return [...asked, ...told(turn)];
}

function told(turn) {
  return [turn.agent, turn.source, place(turn), conversation(turn)]
    .map((fact) => oneLine(fact, 60)).filter(Boolean)
    .map((fact) => make("span.fact", { dir: "auto" }, fact));
}

export function setTaken(element, turn, time) {
  setText(element, taken(turn, time));
}
