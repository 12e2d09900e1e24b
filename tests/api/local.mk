# SPDX-License-Identifier: MIT
# Tests of src/api/: `turncast serve` over real sockets; what is about one file alone, in C.

API_TESTS = tests/api/t_ag_ui.py tests/api/t_ag_ui_ask.py tests/api/t_budget.py tests/api/t_bus.py tests/api/t_bus_doctor.py tests/api/t_bus_faults.py tests/api/t_bus_runs.py tests/api/t_bus_secured.py tests/api/t_doors.py tests/api/t_drain.py tests/api/t_errors.py tests/api/t_faults.py tests/api/t_flood.py tests/api/t_follow.py tests/api/t_grace.py tests/api/t_keys.py tests/api/t_memory.py tests/api/t_metrics.py tests/api/t_nats_agent.py tests/api/t_nats_agent_secured.py tests/api/t_past.py tests/api/t_prometheus.py tests/api/t_proxy.py tests/api/t_requests.py tests/api/t_restart.py tests/api/t_switches.py tests/api/t_turns.py
API_TESTS += tests/api/t_bus_requests.py tests/api/t_same_turn.py tests/api/t_unfinished.py tests/api/t_bus_settings.py tests/api/t_bus_shared.py tests/api/t_work.py
dist_check_SCRIPTS += $(API_TESTS)
# Tests of several hosts wait for leases to end.
HOST_TESTS = tests/api/t_adopt.py tests/api/t_adopt_files.py tests/api/t_work_faults.py tests/api/t_work_limits.py tests/api/t_lead.py \
	tests/api/t_lead_requests.py tests/api/t_lead_texts.py tests/api/t_hosts.py tests/api/t_shown_elsewhere.py
LENGTHY += $(HOST_TESTS)
EARLY += tests/api/t_chat.py
EXTRA_DIST += $(HOST_TESTS) tests/api/ag_ui_run.py tests/api/bus.py tests/api/certificates.py tests/api/door.py tests/api/work.py tests/api/metrics/alerts.test.yml

$(API_TESTS:.py=.log) $(HOST_TESTS:.py=.log) tests/api/t_chat.log: turncast$(EXEEXT) $(plugin_LTLIBRARIES) tests/fake/agent$(EXEEXT) \
	tests/fake/asker$(EXEEXT) tests/fake/talker$(EXEEXT) $(fault_modules)

check_PROGRAMS += tests/api/shared/t_auth
tests_api_shared_t_auth_SOURCES = tests/api/shared/t_auth.c $(HTTPD_CLIENT)
tests_api_shared_t_auth_LDADD = $(TEST_API)

check_PROGRAMS += tests/api/shared/t_chat_dedup
tests_api_shared_t_chat_dedup_SOURCES = tests/api/shared/t_chat_dedup.c
tests_api_shared_t_chat_dedup_LDADD = $(TEST_API)

check_PROGRAMS += tests/api/metrics/t_prometheus
tests_api_metrics_t_prometheus_LDADD = $(TEST_API)
