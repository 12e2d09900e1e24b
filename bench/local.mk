# SPDX-License-Identifier: MIT
# Benchmarks: `make bench` builds them; never installed. Of serve, tests/cli/scale.t runs a small
# form.
#	bench_programs += bench/x
#	bench_x_LDADD = $(LINK_CORE)

bench_programs = bench/corpus bench/translate bench/serve bench/isolation bench/ticker
BENCH_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)

bench_corpus_SOURCES = bench/corpus.c bench/prose.c bench/prose.h
bench_corpus_CPPFLAGS = $(BENCH_CPPFLAGS)
bench_corpus_LDADD = $(LINK_BASE)

bench_translate_SOURCES = bench/translate.c
bench_translate_CPPFLAGS = $(BENCH_CPPFLAGS)
bench_translate_LDADD = $(LINK_TURN) $(JANSSON_LIBS)

# serve starts turncast with the connector meter.so and the agent ticker.
bench_serve_SOURCES = bench/serve.c bench/crowd.c bench/crowd.h bench/host.c bench/host.h \
	bench/meter.h
bench_serve_CPPFLAGS = $(BENCH_CPPFLAGS)
BENCH_SERVE_NEEDS = turncast$(EXEEXT) bench/serve$(EXEEXT) bench/ticker$(EXEEXT) bench/meter.so

# isolation does so, too, with one turn and the connector in the host and in a process of its own.
bench_isolation_SOURCES = bench/isolation.c bench/crowd.c bench/crowd.h bench/host.c bench/host.h \
	bench/meter.h
bench_isolation_CPPFLAGS = $(BENCH_CPPFLAGS)

bench/meter.so: bench/meter.h include/turncast/plugin.h

EXTRA_DIST += bench/replay.sh bench/meter.c
EXTRA_PROGRAMS += $(bench_programs)
CLEANFILES += $(bench_programs) bench/meter.so
bench: all $(bench_programs) bench/meter.so
.PHONY: bench
