/* SPDX-License-Identifier: MIT
 * Stored form of a request: a line of JSON, then its body unchanged. The line is readable; its
 * placeholders are not replaced, so it contains no secrets. */
#include <string.h>

#include "event/json/json_reader.h"
#include "event/json/json_writer.h"
#include "plugin/outbound.h"

#define FORM_VERSION 1
#define FORM_PARTS 2 /* version of a record with parts, whose data follow the body */

static void pack_headers(struct buf *out, const struct tc_http *http)
{
    jsonw_key(out, "headers");
    buf_add_char(out, '[');
    for (size_t i = 0; i < http->header_count; i++) {
        const struct tc_header *const h = &http->headers[i];
        buf_add_str(out, i ? ",[" : "[");
        jsonw_string(out, h->name, strlen(h->name));
        buf_add_char(out, ',');
        jsonw_string(out, h->value, strlen(h->value));
        buf_add_char(out, ']');
    }
    buf_add_char(out, ']');
}

static void pack_part_text(struct buf *out, const char *text)
{
    if (text)
        jsonw_string(out, text, strlen(text));
    else
        buf_add_str(out, "null");
    buf_add_char(out, ',');
}

static void pack_parts(struct buf *out, const struct tc_http *http)
{
    jsonw_key(out, "parts");
    buf_add_char(out, '[');
    for (size_t i = 0; i < http->part_count; i++) {
        const struct tc_part *const p = &http->parts[i];
        buf_add_str(out, i ? ",[" : "[");
        pack_part_text(out, p->name);
        pack_part_text(out, p->file_name);
        pack_part_text(out, p->type);
        buf_printf(out, "%zu]", p->len);
    }
    buf_add_char(out, ']');
}

void outbound_request_pack(struct buf *out, const struct outbound_request *l)
{
    const struct tc_http *const http = &l->http;
    buf_add_char(out, '{');
    jsonw_member_int(out, "v", http->part_count ? FORM_PARTS : FORM_VERSION);
    jsonw_member_str(out, "method", http->method);
    jsonw_member_str(out, "url", http->url);
    if (http->header_count)
        pack_headers(out, http);
    jsonw_member_str(out, "content_type", http->content_type);
    jsonw_member_str(out, "lane", http->lane);
    jsonw_member_int(out, "priority", http->priority);
    jsonw_member_str(out, "key", http->key);
    jsonw_member_int(out, "rates", http->rates);
    jsonw_member_int(out, "flags", http->flags);
    jsonw_member_int(out, "timeout_ms", http->timeout_ms);
    jsonw_member_int(out, "max_age_ms", http->max_age_ms);
    jsonw_member_int(out, "delay_ms", http->delay_ms);
    jsonw_member_str(out, "tag", http->tag);
    if (http->body)
        jsonw_member_int(out, "body", (int64_t)http->body_len);
    if (http->part_count)
        pack_parts(out, http);
    buf_add_str(out, "}\n");
    buf_add(out, http->body ? http->body : "", http->body_len);
    for (size_t i = 0; i < http->part_count; i++)
        buf_add(out, http->parts[i].data, http->parts[i].len);
}

/* The line as it is read. */
struct packed_request {
    struct tc_http http;
    struct tc_header headers[64];
    struct tc_part parts[OUTBOUND_MAX_PARTS];
    int64_t version, priority, rates, flags, body;
    struct arena arena;
};

static const char *outbound_pack_read_text(struct json *j, struct arena *a)
{
    struct str raw = {0};
    return json_reader_read_string(j, &raw) ? json_reader_unescape(a, raw, NULL) : NULL;
}

static void read_headers(struct json *j, struct packed_request *p)
{
    if (!json_reader_enter_array(j))
        return;
    while (json_reader_next_element(j)) {
        const char *pair[2] = {NULL, NULL};
        size_t n = 0;
        if (!json_reader_enter_array(j))
            continue;
        for (; json_reader_next_element(j); n++)
            if (n < 2)
                pair[n] = outbound_pack_read_text(j, &p->arena);
            else
                json_reader_skip(j, NULL);
        if (p->http.header_count < sizeof p->headers / sizeof *p->headers)
            p->headers[p->http.header_count] = (struct tc_header){pair[0], pair[1]};
        p->http.header_count++; /* too large: outbound_request_new refuses it */
    }
}

/* [name, file_name, type, len] */
static struct tc_part read_part(struct json *j, struct arena *a)
{
    const char *texts[3] = {NULL, NULL, NULL};
    int64_t len = -1;
    for (size_t n = 0; json_reader_next_element(j); n++)
        if (n < 3)
            texts[n] = outbound_pack_read_text(j, a);
        else
            json_reader_read_int(j, &len);
    return (struct tc_part){texts[0], texts[1], texts[2], NULL, len < 0 ? SIZE_MAX : (size_t)len};
}

