#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""End-to-end notifications: a strict server, a phone, the host, an agent. Turns begin with messages to the
instance wh of the connector webhook."""
from cases import await_, run, same
from deciders import agents
from slackers import free_port
from sender import Sender
from talk import NTFY_SECRETS, SOURCE, Fake, Host, done, equal, ntfy, webhook


def shown(fake, text):
    return [m for m in fake.state()["shown"] if text in m["text"]]


def hear(fake, text):
    return await_(lambda: shown(fake, text), text)[-1]


def press(fake, message, button):
    return fake.control("press", {"id": message["id"], "button": button})


def answer(fake, sender, host):
    """R2: an answer is one notification with the unchanged text of the agent"""
    sender.ask("id=plain echo={option:token} {secret:x}", conversation="plain")
    found = hear(fake, "Answer plain")
    assert "{option:token} {secret:x}" in found["text"], found
    same((found["priority"], found["buttons"], found["title"]), (3, [], "main"))
    same(len(shown(fake, "Answer plain")), 1)


def error(fake, sender, host):
    """R2: an error has a higher priority"""
    sender.ask("id=bad fail", conversation="bad")
    found = await_(lambda: [m for m in fake.state()["shown"] if m["title"] == "main: error"], "the error")
    same((found[0]["priority"], found[0]["tags"]), (4, ["warning"]))


def long(fake, sender, host):
    """R11: a long answer is cut below the limit of the server, and its notification opens the page"""
    sender.ask("id=long chars=20000", conversation="long")
    found = hear(fake, "Answer long")
    assert found["text"].endswith("…") and 3000 < len(found["text"].encode()) <= 3900, found
    assert found["click"].startswith("http://127.0.0.1:"), found


def lost(fake, sender, host):
    """R1: a notification whose response is lost is shown once"""
    fake.control("fault", {"do": "cut", "match": {"text": "Answer lost"}})
    sender.ask("id=lost", conversation="lost")
    fake.wait(60, method="publish", text="Answer lost", count=2)
    same(len(shown(fake, "Answer lost")), 1, "of one sequence, the newest")


def by_topic(fake, sender, host):
    """an approval by a button that publishes to the second topic; the notification then shows who decided"""
    sender.asker.ask("run=pwd", conversation="topic")
    card = hear(fake, "pwd")
    same((card["buttons"], card["priority"]), (["Allow", "Allow for this session", "Deny"], 4))
    same(press(fake, card, "Allow")["status"], 200)
    hear(fake, '"behavior":"allow"')
    await_(lambda: not shown(fake, "pwd") or not shown(fake, "pwd")[-1]["buttons"], "no buttons")
    same((hear(fake, "→ Allowed by")["priority"], hear(fake, "→ Allowed by")["buttons"]), (1, []))
    press(fake, card, "Deny")
    same(hear(fake, "closed")["priority"], 2, "R21: a late press is reported")


def by_address(fake, sender, host):
    """an approval by a button that posts to the host"""
    sender.asker.ask("run=uptime", conversation="address")
    found = await_(lambda: [m for m in fake.state()["messages"] if m["topic"] == "other-topic" and "uptime" in m["message"]], "the card")
    said = press(fake, found[0], "Deny")
    same((said["status"], said["body"]), (200, '{"text":"Denied."}'))
    late = press(fake, found[0], "Allow")
    same(late["status"], 409, "R21: the request is closed")


def on_phone(message):
    head = f"({message['priority']}) {message['title']}"
    buttons = "".join(f"[ {label} ] " for label in message["buttons"]).rstrip()
    return [head, f"    {message['text']}"] + ([f"    {buttons}"] if buttons else [])


def manual(fake, sender, host):
    """the manual page shows a round unchanged"""
    page = (SOURCE / "plugins" / "ntfy" / "turncast-ntfy.7").read_text()
    block = page.split("with their priorities:\n.Bd -literal\n")[1].split("\n.Ed")[0]
    sender.asker.ask("How full is the disk? run=df -h", conversation="disk")
    lines = on_phone(card := hear(fake, "df -h"))
    press(fake, card, "Allow")
    end = await_(lambda: [m for m in shown(fake, "→") if m["sequence"] == card["sequence"]], "the decision")[0]
    lines += ["", "A tap on Allow; the notification is replaced, without a sound:", ""] + on_phone(end)
    lines = [line.replace("(nt)", "(ntfy)") for line in lines]  # the instance of the page's example
    same(lines, block.split("\n"), "wanted\n" + "\n".join(lines))


def outage(fake, sender, host):
    """R2, R16, R26: the server is down, the host is killed, a button is pressed meanwhile: nothing is lost"""
    sender.asker.ask("run=hostname", conversation="outage")
    card = hear(fake, "hostname")
    fake.control("down")
    sender.ask("id=away", conversation="away")
    await_(lambda: "cannot reach the service" in host.log(), "the outage")
    fake.control("up")
    fake.wait(60, sockets=1)
    host.kill()
    press(fake, card, "Allow")
    host.start()
    hear(fake, "Answer away")
    same(hear(fake, "closed")["priority"], 2, "the press was read, and came too late")


def main():
    port = free_port()
    with Fake("ntfy") as fake:
        fake.control("pace", {"requests": [100, 100]})
        base = f"http://127.0.0.1:{port}"
        instances = webhook(fake, url="", allow=["ci"])
        instances = instances.replace('url = "";', "")
        instances += webhook(fake, "wa", url="", agent="asker", allow=["ci"]).replace('url = "";', "")
        instances += ntfy(fake, public_url=base)
        instances += ntfy(fake, "nh", topic="other-topic", answers=None, public_url=base, user="bot", password=NTFY_SECRETS[2], token=None, agents=["asker"])
        extra = f"""http : {{ listen = "127.0.0.1:{port}"; }};
conversations : {{ max_turns = 64; debounce_ms = 0; }};"""
        with Host(instances, agents=agents(), extra=extra) as host:
            await_(host.has_started, "the instances")
            fake.wait(60, sockets=1)
            sender = Sender(port)
            run([answer, error, long, lost, by_topic, by_address], fake, sender, host)
            run([manual, outage], fake, sender, host, at_once=1)
            equal(fake.violations(), [], "R25: a strict server rejects no request")
    done()


main()
