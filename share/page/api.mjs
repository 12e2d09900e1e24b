// SPDX-License-Identifier: MIT
// Asks the host. Every address is relative to the page, so it may live below any path.

export class ApiError extends Error {
  // told: what else the host said.
  constructor(status, message, told) {
    super(message);
    this.status = status;
    this.told = told;
  }
}

export function address(path) {
  return new URL(path, document.baseURI.replace(/#.*/, ""));
}

// An id in an address; also one that is no text a browser could encode.
export function encoded(id) {
  return encodeURIComponent(String(id).toWellFormed());
}

export function turnPath(id, rest = "") {
  return `turns/${encoded(id)}${rest}`;
}

// How far this machine's clock is behind the host's; times of turns are the host's.
let ahead = 0;

export function now() {
  return Date.now() + ahead;
}

function compareClocks(response) {
  const told = Date.parse(response.headers.get("date") ?? "");
  const apart = told + 500 - Date.now();
  if (Math.abs(apart) > 2500) ahead = apart;
}

// The response, or an ApiError with what the host said; status 0: it did not answer.
export async function ask(path, options = {}) {
  let response;
  try {
    response = await fetch(address(path), {
      cache: "no-store",
      credentials: "same-origin",
      redirect: "error",
      ...options,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, "Cannot reach turncast. Check that turncast serve is running.");
  }
  compareClocks(response);
  if (!response.ok) throw await refusal(response);
  return response;
}

async function refusal(response) {
  try {
    const told = await response.json();
    if (typeof told.error.message === "string") return new ApiError(response.status, told.error.message, told);
  } catch {
    // Not ours: a proxy's page.
  }
  return new ApiError(response.status, `turncast returned HTTP status ${response.status}.`);
}

export async function get(path) {
  return (await ask(path)).json();
}

// The JSON of the answer, if it has any.
export async function post(path, body = {}) {
  const response = await ask(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  const said = await response.text();
  return said ? JSON.parse(said) : undefined;
}
