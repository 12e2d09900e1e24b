# SPDX-License-Identifier: MIT
# Programs that tests run: built with them, no tests themselves. A test that needs one says
#	EXTRA_tests_io_t_x_DEPENDENCIES = tests/fake/agent$(EXEEXT)

EXTRA_PROGRAMS += tests/fake/agent
CLEANFILES += tests/fake/agent$(EXEEXT)

# asker: an agent that asks before it acts
EXTRA_PROGRAMS += tests/fake/asker
CLEANFILES += tests/fake/asker$(EXEEXT)
tests_fake_asker_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_fake_asker_LDADD = $(JANSSON_LIBS)

# talker: an agent that answers what it is asked
EXTRA_PROGRAMS += tests/fake/talker
CLEANFILES += tests/fake/talker$(EXEEXT)

# maxrss: what a command needed of memory
EXTRA_PROGRAMS += tests/fake/maxrss
CLEANFILES += tests/fake/maxrss$(EXEEXT)

# state: a host's state folder
EXTRA_PROGRAMS += tests/fake/state
tests_fake_state_LDADD = $(LINK_IO)
CLEANFILES += tests/fake/state$(EXEEXT)

# oldkernel: a command, as on a kernel without Landlock or without seccomp
EXTRA_PROGRAMS += tests/fake/oldkernel
tests_fake_oldkernel_CPPFLAGS = $(AM_CPPFLAGS) $(SECCOMP_CFLAGS)
tests_fake_oldkernel_LDADD = $(SECCOMP_LIBS)
CLEANFILES += tests/fake/oldkernel$(EXEEXT)

# The services, scripted: Python programs; README.md says how to drive them.
EXTRA_DIST += \
	tests/fake/README.md \
	tests/fake/control.py \
	tests/fake/discord.py \
	tests/fake/discord_endpoint.py \
	tests/fake/discord_gateway.py \
	tests/fake/discord_methods.py \
	tests/fake/discord_modal.py \
	tests/fake/discord_people.py \
	tests/fake/discord_text.py \
	tests/fake/discord_world.py \
	tests/fake/agent_service.py tests/fake/awaken_service.py tests/fake/ethos_service.py tests/fake/reasonix_service.py tests/fake/tirea_service.py \
	tests/fake/drive.py \
	tests/fake/ed25519.py \
	tests/fake/faults.py \
	tests/fake/matrix.py \
	tests/fake/matrix_methods.py \
	tests/fake/matrix_people.py \
	tests/fake/matrix_rooms.py \
	tests/fake/matrix_sync.py \
	tests/fake/matrix_text.py \
	tests/fake/model.py \
	tests/fake/model_anthropic.py \
	tests/fake/model_chat.py \
	tests/fake/model_gemini.py \
	tests/fake/model_responses.py \
	tests/fake/model_script.py \
	tests/fake/pace.py \
	tests/fake/record.py \
	tests/fake/rpc.py \
	tests/fake/server.py \
	tests/fake/service.py \
	tests/fake/slack.py \
	tests/fake/slack_elements.py \
	tests/fake/slack_events.py \
	tests/fake/slack_messages.py \
	tests/fake/slack_methods.py \
	tests/fake/slack_people.py \
	tests/fake/slack_socket.py \
	tests/fake/slack_streams.py \
	tests/fake/slack_text.py \
	tests/fake/teams.py \
	tests/fake/teams_chats.py \
	tests/fake/teams_jwt.py \
	tests/fake/teams_people.py \
	tests/fake/nats_wire.py \
	tests/fake/natsd.py \
	tests/fake/telegram.py \
	tests/fake/telegram_chats.py \
	tests/fake/telegram_methods.py \
	tests/fake/telegram_rich.py \
	tests/fake/telegram_text.py \
	tests/fake/telegram_updates.py \
	tests/fake/ntfy.py \
	tests/fake/webhook.py \
	tests/fake/websocket_peer.py
dist_check_SCRIPTS += tests/fake/t_discord.py tests/fake/t_faults.py tests/fake/t_matrix.py tests/fake/t_screen.py tests/fake/t_slack.py tests/fake/t_teams.py tests/fake/t_telegram.py

# dialog.py: an agent that plays a recorded dialog, and checks ours
EXTRA_DIST += tests/fake/dialog.py
dist_check_SCRIPTS += tests/fake/t_dialog.py

# otlpd.py: a receiver of traces
EXTRA_DIST += tests/fake/otlpd.py
dist_check_SCRIPTS += tests/fake/t_otlpd.py
