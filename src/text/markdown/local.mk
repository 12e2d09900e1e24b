# SPDX-License-Identifier: MIT
libtctext_a_SOURCES += \
	src/text/markdown/doc_builder.c \
	src/text/markdown/doc_builder.h \
	src/text/markdown/html_entity.c \
	src/text/markdown/html_entity.h \
	src/text/markdown/markdown.c \
	src/text/markdown/markdown.h \
	src/text/markdown/markdown_block.c \
	src/text/markdown/markdown_internal.h \
	src/text/markdown/markdown_stable.c \
	src/text/markdown/text_table.c \
	src/text/markdown/text_table.h
