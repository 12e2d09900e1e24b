# SPDX-License-Identifier: MIT
# Tests of src/io/: two lines each,
#	check_PROGRAMS += tests/io/t_x
#	tests_io_t_x_LDADD = $(TEST_IO)
# a shell test one line, dist_check_SCRIPTS += tests/io/x.t; fixtures: EXTRA_DIST += folder.
