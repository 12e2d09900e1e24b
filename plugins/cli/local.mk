# SPDX-License-Identifier: MIT
# The connector cli. All modules of the build tree share one folder: plugins/.libs/

plugin_LTLIBRARIES += plugins/cli.la
plugins_cli_la_SOURCES = \
	plugins/cli/question_dialog.c \
	plugins/cli/question_dialog.h \
	plugins/cli/terminal_request.c \
	plugins/cli/terminal_request.h \
	plugins/cli/request_words.c \
	plugins/cli/request_words.h \
	plugins/cli/turn_view_calls.c \
	plugins/cli/cli_connector.c \
	plugins/cli/terminal/safe_char.c \
	plugins/cli/terminal/safe_char.h \
	plugins/cli/terminal/keyboard.c \
	plugins/cli/terminal/keyboard.h \
	plugins/cli/progress_lines.c \
	plugins/cli/progress_lines.h \
	plugins/cli/call_preview.c \
	plugins/cli/call_preview.h \
	plugins/cli/terminal/input_line.c \
	plugins/cli/terminal/input_line.h \
	plugins/cli/terminal/terminal.c \
	plugins/cli/terminal/terminal.h \
	plugins/cli/turn_view.c \
	plugins/cli/turn_view.h
plugins_cli_la_CPPFLAGS = $(PLUGIN_CPP) $(JANSSON_CFLAGS)
plugins_cli_la_LDFLAGS = $(PLUGIN_LINK)
plugins_cli_la_LIBADD = $(JANSSON_LIBS) -lm

dist_man_MANS += plugins/cli/turncast-cli.7
