# SPDX-License-Identifier: MIT
libtccore_a_SOURCES += \
	src/core/shared/shared_entry.c \
	src/core/shared/shared_entry.h \
	src/core/shared/shared_settings.c \
	src/core/shared/shared_settings.h \
	src/core/shared/shared_texts.c \
	src/core/shared/shared_texts.h
