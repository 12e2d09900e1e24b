# SPDX-License-Identifier: MIT
# Tests of src/core/: two lines each,
#	check_PROGRAMS += tests/core/t_x
#	tests_core_t_x_LDADD = $(TEST_CORE)
# a shell test one line, dist_check_SCRIPTS += tests/core/x.t; fixtures: EXTRA_DIST += folder.

check_PROGRAMS += tests/core/conversation/t_user_limits
tests_core_conversation_t_user_limits_LDADD = $(TEST_CORE)

check_PROGRAMS += tests/core/settings/t_visibility_file
tests_core_settings_t_visibility_file_SOURCES = tests/core/settings/t_visibility_file.c \
	tests/core/settings/shown.h
tests_core_settings_t_visibility_file_LDADD = $(TEST_CORE)

check_PROGRAMS += tests/core/settings/t_visibility_store
tests_core_settings_t_visibility_store_SOURCES = tests/core/settings/t_visibility_store.c \
	tests/core/settings/shown.h
tests_core_settings_t_visibility_store_LDADD = $(TEST_CORE)

check_PROGRAMS += tests/core/agent/t_stderr_tail
tests_core_agent_t_stderr_tail_LDADD = $(TEST_CORE)

check_PROGRAMS += tests/core/agent/t_agent_retry
tests_core_agent_t_agent_retry_LDADD = $(TEST_CORE)

check_PROGRAMS += tests/core/agent/t_launch
tests_core_agent_t_launch_LDADD = $(TEST_CORE)

check_PROGRAMS += tests/core/turn/t_turn_result
tests_core_turn_t_turn_result_LDADD = $(TEST_CORE)

check_PROGRAMS += tests/core/turn/t_turn_state tests/core/request/t_request_state
tests_core_turn_t_turn_state_SOURCES = tests/core/turn/t_turn_state.c $(TABLE_CHECK)
tests_core_turn_t_turn_state_LDADD = $(TEST_CORE)
tests_core_request_t_request_state_SOURCES = tests/core/request/t_request_state.c $(TABLE_CHECK)
tests_core_request_t_request_state_LDADD = $(TEST_CORE)

check_PROGRAMS += tests/core/connector/t_early_turns
tests_core_connector_t_early_turns_LDADD = $(TEST_CORE)

check_PROGRAMS += tests/core/dispatch/t_dispatch
tests_core_dispatch_t_dispatch_LDADD = $(TEST_CORE)
check_PROGRAMS += tests/core/dispatch/t_dispatch_scope
tests_core_dispatch_t_dispatch_scope_LDADD = $(TEST_CORE)

check_PROGRAMS += tests/core/turn/t_usage_delta
tests_core_turn_t_usage_delta_SOURCES = tests/core/turn/t_usage_delta.c tests/core/cast_log.c tests/core/cast_log.h
tests_core_turn_t_usage_delta_LDADD = $(TEST_CORE)

check_PROGRAMS += tests/core/turn/t_turn
tests_core_turn_t_turn_SOURCES = tests/core/turn/t_turn.c tests/core/cast_log.c tests/core/cast_log.h
tests_core_turn_t_turn_LDADD = $(TEST_CORE)

ASKED = tests/core/asked.c tests/core/asked.h

check_PROGRAMS += tests/core/request/t_request_registry
tests_core_request_t_request_registry_SOURCES = tests/core/request/t_request_registry.c $(ASKED)
tests_core_request_t_request_registry_LDADD = $(TEST_CORE)

check_PROGRAMS += tests/core/request/t_request_registry_random
tests_core_request_t_request_registry_random_SOURCES = tests/core/request/t_request_registry_random.c $(ASKED)
tests_core_request_t_request_registry_random_LDADD = $(TEST_CORE)

STAGE = tests/core/stage.c tests/core/stage.h tests/core/cast_log.c tests/core/cast_log.h \
	tests/fake/children.c tests/fake/children.h

check_PROGRAMS += tests/core/agent/t_executor_faults
tests_core_agent_t_executor_faults_SOURCES = tests/core/agent/t_executor_faults.c $(STAGE)
tests_core_agent_t_executor_faults_LDADD = $(TEST_CORE)
EXTRA_tests_core_agent_t_executor_faults_DEPENDENCIES = tests/fake/agent$(EXEEXT)

