/* SPDX-License-Identifier: MIT
 * One stream read by one dialect and written by one writer, for the targets of dialects. */
#ifndef TESTS_FUZZ_STREAM_H
#define TESTS_FUZZ_STREAM_H

#include <stddef.h>

/* Aborts when a promise is broken or when what is written is no JSON. */
void stream_try(const char *dialect, const char *writer, const char *stream, size_t len);

#endif
