# SPDX-License-Identifier: MIT
# The connector telegram.

plugin_LTLIBRARIES += plugins/telegram.la
plugins_telegram_la_SOURCES = \
	plugins/telegram/file.c \
	plugins/telegram/telegram.c \
	plugins/telegram/telegram.h \
	plugins/telegram/telegram_poll.c \
	plugins/telegram/telegram_request.c \
	plugins/telegram/update.c
plugins_telegram_la_CPPFLAGS = $(PLUGIN_CPP) $(JANSSON_CFLAGS)
plugins_telegram_la_LDFLAGS = $(PLUGIN_LINK)
plugins_telegram_la_LIBADD = $(JANSSON_LIBS)

dist_man_MANS += plugins/telegram/turncast-telegram.7
