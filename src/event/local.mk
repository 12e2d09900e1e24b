# SPDX-License-Identifier: MIT
# Layer 1: the canonical event, its JSON, and the JSON cursor.

noinst_LIBRARIES += libtcevent.a
libtcevent_a_SOURCES = \
	src/event/codec.c \
	src/event/codec.h \
	src/event/decimal.c \
	src/event/decimal.h \
	src/event/event.c \
	src/event/event.h \
	src/event/fields.c \
	src/event/fields.h \
	src/event/json.c \
	src/event/json.h \
	src/event/json_mend.c \
	src/event/json_scan.c \
	src/event/json_block.c \
	src/event/json_block.h \
	src/event/json_block_avx2.c \
	src/event/json_block_avx512.c \
	src/event/json_look.h \
	src/event/json_scan.h \
	src/event/json_text.c \
	src/event/jsonw.c \
	src/event/jsonw.h \
	src/event/kinds.c \
	src/event/kinds.h \
	src/event/redact.c \
	src/event/redact.h