check_PROGRAMS += tests/core/agent/t_executor
tests_core_agent_t_executor_SOURCES = tests/core/agent/t_executor.c $(STAGE)
tests_core_agent_t_executor_LDADD = $(TEST_CORE)
EXTRA_tests_core_agent_t_executor_DEPENDENCIES = tests/fake/agent$(EXEEXT)

check_PROGRAMS += tests/core/t_attempts
tests_core_t_attempts_SOURCES = tests/core/t_attempts.c $(STAGE)
tests_core_t_attempts_LDADD = $(TEST_CORE)
EXTRA_tests_core_t_attempts_DEPENDENCIES = tests/fake/agent$(EXEEXT)

check_PROGRAMS += tests/core/t_background
tests_core_t_background_SOURCES = tests/core/t_background.c $(STAGE)
tests_core_t_background_LDADD = $(TEST_CORE)
EXTRA_tests_core_t_background_DEPENDENCIES = tests/fake/agent$(EXEEXT)

check_PROGRAMS += tests/core/request/t_approvals
tests_core_request_t_approvals_LDADD = $(TEST_CORE)

check_PROGRAMS += tests/core/agent/t_executor_rpc
tests_core_agent_t_executor_rpc_SOURCES = tests/core/agent/t_executor_rpc.c $(STAGE)
tests_core_agent_t_executor_rpc_LDADD = $(TEST_CORE)
EXTRA_tests_core_agent_t_executor_rpc_DEPENDENCIES = tests/fake/agent$(EXEEXT)

# Recorded dialogs, played by tests/fake/dialog.py.
DIALOGS = tests/core/dialogs.c tests/core/dialogs.h $(STAGE)
check_PROGRAMS += tests/core/t_dialogs
tests_core_t_dialogs_SOURCES = tests/core/t_dialogs.c tests/core/dialog_rows.h $(DIALOGS)
tests_core_t_dialogs_LDADD = $(TEST_CORE)
check_PROGRAMS += tests/core/t_dialogs_rpc
tests_core_t_dialogs_rpc_SOURCES = tests/core/t_dialogs_rpc.c tests/core/dialog_rows_acp.h \
	tests/core/dialog_rows_codex.h $(DIALOGS)
tests_core_t_dialogs_rpc_LDADD = $(TEST_CORE)
EXTRA_DIST += tests/dialogs

check_PROGRAMS += tests/core/inbound/t_user_command
tests_core_inbound_t_user_command_LDADD = $(TEST_CORE)

TALK = tests/core/talk.c tests/core/talk.h tests/core/fake_ledger.c tests/core/fake_ledger.h $(STAGE)

check_PROGRAMS += tests/core/inbound/t_chat_choice
tests_core_inbound_t_chat_choice_SOURCES = tests/core/inbound/t_chat_choice.c $(TALK)
tests_core_inbound_t_chat_choice_LDADD = $(TEST_CORE)
EXTRA_tests_core_inbound_t_chat_choice_DEPENDENCIES = tests/fake/agent$(EXEEXT)

check_PROGRAMS += tests/core/inbound/t_chat_history
tests_core_inbound_t_chat_history_SOURCES = tests/core/inbound/t_chat_history.c $(TALK)
tests_core_inbound_t_chat_history_LDADD = $(TEST_CORE)
EXTRA_tests_core_inbound_t_chat_history_DEPENDENCIES = tests/fake/agent$(EXEEXT)

check_PROGRAMS += tests/core/inbound/t_pairing
tests_core_inbound_t_pairing_SOURCES = tests/core/inbound/t_pairing.c $(TALK)
tests_core_inbound_t_pairing_LDADD = $(TEST_CORE)
EXTRA_tests_core_inbound_t_pairing_DEPENDENCIES = tests/fake/agent$(EXEEXT)

check_PROGRAMS += tests/core/inbound/t_inbound
tests_core_inbound_t_inbound_SOURCES = tests/core/inbound/t_inbound.c $(TALK)
tests_core_inbound_t_inbound_LDADD = $(TEST_CORE)
EXTRA_tests_core_inbound_t_inbound_DEPENDENCIES = tests/fake/agent$(EXEEXT)

