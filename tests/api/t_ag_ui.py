#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""POST /ag-ui: refused requests, the events of a run, sessions of threads, and turns whose clients
disconnect."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from door import Door, done, equal, http_group, ok  # noqa: E402
from ag_ui_run import Run, run_input, said, text_of  # noqa: E402
from talk import BUILD  # noqa: E402


def session_of(events):
    return re.search(r"Answer \S+ of (\S+):", text_of(events)).group(1)


def ask(host, *messages, key="ann", path="/ag-ui", **more):
    return Run(host, run_input(*messages, **more), key, path).rest()


# ---- what is refused ----


def check_refusals(host):
    def post(body, **more):
        status, _, text = host.ask("POST", "/ag-ui", body=body, **more)
        return status, json.loads(text)["error"]["code"]

    good = run_input("hello", thread="never")
    part = {"type": "image", "source": {"type": "url", "value": "https://example.org/i.png"}}
    cases = [
        ("no key", 401, "invalid_api_key", good, {}),
        ("a key that may not submit", 403, "not_granted", good, {"key": "eve"}),
        ("a form", 415, "unsupported_media_type", good, {"key": "ann", "Content_Type": "text/plain"}),
        ("no JSON", 400, "invalid_json", b"{", {"key": "ann"}),
        ("a client that wants no events", 406, "not_acceptable", good,
         {"key": "ann", "Accept": "application/json"}),
        ("no thread", 400, "invalid_value", {**good, "threadId": ""}, {"key": "ann"}),
        ("a run that is a number", 400, "invalid_value", {**good, "runId": 1}, {"key": "ann"}),
        ("a thread of 201 bytes", 400, "invalid_value", {**good, "threadId": "x" * 201},
         {"key": "ann"}),
        ("a thread with a line break", 400, "invalid_value", {**good, "threadId": "a\nb"},
         {"key": "ann"}),
        ("nobody's message", 400, "invalid_messages", {**good, "messages": []}, {"key": "ann"}),
        ("an empty message", 400, "invalid_messages", run_input(""), {"key": "ann"}),
        ("an image", 400, "invalid_messages", run_input(said([part])), {"key": "ann"}),
        ("an agent that there is not", 404, "no_such_agent",
         {**good, "forwardedProps": {"agent": "nobody"}}, {"key": "ann"}),
        ("the answer to an interrupt, by who may not", 403, "not_granted",
         {**good, "resume": [{"interruptId": "i", "status": "resolved"}]}, {"key": "ann"}),
        ("an answer that is no list", 400, "invalid_value", {**good, "resume": {"a": 1}},
         {"key": "ann"}),
    ]
    for name, status, code, body, more in cases:
        equal(post(body, **more), (status, code), f"{name} is refused")
    equal(host.status("GET", "/ag-ui", key="ann"), 405, "GET is refused")
    equal(host.turns(), [], "no refused request was a turn")


# ---- what is written ----


def check_run(host):
    body = run_input("id=one tools=1", parentRunId="r-0")
    first = Run(host, body)
    equal(first.answer.getheader("Content-Type"), "text/event-stream; charset=utf-8", "SSE")
    events = first.rest()
    equal(
        events[0],
        {"type": "RUN_STARTED", "threadId": "t-1", "runId": "r-1", "parentRunId": "r-0"},
        "a run begins with the client's own ids",
    )
    end = events[-1]
    equal(
        (end["type"], end["threadId"], end["runId"], end["outcome"]),
        ("RUN_FINISHED", "t-1", "r-1", {"type": "success"}),
        "and ends with them",
    )
    ok("Answer one of" in text_of(events), "the run has the text of the agent")
    again = ask(host, "id=one tools=1", parentRunId="r-0")
    equal(again, events, "a repeated run returns the same events, without another turn")
    equal(len(host.turns()), 1, "both runs belong to one turn")
    second = ask(host, "id=one tools=1", "id=two", run="r-2")
    equal(session_of(second), session_of(events), "the thread's next run resumes the session")
    other = ask(host, "id=three", key="bob")
    names = [{e["messageId"] for e in run if "messageId" in e} for run in (events, second)]
    ok(names[0] and not names[0] & names[1], "no run uses a message id again", names)
    ok(session_of(other) != session_of(events), "a thread of another key with the same name is another thread")
    equal(other[0]["runId"], "r-1", "a run of another key with the same name is another run")
    newer = ask(host, "id=four", run="r-4", protocolVersion="1.0")
    equal(newer[0].get("protocolVersion"), "1.0", "a client of version 1.0 gets its version")


