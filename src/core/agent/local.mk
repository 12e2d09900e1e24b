# SPDX-License-Identifier: MIT
libtccore_a_SOURCES += \
	src/core/agent/agent_backend.c \
	src/core/agent/agent_backend.h \
	src/core/agent/agent_log.c \
	src/core/agent/agent_log.h \
	src/core/agent/agent_process.c \
	src/core/agent/agent_process.h \
	src/core/agent/agent_retry.c \
	src/core/agent/agent_retry.h \
	src/core/agent/executor.c \
	src/core/agent/executor.h \
	src/core/agent/executor_internal.h \
	src/core/agent/executor_outcome.c \
	src/core/agent/executor_stop.c \
	src/core/agent/launch.c \
	src/core/agent/launch.h \
	src/core/agent/stderr_tail.c \
	src/core/agent/stderr_tail.h \
	src/core/agent/transcription.c \
	src/core/agent/transcription.h \
	src/core/agent/warm_pool.c \
	src/core/agent/warm_pool.h
