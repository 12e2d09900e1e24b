# SPDX-License-Identifier: MIT
libtccli_a_SOURCES += \
	src/cli/state/cmd_backup.c \
	src/cli/state/cmd_usage.c
