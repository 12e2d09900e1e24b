# SPDX-License-Identifier: MIT
"""The messages of a turn that users see: progress, answer, error, stop. Cases of the behaviour suite."""
import html

from cases import await_, lines_of, same, session_of
from place import needs

STOPS = r"\A(Stopped|Stopping the running turn|Nothing is running)\."
STOPPING = "Stopping the running turn."  # only if the end takes longer than two seconds


def live(place):
    """R9, R20: a sign of activity is shown at once, progress after 1.5 s, then the answer instead of the progress"""
    person = place.person()
    question = person.ask("tools=2 gated")
    shown = person.progress("Looking at part 1")
    passed = person.waits_for("post")["t"] - place.asked_at(question)
    assert passed >= 1.4, f"progress after {passed} s"
    place.sees_start(person, question)
    place.host.let_go(question.id)
    same(person.progress("Looking at part 2")["id"], shown["id"], "the progress message")
    place.host.let_go(question.id)
    answer = person.answer(question)
    assert answer["id"] != shown["id"], "the answer is an edit"
    assert place.is_answer_to(answer, question), answer
    person.sees_no_progress()
    same([m["id"] for m in person.screen()], [answer["id"]], "remaining messages")


def cadence(place):
    """R4, R6: edits are not sent faster than the service allows, and the answer does not wait for them"""
    person = place.person()
    tools = 18 if place.LIMITS_METHODS else 6  # the edits of all conversations share a limit
    person.answer(person.ask(f"tools={tools} ms={int(place.EDIT_S * 1000)}"))
    times = [c["t"] for c in person.calls("edit") if c["status"] == 200]
    gaps = [b - a for a, b in zip(times, times[1:])]
    assert len(times) >= 2, times
    # One that a busy machine makes late may be followed by one in time.
    assert min(gaps) >= place.EDIT_S / 2 and sum(gaps) >= 0.8 * place.EDIT_S * len(gaps), gaps
    texts = [c["text"] for c in person.calls("edit")]
    assert len(set(texts)) == len(texts), texts


def heartbeat(place):
    """R20: the elapsed times of a turn that is silent for ten seconds are updated"""
    person = place.person()
    question = person.ask("tools=1 gated")
    person.progress("Looking at part 1")
    person.progress("1[0-9]s")
    place.host.let_go(question.id)
    person.answer(question)


def plain(place):
    """a short answer shows no progress: one message, no edit"""
    person = place.person()
    question = person.ask()
    person.answer(question)
    person.answer(person.ask())
    same([len(person.calls(k)) for k in ("post", "edit", "delete")], [2, 0, 0], "number of requests")


def parts(place):
    """R11: the parts of an answer arrive in order, and no text is lost; only the first is a reply with a notification"""
    person = place.person()
    question = person.ask(f"chars={place.LONG}")
    last = (place.LONG + 39) // 40 - 1
    person.hear(f"Line {last:06} ")
    person.sees_no_progress()
    seen = person.screen()
    assert len(seen) > 1, "one message"
    same([n for m in seen for n in lines_of(m["text"])], list(range(last + 1)), "lines")
    assert place.is_answer_to(seen[0], question), seen[0]
    if "silence" in place.CAN:
        same([m["reply_to"] for m in seen[1:]], [None] * (len(seen) - 1), "what the others answer")


@needs("silence")
def rings(place):
    """R9: progress messages are silent, and the answer notifies the user"""
    person = place.person()
    question = person.ask("tools=1 gated")
    assert person.progress()["silent"], "progress rings"
    place.host.let_go(question.id)
    assert not person.answer(question)["silent"], "the answer is silent"


@needs("typing")
def typing(place):
    """R7: typing is shown until the answer arrives, and not longer"""
    person = place.person()
    question = person.ask("tools=1 gated")
    place.fake.wait(typing=1, chat=person.chat)
    place.host.let_go(question.id)
    person.answer(question)
    place.fake.wait(typing=0, chat=person.chat)