static void read_parts(struct json *j, struct packed_request *p)
{
    if (!json_reader_enter_array(j))
        return;
    for (; json_reader_next_element(j); p->http.part_count++) {
        const bool is_part = json_reader_enter_array(j);
        const struct tc_part part =
            is_part ? read_part(j, &p->arena) : (struct tc_part){.len = SIZE_MAX};
        if (p->http.part_count < OUTBOUND_MAX_PARTS)
            p->parts[p->http.part_count] = part;
    }
}

static bool outbound_pack_read_number(struct json *j, struct str key, struct packed_request *p)
{
    const struct {
        const char *key;
        int64_t *to;
    } numbers[] = {
        {"v", &p->version},
        {"priority", &p->priority},
        {"rates", &p->rates},
        {"flags", &p->flags},
        {"timeout_ms", &p->http.timeout_ms},
        {"max_age_ms", &p->http.max_age_ms},
        {"delay_ms", &p->http.delay_ms},
        {"body", &p->body},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (str_is(key, numbers[i].key)) {
            json_reader_read_int(j, numbers[i].to);
            return true;
        }
    return false;
}

static bool outbound_pack_read_member(struct json *j, struct str key, struct packed_request *p)
{
    const struct {
        const char *key;
        const char **to;
    } texts[] = {
        {"method", &p->http.method}, {"url", &p->http.url},
        {"lane", &p->http.lane},     {"content_type", &p->http.content_type},
        {"key", &p->http.key},       {"tag", &p->http.tag},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (str_is(key, texts[i].key)) {
            *texts[i].to = outbound_pack_read_text(j, &p->arena);
            return true;
        }
    return false;
}

static int outbound_pack_read_line(struct packed_request *p, struct str line)
{
    struct json j;
    struct str key;
    if (!json_reader_open_object(&j, line))
        return -1;
    while (json_reader_next_key(&j, &key)) {
        if (str_is(key, "headers"))
            read_headers(&j, p);
        else if (str_is(key, "parts"))
            read_parts(&j, p);
        else if (!outbound_pack_read_number(&j, key, p) && !outbound_pack_read_member(&j, key, p))
            json_reader_skip(&j, NULL);
    }
    return json_reader_finish(&j);
}

/* The data of the parts are consecutive. False: they do not match the line. */
static bool assemble_parts(struct packed_request *p, struct str data)
{
    for (size_t i = 0; i < p->http.part_count; i++) {
        struct tc_part *const part = &p->parts[i];
        if (part->len > data.len)
            return false;
        part->data = part->len ? data.p : "";
        data.p += part->len;
        data.len -= part->len;
    }
    p->http.parts = p->parts;
    return data.len == 0;
}

/* Assembles the request; returns a static error text, or NULL. */
static const char *outbound_pack_assemble(struct packed_request *p, struct str body)
{
    if (p->version != (p->http.part_count ? FORM_PARTS : FORM_VERSION))
        return "the record has an unknown version";
    if (p->http.part_count > OUTBOUND_MAX_PARTS)
        return "too many parts";
    const size_t own = p->body < 0 ? 0 : (size_t)p->body;
    if (p->body < -1 || own > body.len ||
        !assemble_parts(p, (struct str){body.p + own, body.len - own}))
        return "the record is truncated";
    body.len = own;
    if (p->priority < 0 || p->priority > TC_P_LIVE || p->rates < 0 || p->rates > UINT32_MAX ||
        p->flags < 0 || p->flags > UINT32_MAX)
        return "the record has a number out of range";
    p->http.size = sizeof p->http;
    p->http.headers = p->headers;
    p->http.priority = (enum tc_priority)p->priority;
    p->http.rates = (uint32_t)p->rates;
    p->http.flags = (uint32_t)p->flags;
    if (p->body >= 0)
        p->http.body = body.len ? body.p : "";
    p->http.body_len = body.len;
    return NULL;
}

struct outbound_request *outbound_unpack(uint64_t id, const char *turn, struct str record,
                                         const char **why)
{
    struct packed_request p = {.body = -1};
    struct outbound_request *l = NULL;
    const char *const line_end = record.len ? memchr(record.p, '\n', record.len) : NULL;
    *why = "invalid record";
    if (line_end &&
        outbound_pack_read_line(&p, (struct str){record.p, (size_t)(line_end - record.p)}) == 0) {
        const size_t head = (size_t)(line_end - record.p) + 1;
        *why = outbound_pack_assemble(&p, (struct str){record.p + head, record.len - head});
        l = *why ? NULL : outbound_request_new(id, turn, &p.http, why);
    }
    arena_fini(&p.arena);
    return l;
}
