# SPDX-License-Identifier: MIT
libtccli_a_SOURCES += \
	src/cli/create/cmd_new.c \
	src/cli/create/project.c \
	src/cli/create/project.h