def check_failure(host):
    events = ask(host, "id=bad fail", thread="bad")
    equal(events[0]["type"], "RUN_STARTED", "a failed run begins with RUN_STARTED")
    equal(events[-1]["type"], "RUN_ERROR", "a failed run ends with RUN_ERROR")
    ok("Part bad is broken." in events[-1]["message"], "the error has the reason", events[-1])


def check_agents(host):
    by_path = ask(host, "hi", thread="p", path="/ag-ui/keeper")
    equal(text_of(by_path), "kept", "the path names the agent")
    by_props = ask(host, "hi", thread="q", forwardedProps={"agent": "keeper"})
    equal(text_of(by_props), "kept", "forwardedProps name the agent")
    both = ask(host, "id=x", thread="r", path="/ag-ui/main", forwardedProps={"agent": "keeper"})
    ok("Answer x" in text_of(both), "the path has priority over forwardedProps")
    equal(Run(host, run_input("hi"), path="/ag-ui/nobody").status, 404, "an unknown agent is refused")


def check_prompts(host):
    kept = host.folder / "kept"
    history = [
        said("Be brief.", "system"),
        said("What is 1+1?"),
        said("2", "assistant"),
        said("thought", "reasoning"),
        said([{"type": "text", "text": "And 2+2?"}, {"type": "text", "text": "Quick."}]),
    ]
    context = [{"description": "page", "value": "sums"}]
    ask(host, *history, thread="h", path="/ag-ui/keeper", context=context)
    first = "[system] Be brief.\n[user] What is 1+1?\n[assistant] 2\n[user] And 2+2?\nQuick."
    ok(first + "\n\n[context] page: sums" in prompt_in(kept), "a new session gets all messages",
       prompt_in(kept))
    ask(host, *history, said("4", "assistant"), said("And 3+3?"), thread="h", run="r-2",
        path="/ag-ui/keeper")
    ok("And 3+3?" in prompt_in(kept) and "brief" not in prompt_in(kept),
       "a known session gets the new messages only", prompt_in(kept))


def prompt_in(path):
    """The text of the message that the agent received, independent of the protocol."""
    text = path.read_text()
    try:
        content = json.loads(text.splitlines()[0])["message"]["content"]
        return content if isinstance(content, str) else "".join(p["text"] for p in content)
    except (ValueError, LookupError, TypeError):
        return text


