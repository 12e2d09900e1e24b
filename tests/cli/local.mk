# SPDX-License-Identifier: MIT
# Tests of src/cli/: two lines each,
#	check_PROGRAMS += tests/cli/t_x
#	tests_cli_t_x_LDADD = $(TEST_CLI)
# a shell test one line, dist_check_SCRIPTS += tests/cli/x.t; fixtures: EXTRA_DIST += folder.
# What takes long is in EARLY instead.

# What the scripts run is built with these.
CLI_TEST_NEEDS = turncast$(EXEEXT) turncast-script$(EXEEXT) $(UNITS) $(plugin_LTLIBRARIES) tests/fake/agent$(EXEEXT) \
	$(fault_modules) $(fault_loads) tests/fake/maxrss$(EXEEXT) tests/fake/state$(EXEEXT) \
	tests/fake/oldkernel$(EXEEXT)

check_PROGRAMS += tests/cli/t_recordings
tests_cli_t_recordings_LDADD = libpromise.a $(TEST_EVENT)
EXTRA_tests_cli_t_recordings_DEPENDENCIES = $(CLI_TEST_NEEDS)

dist_check_SCRIPTS += \
	tests/cli/agents.t \
	tests/cli/answer.t \
	tests/cli/approvals.t \
	tests/cli/audit.t \
	tests/cli/broken.t \
	tests/cli/check.t \
	tests/cli/completion.t \
	tests/cli/contain.t \
	tests/cli/anew.t tests/cli/control.t \
	tests/cli/dead.t \
	tests/cli/disabled.t \
	tests/cli/doctor.t \
	tests/cli/help.t \
	tests/cli/kept.t \
	tests/cli/limits.t \
	tests/cli/memory.t \
	tests/cli/operate.t \
	tests/cli/redis.t \
	tests/cli/new.t \
	tests/cli/notify.t \
	tests/cli/reload.t \
	tests/cli/replay.t \
	tests/cli/testing.t \
	tests/cli/testing_services.t \
	tests/cli/turns.t \
	tests/cli/restart.t \
	tests/cli/run.t \
	tests/cli/scale.t \
	tests/cli/serve.t \
	tests/cli/visibility.t
TERMINAL_TESTS = tests/cli/t_terminal.py
dist_check_SCRIPTS += $(TERMINAL_TESTS)
$(TERMINAL_TESTS:.py=.log): $(CLI_TEST_NEEDS)
EARLY += tests/cli/breach.t tests/cli/modules.t tests/cli/chaos.t
LENGTHY += tests/cli/isolation.t tests/cli/t_torture.py
EXTRA_DIST += tests/cli/isolation.t tests/cli/t_torture.py
EXTRA_DIST += tests/cli/cli.sh tests/cli/complete.zsh tests/cli/failed.jsonl tests/cli/turn.jsonl
tests/cli/t_torture.log: $(CLI_TEST_NEEDS) tests/fault/torture.so tests/fake/talker$(EXEEXT)
tests/cli/scale.log: $(BENCH_SERVE_NEEDS)
