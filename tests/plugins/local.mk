# SPDX-License-Identifier: MIT
# Tests of plugins/ and examples/: the modules as the host runs them, and their own parts alone.
# t_x tests the module x.so through oneshot_host.c; a part of a module is compiled into its test.

PLUGIN_HOST = tests/plugins/host.c tests/plugins/host.h

check_PROGRAMS += tests/plugins/t_audit
tests_plugins_t_audit_SOURCES = tests/plugins/t_audit.c $(PLUGIN_HOST)
tests_plugins_t_audit_LDADD = $(TEST_CLI)

check_PROGRAMS += tests/plugins/t_jsonl
tests_plugins_t_jsonl_SOURCES = tests/plugins/t_jsonl.c $(PLUGIN_HOST)
tests_plugins_t_jsonl_LDADD = $(TEST_CORE)

check_PROGRAMS += tests/plugins/t_cli
tests_plugins_t_cli_SOURCES = tests/plugins/t_cli.c tests/plugins/sequences.h $(PLUGIN_HOST)
tests_plugins_t_cli_LDADD = $(TEST_CORE)

check_PROGRAMS += tests/plugins/t_cli_ask
tests_plugins_t_cli_ask_SOURCES = tests/plugins/t_cli_ask.c tests/plugins/fake_plugin.h $(FIXED_CLOCK)
tests_plugins_t_cli_ask_LDFLAGS = $(AM_LDFLAGS) -export-dynamic
tests_plugins_t_cli_ask_LDADD = $(TEST_CLI)

check_PROGRAMS += tests/plugins/t_cli_glyph
tests_plugins_t_cli_glyph_SOURCES = tests/plugins/t_cli_glyph.c tests/plugins/sequences.h \
	plugins/cli/terminal/safe_char.c plugins/cli/terminal/terminal.c
tests_plugins_t_cli_glyph_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)
tests_plugins_t_cli_glyph_LDADD = libtap.a

check_PROGRAMS += tests/plugins/t_cli_preview
tests_plugins_t_cli_preview_SOURCES = tests/plugins/t_cli_preview.c plugins/cli/view/call_preview.c plugins/cli/view/shell_unwrap.c
tests_plugins_t_cli_preview_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)
tests_plugins_t_cli_preview_LDADD = libtap.a -lm

dist_check_SCRIPTS += tests/plugins/example.t

# Scripts of connectors, tests/plugins/NAME/*.script: the notation is in turncast-test(7).
dist_noinst_SCRIPTS = tests/plugins/run_script.sh
CONNECTOR_TESTS = \
	tests/plugins/discord/event.script \
	tests/plugins/discord/form.script \
	tests/plugins/discord/gateway.script \
	tests/plugins/discord/german.script \
	tests/plugins/discord/hook.script \
	tests/plugins/discord/options.script \
	tests/plugins/discord/request.script \
	tests/plugins/discord/webhook.script \
	tests/plugins/email/digest.script \
	tests/plugins/email/options.script \
	tests/plugins/email/send.script \
	tests/plugins/matrix/message.script \
	tests/plugins/matrix/options.script \
	tests/plugins/matrix/people.script \
	tests/plugins/matrix/request.script \
	tests/plugins/matrix/sync.script \
	tests/plugins/otlp/export.script \
	tests/plugins/otlp/options.script \
	tests/plugins/otlp/trace.script \
	tests/plugins/slack/answer.script \
	tests/plugins/slack/channel.script \
	tests/plugins/slack/edit.script \
	tests/plugins/slack/events.script \
	tests/plugins/slack/file.script \
	tests/plugins/slack/german.script \
	tests/plugins/slack/inbound.script \
	tests/plugins/slack/options.script \
	tests/plugins/slack/request.script \
	tests/plugins/slack/socket.script \
	tests/plugins/slack/split.script \
	tests/plugins/slack/status.script \
	tests/plugins/slack/stream.script \
	tests/plugins/teams/jwt.script \
	tests/plugins/teams/keys.script \
	tests/plugins/teams/message.script \
	tests/plugins/teams/options.script \
	tests/plugins/teams/people.script \
	tests/plugins/teams/stream.script \
	tests/plugins/teams/token.script \
	tests/plugins/teams/webhook.script \
	tests/plugins/telegram/button.script \
	tests/plugins/telegram/fetch.script \
	tests/plugins/telegram/files.script \
	tests/plugins/telegram/final.script \
	tests/plugins/telegram/inbound.script \
	tests/plugins/telegram/ladder.script \
	tests/plugins/telegram/live.script \
	tests/plugins/telegram/options.script \
	tests/plugins/telegram/poll.script \
	tests/plugins/telegram/request.script \
	tests/plugins/telegram/webhook.script \
	tests/plugins/ntfy/answer.script \
	tests/plugins/ntfy/hit.script \
	tests/plugins/ntfy/notify.script \
	tests/plugins/ntfy/options.script \
	tests/plugins/webhook/ed25519.script \
	tests/plugins/webhook/inbound.script \
	tests/plugins/webhook/options.script \
	tests/plugins/webhook/outbound.script \
	tests/plugins/webhook/receive.script
dist_check_SCRIPTS += tests/plugins/script.t tests/plugins/discord_channels.t $(CONNECTOR_TESTS)
tests/plugins/script.log $(CONNECTOR_TESTS:.script=.log): turncast-script$(EXEEXT)

# Modules among whatever a service may say.
check_PROGRAMS += tests/plugins/t_slack_random
tests_plugins_t_slack_random_SOURCES = tests/plugins/t_slack_random.c tests/plugins/fake_plugin.h $(FIXED_CLOCK)
tests_plugins_t_slack_random_LDFLAGS = $(AM_LDFLAGS) -export-dynamic
tests_plugins_t_slack_random_LDADD = $(TEST_CLI)
check_PROGRAMS += tests/plugins/t_telegram_random
tests_plugins_t_telegram_random_SOURCES = tests/plugins/t_telegram_random.c tests/plugins/fake_plugin.h $(FIXED_CLOCK)
tests_plugins_t_telegram_random_LDFLAGS = $(AM_LDFLAGS) -export-dynamic
tests_plugins_t_telegram_random_LDADD = $(TEST_CLI)
