# SPDX-License-Identifier: MIT
libtccore_a_SOURCES += \
	src/core/runner/runner.c \
	src/core/runner/runner.h \
	src/core/runner/runner_files.c \
	src/core/runner/runner_files.h \
	src/core/runner/runner_steering.c \
	src/core/runner/runner_home.c \
	src/core/runner/runner_own.c \
	src/core/runner/runner_internal.h \
	src/core/runner/runner_job.c \
	src/core/runner/runner_input.c
