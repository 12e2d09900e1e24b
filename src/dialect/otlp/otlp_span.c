/* SPDX-License-Identifier: MIT
 * Owns the ids and the form of spans. */
#include "dialect/otlp/otlp_span.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <nettle/sha2.h>

#include "base/bytes/utf8.h"
#include "event/json/json_writer.h"

#define REASON_MAX ((size_t)500)      /* bytes of the description of an error */
#define EVENTS_MAX ((size_t)32 << 10) /* bytes of the events of one span */
#define STATUS_ERROR 2                /* number of the protocol */

void otlp_span_fini(struct otlp_span *s)
{
    buf_fini(&s->attributes);
    buf_fini(&s->events);
    arena_fini(&s->arena);
}

/* ---- ids ---- */

void otlp_span_make_digits(char *to, size_t n, const char *text)
{
    struct sha256_ctx ctx;
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_init(&ctx);
    sha256_update(&ctx, strlen(text), (const uint8_t *)text);
    sha256_digest(&ctx, sizeof digest, digest);
    for (size_t i = 0; i < n / 2; i++)
        snprintf(to + 2 * i, 3, "%02x", digest[i]);
}

void otlp_span_make_id(char to[OTLP_SPAN_ID + 1], const char *turn, const char *sort,
                       const char *key)
{
    CLEANUP_BUF struct buf text = {0};
    buf_printf(&text, "%s\n%s\n%s", turn, sort, key);
    otlp_span_make_digits(to, OTLP_SPAN_ID, text.p);
}

/* ---- what is known of a span ---- */

const char *otlp_span_copy_text(struct otlp_span *s, const char *text)
{
    return text && *text ? arena_strdup(&s->arena, text) : NULL;
}

/* Nanoseconds since 1970, as exact as the times of events. */
static void otlp_span_add_time(struct buf *b, const char *key, double seconds)
{
    jsonw_key(b, key);
    buf_printf(b, "\"%" PRIu64 "000\"", seconds > 0 ? (uint64_t)(seconds * 1e6) : 0);
}

static void otlp_span_add_list(struct buf *b, const char *key, const struct buf *elements)
{
    jsonw_key(b, key);
    buf_add_char(b, '[');
    buf_add(b, elements->len ? elements->p : "", elements->len);
    buf_add_char(b, ']');
}

void otlp_span_add_event(struct otlp_span *s, double ts, const char *name,
                         const struct buf *attributes)
{
    if (s->events.len + attributes->len > EVENTS_MAX)
        return;
    buf_add_str(&s->events, s->events.len ? ",{" : "{");
    otlp_span_add_time(&s->events, "timeUnixNano", ts);
    jsonw_member_str(&s->events, "name", name);
    otlp_span_add_list(&s->events, "attributes", attributes);
    buf_add_char(&s->events, '}');
}

/* ---- the form ---- */

static void otlp_span_add_name(struct buf *b, const struct otlp_span *s)
{
    CLEANUP_BUF struct buf name = {0};
    buf_printf(&name, "%s%s%s", s->operation, s->name ? " " : "", s->name ? s->name : "");
    jsonw_member_str(b, "name", name.p);
}

static void otlp_span_add_status(struct buf *b, const struct otlp_span *s)
{
    const char *const reason = s->reason ? s->reason : "";
    jsonw_key(b, "status");
    buf_add_char(b, '{');
    if (s->error) {
        jsonw_member_int(b, "code", STATUS_ERROR);
        jsonw_key(b, "message");
        jsonw_string(b, reason, utf8_truncated_len(reason, strlen(reason), REASON_MAX));
    }
    buf_add_char(b, '}');
}

void otlp_span_write(struct buf *b, const struct otlp_span *s, const char *turn,
                     enum otlp_span_kind kind, double end)
{
    char trace[OTLP_TRACE_ID + 1];
    otlp_span_make_digits(trace, OTLP_TRACE_ID, turn);
    buf_add_char(b, '{');
    jsonw_member_str(b, "traceId", trace);
    jsonw_member_str(b, "spanId", s->id);
    jsonw_member_str(b, "parentSpanId", s->parent);
    otlp_span_add_name(b, s);
    jsonw_member_int(b, "kind", kind);
    otlp_span_add_time(b, "startTimeUnixNano", s->start);
    otlp_span_add_time(b, "endTimeUnixNano", end > s->start ? end : s->start);
    otlp_span_add_list(b, "attributes", &s->attributes);
    otlp_span_add_list(b, "events", &s->events);
    otlp_span_add_status(b, s);
    buf_add_char(b, '}');
}
