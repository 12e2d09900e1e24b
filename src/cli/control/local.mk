# SPDX-License-Identifier: MIT
libtccli_a_SOURCES += \
	src/cli/control/cmd_answer.c \
	src/cli/control/cmd_approvals.c \
	src/cli/control/cmd_cancel.c \
	src/cli/control/cmd_dead.c \
	src/cli/control/cmd_drain.c \
	src/cli/control/cmd_move.c \
	src/cli/control/cmd_hosts.c \
	src/cli/control/cmd_pair.c \
	src/cli/control/cmd_reload.c \
	src/cli/control/cmd_restart.c \
	src/cli/control/cmd_send.c \
	src/cli/control/cmd_status.c \
	src/cli/control/cmd_tail.c \
	src/cli/control/cmd_turns.c \
	src/cli/control/print_table.c \
	src/cli/control/print_table.h \
	src/cli/control/turn_client.c \
	src/cli/control/turn_client.h
