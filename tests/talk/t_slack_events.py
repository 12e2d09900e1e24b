# SPDX-License-Identifier: MIT
"""Conversations in Slack by the Events API: signatures, repeated events, files, buttons."""
import hashlib
import hmac
import json
import time
import urllib.error
import urllib.request

from cases import await_
from people import outcomes
from slackers import ALLOWED, EXTRA, Person, button, free_port, inbound, listens
from talk import SLACK_TOKENS, Fake, Host, done, equal, ok, slack


def hit(url, body, changed=None, age=0):
    """Sends one request, signed as Slack does; `changed` replaces the body after signing."""
    stamp = str(int(time.time()) - age)
    base = f"v0:{stamp}:".encode() + body
    digest = hmac.new(SLACK_TOKENS[2].encode(), base, hashlib.sha256).hexdigest()
    headers = {"X-Slack-Signature": f"v0={digest}", "X-Slack-Request-Timestamp": stamp}
    headers["Content-Type"] = "application/json"
    try:
        request = urllib.request.Request(url, changed or body, headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def raw_event(person, id_):
    """JSON in a form that no encoder writes."""
    event = (
        f'{{"type":\t"message", "channel":"{person.chat}","channel_type":"im","user":"{person.id}",'
        f'"ts":"{int(time.time())}.000001", "text":"id={id_} \\u00fc ü"}}'
    )
    return f' {{ "type":"event_callback","event_id":"{id_}","event":{event} }}\n'.encode()


def signatures(fake, url):
    person = Person(fake)
    body = raw_event(person, "zanzibar")
    for sign in ("bad", "old", "future", "none"):
        payload = json.loads(body)
        answer = fake.control("push", {"payload": payload, "sign": sign})
        equal(answer["status"], 401, f"R21: a signature that is {sign} is refused")
    equal(hit(url, body, body.replace(b"\t", b" ")), 401, "R21: the signature covers the bytes, not the JSON")
    equal(hit(url, body, age=290), 200, "R21: a recently signed, unchanged request is accepted")
    fake.wait(method="chat.postMessage", chat=person.chat, text="Answer zanzibar")
    proof = fake.control("push", {"challenge": "3eZbrw1aB"})
    equal((proof["status"], proof["body"]), (200, "3eZbrw1aB"), "the endpoint is verified")


def again(fake, host):
    person = Person(fake)
    asked = person.ask()
    person.answer(asked)
    payload = inbound(fake, asked.message)
    retry = {"payload": payload, "retry": 1, "reason": "http_timeout"}
    equal(fake.control("push", retry)["status"], 200, "R18: a repeated event is accepted")
    kept = Person(fake)
    held_ = {"type": "message", "channel": kept.chat, "channel_type": "im", "user": kept.id}
    held_ |= {"ts": asked.message, "text": "id=kept"}
    event = {**payload, "event_id": "EvKept", "event": held_}
    equal(fake.control("push", {"payload": event})["status"], 200, "R17: an event is acknowledged with 200")
    host.kill()
    host.start()
    # The turn may have begun: then it is told that the host died under it.
    fake.wait(method="chat.postMessage", chat=kept.chat, text="Answer kept|⚠")
    ok(True, "R17: the event is acknowledged after it is on disk")
    await_(lambda: fake.control("push", retry)["status"] == 200, "the second retry")
    person.answer(person.ask())
    equal(len(person.seen(asked)), 1, "R18: a repeated event is answered once, also over a restart")


def files_and_buttons(fake):
    person = Person(fake)
    asked = person.ask(files=[{"name": "a.txt", "content": "x" * 1234}])
    fake.wait(method="download", status=200)
    retry = {"payload": inbound(fake, asked.message), "retry": 2}
    await_(lambda: fake.control("push", retry)["status"] == 200, "the message with a file")
    text = person.answer(asked)["text"]
    ok("The files have 1234 bytes." in text, "R28: a message with a file is accepted in the end", text)
    cut = person.ask("tools=1 ms=600000")
    shown = person.hear("Looking at part 1", cut.message, buttons=1)
    press = {"channel": person.chat, "ts": shown["id"], **button(shown, "stop")}
    fake.control("action", {**press, "user": person.id})
    person.sees_end_of(cut)
    ok(True, "R19: the button stops the turn")
    equal(len(outcomes(person, asked)), 1, "R18: the stopped message is answered once")


def by_http():
    with Fake("slack") as fake:
        port = free_port()
        url = f"http://127.0.0.1:{port}/hooks/sl/events"
        options = {"signing_secret": SLACK_TOKENS[2], "stream": False}
        instance = slack(fake, allow=ALLOWED, **options).replace(
            f'app_token = "{SLACK_TOKENS[1]}";', ""
        )
        with Host(instance, extra=EXTRA + f'http : {{ listen = "127.0.0.1:{port}"; }};') as host:
            await_(lambda: listens(port), "the server")
            status = hit(url, b"{}", b"[]")
            ok(status in (401, 503), "before the instance has started, Slack is told to wait", status)
            await_(host.has_started, "all instances have started")
            fake.control("events_url", {"url": url, "interactive": url})
            signatures(fake, url)
            files_and_buttons(fake)
            again(fake, host)
            equal(host.run("restart", "sl")[0], 0, "a restart")
            equal(hit(url, b"{}", b"[]"), 401, "the path is served again")
            opened = [r for r in fake.record() if r.get("method") == "apps.connections.open"]
            equal((host.stop(), opened), (0, []), "the host exits with status 0, and opened no socket")
        equal(fake.violations(), [], "over HTTP: a strict service rejected no request")


by_http()
done()
