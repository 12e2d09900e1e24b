# SPDX-License-Identifier: MIT
# Benchmarks: `make bench` builds them, bench/run runs them; never installed. Of serve,
# tests/cli/scale.t runs a small form; tests/talk/lag.py runs pubsub.
#	bench_programs += bench/x
#	bench_x_LDADD = $(LINK_CORE)

bench_programs = bench/corpus bench/translate bench/cost bench/floor bench/listen bench/serve \
	bench/relay bench/startup bench/ticker
EXTRA_PROGRAMS += bench/pubsub
CLEANFILES += bench/pubsub
BENCH_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)
BENCH_HOST = bench/host.c bench/host.h bench/percentile.c bench/percentile.h bench/meter.h

bench_corpus_SOURCES = bench/corpus.c bench/prose.c bench/prose.h
bench_corpus_CPPFLAGS = $(BENCH_CPPFLAGS)
bench_corpus_LDADD = $(LINK_BASE)

bench_translate_SOURCES = bench/translate.c
bench_translate_CPPFLAGS = $(BENCH_CPPFLAGS)
bench_translate_LDADD = $(LINK_TURN) libtcio.a $(LINK_BASE) $(JANSSON_LIBS)

bench_cost_SOURCES = bench/cost.c
bench_listen_SOURCES = bench/files.h bench/listen.c
bench_listen_CPPFLAGS = $(BENCH_CPPFLAGS)

bench_floor_SOURCES = bench/floor.c bench/pace.h bench/percentile.c bench/percentile.h bench/meter.h
bench_floor_CPPFLAGS = $(BENCH_CPPFLAGS)
bench_pubsub_SOURCES = bench/pubsub.c bench/pace.h bench/percentile.c bench/percentile.h bench/meter.h
bench_pubsub_CPPFLAGS = $(BENCH_CPPFLAGS) $(LIBNATS_CFLAGS)
bench_pubsub_LDADD = $(LIBNATS_LIBS)
bench_relay_SOURCES = bench/relay.c
bench_ticker_SOURCES = bench/ticker.c bench/pace.h
bench_ticker_CPPFLAGS = $(BENCH_CPPFLAGS)

# serve and startup start turncast with the connector meter.so, serve with the agent ticker.
bench_serve_SOURCES = bench/serve.c bench/crowd.c bench/crowd.h bench/files.h $(BENCH_HOST)
bench_serve_CPPFLAGS = $(BENCH_CPPFLAGS)
bench_startup_SOURCES = bench/startup.c $(BENCH_HOST)
bench_startup_CPPFLAGS = $(BENCH_CPPFLAGS)
BENCH_SERVE_NEEDS = turncast$(EXEEXT) bench/serve$(EXEEXT) bench/ticker$(EXEEXT) bench/meter.so

bench/meter.so: bench/meter.h include/turncast/plugin.h

EXTRA_DIST += bench/hosts.py bench/meter.c bench/parse.mjs bench/run bench/lab.py bench/machine.py bench/report.py \
	bench/programs.py bench/relay.py bench/stream.py bench/turns.py bench/waiting.py bench/plot bench/plot.gp bench/RESULTS.md bench/results.dat \
	bench/results.png bench/results.svg
EXTRA_PROGRAMS += $(bench_programs)
CLEANFILES += $(bench_programs) bench/meter.so
bench: all $(bench_programs) bench/pubsub$(EXEEXT) bench/meter.so
.PHONY: bench
