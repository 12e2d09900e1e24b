#!/usr/bin/env node
// SPDX-License-Identifier: MIT
// The connector @NAME@: posts answers to a service, and takes messages from the service's webhook.
// The host starts it and exchanges lines of JSON with it; turncast-exec(7) describes them all.
import readline from "node:readline";

const { URL: url, TOKEN: token, SECRET: secret } = process.env;
const RETRY_MS = 5000;

const say = (message) => process.stdout.write(JSON.stringify(message) + "\n");
const log = (level, text) => process.stderr.write(`${level}! ${text}\n`); // E, W, I or D

// To the service; rejects if it does not take it.
async function post(message) {
    log("I", `to ${message.chat}: ${message.text.replace(/\s+/g, " ")}`);
    if (!url) return;
    const headers = { "Content-Type": "application/json" };
    if (token) headers.Authorization = `Bearer ${token}`;
    const response = await fetch(url, {
        method: "POST",
        headers,
        body: JSON.stringify(message),
        signal: AbortSignal.timeout(30000),
    });
    if (!response.ok) throw new Error(`status ${response.status}`);
}

// The host keeps an event, across restarts, until it is acknowledged.
async function onEvent(m) {
    const { type, payload } = m.event;
    const text = type === "error" ? payload.message : payload.text;
    try {
        await post({ id: m.turn, chat: m.route?.chat ?? "main", text });
        say({ tc: "ack", only: m.n });
    } catch (error) {
        log("W", `the service does not answer: ${error.message}`);
        say({ tc: "nack", n: m.n, retry_ms: RETRY_MS });
    }
}

const waiting = new Map(); // requests of the service, by id of the message that they brought

// The service posts {"id", "chat", "user", "text"} to /hooks/@NAME@/message.
function onHit(m) {
    if (m.headers["x-secret"] !== secret) {
        say({ tc: "answer_hit", id: m.id, status: 403 });
        return;
    }
    const { id, chat, user, text } = parse(m.body) ?? {};
    if (!id || !chat || !user || !text) {
        say({ tc: "answer_hit", id: m.id, status: 400 });
        return;
    }
    waiting.set(id, m.id);
    say({ tc: "submit", id, key: id, chat, user, text, route: { chat } });
}

function parse(text) {
    try {
        return JSON.parse(text);
    } catch {
        return null;
    }
}

// What is not on disk is delivered again by the service.
function onReply(m) {
    const status = m.status === "not_kept" ? 503 : 200;
    say({ tc: "answer_hit", id: waiting.get(m.id), status, body: m.answer ?? "" });
    waiting.delete(m.id);
}

const handlers = {
    event: onEvent,
    hit: onHit,
    reply: onReply,
    ping: (m) => say({ tc: "pong", n: m.n }),
    stop: () => process.exit(0),
};

say({
    tc: "hello",
    protocol: 1,
    name: "@NAME@",
    wants: ["final", "error"],
    delivers: true,
    may: ["submit"],
    routes: secret ? ["/message"] : [],
});
for await (const line of readline.createInterface({ input: process.stdin })) {
    const m = JSON.parse(line);
    handlers[m.tc]?.(m);
}
