# SPDX-License-Identifier: MIT
"""No secret of the configuration is in logs, files, state, agents, command lines, core files, or output of the
host."""
import base64
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import urllib.parse

from talk import BUILD, SLACK_TOKENS, TELEGRAM_TOKEN, Fake, Host, done, note, ok, slack, telegram
from talk import until

WEBHOOK_SECRET = "canary-of-the-webhook"
TELEGRAM = {"token": TELEGRAM_TOKEN, "webhook secret": WEBHOOK_SECRET}
SLACK = dict(zip(("bot token", "app token", "signing secret"), SLACK_TOKENS))
DEBUG = 'log : { level = "debug"; };'


# ---- how a secret can look


def spellings(secret):
    """The patterns of a secret: plain, percent-encoded, and in base64 at each of three offsets."""
    raw = secret.encode()
    yield raw
    yield urllib.parse.quote(secret, safe="").encode()
    yield urllib.parse.quote(secret, safe="").lower().encode()
    for before in range(3):
        begin, end = (before * 8 + 5) // 6, (before + len(raw)) * 8 // 6
        for alphabet in (base64.b64encode, base64.urlsafe_b64encode):
            yield alphabet(b"\0" * before + raw + b"\0\0")[begin:end]


def secrets_in(data, secrets):
    return [name for name, secret in secrets.items() if any(s in data for s in spellings(secret))]


def none_in(data, secrets, what):
    data = data if isinstance(data, bytes) else data.encode()
    found = secrets_in(data, secrets)
    ok(data and not found, f"R23: no secret in {what}", found or "there is nothing")


def the_search_finds():
    """Checks that the search finds a secret; otherwise the other checks prove nothing."""
    for way in (str, urllib.parse.quote, lambda s: base64.b64encode(b"a:" + s.encode()).decode()):
        text = f"GET /bot{way(TELEGRAM_TOKEN)}/getMe"
        ok(secrets_in(text.encode(), TELEGRAM) == ["token"], "the search finds a secret")


# ---- a host with all that can tell


def dumping_agent(folder):
    """An agent that prints its environment and arguments, then answers."""
    begin = {"type": "system", "subtype": "init", "session_id": "canary", "model": "m"}
    end = {"type": "result", "subtype": "success", "is_error": False, "result": "Answered."}
    words = [str(BUILD / "tests" / "fake" / "agent"), f"dump={folder}/dump"]
    words += [f"text={json.dumps(line)}" for line in (begin, {**end, "session_id": "canary"})]
    return f"dumper : {{ command = {json.dumps(words)}; exit_grace_s = 1; attempts = 1; }};"


def witnesses(folder):
    return (
        f'log : {{ plugin = "jsonl"; path = "{folder}/events"; }};'
        f'audit : {{ path = "{folder}/audit"; }}; cli : {{ }};'
    )


def look_at(host, folder, what):
    secrets = {**TELEGRAM, **SLACK}
    none_in(host.log(), secrets, f"the log, {what}")
    tickets = re.findall(r"ticket=\w+", host.log())
    ok(not tickets, f"R23: no ticket of a socket in {what}", tickets)
    left = [p for root in (host.state, folder) for p in root.rglob("*") if p.is_file()]
    ok(any(p.name.endswith(".db") for p in left), "the searched files include the state", left)
    for path in left:
        data = path.read_bytes()
        if data:
            none_in(data, secrets, f"{path.name}, {what}")


def look_at_process(host):
    process = pathlib.Path(f"/proc/{host.process.pid}")
    none_in((process / "cmdline").read_bytes(), {**TELEGRAM, **SLACK}, "the command line")


# ---- what goes wrong


def script_faults(tg, sl):
    def fault(fake, method, do, **more):
        fake.control("fault", {"match": {"method": method}, "do": do, **more})

    for do in ("garbage", "reset"):
        fault(tg, "getUpdates", do)
    away = {"status": 302, "headers": {"Location": "https://127.0.0.1:1/elsewhere"}}
    fault(tg, "sendChatAction", "answer", **away)
    fault(tg, "setMessageReaction", "error", code=400, description="Bad Request: no such thing")
    fault(tg, "sendMessage", "reset")
    tg.control("fault", {"match": {"path": "/file/"}, "do": "answer", "status": 404})
    fault(sl, "apps.connections.open", "garbage")
    fault(sl, "apps.connections.open", "reset")
    fault(sl, "reactions.add", "error", error="missing_scope")
    fault(sl, "chat.postMessage", "reset")
    fault(sl, ["chat.startStream", "chat.stopStream"], "html")


def ask(tg, sl, text):
    file = {"file_name": "a.txt", "content": "text"}
    tg.control("message", {"from": 1000, "caption": text, "document": file})
    sl.control("message", {"user": "U0ALICE", "channel": "D0ALICE", "text": text})


def answers(fake):
    chats = fake.state()["chats"].values()
    return [m for chat in chats for m in chat["messages"] if "Answered." in (m["text"] or "")]


def wait_for_answers(tg, sl, count, what):
    """The number of answers, which may be one higher if a reply was lost."""
    until(lambda: len(answers(tg)) >= count and len(answers(sl)) >= count, what)


