# SPDX-License-Identifier: MIT
libtccli_a_SOURCES += \
	src/cli/run/cmd_replay.c \
	src/cli/run/cmd_run.c \
	src/cli/run/cmd_serve.c \
	src/cli/run/cmd_visibility.c \
	src/cli/run/message_input.c \
	src/cli/run/message_input.h \
	src/cli/run/recorder.c \
	src/cli/run/recorder.h \
	src/cli/run/replay_clock.c \
	src/cli/run/replay_clock.h \
	src/cli/run/run_output.c \
	src/cli/run/run_output.h \
	src/cli/run/stop_signal.c \
	src/cli/run/stop_signal.h \
	src/cli/run/visibility_args.c \
	src/cli/run/visibility_args.h
