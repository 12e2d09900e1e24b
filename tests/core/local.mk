# SPDX-License-Identifier: MIT
# Tests of src/core/: two lines each,
#	check_PROGRAMS += tests/core/t_x
#	tests_core_t_x_LDADD = $(TEST_CORE)
# a shell test one line, dist_check_SCRIPTS += tests/core/x.t; fixtures: EXTRA_DIST += folder.

check_PROGRAMS += tests/core/t_sticky
tests_core_t_sticky_LDADD = $(TEST_CORE)

check_PROGRAMS += tests/core/t_tail
tests_core_t_tail_LDADD = $(TEST_CORE)

check_PROGRAMS += tests/core/t_retry
tests_core_t_retry_LDADD = $(TEST_CORE)

check_PROGRAMS += tests/core/t_launch
tests_core_t_launch_LDADD = $(TEST_CORE)

check_PROGRAMS += tests/core/t_result
tests_core_t_result_LDADD = $(TEST_CORE)

check_PROGRAMS += tests/core/t_dispatch
tests_core_t_dispatch_LDADD = $(TEST_CORE)
