/* SPDX-License-Identifier: MIT
 * Owns the binary form of an event, by the field tables. */
#include "event/wire.h"

static void pack_field(struct buf *out, const struct field *f, const void *base)
{
    const void *const at = (const char *)base + f->offset;
    switch (f->type) {
    case FIELD_STR:
    case FIELD_JSON:
    case FIELD_OBJECT:
        pack_bytes(out, field_text(f, base));
        break;
    case FIELD_INT:
        pack_number(out, *(const int64_t *)at);
        break;
    case FIELD_REAL:
        pack_real(out, *(const double *)at);
        break;
    case FIELD_FLAG:
        pack_flag(out, *(const bool *)at);
        break;
    case FIELD_TRI:
        pack_number(out, *(const int *)at < 0 ? -1 : *(const int *)at != 0);
        break;
    }
}

void wire_pack(struct buf *out, const struct event *ev)
{
    const struct tc_meta *const meta = &ev->meta;
    pack_number(out, (int64_t)ev->kind);
    pack_number(out, (int64_t)meta->seq);
    pack_real(out, meta->ts);
    pack_flag(out, meta->hidden);
    pack_text(out, meta->src);
    pack_text(out, meta->correlation_id);
    pack_text(out, meta->session_id);
    for (const struct field *f = event_meta_fields(); f->key; f++)
        pack_field(out, f, meta);
    for (const struct field *f = event_fields(ev->kind); f->key; f++)
        pack_field(out, f, &ev->u);
}

static void unpack_string(struct unpack *u, const struct field *f, char *base)
{
    const struct str text = unpack_bytes(u);
    *(const char **)(void *)(base + f->offset) = text.p;
    if (f->len_offset)
        *(size_t *)(void *)(base + f->len_offset) = text.len;
    u->bad = u->bad || (f->required && !text.p);
}

/* Yes, no, or negative: not said. */
static int unpack_tri(struct unpack *u)
{
    const int64_t number = unpack_number(u);
    u->bad = u->bad || number < -1 || number > 1;
    return u->bad ? -1 : (int)number;
}

static void unpack_field(struct unpack *u, const struct field *f, void *base)
{
    void *const at = (char *)base + f->offset;
    switch (f->type) {
    case FIELD_STR:
    case FIELD_JSON:
    case FIELD_OBJECT:
        unpack_string(u, f, base);
        break;
    case FIELD_INT:
        *(int64_t *)at = unpack_number(u);
        break;
    case FIELD_REAL:
        *(double *)at = unpack_real(u);
        break;
    case FIELD_FLAG:
        *(bool *)at = unpack_flag(u);
        break;
    case FIELD_TRI:
        *(int *)at = unpack_tri(u);
        break;
    }
}

void wire_unpack(struct event *ev, struct unpack *u)
{
    const size_t kind = unpack_count(u, TC_KINDS - 1);
    struct tc_meta *const meta = &ev->meta;
    event_init(ev, (enum tc_kind)kind);
    meta->seq = (uint64_t)unpack_number(u);
    meta->ts = unpack_real(u);
    meta->hidden = unpack_flag(u);
    meta->src = unpack_text(u);
    meta->correlation_id = unpack_text(u);
    meta->session_id = unpack_text(u);
    for (const struct field *f = event_meta_fields(); f->key; f++)
        unpack_field(u, f, meta);
    for (const struct field *f = event_fields(ev->kind); f->key; f++)
        unpack_field(u, f, &ev->u);
}
