/* SPDX-License-Identifier: MIT
 * Encodes and decodes the messages. */
#include "core/bus/bus_message.h"

#include <stdio.h>
#include <string.h>

#include "core/bus/bus_stream.h"
#include "event/json/json_reader.h"
#include "event/json/json_writer.h"

/* ---- reading ---- */

/* Copies a text without escapes, truncated to the buffer. */
static void bus_message_read_word(struct json *j, char *to, size_t size)
{
    struct str raw = {0};
    json_reader_read_string(j, &raw);
    snprintf(to, size, "%.*s", (int)(raw.len < size ? raw.len : size - 1), raw.p ? raw.p : "");
}

static uint64_t bus_message_read_seq(struct json *j)
{
    int64_t n = 0;
    return json_reader_read_int(j, &n) && n > 0 ? (uint64_t)n : 0;
}

static const char *bus_message_read_text(struct json *j, struct arena *a)
{
    struct str raw = {0};
    return json_reader_read_string(j, &raw) ? json_reader_unescape(a, raw, NULL) : NULL;
}

static struct str bus_message_first_line(struct str message)
{
    const char *const end = message.len ? memchr(message.p, '\n', message.len) : NULL;
    return end ? (struct str){message.p, (size_t)(end - message.p)} : message;
}

struct str bus_message_value(struct str message, const char *pointer)
{
    return json_reader_is_valid(message) ? json_reader_pointer(message, pointer)
                                         : (struct str){NULL, 0};
}

struct str bus_message_text(struct str message, const char *pointer)
{
    const struct str value = bus_message_value(message, pointer);
    return value.len >= 2 && *value.p == '"' ? (struct str){value.p + 1, value.len - 2} : STR("");
}

int64_t bus_message_number(struct str message, const char *pointer)
{
    const struct str value = bus_message_value(message, pointer);
    struct json j;
    int64_t n = 0;
    json_init(&j, value.p ? value.p : "", value.len);
    return json_reader_read_int(&j, &n) ? n : 0;
}

/* ---- origin ---- */

bool bus_origin_equal(const struct bus_origin *a, const struct bus_origin *b)
{
    return strcmp(a->host, b->host) == 0 && strcmp(a->boot, b->boot) == 0 && a->n == b->n;
}

void bus_origin_write(struct buf *out, const struct bus_origin *from)
{
    jsonw_member_int(out, "v", BUS_VERSION);
    jsonw_key(out, "from");
    buf_add_char(out, '{');
    jsonw_member_str(out, "host", from->host);
    jsonw_member_str(out, "boot", from->boot);
    jsonw_member_int(out, "n", from->n);
    buf_add_char(out, '}');
}

static void bus_origin_read_members(struct json *j, struct bus_origin *from)
{
    struct str key;
    if (!json_reader_enter_object(j))
        return;
    while (json_reader_next_key(j, &key))
        if (str_is(key, "host"))
            bus_message_read_word(j, from->host, sizeof from->host);
        else if (str_is(key, "boot"))
            bus_message_read_word(j, from->boot, sizeof from->boot);
        else if (str_is(key, "n"))
            json_reader_read_int(j, &from->n);
        else
            json_reader_skip(j, NULL);
}

/* Reads members common to all messages. False: another member, which was not consumed. */
static bool bus_message_read_common(struct json *j, struct str key, struct bus_origin *from,
                                    int64_t *version)
{
    if (str_is(key, "v"))
        json_reader_read_int(j, version);
    else if (str_is(key, "from"))
        bus_origin_read_members(j, from);
    else
        return false;
    return true;
}

/* Restricted, because the host's name becomes part of subjects. */
static bool bus_message_is_valid(struct json *j, const struct bus_origin *from, int64_t version)
{
    return json_reader_finish(j) == 0 && version == BUS_VERSION && bus_stream_is_token(from->host);
}

