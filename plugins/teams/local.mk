# SPDX-License-Identifier: MIT
# The connector teams. All modules of the build tree share one folder: plugins/.libs/

plugin_LTLIBRARIES += plugins/teams.la
plugins_teams_la_SOURCES = \
	plugins/teams/teams.c \
	plugins/teams/teams.h \
	plugins/teams/teams_activity.c \
	plugins/teams/teams_form.c \
	plugins/teams/teams_message.c \
	plugins/teams/teams_reply.c \
	plugins/teams/teams_request.c \
	plugins/teams/teams_token.c \
	plugins/teams/teams_url.c \
	plugins/teams/teams_webhook.c
plugins_teams_la_CPPFLAGS = $(PLUGIN_CPP) $(JANSSON_CFLAGS)
plugins_teams_la_LDFLAGS = $(PLUGIN_LINK)
plugins_teams_la_LIBADD = $(JANSSON_LIBS)

dist_man_MANS += plugins/teams/turncast-teams.7
