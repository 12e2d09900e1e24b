# SPDX-License-Identifier: MIT
# Layer 3: the loop, processes, the durable store, HTTP; each library behind its files.

noinst_LIBRARIES += libtcio.a
libtcio_a_SOURCES = \
	src/io/bucket.c \
	src/io/bucket.h \
	src/io/cgroup.c \
	src/io/cgroup.h \
	src/io/courier.c \
	src/io/courier.h \
	src/io/download.c \
	src/io/download.h \
	src/io/httpc.c \
	src/io/httpc.h \
	src/io/httpc_call.c \
	src/io/httpc_call.h \
	src/io/httpc_outcome.c \
	src/io/httpd.c \
	src/io/httpd.h \
	src/io/httpd_accept.c \
	src/io/httpd_conn.c \
	src/io/httpd_dispatch.c \
	src/io/httpd_drain.c \
	src/io/httpd_error.c \
	src/io/httpd_error.h \
	src/io/httpd_head.c \
	src/io/httpd_impl.h \
	src/io/httpd_listen.c \
	src/io/httpd_parse.c \
	src/io/httpd_parse.h \
	src/io/httpd_stream.c \
	src/io/journal.c \
	src/io/journal.h \
	src/io/journal_approval.c \
	src/io/journal_dead.c \
	src/io/journal_impl.h \
	src/io/journal_kv.c \
	src/io/journal_outbox.c \
	src/io/journal_prune.c \
	src/io/journal_question.c \
	src/io/journal_turn.c \
	src/io/lane.c \
	src/io/lane.h \
	src/io/lanes.c \
	src/io/lanes.h \
	src/io/ledger.c \
	src/io/ledger.h \
	src/io/ledger_impl.h \
	src/io/ledger_past.c \
	src/io/ledger_read.c \
	src/io/libcurl.c \
	src/io/libcurl.h \
	src/io/libexec.c \
	src/io/libexec.h \
	src/io/libwebsockets.c \
	src/io/libwebsockets.h \
	src/io/lines.c \
	src/io/lines.h \
	src/io/loop.c \
	src/io/loop.h \
	src/io/lull.c \
	src/io/lull.h \
	src/io/notify.c \
	src/io/notify.h \
	src/io/process.c \
	src/io/process.h \
	src/io/process_exec.c \
	src/io/process_exec.h \
	src/io/process_tree.c \
	src/io/process_tree.h \
	src/io/record.h \
	src/io/proxy.c \
	src/io/proxy.h \
	src/io/redis.c \
	src/io/redis.h \
	src/io/salvage.c \
	src/io/salvage.h \
	src/io/sandbox.c \
	src/io/sandbox.h \
	src/io/sandbox_landlock.c \
	src/io/sandbox_parts.h \
	src/io/sandbox_seccomp.c \
	src/io/shim.h \
	src/io/sql.c \
	src/io/sql.h \
	src/io/store.c \
	src/io/store.h \
	src/io/store_dir.c \
	src/io/store_dir.h \
	src/io/verdict.c \
	src/io/verdict.h \
	src/io/usage.c \
	src/io/usage.h \
	src/io/websocket.c \
	src/io/websocket.h \
	src/io/websocket_impl.h \
	src/io/websocket_thread.c \
	src/io/websocket_url.c \
	src/io/websocket_url.h \
	src/io/worker.c \
	src/io/worker.h

# Between the host and every agent: small, and without a loader that would heed LD_PRELOAD of an
# agent's environment. A sanitizer cannot be linked so.
pkglibexec_PROGRAMS += turncast-shim
turncast_shim_SOURCES = \
	src/io/shim_agent.c \
	src/io/shim_agent.h \
	src/io/shim_main.c
turncast_shim_LDADD = libtcio.a $(LINK_BASE)
if !SANITIZE
turncast_shim_LDFLAGS = $(TC_HARDEN_LDFLAGS) -XCClinker -static-pie
endif
