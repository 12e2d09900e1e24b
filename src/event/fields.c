/* SPDX-License-Identifier: MIT
 * Generates the field tables and the initial drafts from the rows of fields.h. */
#include "event/fields.h"

#include "event/event.h"

#define ROW(S, m, type_, required_, dflt_, len_offset_)                                            \
    {.key = #m,                                                                                    \
     .lead = {",\"" #m "\":", sizeof(",\"" #m "\":") - 1},                                         \
     .type = type_,                                                                                \
     .required = required_,                                                                        \
     .dflt = dflt_,                                                                                \
     .offset = offsetof(struct tc_##S, m),                                                         \
     .len_offset = len_offset_},
#define LEN(S, m) offsetof(struct tc_##S, m##_len)

#define R_ROW(S, m, type, dflt) R_ROW_##type(S, m, dflt)
#define R_ROW_STR(S, m, dflt) ROW(S, m, FIELD_STR, true, dflt, 0)
#define R_ROW_TEXT(S, m, dflt) ROW(S, m, FIELD_STR, true, dflt, LEN(S, m))
#define R_ROW_LONG_OBJECT(S, m, dflt) ROW(S, m, FIELD_OBJECT, true, dflt, LEN(S, m))
#define R_ROW_LONG_JSON(S, m, dflt) ROW(S, m, FIELD_JSON, true, dflt, LEN(S, m))
#define R_ROW_FLAG(S, m, dflt) ROW(S, m, FIELD_FLAG, true, NULL, 0)

#define O_ROW(S, m, type) O_ROW_##type(S, m)
#define O_ROW_STR(S, m) ROW(S, m, FIELD_STR, false, NULL, 0)
#define O_ROW_TEXT(S, m) ROW(S, m, FIELD_STR, false, NULL, LEN(S, m))
#define O_ROW_JSON(S, m) ROW(S, m, FIELD_JSON, false, NULL, 0)
#define O_ROW_OBJECT(S, m) ROW(S, m, FIELD_OBJECT, false, NULL, 0)
#define O_ROW_INT(S, m) ROW(S, m, FIELD_INT, false, NULL, 0)
#define O_ROW_REAL(S, m) ROW(S, m, FIELD_REAL, false, NULL, 0)
#define O_ROW_FLAG(S, m) ROW(S, m, FIELD_FLAG, false, NULL, 0)
#define O_ROW_TRI(S, m) ROW(S, m, FIELD_TRI, false, NULL, 0)

#define K(lower, UPPER, gate, pressure)                                                            \
    static const struct event_field rows_##lower[] = {FIELDS_##lower(R_ROW, O_ROW){.key = NULL}};
EVENT_KINDS(K)
#undef K
static const struct event_field rows_meta[] = {FIELDS_meta(R_ROW, O_ROW){.key = NULL}};

const struct event_field *event_fields(enum tc_kind kind)
{
#define K(lower, UPPER, gate, pressure) [TC_##UPPER] = rows_##lower,
    static const struct event_field *const tables[] = {EVENT_KINDS(K)};
#undef K
    return tables[kind];
}

const struct event_field *event_meta_fields(void)
{
    return rows_meta;
}

/* Default value of each member; members that are not listed (lengths of NULLs) are zero. */
#define R_SET(S, m, type, dflt) R_SET_##type(m, dflt)
#define R_SET_STR(m, dflt) .m = (dflt),
#define R_SET_TEXT(m, dflt) .m = (dflt), .m##_len = sizeof(dflt) - 1,
#define R_SET_LONG_OBJECT(m, dflt) R_SET_TEXT(m, dflt)
#define R_SET_LONG_JSON(m, dflt) R_SET_TEXT(m, dflt)
#define R_SET_FLAG(m, dflt) .m = (dflt),

#define O_SET(S, m, type) O_SET_##type(m)
#define O_SET_STR(m) .m = NULL,
#define O_SET_TEXT(m) .m = NULL,
#define O_SET_JSON(m) .m = NULL,
#define O_SET_INT(m) .m = -1,
#define O_SET_REAL(m) .m = -1,
#define O_SET_FLAG(m) .m = false,
#define O_SET_TRI(m) .m = -1,

#define BLANK_META                                                                                 \
    {                                                                                              \
        .ts = -1, .src = "", .correlation_id = "", .session_id = ""                                \
    }

#define K(lower, UPPER, gate, pressure)                                                            \
    [TC_##UPPER] = {                                                                               \
        .kind = TC_##UPPER, .meta = BLANK_META, .u.lower = {FIELDS_##lower(R_SET, O_SET)}},
static const struct event blanks[] = {EVENT_KINDS(K)};
#undef K

void event_init(struct event *ev, enum tc_kind kind)
{
    *ev = blanks[kind];
    ev->u.meta = &ev->meta;
}

void event_init_resumed(struct event *ev, const char *turn, double ts)
{
    event_init(ev, TC_START);
    ev->meta.ts = ts;
    ev->meta.src = "turncast";
    ev->meta.correlation_id = turn;
    ev->meta.seq = 1;
    ev->u.start.resumed = true;
}

void event_init_text(struct event *ev, enum tc_kind kind, const char *text, size_t len,
                     const char *message_id)
{
    event_init(ev, kind);
    if (kind == TC_THINKING) {
        ev->u.thinking.text = text;
        ev->u.thinking.text_len = len;
        ev->u.thinking.message_id = message_id;
    } else {
        ev->u.narration.text = text;
        ev->u.narration.text_len = len;
        ev->u.narration.message_id = message_id;
    }
}

void event_init_notice(struct event *ev, const char *level, const char *code, const char *text)
{
    event_init(ev, TC_NOTICE);
    ev->u.notice.level = level;
    ev->u.notice.code = code;
    ev->u.notice.text = text;
}

struct str field_get_text(const struct event_field *f, const void *base)
{
    const char *const at = base;
    const char *const text = *(const char *const *)(const void *)(at + f->offset);
    if (!text)
        return (struct str){f->dflt, f->dflt ? strlen(f->dflt) : 0};
    if (f->len_offset)
        return (struct str){text, *(const size_t *)(const void *)(at + f->len_offset)};
    return (struct str){text, strlen(text)};
}