check_PROGRAMS += tests/core/inbound/t_voice
tests_core_inbound_t_voice_SOURCES = tests/core/inbound/t_voice.c $(TALK)
tests_core_inbound_t_voice_LDADD = $(TEST_CORE)
EXTRA_tests_core_inbound_t_voice_DEPENDENCIES = tests/fake/agent$(EXEEXT)

check_PROGRAMS += tests/core/conversation/t_conversation
tests_core_conversation_t_conversation_SOURCES = tests/core/conversation/t_conversation.c $(TALK)
tests_core_conversation_t_conversation_LDADD = $(TEST_CORE)
EXTRA_tests_core_conversation_t_conversation_DEPENDENCIES = tests/fake/agent$(EXEEXT)

check_PROGRAMS += tests/core/conversation/t_conversation_end
tests_core_conversation_t_conversation_end_SOURCES = tests/core/conversation/t_conversation_end.c $(TALK)
tests_core_conversation_t_conversation_end_LDADD = $(TEST_CORE)
EXTRA_tests_core_conversation_t_conversation_end_DEPENDENCIES = tests/fake/agent$(EXEEXT)

check_PROGRAMS += tests/core/t_steer
tests_core_t_steer_SOURCES = tests/core/t_steer.c tests/core/agent_lines.h $(TALK)
tests_core_t_steer_LDADD = $(TEST_CORE)
EXTRA_tests_core_t_steer_DEPENDENCIES = tests/fake/agent$(EXEEXT)

check_PROGRAMS += tests/core/agent/t_warm_pool
tests_core_agent_t_warm_pool_SOURCES = tests/core/agent/t_warm_pool.c tests/core/agent_lines.h $(TALK)
tests_core_agent_t_warm_pool_LDADD = $(TEST_CORE)
EXTRA_tests_core_agent_t_warm_pool_DEPENDENCIES = tests/fake/agent$(EXEEXT)

check_PROGRAMS += tests/core/budget/t_budgets
tests_core_budget_t_budgets_LDADD = $(TEST_CORE)

check_PROGRAMS += tests/core/budget/t_budget_day
tests_core_budget_t_budget_day_LDADD = $(TEST_CORE)

FAKE_REDIS = tests/fake/redis.c tests/fake/redis.h

check_PROGRAMS += tests/core/lock/t_turn_lock_redis
tests_core_lock_t_turn_lock_redis_SOURCES = tests/core/lock/t_turn_lock_redis.c $(FAKE_REDIS)
tests_core_lock_t_turn_lock_redis_LDADD = $(TEST_CORE)

check_PROGRAMS += tests/core/lock/t_turn_lock_bus
tests_core_lock_t_turn_lock_bus_LDADD = $(TEST_CORE)

check_PROGRAMS += tests/core/settings/t_visibility_redis
tests_core_settings_t_visibility_redis_SOURCES = tests/core/settings/t_visibility_redis.c $(FAKE_REDIS)
tests_core_settings_t_visibility_redis_LDADD = $(TEST_CORE)

check_PROGRAMS += tests/core/turnlog/t_turnlog
tests_core_turnlog_t_turnlog_LDADD = $(TEST_CORE)

check_PROGRAMS += tests/core/settings/t_settings_worker
tests_core_settings_t_settings_worker_SOURCES = tests/core/settings/t_settings_worker.c tests/core/fake_ledger.c \
	tests/core/fake_ledger.h $(FAKE_REDIS)
tests_core_settings_t_settings_worker_LDADD = $(TEST_CORE)

check_PROGRAMS += tests/core/conversation/t_conversation_redis
tests_core_conversation_t_conversation_redis_SOURCES = tests/core/conversation/t_conversation_redis.c $(TALK) $(FAKE_REDIS)
tests_core_conversation_t_conversation_redis_LDADD = $(TEST_CORE)
EXTRA_tests_core_conversation_t_conversation_redis_DEPENDENCIES = tests/fake/agent$(EXEEXT)

