# SPDX-License-Identifier: MIT
# The connector cli. All modules of the build tree share one folder: plugins/.libs/

plugin_LTLIBRARIES += plugins/cli.la
plugins_cli_la_SOURCES = \
	plugins/cli/ask.c \
	plugins/cli/ask.h \
	plugins/cli/asked.c \
	plugins/cli/asked.h \
	plugins/cli/calls.c \
	plugins/cli/cli.c \
	plugins/cli/glyph.c \
	plugins/cli/glyph.h \
	plugins/cli/keyboard.c \
	plugins/cli/keyboard.h \
	plugins/cli/lines.c \
	plugins/cli/lines.h \
	plugins/cli/preview.c \
	plugins/cli/preview.h \
	plugins/cli/prompt.c \
	plugins/cli/prompt.h \
	plugins/cli/term.c \
	plugins/cli/term.h \
	plugins/cli/view.c \
	plugins/cli/view.h
plugins_cli_la_CPPFLAGS = $(PLUGIN_CPP) $(JANSSON_CFLAGS)
plugins_cli_la_LDFLAGS = $(PLUGIN_LINK)
plugins_cli_la_LIBADD = $(JANSSON_LIBS) -lm

dist_man_MANS += plugins/cli/turncast-cli.7
