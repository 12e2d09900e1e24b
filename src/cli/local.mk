# SPDX-License-Identifier: MIT
# Layer 7: main and one file per command.

noinst_LIBRARIES += libtccli.a
libtccli_a_SOURCES = \
	src/cli/answerers.c \
	src/cli/answerers.h \
	src/cli/args.c \
	src/cli/args.h \
	src/cli/call.c \
	src/cli/call.h \
	src/cli/cli.c \
	src/cli/cli.h \
	src/cli/cmd_answer.c \
	src/cli/cmd_approvals.c \
	src/cli/cmd_audit.c \
	src/cli/cmd_check.c \
	src/cli/cmd_dead.c \
	src/cli/cmd_doctor.c \
	src/cli/cmd_plugins.c \
	src/cli/cmd_reload.c \
	src/cli/cmd_replay.c \
	src/cli/cmd_restart.c \
	src/cli/cmd_run.c \
	src/cli/cmd_serve.c \
	src/cli/cmd_status.c \
	src/cli/cmd_visibility.c \
	src/cli/describe.c \
	src/cli/describe.h \
	src/cli/doctor.h \
	src/cli/doctor_conf.c \
	src/cli/doctor_host.c \
	src/cli/host.c \
	src/cli/host.h \
	src/cli/pace.c \
	src/cli/pace.h \
	src/cli/program.c \
	src/cli/program.h \
	src/cli/stop.c \
	src/cli/stop.h \
	src/cli/table.c \
	src/cli/table.h \
	src/cli/tokens.c \
	src/cli/tokens.h

bin_PROGRAMS += turncast
turncast_SOURCES = src/cli/main.c
turncast_LDADD = $(LINK_CLI)