def crash(host, folder):
    """Whether the host and another program leave core files."""
    host.process.send_signal(signal.SIGABRT)
    host_ended = os.waitid(os.P_PID, host.process.pid, os.WEXITED | os.WNOWAIT).si_code
    host.process.wait()
    host.process = None
    other = subprocess.Popen([sys.executable, "-c", "import os; os.abort()"])
    other_ended = os.waitid(os.P_PID, other.pid, os.WEXITED | os.WNOWAIT).si_code
    other.wait()
    for core in folder.glob("core*"):
        core.unlink()
    note("another program leaves a core" if other_ended == os.CLD_DUMPED else "no cores here")
    ok(host_ended == os.CLD_KILLED, "R23: a crash leaves no core file", host_ended)


def converse(tg, sl, host, folder):
    """Faults, a crash while answers are in flight, a restart, and refused tokens."""
    script_faults(tg, sl)
    ask(tg, sl, "first")
    wait_for_answers(tg, sl, 1, "answers in spite of faults")
    look_at_process(host)
    tg.control("clear", {})
    sl.control("socket", {"do": "drop"})
    for fake, methods in ((tg, "sendMessage"), (sl, ["chat.postMessage", "chat.startStream"])):
        fake.control("fault", {"match": {"method": methods, "text": "Answered"}, "do": "hold"})
    since = {fake: fake.last_seq() for fake in (tg, sl)}
    ask(tg, sl, "second")
    for fake in (tg, sl):
        fake.wait(text="Answered", stage="arrived", since=since[fake])
    look_at(host, folder, "while answers are on their way")
    crash(host, folder)
    look_at(host, folder, "after a crash")
    tg.control("down", {})
    tg.control("clear", {})
    sl.control("clear", {})
    host.start()
    until(lambda: "cannot reach the service" in host.log(), "the log reports the outage")
    tg.control("up", {})
    wait_for_answers(tg, sl, 2, "answers after the crash")
    refuse_all(tg, sl, host)


def refuse_all(tg, sl, host):
    """An answer that Telegram refuses becomes a dead letter; then the tokens become invalid."""
    words = "Forbidden: bot was blocked by the user"
    match = {"text": "Answered"}
    tg.control("fault", {"match": match, "do": "error", "code": 403, "description": words})
    ask(tg, sl, "third")
    until(lambda: "No dead letters" not in host.run("dead", "list")[1], "a refused answer is a dead letter")
    sl.control("options", {"tokens_revoked": True})
    tg.control("options", {"token": "123456:another"})
    ask(tg, sl, "fourth")
    until(lambda: "(Unauthorized)" in host.log(), "a refused token is logged")
    host.stop()


def first_round(folder):
    """The host with polling and Socket Mode."""
    os.environ["CANARY_TOKEN"] = TELEGRAM_TOKEN
    with tempfile.TemporaryDirectory() as secret, Fake("telegram") as tg, Fake("slack") as sl:
        file = pathlib.Path(secret, "app-token")
        file.touch(mode=0o600)
        file.write_text(SLACK_TOKENS[1] + "\n")
        instances = (
            telegram(tg, allow=[1000], agent="dumper", token="env:CANARY_TOKEN")
            + slack(sl, allow=["U0ALICE"], agent="dumper", app_token=f"file:{file}")
            + witnesses(folder)
        )
        with Host(instances, agents=dumping_agent(folder), extra=DEBUG) as host:
            converse(tg, sl, host, folder)
            look_at(host, folder, "in the end")
            for words in (["dead", "list"], ["dead", "show", "1"], ["check"], ["plugins", "slack"]):
                none_in(host.run(*words)[1], {**TELEGRAM, **SLACK}, "turncast " + " ".join(words))
        none_in(json.dumps(tg.record()), SLACK, "what Telegram was told")
        none_in(json.dumps(sl.record()), TELEGRAM, "what Slack was told")


def second_round(folder):
    """The host with webhooks, and with servers without TLS."""
    with Fake("telegram") as tg, Fake("slack") as sl:
        tls = f"https://127.0.0.1:{tg.port}"
        hook = {"webhook": "https://example.org/hooks/tg/update", "webhook_secret": WEBHOOK_SECRET}
        instances = (
            telegram(tg, allow=[1000], agent="dumper", **hook)
            + slack(sl, allow=["U0ALICE"], agent="dumper", signing_secret=SLACK_TOKENS[2])
            + telegram(tg, api_base=tls).replace("tg :", "tls_tg :", 1)
            + slack(sl, api_base=tls + "/api/").replace("sl :", "tls_sl :", 1)
            + witnesses(folder)
        )
        extra = DEBUG + 'http : { listen = "127.0.0.1:0"; };'
        with Host(instances, agents=dumping_agent(folder), extra=extra) as host:
            until(lambda: re.search(r"listening on port (\d+)", host.log()), "the log has the port")
            port = re.search(r"listening on port (\d+)", host.log()).group(1)
            hooks = f"http://127.0.0.1:{port}/hooks/sl"
            sl.control("events_url", {"url": f"{hooks}/events", "secret": SLACK_TOKENS[2]})
            tg.wait(method="setWebhook")
            for sign in ("bad", "old", "none", "good"):
                sl.control("push", {"payload": {"type": "event_callback"}, "sign": sign})
            for name in ("tls_tg", "tls_sl"):
                line = rf"{name}: cannot reach the service: .*(SSL|TLS)"
                until(lambda: re.search(line, host.log()), f"the log reports {name}")
            host.stop()
            look_at(host, folder, "with webhooks and TLS")


def main():
    the_search_finds()
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    for scene in (first_round, second_round):
        with tempfile.TemporaryDirectory(prefix="turncast-canary.") as name:
            os.chdir(name)  # where a core would be
            scene(pathlib.Path(name))
            os.chdir("/")
    done()


main()
