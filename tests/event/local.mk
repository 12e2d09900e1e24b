# SPDX-License-Identifier: MIT
# Tests of src/event/: two lines each,
#	check_PROGRAMS += tests/event/t_x
#	tests_event_t_x_LDADD = $(TEST_EVENT)
# a shell test one line, dist_check_SCRIPTS += tests/event/x.t; fixtures: EXTRA_DIST += folder.

check_PROGRAMS += tests/event/json/t_json_reader
tests_event_json_t_json_reader_LDADD = $(TEST_EVENT)
check_PROGRAMS += tests/event/json/t_json_string
tests_event_json_t_json_string_LDADD = $(TEST_EVENT)
check_PROGRAMS += tests/event/json/t_json_simd
tests_event_json_t_json_simd_LDADD = $(TEST_EVENT)
# The same without vectors.
check_PROGRAMS += tests/event/json/t_json_simd_plain
tests_event_json_t_json_simd_plain_SOURCES = tests/event/json/t_json_simd.c
tests_event_json_t_json_simd_plain_CPPFLAGS = $(AM_CPPFLAGS) -DWITHOUT_VECTORS -U__SSE2__ -U__ARM_NEON
tests_event_json_t_json_simd_plain_LDADD = $(TEST_EVENT)
check_PROGRAMS += tests/event/json/t_json_writer
tests_event_json_t_json_writer_LDADD = $(TEST_EVENT)
check_PROGRAMS += tests/event/json/t_json_value
tests_event_json_t_json_value_LDADD = $(TEST_EVENT)

check_PROGRAMS += tests/event/t_shared_event
tests_event_t_shared_event_SOURCES = tests/event/t_shared_event.c tests/event/specimen.c tests/event/specimen.h
tests_event_t_shared_event_LDADD = $(TEST_EVENT)
check_PROGRAMS += tests/event/t_codec
tests_event_t_codec_SOURCES = tests/event/t_codec.c tests/event/specimen.c tests/event/specimen.h
tests_event_t_codec_LDADD = $(TEST_EVENT)
EXTRA_DIST += tests/event/canonical.jsonl
check_PROGRAMS += tests/event/json/t_json_reader_oracle
tests_event_json_t_json_reader_oracle_SOURCES = tests/event/json/t_json_reader_oracle.c tests/event/json_oracle.c \
	tests/event/json_oracle.h
tests_event_json_t_json_reader_oracle_LDADD = $(TEST_EVENT)
dist_check_SCRIPTS += tests/event/json_node.t
EXTRA_DIST += tests/event/json_node.js
check_PROGRAMS += tests/event/json/t_json_redact
tests_event_json_t_json_redact_LDADD = $(TEST_EVENT)
