# SPDX-License-Identifier: MIT
# Tests of src/base/: two lines each,
#	check_PROGRAMS += tests/base/t_x
#	tests_base_t_x_LDADD = $(TEST_BASE)
# a shell test one line, dist_check_SCRIPTS += tests/base/x.t; fixtures: EXTRA_DIST += folder.

check_PROGRAMS += tests/base/t_arena
tests_base_t_arena_LDADD = $(TEST_BASE)
check_PROGRAMS += tests/base/t_sound_name
tests_base_t_sound_name_LDADD = $(TEST_BASE)
TABLE_CHECK = tests/base/table_check.c tests/base/table_check.h
check_PROGRAMS += tests/base/t_state_table
tests_base_t_state_table_SOURCES = tests/base/t_state_table.c $(TABLE_CHECK)
tests_base_t_state_table_LDADD = $(TEST_BASE)
check_PROGRAMS += tests/base/t_invariant
tests_base_t_invariant_CPPFLAGS = $(AM_CPPFLAGS) -DNDEBUG
tests_base_t_invariant_LDADD = $(TEST_BASE)
dist_check_SCRIPTS += tests/base/invariant.t
check_PROGRAMS += tests/base/bytes/t_buf
tests_base_bytes_t_buf_LDADD = $(TEST_BASE)
check_PROGRAMS += tests/base/sys/t_clock
tests_base_sys_t_clock_LDADD = $(TEST_BASE)
check_PROGRAMS += tests/base/t_hash
tests_base_t_hash_LDADD = $(TEST_BASE)
check_PROGRAMS += tests/base/t_nearest_word
tests_base_t_nearest_word_LDADD = $(TEST_BASE)
check_PROGRAMS += tests/base/sys/t_dir
tests_base_sys_t_dir_LDADD = $(TEST_BASE)
check_PROGRAMS += tests/base/sys/t_executable
tests_base_sys_t_executable_LDADD = $(TEST_BASE)
check_PROGRAMS += tests/base/sys/t_err
tests_base_sys_t_err_LDADD = $(TEST_BASE)
check_PROGRAMS += tests/base/t_chunk_pool
tests_base_t_chunk_pool_LDADD = $(TEST_BASE)
check_PROGRAMS += tests/base/sys/t_file_trust
tests_base_sys_t_file_trust_LDADD = $(TEST_BASE)
check_PROGRAMS += tests/base/bytes/t_utf8
tests_base_bytes_t_utf8_LDADD = $(TEST_BASE)
check_PROGRAMS += tests/base/sys/t_finding
tests_base_sys_t_finding_LDADD = $(TEST_BASE)
check_PROGRAMS += tests/base/sys/t_log
tests_base_sys_t_log_LDADD = $(TEST_BASE)
