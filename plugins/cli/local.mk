# SPDX-License-Identifier: MIT
# The connector cli. All modules of the build tree share one folder: plugins/.libs/

plugin_LTLIBRARIES += plugins/cli.la
plugins_cli_la_SOURCES = \
	plugins/cli/calls.c \
	plugins/cli/cli.c \
	plugins/cli/glyph.c \
	plugins/cli/glyph.h \
	plugins/cli/lines.c \
	plugins/cli/lines.h \
	plugins/cli/preview.c \
	plugins/cli/preview.h \
	plugins/cli/term.c \
	plugins/cli/term.h \
	plugins/cli/view.c \
	plugins/cli/view.h
plugins_cli_la_CPPFLAGS = $(PLUGIN_CPP)
plugins_cli_la_LDFLAGS = $(PLUGIN_LINK)
plugins_cli_la_LIBADD = -lm

dist_man_MANS += plugins/cli/turncast-cli.7
