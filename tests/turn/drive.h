/* SPDX-License-Identifier: MIT
 * Bytes as a program for the guard: whatever they are, they mean a stream of drafts and an end.
 * The random test and the fuzzer share it. */
#ifndef TESTS_TURN_DRIVE_H
#define TESTS_TURN_DRIVE_H

#include <stdint.h>

#include "turn/guard.h"

/* Feeds the drafts that the bytes stand for, then ends the stream. */
void drive_guard(struct guard *g, const uint8_t *p, size_t n);

#endif
