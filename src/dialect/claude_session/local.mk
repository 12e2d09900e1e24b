# SPDX-License-Identifier: MIT
libtcdialect_a_SOURCES += \
	src/dialect/claude_session/claude_session.c \
	src/dialect/claude_session/claude_session.h \
	src/dialect/claude_session/claude_session_chain.c \
	src/dialect/claude_session/claude_session_item.c
