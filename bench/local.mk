# SPDX-License-Identifier: MIT
# Benchmarks: `make bench` builds them; never installed, never part of `make check`.
#	bench_programs += bench/x
#	bench_x_LDADD = $(LINK_CORE)

bench_programs = bench/corpus bench/translate
BENCH_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)

bench_corpus_SOURCES = bench/corpus_main.c bench/corpus.c bench/corpus.h
bench_corpus_CPPFLAGS = $(BENCH_CPPFLAGS)
bench_corpus_LDADD = $(LINK_EVENT)

bench_translate_SOURCES = bench/translate.c bench/corpus.c bench/corpus.h
bench_translate_CPPFLAGS = $(BENCH_CPPFLAGS)
bench_translate_LDADD = $(LINK_TURN) $(JANSSON_LIBS)

EXTRA_DIST += bench/replay.sh
EXTRA_PROGRAMS += $(bench_programs)
CLEANFILES += $(bench_programs)
bench: all $(bench_programs)
.PHONY: bench
