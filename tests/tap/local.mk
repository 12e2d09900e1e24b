# SPDX-License-Identifier: MIT
# The TAP library and its own test.

check_LIBRARIES += libtap.a
libtap_a_SOURCES = tests/tap/tap.c tests/tap/tap.h
EXTRA_DIST += tests/tap/tap.py

check_PROGRAMS += tests/tap/t_tap
tests_tap_t_tap_LDADD = libtap.a
