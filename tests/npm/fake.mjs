// SPDX-License-Identifier: MIT
// What the tests of the fakes share: TAP, the packages, and a fake that runs.
import path from "node:path";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { createRequire } from "node:module";

const [modules, fakes] = process.argv.slice(2);
export const load = createRequire(path.resolve(modules, "any.js"));

let results = 0;
let failures = 0;
export function ok(good, name, detail) {
  failures += good ? 0 : 1;
  console.log(`${good ? "ok" : "not ok"} ${++results} - ${name}`);
  if (!good && detail !== undefined) console.log(`# ${JSON.stringify(detail)}`);
}

export function equal(found, wanted, name) {
  ok(JSON.stringify(found) === JSON.stringify(wanted), name, { found, wanted });
}

// Resolves with what the promise was rejected with.
export async function failure(promise) {
  try {
    return { none: await promise };
  } catch (error) {
    return error;
  }
}

export function done() {
  console.log(`1..${results}`);
  process.exit(failures > 0 ? 1 : 0);
}

export class Fake {
  static async start(name, scale = 1) {
    const fake = new Fake();
    const command = ["-B", path.join(fakes, `${name}.py`), "--scale", String(scale)];
    fake.child = spawn("python3", command, { stdio: ["pipe", "pipe", "inherit"] });
    for await (const line of createInterface({ input: fake.child.stdout })) {
      const [word, number] = line.split(" ");
      fake[word.toLowerCase()] = Number(number);
      if (word === "CONTROL") break;
    }
    fake.url = `http://127.0.0.1:${fake.port}`;
    return fake;
  }

  async get(page) {
    const answer = await fetch(`http://127.0.0.1:${this.port}${page}`);
    const body = await answer.json();
    if (!answer.ok) throw new Error(`${page}: ${JSON.stringify(body).slice(0, 500)}`);
    return body;
  }

  async do(name, body = {}) {
    const url = `http://127.0.0.1:${this.port}/_control/${name}`;
    const answer = await fetch(url, { method: "POST", body: JSON.stringify(body) });
    const told = await answer.json();
    if (!told.ok) throw new Error(`${name}: ${told.error}`);
    return told;
  }

  async wait(conditions) {
    return (await this.get(`/_wait?${new URLSearchParams(conditions)}`)).matches;
  }

  async rules() {
    return (await this.get("/_violations")).map((violation) => violation.rule);
  }

  end() {
    this.child.stdin.end();
  }
}
