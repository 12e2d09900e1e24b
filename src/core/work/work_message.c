/* SPDX-License-Identifier: MIT
 * Owns the members of the messages. */
#include "core/work/work_message.h"

#include <nettle/sha2.h>
#include <stdio.h>
#include <string.h>

#include "core/bus/bus_stream.h"
#include "event/codec.h"
#include "event/json/json_reader.h"
#include "event/json/json_writer.h"

#define VERSION_AT 14 /* of a UUID: the digit that says how it was made */
#define UUID_LEN 36

/* A member that is a text, by its key. */
struct work_text {
    const char *key;
    size_t offset;
    bool is_required;
};

static const struct work_text order_texts[] = {
    {"turn", offsetof(struct work_order, turn), true},
    {"agent", offsetof(struct work_order, agent), true},
    {"conversation", offsetof(struct work_order, conversation), true},
    {"source", offsetof(struct work_order, source), true},
    {"gateway", offsetof(struct work_order, gateway), true},
    {"route", offsetof(struct work_order, route), false},
    {"owner", offsetof(struct work_order, owner), false},
    {"instances", offsetof(struct work_order, instances), false},
    {"user", offsetof(struct work_order, user), false},
    {"seen", offsetof(struct work_order, seen), false},
    {"session", offsetof(struct work_order, session), false},
    {"message", offsetof(struct work_order, message), false},
    {"also", offsetof(struct work_order, also), false},
    {"files", offsetof(struct work_order, files), false},
    {"follows", offsetof(struct work_order, follows), false},
    {"shared", offsetof(struct work_order, shared), false},
};

static const struct work_text signal_texts[] = {
    {"turn", offsetof(struct work_signal, turn), true},
    {"agent", offsetof(struct work_signal, agent), true},
    {"source", offsetof(struct work_signal, source), true},
    {"gateway", offsetof(struct work_signal, gateway), true},
    {"fresh", offsetof(struct work_signal, fresh), false},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char **work_text_at(void *object, const struct work_text *text)
{
    return (const char **)(void *)((char *)object + text->offset);
}

static void work_message_write_texts(struct buf *out, void *object, const struct work_text *texts,
                                     size_t n)
{
    for (size_t i = 0; i < n; i++)
        jsonw_member_str(out, texts[i].key, *work_text_at(object, &texts[i]));
}

static int work_message_read_texts(struct str message, struct arena *a, void *object,
                                   const struct work_text *texts, size_t n)
{
    struct bus_origin from;
    if (bus_origin_read(message, &from) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        char pointer[40];
        snprintf(pointer, sizeof pointer, "/%s", texts[i].key);
        const struct str raw = bus_message_text(message, pointer);
        const char *const text = raw.len ? json_reader_unescape(a, raw, NULL) : NULL;
        if (!text && texts[i].is_required)
            return -1;
        *work_text_at(object, &texts[i]) = text;
    }
    return 0;
}

/* ---- a turn ---- */

void work_order_write(struct buf *out, const struct bus_origin *from, const struct work_order *o)
{
    struct work_order copy = *o;
    buf_add_char(out, '{');
    bus_origin_write(out, from);
    work_message_write_texts(out, &copy, order_texts, COUNT(order_texts));
    jsonw_member_int(out, "admitted_ms", o->admitted_ms);
    jsonw_key(out, "prompt");
    jsonw_string(out, o->prompt.p, o->prompt.len);
    buf_add_char(out, '}');
}

int work_order_read(struct str message, struct arena *a, struct work_order *o)
{
    *o = (struct work_order){0};
    if (work_message_read_texts(message, a, o, order_texts, COUNT(order_texts)) < 0)
        return -1;
    const struct str raw = bus_message_text(message, "/prompt");
    const char *const prompt = json_reader_unescape(a, raw, &o->prompt.len);
    o->prompt.p = prompt;
    o->admitted_ms = bus_message_number(message, "/admitted_ms");
    return prompt ? 0 : -1;
}

/* ---- what wakes up ---- */

void work_signal_write(struct buf *out, const struct bus_origin *from, const struct work_signal *s)
{
    struct work_signal copy = *s;
    buf_add_char(out, '{');
    bus_origin_write(out, from);
    work_message_write_texts(out, &copy, signal_texts, COUNT(signal_texts));
    buf_add_char(out, '}');
}

int work_signal_read(struct str message, struct arena *a, struct work_signal *s)
{
    *s = (struct work_signal){0};
    return work_message_read_texts(message, a, s, signal_texts, COUNT(signal_texts));
}

/* ---- an outcome ---- */

void work_outcome_write(struct buf *out, const struct bus_origin *from, struct str lines)
{
    buf_add_char(out, '{');
    bus_origin_write(out, from);
    buf_add_str(out, "}\n");
    buf_add(out, lines.p, lines.len);
}

void work_outcome_write_error(struct buf *out, const struct bus_origin *from, const char *turn,
                              double ts, const char *code, const char *text)
{
    struct event error, done;
    event_init(&error, TC_ERROR);
    event_init(&done, TC_DONE);
    error.u.error.code = code;
    error.u.error.message = text;
    done.u.done.reason = "error";
    error.meta.correlation_id = done.meta.correlation_id = turn;
    error.meta.src = done.meta.src = "turncast";
    error.meta.session_id = done.meta.session_id = "";
    error.meta.ts = done.meta.ts = ts;
    error.meta.seq = 1;
    done.meta.seq = 2;
    error.u.meta = &error.meta;
    done.u.meta = &done.meta;
    work_outcome_write(out, from, STR(""));
    codec_encode(out, &error);
    buf_add_char(out, '\n');
    codec_encode(out, &done);
    buf_add_char(out, '\n');
}

struct str work_outcome_lines(struct str message)
{
    const char *const end = message.len ? memchr(message.p, '\n', message.len) : NULL;
    if (!end)
        return STR("");
    const size_t head = (size_t)(end - message.p) + 1;
    return (struct str){message.p + head, message.len - head};
}

bool work_outcome_is_lost(struct str message)
{
    struct str lines = work_outcome_lines(message), line;
    while (bus_batch_next_line(&lines, &line))
        if (str_is(bus_message_text(line, "/payload/code"), "host_lost"))
            return true;
    return false;
}

/* ---- ids ---- */

bool work_run_id(const char *turn, char run[WORK_ID])
{
    if (strlen(turn) != UUID_LEN)
        return false;
    memcpy(run, turn, UUID_LEN + 1);
    run[VERSION_AT] = 'r';
    return true;
}

/* A UUID of version 8: from a digest, so that nobody can choose a message with the id of another.
 */
void work_turn_id(const char *source, const char *message, char turn[WORK_ID])
{
    uint8_t d[SHA256_DIGEST_SIZE];
    struct sha256_ctx sha;
    size_t at = 0;
    sha256_init(&sha);
    sha256_update(&sha, strlen(source) + 1, (const uint8_t *)source);
    sha256_update(&sha, strlen(message) + 1, (const uint8_t *)message);
    sha256_digest(&sha, sizeof d, d);
    d[6] = (uint8_t)(0x80 | (d[6] & 0x0f));
    d[8] = (uint8_t)(0x80 | (d[8] & 0x3f));
    for (size_t i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            turn[at++] = '-';
        at += (size_t)snprintf(turn + at, WORK_ID - at, "%02x", d[i]);
    }
}

void work_home_key(struct buf *out, const char *sessions, const char *conversation)
{
    bus_stream_add_token(out, sessions);
    buf_add_char(out, '.');
    bus_stream_add_token(out, conversation);
}
