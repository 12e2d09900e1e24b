# SPDX-License-Identifier: MIT
# The connector slack. All modules of the build tree share one folder: plugins/.libs/

plugin_LTLIBRARIES += plugins/slack.la
plugins_slack_la_SOURCES = \
	plugins/slack/entity.c \
	plugins/slack/entity.h \
	plugins/slack/slack.c \
	plugins/slack/slack.h \
	plugins/slack/slack_event.c \
	plugins/slack/slack_file.c \
	plugins/slack/slack_form.c \
	plugins/slack/slack_history.c \
	plugins/slack/slack_hook.c \
	plugins/slack/slack_inbound.h \
	plugins/slack/slack_lookup.c \
	plugins/slack/slack_message.c \
	plugins/slack/slack_operation.h \
	plugins/slack/slack_reply.c \
	plugins/slack/slack_request.c \
	plugins/slack/slack_socket.c \
	plugins/slack/slack_status.c \
	plugins/slack/slack_stream.c
plugins_slack_la_CPPFLAGS = $(PLUGIN_CPP) $(JANSSON_CFLAGS)
plugins_slack_la_LDFLAGS = $(PLUGIN_LINK)
plugins_slack_la_LIBADD = $(JANSSON_LIBS)

dist_man_MANS += plugins/slack/turncast-slack.7
