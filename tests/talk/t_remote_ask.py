#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Requests of agents on other machines, decided in Telegram: approvals and questions of services and of agents
that run through NATS."""
from cases import run, same
from deciders import APPROVERS, Person
from remotes import TOKEN, near, natsd, service, through_nats, until
from talk import BUILD, Fake, Host, done, equal, ok, telegram

from awaken_service import Awaken  # noqa: E402
from door import KEYS  # noqa: E402
from ethos_service import Ethos  # noqa: E402
from reasonix_service import Reasonix  # noqa: E402
from tirea_service import Tirea  # noqa: E402


def decide(fake, agent, words, button, heard):
    person = Person(fake)
    person.say(f"/agent {agent}")
    person.hear(agent)
    message = person.is_asked(words)
    assert message["buttons"][0] == ["Allow"], message
    same(person.press(message, button), ("Allowed." if button == "Allow" else "Denied.", False))
    person.sees_end(message, f"{'Allowed' if button == 'Allow' else 'Denied'} by {person.name()}")
    person.hear(heard)


def answer(fake, agent, words, heard):
    """Answers by a reply, whose text the agent receives."""
    person = Person(fake)
    person.say(f"/agent {agent}")
    person.hear(agent)
    message = person.is_asked(words)
    person.say('an "odd" färbe', reply_to=message["id"])
    person.sees_end(message, f"Answered by {person.name()}")
    person.hear(heard)


def case(what, function, *given):
    def ask(fake, _host):
        function(fake, *given)
    ask.__doc__ = what
    return ask


KINDS = (  # agent, what asks for approval, what is heard when it is allowed, when it is denied
    ("reasonix", "run=ls", "Ran ls", "Did not run ls"),
    ("awaken", "approve", r'resume \{"approved": true', r'cancel \{"approved": false'),
    ("ethos", "run=ls", "ls: allowed once", "ls: denied"),
    ("turncast", "run=ls", '"behavior":"allow"', '"behavior":"deny"'),
    ("calls", "run=ls", "Ran ls", "Did not run ls"),
    ("interrupts", "run=ls", "Ran ls", "Did not run ls"),
)
QUESTIONS = (
    ("awaken", "input", 'resume .*odd'),
    ("turncast", "text", 'What name.*odd.*färbe'),
    ("calls", "ask", 'The colour is an "odd" färbe'),
    ("interrupts", "ask", 'The colour is an "odd" färbe'),
)
CASES = (
    [case(f"{a}: a press allows a call", decide, a, words, "Allow", allowed) for a, words, allowed, _ in KINDS]
    + [case(f"{a}: a press denies it", decide, a, words, "Deny", denied) for a, words, _, denied in KINDS]
    + [case(f"{a}: a reply answers a question", answer, a, words, heard) for a, words, heard in QUESTIONS]
)


def conversation(server, far):
    fakes = [Reasonix(TOKEN), Awaken(TOKEN), Ethos(TOKEN), Tirea(server, "test.calls"),
             Tirea(server, "test.interrupts", interrupts=True)]
    reasonix, awaken, ethos, *gateways = fakes
    agents = (service("reasonix", "reasonix", reasonix.port)
              + service("awaken", "awaken", awaken.port, more='remote_agent = "planner";')
              + service("ethos", "ethos", ethos.port, more='remote_agent = "planner";')
              + service("turncast", "turncast", far.port, more='remote_agent = "asker";').replace(TOKEN, KEYS["root"][0])
              + through_nats("calls", server.url(), subject="test.calls", agent="a")
              + through_nats("interrupts", server.url(), subject="test.interrupts", agent="a"))
    names = [kind[0] for kind in KINDS]
    with Fake("telegram") as fake:
        instance = telegram(fake, grants=["submit", "cancel", "answer"], allow=APPROVERS, approvers=APPROVERS,
                            agent="reasonix", agent_choices=names[1:])
        with Host(instance, agents=agents, extra="conversations : { debounce_ms = 50; };") as host:
            fake.wait(30, polling=1)
            for each in CASES:  # one server of Reasonix has one session
                run([each], fake, host)
            ok(TOKEN not in host.log(), "the log does not show the token")
        equal(fake.violations(), [], "a strict service rejected no request")
    for each in fakes:
        each.close()
        equal(each.violations, [], f"{type(each).__name__}: no request violates a rule of the service")


def main():
    if not natsd.available():
        ok(True, "# SKIP no nats-server")
        done()
        return
    asker = f'asker : {{ command = ["{BUILD}/tests/fake/asker"]; attempts = 1; }};'
    with natsd.NatsServer() as server, near(asker) as far:
        until(far.has_started, "the other host runs")
        conversation(server, far)
    done()


main()