def check_switches(host):
    before = len(host.turns())
    events = ask(host, "/show-tools", thread="s")
    kinds = [e["type"] for e in events]
    equal(
        kinds,
        ["RUN_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END",
         "RUN_FINISHED"],
        "switches alone are a run that says them",
    )
    equal(json.loads(text_of(events))["show_tools"], True, "a message with a visibility token returns the changed visibility")
    equal(len(host.turns()), before, "a message with a visibility token is not a turn")
    events = ask(host, "/stream-status", thread="s", run="r-2")
    equal(json.loads(text_of(events))["show_tools"], True, "the visibility can be requested")
    events = ask(host, "id=t tools=1 /hide-tools", thread="s", run="r-3")
    ok("TOOL_CALL_START" not in [e["type"] for e in events], "a token in a message applies from this message on")
    events = ask(host, "id=t tools=1 /show-tools", thread="s", run="r-4")
    equal([e["type"] for e in events if e["type"].startswith("TOOL")],
          ["TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "TOOL_CALL_RESULT"],
          "a token in a message shows the tool calls of its turn")


# ---- who leaves ----


def turn_of(host, thread):
    return next(t for t in host.turns() if t["conversation"].endswith(f":{thread}"))


def check_leaving(host, cancels):
    one = Run(host, run_input("id=l hang tools=1", thread="l"))
    one.await_type("RUN_STARTED")
    two = Run(host, run_input("id=l hang tools=1", thread="l"))
    equal(two.await_type("RUN_STARTED")["runId"], "r-1", "a second client attaches to a run")
    turn = turn_of(host, "l")["id"]
    watcher = host.follow(f"/turns/{turn}/events")
    one.leave()
    three = Run(host, run_input("id=l hang tools=1", thread="l"))
    three.await_type("RUN_STARTED")
    equal(host.turn(turn)["state"], "running", "the turn continues after one of two clients disconnects")
    two.leave()
    three.leave()
    if cancels:
        last = watcher.rest()[-1][2]
        ok('"type":"done"' in last and '"cancelled"' in last,
           "the turn is cancelled after the last client disconnects", last)
    else:
        again = Run(host, run_input("id=l hang tools=1", thread="l"))
        again.await_type("RUN_STARTED")
        equal(host.turn(turn)["state"], "running", "on_disconnect = continue: the turn continues")
        host.ask("POST", f"/turns/{turn}/cancel", key="ann", body={})
        equal(again.rest()[-1].get("code"), "CANCELLED", "the turn is cancelled on request")


def check_waiting(host):
    """A waiting run is a stream without events; when the run is cancelled, the stream ends."""
    one = Run(host, run_input("id=w hang", thread="w"))
    one.await_type("RUN_STARTED")
    two = Run(host, run_input("id=v", thread="w", run="r-2"))
    equal(two.status, 200, "a run that waits for another is accepted")
    other = Run(host, run_input("hi", thread="w", run="r-3"), path="/ag-ui/keeper")
    equal(other.status, 409, "a run with another agent in the same thread is refused")
    waiting = turn_of(host, "w")
    equal(waiting["state"], "waiting", "the second run waits")
    host.ask("POST", f"/turns/{waiting['id']}/cancel", key="ann", body={})
    events = two.rest()
    equal([e["type"] for e in events], ["RUN_STARTED", "RUN_ERROR"], "a cancelled waiting run ends")
    equal((events[0]["runId"], events[1]["code"]), ("r-2", "CANCELLED"), "the run ends with the code CANCELLED")
    one.leave()


def keeper(folder):
    agent = BUILD / "tests" / "fake" / "agent"
    init = json.dumps({"type": "system", "subtype": "init", "session_id": "s-keeper"})
    end = json.dumps({"type": "result", "subtype": "success", "is_error": False, "result": "kept",
                      "session_id": "s-keeper"})
    words = [str(agent), f"text={init}", f"text={end}", f"save={folder}/kept"]
    return f'keeper : {{ command = {json.dumps(words)}; resume = ["mark=again"]; attempts = 1; }};'


class Talk(Door):
    """A host with an agent that stores the messages it receives."""

    def __init__(self, **more):
        super().__init__(**more)
        self.config.write_text(
            self.config.read_text().replace("attempts = 1; };", "attempts = 1; }; " + keeper(self.folder), 1)
        )


with Talk() as host:
    check_refusals(host)
    check_run(host)
    check_failure(host)
    check_agents(host)
    check_prompts(host)
    check_switches(host)
    check_leaving(host, True)
    check_waiting(host)
    equal(host.stop(), 0, "the host exits with status 0")
with Talk(http=http_group(on_disconnect="continue")) as host:
    check_leaving(host, False)
    equal(host.stop(), 0, "the second host exits with status 0")
done()
