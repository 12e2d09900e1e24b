# SPDX-License-Identifier: MIT
libtccli_a_SOURCES += \
	src/cli/completion/cmd_completion.c \
	src/cli/completion/completion.h \
	src/cli/completion/completion_bash.c \
	src/cli/completion/completion_fish.c \
	src/cli/completion/completion_offer.c \
	src/cli/completion/completion_zsh.c
