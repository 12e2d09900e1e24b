# SPDX-License-Identifier: MIT
libtccli_a_SOURCES += \
	src/cli/inspect/agent_program.c \
	src/cli/inspect/agent_program.h \
	src/cli/inspect/answerer_check.c \
	src/cli/inspect/answerer_check.h \
	src/cli/inspect/audit_verify.c \
	src/cli/inspect/audit_verify.h \
	src/cli/inspect/cmd_audit.c \
	src/cli/inspect/conf_check.c \
	src/cli/inspect/conf_check.h \
	src/cli/inspect/cmd_check.c \
	src/cli/inspect/cmd_plugins.c \
	src/cli/inspect/finding_report.c \
	src/cli/inspect/finding_report.h \
	src/cli/inspect/plugin_describe.c \
	src/cli/inspect/plugin_describe.h
include $(srcdir)/src/cli/inspect/doctor/local.mk
include $(srcdir)/src/cli/inspect/probe/local.mk
