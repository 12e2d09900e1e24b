# SPDX-License-Identifier: MIT
# The connector audit. All modules of the build tree share one folder: plugins/.libs/

plugin_LTLIBRARIES += plugins/audit.la
plugins_audit_la_SOURCES = \
	plugins/audit/audit.c \
	plugins/audit/audit_chain.c \
	plugins/audit/audit_chain.h \
	plugins/audit/audit_buf.c \
	plugins/audit/audit_buf.h \
	plugins/audit/audit_record.c \
	plugins/audit/audit_record.h \
	plugins/audit/audit_seal.c \
	plugins/audit/audit_seal.h
plugins_audit_la_CPPFLAGS = $(PLUGIN_CPP) $(NETTLE_CFLAGS)
plugins_audit_la_LDFLAGS = $(PLUGIN_LINK)
plugins_audit_la_LIBADD = $(NETTLE_LIBS) -lm

dist_man_MANS += plugins/audit/turncast-audit.7
