// SPDX-License-Identifier: MIT
// How values read: durations, times, amounts, and the argument of a tool that says most.

import { visible } from "./reveal.mjs";

// What came may be anything; what is shown is text.
export function text(value) {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

export function number(value) {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

export function oneLine(value, length) {
  const line = visible(text(value).slice(0, length * 4).replace(/\s+/g, " ").trim());
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}

// "0.4 s", "12 s", "3:07 min", "2:03 h": never wider than it must be.
export function duration(ms) {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}:${two(whole % 60)} min`;
  return `${Math.floor(whole / 3600)}:${two(Math.floor(whole / 60) % 60)} h`;
}

// The same while it runs, in whole seconds.
export function ticking(ms) {
  const seconds = Math.floor(Math.max(0, ms) / 1000);
  return seconds < 60 ? `${seconds} s` : duration(seconds * 1000);
}

function two(n) {
  return String(n).padStart(2, "0");
}

export function ago(ms, now) {
  const minutes = Math.floor((now - ms) / 60000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ago`;
  return new Date(ms).toLocaleDateString(undefined, { day: "numeric", month: "short" });
}

export function moment(ms) {
  return new Date(ms).toLocaleString();
}

export function count(n) {
  if (n < 1000) return String(n);
  if (n < 1e6) return `${(n / 1000).toFixed(n < 10000 ? 1 : 0)} k`;
  return `${(n / 1e6).toFixed(1)} M`;
}

export function plural(n, one, many = `${one}s`) {
  return `${n} ${n === 1 ? one : many}`;
}

export function money(amount, currency = "USD") {
  const sign = currency === "USD" ? "$" : "";
  const digits = amount === 0 || amount >= 1 ? 2 : amount >= 0.01 ? 3 : 4;
  return `${sign}${amount.toFixed(digits)}${sign ? "" : ` ${currency}`}`;
}

// In this order: what people call the thing by.
const telling = [
  "command", "cmd", "file_path", "filePath", "notebook_path", "pattern", "query", "q", "url", "path",
  "subject", "title", "description", "prompt", "name", "text", "message", "input", "code",
];

export function mainArgument(args) {
  if (typeof args !== "object" || args === null) return oneLine(args, 300);
  const values = new Map(Object.entries(args));
  const key = telling.find((name) => typeof values.get(name) === "string" && values.get(name) !== "");
  if (key) return oneLine(values.get(key), 300);
  const first = [...values.values()].find((value) => typeof value === "string" && value !== "");
  if (first) return oneLine(first, 300);
  return values.size ? oneLine(args, 300) : "";
}
