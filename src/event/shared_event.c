/* SPDX-License-Identifier: MIT
 * Reference-counted immutable event, shared between threads: one allocation holds the event and
 * its strings; the canonical JSON line is encoded once, on first use. It can be serialised into
 * shared memory and attached there in place. */
#include "event/event.h"

#include <limits.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/align.h"
#include "base/alloc.h"
#include "base/bytes/buf.h"
#include "base/chunk_pool.h"
#include "base/invariant.h"
#include "event/codec.h"
#include "event/fields.h"

struct shared_event {
    struct shared_event_header front; /* immutable; first member: see shared_event_get */
    atomic_uint refs;
    bool line_placed;                   /* the line's memory is not owned */
    _Atomic(struct shared_line *) line; /* owned; NULL until the first use */
    struct pool_chunk *chunk;           /* owner of the memory; NULL: the caller of
                                         * shared_event_attach */
    char text[];                        /* immutable */
};

_Static_assert(offsetof(struct shared_event, front.event) == 0, "a box begins with its event");

struct shared_line {
    size_t len;
    char text[];
};

/* ---- texts of an event ---- */

/* Offset of a pointer to text in struct event, and of its length (0: none). dflt.p NULL: the text
 * may be absent. */
struct shared_text {
    size_t at, len_at;
    struct str dflt;
};

#define IN(S, m) (offsetof(struct event, u) + offsetof(struct tc_##S, m))
#define META(m) offsetof(struct event, meta.m)

/* Expands each member with the user's macros TEXT_AT(at, len_at, dflt, dflt_len), FLAG_AT(at) and
 * TRI_AT(at). */
#define R_MEMBER(S, m, type, dflt) R_MEMBER_##type(S, m, dflt)
#define R_MEMBER_STR(S, m, dflt) TEXT_AT(IN(S, m), 0, dflt, sizeof(dflt) - 1)
#define R_MEMBER_TEXT(S, m, dflt) TEXT_AT(IN(S, m), IN(S, m##_len), dflt, sizeof(dflt) - 1)
#define R_MEMBER_LONG_OBJECT R_MEMBER_TEXT
#define R_MEMBER_LONG_JSON R_MEMBER_TEXT
#define R_MEMBER_FLAG(S, m, dflt) FLAG_AT(IN(S, m))

#define O_MEMBER(S, m, type) O_MEMBER_##type(S, m)
#define O_MEMBER_STR(S, m) TEXT_AT(IN(S, m), 0, NULL, 0)
#define O_MEMBER_TEXT(S, m) TEXT_AT(IN(S, m), IN(S, m##_len), NULL, 0)
#define O_MEMBER_JSON O_MEMBER_STR
#define O_MEMBER_INT(S, m)
#define O_MEMBER_REAL(S, m)
#define O_MEMBER_FLAG(S, m) FLAG_AT(IN(S, m))
#define O_MEMBER_TRI(S, m) TRI_AT(IN(S, m))

#define META_MEMBER(S, m, type) TEXT_AT(META(m), 0, NULL, 0)
#define EACH_MEMBER(lower)                                                                         \
    FIELDS_##lower(R_MEMBER, O_MEMBER) FIELDS_meta(META_MEMBER, META_MEMBER)                       \
        TEXT_AT(META(src), 0, NULL, 0) TEXT_AT(META(correlation_id), 0, NULL, 0)                   \
            TEXT_AT(META(session_id), 0, NULL, 0)

