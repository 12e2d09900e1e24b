# SPDX-License-Identifier: MIT
# The connector webhook: events to and messages from other programs.

plugin_LTLIBRARIES += plugins/webhook.la
plugins_webhook_la_SOURCES = \
	plugins/webhook/webhook.c \
	plugins/webhook/webhook.h \
	plugins/webhook/webhook_inbound.c
plugins_webhook_la_CPPFLAGS = $(PLUGIN_CPP) $(JANSSON_CFLAGS)
plugins_webhook_la_LDFLAGS = $(PLUGIN_LINK)
plugins_webhook_la_LIBADD = $(JANSSON_LIBS)

dist_man_MANS += plugins/webhook/turncast-webhook.7
