# SPDX-License-Identifier: MIT
# The connector discord. All modules of the build tree share one folder: plugins/.libs/

plugin_LTLIBRARIES += plugins/discord.la
plugins_discord_la_SOURCES = \
	plugins/discord/discord.c \
	plugins/discord/discord.h \
	plugins/discord/discord_event.c \
	plugins/discord/discord_form.c \
	plugins/discord/discord_gateway.c \
	plugins/discord/discord_history.c \
	plugins/discord/discord_interaction.c \
	plugins/discord/discord_reply.c \
	plugins/discord/discord_request.c
plugins_discord_la_CPPFLAGS = $(PLUGIN_CPP) $(JANSSON_CFLAGS)
plugins_discord_la_LDFLAGS = $(PLUGIN_LINK)
plugins_discord_la_LIBADD = $(JANSSON_LIBS)

dist_man_MANS += plugins/discord/turncast-discord.7
