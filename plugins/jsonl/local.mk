# SPDX-License-Identifier: MIT
# The connector jsonl. All modules of the build tree share one folder: plugins/.libs/

plugin_LTLIBRARIES += plugins/jsonl.la
plugins_jsonl_la_SOURCES = plugins/jsonl/jsonl.c
plugins_jsonl_la_CPPFLAGS = $(PLUGIN_CPP)
plugins_jsonl_la_LDFLAGS = $(PLUGIN_LINK)

dist_man_MANS += plugins/jsonl/turncast-jsonl.7
