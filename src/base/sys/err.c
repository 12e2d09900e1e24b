/* SPDX-License-Identifier: MIT
 * Formats errors. */
#include "base/sys/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void err_set_place(struct tc_err *e, const char *place)
{
    snprintf(e->place, sizeof e->place, "%s", place ? place : "");
}

int err_set(struct tc_err *e, const char *place, const char *fmt, ...)
{
    if (!e)
        return -1;
    err_set_place(e, place);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(e->text, sizeof e->text, fmt, ap);
    va_end(ap);
    return -1;
}

/* Reserves room for the reason, so that only the text before it is cut. */
static void append_reason(struct tc_err *e, int no)
{
    char store[128];
    const char *const reason = strerror_r(no, store, sizeof store);
    const size_t room = sizeof e->text - strlen(reason) - 3;
    const size_t at = strnlen(e->text, room);
    snprintf(e->text + at, sizeof e->text - at, ": %s", reason);
}

int err_set_errno(struct tc_err *e, int no, const char *place, const char *fmt, ...)
{
    if (!e)
        return -1;
    err_set_place(e, place);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(e->text, sizeof e->text, fmt, ap);
    va_end(ap);
    append_reason(e, no);
    return -1;
}

const char *err_format(const struct tc_err *e)
{
    static _Thread_local char both[sizeof e->place + sizeof e->text + 2];
    snprintf(both, sizeof both, "%s%s%s", e->place, e->place[0] ? ": " : "", e->text);
    return both;
}
