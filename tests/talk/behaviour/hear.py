# SPDX-License-Identifier: MIT
"""Messages of users: commands, visibility words, queues, repeated messages. Cases of the behaviour suite."""
from cases import await_, same
from place import needs
from show import STOPPING, STOPS


def commands(place):
    """B5: the host answers start and help without a turn"""
    person = place.person()
    person.command("start")
    person.hear("Messages in this chat go to the agent")
    person.command("help")
    person.hear("Commands:")
    same(person.seen("Answer"), [], "what the agent said")


def by_mark(place):
    """B4: commands and visibility words may begin with ! everywhere"""
    person = place.person()
    person.say("!queue")
    person.hear("The queue is empty")
    person.say("!show-tools")
    person.hear("Shown:")
    person.say("!hide-thinking")
    person.hear("Hidden:")
    same(person.seen("Answer"), [], "what the agent said")


@needs("slash")
def by_slash(place):
    """B4: commands may begin with / where the service passes them on"""
    person = place.person()
    person.say("/queue")
    person.hear("The queue is empty")
    person.say("/show-tools")
    person.hear("Shown:")
    same(person.seen("Answer"), [], "what the agent said")


def queue(place):
    """R26: messages during a turn wait, are reported as waiting, and are answered in order"""
    person = place.person()
    first = person.ask("tools=1 gated")
    person.progress("Looking at part 1")
    second = person.ask("second")
    place.sees_wait(person, second)
    person.command("queue")
    person.hear("1 message in the queue")
    place.host.let_go(first.id)
    person.answer(second)
    # A progress message that is about to be removed contains the answer, too, and has a button.
    order = [m["text"].split()[1] for m in person.seen("^Answer") if not m["buttons"]]
    same(order, [first.id, second.id], "answers")


@needs("again")
def twice(place):
    """R18, A3: a message and a command that are delivered again under another id are accepted once"""
    person = place.person()
    question = person.ask("tools=1 gated")
    person.progress("Looking at part 1")
    place.again(place.sent(question.message))
    stop = person.command("stop")
    place.again(place.sent(stop))
    person.hear(r"\AStopped\.")
    last = person.ask()
    person.answer(last)
    same([m["text"] for m in person.seen("^Answer")][1:], [], "other answers")
    same([m["text"] for m in person.seen(STOPS) if m["text"] != STOPPING], ["Stopped."], "words about it")


def stranger(place):
    """R21: a user who is not allowed gets no answer"""
    other = place.person(user=place.user(95))
    other.say("tools=1 zanzibar")
    other.command("status")
    friend = place.person()
    friend.answer(friend.ask())
    same([m for m in other.screen()], [], "messages to the stranger")
    for path in place.host.state.rglob("*"):
        assert not path.is_file() or b"zanzibar" not in path.read_bytes(), path


CASES = [queue, twice, commands, by_mark, by_slash, stranger]
