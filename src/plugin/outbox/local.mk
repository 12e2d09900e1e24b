# SPDX-License-Identifier: MIT
libtcplugin_a_SOURCES += \
	src/plugin/outbox/outbox.c \
	src/plugin/outbox/outbox.h \
	src/plugin/outbox/outbox_commit.c \
	src/plugin/outbox/outbox_entry.c \
	src/plugin/outbox/outbox_expand.c \
	src/plugin/outbox/outbox_expand.h \
	src/plugin/outbox/outbox_internal.h \
	src/plugin/outbox/outbox_mail.c \
	src/plugin/outbox/outbox_mail.h \
	src/plugin/outbox/outbox_multipart.c \
	src/plugin/outbox/outbox_multipart.h \
	src/plugin/outbox/outbox_parking.c \
	src/plugin/outbox/outbox_perform.c \
	src/plugin/outbox/outbox_recovery.c \
	src/plugin/outbox/outbox_state.c \
	src/plugin/outbox/outbox_state.h \
	src/plugin/outbox/outbox_trouble.c
