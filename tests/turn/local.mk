# SPDX-License-Identifier: MIT
# Tests of src/turn/: two lines each,
#	check_PROGRAMS += tests/turn/t_x
#	tests_turn_t_x_LDADD = $(TEST_TURN)
# a shell test one line, dist_check_SCRIPTS += tests/turn/x.t; fixtures: EXTRA_DIST += folder.

check_PROGRAMS += tests/turn/visibility/t_slash_tokens
tests_turn_visibility_t_slash_tokens_LDADD = $(TEST_TURN)
check_PROGRAMS += tests/turn/t_request_preview
tests_turn_t_request_preview_LDADD = $(TEST_TURN)
check_PROGRAMS += tests/turn/visibility/t_visibility
tests_turn_visibility_t_visibility_LDADD = $(TEST_TURN)

# The promises as a checker, for every test that has a turn's events.
check_LIBRARIES += libpromise.a
libpromise_a_SOURCES = tests/promise.c tests/promise.h

TURN_TEST = tests/turn/turn_test.c tests/turn/turn_test.h
check_PROGRAMS += tests/turn/t_guard
tests_turn_t_guard_SOURCES = tests/turn/t_guard.c $(TURN_TEST)
tests_turn_t_guard_LDADD = libpromise.a $(TEST_TURN)
check_PROGRAMS += tests/turn/t_guard_pairing
tests_turn_t_guard_pairing_SOURCES = tests/turn/t_guard_pairing.c $(TURN_TEST)
tests_turn_t_guard_pairing_LDADD = libpromise.a $(TEST_TURN)
check_PROGRAMS += tests/turn/t_guard_random
tests_turn_t_guard_random_SOURCES = tests/turn/t_guard_random.c tests/turn/drive.c \
	tests/turn/drive.h
tests_turn_t_guard_random_LDADD = libpromise.a $(TEST_TURN)
check_PROGRAMS += tests/turn/t_open_items
tests_turn_t_open_items_LDADD = $(TEST_TURN)
check_PROGRAMS += tests/turn/t_translator
tests_turn_t_translator_LDADD = $(TEST_TURN)
check_PROGRAMS += tests/dialect/t_dialect_sniff
tests_dialect_t_dialect_sniff_LDADD = $(TEST_TURN)
check_PROGRAMS += tests/policy/t_policy
tests_policy_t_policy_LDADD = $(TEST_TURN)
