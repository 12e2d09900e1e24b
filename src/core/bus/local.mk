# SPDX-License-Identifier: MIT
libtccore_a_SOURCES += \
	src/core/bus/bus.c \
	src/core/bus/bus.h \
	src/core/bus/bus_call.c \
	src/core/bus/bus_chain.c \
	src/core/bus/bus_chain.h \
	src/core/bus/bus_follow.c \
	src/core/bus/bus_follow.h \
	src/core/bus/bus_internal.h \
	src/core/bus/bus_kv.c \
	src/core/bus/bus_kv.h \
	src/core/bus/bus_lead.c \
	src/core/bus/bus_lead.h \
	src/core/bus/bus_lease.c \
	src/core/bus/bus_lease.h \
	src/core/bus/bus_line.c \
	src/core/bus/bus_line.h \
	src/core/bus/bus_link.c \
	src/core/bus/bus_link.h \
	src/core/bus/bus_message.c \
	src/core/bus/bus_message.h \
	src/core/bus/bus_permission.c \
	src/core/bus/bus_permission.h \
	src/core/bus/bus_publisher.c \
	src/core/bus/bus_publisher.h \
	src/core/bus/bus_queue.c \
	src/core/bus/bus_queue.h \
	src/core/bus/bus_reader.c \
	src/core/bus/bus_reader.h \
	src/core/bus/bus_stream.c \
	src/core/bus/bus_stream.h \
	src/core/bus/bus_turn.c \
	src/core/bus/bus_turn.h \
	src/core/bus/bus_viewer.c \
	src/core/bus/bus_viewer.h
