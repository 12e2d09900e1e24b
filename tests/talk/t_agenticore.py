#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns exchanged with agenticore through a Redis server: its streams of progress in both directions, the
sessions of conversations, and the visibility of agents. Readers and writers are written from agenticore's own
sources (event_tailer.py, event_relay.py of its hooks, and stream_config.py)."""
import json
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "api"))

from door import Door, done, equal, http_group, ok, until  # noqa: E402
from redis_server import PASSWORD, Redis  # noqa: E402

FIELDS = ["event_type", "content", "ts", "session_id", "correlation_id"]


def tail(redis, turn, prefix="agenticore"):
    """The entries of a turn up to "done", in the form that agenticore reads."""
    key, last, entries = f"{prefix}:events:{turn}", "0-0", []
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for id_, flat in ((redis("XREAD", "COUNT", 100, "BLOCK", 500, "STREAMS", key, last) or [[key, []]])[0][1]):
            entries.append((id_, dict(zip(flat[::2], flat[1::2]))))
            last = id_
            if entries[-1][1]["event_type"] == "done":
                return entries
    ok(False, f"the stream {key} ends", entries)
    return entries


def answer_of(entries):
    """The answer as agenticore reads it: the last block, if it is text."""
    last = [e for _, e in entries if e["event_type"] in ("assistant_text", "tool_use")]
    return last[-1]["content"] if last and last[-1]["event_type"] == "assistant_text" else None


def publish(redis, correlation, entries):
    """Publishes entries as the hooks of agenticore do."""
    for type_, content in [*entries, ("done", "")]:
        redis("XADD", f"agenticore:events:{correlation}", "MAXLEN", "~", 2000, "*", "event_type", type_,
              "content", content if isinstance(content, (str, bytes)) else json.dumps(content),
              "ts", "2026-07-24T09:15:05.820045+00:00", "session_id", "s-1", "correlation_id", correlation)
    redis("EXPIRE", f"agenticore:events:{correlation}", 3600)


HOOKED = r'''
import json, os, subprocess, sys, urllib.parse
prompt = sys.stdin.read()
url, turn = os.environ["REDIS_URL"], os.environ["AGENTICORE_CORRELATION_ID"]
assert os.environ["AGENTICORE_EVENT_STREAM"] == "1" and "TURNCAST_REMOTE_SECRET" not in os.environ
key = os.environ["REDIS_KEY_PREFIX"] + ":events:" + turn
server = urllib.parse.urlsplit(url)
os.environ["REDISCLI_AUTH"] = urllib.parse.unquote(server.password)
def add(type_, content):
    words = ["redis-cli", "-e", "-h", server.hostname, "-p", str(server.port), "XADD", key, "MAXLEN", "~", "2000", "*",
             "event_type", type_, "content", content, "ts", "2026-07-24T09:15:05.820045+00:00",
             "session_id", "", "correlation_id", turn]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
add("assistant_text", "You said: " + prompt.strip())
add("done", "")
print(json.dumps({"result": "not read"}))
sys.exit(3 if "fail" in prompt else 0)
'''


# An answer that repeats what was said before a tool call.
SAME = [("start", {}), ("narration", {"text": "All is well."}),
        ("tool_call", {"name": "Bash", "args": {}, "tool_use_id": "t1"}),
        ("tool_result", {"tool_use_id": "t1", "content": "", "is_error": False}),
        ("final", {"text": "All is well."}), ("done", {"reason": "completed"})]


def configuration(redis, folder):
    script = folder / "hooked.py"
    script.write_text(HOOKED)
    lines = folder / "same.jsonl"
    lines.write_text("".join(json.dumps({"type": type_, "payload": payload}) + "\n" for type_, payload in SAME))
    server = f'kind = "redis"; address = "127.0.0.1:{redis.port}"; password = "{PASSWORD}";'
    agents = f"""
