# SPDX-License-Identifier: MIT
# Fake host of one connector, controlled by a script: no network, a fixed clock, recordings.
libtccli_a_SOURCES += \
	src/cli/testing/fake/fake_host.c \
	src/cli/testing/fake/fake_host.h \
	src/cli/testing/fake/fake_host_calls.c \
	src/cli/testing/fake/fake_host_internal.h \
	src/cli/testing/fake/fake_host_queue.c \
	src/cli/testing/fake/output_capture.c \
	src/cli/testing/fake/output_capture.h \
	src/cli/testing/fake/recording.c \
	src/cli/testing/fake/recording.h \
	src/cli/testing/fake/script_match.c \
	src/cli/testing/fake/script_match.h
