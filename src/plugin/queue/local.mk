# SPDX-License-Identifier: MIT
libtcplugin_a_SOURCES += \
	src/plugin/queue/backlog.c \
	src/plugin/queue/backlog.h \
	src/plugin/queue/control_msg.c \
	src/plugin/queue/control_msg.h \
	src/plugin/queue/event_coalesce.c \
	src/plugin/queue/event_coalesce.h \
	src/plugin/queue/event_queue.c \
	src/plugin/queue/event_queue.h \
	src/plugin/queue/event_ring.c \
	src/plugin/queue/event_ring.h \
	src/plugin/queue/event_truncate.c \
	src/plugin/queue/event_truncate.h \
	src/plugin/queue/overflow_policy.c \
	src/plugin/queue/overflow_policy.h
