# SPDX-License-Identifier: MIT
# The connector audit. All modules of the build tree share one folder: plugins/.libs/

#plugin_LTLIBRARIES += plugins/audit.la
#plugins_audit_la_SOURCES = plugins/audit/audit.c
#plugins_audit_la_CPPFLAGS = $(PLUGIN_CPP)
#plugins_audit_la_LDFLAGS = $(PLUGIN_LINK)
