# SPDX-License-Identifier: MIT
# The command init.
libtccli_a_SOURCES += \
	src/cli/init/cmd_init.c \
	src/cli/init/init_agents.c \
	src/cli/init/init_ask.c \
	src/cli/init/init_ask.h \
	src/cli/init/init_connector.c \
	src/cli/init/init_file.c \
	src/cli/init/init_file.h \
	src/cli/init/init_plan.h \
	src/cli/init/init_text.c
