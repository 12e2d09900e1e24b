# SPDX-License-Identifier: MIT
# Layer 5: a turn from the agent to the instances.

noinst_LTLIBRARIES += libtccore.la
libtccore_la_SOURCES = \
	src/core/audit.c \
	src/core/audit.h \
	src/core/dispatch.c \
	src/core/dispatch.h \
	src/core/executor.c \
	src/core/executor.h \
	src/core/executor_end.c \
	src/core/executor_impl.h \
	src/core/executor_ladder.c \
	src/core/launch.c \
	src/core/launch.h \
	src/core/result.c \
	src/core/result.h \
	src/core/retry.c \
	src/core/retry.h \
	src/core/sticky.c \
	src/core/sticky.h \
	src/core/tail.c \
	src/core/tail.h \
	src/core/turn.c \
	src/core/turn.h \
	src/core/uuid.c \
	src/core/uuid.h
