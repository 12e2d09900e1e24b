// SPDX-License-Identifier: MIT
// Prints TAP for the tests of the page.

let results = 0;
let failures = 0;

export function ok(good, name, detail) {
  failures += good ? 0 : 1;
  console.log(`${good ? "ok" : "not ok"} ${++results} - ${name}`);
  if (!good && detail !== undefined) console.log(`# ${JSON.stringify(detail)?.slice(0, 2000)}`);
  return good;
}

export function same(is, wanted, name) {
  return ok(JSON.stringify(is) === JSON.stringify(wanted), name, { is, wanted });
}

export function note(text) {
  console.log(`# ${text}`);
}

// A test that throws has failed, and the next one begins.
export async function test(name, run) {
  try {
    await run();
  } catch (error) {
    ok(false, name, String(error.stack));
  }
}

export function finish() {
  console.log(`1..${results}`);
  process.exitCode = failures ? 1 : 0;
}
