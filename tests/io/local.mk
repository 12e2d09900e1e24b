# SPDX-License-Identifier: MIT
# Tests of src/io/: two lines each,
#	check_PROGRAMS += tests/io/t_x
#	tests_io_t_x_LDADD = $(TEST_IO)
# a shell test one line, dist_check_SCRIPTS += tests/io/x.t; fixtures: EXTRA_DIST += folder.

check_PROGRAMS += tests/io/t_lines
tests_io_t_lines_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/t_loop
tests_io_t_loop_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/t_lull
tests_io_t_lull_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/t_worker
tests_io_t_worker_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/t_process
tests_io_t_process_SOURCES = tests/io/t_process.c tests/fake/children.c tests/fake/children.h
tests_io_t_process_LDADD = $(TEST_IO)
EXTRA_tests_io_t_process_DEPENDENCIES = tests/fake/agent$(EXEEXT)

check_PROGRAMS += tests/io/t_process_files
tests_io_t_process_files_SOURCES = tests/io/t_process_files.c tests/fake/children.c \
	tests/fake/children.h
tests_io_t_process_files_LDADD = $(TEST_IO)
EXTRA_tests_io_t_process_files_DEPENDENCIES = tests/fake/agent$(EXEEXT)

check_PROGRAMS += tests/io/t_cgroup
tests_io_t_cgroup_LDADD = $(TEST_IO)

STORE_KIT = tests/io/store_kit.h
check_PROGRAMS += tests/io/t_store
tests_io_t_store_SOURCES = tests/io/t_store.c $(STORE_KIT)
tests_io_t_store_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/t_salvage
tests_io_t_salvage_SOURCES = tests/io/t_salvage.c $(STORE_KIT)
tests_io_t_salvage_LDADD = $(TEST_IO)

JOURNAL_KIT = tests/io/journal_kit.c tests/io/journal_kit.h
check_PROGRAMS += tests/io/t_journal
tests_io_t_journal_SOURCES = tests/io/t_journal.c $(JOURNAL_KIT)
tests_io_t_journal_LDADD = $(TEST_IO)
EXTRA_DIST += tests/io/journal_v1.sql

check_PROGRAMS += tests/io/t_journal_outbox
tests_io_t_journal_outbox_SOURCES = tests/io/t_journal_outbox.c $(JOURNAL_KIT)
tests_io_t_journal_outbox_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/t_journal_kill
tests_io_t_journal_kill_SOURCES = tests/io/t_journal_kill.c tests/io/kill_check.c \
	tests/io/kill_check.h
tests_io_t_journal_kill_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/t_ledger
tests_io_t_ledger_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/t_bucket
tests_io_t_bucket_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/t_lane
tests_io_t_lane_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/t_lanes
tests_io_t_lanes_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/t_verdict
tests_io_t_verdict_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/t_httpc
tests_io_t_httpc_SOURCES = tests/io/t_httpc.c tests/fake/httpd.c tests/fake/httpd.h
tests_io_t_httpc_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/t_httpc_tls
tests_io_t_httpc_tls_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/t_courier
tests_io_t_courier_SOURCES = tests/io/t_courier.c tests/fake/httpd.c tests/fake/httpd.h
tests_io_t_courier_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/t_download
tests_io_t_download_SOURCES = tests/io/t_download.c tests/fake/httpd.c tests/fake/httpd.h
tests_io_t_download_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/t_httpd_parse
tests_io_t_httpd_parse_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/t_httpd
tests_io_t_httpd_SOURCES = tests/io/t_httpd.c $(HTTPD_CLIENT)
tests_io_t_httpd_LDADD = $(TEST_IO)
HTTPD_CLIENT = tests/io/httpd_client.c tests/io/httpd_client.h

check_PROGRAMS += tests/io/t_httpd_listen
tests_io_t_httpd_listen_SOURCES = tests/io/t_httpd_listen.c $(HTTPD_CLIENT)
tests_io_t_httpd_listen_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/t_httpd_stream
tests_io_t_httpd_stream_SOURCES = tests/io/t_httpd_stream.c $(HTTPD_CLIENT)
tests_io_t_httpd_stream_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/t_websocket
tests_io_t_websocket_LDADD = $(TEST_IO)
EXTRA_DIST += tests/fake/websocketd.py

check_PROGRAMS += tests/io/t_proxy
tests_io_t_proxy_SOURCES = tests/io/t_proxy.c tests/fake/httpd.c tests/fake/httpd.h
tests_io_t_proxy_LDADD = $(TEST_IO)
EXTRA_DIST += tests/fake/proxyd.py

check_PROGRAMS += tests/io/t_redis
tests_io_t_redis_SOURCES = tests/io/t_redis.c tests/fake/redis.c tests/fake/redis.h
tests_io_t_redis_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/t_notify
tests_io_t_notify_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/t_sandbox
tests_io_t_sandbox_SOURCES = tests/io/t_sandbox.c tests/io/sandbox_cases.h \
	tests/io/sandbox_needs.c tests/io/sandbox_refusals.c
tests_io_t_sandbox_LDADD = $(TEST_IO)
