# SPDX-License-Identifier: MIT
"""A gateway of tirea 0.5 for runs through NATS, written from its sources: crates/tirea-agentos-server/src/
protocol/ag_ui/nats.rs (requests, replies), crates/tirea-protocol-ag-ui/src/{context,request}.rs (events, decisions)
and the permission and ask tools of its examples. With `interrupts` it asks by the interrupts of AG-UI 1.0 instead,
like hosts of turncast.

The words of a prompt choose its behaviour: `run=COMMAND` asks for approval of a call, `ask` asks a question; both
together ask at the same time. The answer contains the decisions.
"""
import json
import threading

DENIED = {"false", "no", "denied", "deny", "reject", "rejected", "cancel", "cancelled", "abort", "aborted"}


class Tirea:
    def __init__(self, server, subject="agentos.ag-ui.runs", interrupts=False, **login):
        self.wire = server.client(**login)
        self.subject, self.interrupts = subject, interrupts
        self.wire.subscribe(subject)
        self.requests, self.violations = [], []
        self.waiting = {}  # thread: open requests
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def close(self):
        self.ended.set()
        self.thread.join(60)
        self.wire.close()

    def serve(self):
        while not self.ended.is_set():
            m = self.wire.next(0.2, self.subject)
            if m:
                self.handle_request(json.loads(m.data), m.reply)

    def handle_request(self, message, reply):
        self.requests.append(message)
        run = message.get("request")
        if not isinstance(message.get("agentId"), str) or not isinstance(run, dict):
            if message:  # turncast doctor sends {}
                self.violations.append(f"no request: {message}")
            return
        for key, kind in (("threadId", str), ("runId", str), ("messages", list), ("tools", list)):
            if not isinstance(run.get(key), kind) or run[key] == "":
                self.violations.append(f"{key}: {run.get(key)}")
        self.send_events(reply, {"type": "RUN_STARTED", "threadId": run["threadId"], "runId": run["runId"]})
        asked = self.waiting.pop(run["threadId"], None)
        if asked:
            self.answer(run, reply, self.decisions(run, asked))
        else:
            self.begin(run, reply)

    def send_events(self, reply, *events):
        for event in events:
            self.wire.publish(reply, json.dumps(event, separators=(",", ":")))

    def send_text(self, run, reply, text):
        message = "msg_" + run["runId"][:8]
        self.send_events(reply, {"type": "TEXT_MESSAGE_START", "messageId": message, "role": "assistant"},
                  {"type": "TEXT_MESSAGE_CONTENT", "messageId": message, "delta": text},
                  {"type": "TEXT_MESSAGE_END", "messageId": message})

    def finish(self, run, reply, **more):
        self.send_events(reply, {"type": "RUN_FINISHED", "threadId": run["threadId"], "runId": run["runId"], **more})

    # ---- requests ----

    def begin(self, run, reply):
        if [m["role"] for m in run["messages"]] != ["user"] or run.get("resume"):
            self.violations.append(f"no message of a person: {run}")
        text = run["messages"][0]["content"]
        command = text.split("run=")[1].split()[0] if "run=" in text else None
        asked = ([("permission", command)] if command else []) + ([("question", None)] if "ask" in text.split() else [])
        self.send_text(run, reply, "I look.")
        if not asked:
            self.finish(run, reply)
            return
        self.waiting[run["threadId"]] = ids = {f"fc_{i}_{run['runId'][:8]}": what for i, what in enumerate(asked)}
        if self.interrupts:
            self.finish(run, reply, outcome={"type": "interrupt", "interrupts": [
                self.interrupt(i, *what) for i, what in ids.items()]})
            return
        for i, what in ids.items():
            self.call(reply, i, *what)
        self.finish(run, reply)

    @staticmethod
    def interrupt(id_, kind, command):
        if kind == "question":
            return {"id": id_, "reason": "input_required", "message": "Which colour?", "responseSchema": {
                "type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}}
        return {"id": id_, "reason": "tool_approval", "message": f"Bash: {command}",
                "metadata": {"kind": "approval", "tool": "Bash", "args": {"command": command}},
                "responseSchema": {"type": "object", "properties": {
                    "approved": {"type": "boolean"}, "editedArgs": {"type": "object"}}}}

    def call(self, reply, id_, kind, command):
        """The waiting tool call of the model, and the call that the front end is to answer."""
        if kind == "permission":
            name, args = "PermissionConfirm", {"tool_name": "Bash", "tool_args": {"command": command}}
            waits = {"tool_name": "Bash", "status": "pending", "data": None, "message": "Waiting"}
            self.send_events(reply, {"type": "TOOL_CALL_START", "toolCallId": "call_" + id_, "toolCallName": "Bash"},
                      {"type": "TOOL_CALL_ARGS", "toolCallId": "call_" + id_, "delta": json.dumps({"command": command})},
                      {"type": "TOOL_CALL_END", "toolCallId": "call_" + id_},
                      {"type": "TOOL_CALL_RESULT", "messageId": "result_call_" + id_, "toolCallId": "call_" + id_,
                       "content": json.dumps(waits)})
        else:
            name, args = "askUserQuestion", {"message": "Which colour?"}
        text = json.dumps(args)
        self.send_events(reply, {"type": "TOOL_CALL_START", "toolCallId": id_, "toolCallName": name},
                  {"type": "TOOL_CALL_ARGS", "toolCallId": id_, "delta": text[:9]},
                  {"type": "TOOL_CALL_ARGS", "toolCallId": id_, "delta": text[9:]},
                  {"type": "TOOL_CALL_END", "toolCallId": id_})

    # ---- decisions ----

    def decisions(self, run, asked):
        """Returns (request, whether it was resumed, text) of each."""
        given = self.resumed(run) if self.interrupts else self.tool_results(run)
        if set(given) != set(asked):
            self.violations.append(f"asked {sorted(asked)}, answered {sorted(given)}")
        return [(i, *asked[i], *given[i]) for i in asked if i in given]

    def resumed(self, run):
        if run["messages"]:
            self.violations.append(f"messages with what resumes a run: {run['messages']}")
        found = {}
        for entry in run.get("resume", []):
            payload = entry.get("payload")
            allowed = entry["status"] == "resolved" and not (isinstance(payload, dict) and payload.get("approved") is False)
            found[entry["interruptId"]] = (allowed, payload)
        return found

    def tool_results(self, run):
        if any(m["role"] != "tool" for m in run["messages"]):
            self.violations.append(f"roles: {run['messages']}")
        found = {}
        for m in run["messages"]:
            try:
                result = json.loads(m["content"])
            except ValueError:
                result = m["content"]
            denied = (result is False or (isinstance(result, str) and result.strip().lower() in DENIED)
                      or (isinstance(result, dict) and result.get("approved") is False))
            found[m["toolCallId"]] = (not denied, result)
        return found

    def answer(self, run, reply, decisions):
        said = []
        for id_, kind, command, allowed, payload in decisions:
            if kind == "permission" and allowed:
                command = (payload.get("editedArgs") or {}).get("command", command)
                said.append(f"Ran {command}.")
            elif kind == "permission":
                said.append(f"Did not run {command}: {payload.get('reason', 'no reason')}.")
            else:
                word = payload and (payload.get("message") or payload.get("answer"))
                said.append(f"The colour is {word}." if allowed else "No colour.")
            if kind == "permission" and not self.interrupts:
                self.send_events(reply, {"type": "TOOL_CALL_RESULT", "messageId": "r2_" + id_, "toolCallId": "call_" + id_,
                                  "content": json.dumps({"tool_name": "Bash", "status": "success" if allowed else "error",
                                                         "data": "ok"})})
        self.send_text(run, reply, " ".join(said))
        self.finish(run, reply)
