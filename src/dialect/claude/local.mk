# SPDX-License-Identifier: MIT
libtcdialect_a_SOURCES += \
	src/dialect/claude/claude.c \
	src/dialect/claude/claude.h \
	src/dialect/claude/claude_answer.c \
	src/dialect/claude/claude_assistant.c \
	src/dialect/claude/claude_background.c \
	src/dialect/claude/claude_block.c \
	src/dialect/claude/claude_line.c \
	src/dialect/claude/claude_line.h \
	src/dialect/claude/claude_line_cache.c \
	src/dialect/claude/claude_line_cache.h \
	src/dialect/claude/claude_message.c \
	src/dialect/claude/claude_notice.c \
	src/dialect/claude/claude_request.c \
	src/dialect/claude/claude_result.c \
	src/dialect/claude/claude_stream.c \
	src/dialect/claude/claude_tool.c \
	src/dialect/claude/claude_turns.c
