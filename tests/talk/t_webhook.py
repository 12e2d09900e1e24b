#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""End-to-end webhooks: an endpoint that checks signatures, the host, an agent, and programs that send signed
messages."""
import json
import re

from cases import await_, run, same
from deciders import agents
from sender import Sender
from slackers import free_port
from talk import SOURCE, WEBHOOK_SECRETS, Fake, Host, done, equal, webhook

OUT = WEBHOOK_SECRETS[0]


def events(fake, conversation, type_=None):
    found = [e["body"] for e in fake.state()["events"]]
    found = [b for b in found if (b.get("conversation") or "").endswith(conversation)]
    return [b for b in found if type_ in (None, b["type"])]


def hear(fake, conversation, type_):
    return await_(lambda: events(fake, conversation, type_), f"{type_} of {conversation}")[-1]


def code(answer):
    return answer[0], answer[1]["error"]["code"]


# ---- cases beside each other


def round_(fake, sender, host):
    """R2, R24: a message, the start of its turn and its outcome carry the route of the message"""
    turn = sender.ask("id=round", conversation="round", route={"job": 7})
    final = hear(fake, "round", "turn.final")
    same(final["data"]["payload"]["text"].split()[:2], ["Answer", "round"])
    same(json.loads(final["route"]), {"job": 7})
    same([e["type"] for e in events(fake, "round")], ["turn.start", "turn.final"], "their order")
    same({e["data"]["correlation_id"] for e in events(fake, "round")}, {turn or final["turn"]})


def error(fake, sender, host):
    """R2: a turn that fails has an error"""
    sender.ask("id=bad fail", conversation="bad")
    assert hear(fake, "bad", "turn.error")["data"]["payload"]["message"]


def again(fake, sender, host):
    """R18: a message that is sent again is answered once, and the response says so"""
    body = {"user": "ci", "text": "id=again", "conversation": "again"}
    first, second = (sender.send(body, id_="msg_again") for _ in range(2))
    same((first[0], second[0], second[1]["state"]), (202, 200, "known"))
    hear(fake, "again", "turn.final")
    same(len(events(fake, "again", "turn.final")), 1)


def approval(fake, sender, host):
    """a request of the agent is decided with the ticket of the event"""
    sender = sender.asker
    sender.ask("run=pwd", conversation="approval")
    asked = hear(fake, "approval", "turn.request")
    same([c["id"] for c in asked["data"]["payload"]["choices"]][0], "allow")
    decision = {"user": "ci", "conversation": "approval"}
    decision["answer"] = {"ticket": asked["ticket"], "choice": "allow"}
    other = {**decision, "user": "listed"}
    same(sender.send(other)[0], 403, "R21: a user who may write but not decide")
    status, answer = sender.send(decision)
    same((status, answer["state"], answer["text"]), (200, "done", "Allowed."))
    late = sender.send(decision)
    same((late[0], late[1]["state"]), (200, "known"), "R21: a used ticket")
    assert '"behavior":"allow"' in hear(fake, "approval", "turn.final")["data"]["payload"]["text"]
    requests = events(fake, "approval", "turn.request")
    same([r["data"]["payload"]["state"] for r in requests], ["open", "resolved"])


def refusals(fake, sender, host):
    """R21: a request without a key, with an old signature, or of a user who is not listed is refused"""
    body = {"user": "ci", "text": "id=x", "conversation": "refused"}
    same(code(sender.send(body, key=OUT)), (401, "invalid_signature"))
    same(code(sender.send(body, age=400)), (401, "invalid_signature"))
    same(code(sender.send({**body, "user": "eve"})), (403, "not_allowed"))
    same(code(sender.send(b"{")), (400, "invalid_body"))
    same(code(sender.send(body, verb="PUT")), (405, "method_not_allowed"))
    same(events(fake, "refused"), [])


def lost(fake, sender, host):
    """R1: an event whose response is lost is sent again, with the same id and another signature"""
    fake.control("fault", {"do": "cut", "match": {"text": "Answer lost"}})
    sender.ask("id=lost", conversation="lost")
    fake.wait(60, method="post", text="Answer lost", count=2)
    same(len(events(fake, "lost", "turn.final")), 1)
    calls = [c for c in fake.record() if c["kind"] == "call" and "Answer lost" in (c["text"] or "")]
    same(len({c["chat"] for c in calls}), 1, "one id")
    same(len({c["headers"]["webhook-signature"] for c in calls}), 2, "two signatures")


def two_instances(fake, sender, host):
    """R1: two instances with one endpoint send an event under two ids, and the endpoint accepts both"""
    sender.ask("id=twice", conversation="twice")
    await_(lambda: len(events(fake, "twice", "turn.final")) == 2, "an event of each")
    calls = [c for c in fake.record() if c["kind"] == "call" and "Answer twice" in (c["text"] or "")]
    same(len({c["headers"]["webhook-id"] for c in calls}), 2, "two ids")


def masked(value):
    """The text in the form of the manual page: without ids, and with the instance of its example."""
    text = json.dumps(value, ensure_ascii=False).replace("(wa)", "(webhook)")
    return re.sub(r'"(ticket|turn)": "[^"]+"', r'"\1": "..."', text)


def told(event):
    payload, kind = event["data"]["payload"], event["type"]
    what = {
        "turn.start": lambda: {},
        "turn.request": lambda: {k: payload[k] for k in ("state", "tool", "subject", "decision", "by") if k in payload},
        "turn.final": lambda: {"text": "..."},
    }[kind]()
    ticket = {"ticket": event["ticket"]} if "ticket" in event else {}
    shown = masked({**what, **ticket})
    return f"  event    {kind}" + (f" {shown}" if what else "")


def round_lines(fake, sender):
    """A message, a request and a decision, as the endpoint and the senders see them."""
    lines = []

    def send(body, user="ci"):
        status, answer = sender.send({"user": user, "conversation": "disk", **body})
        lines.extend([f"{user:11}{masked(body)}", f"  response {status} {masked(answer)}"])

    send({"text": "How full is the disk? run=df"})
    asked = hear(fake, "disk", "turn.request")
    lines.extend(told(e) for e in events(fake, "disk"))
    send({"answer": {"ticket": asked["ticket"], "choice": "allow"}}, user="ann")
    hear(fake, "disk", "turn.final")
    lines.extend(told(e) for e in events(fake, "disk")[2:])
    return lines


def manual(fake, sender, host):
    """the manual page shows a round unchanged"""
    page = (SOURCE / "plugins" / "webhook" / "turncast-webhook.7").read_text()
    block = page.split('as the endpoint and the senders see it:\n.Bd -literal\n')[1].split("\n.Ed")[0]
    found = "\n".join(round_lines(fake, sender.asker))
    same(found.split("\n"), block.split("\n"), f"wanted\n{found}")


# ---- one after the other


def outage(fake, sender, host):
    """R2, R26: the endpoint is unreachable and the host is killed: each outcome arrives once"""
    fake.control("down")
    for n in range(3):
        sender.ask(f"id=away-{n}", conversation=f"away-{n}")
    await_(lambda: not running(host) and "cannot reach the service" in host.log(), "the turns")
    host.kill()
    fake.control("up")
    host.start()
    for n in range(3):
        hear(fake, f"away-{n}", "turn.final")
        hear(fake, f"away-{n}", "turn.start")
        same([e["type"] for e in events(fake, f"away-{n}")], ["turn.start", "turn.final"], "their order")


def running(host):
    status, text = host.run("status", "--json")
    return status != 0 or bool(json.loads(text)["turns"])


def dead(host, count):
    """The numbers of the dead letters, if there are `count`."""
    numbers = re.findall(r"^(\d+) ", host.run("dead", "list")[1], re.MULTILINE)
    return numbers if len(numbers) == count else None


def gone(fake, sender, host):
    """R2: after status 410 the outcome is a dead letter, which can be sent again when the endpoint is back"""
    fake.control("fault", {"do": "error", "status": 410, "times": 0})
    sender.ask("id=gone", conversation="gone")
    await_(lambda: "the endpoint has answered 410 Gone" in host.log(), "the log")
    letters = await_(lambda: dead(host, 2), "dead letters of start and final")
    fake.control("clear")
    status, told = host.run("restart", "wh")
    same(status, 0, told)
    await_(host.has_started, "the instance")
    status, told = host.run("dead", "retry", *letters)
    same(status, 0, told)
    hear(fake, "gone", "turn.final")


def main():
    port = free_port()
    with Fake("webhook") as fake:
        instances = webhook(fake, allow=["ci"])
        instances += f'''second : {{ plugin = "webhook"; url = "http://127.0.0.1:{fake.port}/hook"; secret = "{OUT}";
                         types = ["final"]; conversations = ["wh:twice"]; }};'''
        instances += webhook(fake, "wa", agent="asker", allow=["ci", "ann", "listed"], approvers=["ci", "ann"])
        extra = f"""http : {{ listen = "127.0.0.1:{port}"; }};
conversations : {{ max_turns = 64; debounce_ms = 0; }};"""
        with Host(instances, agents=agents(), extra=extra) as host:
            await_(host.has_started, "the instances")
            sender = Sender(port)
            run([round_, error, again, approval, refusals, lost, two_instances, manual], fake, sender, host)
            run([outage, gone], fake, sender, host, at_once=1)
            equal(fake.violations(), [], "R25: a strict endpoint rejects no request")
    done()


main()
