/* SPDX-License-Identifier: MIT
 * Encodes an event as its canonical line and decodes it, both by the field tables. */
#include "event/codec.h"

#include <math.h>

#include "event/json/json_reader.h"
#include "event/json/json_writer.h"

#define PAYLOAD_DEPTH 2 /* limit of the object "x" in a line */

static const void *codec_member(const void *base, size_t offset)
{
    return (const char *)base + offset;
}

static void codec_put_str(struct buf *out, struct str s)
{
    char *const to = buf_reserve(out, s.len);
    memcpy(to, s.p, s.len);
    out->len += s.len;
}

static void put_bool(struct buf *out, struct str lead, bool v)
{
    codec_put_str(out, lead);
    codec_put_str(out, v ? STR("true") : STR("false"));
}

static void put_text(struct buf *out, const struct event_field *f, const void *base)
{
    const struct str text = field_get_text(f, base);
    if (!text.p)
        return;
    codec_put_str(out, f->lead);
    if (f->type == FIELD_STR)
        jsonw_string(out, text.p, text.len);
    else
        codec_put_str(out, text);
}

static void put_field(struct buf *out, const struct event_field *f, const void *base)
{
    const void *const at = codec_member(base, f->offset);
    switch (f->type) {
    case FIELD_STR:
    case FIELD_JSON:
    case FIELD_OBJECT:
        put_text(out, f, base);
        break;
    case FIELD_INT:
        if (*(const int64_t *)at >= 0) {
            codec_put_str(out, f->lead);
            jsonw_int(out, *(const int64_t *)at);
        }
        break;
    case FIELD_REAL:
        if (*(const double *)at >= 0) {
            codec_put_str(out, f->lead);
            jsonw_real(out, *(const double *)at);
        }
        break;
    case FIELD_FLAG:
        if (f->required || *(const bool *)at)
            put_bool(out, f->lead, *(const bool *)at);
        break;
    case FIELD_TRI:
        if (*(const int *)at >= 0)
            put_bool(out, f->lead, *(const int *)at > 0);
        break;
    }
}

void codec_encode_payload(struct buf *out, const struct event *ev)
{
    const size_t begin = out->len;
    for (const struct event_field *f = event_fields(ev->kind); f->key; f++)
        put_field(out, f, &ev->u);
    for (const struct event_field *f = event_meta_fields(); f->key; f++)
        put_field(out, f, &ev->meta);
    /* Every member began with a comma; the first one is replaced by the brace. */
    if (out->len == begin)
        codec_put_str(out, STR("{"));
    else
        out->p[begin] = '{';
    buf_add(out, "}", 1);
}

/* Until February 2106; larger doubles cannot represent microseconds exactly. */
#define MICROSECONDS_MAX 0x1p32

/* Unix seconds with at most microseconds, without trailing zeros. */
static void put_time(struct buf *out, double ts)
{
    if (!(ts >= 0 && ts < MICROSECONDS_MAX)) {
        jsonw_real(out, ts);
        return;
    }
    const int64_t micros = (int64_t)(ts * 1e6 + 0.5);
    jsonw_int(out, micros / 1000000);
    int64_t rest = micros % 1000000;
    if (rest == 0)
        return;
    char digits[7] = ".000000";
    size_t len = 1;
    for (int64_t unit = 100000; rest > 0; unit /= 10) {
        digits[len++] = (char)('0' + rest / unit);
        rest %= unit;
    }
    codec_put_str(out, (struct str){digits, len});
}

static void put_name(struct buf *out, struct str lead, const char *s)
{
    codec_put_str(out, lead);
    jsonw_string(out, s ? s : "", s ? strlen(s) : 0);
}

