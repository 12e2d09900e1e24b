# SPDX-License-Identifier: MIT
libtcdialect_a_SOURCES += \
	src/dialect/writer/json_member.c \
	src/dialect/writer/json_member.h \
	src/dialect/writer/json_style.c \
	src/dialect/writer/json_style.h \
	src/dialect/writer/json_style_traits.h \
	src/dialect/writer/json_style_value.c \
	src/dialect/writer/streamed_text.c \
	src/dialect/writer/streamed_text.h \
	src/dialect/writer/writer.c \
	src/dialect/writer/writer.h \
	src/dialect/writer/writer_list.h \
	src/dialect/writer/writer_table.c
