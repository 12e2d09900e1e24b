/* SPDX-License-Identifier: MIT
 * Copies and validates requests, replies and batches. */
#include "plugin/outbound.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/invariant.h"
#include "base/versioned.h"
#include "plugin/validate.h"

#define MAX_URL ((size_t)8 << 10)
#define MAX_BODY ((size_t)64 << 20)
#define MAX_TAG ((size_t)256 << 10) /* a step of a chain may contain a long answer */
#define MAX_NAME ((size_t)512)      /* limit of a lane, a key, a method, a content type */

#define TEXT(member, max, wrong)                                                                   \
    {                                                                                              \
        offsetof(struct tc_http, member), max, wrong                                               \
    }

static const struct {
    size_t offset, max;
    const char *wrong;
} texts[] = {
    TEXT(url, MAX_URL, "the URL is too long or not UTF-8"),
    TEXT(method, MAX_NAME, "the method is too long or not UTF-8"),
    TEXT(content_type, MAX_NAME, "the content type is too long or not UTF-8"),
    TEXT(lane, MAX_NAME, "the lane is too long or not UTF-8"),
    TEXT(key, MAX_NAME, "the key is too long or not UTF-8"),
    TEXT(tag, MAX_TAG, "the tag is too long or not UTF-8"),
};
#define TEXT_COUNT (sizeof texts / sizeof *texts)

static const char **outbound_text_of(struct tc_http *http, size_t i)
{
    void *const at = (char *)http + texts[i].offset;
    return at;
}

static struct tc_http outbound_complete(const struct tc_http *given)
{
    struct tc_http http;
    versioned_copy(&http, sizeof http, given);
    http.size = sizeof http;
    http.method = http.method ? http.method : "POST";
    http.tag = http.tag ? http.tag : "";
    if (!http.body)
        http.body_len = 0;
    else if (!http.body_len)
        http.body_len = strnlen(http.body, MAX_BODY + 1);
    return http;
}

static const char *outbound_check(struct tc_http *http)
{
    if (!http->url)
        return "the URL is missing";
    for (size_t i = 0; i < TEXT_COUNT; i++)
        if (*outbound_text_of(http, i) &&
            !validate_is_text(*outbound_text_of(http, i), texts[i].max))
            return texts[i].wrong;
    const size_t max = http->flags & TC_DURABLE ? OUTBOUND_MAX_DURABLE : MAX_BODY;
    if (http->body_len > max)
        return "the body is too large";
    const char *const wrong = outbound_parts_check(http, max);
    if (wrong)
        return wrong;
    if ((unsigned)http->priority > TC_P_LIVE)
        return "unknown priority";
    if (http->timeout_ms < 0 || http->max_age_ms < 0 || http->delay_ms < 0)
        return "a time is negative";
    return validate_headers(http->headers, http->header_count);
}

const struct tc_header *outbound_copy_headers(struct arena *a, const struct tc_header *from,
                                              size_t count)
{
    struct tc_header *const to = arena_alloc(a, (count + 1) * sizeof *to);
    for (size_t i = 0; i < count; i++)
        to[i] = (struct tc_header){arena_strdup(a, from[i].name), arena_strdup(a, from[i].value)};
    return to;
}

struct outbound_request *outbound_request_new(uint64_t id, const char *turn,
                                              const struct tc_http *http, const char **why)
{
    struct tc_http from = outbound_complete(http);
    *why = outbound_check(&from);
    if (*why)
        return NULL;
    struct outbound_request *const l = xcalloc(1, sizeof *l);
    *l = (struct outbound_request){.id = id, .http = from, .refs = 1};
    l->turn = arena_strdup(&l->arena, turn);
    for (size_t i = 0; i < TEXT_COUNT; i++)
        *outbound_text_of(&l->http, i) = arena_strdup(&l->arena, *outbound_text_of(&from, i));
    l->http.headers = outbound_copy_headers(&l->arena, from.headers, from.header_count);
    l->http.parts = outbound_parts_copy(&l->arena, &from);
    l->http.body = from.body ? arena_memdup(&l->arena, from.body, from.body_len) : NULL;
    return l;
}

struct outbound_request *outbound_request_ref(struct outbound_request *l)
{
    const unsigned before = atomic_fetch_add(&l->refs, 1);
    ASSERT(before > 0);
    return l;
}

void outbound_request_unref(struct outbound_request *l)
{
    if (!l)
        return;
    const unsigned before = atomic_fetch_sub(&l->refs, 1);
    ASSERT(before > 0);
    if (before > 1)
        return;
    arena_fini(&l->arena);
    free(l);
}

void outbound_reply_free(struct outbound_reply *r)
{
    if (!r)
        return;
    outbound_request_unref(r->about);
    arena_fini(&r->arena);
    free(r);
}

void callback_batch_free(struct callback_batch *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < b->count; i++)
        outbound_request_unref(b->requests[i]);
    free(b->requests);
    free(b->turn);
    free(b->memory);
    outbound_results_free(b->results);
    free((char *)(uintptr_t)b->verdict.reason); /* drops const: owned here */
    free(b);
}
