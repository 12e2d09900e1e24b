# SPDX-License-Identifier: MIT
# Tests of src/io/: two lines each,
#	check_PROGRAMS += tests/io/t_x
#	tests_io_t_x_LDADD = $(TEST_IO)
# a shell test one line, dist_check_SCRIPTS += tests/io/x.t; fixtures: EXTRA_DIST += folder.

check_PROGRAMS += tests/io/loop/t_line_splitter
tests_io_loop_t_line_splitter_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/loop/t_loop
tests_io_loop_t_loop_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/loop/t_wakeup_coalescer
tests_io_loop_t_wakeup_coalescer_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/loop/t_worker
tests_io_loop_t_worker_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/process/t_process
tests_io_process_t_process_SOURCES = tests/io/process/t_process.c tests/fake/children.c tests/fake/children.h
tests_io_process_t_process_LDADD = $(TEST_IO)
EXTRA_tests_io_process_t_process_DEPENDENCIES = tests/fake/agent$(EXEEXT)

check_PROGRAMS += tests/io/process/t_process_files
tests_io_process_t_process_files_SOURCES = tests/io/process/t_process_files.c tests/fake/children.c \
	tests/fake/children.h
tests_io_process_t_process_files_LDADD = $(TEST_IO)
EXTRA_tests_io_process_t_process_files_DEPENDENCIES = tests/fake/agent$(EXEEXT)

check_PROGRAMS += tests/io/process/t_process_lease
tests_io_process_t_process_lease_SOURCES = tests/io/process/t_process_lease.c tests/fake/children.c \
	tests/fake/children.h
tests_io_process_t_process_lease_LDADD = $(TEST_IO)
EXTRA_tests_io_process_t_process_lease_DEPENDENCIES = tests/fake/agent$(EXEEXT)

check_PROGRAMS += tests/io/process/t_cgroup
tests_io_process_t_cgroup_LDADD = $(TEST_IO)

STORE_KIT = tests/io/store_kit.h
check_PROGRAMS += tests/io/store/t_store
tests_io_store_t_store_SOURCES = tests/io/store/t_store.c $(STORE_KIT)
tests_io_store_t_store_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/store/t_backup
tests_io_store_t_backup_SOURCES = tests/io/store/t_backup.c $(STORE_KIT)
tests_io_store_t_backup_LDADD = $(TEST_IO)
check_PROGRAMS += tests/io/store/t_backup_kill
tests_io_store_t_backup_kill_SOURCES = tests/io/store/t_backup_kill.c $(STORE_KIT)
tests_io_store_t_backup_kill_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/store/t_sqlite_salvage
tests_io_store_t_sqlite_salvage_SOURCES = tests/io/store/t_sqlite_salvage.c $(STORE_KIT)
tests_io_store_t_sqlite_salvage_LDADD = $(TEST_IO)

JOURNAL_KIT = tests/io/journal_kit.c tests/io/journal_kit.h
check_PROGRAMS += tests/io/journal/t_journal
tests_io_journal_t_journal_SOURCES = tests/io/journal/t_journal.c $(JOURNAL_KIT)
tests_io_journal_t_journal_LDADD = $(TEST_IO)
EXTRA_DIST += tests/io/journal_v1.sql

check_PROGRAMS += tests/io/journal/t_journal_values
tests_io_journal_t_journal_values_SOURCES = tests/io/journal/t_journal_values.c $(JOURNAL_KIT)
tests_io_journal_t_journal_values_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/journal/t_journal_spent
tests_io_journal_t_journal_spent_SOURCES = tests/io/journal/t_journal_spent.c $(JOURNAL_KIT)
tests_io_journal_t_journal_spent_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/journal/t_journal_prune
tests_io_journal_t_journal_prune_SOURCES = tests/io/journal/t_journal_prune.c $(JOURNAL_KIT)
tests_io_journal_t_journal_prune_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/journal/t_journal_outbox
tests_io_journal_t_journal_outbox_SOURCES = tests/io/journal/t_journal_outbox.c $(JOURNAL_KIT)
tests_io_journal_t_journal_outbox_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/journal/t_journal_moving
tests_io_journal_t_journal_moving_SOURCES = tests/io/journal/t_journal_moving.c $(JOURNAL_KIT)
tests_io_journal_t_journal_moving_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/journal/t_journal_kill
tests_io_journal_t_journal_kill_SOURCES = tests/io/journal/t_journal_kill.c tests/io/kill_check.c \
	tests/io/kill_check.h
