/* SPDX-License-Identifier: MIT
 * Validates a plugin's descriptor. */
#include "plugin/abi/descriptor.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes/pack.h"
#include "base/versioned.h"
#include "chat/chat_options.h"
#include "conf/options/option_rules.h"
#include "conf/options/plugin_options.h"
#include "event/kinds.h"
#include "io/send/request_queue.h"
#include "text/text_clean.h"

#define STATE_MAX ((size_t)(64 << 20)) /* limit of the memory that a plugin may declare */
#define RATE_MAX 1000000
#define INTERVAL_MAX ((int64_t)7 * 86400 * 1000)
#define TEXT_MAX ((size_t)1024)
#define HEADERS_MAX ((size_t)16)
/* Minimum size for a plugin built for 1.4. */
#define PROBE_SIZE_MIN offsetof(struct tc_probe, body)

/* ---- its functions ---- */

typedef void (*function)(void);

#define OF_SINK 1
static const struct function_row {
    const char *name;
    size_t offset;
    int where;
} functions[DESCRIPTOR_FUNCTIONS] = {
#define ROW(lower, upper, gate, pressure)                                                          \
    [TC_##upper] = {"on_" #lower, offsetof(struct tc_sink, on_##lower), OF_SINK},
    EVENT_KINDS(ROW)
#undef ROW
        [DESCRIPTOR_ON_EVENT] = {"on_event", offsetof(struct tc_sink, on_event), OF_SINK},
    [DESCRIPTOR_ON_IDLE] = {"on_idle", offsetof(struct tc_sink, on_idle), OF_SINK},
    [DESCRIPTOR_ON_REPLY] = {"on_reply", offsetof(struct tc_sink, on_reply), OF_SINK},
    [DESCRIPTOR_ON_WAKE] = {"on_wake", offsetof(struct tc_sink, on_wake), OF_SINK},
    [DESCRIPTOR_ON_HIT] = {"on_hit", offsetof(struct tc_sink, on_hit), OF_SINK},
    [DESCRIPTOR_ON_FRAME] = {"on_frame", offsetof(struct tc_sink, on_frame), OF_SINK},
    [DESCRIPTOR_ON_READY] = {"on_ready", offsetof(struct tc_sink, on_ready), OF_SINK},
    [DESCRIPTOR_INIT] = {"init", offsetof(struct tc_plugin, init), 0},
    [DESCRIPTOR_TEARDOWN] = {"teardown", offsetof(struct tc_plugin, teardown), 0},
};
_Static_assert(DESCRIPTOR_FUNCTIONS <= 32, "a bit for each");

const char *descriptor_function_name(size_t n)
{
    return n < DESCRIPTOR_FUNCTIONS ? functions[n].name : NULL;
}

uint32_t descriptor_callback_mask(const struct tc_plugin *plugin, const struct tc_sink *sink)
{
    uint32_t has = 0;
    for (size_t i = 0; i < DESCRIPTOR_FUNCTIONS; i++) {
        const struct function_row *const row = &functions[i];
        const char *const owner = row->where == OF_SINK ? (const char *)sink : (const char *)plugin;
        function fn;
        memcpy(&fn, owner + row->offset, sizeof fn);
        if (fn)
            has |= UINT32_C(1) << i;
    }
    /* The chat engine handles every event, reply and timer of a chat connector. */
    if (plugin->chat || plugin->flags & TC_CHATS)
        has |= ((UINT32_C(1) << TC_KINDS) - 1) | UINT32_C(1) << DESCRIPTOR_ON_REPLY |
               UINT32_C(1) << DESCRIPTOR_ON_WAKE;
    return has;
}

/* ---- checks ---- */

/* Checks the version first, because another major version may change everything else. */
static int check_version(const struct tc_plugin *p, struct tc_err *err)
{
    if (p->major != TURNCAST_API_MAJOR)
        return err_set(
            err, NULL,
            "built for plugin API %u.%u, but this turncast has %d.%d; rebuild the plugin", p->major,
            p->minor, TURNCAST_API_MAJOR, TURNCAST_API_LATEST);
    if (p->minor > TURNCAST_API_LATEST)
        return err_set(err, NULL,
                       "requires plugin API %u.%u, but this turncast has %d.%d; upgrade turncast, "
                       "or build with -DTURNCAST_API_MINOR=%d",
                       p->major, p->minor, TURNCAST_API_MAJOR, TURNCAST_API_LATEST,
                       TURNCAST_API_LATEST);
    if (p->size < DESCRIPTOR_PLUGIN_MIN)
        return err_set(err, NULL, "turncast_plugin has %u bytes; expected at least %zu", p->size,
                       DESCRIPTOR_PLUGIN_MIN);
    return 0;
}

bool descriptor_is_name(const char *name)
{
    const size_t n = strnlen(name, DESCRIPTOR_NAME_MAX + 1);
    return n > 0 && n <= DESCRIPTOR_NAME_MAX && name[0] >= 'a' && name[0] <= 'z' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") == n;
}

/* Texts are printed to terminals and logs. `lines`: several lines are permitted. */
static int descriptor_check_text(const char *what, const char *text, bool lines, struct tc_err *err)
{
    const size_t n = text ? strnlen(text, TEXT_MAX + 1) : 0;
    CLEANUP_BUF struct buf clean = {0};
    if (n > TEXT_MAX)
        return err_set(err, NULL, "%s is longer than %zu bytes", what, TEXT_MAX);
    text_clean_append(&clean, text, n);
    if (clean.len != n || (n && memcmp(clean.p, text, n) != 0))
        return err_set(err, NULL, "%s contains control characters or invalid UTF-8", what);
    if (!lines && n && memchr(text, '\n', n))
        return err_set(err, NULL, "%s has more than one line", what);
    return 0;
}

static int descriptor_check_texts(const struct tc_plugin *p, struct tc_err *err)
{
    if (!p->name || !descriptor_is_name(p->name))
        return err_set(err, NULL, "invalid .name; use [a-z][a-z0-9_-]*, at most %zu characters",
                       DESCRIPTOR_NAME_MAX);
    if (descriptor_check_text(".version", p->version, false, err) < 0 ||
        descriptor_check_text(".summary", p->summary, false, err) < 0 ||
        descriptor_check_text(".audience", p->audience, false, err) < 0)
        return -1;
    return 0;
}

static int check_sizes(const struct tc_plugin *p, struct tc_err *err)
{
    const struct {
        const char *what;
        size_t n;
    } sizes[] = {
        {"conf_size", p->conf_size}, {"state_size", p->state_size}, {"turn_size", p->turn_size}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i].n > STATE_MAX)
            return err_set(err, NULL, "%s is %zu; the maximum is %zu", sizes[i].what, sizes[i].n,
                           STATE_MAX);
    return 0;
}

