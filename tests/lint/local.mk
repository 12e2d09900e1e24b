# SPDX-License-Identifier: MIT
# Tests of the sources themselves, and of what was built from them.

READ_SOURCES = \
	tests/lint/commits.t \
	tests/lint/configure.t \
	tests/lint/container.t \
	tests/lint/layers.t \
	tests/lint/names.t \
	tests/lint/size.t \
	tests/lint/format.t \
	tests/lint/header.t \
	tests/lint/api.t \
	tests/lint/assert.t \
	tests/lint/spdx.t \
	tests/lint/spelling.t \
	tests/lint/sentences.t \
	tests/lint/words.t \
	tests/lint/shell.t \
	tests/lint/man.t \
	tests/lint/pages.t \
	tests/lint/tables.t
# They say the same in every build, so that `make check SOURCE_LINT=` may leave them out where they
# ran already.
SOURCE_LINT = $(READ_SOURCES)
EXTRA_DIST += tests/lint/lint.sh tests/lint/spelling.words tests/lint/words.allowed tests/lint/find_words.py \
	tests/lint/sentences.allowed tests/lint/find_sentences.py tests/lint/compare_sentences.py \
	tests/README.md $(READ_SOURCES)

dist_check_SCRIPTS += \
	tests/lint/globals.t \
	tests/lint/symbols.t

lint:
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS='$(SOURCE_LINT)'
.PHONY: lint
