# SPDX-License-Identifier: MIT
libtcdialect_a_SOURCES += \
	src/dialect/openai/openai.c \
	src/dialect/openai/openai.h \
	src/dialect/openai/openai_agenticore.c \
	src/dialect/openai/openai_tool.c
