# SPDX-License-Identifier: MIT
# The connector null. All modules of the build tree share one folder: plugins/.libs/

plugin_LTLIBRARIES += plugins/null.la
plugins_null_la_SOURCES = plugins/null/null.c
plugins_null_la_CPPFLAGS = $(PLUGIN_CPP)
plugins_null_la_LDFLAGS = $(PLUGIN_LINK)

dist_man_MANS += plugins/null/turncast-null.7
