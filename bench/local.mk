# SPDX-License-Identifier: MIT
# Benchmarks: `make bench` builds them; never installed, never part of `make check`.
#	bench_programs += bench/x
#	bench_x_LDADD = $(LINK_CORE)

bench_programs =
EXTRA_PROGRAMS += $(bench_programs)
CLEANFILES += $(bench_programs)
bench: all $(bench_programs)
.PHONY: bench