/* First the texts, then the contents of rows. */
static int check_options(const struct tc_plugin *p, struct tc_err *err)
{
    if (plugin_options_check_table(p, err) < 0)
        return -1;
    for (const struct tc_option *o = p->options; o && o->key; o++) {
        char what[128];
        snprintf(what, sizeof what, "the default of option \"%s\"", o->key);
        if (descriptor_check_text(what, o->dflt, true, err) < 0)
            return -1;
        snprintf(what, sizeof what, "the help of option \"%s\"", o->key);
        if (descriptor_check_text(what, o->help, false, err) < 0)
            return -1;
    }
    return 0;
}

/* Texts that check_options does not check, because they are only printed. */
static int check_rule_texts(const struct tc_rule *rules, struct tc_err *err)
{
    for (; rules && rules->key; rules++)
        if (descriptor_check_text("the text of a rule", rules->text, false, err) < 0)
            return -1;
    return 0;
}

static int check_probe(const struct tc_probe *p, struct tc_err *err)
{
    if (!p)
        return 0;
    if (p->size < PROBE_SIZE_MIN)
        return err_set(err, NULL, "probe has %zu bytes; expected at least %zu", p->size,
                       PROBE_SIZE_MIN);
    if (!p->url || p->header_count > HEADERS_MAX)
        return err_set(err, NULL, p->url ? "probe has too many headers" : "probe has no url");
    struct tc_probe all;
    versioned_copy(&all, sizeof all, p);
    const char *const texts[] = {p->method, p->url,   p->ok,           p->account,
                                 p->reason, all.body, all.header_list, all.content_type};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (descriptor_check_text("a text of the probe", texts[i], false, err) < 0)
            return -1;
    for (size_t i = 0; i < p->header_count; i++)
        if (!p->headers[i].name || !p->headers[i].value ||
            descriptor_check_text("a header of the probe", p->headers[i].name, false, err) < 0 ||
            descriptor_check_text("a header of the probe", p->headers[i].value, false, err) < 0)
            return err_set(err, NULL, "probe: invalid header %zu", i);
    return 0;
}

static const char *descriptor_find_rate_fault(const struct tc_rate *r)
{
    if (r->interval_ms < 1 || r->interval_ms > INTERVAL_MAX)
        return "the interval must be 1 ms to 7 days";
    if (r->count > RATE_MAX || r->burst > RATE_MAX)
        return "too fast";
    return r->per_lane == 0 || r->per_lane == 1 ? NULL : "per_lane must be 0 or 1";
}

static int check_rates(const struct tc_rate *rates, struct tc_err *err)
{
    for (int i = 0; rates && rates[i].count; i++) {
        if (i == SEND_MAX_RATES)
            return err_set(err, NULL, "too many rates; the maximum is %d", SEND_MAX_RATES);
        const char *const fault = descriptor_find_rate_fault(&rates[i]);
        if (fault)
            return err_set(err, NULL, "rate %d: %s", i, fault);
    }
    return 0;
}

