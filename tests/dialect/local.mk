# SPDX-License-Identifier: MIT
# Tests of src/dialect/: two lines each,
#	check_PROGRAMS += tests/dialect/t_x
#	tests_dialect_t_x_LDADD = $(TEST_DIALECT)
# a shell test one line, dist_check_SCRIPTS += tests/dialect/x.t; fixtures: EXTRA_DIST += folder.

check_PROGRAMS += tests/dialect/protocol/t_sse
tests_dialect_protocol_t_sse_LDADD = libtap.a $(LINK_DIALECT)
check_PROGRAMS += tests/dialect/writer/t_json_style
tests_dialect_writer_t_json_style_LDADD = libtap.a $(LINK_DIALECT)
check_PROGRAMS += tests/dialect/t_turncast_run
tests_dialect_t_turncast_run_LDADD = libtap.a $(LINK_DIALECT)
check_PROGRAMS += tests/dialect/reader/t_value
tests_dialect_reader_t_value_LDADD = libtap.a $(LINK_DIALECT)

# Streams, and what a dialect says of them.
READING = tests/dialect/reading.c tests/dialect/reading.h
check_PROGRAMS += tests/dialect/claude/t_claude
tests_dialect_claude_t_claude_SOURCES = tests/dialect/claude/t_claude.c tests/dialect/claude_lines.h $(READING)
tests_dialect_claude_t_claude_LDADD = $(TEST_TURN)
check_PROGRAMS += tests/dialect/claude/t_claude_line_cache
tests_dialect_claude_t_claude_line_cache_LDADD = $(TEST_DIALECT)
check_PROGRAMS += tests/dialect/claude/input/t_claude_input
tests_dialect_claude_input_t_claude_input_LDADD = $(TEST_TURN)
check_PROGRAMS += tests/dialect/claude/t_claude_tools
tests_dialect_claude_t_claude_tools_SOURCES = tests/dialect/claude/t_claude_tools.c \
	tests/dialect/claude_lines.h $(READING)
tests_dialect_claude_t_claude_tools_LDADD = $(TEST_TURN)
check_PROGRAMS += tests/dialect/reader/t_step_counter
tests_dialect_reader_t_step_counter_SOURCES = tests/dialect/reader/t_step_counter.c tests/dialect/claude_lines.h $(READING)
tests_dialect_reader_t_step_counter_LDADD = $(TEST_TURN)

# Whole turns: translate, guard and the promises.
CAST = tests/dialect/cast.c tests/dialect/cast.h tests/dialect/adds_up.c tests/dialect/adds_up.h
EXTRA_PROGRAMS += tests/dialect/sweep
tests_dialect_sweep_SOURCES = tests/dialect/sweep.c $(CAST)
tests_dialect_sweep_LDADD = libpromise.a $(TEST_TURN)
CLEANFILES += tests/dialect/sweep$(EXEEXT)
check_PROGRAMS += tests/dialect/t_golden
tests_dialect_t_golden_SOURCES = tests/dialect/t_golden.c $(CAST)
tests_dialect_t_golden_LDADD = libpromise.a $(TEST_TURN)
EXTRA_DIST += tests/dialects tests/turns
check_PROGRAMS += tests/dialect/t_audience
tests_dialect_t_audience_SOURCES = tests/dialect/t_audience.c tests/dialect/cast.c \
	tests/dialect/cast.h
tests_dialect_t_audience_LDADD = libpromise.a $(TEST_TURN)
check_PROGRAMS += tests/dialect/t_agents
tests_dialect_t_agents_SOURCES = tests/dialect/t_agents.c tests/dialect/cast.c tests/dialect/cast.h
tests_dialect_t_agents_LDADD = libpromise.a $(TEST_TURN)

sweep: tests/dialect/sweep$(EXEEXT)
	tests/dialect/sweep$(EXEEXT) $(RECORDINGS)
regolden: tests/dialect/t_golden$(EXEEXT)
	$(AM_TESTS_ENVIRONMENT) TURNCAST_REGOLDEN=1 tests/dialect/t_golden$(EXEEXT) | tail -n 1
.PHONY: sweep regolden
check_PROGRAMS += tests/dialect/t_turncast
tests_dialect_t_turncast_LDADD = $(TEST_TURN)

