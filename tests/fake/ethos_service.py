# SPDX-License-Identifier: MIT
"""A strict fake of the web API of Ethos (apps/web-api): procedures of oRPC below /rpc/, and the
event stream of a session with its buffer. The words of a message choose the behaviour of a turn:
run=COMMAND asks for an approval; ask asks a question; hang waits until the turn is aborted; fail
ends in an error; locked ends in an error and a done; cut resets the connections of the readers
within the turn; part ends their streams there; slow is answered when `gate` is set."""
import json
import threading

from agent_service import AgentService

INPUTS = {  # path: members, and those that may be absent
    "/rpc/chat/send": ({"clientId", "text"}, {"sessionId", "personalityId"}),
    "/rpc/chat/abort": ({"sessionId"}, set()),
    "/rpc/sessions/get": ({"id"}, set()),
    "/rpc/sessions/list": (set(), {"limit"}),
    "/rpc/tools/approve": ({"approvalId", "clientId", "scope"}, set()),
    "/rpc/tools/deny": ({"approvalId", "clientId"}, {"reason"}),
    "/rpc/clarify/respond": ({"requestId", "answer", "source"}, set()),
}


class Session:
    """Events of a session are numbered, and stored for later readers."""

    def __init__(self, id_):
        self.id, self.turns, self.events, self.readers = id_, 0, [], []
        self.lock = threading.RLock()
        self.aborted = threading.Event()
        self.read = threading.Event()  # set when a client reads

    def send_event(self, type_, **fields):
        with self.lock:
            self.events.append({"type": type_, **fields})
            for reader in self.readers:
                reader.send(self.frame(len(self.events)))

    def frame(self, seq):
        text = json.dumps(self.events[seq - 1], separators=(",", ":"), ensure_ascii=False)
        return f"data: {text}\nid: {seq}\n\n"

    def subscribe(self, stream, since):
        with self.lock:
            stream.send('data: {"type":"stream_meta","requestId":"rq_1"}\n\n')
            for seq in range(since + 1, len(self.events) + 1):
                stream.send(self.frame(seq))
            self.readers.append(stream)
            self.read.set()

    def drop(self, properly):
        with self.lock:
            for reader in self.readers:
                if properly:
                    reader.end()
                else:
                    reader.cut()
            self.readers.clear()
            self.read.clear()


