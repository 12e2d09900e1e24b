/* SPDX-License-Identifier: MIT
 * Fuzzes a whole stream of any dialect: its first line is the dialect's name, or its first byte
 * picks one; then translate and guard, with the promises as the judge. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dialect/cast.h"

#define NAME_MAX_LEN 32

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct dialect *pick_by_byte(uint8_t byte)
{
    size_t n = 0;
    while (dialect_get(n))
        n++;
    return dialect_get(byte % n);
}

/* Moves *p behind what named it. */
static const struct dialect *pick(const char **p, size_t *size)
{
    char name[NAME_MAX_LEN];
    const char *const newline = memchr(*p, '\n', *size < sizeof(name) ? *size : sizeof(name));
    const size_t len = newline ? (size_t)(newline - *p) : 0;
    memcpy(name, *p, len);
    if (newline)
        name[len] = '\0';
    const struct dialect *const named = newline ? dialect_find(name) : NULL;
    const size_t used = named ? len + 1 : 1;
    const struct dialect *const found = named ? named : pick_by_byte((uint8_t) * *p);
    *p += used;
    *size -= used;
    return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char broken[256];
    const char *p = (const char *)data;
    if (!size)
        return 0;
    const struct dialect *const dialect = pick(&p, &size);
    if (!cast_keeps(dialect, p, size, false, broken) ||
        !cast_keeps(dialect, p, size, true, broken)) {
        fprintf(stderr, "%s: %s\n", dialect->name, broken);
        abort();
    }
    return 0;
}