# One dialect in, another out.
REWRITE = tests/dialect/rewrite.c tests/dialect/rewrite.h
check_PROGRAMS += tests/dialect/awaken/t_awaken
tests_dialect_awaken_t_awaken_SOURCES = tests/dialect/awaken/t_awaken.c $(READING) $(REWRITE)
tests_dialect_awaken_t_awaken_LDADD = libpromise.a $(TEST_TURN)
check_PROGRAMS += tests/dialect/reasonix/t_reasonix
tests_dialect_reasonix_t_reasonix_SOURCES = tests/dialect/reasonix/t_reasonix.c $(READING)
tests_dialect_reasonix_t_reasonix_LDADD = $(TEST_TURN)
check_PROGRAMS += tests/dialect/t_roundtrip
tests_dialect_t_roundtrip_SOURCES = tests/dialect/t_roundtrip.c $(REWRITE)
tests_dialect_t_roundtrip_LDADD = libpromise.a $(TEST_TURN)
check_PROGRAMS += tests/dialect/t_conform
tests_dialect_t_conform_SOURCES = tests/dialect/t_conform.c tests/dialect/conform.c \
	tests/dialect/conform.h tests/dialect/conform_ag_ui.c \
	tests/dialect/conform_agenticore.c tests/dialect/conform_awaken.c \
	tests/dialect/conform_ethos.c tests/dialect/conform_missy.c \
	tests/dialect/conform_otlp.c \
	tests/dialect/conform_reasonix.c $(REWRITE)
tests_dialect_t_conform_LDADD = libpromise.a $(TEST_TURN)
check_PROGRAMS += tests/dialect/ag_ui/t_ag_ui
tests_dialect_ag_ui_t_ag_ui_SOURCES = tests/dialect/ag_ui/t_ag_ui.c $(READING)
tests_dialect_ag_ui_t_ag_ui_LDADD = $(TEST_TURN)
check_PROGRAMS += tests/dialect/missy/t_missy
tests_dialect_missy_t_missy_SOURCES = tests/dialect/missy/t_missy.c $(READING) $(REWRITE)
tests_dialect_missy_t_missy_LDADD = libpromise.a $(TEST_TURN)
check_PROGRAMS += tests/dialect/t_agenticore
tests_dialect_t_agenticore_SOURCES = tests/dialect/t_agenticore.c $(READING) $(REWRITE)
tests_dialect_t_agenticore_LDADD = libpromise.a $(TEST_TURN)
check_PROGRAMS += tests/dialect/t_sink_view
tests_dialect_t_sink_view_LDADD = libtap.a $(JANSSON_LIBS)
check_PROGRAMS += tests/dialect/ethos/t_ethos
tests_dialect_ethos_t_ethos_SOURCES = tests/dialect/ethos/t_ethos.c $(READING)
tests_dialect_ethos_t_ethos_LDADD = $(TEST_TURN)
check_PROGRAMS += tests/dialect/ag_ui/t_ag_ui_write
AG_UI_RULES = tests/dialect/ag_ui_rules.c tests/dialect/ag_ui_rules.h
tests_dialect_ag_ui_t_ag_ui_write_SOURCES = tests/dialect/ag_ui/t_ag_ui_write.c $(AG_UI_RULES) $(REWRITE)
tests_dialect_ag_ui_t_ag_ui_write_LDADD = libpromise.a $(TEST_TURN)
check_PROGRAMS += tests/dialect/t_bugs
tests_dialect_t_bugs_SOURCES = tests/dialect/t_bugs.c $(READING)
tests_dialect_t_bugs_LDADD = $(TEST_TURN)

# What is written to an agent.
TALKING = tests/dialect/talking.c tests/dialect/talking.h
check_PROGRAMS += tests/dialect/acp/t_acp_input
tests_dialect_acp_t_acp_input_SOURCES = tests/dialect/acp/t_acp_input.c $(TALKING) $(READING)
tests_dialect_acp_t_acp_input_LDADD = $(TEST_TURN)
check_PROGRAMS += tests/dialect/remote/t_remote
tests_dialect_remote_t_remote_SOURCES = tests/dialect/remote/t_remote.c $(TALKING) $(READING)
tests_dialect_remote_t_remote_LDADD = $(TEST_TURN)
check_PROGRAMS += tests/dialect/codex/t_codex_app_input
tests_dialect_codex_t_codex_app_input_SOURCES = tests/dialect/codex/t_codex_app_input.c $(TALKING) $(READING)
tests_dialect_codex_t_codex_app_input_LDADD = $(TEST_TURN)

# What every source event became: tests/dialects/ROWS.
dist_check_SCRIPTS += tests/dialect/rows.t
