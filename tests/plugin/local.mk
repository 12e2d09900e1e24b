# SPDX-License-Identifier: MIT
# Tests of src/plugin/: two lines each,
#	check_PROGRAMS += tests/plugin/t_x
#	tests_plugin_t_x_LDADD = $(TEST_PLUGIN)
# a shell test one line, dist_check_SCRIPTS += tests/plugin/x.t; fixtures: EXTRA_DIST += folder.

check_PROGRAMS += tests/plugin/t_backlog tests/plugin/t_inbox tests/plugin/t_queue
tests_plugin_t_backlog_LDADD = $(TEST_PLUGIN)
tests_plugin_t_inbox_LDADD = $(TEST_PLUGIN)
tests_plugin_t_queue_LDADD = $(TEST_PLUGIN)
EXTRA_DIST += tests/plugin/events.h

check_PROGRAMS += tests/plugin/t_descriptor tests/plugin/t_loader tests/plugin/t_probe
tests_plugin_t_descriptor_LDADD = $(TEST_PLUGIN)
tests_plugin_t_loader_LDADD = $(TEST_PLUGIN)
tests_plugin_t_probe_LDADD = $(TEST_PLUGIN)

check_PROGRAMS += tests/plugin/t_chaos tests/plugin/t_gauge tests/plugin/t_ring
tests_plugin_t_chaos_LDADD = $(TEST_PLUGIN)
tests_plugin_t_gauge_LDADD = $(TEST_PLUGIN)
tests_plugin_t_ring_LDADD = $(TEST_PLUGIN)

check_PROGRAMS += tests/plugin/t_instance
tests_plugin_t_instance_LDADD = $(TEST_PLUGIN)

check_PROGRAMS += tests/plugin/t_send tests/plugin/t_services
tests_plugin_t_send_SOURCES = tests/plugin/t_send.c tests/plugin/actor.c tests/plugin/actor.h
tests_plugin_t_send_LDADD = $(TEST_PLUGIN)
tests_plugin_t_services_SOURCES = tests/plugin/t_services.c tests/plugin/actor.c tests/plugin/actor.h
tests_plugin_t_services_LDADD = $(TEST_PLUGIN)

check_PROGRAMS += tests/plugin/t_line
tests_plugin_t_line_LDADD = $(TEST_PLUGIN)

check_PROGRAMS += tests/plugin/t_channel
tests_plugin_t_channel_LDADD = $(TEST_PLUGIN)

check_PROGRAMS += tests/plugin/t_frame tests/plugin/t_revival
tests_plugin_t_frame_SOURCES = tests/plugin/t_frame.c tests/event/specimen.c \
	tests/event/specimen.h
tests_plugin_t_frame_LDADD = $(TEST_PLUGIN)
tests_plugin_t_revival_LDADD = $(TEST_PLUGIN)

GUEST_KIT = tests/plugin/guest_kit.c tests/plugin/guest_kit.h
PUPPET_KIT = $(GUEST_KIT) tests/plugin/puppet_kit.c tests/plugin/puppet_kit.h
check_PROGRAMS += tests/plugin/t_channel_process tests/plugin/t_channel_deaths
tests_plugin_t_channel_process_SOURCES = tests/plugin/t_channel_process.c $(PUPPET_KIT) \
	tests/event/specimen.c tests/event/specimen.h
tests_plugin_t_channel_process_LDADD = $(TEST_PLUGIN)
tests_plugin_t_channel_deaths_SOURCES = tests/plugin/t_channel_deaths.c $(PUPPET_KIT)
tests_plugin_t_channel_deaths_LDADD = $(TEST_PLUGIN)
check_PROGRAMS += tests/plugin/t_lies
tests_plugin_t_lies_SOURCES = tests/plugin/t_lies.c tests/plugin/liar.c tests/plugin/liar.h \
	$(PUPPET_KIT)
tests_plugin_t_lies_LDADD = $(TEST_PLUGIN)

check_PROGRAMS += tests/plugin/t_letter
tests_plugin_t_letter_LDADD = $(TEST_PLUGIN)

POST_KIT = tests/plugin/post_kit.c tests/plugin/post_kit.h tests/fake/httpd.c tests/fake/httpd.h
check_PROGRAMS += tests/plugin/t_post
tests_plugin_t_post_SOURCES = tests/plugin/t_post.c $(POST_KIT)
tests_plugin_t_post_LDADD = $(TEST_PLUGIN)
check_PROGRAMS += tests/plugin/t_post_durable
tests_plugin_t_post_durable_SOURCES = tests/plugin/t_post_durable.c $(POST_KIT)
tests_plugin_t_post_durable_LDADD = $(TEST_PLUGIN)
