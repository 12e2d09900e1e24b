# SPDX-License-Identifier: MIT
# Layer 2: one file per wire format of an agent.

noinst_LTLIBRARIES += libtcdialect.la
libtcdialect_la_SOURCES = \
	src/dialect/ag_ui.c \
	src/dialect/ag_ui.h \
	src/dialect/ag_ui_end.c \
	src/dialect/ag_ui_state.c \
	src/dialect/ag_ui_text.c \
	src/dialect/ag_ui_tool.c \
	src/dialect/awaken.c \
	src/dialect/awaken.h \
	src/dialect/awaken_activity.c \
	src/dialect/awaken_tool.c \
	src/dialect/awaken_write.c \
	src/dialect/awaken_write.h \
	src/dialect/awaken_write_tool.c \
	src/dialect/claude.c \
	src/dialect/claude.h \
	src/dialect/claude_answer.c \
	src/dialect/claude_assistant.c \
	src/dialect/claude_block.c \
	src/dialect/claude_input.c \
	src/dialect/claude_line.c \
	src/dialect/claude_line.h \
	src/dialect/claude_message.c \
	src/dialect/claude_notice.c \
	src/dialect/claude_request.c \
	src/dialect/claude_result.c \
	src/dialect/claude_stream.c \
	src/dialect/claude_tool.c \
	src/dialect/dialect.h \
	src/dialect/dialect_table.c \
	src/dialect/dialects.h \
	src/dialect/sse.c \
	src/dialect/sse.h \
	src/dialect/style.c \
	src/dialect/style.h \
	src/dialect/style_json.c \
	src/dialect/style_traits.h \
	src/dialect/turncast_read.c \
	src/dialect/turncast_write.c \
	src/dialect/codex.c \
	src/dialect/gemini.c \
	src/dialect/member.c \
	src/dialect/member.h \
	src/dialect/opencode.c \
	src/dialect/reasonix.c \
	src/dialect/reasonix.h \
	src/dialect/reasonix_end.c \
	src/dialect/reasonix_log.c \
	src/dialect/reasonix_notice.c \
	src/dialect/reasonix_tool.c \
	src/dialect/reasonix_turn.c \
	src/dialect/reasonix_write.c \
	src/dialect/tally.c \
	src/dialect/tally.h \
	src/dialect/tell.c \
	src/dialect/tell.h \
	src/dialect/tool.c \
	src/dialect/tool.h \
	src/dialect/value.c \
	src/dialect/value.h \
	src/dialect/writer.c \
	src/dialect/writer.h \
	src/dialect/writer_table.c \
	src/dialect/writers.h
