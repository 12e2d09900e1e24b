# SPDX-License-Identifier: MIT
# Tests of what the benchmarks say.

dist_check_SCRIPTS += tests/bench/t_report.py
