# SPDX-License-Identifier: MIT
libtcdialect_a_SOURCES += \
	src/dialect/qwen/qwen.c
