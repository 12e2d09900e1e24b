/* SPDX-License-Identifier: MIT
 * The box: an event and all its text in one allocation, counted, with its line made once. */
#include "event/event.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "event/codec.h"
#include "event/fields.h"

struct event_box {
    atomic_uint refs;
    _Atomic(struct box_line *) line; /* owned; NULL until somebody asks */
    size_t text_bytes;               /* immutable, as is everything below */
    struct event event;
    char text[];
};

struct box_line {
    size_t len;
    char text[];
};

/* Texts an event points to: every row of its kind and of the meta, and the envelope's three. */
#define BOX_TEXTS_MAX 40
#define ONE(...) +1
#define K(lower, ...)                                                                              \
    _Static_assert(FIELDS_##lower(ONE, ONE) FIELDS_meta(ONE, ONE) + 3 <= BOX_TEXTS_MAX, #lower);
EVENT_KINDS(K)
#undef K
#undef ONE

struct box_texts {
    struct str text[BOX_TEXTS_MAX];
    size_t count, bytes;
};

static void measure(struct box_texts *all, struct str text)
{
    all->text[all->count++] = text;
    all->bytes += text.p ? text.len + 1 : 0;
}

static void measure_rows(struct box_texts *all, const struct field *f, const void *base)
{
    for (; f->key; f++)
        if (field_is_text(f))
            measure(all, field_text(f, base));
}

static void measure_event(struct box_texts *all, const struct event *ev)
{
    const struct tc_meta *const meta = &ev->meta;
    measure_rows(all, event_fields(ev->kind), &ev->u);
    measure_rows(all, event_meta_fields(), meta);
    measure(all, (struct str){meta->src, meta->src ? strlen(meta->src) : 0});
    measure(all, (struct str){meta->correlation_id,
                              meta->correlation_id ? strlen(meta->correlation_id) : 0});
    measure(all, (struct str){meta->session_id, meta->session_id ? strlen(meta->session_id) : 0});
}

/* Where copies go, and which text comes next: in the order of measuring. */
struct box_fill {
    const struct str *next;
    char *at;
};

static const char *fill(struct box_fill *to)
{
    const struct str text = *to->next++;
    if (!text.p)
        return NULL;
    char *const copy = to->at;
    memcpy(copy, text.p, text.len);
    copy[text.len] = '\0';
    to->at += text.len + 1;
    return copy;
}

static void fill_rows(struct box_fill *to, const struct field *f, void *base)
{
    char *const at = base;
    for (; f->key; f++) {
        if (!field_is_text(f))
            continue;
        if (f->len_offset)
            *(size_t *)(void *)(at + f->len_offset) = to->next->p ? to->next->len : 0;
        *(const char **)(void *)(at + f->offset) = fill(to);
    }
}

struct event_box *event_box_new(const struct event *ev)
{
    struct box_texts all;
    all.count = all.bytes = 0;
    measure_event(&all, ev);

    struct event_box *const box = xmalloc(sizeof(*box) + all.bytes);
    atomic_init(&box->refs, 1);
    atomic_init(&box->line, NULL);
    box->text_bytes = all.bytes;
    box->event = *ev;
    box->event.u.meta = &box->event.meta;

    struct box_fill to = {.next = all.text, .at = box->text};
    struct tc_meta *const meta = &box->event.meta;
    fill_rows(&to, event_fields(ev->kind), &box->event.u);
    fill_rows(&to, event_meta_fields(), meta);
    meta->src = fill(&to);
    meta->correlation_id = fill(&to);
    meta->session_id = fill(&to);
    return box;
}

struct event_box *event_box_ref_many(struct event_box *box, unsigned n)
{
    atomic_fetch_add_explicit(&box->refs, n, memory_order_relaxed);
    return box;
}

struct event_box *event_box_ref(struct event_box *box)
{
    return event_box_ref_many(box, 1);
}

void event_box_unref(struct event_box *box)
{
    if (!box || atomic_fetch_sub_explicit(&box->refs, 1, memory_order_acq_rel) != 1)
        return;
    free(atomic_load_explicit(&box->line, memory_order_relaxed));
    free(box);
}

const struct event *event_box_get(const struct event_box *box)
{
    return &box->event;
}

size_t event_box_size(const struct event_box *box)
{
    return sizeof(*box) + box->text_bytes;
}

static struct box_line *make_line(const struct event_box *box)
{
    const size_t head = offsetof(struct box_line, text);
    struct buf b = {0};
    /* Keys and envelope take less than 512 bytes; escapes may still make it grow. */
    buf_reserve(&b, head + box->text_bytes + 512);
    b.len = head;
    codec_encode(&b, &box->event);
    const size_t len = b.len - head;
    struct box_line *const line = xrealloc(buf_steal(&b), head + len + 1);
    line->len = len;
    return line;
}

/* Stands where the line will be while a thread makes it; nobody looks into it. */
static const struct box_line busy;
#define BUSY ((struct box_line *)(uintptr_t)&busy)

/* The line if it is there; else what stands in its place, after an attempt to be who makes it. */
static struct box_line *claim_line(struct event_box *box)
{
    struct box_line *line = atomic_load_explicit(&box->line, memory_order_acquire);
    if (line || !atomic_compare_exchange_strong_explicit(
                    &box->line, &line, BUSY, memory_order_acquire, memory_order_acquire))
        return line;
    line = make_line(box);
    atomic_store_explicit(&box->line, line, memory_order_release);
    return line;
}

bool event_box_make_line(struct event_box *box)
{
    return claim_line(box) != BUSY;
}

const char *event_box_line(struct event_box *box, size_t *len)
{
    struct box_line *line;
    while ((line = claim_line(box)) == BUSY)
        sched_yield();
    if (len)
        *len = line->len;
    return line->text;
}
