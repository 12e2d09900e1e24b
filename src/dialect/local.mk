# SPDX-License-Identifier: MIT
# Layer 2: one file per wire format of an agent.

noinst_LIBRARIES += libtcdialect.a
libtcdialect_a_SOURCES = \
	src/dialect/dialect.h \
	src/dialect/dialect_list.h \
	src/dialect/dialect_sniff.c \
	src/dialect/dialect_sniff.h \
	src/dialect/dialect_table.c
include $(srcdir)/src/dialect/acp/local.mk
include $(srcdir)/src/dialect/ag_ui/local.mk
include $(srcdir)/src/dialect/agenticore/local.mk
include $(srcdir)/src/dialect/ai_sdk/local.mk
include $(srcdir)/src/dialect/awaken/local.mk
include $(srcdir)/src/dialect/claude/local.mk
include $(srcdir)/src/dialect/claude/input/local.mk
include $(srcdir)/src/dialect/claude_session/local.mk
include $(srcdir)/src/dialect/codex/local.mk
include $(srcdir)/src/dialect/codex_rollout/local.mk
include $(srcdir)/src/dialect/copilot/local.mk
include $(srcdir)/src/dialect/ethos/local.mk
include $(srcdir)/src/dialect/gemini/local.mk
include $(srcdir)/src/dialect/missy/local.mk
include $(srcdir)/src/dialect/openai/local.mk
include $(srcdir)/src/dialect/opencode/local.mk
include $(srcdir)/src/dialect/otlp/local.mk
include $(srcdir)/src/dialect/protocol/local.mk
include $(srcdir)/src/dialect/qwen/local.mk
include $(srcdir)/src/dialect/reader/local.mk
include $(srcdir)/src/dialect/reasonix/local.mk
include $(srcdir)/src/dialect/remote/local.mk
include $(srcdir)/src/dialect/turncast/local.mk
include $(srcdir)/src/dialect/writer/local.mk
