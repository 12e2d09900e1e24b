# SPDX-License-Identifier: MIT
# Whole conversations: a service's fake, `turncast serve`, an agent. The service's fake is real
# HTTP and websockets, the host is the program as it is installed.

# The longest first.
TALK_TESTS = tests/talk/t_telegram_ask.py tests/talk/t_slack_requests.py tests/talk/t_crash.py \
	tests/talk/behaviour/t_discord.py tests/talk/behaviour/t_matrix.py tests/talk/behaviour/t_teams.py tests/talk/behaviour/t_telegram.py \
	tests/talk/t_pause_process.py tests/talk/t_pause_thread.py tests/talk/t_kill.py tests/talk/t_kill_matrix.py \
	tests/talk/t_chaos.py tests/talk/t_crowd.py tests/talk/t_crowd_discord.py tests/talk/t_crowd_matrix.py tests/talk/t_crowd_slack.py tests/talk/t_discord.py tests/talk/t_discord_forms.py tests/talk/t_kill_discord.py tests/talk/t_doctor.py tests/talk/t_telegram.py \
	tests/talk/t_backup.py tests/talk/t_ask_both.py tests/talk/t_canary.py tests/talk/t_follow.py tests/talk/t_init.py tests/talk/t_language.py tests/talk/t_matrix.py \
	tests/talk/t_outage.py tests/talk/t_pairing.py tests/talk/t_proxied.py tests/talk/t_ready.py tests/talk/t_renew.py tests/talk/t_retention.py tests/talk/t_round.py \
	tests/talk/t_scope.py tests/talk/t_slack.py tests/talk/t_slack_edit.py \
	tests/talk/behaviour/t_slack.py tests/talk/t_slack_events.py tests/talk/t_slack_socket.py
TALK_TESTS += tests/talk/t_agenticore.py tests/talk/t_redis_streams.py tests/talk/t_budget.py tests/talk/t_email.py tests/talk/t_otlp.py
TALK_TESTS += tests/talk/t_ntfy.py tests/talk/t_remote_ask.py tests/talk/t_remote_awaken.py tests/talk/t_remote_broken.py tests/talk/t_remote_ends.py tests/talk/t_remote_ethos.py tests/talk/t_remote_nats.py tests/talk/t_remote_reasonix.py tests/talk/t_remote_tls.py tests/talk/t_remote_turncast.py tests/talk/t_webhook.py
EXTRA_DIST += tests/talk/remotes.py
EXTRA_DIST += tests/talk/sender.py
TALK_TESTS += tests/talk/t_lock.py tests/talk/t_lock_bus.py
EXTRA_DIST += tests/talk/lives.py tests/talk/redis_server.py
TALK_TESTS += tests/talk/t_fleet.py tests/talk/t_fleet_calm.py tests/talk/t_fleet_cluster.py tests/talk/t_fleet_work.py tests/talk/t_lag.py tests/talk/t_late_start.py tests/talk/t_three_hosts.py tests/talk/t_work_files.py tests/talk/t_work_own.py tests/talk/t_work_steer.py tests/talk/t_voice.py
EXTRA_DIST += tests/talk/fleet.py tests/talk/lag.py tests/talk/wreck.py
tests/talk/t_fleet.log tests/talk/t_fleet_calm.log tests/talk/t_fleet_work.log tests/talk/t_lag.log: bench/pubsub$(EXEEXT)
TALK_TESTS += tests/talk/t_crowd_teams.py tests/talk/t_kill_teams.py tests/talk/t_teams.py
LENGTHY += $(TALK_TESTS)
EXTRA_DIST += $(TALK_TESTS) tests/talk/cases.py tests/talk/chatter.py tests/talk/crowd.py tests/talk/deaths.py tests/talk/deciders.py \
	tests/talk/judge.py tests/talk/killing.py tests/talk/ledger.py tests/talk/on_bus.py tests/talk/pause.py tests/talk/people.py tests/talk/round.py \
	tests/talk/shown.py tests/talk/slackers.py tests/talk/talk.py
EXTRA_DIST += tests/talk/behaviour/asks.py tests/talk/behaviour/deliver.py tests/talk/behaviour/hear.py \
	tests/talk/behaviour/on_discord.py tests/talk/behaviour/on_matrix.py tests/talk/behaviour/on_slack.py tests/talk/behaviour/on_teams.py tests/talk/behaviour/on_telegram.py \
	tests/talk/behaviour/place.py tests/talk/behaviour/restart.py tests/talk/behaviour/show.py \
	tests/talk/behaviour/suite.py

$(TALK_TESTS:.py=.log): turncast$(EXEEXT) turncast-remote$(EXEEXT) \
	$(plugin_LTLIBRARIES) tests/fake/agent$(EXEEXT) \
	tests/fake/asker$(EXEEXT) tests/fake/talker$(EXEEXT)
tests/talk/t_pause_process.log tests/talk/t_pause_thread.log: $(fault_modules) $(fault_loads)