/* Only for a linked plugin: a serialised descriptor has no chat table. */
static int check_chat(const struct tc_plugin *p, struct tc_err *err)
{
    const char *const fault = p->chat ? chat_options_find_fault(p, p->chat) : NULL;
    return fault ? err_set(err, NULL, "chat: %s", fault) : 0;
}

int descriptor_validate(const struct tc_plugin *p, struct tc_err *err)
{
    if (check_version(p, err) < 0 || descriptor_check_texts(p, err) < 0 ||
        check_sizes(p, err) < 0 || check_options(p, err) < 0 ||
        check_rule_texts(p->rules, err) < 0 || check_probe(p->probe, err) < 0 ||
        check_chat(p, err) < 0)
        return -1;
    return check_rates(p->rates, err);
}

/* ---- serialisation ---- */

static void pack_options(struct buf *out, const struct tc_option *rows)
{
    size_t n = 0;
    while (rows && rows[n].key)
        n++;
    pack_bool(out, rows != NULL);
    pack_int64(out, (int64_t)n);
    for (size_t i = 0; i < n; i++) {
        pack_string(out, rows[i].key);
        pack_int64(out, (int64_t)rows[i].type);
        pack_int64(out, (int64_t)rows[i].offset);
        pack_string(out, rows[i].dflt);
        pack_int64(out, rows[i].flags);
        pack_string(out, rows[i].help);
    }
}

static void pack_rates(struct buf *out, const struct tc_rate *rates)
{
    size_t n = 0;
    while (rates && rates[n].count)
        n++;
    pack_bool(out, rates != NULL);
    pack_int64(out, (int64_t)n);
    for (size_t i = 0; i < n; i++) {
        pack_int64(out, rates[i].count);
        pack_int64(out, rates[i].burst);
        pack_int64(out, rates[i].interval_ms);
        pack_int64(out, rates[i].per_lane);
    }
}

static void pack_rules(struct buf *out, const struct tc_rule *rules)
{
    size_t n = 0;
    while (rules && rules[n].key)
        n++;
    pack_bool(out, rules != NULL);
    pack_int64(out, (int64_t)n);
    for (size_t i = 0; i < n; i++) {
        pack_string(out, rules[i].key);
        pack_int64(out, (int64_t)rules[i].kind);
        pack_string(out, rules[i].text);
        pack_int64(out, rules[i].min);
        pack_int64(out, rules[i].max);
    }
}

static void pack_probe(struct buf *out, const struct tc_probe *p)
{
    pack_bool(out, p != NULL);
    if (!p)
        return;
    struct tc_probe all;
    versioned_copy(&all, sizeof all, p);
    pack_string(out, p->method);
    pack_string(out, p->url);
    pack_string(out, p->ok);
    pack_string(out, p->account);
    pack_string(out, p->reason);
    pack_string(out, all.body);
    pack_string(out, all.header_list);
    pack_string(out, all.content_type);
    pack_bool(out, all.address);
    pack_int64(out, (int64_t)p->header_count);
    for (size_t i = 0; i < p->header_count; i++) {
        pack_string(out, p->headers[i].name);
        pack_string(out, p->headers[i].value);
    }
}

void descriptor_pack(struct buf *out, const struct tc_plugin *p, uint32_t has)
{
    pack_int64(out, p->size);
    pack_int64(out, p->major);
    pack_int64(out, p->minor);
    pack_int64(out, p->flags);
    pack_string(out, p->name);
    pack_string(out, p->version ? p->version : "");
    pack_string(out, p->summary ? p->summary : "");
    pack_int64(out, (int64_t)p->conf_size);
    pack_int64(out, (int64_t)p->state_size);
    pack_int64(out, (int64_t)p->turn_size);
    pack_options(out, p->options);
    pack_int64(out, p->pace_ms);
    pack_string(out, p->audience);
    pack_rates(out, p->rates);
    pack_rules(out, p->rules);
    pack_probe(out, p->probe);
    pack_int64(out, has);
}

static uint32_t descriptor_unpack_u32(struct unpacker *u)
{
    return (uint32_t)unpack_count(u, UINT32_MAX);
}

/* Decodes a table, with an end mark. NULL: absent. */
static void *descriptor_read_table(struct unpacker *u, struct arena *a, size_t max, size_t row,
                                   size_t *n)
{
    const bool there = unpack_flag(u);
    *n = unpack_count(u, max);
    u->bad = u->bad || (!there && *n);
    if (u->bad || !there)
        return NULL;
    return arena_alloc(a, (*n + 1) * row);
}

