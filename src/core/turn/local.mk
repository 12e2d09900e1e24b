# SPDX-License-Identifier: MIT
libtccore_a_SOURCES += \
	src/core/turn/agent_stream.c \
	src/core/turn/agent_stream.h \
	src/core/turn/turn.c \
	src/core/turn/turn.h \
	src/core/turn/turn_accessors.c \
	src/core/turn/turn_internal.h \
	src/core/turn/turn_record.c \
	src/core/turn/turn_record.h \
	src/core/turn/turn_result.c \
	src/core/turn/turn_result.h \
	src/core/turn/turn_state.c \
	src/core/turn/turn_state.h \
	src/core/turn/usage_delta.c \
	src/core/turn/usage_delta.h