void codec_encode(struct buf *out, const struct event *ev)
{
#define K(lower, UPPER, gate, pressure)                                                            \
    [TC_##UPPER] = {"{\"type\":\"" #lower "\",\"payload\":",                                       \
                    sizeof("{\"type\":\"" #lower "\",\"payload\":") - 1},
    static const struct str heads[] = {EVENT_KINDS(K)};
#undef K
    buf_reserve(out, 256);
    codec_put_str(out, heads[ev->kind]);
    codec_encode_payload(out, ev);
    codec_put_str(out, STR(",\"ts\":"));
    put_time(out, ev->meta.ts);
    put_name(out, STR(",\"correlation_id\":"), ev->meta.correlation_id);
    put_name(out, STR(",\"session_id\":"), ev->meta.session_id);
    codec_put_str(out, STR(",\"seq\":"));
    jsonw_int(out, (int64_t)ev->meta.seq);
    put_name(out, STR(",\"src\":"), ev->meta.src);
    buf_add(out, "}", 1);
}

/* Decoding. */

struct codec_decoder {
    struct event *ev;
    struct arena *arena;
    struct buf strangers; /* ,"key":value of unknown members */
    struct str x;         /* the payload's own x, or absent */
    uint64_t seen;        /* rows of the kind that were set, as bits */
    const char *why;
};

/* Members of the envelope as slices of the line. */
struct codec_envelope {
    struct str type, payload, correlation_id, session_id, src;
    double ts;
    int64_t seq;
};

static int read_envelope(struct codec_envelope *e, const char *line, size_t len)
{
    struct json j;
    struct str key;
    *e = (struct codec_envelope){.ts = -1};
    json_init(&j, line, len);
    if (!json_reader_enter_object(&j))
        return -1;
    while (json_reader_next_key(&j, &key)) {
        if (json_reader_string_is(key, "type"))
            json_reader_read_string(&j, &e->type);
        else if (json_reader_string_is(key, "payload"))
            json_reader_skip(&j, &e->payload);
        else if (json_reader_string_is(key, "ts"))
            json_reader_read_real(&j, &e->ts);
        else if (json_reader_string_is(key, "correlation_id"))
            json_reader_read_string(&j, &e->correlation_id);
        else if (json_reader_string_is(key, "session_id"))
            json_reader_read_string(&j, &e->session_id);
        else if (json_reader_string_is(key, "seq"))
            json_reader_read_int(&j, &e->seq);
        else if (json_reader_string_is(key, "src"))
            json_reader_read_string(&j, &e->src);
        else
            json_reader_skip(&j, NULL);
    }
    return json_reader_finish(&j);
}

static bool codec_accepts_type(enum field_type type, enum json_type given)
{
    switch (type) {
    case FIELD_STR:
        return given == JSON_AT_STRING;
    case FIELD_JSON:
        return true;
    case FIELD_OBJECT:
        return given == JSON_AT_OBJECT;
    case FIELD_INT:
    case FIELD_REAL:
        return given == JSON_AT_NUMBER;
    case FIELD_FLAG:
    case FIELD_TRI:
        return given == JSON_AT_TRUE || given == JSON_AT_FALSE;
    }
    return false;
}

static void codec_set_text(struct codec_decoder *d, const struct event_field *f, void *base,
                           struct str value)
{
    size_t len;
    char *const at = base;
    const char *const text =
        f->type == FIELD_STR
            ? json_reader_unescape(d->arena, (struct str){value.p + 1, value.len - 2}, &len)
            : json_reader_compact_dup(d->arena, value, &len);
    *(const char **)(void *)(at + f->offset) = text;
    if (f->len_offset)
        *(size_t *)(void *)(at + f->len_offset) = len;
}

static bool set_number(const struct event_field *f, void *at, struct json *value)
{
    if (f->type == FIELD_REAL) {
        double v;
        if (!json_reader_read_real(value, &v) || v < 0)
            return false;
        *(double *)at = v + 0.0; /* -0 is 0 */
        return true;
    }
    int64_t v;
    if (!json_reader_read_int(value, &v) || v < 0)
        return false;
    *(int64_t *)at = v;
    return true;
}

/* False: the value has the wrong type, and nothing was set. */
static bool set_field(struct codec_decoder *d, const struct event_field *f, void *base,
                      struct str value)
{
    struct json j;
    json_init(&j, value.p, value.len);
    const enum json_type given = json_reader_peek(&j);
    if (!codec_accepts_type(f->type, given))
        return false;
    void *const at = (char *)base + f->offset;
    if (field_is_text(f))
        codec_set_text(d, f, base, value);
    else if (f->type == FIELD_FLAG)
        *(bool *)at = given == JSON_AT_TRUE;
    else if (f->type == FIELD_TRI)
        *(int *)at = given == JSON_AT_TRUE;
    else
        return set_number(f, at, &j);
    return true;
}

static const struct event_field *find_field(const struct event_field *f, struct str key)
{
    while (f->key && !json_reader_string_is(key, f->key))
        f++;
    return f->key ? f : NULL;
}

static void codec_retain_unknown_member(struct codec_decoder *d, struct str key, struct str value)
{
    buf_add_char(&d->strangers, ',');
    json_reader_compact(&d->strangers, (struct str){key.p - 1, key.len + 2}); /* including its
                                                                               * quotes */
    buf_add_char(&d->strangers, ':');
    json_reader_compact(&d->strangers, value);
}

static void codec_read_member(struct codec_decoder *d, struct str key, struct str value)
{
    const struct event_field *const rows = event_fields(d->ev->kind);
    const struct event_field *f = find_field(rows, key);
    const bool null = value.len == 4 && memcmp(value.p, "null", 4) == 0;
    if (f) {
        if (null && !(f->type == FIELD_JSON && f->required))
            return;
        if (set_field(d, f, &d->ev->u, value))
            d->seen |= UINT64_C(1) << (f - rows);
        else if (f->required)
            d->why = arena_sprintf(d->arena, "%s.%s: wrong type", kind_name(d->ev->kind), f->key);
        else
            codec_retain_unknown_member(d, key, value);
        return;
    }
    f = find_field(event_meta_fields(), key);
    if (f && null)
        return;
    if (f && f->type == FIELD_OBJECT && *value.p == '{')
        d->x = value;
    else if (!f || !set_field(d, f, &d->ev->meta, value))
        codec_retain_unknown_member(d, key, value);
}

/* Builds meta.x from the payload's own x and from unknown members. */
static void codec_join_unknown_members(struct codec_decoder *d)
{
    struct tc_meta *const meta = &d->ev->meta;
    meta->x = json_reader_compact_dup(d->arena, d->x, NULL);
    if (d->strangers.len == 0)
        return;
    const size_t inner = meta->x ? strlen(meta->x) - 2 : 0;
    const char *const more = d->strangers.p + (inner ? 0 : 1); /* no comma after the brace */
    meta->x = arena_sprintf(d->arena, "{%.*s%s}", (int)inner, meta->x ? meta->x + 1 : "", more);

    /* The values are nested one level deeper now: the line must still be within the depth limit. */
    struct json j;
    json_init(&j, meta->x, strlen(meta->x));
    j.depth = PAYLOAD_DEPTH;
    json_reader_skip(&j, NULL);
    if (j.error)
        d->why = "payload: too deep";
}

static void check_required(struct codec_decoder *d)
{
    const struct event_field *const rows = event_fields(d->ev->kind);
    for (const struct event_field *f = rows; f->key && !d->why; f++)
        if (f->required && f->type != FIELD_FLAG && !(d->seen >> (f - rows) & 1))
            d->why = arena_sprintf(d->arena, "%s.%s: missing", kind_name(d->ev->kind), f->key);
}

static void codec_read_payload(struct codec_decoder *d, struct str payload)
{
    struct json j;
    struct str key, value = {0};
    json_init(&j, payload.p, payload.len);
    json_reader_enter_object(&j);
    while (!d->why && json_reader_next_key(&j, &key)) {
        json_reader_skip(&j, &value);
        codec_read_member(d, key, value);
    }
    if (!d->why)
        check_required(d);
    if (!d->why)
        codec_join_unknown_members(d);
    buf_fini(&d->strangers);
}

static const char *codec_name_or_empty(struct arena *a, struct str raw)
{
    return raw.p ? json_reader_unescape(a, raw, NULL) : "";
}

/* Why the line is not a canonical event, or NULL. */
static const char *codec_parse(struct event *ev, struct arena *a, const char *line, size_t len)
{
    struct codec_envelope e;
    if (read_envelope(&e, line, len) < 0)
        return "not a JSON object";
    if (!e.type.p)
        return "type: missing";
    size_t type_len;
    const char *const type = json_reader_unescape(a, e.type, &type_len);
    const int kind = kind_from_name(type, type_len);
    if (kind < 0)
        return "type: unknown event type";
    if (!e.payload.p || *e.payload.p != '{')
        return "payload: not an object";

    event_init(ev, (enum tc_kind)kind);
    ev->meta.ts = isfinite(e.ts) ? e.ts + 0.0 : -1;
    ev->meta.seq = e.seq > 0 ? (uint64_t)e.seq : 0;
    ev->meta.correlation_id = codec_name_or_empty(a, e.correlation_id);
    ev->meta.session_id = codec_name_or_empty(a, e.session_id);
    ev->meta.src = codec_name_or_empty(a, e.src);
    struct codec_decoder d = {.ev = ev, .arena = a};
    codec_read_payload(&d, e.payload);
    return d.why;
}

int codec_decode(struct event *ev, struct arena *a, const char *line, size_t len, const char **why)
{
    const char *const wrong = codec_parse(ev, a, line, len);
    if (why)
        *why = wrong;
    return wrong ? -1 : 0;
}
