# SPDX-License-Identifier: MIT
"""Daily budgets: a user over the budget is refused with the time of the next budget, restarts and kills do not
change the sums, and the cost exceeds the budget at most by the turns that ran."""
import contextlib
import json
import random
import sqlite3
import time

from door import LOG, Door, done, equal, note, ok, until, written

PRICE = 12500  # of a turn of the talker, in millionths of a dollar
TOKENS = 12345
ENDED = ("final", "error", "cancelled")


def read(host, query):
    with contextlib.closing(sqlite3.connect(f"file:{host.state}/state.db?mode=ro", uri=True)) as db:
        return db.execute(query).fetchall()


def used(host, scope, name=""):
    rows = read(host, "select scope, name, turns, input+output, micros from spent")
    return next((row[2:] for row in rows if row[:2] == (scope, name)), (0, 0, 0))


def take(host, key="ann"):
    turn = host.begin("id=x", key=key)
    host.await_state(turn["id"], "final", key=key)


def refusal(host, key="ann"):
    """Status, headers and body of the response to one more message."""
    status, headers, text = host.ask("POST", "/turns", key=key, body={"prompt": "id=more"})
    return status, headers, json.loads(text)


def check_refused(host, what):
    status, headers, body = refusal(host)
    equal((status, body["error"]["code"]), (429, "over_budget"), f"{what}: refused")
    wait = int(headers["retry-after"])
    ok(0 < wait <= 25 * 3600, "the refusal has the time until the end of the day", wait)
    equal(headers["x-should-retry"], "false", "the refusal says not to retry soon")
    ok("budget" in body["error"]["message"], "the refusal has the reason in words", body["error"]["message"])
    status, _, text = host.ask("POST", "/v1/chat/completions", key="ann", body={
        "model": "main", "messages": [{"role": "user", "content": "id=more"}]})
    equal((status, json.loads(text)["error"]["code"]), (429, "over_budget"), "completions are refused, too")


def test_host_and_restarts():
    extra = LOG + "budgets : { host : { usd_per_day = 0.05; }; };"
    with Door(extra=extra) as host:
        for _ in range(4):
            take(host)
        equal(used(host, "host"), (4, 4 * TOKENS, 4 * PRICE), "the sum of the host")
        equal(used(host, "agent", "main")[0], 4, "the sum of the agent")
        equal(used(host, "key", "ann")[0], 4, "the sum of the key")
        check_refused(host, "the budget is used up")
        ok("host: used today: 0.05 of 0.05 USD (budgets.host.usd_per_day)" in host.log(),
           "the warning is logged", host.log())
        told = [e for e in map(json.loads, written(host.events)) if e["type"] == "notice"]
        told = [e for e in told if e["payload"].get("code") == "budget"]
        equal([e["payload"].get("audience") for e in told], ["operator"], "operators see the warning")
        status, text = host.run("status")
        ok("1 host" not in text and "0.05 of 0.05 USD" in text, "turncast status shows the budget", text)
        status, text = host.run("usage")
        equal(status, 0, f"turncast usage succeeds\n{text}")
        ok("0.05 USD" in text and "ann" in text, "turncast usage shows the limit and the key")
        listed = json.loads(host.run("usage", "--json")[1])["used"]
        mine = next(u for u in listed if u["scope"] == "host")
        equal((mine["usd"], mine["usd_per_day"], mine["turns_with_cost"]), (0.05, 0.05, 4), "turncast usage shows the sums as JSON")
        equal(host.run("usage", "2001-01-01")[1], "No turn has ended on that day.\n", "a day without turns")
        equal(host.run("usage", "yesterday")[0], 2, "an invalid day is refused")
        host.stop()
        host.start()
        check_refused(host, "after a restart")
        host.kill()
        host.start()
        check_refused(host, "after a kill")


def test_waiting():
    """When the budget is used up, waiting turns end without an agent, and running turns continue."""
    extra = LOG + "budgets : { conversation : { usd_per_day = 0.0125; }; };"
    with Door(extra=extra) as host:
        other = host.begin("id=other gated", conversation="d")
        first = host.begin("id=a gated", conversation="c")
        second = host.begin("id=b", conversation="c")
        host.let_go("a")
        equal(host.await_state(first["id"], *ENDED)["state"], "final", "the running turn is answered")
        turn = host.await_state(second["id"], *ENDED)
        equal((turn["state"], turn["code"]), ("error", "over_budget"), "the waiting turn ends with over_budget")
        equal(used(host, "conversation", turn["conversation"])[0], 1, "the waiting turn is not counted")
        host.let_go("other")
        equal(host.await_state(other["id"], *ENDED)["state"], "final", "a turn of another conversation continues")
        equal(host.status("POST", "/turns", key="ann",
                          body={"prompt": "id=c", "conversation": "c"}), 429, "a new message")
        equal(host.status("POST", "/turns", key="ann",
                          body={"prompt": "id=c", "conversation": "e"}), 202, "of another one")


def test_keys_and_reload():
    extra = LOG + "budgets : { key : { tokens_per_day = 20000; }; };"
    with Door(extra=extra) as host:
        take(host)
        equal(refusal(host)[0], 202, "a turn with tokens left is accepted")
        until(lambda: used(host, "key", "ann")[0] == 2, "both turns have ended")
        status, _, body = refusal(host)
        equal((status, "24690 of 20000 tokens" in body["error"]["message"]), (429, True), "a turn without tokens is refused")
        take(host, "bob")
        host.config.write_text(host.config.read_text().replace("20000", "30000"))
        equal(host.run("reload")[0], 0, "a reload with a larger budget succeeds")
        equal(refusal(host)[0], 202, "the larger budget applies at once")


def kill_at_random(host, chance, times):
    """Turns of several conversations, and kills at any moment; until the budget is used up."""
    for number in range(times):
        deadline = time.monotonic() + chance.uniform(0.05, 0.8)
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError, ValueError):
                host.ask("POST", "/turns", key="ann", body={
                    "prompt": f"id=k{number} tools=1 ms=20", "conversation": f"c{number % 5}"})
            time.sleep(0.01)
        host.kill()
        host.start()


def test_kills():
    most = 30
    extra = LOG + f"""budgets : {{ host : {{ usd_per_day = {most * PRICE / 1e6}; }}; }};
        conversations : {{ max_turns = 4; debounce_ms = 0; }};"""
    with Door(extra=extra) as host:
        kill_at_random(host, random.Random(11), 12)
        until(lambda: not read(host, "select 1 from turn where ended_at is null"), "all turns have ended")
        while used(host, "host")[2] < most * PRICE:
            take(host)
        check_refused(host, "behind the kills")
        finals = read(host, "select count(*) from turn where state='final'")[0][0]
        turns, _, micros = used(host, "host")
        equal(micros, finals * PRICE, "each answer is counted once")
        equal(turns >= finals, True, "each ended turn is counted")
        ok(most * PRICE <= micros < (most + 4) * PRICE, "the cost exceeds the budget at most by the running turns", micros)
        by_key = used(host, "key", "ann")[2]
        equal(by_key, micros, "the sums of host and key agree")
        note(f"{finals} answers, {turns} turns")


test_host_and_restarts()
test_waiting()
test_keys_and_reload()
test_kills()
done()
