# SPDX-License-Identifier: MIT
# Tests of src/base/: two lines each,
#	check_PROGRAMS += tests/base/t_x
#	tests_base_t_x_LDADD = $(TEST_BASE)
# a shell test one line, dist_check_SCRIPTS += tests/base/x.t; fixtures: EXTRA_DIST += folder.
