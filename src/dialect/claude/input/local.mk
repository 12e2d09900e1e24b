# SPDX-License-Identifier: MIT
libtcdialect_a_SOURCES += \
	src/dialect/claude/input/claude_control.c \
	src/dialect/claude/input/claude_control.h \
	src/dialect/claude/input/claude_control_reply.c \
	src/dialect/claude/input/claude_input.c \
	src/dialect/claude/input/claude_input.h
