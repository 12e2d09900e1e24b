# SPDX-License-Identifier: MIT
# The connector otlp. All modules of the build tree share one folder: plugins/.libs/

plugin_LTLIBRARIES += plugins/otlp.la
plugins_otlp_la_SOURCES = plugins/otlp/otlp.c
plugins_otlp_la_CPPFLAGS = $(PLUGIN_CPP)
plugins_otlp_la_LDFLAGS = $(PLUGIN_LINK)

dist_man_MANS += plugins/otlp/turncast-otlp.7
