// SPDX-License-Identifier: MIT
// An agent that says what a test tells it: its message goes to the test, what comes back is its
// output.
//
//     node agent.mjs PORT
import net from "node:net";

const socket = net.connect(Number(process.argv[2]), "127.0.0.1");
let message = "";
process.stdin.setEncoding("utf8");
for await (const part of process.stdin) message += part;
socket.write(`${JSON.stringify(message)}\n`);
socket.pipe(process.stdout);
socket.on("error", () => process.exit(1));
socket.on("close", () => process.exit(0));
