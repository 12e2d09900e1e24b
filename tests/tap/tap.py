# SPDX-License-Identifier: MIT
"""TAP for tests in Python: ok() and equal() report, done() ends."""

import sys

_results = {"run": 0, "failed": 0}


def ok(holds, name, detail=None):
    _results["run"] += 1
    if holds:
        print(f"ok {_results['run']} - {name}", flush=True)
        return
    _results["failed"] += 1
    print(f"not ok {_results['run']} - {name}", flush=True)
    if detail is not None:
        for line in str(detail).splitlines():
            print(f"# {line}", flush=True)


def equal(found, wanted, name):
    ok(found == wanted, name, f"wanted {wanted!r}\nfound {found!r}")


def failures():
    return _results["failed"]


def done():
    print(f"1..{_results['run']}", flush=True)
    sys.exit(_results["failed"] > 0)
