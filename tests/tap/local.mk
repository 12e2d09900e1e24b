# SPDX-License-Identifier: MIT
# The TAP library and its own test.

check_LTLIBRARIES += libtap.la
libtap_la_SOURCES = tests/tap/tap.c tests/tap/tap.h
EXTRA_DIST += tests/tap/tap.py

check_PROGRAMS += tests/tap/t_tap
tests_tap_t_tap_LDADD = libtap.la
