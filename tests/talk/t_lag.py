# SPDX-License-Identifier: MIT
"""Tests of the measurements of tests with several hosts: quantiles of histograms, messages sent beside the hosts, and progress."""
import math

import lag
from fleet import natsd
from talk import Progress, done, equal, ok

BUCKETS = [(0.001, 10), (0.002, 90), (0.005, 99), (math.inf, 100)]


def near(found, wanted, what):
    ok(abs(found - wanted) < 1e-6, what, (found, wanted))


def quantiles():
    near(lag.at(BUCKETS, 0.1), 1, "at a bound: that bound, in milliseconds")
    near(lag.at(BUCKETS, 0.5), 1.5, "half way between two bounds")
    near(lag.at(BUCKETS, 0.05), 0.5, "within the first bucket")
    near(lag.at(BUCKETS, 0.995), 5, "beyond the last bound: that bound")
    equal(lag.grown(BUCKETS, [(b, n + 3) for b, n in BUCKETS]), [(b, 3) for b, _ in BUCKETS], "the increase of a histogram")


def plain_messages():
    with natsd.NatsServer() as server:
        probe = lag.Probe(server, 1000, 400, 2)
        client = server.client()
        client.subscribe("bench")
        sizes = {len(client.next().data) for _ in range(20)}
        plain = probe.end()
        client.close()
    equal(sizes, {400}, "messages have the requested size")
    ok(plain and 0 < plain[0] <= plain[1], "the probe reports the delay of its messages when it ends", plain)
    ok(lag.Probe(server, 1000, 400, 2).end() is None, "without a server no delay is reported")


def progress():
    values = [1]
    one = Progress(lambda: values[-1], 10)
    ok(not one.stands_still(), "before the deadline the operation does not stand still")
    one.since -= 11
    ok(one.stands_still(), "without a change until the deadline the operation stands still")
    values.append(2)
    ok(not one.stands_still(), "a change is progress")
    equal(one.last, 2, "the last value is known")


def main():
    quantiles()
    progress()
    if natsd.available():
        plain_messages()
    done()


main()
