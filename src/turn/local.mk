# SPDX-License-Identifier: MIT
# Layer 3: translate, guard, visibility: pure.

noinst_LTLIBRARIES += libtcturn.la
libtcturn_la_SOURCES =
