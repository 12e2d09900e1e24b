# SPDX-License-Identifier: MIT
# Tests of the documents against the program: what README.md shows, what turncast(1) lists.

dist_check_SCRIPTS += \
	tests/docs/commands.t \
	tests/docs/readme.t \
	tests/docs/release.t \
	tests/docs/t_examples.py \
	tests/docs/t_trace.py
