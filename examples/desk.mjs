#!/usr/bin/env node
// SPDX-License-Identifier: MIT
// A desk that takes questions over HTTP: POST /hooks/desk/ask asks the agent, and tells the id of the
// turn; GET /hooks/desk/answers has all answers. Both need the token.
//
// Instance: desk = { plugin = "exec"; command = ["./desk.mjs"]; env = ["TOKEN=env:DESK_TOKEN"];
//                    grants = ["submit"]; allow = ["desk"]; };
import { appendFileSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const say = (message) => console.log(JSON.stringify(message));

function answers() {
    try {
        return readFileSync("answers", "utf8");
    } catch {
        return ""; // none yet
    }
}

const may = (headers) => headers.authorization === `Bearer ${process.env.TOKEN}`;

const handlers = {
    event({ n, turn, event: { payload } }) {
        const answer = payload.text ?? payload.message;
        appendFileSync("answers", JSON.stringify({ turn, answer }) + "\n");
        say({ tc: "ack", n });
    },
    hit({ id, path, headers, body }) {
        if (!may(headers))
            say({ tc: "answer_hit", id, status: 401, body: "no token\n" });
        else if (path === "/answers")
            say({ tc: "answer_hit", id, content_type: "application/x-ndjson", body: answers() });
        else say({ tc: "submit", id, chat: "desk", user: "desk", text: body });
    },
    reply({ id, turn, answer, error }) {
        const status = turn ? 202 : 409;
        say({ tc: "answer_hit", id, status, body: `${turn ?? answer ?? error}\n` });
    },
    ping: ({ n }) => say({ tc: "pong", n }),
    stop: () => process.exit(),
};

say({ tc: "hello", protocol: 1, name: "desk", wants: ["final", "error"], delivers: true,
    may: ["submit"], routes: ["/ask", "/answers"] });
for await (const line of createInterface({ input: process.stdin })) {
    const message = JSON.parse(line);
    handlers[message.tc]?.(message);
}
