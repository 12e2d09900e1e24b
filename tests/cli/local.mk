# SPDX-License-Identifier: MIT
# Tests of src/cli/: two lines each,
#	check_PROGRAMS += tests/cli/t_x
#	tests_cli_t_x_LDADD = $(TEST_CLI)
# a shell test one line, dist_check_SCRIPTS += tests/cli/x.t; fixtures: EXTRA_DIST += folder.
