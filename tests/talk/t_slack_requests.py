# SPDX-License-Identifier: MIT
"""Requests of the agent are answered in Slack: by buttons, by inputs, by replies. Cases are named after
requirements on a connector."""
import html
import json
import os
import pathlib
import re
import signal

from cases import await_, run, same
from people import Question, messages
from slackers import ALLOWED, STRANGER, Person, button, free_port, listens
from talk import BUILD, SLACK_TOKENS, Fake, Host, done, equal, slack

ASKER = json.dumps([str(BUILD / "tests" / "fake" / "asker")])
AGENTS = f"""asker : {{ command = {ASKER}; exit_grace_s = 1; term_grace_s = 1; attempts = 1; }};
brief : {{ command = {ASKER}; exit_grace_s = 1; attempts = 1; ask_timeout_s = 2; }};"""
EXTRA = """visibility : { show_tools = true; };
conversations : { max_turns = 64; debounce_ms = 50; };"""
APPROVERS = ALLOWED[:60]  # the others may ask, and not answer


class Asker(Person):
    """A user who tells the agent what to request, and answers it."""

    def begin(self, words):
        """Waits for the message of the request with its buttons, and returns it."""
        self.asked = Question("slack", self.chat, self.say(words), "-")
        return self.card()

    def card(self, buttons=True):
        found = await_(lambda: [m for m in self.seen(self.asked) if is_card(m, buttons)], "a card")
        return found[-1]

    def press(self, card, choice, user=None, **more):
        body = {"channel": self.chat, "user": user or self.id, "ts": card["id"], **more}
        return self.fake.control("action", {**button(card, choice), **body})

    def decided(self, card, words):
        """Waits until the card shows the text and has no buttons."""
        shown = await_(lambda: [m for m in self.seen(self.asked) if m["id"] == card["id"]
                                and words in plain(m["text"]) and not m["buttons"]], words)  # fmt: skip
        return shown[0]

    def told(self, text, user=None):
        """Waits for a message that only this user sees."""
        user = user or self.id
        await_(lambda: [m for m in messages(self.fake, self.chat) if m["ephemeral_for"] == user
                        and re.search(text, m["text"])], f"{text!r} to {user}")  # fmt: skip

    def answers(self):
        """The decision that the agent received, which is its answer."""
        text = await_(lambda: [m for m in self.seen(self.asked) if '{"behavior"' in m["text"]],
                      "the answer")[0]["text"]  # fmt: skip
        shown = plain(text)
        return json.JSONDecoder().raw_decode(shown[shown.index('{"behavior"') :])[0]


def plain(text):
    """The text of Markdown as a user reads it."""
    return html.unescape(re.sub(r"\\([^\w\s])", r"\1", text))


def is_card(message, buttons):
    about = any(word in message["text"] for word in ("Approval needed", "Question"))
    return about and bool(message["buttons"]) == buttons


def stranger(fake):
    fake.control("user", {"id": STRANGER, "name": "stranger"})
    return STRANGER


# ---- cases ----


def approve(fake, host):
    """a button allows; the message names the user, and has no buttons any more"""
    person = Asker(fake)
    card = person.begin("run=df &lt;!here&gt; *x*")  # as Slack tells what was typed
    assert "df <!here> *x*" in plain(card["text"]), card["text"]
    same(card["buttons"][0][0], "Allow")
    person.press(card, "allow")
    same(person.answers()["behavior"], "allow")
    person.decided(card, f"Allowed by {person.id.lower()} (sl)")


def deny(fake, host):
    """a reply denies with a reason, which the agent receives, and is not a prompt"""
    person = Asker(fake)
    card = person.begin("run=rm")
    person.say("Deny: not on Friday", person.asked.message)
    said = person.answers()
    same(said["behavior"], "deny")
    assert "not on Friday" in said["message"], said
    person.decided(card, f"Denied by {person.id} (sl): not on Friday")
    person.say("deny: once more", person.asked.message)
    person.hear("^No request is open", person.asked.message)
    same(len([m for m in person.seen(person.asked) if "behavior" in m["text"]]), 1, "turns")


def single(fake, host):
    """a question is answered by a chosen option"""
    person = Asker(fake)
    card = person.begin("single")
    person.press(card, "answer")
    person.told("answer every question")
    person.press(card, "answer", values={"q.0": "Green"})
    same(person.answers()["updatedInput"]["answers"], {"Which colour?": "Green"})
    person.decided(card, "Green")


