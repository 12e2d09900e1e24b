# SPDX-License-Identifier: MIT
# The connector exec: runs a connector that is a program in any language.

plugin_LTLIBRARIES += plugins/exec.la
plugins_exec_la_SOURCES = \
	plugins/exec/exec.h \
	plugins/exec/exec_chat.c plugins/exec/exec_chat.h \
	plugins/exec/exec_chat_op.c plugins/exec/exec_chat_people.c \
	plugins/exec/exec_chat_table.c plugins/exec/exec_command.c \
	plugins/exec/exec_connector.c \
	plugins/exec/exec_hello.c \
	plugins/exec/exec_http.c \
	plugins/exec/exec_message.c \
	plugins/exec/exec_program.c \
	plugins/exec/exec_window.c
plugins_exec_la_CPPFLAGS = $(PLUGIN_CPP)
plugins_exec_la_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
plugins_exec_la_LIBADD = $(JANSSON_LIBS)
plugins_exec_la_LDFLAGS = $(PLUGIN_LINK)
dist_man_MANS += plugins/exec/turncast-exec.7
dist_pkgdata_DATA = share/turncast-exec.schema.json
