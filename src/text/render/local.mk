# SPDX-License-Identifier: MIT
libtctext_a_SOURCES += \
	src/text/render/code_color.c \
	src/text/render/code_color.h \
	src/text/render/markup_line.c \
	src/text/render/markup_line.h \
	src/text/render/render.c \
	src/text/render/render.h \
	src/text/render/render_html.c \
	src/text/render/render_internal.h \
	src/text/render/render_markup.c \
	src/text/render/render_plain.c \
	src/text/render/render_telegram.c \
	src/text/render/render_terminal.c \
	src/text/render/split.c \
	src/text/render/split.h \
	src/text/render/terminal_line.c \
	src/text/render/terminal_line.h \
	src/text/render/terminal_table.c \
	src/text/render/terminal_table.h \
	src/text/render/text_pieces.c \
	src/text/render/text_pieces.h
