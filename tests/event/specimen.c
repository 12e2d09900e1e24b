/* SPDX-License-Identifier: MIT
 * Fills and compares events by the field tables. */
#include "event/specimen.h"

#include <stdint.h>

static void set_text(const struct event_field *f, void *base, const char *text, size_t len)
{
    char *const at = base;
    *(const char **)(void *)(at + f->offset) = text;
    if (f->len_offset)
        *(size_t *)(void *)(at + f->len_offset) = len;
}

static void fill_field(const struct event_field *f, void *base, struct arena *a, int n)
{
    void *const at = (char *)base + f->offset;
    switch (f->type) {
    case FIELD_STR: {
        const char *const text = arena_sprintf(a, "%s-%d \"q\"\\\n\té\xf0\x9f\x98\x80", f->key, n);
        set_text(f, base, text, strlen(text));
        break;
    }
    case FIELD_JSON:
    case FIELD_OBJECT: {
        const char *const text = arena_sprintf(a, "{\"%s\":[%d,null,\"\\n\"]}", f->key, n);
        set_text(f, base, text, strlen(text));
        break;
    }
    case FIELD_INT:
        *(int64_t *)at = 9007199254740993 + n; /* not a double */
        break;
    case FIELD_REAL:
        *(double *)at = n + 0.1;
        break;
    case FIELD_FLAG:
        *(bool *)at = true;
        break;
    case FIELD_TRI:
        *(int *)at = 1;
        break;
    }
}

void specimen_bare(struct event *ev, enum tc_kind kind)
{
    event_init(ev, kind);
    ev->meta.ts = 1784884501.820045;
    ev->meta.seq = 7;
    ev->meta.src = "claude";
    ev->meta.correlation_id = "c-1";
    ev->meta.session_id = "s-1";
}

void specimen_fill(struct event *ev, enum tc_kind kind, struct arena *a)
{
    specimen_bare(ev, kind);
    int n = 0;
    for (const struct event_field *f = event_fields(kind); f->key; f++)
        fill_field(f, &ev->u, a, ++n);
    for (const struct event_field *f = event_meta_fields(); f->key; f++)
        fill_field(f, &ev->meta, a, ++n);
}

static bool same_field(const struct event_field *f, const void *a, const void *b)
{
    const void *const at_a = (const char *)a + f->offset;
    const void *const at_b = (const char *)b + f->offset;
    switch (f->type) {
    case FIELD_STR:
    case FIELD_JSON:
    case FIELD_OBJECT: {
        const struct str text_a = field_get_text(f, a), text_b = field_get_text(f, b);
        return !text_a.p == !text_b.p && str_equal(text_a, text_b);
    }
    case FIELD_INT:
        return *(const int64_t *)at_a == *(const int64_t *)at_b;
    case FIELD_REAL:
        return memcmp(at_a, at_b, sizeof(double)) == 0;
    case FIELD_FLAG:
        return *(const bool *)at_a == *(const bool *)at_b;
    case FIELD_TRI:
        return *(const int *)at_a == *(const int *)at_b;
    }
    return false;
}

static const char *first_different(const struct event_field *f, const void *a, const void *b)
{
    while (f->key && same_field(f, a, b))
        f++;
    return f->key;
}

const char *specimen_differ(const struct event *a, const struct event *b)
{
    if (a->kind != b->kind)
        return "kind";
    if (memcmp(&a->meta.ts, &b->meta.ts, sizeof(double)) != 0)
        return "ts";
    if (a->meta.seq != b->meta.seq)
        return "seq";
    if (strcmp(a->meta.src, b->meta.src) != 0)
        return "src";
    if (strcmp(a->meta.correlation_id, b->meta.correlation_id) != 0)
        return "correlation_id";
    if (strcmp(a->meta.session_id, b->meta.session_id) != 0)
        return "session_id";
    const char *const key = first_different(event_fields(a->kind), &a->u, &b->u);
    return key ? key : first_different(event_meta_fields(), &a->meta, &b->meta);
}
