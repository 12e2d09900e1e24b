# SPDX-License-Identifier: MIT
# Layer 1: the canonical event, its JSON, and the JSON cursor.

noinst_LIBRARIES += libtcevent.a
libtcevent_a_SOURCES = \
	src/event/codec.c \
	src/event/codec.h \
	src/event/event.h \
	src/event/fields.c \
	src/event/fields.h \
	src/event/kinds.c \
	src/event/kinds.h \
	src/event/shared_event.c
include $(srcdir)/src/event/json/local.mk
