#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two hosts that share a Redis: both continue a conversation, but never at once, also when a host is killed,
stopped for a time, or loses Redis. Each agent records when it ran."""
import pathlib
import signal
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "api"))

from door import KEYS, Door, done, equal, http_group, ok, until  # noqa: E402
from lives import Completion, Lives, begin_gated, let_go, locked_agent, states  # noqa: E402
from redis_server import PASSWORD, Redis  # noqa: E402
from talk import SANITIZED  # noqa: E402

LOCK_S = 20 if SANITIZED else 6  # long enough for a busy machine to renew it
WAIT_S = 4

def make_host(redis, folder, name, *, prefix="bots"):
    agents = locked_agent(folder)
    store = f"""store : {{ kind = "redis"; redis : {{ address = "127.0.0.1:{redis.port}"; prefix = "{prefix}";
    password = "{PASSWORD}"; lock_s = {LOCK_S}; lock_wait_s = {WAIT_S}; }}; }};
host = {{ name = "{name}"; }};"""
    http = http_group({"ann": KEYS["ann"]}).replace("ann : {", "ann : { shared_conversations = true;")
    return Door(agents=agents, extra='log : { level = "info"; };' + store, http=http)


def together(redis, a, b, folder, lives):
    """Messages to both hosts at the same time."""
    asked = [Completion(host, f"id={name}{i}", "chat") for i in range(3) for name, host in (("a", a), ("b", b))]
    said = [c.succeeds(c.text) for c in asked]
    ok(all(s for s in said), "each was answered", said)
    lives_now = len(lives.intervals())
    ok(2 <= lives_now <= 6, "both hosts ran turns", lives_now)
    lives.check(lives_now, "messages to both hosts")
    first = begin_gated(a, folder, "one", "chat")
    second = Completion(b, "id=two", "chat")
    until(lambda: states(b) == ["waiting"], "the turn of the other host is shown as waiting")
    let_go(folder, "one")
    ok("one" in first.succeeds("the first") and "two" in second.succeeds("the second"), "each host has its answer")
    session = redis("HGET", "bots:session:conv:locked:-:chat", "claude_session_id")
    ok(session and session in first.result()[1] and session in second.result()[1], "one session for both", session)
    lives.check(2, "turns one after another")


def killed(redis, a, b, folder, lives):
    """The host that has the lock is killed; its agent ends, and its lock expires."""
    first = begin_gated(a, folder, "dies", "killed")
    ok(redis("PTTL", "bots:turncast_lock:openai::-:killed") > 0, "the lock expires")
    second = Completion(b, "id=after", "killed")
    until(lambda: states(b) == ["waiting"], "the other host waits")
    a.kill()
    second.succeeds("the other host after a kill")
    first.result()
    lives.check(2, "a host that was killed")
    a.start()
    until(a.has_started, "the host starts again")
    first = begin_gated(a, folder, "dies2", "killed")
    a.kill()
    a.start()
    until(a.has_started, "the host starts again")
    Completion(a, "id=own", "killed").succeeds("the lock of the earlier process of the host")
    ok(first.result()[0] == 0, "the killed turn has ended")
    lives.check(2, "a host that takes its own lock again")


def frozen(redis, a, b, folder, lives):
    """The host that has the lock is stopped (SIGSTOP) until the lock has expired."""
    first = begin_gated(a, folder, "stands", "frozen")
    a.process.send_signal(signal.SIGSTOP)
    second = Completion(b, "id=meanwhile", "frozen")
    second.succeeds("while the other host stands still")
    before = redis("HGETALL", "bots:session:conv:locked:-:frozen")
    a.process.send_signal(signal.SIGCONT)
    first.fails("lock_lost", "the turn of a host that stood still")
    let_go(folder, "stands")
    lives.check(2, "the agent of a stopped host is not started again")
    equal(redis("HGETALL", "bots:session:conv:locked:-:frozen"), before, "its session is not stored")
    Completion(a, "id=later", "frozen").succeeds("the stopped host continues")
    lives.check(1, "later")


def doctor(redis, a):
    """The line of `turncast doctor` about the locks."""
    ok("hosts that lock conversations in Redis: a, b" in a.run("doctor")[1], "doctor lists the hosts")
    redis("ACL", "SETUSER", "default", "-eval")
    text = a.run("doctor")[1]
    ok("cannot lock conversations: NOPERM" in text and "permit EVAL" in text, "doctor reports that locks are not permitted",
       text)
    redis("ACL", "SETUSER", "default", "+eval")
    config = a.config.read_text()
    a.config.write_text(config.replace(f"lock_s = {LOCK_S}", "lock_s = 0"))
    ok("but Redis is shared with a, b" in a.run("doctor")[1], "doctor reports that this host has no locks")
    a.config.write_text(config)


def outage(redis, a, folder, lives):
    """Redis is down while a turn runs, and when a turn is to begin."""
    first = begin_gated(a, folder, "cut", "outage")
    redis.stop()
    waits = Completion(a, "id=none", "outage-2")
    waits.fails("store_unavailable", "a message while Redis is down")
    first.fails("lock_lost", "a turn whose lock could not be renewed")
    lives.check(1, "Redis is down")
    a.stop()
    a.config.write_text(a.config.read_text().replace(f"lock_wait_s = {WAIT_S}", "lock_wait_s = 600"))
    a.start()
    until(a.has_started, "the host starts again, and knows that it shares Redis")
    waits = Completion(a, "id=back", "outage-2")
    until(lambda: "waiting" in states(a), "the next message waits")
    redis.start()
    waits.succeeds("the waiting message after the start of Redis")
    lives.check(1, "Redis is back")


def alone(redis, folder, lives):
    """A host that is the only one in Redis works without Redis."""
    with make_host(redis, folder, "alone", prefix="own") as host:
        until(host.has_started, "all instances run")
        first = begin_gated(host, folder, "alone", "outage")
        redis.stop()
        Completion(host, "id=other", "outage-2").succeeds("a message while Redis is down")
        let_go(folder, "alone")
        first.succeeds("a turn during which Redis was stopped")
        redis.start()
        until(lambda: redis("HGET", "own:session:conv:locked:-:outage", "status") == "active",
              "its session is stored later")
    lives.path.write_text("")


def main():
    redis = Redis()
    with tempfile.TemporaryDirectory(prefix="turncast-lock.") as name:
        folder = pathlib.Path(name)
        lives = Lives(folder / "lives")
        a, b = (make_host(redis, folder, n) for n in ("a", "b"))
        try:
            with a, b:
                for host in (a, b):
                    until(host.has_started, "all instances run")
                until(lambda: "1 other host" in a.log() and "1 other host" in b.log(), "the hosts know each other")
                together(redis, a, b, folder, lives)
                killed(redis, a, b, folder, lives)
                frozen(redis, a, b, folder, lives)
                doctor(redis, a)
                outage(redis, a, folder, lives)
            alone(redis, folder, lives)
        finally:
            redis.stop()
    done()


main()
