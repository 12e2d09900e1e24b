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

const patience_ms = 180000;

// A test that throws, or does not end, has failed, and the next one begins.
export async function test(name, run) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error("it does not end")), patience_ms);
  });
  try {
    await Promise.race([run(), late]);
  } catch (error) {
    ok(false, name, String(error.stack));
  }
  clearTimeout(timer);
}

export function finish() {
  console.log(`1..${results}`);
  process.exitCode = failures ? 1 : 0;
}
