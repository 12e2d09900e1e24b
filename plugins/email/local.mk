# SPDX-License-Identifier: MIT
# The connector email. All modules of the build tree share one folder: plugins/.libs/

plugin_LTLIBRARIES += plugins/email.la
plugins_email_la_SOURCES = \
	plugins/email/email.c \
	plugins/email/email.h \
	plugins/email/email_digest.c \
	plugins/email/email_message.c
plugins_email_la_CPPFLAGS = $(PLUGIN_CPP)
plugins_email_la_LDFLAGS = $(PLUGIN_LINK)

dist_man_MANS += plugins/email/turncast-email.7
