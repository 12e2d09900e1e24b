# SPDX-License-Identifier: MIT
# Layer 4: what runs beside a connector.

noinst_LIBRARIES += libtcplugin.a
libtcplugin_a_SOURCES = \
	src/plugin/ask.c \
	src/plugin/ask.h \
	src/plugin/backlog.c \
	src/plugin/backlog.h \
	src/plugin/beside.c \
	src/plugin/beside.h \
	src/plugin/channel.h \
	src/plugin/channel_process.c \
	src/plugin/channel_process_impl.h \
	src/plugin/channel_thread.c \
	src/plugin/channel_thread_impl.h \
	src/plugin/channel_thread_run.c \
	src/plugin/chaos.c \
	src/plugin/chaos.h \
	src/plugin/chaos_do.c \
	src/plugin/death_report.c \
	src/plugin/descriptor.c \
	src/plugin/descriptor.h \
	src/plugin/child.c \
	src/plugin/child.h \
	src/plugin/child_load.c \
	src/plugin/child_load.h \
	src/plugin/claim.c \
	src/plugin/claim.h \
	src/plugin/connector.h \
	src/plugin/frame.c \
	src/plugin/frame.h \
	src/plugin/frame_letter.c \
	src/plugin/frame_people.c \
	src/plugin/gauge.c \
	src/plugin/gauge.h \
	src/plugin/inbox.c \
	src/plugin/inbox.h \
	src/plugin/instance.c \
	src/plugin/instance.h \
	src/plugin/instance_batch.c \
	src/plugin/instance_call.c \
	src/plugin/instance_encode.c \
	src/plugin/instance_parts.h \
	src/plugin/instance_turn.c \
	src/plugin/intake.c \
	src/plugin/join.c \
	src/plugin/join.h \
	src/plugin/letter.c \
	src/plugin/letter.h \
	src/plugin/letter_fill.c \
	src/plugin/letter_fill.h \
	src/plugin/letter_pack.c \
	src/plugin/life.c \
	src/plugin/limits.c \
	src/plugin/limits.h \
	src/plugin/line.c \
	src/plugin/line.h \
	src/plugin/loader.c \
	src/plugin/loader.h \
	src/plugin/loader_file.c \
	src/plugin/loader_file.h \
	src/plugin/loader_module.c \
	src/plugin/loader_module.h \
	src/plugin/loader_parts.h \
	src/plugin/loader_probe.c \
	src/plugin/mail.c \
	src/plugin/mail.h \
	src/plugin/output.c \
	src/plugin/post.c \
	src/plugin/post.h \
	src/plugin/post_batch.c \
	src/plugin/post_impl.h \
	src/plugin/post_item.c \
	src/plugin/post_load.c \
	src/plugin/post_trouble.c \
	src/plugin/print.c \
	src/plugin/print.h \
	src/plugin/probe.c \
	src/plugin/probe.h \
	src/plugin/queue.c \
	src/plugin/queue.h \
	src/plugin/revival.c \
	src/plugin/revival.h \
	src/plugin/ring.c \
	src/plugin/ring.h \
	src/plugin/services.c \
	src/plugin/services.h \
	src/plugin/services_net.c \
	src/plugin/services_parts.h \
	src/plugin/services_people.c \
	src/plugin/services_send.c \
	src/plugin/services_text.c \
	src/plugin/shipped.c \
	src/plugin/shipped.h \
	src/plugin/spawn.c \
	src/plugin/spawn.h \
	src/plugin/squeeze.c \
	src/plugin/squeeze.h \
	src/plugin/traffic.c \
	src/plugin/trim.c \
	src/plugin/trim.h \
	src/plugin/wakes.c \
	src/plugin/wakes.h

# A connector that has a process of its own shares it with as little as can be: with no database, no
# client of Redis, no loop. That also starts sooner.
pkglibexec_PROGRAMS += turncast-connector
turncast_connector_SOURCES = src/plugin/connector_main.c
turncast_connector_LDADD = $(LINK_PLUGIN)
turncast_connector_LDFLAGS = $(AM_LDFLAGS) -Wl,--as-needed