class Ethos(AgentService):
    def __init__(self, token=None):
        super().__init__(token)
        self.sessions = {}
        self.gate = threading.Event()
        self.open = {}  # id of an approval or question: [event, decision]

    def serve(self, handler, method, path, body):
        if method == "GET" and path.startswith("/sse/sessions/"):
            session = self.sessions.setdefault(path.rsplit("/", 1)[1], Session(path.rsplit("/", 1)[1]))
            stream = self.subscribe()
            session.subscribe(stream, int(handler.headers.get("Last-Event-ID") or 0))
            handler.stream(stream)
        elif method == "POST" and path in INPUTS:
            data = body.get("json") if isinstance(body, dict) else None
            needed, optional = INPUTS[path]
            if not isinstance(data, dict) or not needed <= set(data) <= needed | optional:
                self.wrong(handler, 400, f"invalid input: {body}")
                return
            getattr(self, path[5:].replace("/", "_"))(handler, data)
        else:
            self.wrong(handler, 404, "Not Found")

    def output(self, handler, **members):
        handler.reply(200, {"json": members})

    def refuse(self, handler, status, code, message):
        handler.reply(status, {"json": {"defined": False, "code": code, "status": status, "message": message}})

    def sessions_list(self, handler, _):
        self.output(handler, sessions=[], nextCursor=None)

    def sessions_get(self, handler, data):
        session = self.sessions.get(data["id"])
        if session and session.turns:
            self.output(handler, session={"id": session.id})
        else:
            self.refuse(handler, 404, "SESSION_NOT_FOUND", "no such session")

    def chat_send(self, handler, data):
        if data.get("personalityId") == "nobody":
            self.refuse(handler, 404, "PERSONALITY_NOT_FOUND", "no personality nobody")
            return
        id_ = data.get("sessionId") or f"sess_{len(self.sessions) + 1}"
        session = self.sessions.setdefault(id_, Session(id_))
        session.turns += 1
        session.aborted.clear()
        threading.Thread(target=self.turn, args=(session, data["text"]), daemon=True).start()
        if "slow" in data["text"].split():
            self.gate.wait(60)
        self.output(handler, sessionId=id_, turnId=f"turn_{session.turns}")

    def chat_abort(self, handler, data):
        self.sessions[data["sessionId"]].aborted.set()
        self.output(handler, ok=True)

    def decide(self, handler, id_, decision):
        if id_ not in self.open or self.open[id_][0].is_set():
            self.violate(f"{id_} is not open")
        else:
            self.open[id_][1] = decision
            self.open[id_][0].set()
        self.output(handler, ok=True)

    def tools_approve(self, handler, data):
        if data["scope"] not in ("once", "exact-args", "any-args", "lease-1h"):
            self.violate(f"scope {data['scope']}")
        self.decide(handler, data["approvalId"], f"allowed {data['scope']}")

    def tools_deny(self, handler, data):
        self.decide(handler, data["approvalId"], f"denied {data.get('reason')}")

    def clarify_respond(self, handler, data):
        self.decide(handler, data["requestId"], f"{data['source']}: {data['answer']}")

    # ---- turns ----

    def wait_for(self, session, id_):
        while not self.open[id_][0].wait(0.02):
            if session.aborted.is_set():
                return "aborted"
        return self.open[id_][1]

    def turn(self, session, text):
        words = text.split()
        if "locked" in words:
            session.send_event("error", error="the personality is locked", code="personality_locked")
            session.send_event("done", text="", turnCount=0)
            return
        session.send_event("run_start", provider="anthropic", model="claude-sonnet-4-6", source="personality")
        said = f"Turn {session.turns} of {session.id}."
        if "run=" in text:
            said += self.approval(session, text.split("run=")[1])
        if "ask" in words:
            id_ = f"cl_{len(self.open) + 1}"
            self.open[id_] = [threading.Event(), None]
            session.send_event("clarify.request", requestId=id_, question="Which volume?", options=["/srv", "/home"],
                         default="/srv", defaultDeadlineAt=None)
            said += " " + self.wait_for(session, id_)
            session.send_event("clarify.resolved", requestId=id_, source="user")
        if "cut" in words or "part" in words:
            for n in range(3):
                session.send_event("text_delta", text=f"Part {n}. ")
            session.read.wait(60)
            session.drop(properly="part" in words)
            for n in range(3, 6):
                session.send_event("text_delta", text=f"Part {n}. ")
            said = "".join(f"Part {n}. " for n in range(6))
        elif "hang" in words:
            session.send_event("text_delta", text="Working")
            session.aborted.wait(60)
            return  # an abort sends no event
        elif "fail" not in words:
            session.send_event("text_delta", text=said)
        session.send_event("usage", inputTokens=10, outputTokens=2, estimatedCostUsd=0.001)
        if "fail" in words:
            session.send_event("error", error="provider: 402", code="llm_error")
        else:
            session.send_event("done", text=said, turnCount=1)

    def approval(self, session, command):
        id_ = f"ap_{len(self.open) + 1}"
        self.open[id_] = [threading.Event(), None]
        session.send_event("tool.approval_required", request={
            "approvalId": id_, "sessionId": session.id, "toolCallId": f"tc_{id_}", "toolName": "terminal",
            "args": {"command": command}, "reason": None, "alwaysAsk": False})
        decision = self.wait_for(session, id_)
        allowed = decision.startswith("allowed")
        session.send_event("approval.resolved", approvalId=id_, decision="allow" if allowed else "deny", decidedBy="tab")
        if allowed:
            session.send_event("tool_start", toolCallId=f"tc_{id_}", toolName="terminal", args={"command": command})
        session.send_event("tool_end", toolCallId=f"tc_{id_}", toolName="terminal", ok=allowed, durationMs=0,
                     result="done" if allowed else decision)
        return f" {command}: {decision}."
