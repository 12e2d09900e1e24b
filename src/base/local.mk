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
	src/base/chunk_pool.c \
	src/base/chunk_pool.h \
	src/base/cleanup.h \
	src/base/hash.h \
	src/base/histogram.h \
	src/base/invariant.c \
	src/base/invariant.h \
	src/base/language.c \
	src/base/language.h \
	src/base/nearest_word.c \
	src/base/nearest_word.h \
	src/base/state_table.c \
	src/base/state_table.h \
	src/base/plural.h \
	src/base/sound_name.c \
	src/base/sound_name.h \
	src/base/str.h \
	src/base/versioned.h
include $(srcdir)/src/base/bytes/local.mk
include $(srcdir)/src/base/sys/local.mk
