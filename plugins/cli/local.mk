# SPDX-License-Identifier: MIT
# The connector cli. All modules of the build tree share one folder: plugins/.libs/

plugin_LTLIBRARIES += plugins/cli.la
plugins_cli_la_SOURCES = \
	plugins/cli/cli_connector.c \
	plugins/cli/progress_lines.c \
	plugins/cli/progress_lines.h \
	plugins/cli/question_dialog.c \
	plugins/cli/question_dialog.h \
	plugins/cli/request_words.c \
	plugins/cli/request_words.h \
	plugins/cli/terminal_request.c \
	plugins/cli/terminal_request.h \
	plugins/cli/terminal/cli_words.c \
	plugins/cli/terminal/cli_words.def \
	plugins/cli/terminal/cli_words.h \
	plugins/cli/terminal/input_line.c \
	plugins/cli/terminal/input_line.h \
	plugins/cli/terminal/keyboard.c \
	plugins/cli/terminal/keyboard.h \
	plugins/cli/terminal/safe_char.c \
	plugins/cli/terminal/safe_char.h \
	plugins/cli/terminal/terminal.c \
	plugins/cli/terminal/terminal.h \
	plugins/cli/view/call_line.c \
	plugins/cli/view/call_line.h \
	plugins/cli/view/call_preview.c \
	plugins/cli/view/call_preview.h \
	plugins/cli/view/edit_diff.c \
	plugins/cli/view/edit_diff.h \
	plugins/cli/view/open_calls.c \
	plugins/cli/view/open_calls.h \
	plugins/cli/view/shell_unwrap.c \
	plugins/cli/view/shell_unwrap.h \
	plugins/cli/view/status_line.c \
	plugins/cli/view/status_line.h \
	plugins/cli/view/text_streams.c \
	plugins/cli/view/text_streams.h \
	plugins/cli/view/todo_list.c \
	plugins/cli/view/todo_list.h \
	plugins/cli/view/turn_view.c \
	plugins/cli/view/turn_view.h
plugins_cli_la_CPPFLAGS = $(PLUGIN_CPP) -I$(srcdir)/plugins/cli $(JANSSON_CFLAGS)
plugins_cli_la_LDFLAGS = $(PLUGIN_LINK)
plugins_cli_la_LIBADD = $(JANSSON_LIBS) -lm

dist_man_MANS += plugins/cli/turncast-cli.7
