# SPDX-License-Identifier: MIT
# Layer 2: formatted text: read from Markdown, rendered for a service, split. Pure.

noinst_LIBRARIES += libtctext.a
libtctext_a_SOURCES = \
	src/text/builder.c \
	src/text/builder.h \
	src/text/charref.c \
	src/text/charref.h \
	src/text/clean.c \
	src/text/clean.h \
	src/text/doc.c \
	src/text/doc.h \
	src/text/markdown.c \
	src/text/markdown.h \
	src/text/markdown_block.c \
	src/text/markdown_parse.h \
	src/text/markdown_settled.c \
	src/text/render.c \
	src/text/render.h \
	src/text/render_parts.h \
	src/text/render_plain.c \
	src/text/render_slack.c \
	src/text/render_slack_text.c \
	src/text/render_slack_text.h \
	src/text/render_telegram.c \
	src/text/reveal.c \
	src/text/reveal.h \
	src/text/split.c \
	src/text/split.h \
	src/text/table.c \
	src/text/table.h \
	src/text/url.c \
	src/text/url.h
