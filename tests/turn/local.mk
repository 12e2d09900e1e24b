# SPDX-License-Identifier: MIT
# Tests of src/turn/: two lines each,
#	check_PROGRAMS += tests/turn/t_x
#	tests_turn_t_x_LDADD = $(TEST_TURN)
# a shell test one line, dist_check_SCRIPTS += tests/turn/x.t; fixtures: EXTRA_DIST += folder.

check_PROGRAMS += tests/turn/t_slash
tests_turn_t_slash_LDADD = $(TEST_TURN)
check_PROGRAMS += tests/turn/t_show
tests_turn_t_show_LDADD = $(TEST_TURN)
check_PROGRAMS += tests/turn/t_visibility
tests_turn_t_visibility_LDADD = $(TEST_TURN)

# The promises as a checker, for every test that has a turn's events.
check_LIBRARIES += libpromise.a
libpromise_a_SOURCES = tests/promise.c tests/promise.h

TURN_TEST = tests/turn/turn_test.c tests/turn/turn_test.h
check_PROGRAMS += tests/turn/t_guard
tests_turn_t_guard_SOURCES = tests/turn/t_guard.c $(TURN_TEST)
tests_turn_t_guard_LDADD = libpromise.a $(TEST_TURN)
check_PROGRAMS += tests/turn/t_guard_pairs
tests_turn_t_guard_pairs_SOURCES = tests/turn/t_guard_pairs.c $(TURN_TEST)
tests_turn_t_guard_pairs_LDADD = libpromise.a $(TEST_TURN)
check_PROGRAMS += tests/turn/t_guard_random
tests_turn_t_guard_random_SOURCES = tests/turn/t_guard_random.c tests/turn/drive.c \
	tests/turn/drive.h
tests_turn_t_guard_random_LDADD = libpromise.a $(TEST_TURN)
check_PROGRAMS += tests/turn/t_book
tests_turn_t_book_LDADD = $(TEST_TURN)
check_PROGRAMS += tests/turn/t_translate
tests_turn_t_translate_LDADD = $(TEST_TURN)
check_PROGRAMS += tests/turn/t_sniff
tests_turn_t_sniff_LDADD = $(TEST_TURN)
check_PROGRAMS += tests/turn/t_policy
tests_turn_t_policy_LDADD = $(TEST_TURN)
