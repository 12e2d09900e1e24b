/* SPDX-License-Identifier: MIT
 * Results of requests that a plugin performs itself. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/versioned.h"
#include "plugin/outbound.h"
#include "plugin/validate.h"

#define MAX_RESULT ((size_t)1 << 20)

static struct tc_completion complete_result(const struct tc_completion *given)
{
    struct tc_completion c;
    versioned_copy(&c, sizeof c, given);
    if (c.body && !c.body_len)
        c.body_len = strnlen(c.body, MAX_RESULT + 1);
    if (!c.body)
        c.body_len = 0;
    return c;
}

static const char *check_result(const struct tc_completion *c)
{
    if ((unsigned)c->outcome > TC_AMBIGUOUS)
        return "invalid outcome; valid outcomes: OK, REJECTED, NOT_SENT, AMBIGUOUS";
    if (c->status < 0 || c->status > 999 || c->hold_ms < 0)
        return "a number is out of range";
    if (c->body_len > MAX_RESULT)
        return "the body is too large";
    if (!validate_is_text(c->error, VALIDATE_REASON_MAX))
        return "the error is too long or not UTF-8";
    return NULL;
}

struct outbound_result *outbound_result_new(uint64_t request, const struct tc_completion *given,
                                            const char **why)
{
    const struct tc_completion c = complete_result(given);
    *why = given ? check_result(&c) : "the completion is NULL";
    if (*why)
        return NULL;
    struct outbound_result *const r = xcalloc(1, sizeof *r);
    r->request = request;
    r->outcome = c.outcome;
    r->status = c.status;
    r->body = (struct str){arena_memdup(&r->arena, c.body, c.body_len), c.body_len};
    r->error = arena_strdup(&r->arena, c.error);
    r->hold_ms = c.hold_ms;
    return r;
}

void outbound_results_free(struct outbound_result *first)
{
    while (first) {
        struct outbound_result *const r = first;
        first = r->next;
        arena_fini(&r->arena);
        free(r);
    }
}