watch : {{ transport : {{ {server} }}; attempts = 1; }};
same : {{ command = ["cat", "{lines}"]; dialect = "turncast"; attempts = 1; }};
hooked : {{ transport : {{ {server} }}; attempts = 1; command = ["{sys.executable}", "{script}"]; }};"""
    streams = f"""streams : {{ plugin = "redis"; address = "127.0.0.1:{redis.port}"; password = "{PASSWORD}";
    ports = [{redis.port}]; agents = ["main", "same"]; }};"""
    store = f"""store : {{ kind = "redis"; stream_config = "{folder}"; redis : {{ address = "127.0.0.1:{redis.port}";
    password = "{PASSWORD}"; }}; }};"""
    return agents, streams, store


def written(host, redis):
    """A turn of the host, read as agenticore reads it."""
    turn = host.begin("id=one tools=2", agent="main")["id"]
    entries = tail(redis, turn)
    types = [e["event_type"] for _, e in entries]
    equal([list(e) for _, e in entries], [FIELDS] * len(entries), "each entry has the five fields")
    equal(types.count("tool_use"), 2, "two tool calls")
    equal(types.count("tool_result"), 2, "two results")
    equal(types[-1], "done", "the last entry is done")
    ok("one" in (answer_of(entries) or ""), "the last text is the answer", entries)
    equal({e["correlation_id"] for _, e in entries}, {turn}, "the correlation ID is the turn's")
    call = json.loads(next(e["content"] for _, e in entries if e["event_type"] == "tool_use"))
    result = json.loads(next(e["content"] for _, e in entries if e["event_type"] == "tool_result"))
    equal((sorted(call), sorted(result), call["id"]),
          (["id", "input", "name"], ["is_error", "output", "tool_use_id"], result["tool_use_id"]),
          "a call and its result")
    ok(3500 < redis("TTL", f"agenticore:events:{turn}") <= 3600, "the stream expires")
    failed = tail(redis, host.begin("id=bad fail", agent="main")["id"])
    equal([e["event_type"] for _, e in failed][-2:], ["error", "done"], "a failed turn ends with error and done")
    same = tail(redis, host.begin("x", agent="same")["id"])
    equal(answer_of(same), "All is well.", "an answer that was narrated before a tool call is the last text, too")
    return turn, answer_of(entries)


def outage(host, redis):
    """The server is down when the turn ends, and the host is killed before the server is back."""
    turn = host.begin("id=gone tools=1 gated", agent="main")["id"]
    until(lambda: redis("EXISTS", f"agenticore:events:{turn}"), "the turn is in the stream")
    redis.stop()
    host.let_go("gone", 9)
    host.await_state(turn, "final")
    host.kill()
    redis.start()
    host.start()
    entries = tail(redis, turn)
    texts = [e["content"] for _, e in entries if e["event_type"] == "assistant_text" and "gone" in e["content"]]
    equal(len(texts), 1, "the answer is in the stream once")
    equal([e["event_type"] for _, e in entries].count("done"), 1, "the stream has one end")


def run(host, agent, message, form="json"):
    """Runs `turncast run`; returns its status and the printed objects."""
    status, text = host.run("run", "--agent", agent, "-o", form, message)
    lines = text.splitlines()
    return status, [json.loads(line) for line in lines if line.startswith("{")], text


def read(host, redis, told):
    """Turns of agenticore, read by this host."""
    call = {"id": "toolu_1", "name": "Bash", "input": {"command": "df -h /srv"}}
    result = {"tool_use_id": "toolu_1", "is_error": False, "output": "89%"}
    publish(redis, "3f0c", [("thinking", "Look."), ("tool_use", call), ("tool_result", result),
                            ("assistant_text", "/srv is at 89 %.")])
    status, [result], _ = run(host, "watch", "3f0c")
    equal((status, result["result"]), (0, "/srv is at 89 %."), "a turn of agenticore is read")
    status, events, _ = run(host, "watch", "3f0c", "stream-json")
    types = [event["type"] for event in events]
    equal([t for t in types if t in ("thinking", "tool_call", "tool_result", "final", "done")],
          ["thinking", "tool_call", "tool_result", "final", "done"], "with all of its events")
    turn, answer = told
    _, [result], _ = run(host, "watch", turn)
    equal(result["result"], answer, "a turn that this host has written is read")
    publish(redis, "latin", [("assistant_text", b"caf\xe9")])
    _, [result], _ = run(host, "watch", "latin")
    equal(result["result"], "caf\ufffd", "bytes that are not UTF-8 are replaced")
    status, _, text = run(host, "watch", "no such id")
    ok(status == 1 and "correlation ID" in text, "an invalid correlation ID is refused", text)


def follow_live(host, redis):
    """A stream that begins after its reader, with a server that is stopped in the middle."""
    turn = host.begin("live-1", agent="watch")["id"]
    redis("XADD", "agenticore:events:live-1", "*", "event_type", "thinking", "content", "First.", "ts", "",
          "session_id", "", "correlation_id", "live-1")
    until(lambda: any('"First."' in line for line in host.events.read_text().splitlines()),
          "an entry comes while the stream is open", 10)
    redis.stop()
    redis.start()
    publish(redis, "live-1", [("assistant_text", "Second.")])
    equal(host.await_state(turn, "final", "error")["state"], "final", "the turn ends")
    lines = [json.loads(line) for line in host.events.read_text().splitlines()]
    mine = [e for e in lines if e["correlation_id"] == turn]
    equal([e["payload"]["text"] for e in mine if e["type"] in ("thinking", "final")], ["First.", "Second."],
          "no entry is lost or repeated")


def hooked(host):
    """An agent that publishes like the hooks of agenticore, started by this host."""
    status, [result], text = run(host, "hooked", "good morning")
    equal((status, result["result"]), (0, "You said: good morning"), "an agent that publishes its events to Redis")
    equal(run(host, "hooked", "fail")[0], 1, "the status of the command decides")


def complete(host, text, conversation, key):
    body = {"model": "main", "messages": [{"role": "user", "content": text}]}
    status, _, answer = host.ask("POST", "/v1/chat/completions", key=key, body=body,
                                 X_Conversation_Id=conversation)
    equal(status, 200, f"a completion: {text}")
    return json.loads(answer)["choices"][0]["message"]["content"]


def sessions(host, redis):
    """A session stored by agenticore is resumed by the host, and the other way round."""
    now = "2026-07-24T09:15:05.820045+00:00"
    key = "conv:main:-:chat-7"
    redis("HSET", f"agenticore:session:{key}", "external_uuid", key, "claude_session_id", "of-agenticore",
          "session_type", "persistent", "status", "active", "created_at", now, "updated_at", now)
    ok("of-agenticore" in complete(host, "id=a", "chat-7", "ann"), "a session of agenticore is resumed")
    complete(host, "id=b", "chat-8", "ann")
    stored = until(lambda: redis("HGETALL", "agenticore:session:conv:main:-:chat-8"), "a session is stored")
    stored = dict(zip(stored[::2], stored[1::2]))
    equal((stored.get("external_uuid"), stored.get("status"), bool(stored.get("claude_session_id"))),
          ("conv:main:-:chat-8", "active", True), "a session of this host has the key of agenticore")
    complete(host, "id=c", "chat-9", "bob")
    equal(redis("EXISTS", "agenticore:session:conv:main:-:chat-9"), 0,
          "a key has its own conversations")


SWITCHES = ["show_thinking", "show_tools", "show_text", "show_narration", "show_final"]


def is_on(value):
    return value.lower() in ("1", "true", "yes", "on") if isinstance(value, str) else bool(value)


def load_switches(redis, folder, agent):
    """The visibility as agenticore reads it: the hash, or else the file, or else its own defaults."""
    flat = redis("HGETALL", f"agenticore:stream_config:{agent}")
    stored = dict(zip(flat[::2], flat[1::2])) or json.loads((folder / f"{agent}.json").read_text())
    text = is_on(stored.get("show_text", True))
    defaults = {"show_thinking": False, "show_tools": False, "show_text": True, "show_narration": text, "show_final": text}
    return {name: is_on(stored.get(name, defaults[name])) for name in SWITCHES}


def save_switches(redis, agent, values):
    """Stores the visibility as agenticore does."""
    redis("DEL", f"agenticore:stream_config:{agent}")
    redis("HSET", f"agenticore:stream_config:{agent}", *[word for pair in values.items() for word in pair])


def status_of(host, agent, text="/stream-status"):
    """The visibility of the agent as the host shows it."""
    body = {"model": agent, "messages": [{"role": "user", "content": text}]}
    answer = json.loads(host.ask("POST", "/v1/chat/completions", key="ann", body=body)[2])
    return json.loads(answer["choices"][0]["message"]["content"])


def switches(host, redis, folder):
    """The visibility of an agent is shared with agenticore in both directions."""
    all_off = dict.fromkeys(SWITCHES, "0")
    for values in ({"show_tools": "1"}, {"show_text": "0"}, {"show_text": "0", "show_final": "Yes"},
                   {**all_off, "show_thinking": "ON"}, dict.fromkeys(SWITCHES, "1"), all_off):
        save_switches(redis, "main", values)
        equal(status_of(host, "main"), load_switches(redis, folder, "main"), f"the host shows what agenticore has stored: {values}")
    for tokens, on in (("/show-all", SWITCHES), ("/hide-all", ["show_text", "show_final"]),
                       ("/show-tools /hide-final", ["show_tools", "show_text"])):
        status_of(host, "main", tokens)
        wanted = {name: "1" if name in on else "0" for name in SWITCHES}
        flat = until(lambda w=wanted: (f := redis("HGETALL", "agenticore:stream_config:main")) and
                     dict(zip(f[::2], f[1::2])) == w and f, f"{tokens}: the hash")
        equal(flat, [word for pair in wanted.items() for word in pair], f"{tokens}: the five fields, in their order")
        equal(redis("TTL", "agenticore:stream_config:main"), -1, f"{tokens}: without an expiry")
        file = until(lambda w=wanted: (t := (folder / "main.json").read_text()) == json.dumps(
            {name: value == "1" for name, value in w.items()}) and t, f"{tokens}: the file, to the byte")
        redis("DEL", "agenticore:stream_config:main")
        ok(file, f"{tokens}: the file of agenticore is the same")
        equal(load_switches(redis, folder, "main"), {name: name in on for name in SWITCHES}, f"{tokens}: agenticore reads the same visibility")
    for values in ({"show_tools": 1}, {"show_thinking": "yes", "show_text": False}, {"show_final": None, "show_tools": "no"}):
        (folder / "same.json").write_text(json.dumps(values))
        equal(status_of(host, "same"), load_switches(redis, folder, "same"), f"the file of agenticore has {values}")


def main():
    redis = Redis()
    with tempfile.TemporaryDirectory(prefix="turncast-agenticore.") as folder:
        agents, streams, store = configuration(redis, pathlib.Path(folder))
        http = http_group().replace("ann : {", "ann : { shared_conversations = true;")
        host = Door(instances=streams, agents=agents, extra='log : { level = "info"; };' + store, http=http)
        try:
            with host:
                until(host.has_started, "all instances run")
                told = written(host, redis)
                read(host, redis, told)
                hooked(host)
                follow_live(host, redis)
                sessions(host, redis)
                switches(host, redis, pathlib.Path(folder))
                outage(host, redis)
                ok(PASSWORD not in host.log(), "the log does not show the password")
        finally:
            redis.stop()
    done()


main()
