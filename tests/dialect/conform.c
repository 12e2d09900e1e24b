/* SPDX-License-Identifier: MIT
 * Common functions of the checkers of the output formats. */
#include "dialect/conform.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void conform_fail(struct conform *c, size_t i, const char *fmt, ...)
{
    va_list ap;
    if (*c->why)
        return;
    const int n = snprintf(c->why, sizeof c->why, "line %zu: ", i + 1);
    va_start(ap, fmt);
    vsnprintf(c->why + n, sizeof c->why - (size_t)n, fmt, ap);
    va_end(ap);
}

const char *conform_text(struct conform *c, size_t i, const json_t *object, const char *key)
{
    const char *const text = json_string_value(json_object_get(object, key));
    if (!text)
        conform_fail(c, i, "%s is not a string", key);
    return text ? text : "";
}

double conform_number(struct conform *c, size_t i, const json_t *object, const char *key)
{
    const json_t *const value = json_object_get(object, key);
    if (!json_is_number(value))
        conform_fail(c, i, "%s is not a number", key);
    return json_number_value(value);
}

json_int_t conform_count(struct conform *c, size_t i, const json_t *object, const char *key)
{
    const json_t *const value = json_object_get(object, key);
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        conform_fail(c, i, "%s is not a count", key);
    return json_integer_value(value);
}

bool conform_bool(struct conform *c, size_t i, const json_t *object, const char *key)
{
    const json_t *const value = json_object_get(object, key);
    if (!json_is_boolean(value))
        conform_fail(c, i, "%s is not a boolean", key);
    return json_is_true(value);
}

json_t *conform_object(struct conform *c, size_t i, const json_t *object, const char *key)
{
    json_t *const value = json_object_get(object, key);
    if (!json_is_object(value))
        conform_fail(c, i, "%s is not an object", key);
    return value;
}

const char *conform_maybe_text(struct conform *c, size_t i, const json_t *object, const char *key)
{
    const json_t *const value = json_object_get(object, key);
    if (value && !json_is_string(value))
        conform_fail(c, i, "%s is not a string", key);
    return json_string_value(value);
}

bool conform_is_one_of(const char *text, const char *const *known)
{
    for (; *known; known++)
        if (strcmp(text, *known) == 0)
            return true;
    return false;
}

void conform_append(char **text, const char *more)
{
    const size_t len = *text ? strlen(*text) : 0, n = strlen(more);
    *text = realloc(*text, len + n + 1);
    memcpy(*text + len, more, n + 1);
}

void conform_sum(struct conform *c, double sum)
{
    const double cost = c->turn->cost_usd;
    if (cost >= 0 && fabs(sum - cost) > 1e-6)
        conform_fail(c, json_array_size(c->lines), "the costs add up to %.9g, the turn cost %.9g",
                     sum, cost);
}