int bus_origin_read(struct str message, struct bus_origin *from)
{
    const struct str line = bus_message_first_line(message);
    struct json j;
    struct str key;
    int64_t version = 0;
    *from = (struct bus_origin){0};
    json_init(&j, line.p, line.len);
    if (!json_reader_enter_object(&j))
        return -1;
    while (json_reader_next_key(&j, &key))
        if (!bus_message_read_common(&j, key, from, &version))
            json_reader_skip(&j, NULL);
    return bus_message_is_valid(&j, from, version) ? 0 : -1;
}

/* ---- batch ---- */

void bus_batch_write(struct buf *out, const struct bus_batch *b, struct str lines)
{
    buf_add_char(out, '{');
    bus_origin_write(out, &b->from);
    jsonw_member_int(out, "after", (int64_t)b->after);
    jsonw_member_int(out, "last", (int64_t)b->last);
    if (b->at_us)
        jsonw_member_int(out, "at_us", b->at_us);
    if (b->then_us.len) {
        jsonw_key(out, "then_us");
        buf_add(out, b->then_us.p, b->then_us.len);
    }
    if (b->more)
        jsonw_member_bool(out, "more", true);
    buf_add_str(out, "}\n");
    buf_add(out, lines.p, lines.len);
}

int bus_batch_read(struct str message, struct bus_batch *b, struct str *lines)
{
    const struct str line = bus_message_first_line(message);
    struct json j;
    struct str key;
    int64_t version = 0;
    *b = (struct bus_batch){0};
    json_init(&j, line.p, line.len);
    if (!json_reader_enter_object(&j))
        return -1;
    while (json_reader_next_key(&j, &key))
        if (str_is(key, "after"))
            b->after = bus_message_read_seq(&j);
        else if (str_is(key, "last"))
            b->last = bus_message_read_seq(&j);
        else if (str_is(key, "at_us"))
            json_reader_read_int(&j, &b->at_us);
        else if (str_is(key, "then_us"))
            json_reader_skip(&j, &b->then_us);
        else if (str_is(key, "more"))
            json_reader_read_bool(&j, &b->more);
        else if (!bus_message_read_common(&j, key, &b->from, &version))
            json_reader_skip(&j, NULL);
    const size_t head = line.len < message.len ? line.len + 1 : line.len;
    *lines = (struct str){message.p + head, message.len - head};
    return bus_message_is_valid(&j, &b->from, version) && b->last >= b->after ? 0 : -1;
}

bool bus_batch_next_line(struct str *lines, struct str *line)
{
    if (!lines->len)
        return false;
    *line = bus_message_first_line(*lines);
    const size_t used = line->len < lines->len ? line->len + 1 : line->len;
    lines->p += used;
    lines->len -= used;
    return true;
}

/* ---- state of a turn ---- */

static const char *const token_keys[TURNLOG_TOKENS] = {
    [TURNLOG_INPUT] = "input_tokens",           [TURNLOG_OUTPUT] = "output_tokens",
    [TURNLOG_CACHE_READ] = "cache_read_tokens", [TURNLOG_CACHE_WRITE] = "cache_write_tokens",
    [TURNLOG_REASONING] = "reasoning_tokens",
};

/* The text member of a turn for a key. */
static const struct bus_state_text {
    const char *key;
    size_t offset;
} texts[] = {
    {"id", offsetof(struct turnlog_turn, spec.id)},
    {"agent", offsetof(struct turnlog_turn, spec.agent)},
    {"conversation", offsetof(struct turnlog_turn, spec.conversation)},
    {"source", offsetof(struct turnlog_turn, spec.source)},
    {"owner", offsetof(struct turnlog_turn, spec.owner)},
    {"task", offsetof(struct turnlog_turn, spec.task)},
    {"instances", offsetof(struct turnlog_turn, spec.instances)},
    {"led", offsetof(struct turnlog_turn, spec.led)},
    {"retry", offsetof(struct turnlog_turn, spec.retry)},
    {"code", offsetof(struct turnlog_turn, code)},
    {"into", offsetof(struct turnlog_turn, into)},
    {"late_result", offsetof(struct turnlog_turn, late_result)},
};

