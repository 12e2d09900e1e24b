/* SPDX-License-Identifier: MIT
 * Table of streams and buckets. */
#include "core/bus/bus_stream.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "core/bus/bus_message.h"
#include "event/json/json_reader.h"
#include "event/json/json_writer.h"

#define SECOND INT64_C(1000000000) /* JetStream uses nanoseconds */
#define DAY (24 * 60 * 60 * SECOND)
#define MIB (INT64_C(1) << 20)
#define LEASE_LEAST (3 * SECOND)
#define TOKEN_MAX 100 /* names of storage types as in the configuration */

static const struct bus_stream_row {
    const char *name;      /* part behind the prefix in upper case, or name of the bucket */
    const char *subject;   /* part of the subject behind the prefix */
    const char *stored_as; /* part behind the prefix of the subject for republished messages; or
                            * NULL */
    enum bus_stream_kind {
        KIND_STREAM,
        KIND_BUCKET,
        KIND_LEASES, /* a bucket whose entries expire unless renewed */
    } kind;
    int64_t max_age, max_bytes, max_per_subject, max_messages; /* 0, -1: none */
    bool keeps;    /* keep stored messages: a message that does not fit is refused */
    bool is_queue; /* remove each message after its acknowledgement */
} rows[BUS_STREAMS] = {
    [BUS_EVENTS] = {"_EV", ".ev", ".live", KIND_STREAM, DAY, 8192 * MIB, 20000, -1, false, false},
    [BUS_STATES] = {"_STATE", ".state", ".known", KIND_STREAM, DAY, 64 * MIB, 1, 5000, false,
                    false},
    [BUS_HOSTS] = {"_host", "_host", NULL, KIND_LEASES, 0, -1, 1, -1, false, false},
    [BUS_LEADERS] = {"_lead", "_lead", NULL, KIND_LEASES, 0, -1, 1, -1, false, false},
    [BUS_CONF] = {"_conf", "_conf", ".conf", KIND_BUCKET, 0, 64 * MIB, 8, -1, false, false},
    [BUS_TURNS] = {"_TURN", ".turn", NULL, KIND_STREAM, 7 * DAY, 1024 * MIB, -1, -1, true, false},
    [BUS_WORK] = {"_WORK", ".work", NULL, KIND_STREAM, 0, -1, -1, 100000, true, true},
    [BUS_RUNS] = {"_run", "_run", NULL, KIND_BUCKET, 7 * DAY, -1, 1, -1, false, false},
    [BUS_HOMES] = {"_home", "_home", NULL, KIND_BUCKET, 0, -1, 1, -1, false, false},
    [BUS_LOCKS] = {"_lock", "_lock", NULL, KIND_BUCKET, 0, -1, 1, -1, false, false},
};

void bus_stream_name(struct buf *out, const struct bus_names *names, enum bus_stream stream)
{
    const struct bus_stream_row *const row = &rows[stream];
    if (row->kind != KIND_STREAM) {
        buf_printf(out, "KV_%s%s", names->prefix, row->name);
        return;
    }
    for (const char *p = names->prefix; *p; p++)
        buf_add_char(out, (char)toupper((unsigned char)*p));
    buf_add_str(out, row->name);
}

void bus_stream_subject(struct buf *out, const struct bus_names *names, enum bus_stream stream,
                        const char *host, const char *turn)
{
    const struct bus_stream_row *const row = &rows[stream];
    if (row->kind != KIND_STREAM)
        buf_printf(out, "$KV.%s%s.%s", names->prefix, row->subject, host);
    else
        buf_printf(out, "%s%s.%s.%s", names->prefix, row->subject, host, turn);
}

void bus_stream_stored_subject(struct buf *out, const struct bus_names *names,
                               enum bus_stream stream, const char *host, const char *turn)
{
    buf_printf(out, "%s%s.%s", names->prefix, rows[stream].stored_as, host);
    if (rows[stream].kind == KIND_STREAM)
        buf_printf(out, ".%s", turn);
}

void bus_stream_request_subject(struct buf *out, const struct bus_names *names, const char *host,
                                const char *verb)
{
    buf_printf(out, "%s.h.%s.%s", names->prefix, host, verb);
}

bool bus_stream_is_token(const char *id)
{
    const size_t len = strlen(id);
    return len > 0 && len <= TOKEN_MAX &&
           strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == len;
}

void bus_stream_add_token(struct buf *out, const char *text)
{
    buf_add_char(out, 'k');
    for (; *text; text++)
        if (isalnum((unsigned char)*text) || *text == '-')
            buf_add_char(out, *text);
        else
            buf_printf(out, "_%02x", (unsigned)(unsigned char)*text);
}

/* ---- configuration ---- */

/* The subjects of the stream. */
static void bus_stream_add_filter(struct buf *out, const struct bus_names *names,
                                  const struct bus_stream_row *row)
{
    buf_printf(out, "%s%s%s.>", row->kind == KIND_STREAM ? "" : "$KV.", names->prefix,
               row->subject);
}

