# SPDX-License-Identifier: MIT
# The connector telegram.

plugin_LTLIBRARIES += plugins/telegram.la
plugins_telegram_la_SOURCES = \
	plugins/telegram/button.c \
	plugins/telegram/call.c \
	plugins/telegram/chips.c \
	plugins/telegram/draft.c \
	plugins/telegram/error.c \
	plugins/telegram/final.c \
	plugins/telegram/form.c \
	plugins/telegram/inbox.c \
	plugins/telegram/ladder.c \
	plugins/telegram/live.c \
	plugins/telegram/memory.c \
	plugins/telegram/menu.c \
	plugins/telegram/message.c \
	plugins/telegram/poll.c \
	plugins/telegram/press.c \
	plugins/telegram/question.c \
	plugins/telegram/route.c \
	plugins/telegram/telegram.c \
	plugins/telegram/telegram.h \
	plugins/telegram/update.c \
	plugins/telegram/whole.c
plugins_telegram_la_CPPFLAGS = $(PLUGIN_CPP) -I$(top_srcdir)/src/text/sentence $(JANSSON_CFLAGS)
plugins_telegram_la_LDFLAGS = $(PLUGIN_LINK)
plugins_telegram_la_LIBADD = $(JANSSON_LIBS)

dist_man_MANS += plugins/telegram/turncast-telegram.7
