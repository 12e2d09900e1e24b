# SPDX-License-Identifier: MIT
# Tests of src/turn/: two lines each,
#	check_PROGRAMS += tests/turn/t_x
#	tests_turn_t_x_LDADD = $(TEST_TURN)
# a shell test one line, dist_check_SCRIPTS += tests/turn/x.t; fixtures: EXTRA_DIST += folder.

check_PROGRAMS += tests/turn/t_slash
tests_turn_t_slash_LDADD = $(TEST_TURN)
check_PROGRAMS += tests/turn/t_visibility
tests_turn_t_visibility_LDADD = $(TEST_TURN)
