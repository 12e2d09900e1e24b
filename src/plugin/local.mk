# SPDX-License-Identifier: MIT
# Layer 4: what runs beside a connector.

noinst_LTLIBRARIES += libtcplugin.la
libtcplugin_la_SOURCES = \
	src/plugin/backlog.c \
	src/plugin/backlog.h \
	src/plugin/channel.h \
	src/plugin/channel_thread.c \
	src/plugin/inbox.c \
	src/plugin/inbox.h \
	src/plugin/instance.c \
	src/plugin/instance.h \
	src/plugin/join.c \
	src/plugin/join.h \
	src/plugin/letter.c \
	src/plugin/letter.h \
	src/plugin/letter_pack.c \
	src/plugin/loader.c \
	src/plugin/loader.h \
	src/plugin/loader_file.c \
	src/plugin/loader_file.h \
	src/plugin/queue.c \
	src/plugin/queue.h \
	src/plugin/services.c \
	src/plugin/services.h \
	src/plugin/squeeze.c \
	src/plugin/squeeze.h \
	src/plugin/trim.c \
	src/plugin/trim.h
