# SPDX-License-Identifier: MIT
"""Runs cases in parallel on one host. A case is a function that raises an exception on failure; its docstring
is its name. Each case has its own users and chats."""
import re
import time
import traceback
from concurrent.futures import ThreadPoolExecutor

from talk import PATIENCE_S, ok

AT_ONCE = 8


def run(cases, *given, at_once=AT_ONCE):
    for case, wrong, _ in results(cases, *given, at_once=at_once):
        ok(wrong is None, case.__doc__, wrong)


def results(cases, *given, at_once=AT_ONCE):
    """Returns (case, None or the failure, seconds) of each case."""
    with ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(lambda case: _result(case, given), cases))


def _result(case, given):
    began = time.monotonic()
    try:
        case(*given)
        wrong = None
    except Exception:  # whatever it is: the case does not hold
        wrong = traceback.format_exc(limit=-3)
    return case, wrong, time.monotonic() - began


def same(found, wanted, what=""):
    assert found == wanted, f"{what}: found {found!r}, wanted {wanted!r}"


def await_(condition, what, seconds=PATIENCE_S):
    """Waits until the condition holds and returns its value."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, f"{what}: not within {seconds} s"
        time.sleep(0.05)
    return found


def session_of(message):
    """The session id in the answer of the agent."""
    return re.search(r"^Answer \S+ of (\S+):", message["text"], re.MULTILINE).group(1)


def lines_of(text):
    """The numbered lines of a long answer that the text contains."""
    return [int(n) for n in re.findall(r"Line (\d{6}) tells of the part in words\.", text)]
