# SPDX-License-Identifier: MIT
# The connector slack. All modules of the build tree share one folder: plugins/.libs/

plugin_LTLIBRARIES += plugins/slack.la
plugins_slack_la_SOURCES = \
	plugins/slack/answer.c \
	plugins/slack/answer.h \
	plugins/slack/asked.c \
	plugins/slack/asked.h \
	plugins/slack/batch.c \
	plugins/slack/batch.h \
	plugins/slack/call.c \
	plugins/slack/call.h \
	plugins/slack/decide.c \
	plugins/slack/decide.h \
	plugins/slack/entity.c \
	plugins/slack/entity.h \
	plugins/slack/event.c \
	plugins/slack/event.h \
	plugins/slack/fault.c \
	plugins/slack/fault.h \
	plugins/slack/fetch.c \
	plugins/slack/fetch.h \
	plugins/slack/find.c \
	plugins/slack/find.h \
	plugins/slack/form.c \
	plugins/slack/form.h \
	plugins/slack/form_input.c \
	plugins/slack/form_input.h \
	plugins/slack/grow.h \
	plugins/slack/hook.c \
	plugins/slack/hook.h \
	plugins/slack/inbound.c \
	plugins/slack/inbound.h \
	plugins/slack/message.c \
	plugins/slack/message.h \
	plugins/slack/progress.c \
	plugins/slack/progress.h \
	plugins/slack/pulse.c \
	plugins/slack/pulse.h \
	plugins/slack/question.c \
	plugins/slack/question.h \
	plugins/slack/question_plain.c \
	plugins/slack/question_plain.h \
	plugins/slack/route.c \
	plugins/slack/route.h \
	plugins/slack/show.c \
	plugins/slack/show.h \
	plugins/slack/shown.c \
	plugins/slack/shown.h \
	plugins/slack/sign.c \
	plugins/slack/sign.h \
	plugins/slack/slack.c \
	plugins/slack/slack.h \
	plugins/slack/socket.c \
	plugins/slack/socket.h \
	plugins/slack/status.c \
	plugins/slack/status.h \
	plugins/slack/stream.c \
	plugins/slack/stream.h \
	plugins/slack/talk.c \
	plugins/slack/talk.h \
	plugins/slack/task.c \
	plugins/slack/task.h \
	plugins/slack/text.c \
	plugins/slack/text.h \
	plugins/slack/upload.c \
	plugins/slack/upload.h
plugins_slack_la_CPPFLAGS = $(PLUGIN_CPP) $(JANSSON_CFLAGS)
plugins_slack_la_LDFLAGS = $(PLUGIN_LINK)
plugins_slack_la_LIBADD = $(JANSSON_LIBS)

dist_man_MANS += plugins/slack/turncast-slack.7
