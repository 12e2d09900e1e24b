# SPDX-License-Identifier: MIT
# Tests of plugins/ and examples/: the modules as the host runs them, and their own parts alone.
# t_x tests the module x.so through host.c; a part of a module is compiled into its test.

PLUGIN_HOST = tests/plugins/host.c tests/plugins/host.h

check_PROGRAMS += tests/plugins/t_audit
tests_plugins_t_audit_SOURCES = tests/plugins/t_audit.c $(PLUGIN_HOST)
tests_plugins_t_audit_LDADD = $(TEST_CORE)
