# SPDX-License-Identifier: MIT
# The connector otlp. All modules of the build tree share one folder: plugins/.libs/

plugin_LTLIBRARIES += plugins/otlp.la
plugins_otlp_la_SOURCES = \
	plugins/otlp/otlp.c \
	plugins/otlp/otlp.h \
	plugins/otlp/otlp_turn.c
plugins_otlp_la_CPPFLAGS = $(PLUGIN_CPP) $(NETTLE_CFLAGS)
plugins_otlp_la_LDFLAGS = $(PLUGIN_LINK)
plugins_otlp_la_LIBADD = $(NETTLE_LIBS)

dist_man_MANS += plugins/otlp/turncast-otlp.7
