/* SPDX-License-Identifier: MIT
 * Canonical event as a draft on the stack with borrowed strings, as it passes through translator,
 * guard and visibility. */
#ifndef EVENT_EVENT_H
#define EVENT_EVENT_H

#include <turncast/plugin.h>

#include "base/arena.h"
#include "event/kinds.h"

/* A draft. Strings are borrowed and valid during the call that passes it on. */
struct event {
    enum tc_kind kind;
    struct tc_meta meta;
    union event_payload {
        const struct tc_meta *meta; /* first member of every payload */
        struct tc_narration narration;
        struct tc_thinking thinking;
        struct tc_message message;
        struct tc_final final;
        struct tc_tool_call tool_call;
        struct tc_progress progress;
        struct tc_tool_result tool_result;
        struct tc_request request;
        struct tc_start start;
        struct tc_step step;
        struct tc_error error;
        struct tc_done done;
        struct tc_usage usage;
        struct tc_notice notice;
        struct tc_state state;
        struct tc_raw raw;
    } u;
};

/* Initialises a draft with absent values: optional strings NULL, required ones "", required JSON
 * "{}" (args) or "null", numbers -1. */
void event_init(struct event *ev, enum tc_kind kind);
/* The start of a turn that the host delivers to an instance again, at that time. */
void event_init_resumed(struct event *ev, const char *turn, double ts);
/* Convenience: a draft of TC_NARRATION or TC_THINKING. Text and id (or NULL) are borrowed. */
void event_init_text(struct event *ev, enum tc_kind kind, const char *text, size_t len,
                     const char *message_id);
/* Convenience: a notice draft. Strings are borrowed; code may be NULL. */
void event_init_notice(struct event *ev, const char *level, const char *code, const char *text);

const char *kind_name(enum tc_kind kind);
/* The kind of that name, or -1. */
int kind_from_name(const char *name, size_t len);
enum visibility_class kind_visibility(enum tc_kind kind);
enum overflow_class kind_overflow(enum tc_kind kind);

/* JSON representation of one payload member. */
enum field_type {
    FIELD_STR,    /* const char *: JSON string */
    FIELD_JSON,   /* const char *: any JSON value, verbatim */
    FIELD_OBJECT, /* const char *: a JSON object, verbatim */
    FIELD_INT,    /* int64_t: absent when negative */
    FIELD_REAL,   /* double: absent when negative */
    FIELD_FLAG,   /* bool */
    FIELD_TRI,    /* int: 1, 0, absent when negative */
};

struct event_field {
    const char *key;
    struct str lead; /* ,"key": in its encoded form */
    enum field_type type;
    bool required;     /* always written; otherwise only if present (a FIELD_FLAG: if true) */
    const char *dflt;  /* value of a required string or JSON member that is absent */
    size_t offset;     /* in struct tc_<kind> (or in struct tc_meta for event_meta_fields) */
    size_t len_offset; /* offset of the size_t with a string's length; 0: strlen */
};

/* Whether the member is a pointer to text: FIELD_STR, FIELD_JSON, FIELD_OBJECT. */
static inline bool field_is_text(const struct event_field *f)
{
    return f->type <= FIELD_OBJECT;
}
/* Text of a member: the default for a required member that is NULL, p NULL for an absent one.
 * `base` is the payload or the meta struct. */
struct str field_get_text(const struct event_field *f, const void *base);

/* Rows end with a NULL key, in the order in which the keys are written. */
const struct event_field *event_fields(enum tc_kind kind);
/* Optional members of any payload: id, agent, parent_id, audience, x (in struct tc_meta). */
const struct event_field *event_meta_fields(void);

/* An immutable copy of an event, shared by reference between threads. */
struct shared_event;
/* Start of a shared event. */
struct shared_event_header {
    struct event event;
    size_t bytes; /* its size, including strings */
};

/* Copies the draft and all its strings in one allocation; the caller owns one reference. */
struct shared_event *shared_event_new(const struct event *ev);
struct chunk_pool;
/* The same with memory of a chunk pool, for events created in a row with similar lifetimes. */
struct shared_event *shared_event_new_in_pool(struct chunk_pool *slab, const struct event *ev);
struct shared_event *shared_event_ref(struct shared_event *shared);
/* Adds `n` references at once: one write to memory shared by many threads. */
struct shared_event *shared_event_ref_many(struct shared_event *shared, unsigned n);
void shared_event_unref(struct shared_event *shared); /* NULL is allowed */
/* Borrows; valid while a reference is held. */
static inline const struct event *shared_event_get(const struct shared_event *shared)
{
    return &((const struct shared_event_header *)(const void *)shared)->event;
}
/* Its size in bytes, including strings. */
static inline size_t shared_event_size(const struct shared_event *shared)
{
    return ((const struct shared_event_header *)(const void *)shared)->bytes;
}
/* Its canonical JSON line without newline, NUL-terminated; encoded once, at the first call by any
 * thread. Borrowed, valid while a reference is held. Any thread. */
const char *shared_event_json_line(struct shared_event *shared, size_t *len);
/* Size of the serialised form, in which an event can be passed to another process of the same
 * build; `line`: includes the canonical line. */
size_t shared_event_serialized_size(const struct shared_event *shared, struct str line);
/* `to` must be aligned to ALIGN_WORD, like the argument of shared_event_attach. */
void shared_event_serialize(char *to, const struct shared_event *shared, struct str line);
struct buf;
/* Creates a shared event from the serialised form, in `place`; texts are not copied. Both areas
 * must be unchanged until the last reference is released; the caller has one. The bytes are not
 * trusted. NULL: invalid. */
struct shared_event *shared_event_attach(struct buf *place, const char *flat, size_t len);
/* Encodes the line for later use. False: another thread is encoding it. Any thread. */
bool shared_event_encode_line(struct shared_event *shared);

#endif
