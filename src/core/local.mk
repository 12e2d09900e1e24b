# SPDX-License-Identifier: MIT
# Layer 5: a turn from the agent to the instances.

noinst_LTLIBRARIES += libtccore.la
libtccore_la_SOURCES = \
	src/core/answer.c \
	src/core/answer.h \
	src/core/audit.c \
	src/core/audit.h \
	src/core/command.c \
	src/core/command.h \
	src/core/conversation.c \
	src/core/conversation.h \
	src/core/conversations.c \
	src/core/conversations.h \
	src/core/dispatch.c \
	src/core/dispatch.h \
	src/core/executor.c \
	src/core/executor.h \
	src/core/executor_end.c \
	src/core/executor_impl.h \
	src/core/executor_ladder.c \
	src/core/job.c \
	src/core/job.h \
	src/core/launch.c \
	src/core/launch.h \
	src/core/permit.c \
	src/core/permit.h \
	src/core/prompt.c \
	src/core/prompt.h \
	src/core/recast.c \
	src/core/reception.c \
	src/core/reception.h \
	src/core/restart.c \
	src/core/restart.h \
	src/core/result.c \
	src/core/result.h \
	src/core/retry.c \
	src/core/retry.h \
	src/core/runner.c \
	src/core/runner.h \
	src/core/runner_impl.h \
	src/core/runner_socket.c \
	src/core/runner_web.c \
	src/core/server.c \
	src/core/server.h \
	src/core/sticky.c \
	src/core/sticky.h \
	src/core/tail.c \
	src/core/tail.h \
	src/core/toggle.c \
	src/core/toggle.h \
	src/core/turn.c \
	src/core/turn.h \
	src/core/turnlog.c \
	src/core/turnlog.h \
	src/core/turnlog_follow.c \
	src/core/turnlog_impl.h \
	src/core/uuid.c \
	src/core/uuid.h
