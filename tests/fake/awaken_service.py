# SPDX-License-Identifier: MIT
"""A strict fake of awaken-server (crates/awaken-server/src/routes.rs): runs whose response is the
event stream, decisions, and cancelling. The words of the message choose the behaviour of a run:
approve and input suspend a tool call; twice suspends two calls one after the other, both at the
same time; quit ends the stream before the run; hang waits until the run is cancelled; fail ends in
an error, relay in an error of the relay; lost cuts the stream; leave ends the stream while the run
is suspended; slow is cancelled without a response until `gate` is set; deaf continues although it
is cancelled."""
import json
import re
import threading

from agent_service import AgentService


class Run:
    def __init__(self, service, thread, text):
        service.runs += 1
        self.id = f"run_{service.runs}"
        self.service, self.thread, self.text = service, thread, text
        self.stream = service.subscribe()
        self.cancelled = threading.Event()
        self.waiting = {}  # tool call: [event, payload of its decision]

    def send_event(self, event_type, **fields):
        self.stream.send("data: " + json.dumps({"event_type": event_type, **fields}, separators=(",", ":")) + "\n\n")

    def start(self):
        self.send_event("run_start", thread_id=self.thread, run_id=self.id)

    def finish(self, type_, value=None, response=None):
        result = {"result": {"response": response}} if response else {}
        termination = {"type": type_, **({"value": value} if value else {})}
        self.send_event("run_finish", thread_id=self.thread, run_id=self.id, **result, termination=termination)

    def suspend(self, call, action, mode):
        """Waits for the decision. Returns it, or None."""
        self.ask(call, action, mode)
        self.finish("suspended")
        return None if "leave" in self.text else self.resume(call)

    def both(self):
        """Suspends two calls at the same time."""
        for call in ("call_1", "call_2"):
            self.ask(call, "tool_approval", "replay_tool_call")
        self.finish("suspended")
        return [self.resume("call_1") or "", self.resume("call_2", starts=False) or ""]

    def ask(self, call, action, mode):
        ticket = {"id": f"sus_{call}", "action": action, "message": f"Allow {call}?", "parameters": {"path": "/srv"},
                  "response_schema": {"type": "object"}}
        pending = {"id": call, "name": "delete_file", "arguments": {"path": "/srv"}}
        self.send_event("step_start", message_id=f"msg_{call}")
        self.send_event("tool_call_start", id=call, name="delete_file")
        self.send_event("tool_call_ready", id=call, name="delete_file", arguments={"path": "/srv"})
        self.waiting[call] = [threading.Event(), None]
        result = {"tool_name": "delete_file", "status": "pending", "data": None, "message": "approval needed",
                  "suspension": {"suspension": ticket, "pending": pending, "resume_mode": mode}}
        self.send_event("tool_call_done", id=call, message_id=f"res_{call}", result=result, outcome="suspended")
        self.send_event("step_end")

    def resume(self, call, starts=True):
        entry = self.waiting[call]
        while not entry[0].wait(0.02):
            if self.cancelled.is_set():
                return None
        if starts:
            self.start()
        action, payload = entry[1]
        self.send_event("tool_call_resumed", target_id=call, result=payload)
        failed = action == "cancel"
        self.send_event("tool_call_done", id=call, message_id=f"again_{call}", outcome="failed" if failed else "succeeded",
                  result={"tool_name": "delete_file", "status": "error" if failed else "success", "data": payload,
                          "message": None})
        return f"{action} {json.dumps(payload, sort_keys=True)}"

    def work(self):
        self.start()
        said = [f"Message {self.service.threads[self.thread]} of the thread."]
        words = self.text.split()
        for call in [*(["call_1", "call_2"] if "twice" in words else ["call_1"] if "approve" in words else [])]:
            said.append(self.suspend(call, "tool_approval", "replay_tool_call") or "")
        if "both" in words:
            said += self.both()
        if "input" in words:
            said.append(self.suspend("call_1", "form", "use_decision_as_tool_result") or "")
        if "leave" in words or "quit" in words:
            self.stream.end()
            return
        if "hang" in words or "lost" in words:
            self.send_event("text_delta", delta="Working")
            if "lost" in words:
                self.stream.cut()
            self.cancelled.wait(600 if "deaf" in words else 60)
        if "relay" in words:
            self.stream.send('data: {"code":"RELAY_ERROR","message":"buffer full","type":"error"}\n\n')
        elif self.cancelled.is_set():
            self.finish("cancelled")
        elif "fail" in words:
            self.finish("error", "provider: 402")
        else:
            answer = " ".join(said)
            self.send_event("step_start", message_id="msg_last")
            self.send_event("text_delta", delta=answer)
            self.send_event("inference_complete", model="gpt-5.2", usage={"prompt_tokens": 9, "completion_tokens": 4},
                      duration_ms=7)
            self.send_event("step_end")
            self.finish("natural_end", response=answer)
        self.stream.end()


class Awaken(AgentService):
    def __init__(self, token=None):
        super().__init__(token)
        self.runs = 0
        self.threads = {}
        self.active = {}
        self.gate = threading.Event()

    def serve(self, handler, method, path, body):
        run = re.fullmatch(r"/v1/runs/([\w-]+)/(cancel|decision)", path)
        if method == "GET" and path == "/v1/threads?limit=1":
            handler.reply(200, {"items": [], "offset": 0, "limit": 1})
        elif method == "POST" and path == "/v1/runs":
            self.begin(handler, body)
        elif method == "POST" and run and run[1] in self.active:
            getattr(self, run[2])(handler, self.active[run[1]], body)
        elif run:
            self.wrong(handler, 404, f"run not found: {run[1]}")
        else:
            self.wrong(handler, 404, "unknown path")

    def begin(self, handler, body):
        agent, thread, messages = body.get("agentId"), body.get("threadId"), body.get("messages")
        if agent == "nobody":
            handler.reply(404, {"error": "agent not found: nobody"})
            return
        if set(body) != {"agentId", "threadId", "messages"} or len(messages) != 1 or set(messages[0]) != {"role", "content"}:
            self.violate(f"/v1/runs: {body}")
        self.threads[thread] = self.threads.get(thread, 0) + 1
        run = Run(self, thread, messages[0]["content"])
        self.active[run.id] = run
        threading.Thread(target=run.work, daemon=True).start()
        handler.stream(run.stream)

    def cancel(self, handler, run, _):
        if "deaf" not in run.text.split():
            run.cancelled.set()
        if "slow" in run.text.split():
            self.gate.wait(60)
        handler.reply(202, {"status": "cancel_requested", "run_id": run.id})

    def decision(self, handler, run, body):
        waits = run.waiting.get(body.get("toolCallId"))
        if set(body) != {"toolCallId", "action", "payload"} or body["action"] not in ("resume", "cancel"):
            self.violate(f"decision: {body}")
        if not waits or waits[0].is_set():
            self.wrong(handler, 404, "decision target not found")
            return
        waits[1] = (body["action"], body["payload"])
        waits[0].set()
        handler.reply(202, {"status": "decision_submitted", "run_id": run.id, "tool_call_id": body["toolCallId"]})
