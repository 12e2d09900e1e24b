# SPDX-License-Identifier: MIT
# Layer 0: memory, text, time, errors, the log.

noinst_LIBRARIES += libtcbase.a
libtcbase_a_SOURCES = \
	src/base/align.h \
	src/base/alloc.c \
	src/base/alloc.h \
	src/base/arena.c \
	src/base/arena.h \
	src/base/attr.h \
	src/base/buf.c \
	src/base/buf.h \
	src/base/cleanup.h \
	src/base/clock.c \
	src/base/clock.h \
	src/base/crash_point.c \
	src/base/crash_point.h \
	src/base/dir.c \
	src/base/dir.h \
	src/base/err.c \
	src/base/err.h \
	src/base/nearest_word.c \
	src/base/nearest_word.h \
	src/base/log.c \
	src/base/log.h \
	src/base/log_redact.c \
	src/base/pack.c \
	src/base/pack.h \
	src/base/slab.c \
	src/base/slab.h \
	src/base/str.h \
	src/base/trust.c \
	src/base/trust.h \
	src/base/utf8.c \
	src/base/utf8.h \
	src/base/utf8_cut.c
