// SPDX-License-Identifier: MIT
// `turncast serve` with an agent whose words are the test's, and one that asks by itself; with the face of mock.mjs as far as
// the stories need it.
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const here = path.dirname(new URL(import.meta.url).pathname);

class Turn {
  constructor(socket, told) {
    this.socket = socket;
    this.told = told;
  }

  say(type, payload = {}) {
    const event = { type, payload, ts: Date.now() / 1000, correlation_id: "c", session_id: "s", seq: 1, src: "turncast" };
    this.socket.write(`${JSON.stringify(event)}\n`);
    if (type === "done") this.socket.end();
  }
}

export class Host {
  #waiting = []; // For an agent: what to do with it.
  #agents = [];

  constructor(build, pages) {
    this.build = build;
    this.pages = pages;
    this.scratch = fs.mkdtempSync(path.join(os.tmpdir(), "turncast-page."));
    this.relay = net.createServer((socket) => this.#agent(socket));
  }

  // http: keys of that group of the configuration. The address of the page.
  async start(http) {
    await new Promise((resolve) => this.relay.listen(0, "127.0.0.1", resolve));
    const file = path.join(this.scratch, "turncast.conf");
    const agent = JSON.stringify([process.execPath, path.join(here, "agent.mjs"), String(this.relay.address().port)]);
    fs.writeFileSync(file, `agents : { puppet : { command = ${agent}; dialect = "turncast"; exit_grace_s = 1; term_grace_s = 1; };
  asker : { command = [${JSON.stringify(path.join(this.build, "tests/fake/asker"))}]; exit_grace_s = 1; term_grace_s = 1; attempts = 1; }; };
default_agent = "puppet";
plugins : { instances : { }; };
http : { listen = "127.0.0.1:0"; visibility = "all"; ${http} };
log : { level = "info"; };
`);
    const env = { ...process.env, HOME: this.scratch, XDG_STATE_HOME: path.join(this.scratch, "state"), TURNCAST_PAGE_DIR: this.pages };
    this.process = spawn(path.join(this.build, "turncast"), ["serve", "-c", file], { env, stdio: ["ignore", "ignore", "pipe"] });
    this.ended = new Promise((resolve) => this.process.on("exit", resolve));
    return new Promise((resolve, reject) => {
      this.log = "";
      this.process.on("exit", () => reject(new Error(this.log)));
      createInterface({ input: this.process.stderr }).on("line", (line) => {
        this.log += `${line}\n`;
        const port = /listening on port (\d+)/.exec(line);
        if (port) resolve(`http://127.0.0.1:${port[1]}/`);
      });
    });
  }

  async stop() {
    this.process.kill("SIGTERM");
    this.hush();
    await this.ended;
    this.relay.close();
    fs.rmSync(this.scratch, { recursive: true });
  }

  // Whatever an agent still had to say, it ends.
  hush() {
    for (const agent of this.#agents.splice(0)) agent.destroy();
    this.#waiting = [];
  }

  #agent(socket) {
    this.#agents.push(socket);
    socket.on("error", () => socket.destroy());
    createInterface({ input: socket }).once("line", (line) => this.#waiting.shift()?.(new Turn(socket, { task: JSON.parse(line) })));
  }

  // The next agent that is started.
  next() {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
