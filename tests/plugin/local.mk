# SPDX-License-Identifier: MIT
# Tests of src/plugin/: two lines each,
#	check_PROGRAMS += tests/plugin/t_x
#	tests_plugin_t_x_LDADD = $(TEST_PLUGIN)
# a shell test one line, dist_check_SCRIPTS += tests/plugin/x.t; fixtures: EXTRA_DIST += folder.

check_PROGRAMS += tests/plugin/queue/t_backlog tests/plugin/queue/t_event_ring tests/plugin/queue/t_event_queue
tests_plugin_queue_t_backlog_LDADD = $(TEST_PLUGIN)
tests_plugin_queue_t_event_ring_LDADD = $(TEST_PLUGIN)
tests_plugin_queue_t_event_queue_LDADD = $(TEST_PLUGIN)
EXTRA_DIST += tests/plugin/events.h

check_PROGRAMS += tests/plugin/thread/t_thread_store
tests_plugin_thread_t_thread_store_LDADD = $(TEST_PLUGIN)

check_PROGRAMS += tests/plugin/abi/t_descriptor tests/plugin/abi/t_loader tests/plugin/abi/t_probe_process
tests_plugin_abi_t_descriptor_LDADD = $(TEST_PLUGIN)
tests_plugin_abi_t_loader_LDADD = $(TEST_PLUGIN)
tests_plugin_abi_t_probe_process_LDADD = $(TEST_PLUGIN)

check_PROGRAMS += tests/plugin/chaos/t_chaos tests/plugin/t_status_page tests/plugin/ipc/t_shm_ring
tests_plugin_chaos_t_chaos_LDADD = $(TEST_PLUGIN)
tests_plugin_t_status_page_LDADD = $(TEST_PLUGIN)
tests_plugin_ipc_t_shm_ring_LDADD = $(TEST_PLUGIN)

check_PROGRAMS += tests/plugin/instance/t_instance
tests_plugin_instance_t_instance_LDADD = $(TEST_PLUGIN)

check_PROGRAMS += tests/plugin/t_send tests/plugin/instance/t_services tests/plugin/instance/t_services_crypto \
	tests/plugin/instance/t_services_value \
	tests/plugin/instance/t_link
tests_plugin_instance_t_link_SOURCES = tests/plugin/instance/t_link.c tests/plugin/actor.c tests/plugin/actor.h
tests_plugin_instance_t_link_LDADD = $(TEST_PLUGIN)
tests_plugin_t_send_SOURCES = tests/plugin/t_send.c tests/plugin/actor.c tests/plugin/actor.h
tests_plugin_t_send_LDADD = $(TEST_PLUGIN)
tests_plugin_instance_t_services_SOURCES = tests/plugin/instance/t_services.c tests/plugin/actor.c tests/plugin/actor.h
tests_plugin_instance_t_services_LDADD = $(TEST_PLUGIN)
tests_plugin_instance_t_services_crypto_SOURCES = tests/plugin/instance/t_services_crypto.c tests/plugin/actor.c tests/plugin/actor.h
tests_plugin_instance_t_services_crypto_LDADD = $(TEST_PLUGIN)
tests_plugin_instance_t_services_value_SOURCES = tests/plugin/instance/t_services_value.c tests/plugin/actor.c tests/plugin/actor.h
tests_plugin_instance_t_services_value_LDADD = $(TEST_PLUGIN)

check_PROGRAMS += tests/plugin/thread/t_call_queue
tests_plugin_thread_t_call_queue_LDADD = $(TEST_PLUGIN)

check_PROGRAMS += tests/plugin/t_channel
tests_plugin_t_channel_LDADD = $(TEST_PLUGIN)

check_PROGRAMS += tests/plugin/ipc/t_ipc_frame tests/plugin/process/spawn/t_restart_backoff
tests_plugin_ipc_t_ipc_frame_SOURCES = tests/plugin/ipc/t_ipc_frame.c tests/event/specimen.c \
	tests/event/specimen.h
