# SPDX-License-Identifier: MIT
"""A strict fake of `reasonix serve` (internal/serve/serve.go): one session, one stream for all
clients, and JSON commands. The words of the input choose the behaviour of the turn: run=COMMAND
asks for an approval; ask asks two questions; hang waits until the turn is cancelled; fail ends in
an error; refuse ends like a refusal of the fork ok; lost resets the connections of the readers
within the turn."""
import json
import threading

from agent_service import AgentService


class Reasonix(AgentService):
    def __init__(self, token=None, has_status=True):
        super().__init__(token)
        self.has_status = has_status
        self.sessions = 0
        self.turns = 0
        self.running = False
        self.open = {}  # id: [event, decision]
        self.cancelled = threading.Event()

    def serve(self, handler, method, path, body):
        route = {"/events": self.events, "/status": self.status, "/submit": self.submit, "/cancel": self.cancel,
                 "/approve": self.approve, "/answer": self.answer, "/new": self.new}.get(path)
        if not route or (method == "GET") != (path in ("/events", "/status")):
            self.plain(handler, 404, "404 page not found")
        elif method == "POST" and body is None:
            self.violate(f"{path} without the type application/json")
            self.plain(handler, 415, "Content-Type must be application/json")
        else:
            route(handler, body)

    def plain(self, handler, status, text):
        handler.reply(status, (text + "\n").encode(), "text/plain; charset=utf-8")

    def events(self, handler, _):
        stream = self.subscribe()
        stream.send(": connected\n\n")
        for id_, (waits, _, event) in list(self.open.items()):
            if not waits.is_set():
                stream.send(event)
        handler.stream(stream)

    def status(self, handler, _):
        if self.has_status:
            handler.reply(200, {"label": "deepseek", "running": self.running, "plan": False})
        else:
            self.plain(handler, 404, "404 page not found")

    def new(self, handler, body):
        self.expect(body, {}, "/new")
        self.sessions += 1
        self.turns = 0
        handler.reply(204)

    def submit(self, handler, body):
        self.expect(body, {"input": str}, "/submit")
        if body["input"].strip().startswith("!"):
            self.plain(handler, 403, "shell commands are unavailable over HTTP")
            return
        if self.running:
            self.violate("a turn was submitted during another one")
        self.running = True
        self.cancelled.clear()
        self.turns += 1
        threading.Thread(target=self.turn, args=(body["input"],), daemon=True).start()
        handler.reply(202)

    def cancel(self, handler, _):
        self.cancelled.set()
        handler.reply(204)

    def expect(self, body, types, path):
        if set(body) - {"session"} != set(types) or any(not isinstance(body[k], t) for k, t in types.items()):
            self.violate(f"{path}: {body}")

    def approve(self, handler, body):
        self.expect(body, {"id": str, "allow": bool}, "/approve")
        self.decide(handler, body["id"], body)

    def answer(self, handler, body):
        self.expect(body, {"id": str, "answers": list}, "/answer")
        for entry in body["answers"]:
            self.expect(entry, {"questionId": str, "selected": list}, "/answer")
        self.decide(handler, body["id"], body["answers"])

    def decide(self, handler, id_, decision):
        if id_ not in self.open or self.open[id_][0].is_set():
            self.violate(f"{id_} is not open")
        else:
            self.open[id_][1] = decision
            self.open[id_][0].set()
        handler.reply(204)

    # ---- turns ----

    def send_event(self, kind, **more):
        # JSON as Go writes it: compact, with < > & escaped.
        text = json.dumps({"kind": kind, **more}, separators=(",", ":"), ensure_ascii=False)
        for c in "<>&":
            text = text.replace(c, f"\\u{ord(c):04x}")
        self.send(f"data: {text}\n\n")
        return f"data: {text}\n\n"

    def wait_for(self, id_, kind, **more):
        self.open[id_] = entry = [threading.Event(), None, ""]
        entry[2] = self.send_event(kind, **more)
        while not entry[0].wait(0.02):
            if self.cancelled.is_set():
                return None
        return entry[1]

    def turn(self, text):
        self.send_event("turn_started")
        answer = f"Turn {self.turns} of session {self.sessions}."
        err = {}
        if "run=" in text:
            answer += self.ask_for(text.split("run=")[1])
        if "ask" in text.split():
            answer += self.ask_questions()
        if "hang" in text:
            self.send_event("text", text="Working")
            self.cancelled.wait(60)
        if "lost" in text:
            self.send_event("text", text="Working")
            self.drop()
            self.cancelled.wait(60)
        if "refuse" in text:
            self.send_event("turn_done", err="covenant violation: p2")
        if "fail" in text:
            err = {"err": "deepseek: 402"}
        elif not self.cancelled.is_set() and "refuse" not in text:
            self.send_event("text", text=answer)
            self.send_event("message", text=answer)
            self.send_event("usage", usage={"promptTokens": 100, "completionTokens": 20, "totalTokens": 120,
                                      "cacheHitTokens": 0, "cacheMissTokens": 100, "sessionCacheHitTokens": 0,
                                      "sessionCacheMissTokens": 100})
        self.running = False
        self.send_event("turn_done", **err)

    def ask_for(self, command):
        id_ = f"ap-{len(self.open) + 1}"
        tool = {"id": f"call-{id_}", "name": "bash", "args": json.dumps({"command": command}), "readOnly": False}
        self.send_event("message", text="")
        self.send_event("tool_dispatch", tool=tool)
        decision = self.wait_for(id_, "approval_request", approval={"id": id_, "tool": "bash", "subject": command})
        allowed = bool(decision and decision["allow"])
        result = {"output": "done <&>\n"} if allowed else {"err": "denied by user"}
        self.send_event("tool_result", tool={"id": tool["id"], "name": "bash", **result, "readOnly": False})
        remembered = " for the session" if allowed and decision.get("session") else ""
        return f" {'Ran' if allowed else 'Did not run'} {command}{remembered}."

    def ask_questions(self):
        id_ = f"ask-{len(self.open) + 1}"
        options = [{"label": "Blue", "description": "calm"}, {"label": "Red"}]
        questions = [{"id": "q1", "header": "Colour", "prompt": "Which colour?", "options": options},
                     {"id": "q2", "prompt": "Which sides?", "options": [{"label": "Left"}, {"label": "Right"}],
                      "multi": True}]
        decision = self.wait_for(id_, "ask_request", ask={"id": id_, "questions": questions})
        return " Answers: " + json.dumps(decision, sort_keys=True) + "."
