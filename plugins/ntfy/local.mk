# SPDX-License-Identifier: MIT
# The connector ntfy: push notifications with buttons.

plugin_LTLIBRARIES += plugins/ntfy.la
plugins_ntfy_la_SOURCES = plugins/ntfy/ntfy.c plugins/ntfy/ntfy.h plugins/ntfy/ntfy_answer.c
plugins_ntfy_la_CPPFLAGS = $(PLUGIN_CPP) $(JANSSON_CFLAGS)
plugins_ntfy_la_LDFLAGS = $(PLUGIN_LINK)
plugins_ntfy_la_LIBADD = $(JANSSON_LIBS)

dist_man_MANS += plugins/ntfy/turncast-ntfy.7