#define TEXT_AT(at, len_at, dflt, dflt_len) {at, len_at, {dflt, dflt_len}},
#define FLAG_AT(at)
#define TRI_AT(at)
#define SHARED_TEXTS_MAX 40
#define K(lower, UPPER, gate, pressure)                                                            \
    static const struct shared_text texts_##lower[] = {EACH_MEMBER(lower){0}};                     \
    _Static_assert(sizeof texts_##lower / sizeof *texts_##lower <= SHARED_TEXTS_MAX, #lower);
EVENT_KINDS(K)
#undef K
#undef TEXT_AT
#undef FLAG_AT
#undef TRI_AT

/* Ends with a row of zeros, which is no valid text, because the kind is at offset 0. */
static const struct shared_text *texts_of(enum tc_kind kind)
{
    ASSERT((unsigned)kind < TC_KINDS);
#define K(lower, UPPER, gate, pressure) [TC_##UPPER] = texts_##lower,
    static const struct shared_text *const tables[TC_KINDS] = {EVENT_KINDS(K)};
#undef K
    return tables[kind];
}

/* Total size of the texts. */
struct shared_text_list {
    struct {
        const struct shared_text *of;
        struct str text;
    } found[SHARED_TEXTS_MAX];
    size_t count, bytes;
};

static const char *pointer_at(const struct event *ev, size_t at)
{
    return *(const char *const *)(const void *)((const char *)ev + at);
}

static size_t shared_event_text_length(const struct shared_text *t, const char *text,
                                       const struct event *ev)
{
    return t->len_at ? *(const size_t *)(const void *)((const char *)ev + t->len_at) : strlen(text);
}

static void shared_event_collect_texts(struct shared_text_list *all, const struct event *ev)
{
    size_t count = 0, bytes = 0;
    for (const struct shared_text *t = texts_of(ev->kind); t->at; t++) {
        struct str text = {pointer_at(ev, t->at), 0};
        if (text.p)
            text.len = shared_event_text_length(t, text.p, ev);
        else if (t->dflt.p || t->len_at)
            text = t->dflt;
        else
            continue;
        bytes += text.p ? text.len + 1 : 0;
        all->found[count].of = t;
        all->found[count++].text = text;
    }
    ASSERT(count <= SHARED_TEXTS_MAX);
    all->count = count;
    all->bytes = bytes;
}

static void copy_texts(struct shared_event *shared, const struct shared_text_list *all)
{
    char *const base = (char *)&shared->front.event, *at = shared->text;
    for (size_t i = 0; i < all->count; i++) {
        const struct shared_text *const t = all->found[i].of;
        const struct str text = all->found[i].text;
        if (t->len_at)
            *(size_t *)(void *)(base + t->len_at) = text.len;
        if (!text.p)
            continue;
        *(const char **)(void *)(base + t->at) = memcpy(at, text.p, text.len);
        at[text.len] = '\0';
        at += text.len + 1;
    }
}

/* ---- life cycle ---- */

struct shared_event *shared_event_new_in_pool(struct chunk_pool *slab, const struct event *ev)
{
    struct shared_text_list texts;
    shared_event_collect_texts(&texts, ev);

    struct pool_chunk *chunk;
    struct shared_event *const shared =
        chunk_pool_alloc(slab, sizeof *shared + texts.bytes, &chunk);
    atomic_init(&shared->refs, 1);
    atomic_init(&shared->line, NULL);
    shared->chunk = chunk;
    shared->line_placed = false;
    shared->front.bytes = sizeof *shared + texts.bytes;
    shared->front.event = *ev;
    shared->front.event.u.meta = &shared->front.event.meta;
    copy_texts(shared, &texts);
    return shared;
}

struct shared_event *shared_event_new(const struct event *ev)
{
    struct chunk_pool alone = {0};
    return shared_event_new_in_pool(&alone, ev);
}

struct shared_event *shared_event_ref_many(struct shared_event *shared, unsigned n)
{
    if (n) {
        const unsigned before = atomic_fetch_add_explicit(&shared->refs, n, memory_order_relaxed);
        ASSERT(before > 0);
        ASSERT(n <= UINT_MAX - before);
    }
    return shared;
}

struct shared_event *shared_event_ref(struct shared_event *shared)
{
    return shared_event_ref_many(shared, 1);
}

/* Whether this was the last reference, which is released. The holder of the only reference need not
 * write the counter. */
static bool shared_event_release_last(struct shared_event *shared)
{
    unsigned refs = atomic_load_explicit(&shared->refs, memory_order_acquire);
    if (refs != 1)
        refs = atomic_fetch_sub_explicit(&shared->refs, 1, memory_order_acq_rel);
    ASSERT(refs > 0);
    return refs == 1;
}

void shared_event_unref(struct shared_event *shared)
{
    if (!shared || !shared_event_release_last(shared))
        return;
    struct shared_line *const line = atomic_load_explicit(&shared->line, memory_order_relaxed);
    if (line && !shared->line_placed)
        free(line);
    if (shared->chunk)
        chunk_pool_release(shared->chunk);
}

static size_t text_bytes(const struct shared_event *shared)
{
    ASSERT(shared->front.bytes >= sizeof *shared);
    return shared->front.bytes - sizeof *shared;
}

static struct shared_line *make_line(const struct shared_event *shared)
{
    const size_t head = offsetof(struct shared_line, text);
    struct buf b = {0};
    /* Keys and envelope take less than 512 bytes; escapes may still enlarge the line. */
    buf_reserve(&b, head + text_bytes(shared) + 512);
    b.len = head;
    codec_encode(&b, &shared->front.event);
    const size_t len = b.len - head;
    struct shared_line *const line = xrealloc(buf_steal(&b), head + len + 1);
    line->len = len;
    return line;
}

/* Placeholder for the line while a thread encodes it; never dereferenced. */
static const struct shared_line busy;
#define BUSY ((struct shared_line *)(uintptr_t)&busy)

/* The line if it exists; otherwise tries to become the encoding thread, and returns the previous
 * pointer. */
static struct shared_line *shared_event_claim_line(struct shared_event *shared)
{
    struct shared_line *line = atomic_load_explicit(&shared->line, memory_order_acquire);
    if (line || !atomic_compare_exchange_strong_explicit(
                    &shared->line, &line, BUSY, memory_order_acquire, memory_order_acquire))
        return line;
    line = make_line(shared);
    atomic_store_explicit(&shared->line, line, memory_order_release);
    return line;
}

bool shared_event_encode_line(struct shared_event *shared)
{
    return shared_event_claim_line(shared) != BUSY;
}

const char *shared_event_json_line(struct shared_event *shared, size_t *len)
{
    struct shared_line *line;
    while ((line = shared_event_claim_line(shared)) == BUSY)
        sched_yield();
    if (len)
        *len = line->len;
    return line->text;
}

/* ---- serialised form ---- */

/* The part of the struct that an event of that kind uses. */
static size_t shared_event_used_bytes(enum tc_kind kind)
{
#define K(lower, UPPER, gate, pressure)                                                            \
    [TC_##UPPER] = offsetof(struct event, u) + sizeof(struct tc_##lower),
    static const size_t bytes[TC_KINDS] = {EVENT_KINDS(K)};
#undef K
    return bytes[kind];
}

/* A pointer becomes the offset of its text, from 1 on; 0: NULL. */
static inline void shared_event_store_pointer(char *to, const struct shared_event *shared,
                                              size_t at)
{
    const char *const text = pointer_at(&shared->front.event, at);
    const uintptr_t place = text ? (uintptr_t)(text - shared->text) + 1 : 0;
    memcpy(to + at, &place, sizeof place);
}

/* A separate function without a loop for each kind, because it runs for each event and instance. */
#define TEXT_AT(at, len_at, dflt, dflt_len) shared_event_store_pointer(to, shared, at);
#define FLAG_AT(at)
#define TRI_AT(at)
#define K(lower, UPPER, gate, pressure)                                                            \
    static void flatten_##lower(char *to, const struct shared_event *shared)                       \
    {                                                                                              \
        static const char *const none;                                                             \
        memcpy(to, &shared->front.event, offsetof(struct event, u) + sizeof(struct tc_##lower));   \
        memcpy(to + offsetof(struct event, u), &none, sizeof none); /* its meta */                 \
        EACH_MEMBER(lower)                                                                         \
    }
EVENT_KINDS(K)
#undef K
#undef TEXT_AT
#undef FLAG_AT
#undef TRI_AT

static void flatten_event(char *to, const struct shared_event *shared)
{
#define K(lower, UPPER, gate, pressure) [TC_##UPPER] = flatten_##lower,
    static void (*const flatten[TC_KINDS])(char *to,
                                           const struct shared_event *shared) = {EVENT_KINDS(K)};
#undef K
    flatten[shared->front.event.kind](to, shared);
}

/* Header of the serialised form; followed by the used part of the event, the texts, and, aligned to
 * 8, the line. */
struct serialized_event {
    size_t text_bytes;
    size_t line_bytes; /* 0: no line */
};

static size_t line_bytes(struct str line)
{
    return line.p ? offsetof(struct shared_line, text) + line.len + 1 : 0;
}

static size_t texts_at(enum tc_kind kind)
{
    return sizeof(struct serialized_event) + shared_event_used_bytes(kind);
}

static size_t line_at(enum tc_kind kind, size_t text_bytes)
{
    return align_up(texts_at(kind) + text_bytes, ALIGN_WORD);
}

size_t shared_event_serialized_size(const struct shared_event *shared, struct str line)
{
    return line_at(shared->front.event.kind, text_bytes(shared)) + line_bytes(line);
}

static void shared_event_store_line(char *to, struct str line)
{
    struct shared_line *const flat = (struct shared_line *)(void *)to;
    flat->len = line.len;
    memcpy(flat->text, line.p, line.len);
    flat->text[line.len] = '\0';
}

void shared_event_serialize(char *to, const struct shared_event *shared, struct str line)
{
    const enum tc_kind kind = shared->front.event.kind;
    const size_t texts = texts_at(kind), lines = line_at(kind, text_bytes(shared));
    memset(to + lines - ALIGN_WORD, 0, ALIGN_WORD); /* behind the texts */
    *(struct serialized_event *)(void *)to =
        (struct serialized_event){text_bytes(shared), line_bytes(line)};
    flatten_event(to + sizeof(struct serialized_event), shared);
    memcpy(to + texts, shared->text, text_bytes(shared));
    if (line.p)
        shared_event_store_line(to + lines, line);
}

/* Whether a value in memory is invalid for a member of that type. */
static inline bool is_flag(const struct shared_event *shared, size_t at)
{
    unsigned char flag;
    memcpy(&flag, (const char *)&shared->front.event + at, sizeof flag);
    return flag <= 1;
}

static inline bool shared_event_is_tristate(const struct shared_event *shared, size_t at)
{
    int tri;
    memcpy(&tri, (const char *)&shared->front.event + at, sizeof tri);
    return tri >= -1 && tri <= 1;
}

/* Texts with a length end there; others, at the latest, at the last NUL (shared_event_check_texts).
 */
static inline bool shared_event_restore_pointer(struct shared_event *shared, struct str texts,
                                                size_t at, size_t len_at, const char *dflt)
{
    char *const base = (char *)&shared->front.event;
    const char **const text = (const char **)(void *)(base + at);
    const size_t len = len_at ? *(const size_t *)(const void *)(base + len_at) : 0;
    uintptr_t place;
    memcpy(&place, text, sizeof place);
    if (!place)
        return !dflt && !len; /* it is a null pointer already */
    if (place > texts.len || len > texts.len - place || (len_at && texts.p[place - 1 + len]))
        return false;
    *text = texts.p + place - 1;
    return true;
}

#define TEXT_AT(at, len_at, dflt, dflt_len)                                                        \
    &&shared_event_restore_pointer(shared, texts, at, len_at, dflt)
#define FLAG_AT(at) &&is_flag(shared, at)
#define TRI_AT(at) &&shared_event_is_tristate(shared, at)
#define K(lower, UPPER, gate, pressure)                                                            \
    static bool raise_##lower(struct shared_event *shared, const struct event *ev,                 \
                              struct str texts)                                                    \
    {                                                                                              \
        memcpy(&shared->front.event, ev, offsetof(struct event, u) + sizeof(struct tc_##lower));   \
        shared->front.event.u.meta = &shared->front.event.meta;                                    \
        return true EACH_MEMBER(lower);                                                            \
    }
EVENT_KINDS(K)
#undef K
#undef TEXT_AT
#undef FLAG_AT
#undef TRI_AT

static bool raise_event(struct shared_event *shared, const struct event *ev, struct str texts)
{
#define K(lower, UPPER, gate, pressure) [TC_##UPPER] = raise_##lower,
    static bool (*const raise[TC_KINDS])(struct shared_event * shared, const struct event *ev,
                                         struct str texts) = {EVENT_KINDS(K)};
#undef K
    return raise[ev->kind](shared, ev, texts);
}

/* Kinds and flags are validated before they are used as such. */
static bool shared_event_is_head_valid(const char *flat, size_t len)
{
    unsigned kind;
    unsigned char hidden;
    _Static_assert(sizeof kind == sizeof(enum tc_kind), "a kind is a number");
    if (len < sizeof(struct serialized_event) + offsetof(struct event, u))
        return false;
    memcpy(&kind, flat + sizeof(struct serialized_event) + offsetof(struct event, kind),
           sizeof kind);
    memcpy(&hidden, flat + sizeof(struct serialized_event) + offsetof(struct event, meta.hidden),
           1);
    return kind < TC_KINDS && hidden <= 1;
}

/* Checks that the texts, and the line if there is one, end inside. NULL: they do not. */
static const char *shared_event_check_texts(const char *flat, size_t len, enum tc_kind kind)
{
    const struct serialized_event *const head = (const struct serialized_event *)(const void *)flat;
    const size_t texts = texts_at(kind), bytes = head->text_bytes, line = line_at(kind, bytes);
    if (bytes > len || line > len || (bytes && flat[texts + bytes - 1]))
        return NULL;
    return line + head->line_bytes == len ? flat + texts : NULL;
}

/* False: invalid. */
static bool is_line(const char *at, size_t bytes)
{
    const struct shared_line *const line = (const struct shared_line *)(const void *)at;
    return bytes > offsetof(struct shared_line, text) &&
           line->len == bytes - offsetof(struct shared_line, text) - 1 && !line->text[line->len];
}

struct shared_event *shared_event_attach(struct buf *place, const char *flat, size_t len)
{
    if (!shared_event_is_head_valid(flat, len))
        return NULL;
    const struct serialized_event *const head = (const struct serialized_event *)(const void *)flat;
    const struct event *const ev = (const struct event *)(const void *)(flat + sizeof *head);
    const char *const texts = shared_event_check_texts(flat, len, ev->kind);
    if (!texts)
        return NULL;
    const char *const line = flat + len - head->line_bytes;
    if (head->line_bytes && !is_line(line, head->line_bytes))
        return NULL;
    buf_reset(place);
    struct shared_event *const shared =
        (struct shared_event *)(void *)buf_reserve(place, sizeof *shared);
    shared->chunk = NULL;
    shared->front.bytes = sizeof *shared + head->text_bytes;
    shared->line_placed = head->line_bytes != 0;
    atomic_init(&shared->refs, 1);
    atomic_init(&shared->line, head->line_bytes ? (struct shared_line *)(uintptr_t)line : NULL);
    return raise_event(shared, ev, (struct str){texts, head->text_bytes}) ? shared : NULL;
}