tests_plugin_ipc_t_ipc_frame_LDADD = $(TEST_PLUGIN)
tests_plugin_process_spawn_t_restart_backoff_LDADD = $(TEST_PLUGIN)
check_PROGRAMS += tests/plugin/process/spawn/t_connector_state tests/plugin/outbox/t_outbox_state
tests_plugin_process_spawn_t_connector_state_SOURCES = tests/plugin/process/spawn/t_connector_state.c $(TABLE_CHECK)
tests_plugin_process_spawn_t_connector_state_LDADD = $(TEST_PLUGIN)
tests_plugin_outbox_t_outbox_state_SOURCES = tests/plugin/outbox/t_outbox_state.c $(TABLE_CHECK)
tests_plugin_outbox_t_outbox_state_LDADD = $(TEST_PLUGIN)

GUEST_KIT = tests/plugin/guest_kit.c tests/plugin/guest_kit.h
PUPPET_KIT = $(GUEST_KIT) tests/plugin/puppet_kit.c tests/plugin/puppet_kit.h
check_PROGRAMS += tests/plugin/process/t_channel_process tests/plugin/t_channel_deaths
tests_plugin_process_t_channel_process_SOURCES = tests/plugin/process/t_channel_process.c $(PUPPET_KIT) \
	tests/event/specimen.c tests/event/specimen.h
tests_plugin_process_t_channel_process_LDADD = $(TEST_PLUGIN)
tests_plugin_t_channel_deaths_SOURCES = tests/plugin/t_channel_deaths.c $(PUPPET_KIT)
tests_plugin_t_channel_deaths_LDADD = $(TEST_PLUGIN)
check_PROGRAMS += tests/plugin/t_lies
tests_plugin_t_lies_SOURCES = tests/plugin/t_lies.c tests/plugin/liar.c tests/plugin/liar.h \
	$(PUPPET_KIT)
tests_plugin_t_lies_LDADD = $(TEST_PLUGIN)

check_PROGRAMS += tests/plugin/t_outbound
tests_plugin_t_outbound_LDADD = $(TEST_PLUGIN)

POST_KIT = tests/plugin/post_kit.c tests/plugin/post_kit.h tests/fake/httpd.c tests/fake/httpd.h
check_PROGRAMS += tests/plugin/outbox/t_outbox
tests_plugin_outbox_t_outbox_SOURCES = tests/plugin/outbox/t_outbox.c $(POST_KIT)
tests_plugin_outbox_t_outbox_LDADD = $(TEST_PLUGIN)
check_PROGRAMS += tests/plugin/outbox/t_outbox_durable
tests_plugin_outbox_t_outbox_durable_SOURCES = tests/plugin/outbox/t_outbox_durable.c $(POST_KIT)
tests_plugin_outbox_t_outbox_durable_LDADD = $(TEST_PLUGIN)
check_PROGRAMS += tests/plugin/outbox/t_outbox_perform
tests_plugin_outbox_t_outbox_perform_SOURCES = tests/plugin/outbox/t_outbox_perform.c $(POST_KIT)
tests_plugin_outbox_t_outbox_perform_LDADD = $(TEST_PLUGIN)
check_PROGRAMS += tests/plugin/outbox/t_outbox_parking
tests_plugin_outbox_t_outbox_parking_SOURCES = tests/plugin/outbox/t_outbox_parking.c $(POST_KIT)
tests_plugin_outbox_t_outbox_parking_LDADD = $(TEST_PLUGIN)

check_PROGRAMS += tests/plugin/outbox/t_outbox_mail
tests_plugin_outbox_t_outbox_mail_LDADD = $(TEST_PLUGIN)
check_PROGRAMS += tests/plugin/outbox/t_outbox_parts
tests_plugin_outbox_t_outbox_parts_SOURCES = tests/plugin/outbox/t_outbox_parts.c $(POST_KIT)
tests_plugin_outbox_t_outbox_parts_LDADD = $(TEST_PLUGIN)

check_PROGRAMS += tests/plugin/signature/t_jwt tests/plugin/signature/t_webhook_keys
tests_plugin_signature_t_jwt_LDADD = $(TEST_PLUGIN)
tests_plugin_signature_t_webhook_keys_LDADD = $(TEST_PLUGIN)