def error(place):
    """an error is shown once, with its reason and a way to retry, which is a new turn"""
    person = place.person()
    question = person.ask("fail")
    told = person.answer(question)
    assert f"Part {question.id} is broken." in told["text"], told
    if told["buttons"]:
        person.press(told, "Retry")
    else:
        assert f"{place.COMMAND}retry" in told["text"], told
        person.command("retry")
    await_(lambda: len(person.seen("is broken")) == 2, "the second try")
    person.answer(person.ask())
    same(len(person.seen("is broken")), 2, "errors")
    if place.RETRIES_IN_THREAD:
        place.asked.remove(question)  # two turns have their outcomes there


def stop(place):
    """R19: a command stops the turn; the stop is reported once, and the command is not passed to the agent"""
    person = place.person()
    question = person.ask("tools=1 ms=600000")
    person.progress("Looking at part 1")
    person.command("stop")
    stopped = person.hear(r"\AStopped\.")
    assert place.is_answer_to(stopped, question), stopped
    person.sees_no_progress()
    person.answer(person.ask())
    same([m["text"] for m in person.seen(STOPS) if m["text"] != STOPPING], ["Stopped."], "words about it")


@needs("buttons")
def stop_by_button(place):
    """R19: the button under the progress message stops the turn"""
    person = place.person()
    question = person.ask("tools=1 ms=600000")
    person.press(person.progress("Looking at part 1"), "Stop")
    stopped = person.hear(r"\AStopped\.")
    assert place.is_answer_to(stopped, question), stopped
    person.sees_no_progress()


@needs("edit", "delete")
def deleted(place):
    """R2: a user deletes the progress message: another one is created once; the answer comes in any case"""
    person = place.person()
    question = person.ask("tools=2 gated")
    first = person.progress("Looking at part 1")
    person.delete(first)
    place.host.let_go(question.id)
    second = person.progress("Looking at part 2")
    assert second["id"] != first["id"], "it was deleted"
    place.host.let_go(question.id)
    answer = person.answer(question)
    person.sees_no_progress()
    same([m["id"] for m in person.screen()], [answer["id"]], "remaining messages")


def mentions(place):
    """R14: no text of the agent mentions everybody"""
    person = place.person()
    person.answer(person.ask("echo=@room <!channel> @everyone @here"))


def code(place):
    """A4: code and characters that are special to the service are shown as the agent wrote them, not escaped twice"""
    person = place.person()
    text = html.unescape(person.answer(person.ask("echo=`co<de>` & x < 3"))["text"])
    assert "co<de>" in text and "& x < 3" in text and "&amp;" not in text, text


def sessions(place):
    """R27: the session continues, and the command new begins another one"""
    person = place.person()
    told = [session_of(person.answer(person.ask())) for _ in range(2)]
    same(told[0], told[1], "the session of the second turn")
    person.command("new")
    assert session_of(person.answer(person.ask())) != told[0], "the same session"


CASES = [heartbeat, cadence, deleted, error, live, stop, stop_by_button, parts, rings, typing,
         sessions, plain, mentions, code]  # fmt: skip


# ---- with other options


@needs("file")
def whole_file(place):
    """R28: overflow = file: the message refers to the file, and the file has the complete text"""
    person = place.person()
    question = person.ask(f"chars={place.LONG}")
    person.answer(question)
    found = await_(lambda: place.file_of(person), f"the file in {person.screen()}")
    same(lines_of(found), list(range((place.LONG + 39) // 40)), "lines of the file")


@needs("edit")
def edited(place):
    """R3: finalize = edit: the progress message becomes the answer, which is shown once"""
    person = place.person()
    question = person.ask("tools=1 gated")
    shown = person.progress("Looking at part 1")
    place.host.let_go(question.id)
    same(person.answer(question)["id"], shown["id"], "the message")
    person.sees_no_progress()
    same(len(person.screen()), 1, "messages")


@needs("edit")
def edited_deleted(place):
    """finalize = edit: the answer arrives although a user deleted the progress message"""
    person = place.person()
    question = person.ask("tools=1 gated")
    person.delete(person.progress("Looking at part 1"))
    place.host.let_go(question.id)
    person.answer(question)
    same(len(person.screen()), 1, "messages")
