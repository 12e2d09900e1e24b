// SPDX-License-Identifier: MIT
// What must stay text wherever it stands, and an event of every kind with every field full of it.

export const attacks = [
  "<img src=x onerror=\"tellWrong('img')\">",
  "<script>tellWrong('script')</script></script><svg onload=tellWrong('svg')>",
  "\u2028\u2029</title></textarea></style><iframe srcdoc=\"<script>parent.tellWrong(1)</script>\">",
  "[run](javascript:tellWrong('link')) ![x](javascript:tellWrong('image')) <javascript:tellWrong(1)>",
  "[data](data:text/html,<script>parent.tellWrong(1)</script>) [tab](java\tscript:tellWrong(1)) [v](vbscript:x)",
  "[a](https://evil.example/\" onmouseover=\"tellWrong(1)) [b](  JaVaScRiPt:tellWrong(1)) [c](&#106;avascript:tellWrong(1))",
  "![pixel](https://tracker.example/p.png) <https://evil.example/?\"onload=tellWrong(1)>",
  "```\"><img src=x onerror=tellWrong(1)>\n<b>\n```\n|a|<img src=x onerror=tellWrong(1)>|\n|-|-|\n|<script>|[x](javascript:y)|",
  "'\"`--><style>*{display:none}</style><a href=javascript:tellWrong(1) id=main name=said class=app>x</a>",
  "{{constructor.constructor('tellWrong(1)')()}} ${tellWrong(1)} \u0000 \ud800 \u202eevil\u202c __proto__",
];

// Fields by kind, as the vocabulary has them: s is text, the rest what it says.
const fields = {
  start: "run_id thread_id parent_run_id provider model source task trace_id input:any",
  narration: "text message_id",
  thinking: "text message_id entity_id entity",
  message: "role message_id text reasoning name",
  progress: "tool_use_id name phase message args_delta output node_id parent_node_id",
  tool_call: "name args:object tool_use_id args_raw message_id",
  tool_result: "tool_use_id content name outcome structured:any message_id patch:any diff",
  request: "request_id kind state tool_use_id tool subject args:any reason message questions:questions schema:object decision answers:any by",
  step: "state kind name message_id step_id outcome error:any result:any",
  usage: "scope model provider source session:object stop_reason currency",
  notice: "level text code detail message_id",
  state: "scope op value:any key activity_type",
  raw: "dialect event:any name",
  final: "text message_id",
  error: "message code",
  done: "reason code detail result:any trace_id",
};
const common = "id agent audience x:object";

function value(type, attack) {
  if (type === "object") return { [attack]: attack, __proto: attack, list: [attack, { [attack]: attack }] };
  if (type === "any") return { [attack]: [attack, 1, null, true] };
  if (type === "questions") return [{ id: attack, header: attack, prompt: attack, options: [{ label: attack, description: attack }] }];
  return attack;
}

function payload(kind, attack, keep) {
  const names = `${fields[kind]} ${common}`.split(" ").map((field) => field.split(":"));
  return { ...Object.fromEntries(names.map(([name, type]) => [name, value(type, attack)])), ...keep };
}

// What a host lets through: the fields that decide where an event goes are as they must be.
const sound = {
  step: { state: "mark" },
  request: { kind: "ask", state: "open", blocking: true, choices: [{ id: "answer", label: "Answer" }, { id: "deny", label: "Decline" }] },
  tool_result: { is_error: true, outcome: "failed" },
  usage: { scope: "call", input_tokens: 1 },
  notice: { level: "warn" },
  thinking: { entity: "message" },
  progress: { phase: "running" },
  state: { scope: "state", op: "snapshot" },
  message: { role: "user" },
};

// { type, payload } of every kind for every attack; one outcome at the end.
export function corpus({ strict }) {
  const out = [];
  attacks.forEach((attack, i) => {
    for (const kind of Object.keys(fields).filter((k) => !["final", "error", "done"].includes(k))) {
      const calls = ["progress", "tool_call", "tool_result"].includes(kind) ? { tool_use_id: strict ? `t${i}` : attack } : {};
      const known = strict ? sound[kind] : kind === "request" ? { state: "open" } : {};
      const keep = { ...known, ...calls, audience: "user" };
      if (strict && kind === "start" && i > 0) continue;
      out.push({ type: kind, payload: payload(kind, attack, keep) });
    }
  });
  return out;
}

export function outcomes(attack) {
  return {
    final: payload("final", attack, { audience: "user" }),
    error: payload("error", attack, { audience: "user" }),
    done: payload("done", attack, { reason: "completed", audience: "user" }),
  };
}
