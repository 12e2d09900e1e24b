# SPDX-License-Identifier: MIT
libtcdialect_a_SOURCES += \
	src/dialect/codex_rollout/codex_rollout.c \
	src/dialect/codex_rollout/codex_rollout.h \
	src/dialect/codex_rollout/codex_rollout_item.c
