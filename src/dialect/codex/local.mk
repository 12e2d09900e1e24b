# SPDX-License-Identifier: MIT
libtcdialect_a_SOURCES += \
	src/dialect/codex/codex.c \
	src/dialect/codex/codex_app.c \
	src/dialect/codex/codex_app.h \
	src/dialect/codex/codex_app_form.c \
	src/dialect/codex/codex_app_input.c \
	src/dialect/codex/codex_app_item.c \
	src/dialect/codex/codex_app_request.c
