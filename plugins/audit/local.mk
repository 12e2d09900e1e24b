# SPDX-License-Identifier: MIT
# The connector audit. All modules of the build tree share one folder: plugins/.libs/

plugin_LTLIBRARIES += plugins/audit.la
plugins_audit_la_SOURCES = \
	plugins/audit/audit.c \
	plugins/audit/chain.c \
	plugins/audit/chain.h \
	plugins/audit/out.c \
	plugins/audit/out.h \
	plugins/audit/record.c \
	plugins/audit/record.h \
	plugins/audit/seal.c \
	plugins/audit/seal.h
plugins_audit_la_CPPFLAGS = $(PLUGIN_CPP) $(NETTLE_CFLAGS)
plugins_audit_la_LDFLAGS = $(PLUGIN_LINK)
plugins_audit_la_LIBADD = $(NETTLE_LIBS) -lm

dist_man_MANS += plugins/audit/turncast-audit.7
