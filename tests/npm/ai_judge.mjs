// SPDX-License-Identifier: MIT
// What the package `ai` makes of a UI message stream: its schema for every chunk, its reader of frames,
// and the message that it builds, which must not have an error.
import { load } from "./fake.mjs";

const { parseJsonEventStream, readUIMessageStream, uiMessageChunkSchema } = load("ai");

// Events as JSON texts. Resolves with the chunks, the message, and the problems that there are.
export async function judge(events) {
  const problems = [], chunks = [];
  const bytes = new Blob(events.map((e) => `data: ${e}\n\n`)).stream();
  for await (const part of parseJsonEventStream({ stream: bytes, schema: uiMessageChunkSchema })) {
    if (part.success) chunks.push(part.value);
    else problems.push(String(part.error));
  }
  let message;
  const said = chunks.filter((c) => c.type === "error").map((c) => c.errorText);
  const onError = (error) => said.includes(error.message) || problems.push(String(error));
  for await (const m of readUIMessageStream({ stream: ReadableStream.from(chunks), onError })) message = m;
  const open = { text: 0, reasoning: 0, step: 0 };
  for (const { type } of chunks) {
    const [, part, at] = /^(text|reasoning)-(start|end)$/.exec(type) ?? [];
    if (part) open[part] += at === "start" ? 1 : -1;
    if (type.endsWith("-step")) open.step += type === "start-step" ? 1 : -1;
  }
  if (Object.values(open).some((n) => n !== 0)) problems.push(`open at the end: ${JSON.stringify(open)}`);
  if (chunks[0]?.type !== "start" && chunks[0]?.type !== "error") problems.push(`begins with ${chunks[0]?.type}`);
  if (!["finish", "abort"].includes(chunks.at(-1)?.type)) problems.push(`ends with ${chunks.at(-1)?.type}`);
  return { chunks, message, problems };
}

export const textOf = (message) => message?.parts.filter((p) => p.type === "text").map((p) => p.text).join("");
