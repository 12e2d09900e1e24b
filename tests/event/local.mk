# SPDX-License-Identifier: MIT
# Tests of src/event/: two lines each,
#	check_PROGRAMS += tests/event/t_x
#	tests_event_t_x_LDADD = $(TEST_EVENT)
# a shell test one line, dist_check_SCRIPTS += tests/event/x.t; fixtures: EXTRA_DIST += folder.

check_PROGRAMS += tests/event/t_json
tests_event_t_json_LDADD = $(TEST_EVENT)
check_PROGRAMS += tests/event/t_json_text
tests_event_t_json_text_LDADD = $(TEST_EVENT)
check_PROGRAMS += tests/event/t_json_block
tests_event_t_json_block_LDADD = $(TEST_EVENT)
# The same without vectors.
check_PROGRAMS += tests/event/t_json_block_plain
tests_event_t_json_block_plain_SOURCES = tests/event/t_json_block.c
tests_event_t_json_block_plain_CPPFLAGS = $(AM_CPPFLAGS) -U__SSE2__
tests_event_t_json_block_plain_LDADD = $(TEST_EVENT)
check_PROGRAMS += tests/event/t_jsonw
tests_event_t_jsonw_LDADD = $(TEST_EVENT)

check_PROGRAMS += tests/event/t_event
tests_event_t_event_SOURCES = tests/event/t_event.c tests/event/specimen.c tests/event/specimen.h
tests_event_t_event_LDADD = $(TEST_EVENT)
check_PROGRAMS += tests/event/t_codec
tests_event_t_codec_SOURCES = tests/event/t_codec.c tests/event/specimen.c tests/event/specimen.h
tests_event_t_codec_LDADD = $(TEST_EVENT)
EXTRA_DIST += tests/event/canonical.jsonl
check_PROGRAMS += tests/event/t_json_oracle
tests_event_t_json_oracle_SOURCES = tests/event/t_json_oracle.c tests/event/json_oracle.c \
	tests/event/json_oracle.h
tests_event_t_json_oracle_LDADD = $(TEST_EVENT)
dist_check_SCRIPTS += tests/event/json_node.t
EXTRA_DIST += tests/event/json_node.js
check_PROGRAMS += tests/event/t_redact
tests_event_t_redact_LDADD = $(TEST_EVENT)