tests_io_journal_t_journal_kill_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/journal/t_journal_async
tests_io_journal_t_journal_async_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/send/t_token_bucket
tests_io_send_t_token_bucket_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/send/t_request_queue
tests_io_send_t_request_queue_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/send/t_send_scheduler
tests_io_send_t_send_scheduler_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/send/t_retry_policy
tests_io_send_t_retry_policy_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/http/client/t_httpc
tests_io_http_client_t_httpc_SOURCES = tests/io/http/client/t_httpc.c tests/fake/httpd.c tests/fake/httpd.h
tests_io_http_client_t_httpc_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/http/client/t_httpc_piece
tests_io_http_client_t_httpc_piece_SOURCES = tests/io/http/client/t_httpc_piece.c tests/fake/httpd.c tests/fake/httpd.h
tests_io_http_client_t_httpc_piece_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/http/client/t_httpc_mail
tests_io_http_client_t_httpc_mail_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/http/client/t_httpc_tls
tests_io_http_client_t_httpc_tls_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/send/t_sender
tests_io_send_t_sender_SOURCES = tests/io/send/t_sender.c tests/fake/httpd.c tests/fake/httpd.h
tests_io_send_t_sender_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/http/client/t_download
tests_io_http_client_t_download_SOURCES = tests/io/http/client/t_download.c tests/fake/httpd.c tests/fake/httpd.h
tests_io_http_client_t_download_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/http/server/t_httpd_parse
tests_io_http_server_t_httpd_parse_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/http/server/t_httpd
tests_io_http_server_t_httpd_SOURCES = tests/io/http/server/t_httpd.c $(HTTPD_CLIENT)
tests_io_http_server_t_httpd_LDADD = $(TEST_IO)
HTTPD_CLIENT = tests/io/httpd_client.c tests/io/httpd_client.h

check_PROGRAMS += tests/io/http/server/t_httpd_local
tests_io_http_server_t_httpd_local_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/http/server/t_httpd_listen
tests_io_http_server_t_httpd_listen_SOURCES = tests/io/http/server/t_httpd_listen.c $(HTTPD_CLIENT)
tests_io_http_server_t_httpd_listen_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/http/server/t_httpd_stream
tests_io_http_server_t_httpd_stream_SOURCES = tests/io/http/server/t_httpd_stream.c $(HTTPD_CLIENT)
tests_io_http_server_t_httpd_stream_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/websocket/t_websocket
tests_io_websocket_t_websocket_SOURCES = tests/io/websocket/t_websocket.c tests/io/script_server.c \
	tests/io/script_server.h
tests_io_websocket_t_websocket_LDADD = $(TEST_IO)
# Programs are built before any test runs.
dist_check_SCRIPTS += tests/io/websocket/no_hosts.t
EXTRA_DIST += tests/fake/websocketd.py

check_PROGRAMS += tests/io/http/t_proxy
tests_io_http_t_proxy_SOURCES = tests/io/http/t_proxy.c tests/fake/httpd.c tests/fake/httpd.h \
	tests/io/script_server.c tests/io/script_server.h
tests_io_http_t_proxy_LDADD = $(TEST_IO)
EXTRA_DIST += tests/fake/proxyd.py tests/fake/smtpd.py

check_PROGRAMS += tests/io/redis/t_redis
tests_io_redis_t_redis_SOURCES = tests/io/redis/t_redis.c tests/fake/redis.c tests/fake/redis.h
tests_io_redis_t_redis_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/loop/t_service_notify
tests_io_loop_t_service_notify_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/sandbox/t_sandbox
tests_io_sandbox_t_sandbox_SOURCES = tests/io/sandbox/t_sandbox.c tests/io/sandbox_cases.h \
	tests/io/sandbox_needs.c tests/io/sandbox_refusals.c
tests_io_sandbox_t_sandbox_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/nats/t_nats_reason
tests_io_nats_t_nats_reason_SOURCES = tests/io/nats/t_nats_reason.c
tests_io_nats_t_nats_reason_LDADD = $(TEST_IO)

check_PROGRAMS += tests/io/nats/t_nats_client
tests_io_nats_t_nats_client_SOURCES = tests/io/nats/t_nats_client.c tests/io/nats_server.c \
	tests/io/nats_server.h
tests_io_nats_t_nats_client_LDADD = $(TEST_IO)
check_PROGRAMS += tests/io/nats/t_nats_connection
tests_io_nats_t_nats_connection_SOURCES = tests/io/nats/t_nats_connection.c tests/io/nats_server.c \
	tests/io/nats_server.h
tests_io_nats_t_nats_connection_LDADD = $(TEST_IO)