static void bus_stream_add_republish(struct buf *out, const struct bus_names *names,
                                     const struct bus_stream_row *row)
{
    if (!row->stored_as)
        return;
    buf_add_str(out, ",\"republish\":{\"src\":\"");
    bus_stream_add_filter(out, names, row);
    buf_printf(out, "\",\"dest\":\"%s%s.>\"}", names->prefix, row->stored_as);
}

static int64_t bus_stream_max_age(const struct bus_stream_row *row, int64_t replicas)
{
    return row->kind == KIND_LEASES ? BUS_LEASE_S(replicas) * SECOND : row->max_age;
}

static const char *bus_stream_retention(const struct bus_stream_row *row)
{
    return row->is_queue ? "workqueue" : "limits";
}

void bus_stream_config(struct buf *out, const struct bus_names *names, enum bus_stream stream,
                       int64_t replicas)
{
    const struct bus_stream_row *const row = &rows[stream];
    buf_add_str(out, "{\"name\":\"");
    bus_stream_name(out, names, stream);
    buf_add_str(out, "\",\"subjects\":[\"");
    bus_stream_add_filter(out, names, row);
    buf_add_str(out, "\"],\"storage\":\"file\",\"allow_direct\":true");
    jsonw_member_str(out, "retention", bus_stream_retention(row));
    jsonw_member_str(out, "discard", row->kind == KIND_STREAM && !row->keeps ? "old" : "new");
    jsonw_member_int(out, "max_age", bus_stream_max_age(row, replicas));
    jsonw_member_int(out, "max_bytes", row->max_bytes);
    jsonw_member_int(out, "max_msgs", row->max_messages);
    jsonw_member_int(out, "max_msgs_per_subject", row->max_per_subject);
    jsonw_member_int(out, "num_replicas", replicas);
    jsonw_member_int(out, "duplicate_window",
                     row->kind == KIND_LEASES ? BUS_LEASE_S(replicas) * SECOND : 120 * SECOND);
    bus_stream_add_republish(out, names, row);
    buf_add_char(out, '}');
}

/* ---- check of existing streams ---- */

static void bus_stream_explain(struct buf *why, const char *what)
{
    buf_printf(why, "%s%s", why->len ? ", " : "", what);
}

static bool bus_stream_is_usable(struct str info, const struct bus_names *names,
                                 const struct bus_stream_row *row, struct buf *why)
{
    CLEANUP_BUF struct buf filter = {0}, stored = {0};
    bus_stream_add_filter(&filter, names, row);
    buf_printf(&stored, "%s%s.>", names->prefix, row->stored_as ? row->stored_as : "");
    if (!json_reader_string_is(bus_message_text(info, "/config/subjects/0"), filter.p))
        bus_stream_explain(why, "subjects");
    if (!json_reader_string_is(bus_message_text(info, "/config/retention"),
                               bus_stream_retention(row)))
        bus_stream_explain(why, "retention");
    if (!json_reader_is_valid(info) ||
        !str_is(json_reader_pointer(info, "/config/allow_direct"), "true"))
        bus_stream_explain(why, "allow_direct");
    if (row->stored_as &&
        (!json_reader_string_is(bus_message_text(info, "/config/republish/src"), filter.p) ||
         !json_reader_string_is(bus_message_text(info, "/config/republish/dest"), stored.p)))
        bus_stream_explain(why, "republish");
    if (row->kind == KIND_LEASES && bus_message_number(info, "/config/max_age") < LEASE_LEAST)
        bus_stream_explain(why, "max_age");
    return !why->len;
}

int64_t bus_stream_read_max_age(struct str info)
{
    return bus_message_number(info, "/config/max_age") / (SECOND / 1000);
}

static void bus_stream_compare_limit(struct str info, const char *pointer, int64_t wanted,
                                     struct buf *why)
{
    const int64_t found = bus_message_number(info, pointer);
    if (found != wanted && (found > 0 || wanted > 0))
        buf_printf(why, "%s%s %" PRId64 " instead of %" PRId64, why->len ? ", " : "",
                   strrchr(pointer, '/') + 1, found, wanted);
}

enum bus_stream_fit bus_stream_compare(struct str info, const struct bus_names *names,
                                       enum bus_stream stream, int64_t replicas, struct buf *why)
{
    const struct bus_stream_row *const row = &rows[stream];
    if (!bus_stream_is_usable(info, names, row, why))
        return BUS_STREAM_USELESS;
    bus_stream_compare_limit(info, "/config/max_age", bus_stream_max_age(row, replicas), why);
    bus_stream_compare_limit(info, "/config/max_bytes", row->max_bytes, why);
    bus_stream_compare_limit(info, "/config/max_msgs", row->max_messages, why);
    bus_stream_compare_limit(info, "/config/max_msgs_per_subject", row->max_per_subject, why);
    bus_stream_compare_limit(info, "/config/num_replicas", replicas, why);
    return why->len ? BUS_STREAM_OTHER_LIMITS : BUS_STREAM_SAME;
}
