# SPDX-License-Identifier: MIT
"""Deliveries during faults of the service: refusals, lost replies, rate limits, late edits. Cases of the
behaviour suite; the judge of the suite counts the copies of each outcome."""
from cases import await_, same
from place import MARKED, needs


def lost_before(place):
    """R1, R2: the request with the answer is lost before the service receives it: the answer arrives, and a repeat is marked"""
    lose(place, False)


def lost_after(place):
    """R1: the reply to the answer is lost: each copy is marked, and no copy exists where the service recognises repeats"""
    lose(place, True)


def lose(place, done):
    person = place.person()
    person.fault("post", "reset", text="^Answer", done=done)
    question = person.ask()
    person.answer(question)
    person.answer(person.ask())
    seen = [MARKED in m["text"] for m in person.outcomes(question)]
    wanted = [False] if not place.UNSURE else [False, True] if done else [True]
    same(sorted(seen), wanted, "which are marked")


@needs("edit")
def lost_with_progress(place):
    """R1, R3: the reply to the answer is lost while progress is shown: each copy is marked"""
    person = place.person()
    question = person.ask("tools=1 gated")
    person.progress("Looking at part 1")
    person.fault("post", "reset", text="^Answer", done=True)
    place.host.let_go(question.id)
    person.answer(question)
    person.answer(person.ask())
    person.sees_no_progress()
    seen = [MARKED in m["text"] for m in person.outcomes(question)]
    same(sorted(seen), [False, True] if place.UNSURE else [False], "which are marked")


def lost_progress(place):
    """R8: the reply to the creation of the progress message is lost: the answer comes once, and no known progress message is left"""
    person = place.person()
    person.fault("post", "reset", text="Looking at part 1", done=True)
    question = person.ask("tools=1 gated")
    person.waits_for("post", stage="arrived", text="Looking at part 1")
    place.host.let_go(question.id)
    person.answer(question)
    person.answer(person.ask())
    if not place.UNSURE:
        person.sees_no_progress()
    same(len(person.outcomes(question)), 1, "answers")


def limited(place):
    """R5, R6: a rate limit is waited for exactly, only the newest edit waits, and the answer is sent first"""
    person = place.person()
    pause = 6
    question = person.ask("tools=3 gated")
    person.progress("Looking at part 1")
    person.fault("edit", "flood", retry_after=pause, scope="chat")
    place.host.let_go(question.id)
    refused = person.waits_for("edit", status=429)
    place.host.let_go(question.id, 2)
    person.answer(question)
    later = [c for c in person.calls() if c["seq"] > refused["seq"]
             and c["method"] in place.METHODS["post"] + place.METHODS["edit"]]  # fmt: skip
    limited_ = [c for c in later if not place.LIMITS_METHODS or c["method"] in place.METHODS["edit"]]
    waited = [c["t"] - refused["t_done"] for c in limited_]
    assert all(s >= pause - 0.01 for s in waited), f"not as long as was asked: {waited}"
    assert later[0]["text"].startswith("Answer"), later[0]


def refused(place):
    """R2, R10: text whose format the service refuses arrives as plain text"""
    person = place.person()
    person.refuse("post", text="^Answer")
    question = person.ask()
    person.answer(question)
    same(len(person.outcomes(question)), 1, "answers")


def broken_for_a_while(place):
    """A1, R2: the service answers with errors again and again: the answer arrives once, when the service works"""
    person = place.person()
    person.fault("post", "answer", status=502, times=4, text="^Answer")
    question = person.ask()
    person.answer(question)
    person.answer(person.ask())
    same(len(person.outcomes(question)), 1, "answers")
    assert not place.host.log().count(f"{question.id} could not be delivered"), "given up"


def not_json(place):
    """A2, R1: a response 200 that is not the JSON of the service does not confirm delivery, and the answer arrives"""
    for do, more in (("garbage", {}), ("html", {"status": 200})):
        person = place.person()
        person.fault("post", do, text="^Answer", done=False, **more)
        question = person.ask()
        person.answer(question)
        person.answer(person.ask())
        same(len(person.outcomes(question)), 1, f"{do}: answers")


@needs("react")
def reactions_fail(place):
    """B3, R20: reactions that fail or are rate-limited delay neither progress nor answer"""
    faults = [("answer", {"status": 500, "times": 0})]
    if "account_limit" not in place.CAN:  # that of a reaction is one of texts, too
        faults.append(("flood", {"retry_after": 20}))
    for do, more in faults:
        person = place.person()
        fault = person.fault("react", do, **more)
        before = place.fake.record()[-1]["t"]
        question = person.ask("tools=1 gated")
        person.progress("Looking at part 1")
        place.host.let_go(question.id)
        person.answer(question)
        answered = person.waits_for("post", text="^Answer", status=200)
        assert answered["t"] - before < 15, f"{do}: {answered['t'] - before} s"
        place.drop(fault)


def dead_letter(place):
    """B9, R2: an answer that is refused for good is a dead letter, reported in the chat with a button that sends it again"""
    person = place.person()
    fault = person.refuse("post", text="^Answer", times=0)
    question = person.ask()
    place.refused.add(question.chat)
    told = person.hear("could not be delivered")
    status, listed = place.host.run("dead", "list")
    assert status == 0 and "No dead letters" not in listed, listed
    place.drop(fault)
    if "buttons" in place.CAN:
        person.press(told, "Send again")
        person.answer(question)
        same(len(person.outcomes(question)), 1, "answers")


@needs("edit")
def late_edit(place):
    """R8: an edit of the progress message, executed long after its request was given up, replaces the answer at most briefly"""
    place.expected.add("final-changed")  # with finalize = edit, until the edit is repeated
    person = place.person()
    question = person.ask("tools=2 gated")
    person.progress("Looking at part 1")
    person.fault("edit", "hold", done=False, hold=300)
    place.host.let_go(question.id)
    held = person.waits_for("edit", stage="arrived")
    # The host waits 15 s for the reply, and then edits again.
    await_(lambda: len(person.calls("edit")) > 1, "another edit")
    place.host.let_go(question.id)
    answer = person.answer(question)
    place.fake.control("release", {"id": held["fault"]})
    person.waits_for("edit", seq=held["seq"])
    await_(lambda: not person.running(), f"no progress in {person.screen()}")
    person.answer(person.ask())
    same([m["text"] for m in person.outcomes(question)], [answer["text"]], "answers")


ALONE = [limited, reactions_fail]  # a limit may be of the account
CASES = [late_edit, broken_for_a_while, not_json, lost_before, lost_after,
         lost_with_progress, lost_progress, refused, dead_letter]  # fmt: skip
