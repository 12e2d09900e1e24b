# SPDX-License-Identifier: MIT
# Layer 3: the loop and processes, each behind one file.

noinst_LTLIBRARIES += libtcio.la
libtcio_la_SOURCES =
