# SPDX-License-Identifier: MIT
libtcio_a_SOURCES += \
	src/io/journal/journal.c \
	src/io/journal/journal.h \
	src/io/journal/journal_approval.c \
	src/io/journal/journal_async.c \
	src/io/journal/journal_async.h \
	src/io/journal/journal_async_internal.h \
	src/io/journal/journal_async_moving.c \
	src/io/journal/journal_async_past.c \
	src/io/journal/journal_async_read.c \
	src/io/journal/journal_async_resend.c \
	src/io/journal/journal_async_unended.c \
	src/io/journal/journal_async_upkeep.c \
	src/io/journal/journal_backup.c \
	src/io/journal/journal_dead.c \
	src/io/journal/journal_internal.h \
	src/io/journal/journal_kv.c \
	src/io/journal/journal_moving.c \
	src/io/journal/journal_moving.h \
	src/io/journal/journal_outbox.c \
	src/io/journal/journal_prune.c \
	src/io/journal/journal_question.c \
	src/io/journal/journal_spent.c \
	src/io/journal/journal_turn.c \
	src/io/journal/journal_types.h
