/* SPDX-License-Identifier: MIT
 * Checks the canonical lines made from one claude stream, independently of the translator (both are
 * parsed with jansson). */
#ifndef TESTS_DIALECT_ADDS_UP_H
#define TESTS_DIALECT_ADDS_UP_H

#include <stdbool.h>
#include <stddef.h>

/* Returns true, or false with the first difference in `why`:
 * - narration minus what was taken back is, message by message, the text of the messages;
 * - the final is the result's text, or ends with it, or stands where the result has none;
 * - each message of the main agent is one step, and what the agent says and calls is in it;
 * - the turn ends in the way the result says.
 * Streams without a result are judged by the last two rules only: no final that the agent meant. */
bool adds_up(const char *stream, size_t stream_len, const char *told, char why[512]);

/* Of a stream of several turns: every result with a text is the end of a message or a final, and
 * the last of them is the last final that has a text. */
bool answers_are_told(const char *stream, size_t len, const char *told, char why[512]);

#endif
