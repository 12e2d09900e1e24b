# SPDX-License-Identifier: MIT
# Layer 3: translate, guard, visibility: pure.

noinst_LTLIBRARIES += libtcturn.la
libtcturn_la_SOURCES = \
	src/turn/slash.c \
	src/turn/slash.h \
	src/turn/visibility.c \
	src/turn/visibility.h