static const struct tc_option *descriptor_read_options(struct unpacker *u, struct arena *a)
{
    size_t n;
    struct tc_option *const rows = descriptor_read_table(u, a, OPTIONS_MAX, sizeof *rows, &n);
    for (size_t i = 0; rows && i < n; i++) {
        struct tc_option *const o = &rows[i];
        o->key = unpack_required_string(u);
        o->type = (enum tc_type)unpack_count(u, TC_T_LIST);
        o->offset = unpack_count(u, STATE_MAX);
        o->dflt = unpack_text(u);
        o->flags = descriptor_unpack_u32(u);
        o->help = unpack_text(u);
    }
    return rows;
}

/* A row with count 0 would end the table. */
static const struct tc_rate *descriptor_read_rates(struct unpacker *u, struct arena *a)
{
    size_t n;
    struct tc_rate *const rates = descriptor_read_table(u, a, SEND_MAX_RATES, sizeof *rates, &n);
    for (size_t i = 0; rates && i < n; i++) {
        rates[i].count = descriptor_unpack_u32(u);
        rates[i].burst = descriptor_unpack_u32(u);
        rates[i].interval_ms = unpack_number(u);
        rates[i].per_lane = (int)unpack_count(u, 1);
        u->bad = u->bad || !rates[i].count;
    }
    return rates;
}

static const struct tc_rule *descriptor_read_rules(struct unpacker *u, struct arena *a)
{
    size_t n;
    struct tc_rule *const rules = descriptor_read_table(u, a, OPTION_RULES_MAX, sizeof *rules, &n);
    for (size_t i = 0; rules && i < n; i++) {
        rules[i].key = unpack_required_string(u);
        rules[i].kind = (enum tc_rule_kind)unpack_count(u, TC_RULE_HEX);
        rules[i].text = unpack_text(u);
        rules[i].min = unpack_number(u);
        rules[i].max = unpack_number(u);
    }
    return rules;
}

static const struct tc_probe *descriptor_read_probe(struct unpacker *u, struct arena *a)
{
    if (!unpack_flag(u) || u->bad)
        return NULL;
    struct tc_probe *const p = arena_alloc(a, sizeof *p);
    p->size = sizeof *p;
    p->method = unpack_text(u);
    p->url = unpack_required_string(u);
    p->ok = unpack_text(u);
    p->account = unpack_text(u);
    p->reason = unpack_text(u);
    p->body = unpack_text(u);
    p->header_list = unpack_text(u);
    p->content_type = unpack_text(u);
    p->address = unpack_flag(u);
    p->header_count = unpack_count(u, HEADERS_MAX);
    struct tc_header *const headers = arena_alloc(a, (p->header_count + 1) * sizeof *headers);
    for (size_t i = 0; i < p->header_count; i++) {
        headers[i].name = unpack_required_string(u);
        headers[i].value = unpack_required_string(u);
    }
    p->headers = headers;
    return p;
}

static void descriptor_read_all(struct unpacker *u, struct descriptor *d)
{
    struct tc_plugin *const p = &d->plugin;
    p->size = descriptor_unpack_u32(u);
    p->major = descriptor_unpack_u32(u);
    p->minor = descriptor_unpack_u32(u);
    p->flags = descriptor_unpack_u32(u);
    p->name = unpack_required_string(u);
    p->version = unpack_required_string(u);
    p->summary = unpack_required_string(u);
    p->conf_size = unpack_count(u, STATE_MAX);
    p->state_size = unpack_count(u, STATE_MAX);
    p->turn_size = unpack_count(u, STATE_MAX);
    p->options = descriptor_read_options(u, &d->arena);
    p->pace_ms = descriptor_unpack_u32(u);
    p->audience = unpack_text(u);
    p->rates = descriptor_read_rates(u, &d->arena);
    p->rules = descriptor_read_rules(u, &d->arena);
    p->probe = descriptor_read_probe(u, &d->arena);
    d->has = (uint32_t)unpack_count(u, (UINT32_C(1) << DESCRIPTOR_FUNCTIONS) - 1);
}

static int descriptor_read_record(struct descriptor *d, struct str record)
{
    struct unpacker u;
    if (record.len > DESCRIPTOR_MAX)
        return -1;
    unpack_init(&u, (struct str){arena_memdup(&d->arena, record.p, record.len), record.len});
    descriptor_read_all(&u, d);
    return unpack_finish(&u);
}

int descriptor_unpack(struct descriptor *d, struct str record, struct tc_err *err)
{
    *d = (struct descriptor){0};
    const int rc = descriptor_read_record(d, record) < 0
                       ? err_set(err, NULL, "invalid plugin descriptor")
                       : descriptor_validate(&d->plugin, err);
    if (rc < 0)
        descriptor_fini(d);
    return rc;
}

void descriptor_fini(struct descriptor *d)
{
    arena_fini(&d->arena);
    *d = (struct descriptor){0};
}
