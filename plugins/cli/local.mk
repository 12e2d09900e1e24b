# SPDX-License-Identifier: MIT
# The connector cli. All modules of the build tree share one folder: plugins/.libs/

#plugin_LTLIBRARIES += plugins/cli.la
#plugins_cli_la_SOURCES = plugins/cli/cli.c
#plugins_cli_la_CPPFLAGS = $(PLUGIN_CPP)
#plugins_cli_la_LDFLAGS = $(PLUGIN_LINK)
