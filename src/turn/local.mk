# SPDX-License-Identifier: MIT
# Layer 3: translate, guard, visibility: pure.

noinst_LIBRARIES += libtcturn.a
libtcturn_a_SOURCES = \
	src/turn/argument.c \
	src/turn/argument.h \
	src/turn/book.c \
	src/turn/book.h \
	src/turn/dialog.c \
	src/turn/dialog.h \
	src/turn/glob.c \
	src/turn/glob.h \
	src/turn/guard.c \
	src/turn/guard.h \
	src/turn/guard_pairs.c \
	src/turn/guard_parts.h \
	src/turn/kept.c \
	src/turn/kept.h \
	src/turn/match_loose.c \
	src/turn/match_loose.h \
	src/turn/match_strict.c \
	src/turn/match_strict.h \
	src/turn/policy.c \
	src/turn/policy.h \
	src/turn/show.c \
	src/turn/show.h \
	src/turn/slash.c \
	src/turn/slash.h \
	src/turn/sniff.c \
	src/turn/sniff.h \
	src/turn/translate.c \
	src/turn/translate.h \
	src/turn/showing.c \
	src/turn/showing.h \
	src/turn/visibility.c \
	src/turn/visibility.h