check_PROGRAMS += tests/core/shared/t_shared_entry
tests_core_shared_t_shared_entry_LDADD = $(TEST_CORE)
check_PROGRAMS += tests/core/shared/t_shared_texts
tests_core_shared_t_shared_texts_LDADD = $(TEST_CORE)
check_PROGRAMS += tests/core/shared/t_shared_settings
tests_core_shared_t_shared_settings_SOURCES = tests/core/shared/t_shared_settings.c tests/core/fake_ledger.c \
	tests/core/fake_ledger.h
tests_core_shared_t_shared_settings_LDADD = $(TEST_CORE)

check_PROGRAMS += tests/core/bus/t_bus_turn
tests_core_bus_t_bus_turn_LDADD = $(TEST_CORE)
check_PROGRAMS += tests/core/bus/t_bus_chain
tests_core_bus_t_bus_chain_LDADD = $(TEST_CORE)
check_PROGRAMS += tests/core/bus/t_bus_message
tests_core_bus_t_bus_message_LDADD = $(TEST_CORE)
check_PROGRAMS += tests/core/bus/t_bus_permission
tests_core_bus_t_bus_permission_LDADD = $(TEST_CORE)
check_PROGRAMS += tests/core/bus/t_bus_stream
tests_core_bus_t_bus_stream_LDADD = $(TEST_CORE)
check_PROGRAMS += tests/core/host/t_host_reload
tests_core_host_t_host_reload_LDADD = $(TEST_CORE)

check_PROGRAMS += tests/core/host/t_instance_texts
tests_core_host_t_instance_texts_SOURCES = tests/core/host/t_instance_texts.c tests/core/fake_ledger.c \
	tests/core/fake_ledger.h
tests_core_host_t_instance_texts_LDADD = $(TEST_CORE)
check_PROGRAMS += tests/core/host/t_outcome_message
tests_core_host_t_outcome_message_LDADD = $(TEST_CORE)
check_PROGRAMS += tests/core/host/t_request_message
tests_core_host_t_request_message_LDADD = $(TEST_CORE)
check_PROGRAMS += tests/core/bus/t_bus_kv
tests_core_bus_t_bus_kv_SOURCES = tests/core/bus/t_bus_kv.c tests/io/nats_server.c tests/io/nats_server.h
tests_core_bus_t_bus_kv_LDADD = $(TEST_CORE)
check_PROGRAMS += tests/core/work/t_work_files
tests_core_work_t_work_files_LDADD = $(TEST_CORE)
check_PROGRAMS += tests/core/work/t_work_message
tests_core_work_t_work_message_LDADD = $(TEST_CORE)
check_PROGRAMS += tests/core/work/t_work_turn
tests_core_work_t_work_turn_SOURCES = tests/core/work/t_work_turn.c tests/io/nats_server.c tests/io/nats_server.h
tests_core_work_t_work_turn_LDADD = $(TEST_CORE)
check_PROGRAMS += tests/core/work/t_work_homes
tests_core_work_t_work_homes_SOURCES = tests/core/work/t_work_homes.c tests/io/nats_server.c tests/io/nats_server.h
tests_core_work_t_work_homes_LDADD = $(TEST_CORE)
check_PROGRAMS += tests/core/bus/t_bus_queue
tests_core_bus_t_bus_queue_SOURCES = tests/core/bus/t_bus_queue.c tests/io/nats_server.c tests/io/nats_server.h
tests_core_bus_t_bus_queue_LDADD = $(TEST_CORE)
check_PROGRAMS += tests/core/bus/t_bus_reader
tests_core_bus_t_bus_reader_SOURCES = tests/core/bus/t_bus_reader.c tests/io/nats_server.c \
	tests/io/nats_server.h
tests_core_bus_t_bus_reader_LDADD = $(TEST_CORE)
check_PROGRAMS += tests/core/bus/t_bus_lease
tests_core_bus_t_bus_lease_SOURCES = tests/core/bus/t_bus_lease.c tests/io/nats_server.c \
	tests/io/nats_server.h
tests_core_bus_t_bus_lease_LDADD = $(TEST_CORE)
check_PROGRAMS += tests/core/turnlog/t_turnlog_remote
tests_core_turnlog_t_turnlog_remote_LDADD = $(TEST_CORE)