def two(fake, host):
    """several questions, and several answers to one, with a written answer"""
    person = Asker(fake)
    card = person.begin("two")
    person.press(card, "answer", values={"w.0": "Beige", "q.1": ["Red", "Blue"]})
    found = person.answers()["updatedInput"]["answers"]
    same(found["Which colour?"], "Beige")
    assert "Red" in str(found["Which colours fit?"]) and "Blue" in str(found["Which colours fit?"])
    person.decided(card, "Beige")


def words(fake, host):
    """a text is written in the message, or replied"""
    person = Asker(fake)
    card = person.begin("text")
    person.press(card, "answer", values={"w.0": "Bo & <Co>"})
    same(person.answers()["updatedInput"]["answers"], {"What name?": "Bo & <Co>"})
    person.decided(card, "Bo & <Co>")
    other = Asker(fake)
    card = other.begin("text")
    other.say("answer: Jo", other.asked.message)
    same(other.answers()["updatedInput"]["answers"], {"What name?": "Jo"})
    other.decided(card, "Jo")


def strangers(fake, host):
    """R21: a stranger, and a user who may ask but not answer, have no effect"""
    person = Asker(fake)
    card = person.begin("run=df")
    unfit = ALLOWED[-1]
    fake.control("user", {"id": unfit, "name": "unfit"})
    for user in (stranger(fake), unfit):
        person.press(card, "allow", user)
        person.told("", user)
    same(person.card()["buttons"], card["buttons"], "after them")
    person.press(card, "deny")
    same(person.answers()["behavior"], "deny")


def forged(fake, host):
    """R21: forged, foreign and repeated presses have no effect"""
    person, other = Asker(fake), Asker(fake)
    card, theirs = person.begin("run=df"), other.begin("run=du")
    value = value_of(card, "allow")
    other_ticket = value[:-7] + ("A" if value[-7] != "A" else "B") + ":allow"
    for wrong in (other_ticket, "x" * 40, "a:../x:allow", ""):
        person.press(card, "allow", action_id=f"turncast:{wrong}", value=wrong, force=True)
    person.press(card, "allow", action_id="turncast:a:other:allow", force=True)
    same(person.card()["buttons"], card["buttons"], "after them")
    person.press(card, "allow")
    person.decided(card, "Allowed by")
    presses = [r["payload"] for r in fake.record() if r["kind"] == "inbound"
               and r["payload"].get("container", {}).get("message_ts") == card["id"]]  # fmt: skip
    fake.control("again", {"payload": presses[-1]})  # it has had its effect
    person.press(card, "allow", force=True)
    await_(lambda: len(whispers(person)) == 2, "the notices about another request and about a late press")
    same(other.card()["buttons"], theirs["buttons"], "of the other one")
    other.press(theirs, "deny")
    same(other.answers()["behavior"], "deny")


def at_once(fake, host):
    """of two concurrent presses one counts, and the other is told"""
    person, other = Asker(fake), Asker(fake)
    card = person.begin("run=df")
    person.press(card, "allow")
    person.press(card, "deny", other.id, force=True, value=value_of(card, "deny"))
    same(person.answers()["behavior"], "allow")
    person.told("Already (allowed|denied|answered) by|already closed", other.id)
    person.decided(card, "Allowed by")


def whispers(person):
    found = [m for m in messages(person.fake, person.chat) if m["ephemeral_for"] == person.id]
    return [m for m in found if "already closed" in m["text"] or "Already " in m["text"]]


def value_of(card, choice):
    return button(card, choice)["value"]


def stops(fake, host):
    """R19: stopping the turn closes its open requests"""
    person = Asker(fake)
    card = person.begin("run=df")
    person.say("!stop", person.asked.message)
    person.decided(card, "the turn has ended")
    person.sees_end_of(person.asked)


def fills(fake, *, url=None):
    options = {"allow": ALLOWED, "approvers": APPROVERS, "agent": "asker", "stream": False}
    options["grants"] = ["submit", "cancel", "answer"]
    if url:
        return slack(fake, **options, signing_secret=SLACK_TOKENS[2]).replace(
            f'app_token = "{SLACK_TOKENS[1]}";', ""
        )
    return slack(fake, **options)


# ---- one after the other ----


def expired(fake, host):
    """a request without an answer in time is denied, and a late press is told so"""
    person = Asker(fake)
    card = person.begin("run=df")
    same(person.answers()["behavior"], "deny")
    person.decided(card, "Denied: no answer")
    person.press(card, "allow", force=True, value=value_of(card, "allow"))
    person.told("has expired|already closed")


