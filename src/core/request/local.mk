# SPDX-License-Identifier: MIT
libtccore_a_SOURCES += \
	src/core/request/approvals.c \
	src/core/request/approvals.h \
	src/core/request/request_answer.c \
	src/core/request/request_internal.h \
	src/core/request/request_json.c \
	src/core/request/request_policy.c \
	src/core/request/request_registry.c \
	src/core/request/request_registry.h \
	src/core/request/request_state.c \
	src/core/request/request_state.h \
	src/core/request/request_ticket.c
