# SPDX-License-Identifier: MIT
libtccore_a_SOURCES += \
	src/core/host/adoption.c \
	src/core/host/adoption.h \
	src/core/host/guest_internal.h \
	src/core/host/guest_memory.c \
	src/core/host/guest_turn.c \
	src/core/host/guest_turns.c \
	src/core/host/guest_turns.h \
	src/core/host/host.c \
	src/core/host/host.h \
	src/core/host/host_http.c \
	src/core/host/host_http.h \
	src/core/host/host_leading.c \
	src/core/host/host_leading.h \
	src/core/host/host_recovery.c \
	src/core/host/host_recovery.h \
	src/core/host/host_reload.c \
	src/core/host/host_reload.h \
	src/core/host/host_sharing.c \
	src/core/host/host_sharing.h \
	src/core/host/instance_changes.c \
	src/core/host/instance_changes.h \
	src/core/host/instance_leaders.c \
	src/core/host/instance_leaders.h \
	src/core/host/instance_texts.c \
	src/core/host/instance_texts.h \
	src/core/host/network_clients.c \
	src/core/host/outcome_forwarding.c \
	src/core/host/outcome_forwarding.h \
	src/core/host/outcome_message.c \
	src/core/host/outcome_message.h \
	src/core/host/network_clients.h \
	src/core/host/unfinished_turns.c \
	src/core/host/unfinished_turns.h \
	src/core/host/unserved_hook.c \
	src/core/host/unserved_hook.h