def instance_dies(fake, host):
    """the connector is killed: its buttons keep working, and are removed"""
    person = Asker(fake)
    card = person.begin("run=df")
    before = len(connections(fake))
    os.kill(process_of(host, "sl"), signal.SIGKILL)
    await_(lambda: len(connections(fake)) > before, "another connection")
    fake.wait(sockets=1, timeout=30)
    person.press(card, "allow")
    same(person.answers()["behavior"], "allow")
    person.decided(card, "Allowed by")


def connections(fake):
    return [r for r in fake.record() if r["kind"] == "socket" and r["event"] == "open"]


def process_of(host, instance):
    for task in pathlib.Path(f"/proc/{host.process.pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            if pathlib.Path(f"/proc/{child}/comm").read_text().strip() == instance:
                return int(child)
    raise AssertionError(f"no process of {instance}")


def host_dies(fake, host):
    """the host is killed: the turn has ended, the buttons are removed, a late press is refused"""
    person = Asker(fake)
    card = person.begin("run=df")
    host.kill()
    host.start()
    person.decided(card, "the turn has ended")
    fake.wait(sockets=1, timeout=30)
    person.press(card, "allow", force=True, value=value_of(card, "allow"))
    person.told("")
    assert [m for m in person.seen(person.asked) if m["text"].startswith("⚠")]


def slow_end(fake, host):
    """R19: Slack's own Stop is confirmed when no process of the agent is left"""
    person, before = Asker(fake), agents_of(host)
    card = person.begin("run=df, stubborn")
    agents = agents_of(host) - before
    assert agents, "no agent runs"
    where = {"user": person.id, "channel": person.chat, "thread_ts": person.asked.message}
    fake.control("stop", where)
    person.sees_end_of(person.asked)
    same(agents_of(host) & agents, set(), "processes of the agent")
    person.decided(card, "the turn has ended")


def agents_of(host):
    """The agent processes of this host, found by their home directory, because other hosts may run."""
    found, home = set(), f"HOME={host.folder}\0".encode()
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            asks = (process / "comm").read_text().strip() == "asker"
            if asks and home in (process / "environ").read_bytes():
                found.add(process.name)
        except OSError:
            pass  # it ends
    return found


def by_socket():
    with Fake("slack") as fake:
        with Host(fills(fake), agents=AGENTS, extra=EXTRA) as host:
            fake.wait(sockets=1)
            run([approve, deny, single, two, words, strangers, forged, at_once, stops], fake, host)
            run([slow_end, instance_dies, host_dies], fake, host, at_once=1)
            equal(host.stop(), 0, "by socket: the host exits with status 0")
            equal(host.log().count("ignored a button press from user"), 1, "the forged press is logged once")
        equal({v["rule"] for v in fake.violations()} - {"too-fast"}, set(), "a strict service rejected no request")


def in_time():
    with Fake("slack") as fake:
        instance = fills(fake).replace('agent = "asker"', 'agent = "brief"')
        with Host(instance, agents=AGENTS, extra=EXTRA) as host:
            fake.wait(sockets=1)
            run([expired], fake, host)


def by_http():
    with Fake("slack") as fake:
        port = free_port()
        url = f"http://127.0.0.1:{port}/hooks/sl/events"
        extra = EXTRA + f'http : {{ listen = "127.0.0.1:{port}"; }};'
        with Host(fills(fake, url=url), agents=AGENTS, extra=extra) as host:
            await_(lambda: listens(port), "the server")
            fake.control("events_url", {"url": url, "interactive": url})
            run([approve, deny, two, strangers], fake, host)
            person = Asker(fake)
            card = person.begin("run=df")
            payload = {"type": "block_actions", "user": {"id": person.id}, "actions": [
                button(card, "allow")]}  # fmt: skip
            payload |= {"channel": {"id": person.chat}, "container": {"message_ts": card["id"]}}
            for sign in ("bad", "old", "none"):
                push = {"payload": payload, "sign": sign, "kind": "interactive"}
                equal(fake.control("push", push)["status"], 401, f"R21: {sign}: refused")
            person.press(card, "deny")
            equal(person.answers()["behavior"], "deny", "R21: the refused requests had no effect")
            equal(host.stop(), 0, "by http: the host exits with status 0")
        equal(fake.violations(), [], "by http: a strict service rejected no request")


by_socket()
in_time()
by_http()
done()
