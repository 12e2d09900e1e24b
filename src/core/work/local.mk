# SPDX-License-Identifier: MIT
libtccore_a_SOURCES += \
	src/core/work/work.c \
	src/core/work/work.h \
	src/core/work/work_background.c \
	src/core/work/work_background.h \
	src/core/work/work_begun.c \
	src/core/work/work_check.c \
	src/core/work/work_files.c \
	src/core/work/work_files.h \
	src/core/work/work_files_server.c \
	src/core/work/work_handover.c \
	src/core/work/work_homes.c \
	src/core/work/work_homes.h \
	src/core/work/work_hosts.c \
	src/core/work/work_hosts.h \
	src/core/work/work_internal.h \
	src/core/work/work_message.c \
	src/core/work/work_message.h \
	src/core/work/work_move.c \
	src/core/work/work_move.h \
	src/core/work/work_outcome.c \
	src/core/work/work_outcome.h \
	src/core/work/work_place.c \
	src/core/work/work_process.c \
	src/core/work/work_queue.c \
	src/core/work/work_run.c \
	src/core/work/work_steer.c \
	src/core/work/work_share.c \
	src/core/work/work_share.h \
	src/core/work/work_turn.c \
	src/core/work/work_turn.h
