# SPDX-License-Identifier: MIT
# Layer 2: formatted text: read from Markdown, rendered for a service, split. Pure.

noinst_LIBRARIES += libtctext.a
libtctext_a_SOURCES = \
	src/text/display_width.c \
	src/text/display_width.h \
	src/text/doc.c \
	src/text/doc.h \
	src/text/file_line.c \
	src/text/file_line.h \
	src/text/link_url.c \
	src/text/link_url.h \
	src/text/text_clean.c \
	src/text/text_clean.h \
	src/text/text_reveal.c \
	src/text/text_reveal.h
include $(srcdir)/src/text/markdown/local.mk
include $(srcdir)/src/text/render/local.mk
include $(srcdir)/src/text/sentence/local.mk