static const struct bus_state_number {
    const char *key;
    size_t offset;
} numbers[] = {
    {"created_ms", offsetof(struct turnlog_turn, created_ms)},
    {"started_ms", offsetof(struct turnlog_turn, started_ms)},
    {"ended_ms", offsetof(struct turnlog_turn, ended_ms)},
    {"first_ms", offsetof(struct turnlog_turn, first_ms)},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char **bus_state_text_at(struct turnlog_turn *t, size_t i)
{
    return (const char **)(void *)((char *)t + texts[i].offset);
}

static int64_t *bus_state_number_at(struct turnlog_turn *t, size_t i)
{
    return (int64_t *)(void *)((char *)t + numbers[i].offset);
}

static void bus_state_write_usage(struct buf *out, const struct turnlog_turn *t)
{
    jsonw_member_int(out, "last_seq", (int64_t)t->last_seq);
    jsonw_member_int(out, "tools", t->tools);
    if (t->cost_usd >= 0)
        jsonw_member_real(out, "cost_usd", t->cost_usd);
    for (size_t i = 0; i < TURNLOG_TOKENS; i++)
        if (t->tokens[i])
            jsonw_member_int(out, token_keys[i], t->tokens[i]);
    if (t->works)
        jsonw_member_bool(out, "works", true);
}

static void bus_state_write_visible(struct buf *out, const struct visibility *v)
{
    if (v->final == SHOW_UNSET)
        return;
    jsonw_key(out, "visible");
    visibility_append_json(out, *v);
}

void bus_state_write(struct buf *out, const struct bus_origin *from, const struct turnlog_turn *t,
                     const char *requests)
{
    struct turnlog_turn copy = *t;
    buf_add_char(out, '{');
    bus_origin_write(out, from);
    jsonw_key(out, "turn");
    buf_add_char(out, '{');
    for (size_t i = 0; i < COUNT(texts); i++)
        jsonw_member_str(out, texts[i].key, *bus_state_text_at(&copy, i));
    jsonw_member_str(out, "state", turnlog_state_name(t->state));
    for (size_t i = 0; i < COUNT(numbers); i++)
        if (*bus_state_number_at(&copy, i))
            jsonw_member_int(out, numbers[i].key, *bus_state_number_at(&copy, i));
    bus_state_write_usage(out, t);
    bus_state_write_visible(out, &t->visible);
    jsonw_member_json(out, "requests", requests);
    buf_add_str(out, "}}");
}

static bool bus_state_read_text(struct json *j, struct str key, struct arena *a,
                                struct turnlog_turn *t)
{
    for (size_t i = 0; i < COUNT(texts); i++)
        if (str_is(key, texts[i].key)) {
            *bus_state_text_at(t, i) = bus_message_read_text(j, a);
            return true;
        }
    return false;
}

static bool bus_state_read_number(struct json *j, struct str key, struct turnlog_turn *t)
{
    for (size_t i = 0; i < COUNT(numbers); i++)
        if (str_is(key, numbers[i].key)) {
            json_reader_read_int(j, bus_state_number_at(t, i));
            return true;
        }
    for (size_t i = 0; i < TURNLOG_TOKENS; i++)
        if (str_is(key, token_keys[i])) {
            json_reader_read_int(j, &t->tokens[i]);
            return true;
        }
    return false;
}

static void bus_state_read_visible(struct json *j, struct visibility *v)
{
    struct str key;
    bool shown;
    if (!json_reader_enter_object(j))
        return;
    while (json_reader_next_key(j, &key)) {
        size_t i = 0;
        while (visibility_key(i) && !str_is(key, visibility_key(i)))
            i++;
        if (visibility_key(i) && json_reader_read_bool(j, &shown))
            *visibility_switch_at(v, i) = shown ? SHOW_ON : SHOW_OFF;
        else if (!visibility_key(i))
            json_reader_skip(j, NULL);
    }
}

static void bus_state_read_rest(struct json *j, struct str key, struct arena *a,
                                struct turnlog_turn *t)
{
    struct str slice = {0};
    int64_t n = 0;
    if (str_is(key, "last_seq"))
        t->last_seq = bus_message_read_seq(j);
    else if (str_is(key, "tools") && json_reader_read_int(j, &n))
        t->tools = n > 0 && n < 1000000000 ? (unsigned)n : 0;
    else if (str_is(key, "cost_usd"))
        json_reader_read_real(j, &t->cost_usd);
    else if (str_is(key, "works"))
        json_reader_read_bool(j, &t->works);
    else if (str_is(key, "visible"))
        bus_state_read_visible(j, &t->visible);
    else if (!str_is(key, "tools"))
        json_reader_skip(j, &slice);
    if (str_is(key, "requests") && slice.len && *slice.p == '[')
        t->requests = arena_strndup(a, slice.p, slice.len);
}

/* False: a required member is missing. */
static bool bus_state_read_turn(struct json *j, struct arena *a, struct turnlog_turn *t)
{
    struct str key, name = {0};
    if (!json_reader_enter_object(j))
        return false;
    while (json_reader_next_key(j, &key))
        if (str_is(key, "state"))
            json_reader_read_string(j, &name);
        else if (!bus_state_read_text(j, key, a, t) && !bus_state_read_number(j, key, t))
            bus_state_read_rest(j, key, a, t);
    return name.p && turnlog_find_state(name, &t->state) && t->spec.id && *t->spec.id;
}

int bus_state_read(struct str message, struct arena *a, struct turnlog_turn *t)
{
    struct json j;
    struct str key;
    struct bus_origin from = {0};
    int64_t version = 0;
    bool is_turn = false;
    *t = (struct turnlog_turn){
        .cost_usd = -1, .visible = {SHOW_UNSET, SHOW_UNSET, SHOW_UNSET, SHOW_UNSET, SHOW_UNSET}};
    json_init(&j, message.p, message.len);
    if (!json_reader_enter_object(&j))
        return -1;
    while (json_reader_next_key(&j, &key))
        if (str_is(key, "turn"))
            is_turn = bus_state_read_turn(&j, a, t);
        else if (!bus_message_read_common(&j, key, &from, &version))
            json_reader_skip(&j, NULL);
    if (!bus_message_is_valid(&j, &from, version) || !is_turn)
        return -1;
    t->spec.host = arena_strdup(a, from.host);
    return 0;
}

/* ---- replies of the servers ---- */

static void bus_ack_read_error(struct json *j, struct bus_ack *ack)
{
    struct str key;
    if (!json_reader_enter_object(j))
        return;
    while (json_reader_next_key(j, &key))
        if (str_is(key, "err_code"))
            json_reader_read_int(j, &ack->error);
        else if (str_is(key, "description"))
            bus_message_read_word(j, ack->text, sizeof ack->text);
        else
            json_reader_skip(j, NULL);
    if (!ack->error)
        ack->error = -1;
}

void bus_ack_read(struct str reply, struct bus_ack *ack)
{
    struct json j;
    struct str key;
    *ack = (struct bus_ack){0};
    json_init(&j, reply.p, reply.len);
    if (!json_reader_enter_object(&j))
        json_reader_skip(&j, NULL);
    while (json_reader_next_key(&j, &key))
        if (str_is(key, "seq"))
            ack->sequence = bus_message_read_seq(&j);
        else if (str_is(key, "error"))
            bus_ack_read_error(&j, ack);
        else
            json_reader_skip(&j, NULL);
    if (json_reader_finish(&j) == 0)
        return;
    *ack = (struct bus_ack){.error = -1};
    snprintf(ack->text, sizeof ack->text, "the reply is not JSON");
}
