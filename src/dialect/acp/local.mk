# SPDX-License-Identifier: MIT
libtcdialect_a_SOURCES += \
	src/dialect/acp/acp.c \
	src/dialect/acp/acp.h \
	src/dialect/acp/acp_input.c \
	src/dialect/acp/acp_mode.c \
	src/dialect/acp/acp_result.c \
	src/dialect/acp/acp_text.c \
	src/dialect/acp/acp_tool.c
