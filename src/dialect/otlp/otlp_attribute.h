/* SPDX-License-Identifier: MIT
 * Attributes in the JSON form of OTLP, as they stand in an array: {"key":…,"value":{…}}, with
 * commas between them. Pure. */
#ifndef DIALECT_OTLP_OTLP_ATTRIBUTE_H
#define DIALECT_OTLP_OTLP_ATTRIBUTE_H

#include <stdint.h>

#include "base/bytes/buf.h"

/* NULL and "" are left out. */
void otlp_attribute_add_text(struct buf *list, const char *key, const char *text);
/* The same, of a text that is cut between characters if it is longer than `max` bytes. */
void otlp_attribute_add_cut_text(struct buf *list, const char *key, const char *text, size_t max);
/* Negative numbers are left out: they stand for "not known". */
void otlp_attribute_add_int(struct buf *list, const char *key, int64_t number);
void otlp_attribute_add_real(struct buf *list, const char *key, double number);

#endif
