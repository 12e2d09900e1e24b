# SPDX-License-Identifier: MIT
# Tests of src/conf/: two lines each,
#	check_PROGRAMS += tests/conf/t_x
#	tests_conf_t_x_LDADD = $(TEST_CONF)
# a shell test one line, dist_check_SCRIPTS += tests/conf/x.t; fixtures: EXTRA_DIST += folder.

check_PROGRAMS += tests/conf/options/t_plugin_options
tests_conf_options_t_plugin_options_LDADD = $(TEST_CONF)

check_PROGRAMS += tests/conf/parse/t_conf_path
tests_conf_parse_t_conf_path_LDADD = $(TEST_CONF)

check_PROGRAMS += tests/conf/t_conf
tests_conf_t_conf_SOURCES = tests/conf/t_conf.c tests/conf/conf_kit.c tests/conf/conf_kit.h
tests_conf_t_conf_LDADD = $(TEST_CONF)
check_PROGRAMS += tests/conf/t_conf_http_key
tests_conf_t_conf_http_key_LDADD = $(TEST_CONF)
check_PROGRAMS += tests/conf/t_conf_errors
tests_conf_t_conf_errors_LDADD = $(TEST_CONF)
check_PROGRAMS += tests/conf/options/t_option_rules
tests_conf_options_t_option_rules_LDADD = $(TEST_CONF)
check_PROGRAMS += tests/conf/t_conf_chat
tests_conf_t_conf_chat_LDADD = $(TEST_CONF)

check_PROGRAMS += tests/conf/t_conf_budget
tests_conf_t_conf_budget_LDADD = $(TEST_CONF)

check_PROGRAMS += tests/conf/t_conf_bus
tests_conf_t_conf_bus_SOURCES = tests/conf/t_conf_bus.c tests/conf/conf_kit.c tests/conf/conf_kit.h
tests_conf_t_conf_bus_LDADD = $(TEST_CONF)

check_PROGRAMS += tests/conf/t_conf_scope
tests_conf_t_conf_scope_LDADD = $(TEST_CONF)

WRONG_TEST = tests/conf/t_wrong.py
dist_check_SCRIPTS += $(WRONG_TEST)
EXTRA_DIST += tests/conf/wrong.txt
FILES_TEST = tests/conf/t_files.py
dist_check_SCRIPTS += $(FILES_TEST)
$(WRONG_TEST:.py=.log) $(FILES_TEST:.py=.log): turncast$(EXEEXT) $(plugin_LTLIBRARIES)
