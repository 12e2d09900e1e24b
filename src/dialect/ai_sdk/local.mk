# SPDX-License-Identifier: MIT
libtcdialect_a_SOURCES += \
	src/dialect/ai_sdk/ai_sdk_write.c
