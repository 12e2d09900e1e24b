/* SPDX-License-Identifier: MIT
 * Compares output of a connector with the expectation of a script. */
#ifndef CLI_TESTING_FAKE_SCRIPT_MATCH_H
#define CLI_TESTING_FAKE_SCRIPT_MATCH_H

#include <jansson.h>
#include <stddef.h>
#include <turncast/plugin.h>

#include "base/bytes/buf.h"

/* Whether `got` has everything that `want` names; otherwise appends the place and the
 * difference. */
bool match_json(const json_t *want, const json_t *got, struct buf *why);
/* The parts of a request as an object. New reference. */
json_t *match_parts(const struct tc_part *parts, size_t count);
/* A request body as JSON, by its content type; other bodies as a string. New reference. */
json_t *match_body(const char *content_type, const char *body, size_t len);

#endif
