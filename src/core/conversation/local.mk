# SPDX-License-Identifier: MIT
libtccore_a_SOURCES += \
	src/core/conversation/conversation.c \
	src/core/conversation/conversation.h \
	src/core/conversation/host_reply.c \
	src/core/conversation/host_reply.h \
	src/core/conversation/prompt.c \
	src/core/conversation/prompt.h \
	src/core/conversation/turn_job.c \
	src/core/conversation/turn_job.h \
	src/core/conversation/turn_job_away.c \
	src/core/conversation/turn_job_cancel.c \
	src/core/conversation/turn_job_internal.h \
	src/core/conversation/turn_job_refuse.c \
	src/core/conversation/turn_job_transcribe.c \
	src/core/conversation/turn_scheduler.c \
	src/core/conversation/turn_scheduler.h \
	src/core/conversation/turn_scheduler_away.c \
	src/core/conversation/turn_scheduler_budget.c \
	src/core/conversation/turn_scheduler_conf.c \
	src/core/conversation/turn_scheduler_drain.c \
	src/core/conversation/turn_scheduler_internal.h \
	src/core/conversation/turn_scheduler_lock.c \
	src/core/conversation/turn_scheduler_restore.c \
	src/core/conversation/turn_scheduler_warm.c \
	src/core/conversation/turn_scheduler_withdraw.c \
	src/core/conversation/user_limits.c \
	src/core/conversation/user_limits.h
