# SPDX-License-Identifier: MIT
# Layer 3: translate, guard, visibility: pure.

noinst_LIBRARIES += libtcturn.a
libtcturn_a_SOURCES = \
	src/turn/agent_input.c \
	src/turn/agent_input.h \
	src/turn/guard.c \
	src/turn/guard.h \
	src/turn/guard_internal.h \
	src/turn/guard_pairing.c \
	src/turn/kept_text.c \
	src/turn/kept_text.h \
	src/turn/open_items.c \
	src/turn/open_items.h \
	src/turn/request_preview.c \
	src/turn/request_preview.h \
	src/turn/translator.c \
	src/turn/translator.h
include $(srcdir)/src/policy/local.mk
include $(srcdir)/src/turn/visibility/local.mk
