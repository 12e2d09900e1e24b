// SPDX-License-Identifier: MIT
// A host that listens, for clients that others publish: `turncast serve` with a folder of its own,
// its agents and the group `http` as its test says.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { spawn } from "node:child_process";

const build = process.env.TURNCAST_BUILDDIR;
export const KEY = "0123456789abcdef-client";
export const fakeAgent = path.join(build, "tests/fake/agent");
export const talker = path.join(build, "tests/fake/talker");
export const asker = path.join(build, "tests/fake/asker");

const group = (values) =>
  Object.entries(values).map(([name, value]) => `${name} = ${JSON.stringify(value)};`).join(" ");

export class Host {
  // agents: {NAME: {command: [...], ...}}, the first one the default.
  // instances: more of them, as in the configuration.
  static async start(agents, http = {}, more = "", instances = "") {
    const host = new Host();
    host.folder = fs.mkdtempSync(path.join(os.tmpdir(), "turncast-npm."));
    const list = Object.entries(agents).map(([name, a]) =>
      `${name} : { ${group({ attempts: 1, exit_grace_s: 1, term_grace_s: 1, ...a })} };`);
    const config = path.join(host.folder, "turncast.conf");
    fs.writeFileSync(config, `agents : { ${list.join("\n")} };
default_agent = "${Object.keys(agents)[0]}";
state_directory = "${host.folder}/state";
plugins : { instances : { log : { plugin = "jsonl"; path = "${host.folder}/events"; }; ${instances} }; };
http : { listen = "127.0.0.1:0"; ${group(http)}
  keys : { client : { secret = "${KEY}"; grants = ["submit", "cancel", "watch", "answer"]; }; }; };
log : { level = "info"; };
${more}`, { mode: 0o600 });
    host.child = spawn(path.join(build, "turncast"), ["serve", "-c", config], {
      stdio: ["ignore", "ignore", "pipe"],
      env: { ...process.env, HOME: host.folder, XDG_STATE_HOME: host.folder },
    });
    process.once("exit", () => host.child.kill("SIGTERM"));
    host.log = "";
    host.ended = new Promise((resolve) => host.child.once("exit", resolve));
    await new Promise((resolve, reject) => {
      host.child.stderr.on("data", (text) => {
        host.log += text;
        if (host.log.includes(" serving")) resolve();
      });
      host.ended.then(() => reject(new Error(`the host ended: ${host.log}`)));
    });
    host.url = `http://127.0.0.1:${/listening on port (\d+)/.exec(host.log)[1]}`;
    return host;
  }

  async get(page) {
    const answer = await fetch(this.url + page, { headers: { Authorization: `Bearer ${KEY}` } });
    return answer.json();
  }

  // The turns, once the newest is in that state.
  async turns(state) {
    for (const until = Date.now() + 20000; Date.now() < until; ) {
      const { turns } = await this.get("/turns");
      if (turns[0]?.state === state) return turns;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error(`no turn is ${state}: ${JSON.stringify(await this.get("/turns"))}`);
  }

  // Its exit status.
  async stop() {
    this.child.kill("SIGTERM");
    const status = await this.ended;
    fs.rmSync(this.folder, { recursive: true, force: true });
    return status;
  }
}
