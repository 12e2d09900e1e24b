/* SPDX-License-Identifier: MIT
 * Tests of plugin/abi/descriptor.h: a descriptor survives packing and unpacking, and an invalid
 * record is refused. */
#include "plugin/abi/descriptor.h"

#include <string.h>

#include "base/bytes/pack.h"
#include "tap/tap.h"

struct conf {
    const char *text;
    int64_t number;
    bool flag;
    double real;
};

static const struct tc_option options[] = {
    TC_OPTION(struct conf, text, "http://a/", TC_SECRET, "a text"),
    TC_OPTION(struct conf, number, NULL, TC_REQUIRED, NULL),
    TC_OPTION(struct conf, flag, "true", 0, "a flag"),
    TC_OPTION(struct conf, real, "0.5", 0, "a number"),
    {0},
};
static const struct tc_rate rates[] = {
    {.count = 30, .interval_ms = 1000},
    {.count = 1, .burst = 3, .interval_ms = 60000, .per_lane = 1},
    {0},
};
static const struct tc_rule rules[] = {
    {.key = "text", .kind = TC_RULE_URL, .text = "https http"},
    {.key = "number", .kind = TC_RULE_DURATION, .text = "ms"},
    {.key = "number", .kind = TC_RULE_RANGE, .min = -5, .max = INT64_MAX},
    {0},
};
static const struct tc_header headers[] = {{"Authorization", "Bearer {option:text}"}};
static const struct tc_plugin model = {
    .size = sizeof(struct tc_plugin),
    .major = TURNCAST_API_MAJOR,
    .flags = TC_DELIVERS,
    .name = "model",
    .version = "1.2",
    .summary = "the summary of a plugin – in UTF-8",
    .conf_size = sizeof(struct conf),
    .state_size = 5,
    .turn_size = 7,
    .options = options,
    .pace_ms = 250,
    .audience = "dashboard",
    .rates = rates,
    .rules = rules,
    .probe = TC_PROBE(.method = "POST", .url = "https://example.org/{option:text}",
                      .headers = headers, .header_count = 1, .ok = "/ok", .reason = "/error",
                      .body = "{}", .header_list = "list", .content_type = "text/plain"),
};
#define HAS (UINT32_C(1) << TC_FINAL | UINT32_C(1) << DESCRIPTOR_TEARDOWN)

static struct tc_err err;

static struct str pack(struct buf *out, const struct tc_plugin *p)
{
    buf_reset(out);
    descriptor_pack(out, p, HAS);
    return (struct str){out->p, out->len};
}

static bool is_same_option(const struct tc_option *a, const struct tc_option *b)
{
    return strcmp(a->key, b->key) == 0 && a->type == b->type && a->offset == b->offset &&
           a->flags == b->flags && !a->dflt == !b->dflt &&
           (!a->dflt || strcmp(a->dflt, b->dflt) == 0) && !a->help == !b->help &&
           (!a->help || strcmp(a->help, b->help) == 0);
}

static void test_round(void)
{
    CLEANUP_BUF struct buf record = {0};
    struct descriptor d;
    is_int(descriptor_validate(&model, &err), 0, "a valid descriptor is accepted");
    const struct str text = pack(&record, &model);
    if (!ok(descriptor_unpack(&d, text, &err) == 0, "the packed descriptor is unpacked: %s",
            err.text))
        return;
    memset(record.p, 'x', record.len); /* the descriptor borrows nothing from the record */
    const struct tc_plugin *const p = &d.plugin;
    ok(p->size == model.size && p->major == model.major && p->minor == 0 &&
           p->flags == TC_DELIVERS && p->pace_ms == 250,
       "the unpacked version numbers");
    ok(p->conf_size == sizeof(struct conf) && p->state_size == 5 && p->turn_size == 7,
       "the unpacked sizes");
    is_str(p->name, "model", "the unpacked name");
    is_str(p->version, "1.2", "the unpacked version");
    is_str(p->summary, model.summary, "the unpacked summary");
    is_str(p->audience, "dashboard", "the unpacked audience");
    for (size_t i = 0; i < 4; i++)
        ok(is_same_option(&p->options[i], &options[i]), "option %s", options[i].key);
    ok(!p->options[4].key, "no further option");
    ok(p->rates[0].count == 30 && p->rates[0].interval_ms == 1000 && p->rates[1].burst == 3 &&
           p->rates[1].per_lane == 1 && !p->rates[2].count,
       "the unpacked rates");
    ok(p->rules[0].kind == TC_RULE_URL && !p->rules[2].text && p->rules[2].min == -5 &&
           p->rules[2].max == INT64_MAX && !p->rules[3].key,
       "the unpacked rules");
    is_str(p->rules[1].key, "number", "the option of a rule");
    is_str(p->rules[1].text, "ms", "the text of a rule");
    is_str(p->probe->url, "https://example.org/{option:text}", "the unpacked probe");
    ok(p->probe->header_count == 1 && strcmp(p->probe->headers->name, "Authorization") == 0 &&
           strcmp(p->probe->ok, "/ok") == 0 && !p->probe->account &&
           strcmp(p->probe->body, "{}") == 0 && strcmp(p->probe->header_list, "list") == 0 &&
           strcmp(p->probe->content_type, "text/plain") == 0,
       "all members of the probe");
    ok(d.has == HAS && !p->init && !p->teardown && !p->sink,
       "the record names the functions, without their addresses");
    descriptor_fini(&d);
}

static void test_bare(void)
{
    static const struct tc_plugin bare = {
        .size = sizeof bare, .major = TURNCAST_API_MAJOR, .name = "b"};
    static const struct tc_option no_options[] = {{0}};
    CLEANUP_BUF struct buf record = {0};
    struct descriptor d;
    ok(descriptor_unpack(&d, pack(&record, &bare), &err) == 0,
       "a descriptor with only a name is unpacked");
    is_str(d.plugin.version, "", "a missing version is empty");
    is_str(d.plugin.summary, "", "a missing summary is empty");
    ok(!d.plugin.options && !d.plugin.rates && !d.plugin.audience && !d.plugin.rules &&
           !d.plugin.probe,
       "other members are missing");
    descriptor_fini(&d);
    static const struct tc_probe old = {
        .size = offsetof(struct tc_probe, body), .url = "https://a", .body = "{}"};
    struct tc_plugin older = bare;
    older.probe = &old;
    ok(descriptor_unpack(&d, pack(&record, &older), &err) == 0 && d.plugin.probe &&
           !d.plugin.probe->body && !d.plugin.probe->header_list && !d.plugin.probe->content_type,
       "a probe of a plugin built for 1.5 has no body");
    descriptor_fini(&d);
    struct tc_plugin empty = bare;
    empty.options = no_options;
    ok(descriptor_unpack(&d, pack(&record, &empty), &err) == 0 && d.plugin.options &&
           !d.plugin.options->key,
       "an empty table of options is not a missing one");
    descriptor_fini(&d);
}

static void test_functions(void)
{
    unsigned named = 0;
    for (size_t i = 0; i < DESCRIPTOR_FUNCTIONS; i++)
        named += descriptor_function_name(i) != NULL;
    is_int(named, DESCRIPTOR_FUNCTIONS, "every function has a name");
    is_str(descriptor_function_name(TC_RAW), "on_raw", "the name of the function of a kind");
    ok(!descriptor_function_name(DESCRIPTOR_FUNCTIONS),
       "the number after the last function has no name");
    struct tc_sink sink = {.size = sizeof sink};
    is_int(descriptor_callback_mask(&model, &sink), 0,
           "a sink without functions has an empty mask");
    memset((char *)&sink + sizeof sink.size, 1, sizeof sink - sizeof sink.size);
    is_int(descriptor_callback_mask(&model, &sink),
           (UINT32_C(1) << DESCRIPTOR_FUNCTIONS) - 1 - (UINT32_C(1) << DESCRIPTOR_INIT) -
               (UINT32_C(1) << DESCRIPTOR_TEARDOWN),
           "a sink with all functions has a full mask");
}

/* ---- hostile records ---- */

static bool is_refused(struct str record)
{
    struct descriptor d;
    err = (struct tc_err){0};
    if (descriptor_unpack(&d, record, &err) < 0)
        return err.text[0] != 0;
    descriptor_fini(&d);
    return false;
}

static void test_cut(void)
{
    CLEANUP_BUF struct buf record = {0};
    const struct str whole = pack(&record, &model);
    bool all = true;
    for (size_t len = 0; len < whole.len; len++)
        all = is_refused((struct str){whole.p, len}) && all;
    ok(all, "a record of %zu bytes that is truncated anywhere is refused", whole.len);
    buf_add_char(&record, 0);
    ok(is_refused((struct str){record.p, record.len}),
       "a record with an additional byte is refused");
    ok(is_refused((struct str){NULL, 0}), "an empty record is refused");
    CLEANUP_BUF struct buf big = {0};
    memset(buf_reserve(&big, DESCRIPTOR_MAX + 1), 0, DESCRIPTOR_MAX + 1);
    ok(is_refused((struct str){big.p, DESCRIPTOR_MAX + 1}), "a record above the limit is refused");
}

/* Replaces a number at each position: the record is refused, or its descriptor is valid. */
static void test_numbers(void)
{
    static const int64_t numbers[] = {-2, -1, 0, 1, 255, 65536, INT32_MAX, INT64_MAX, INT64_MIN};
    CLEANUP_BUF struct buf record = {0};
    const struct str whole = pack(&record, &model);
    bool all = true;
    for (size_t at = 0; at + 8 <= whole.len; at++)
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
            struct descriptor d;
            char was[8];
            memcpy(was, record.p + at, 8);
            memcpy(record.p + at, &numbers[i], 8);
            if (descriptor_unpack(&d, whole, &err) == 0) {
                all = descriptor_validate(&d.plugin, &err) == 0 && all;
                descriptor_fini(&d);
            }
            memcpy(record.p + at, was, 8);
        }
    ok(all, "a record that is accepted is valid, whatever its numbers");
}

static void check_refused(const struct tc_plugin *p, const char *why, const char *what)
{
    CLEANUP_BUF struct buf record = {0};
    ok(is_refused(pack(&record, p)), "%s is refused", what);
    has_str(err.text, why, "the error names the reason");
    ok(descriptor_validate(p, &err) < 0, "the descriptor is also refused before it is packed");
}

/* Well-formed records of invalid descriptors. */
static void test_wrong(void)
{
    static const struct tc_option outside[] = {
        {.key = "o", .type = TC_T_INT, .offset = sizeof(struct conf)}, {0}};
    static const struct tc_option odd[] = {{.key = "o", .type = TC_T_INT, .offset = 4}, {0}};
    static const struct tc_option key[] = {{.key = "No Key"}, {0}};
    static const struct tc_option help[] = {{.key = "o", .help = "two\nlines"}, {0}};
    static const struct tc_option dflt[] = {{.key = "o", .type = TC_T_INT, .dflt = "many"}, {0}};
    static const struct tc_rate slow[] = {{.count = 1, .interval_ms = INT64_MAX}, {0}};
    static const struct tc_option good[] = {{.key = "o", .type = TC_T_INT}, {0}};
    static const struct tc_rule elsewhere[] = {{.key = "p", .kind = TC_RULE_SERVER}, {0}},
                                unsuited[] = {{.key = "o", .kind = TC_RULE_READS}, {0}},
                                dirty[] = {{.key = "o", .kind = TC_RULE_RANGE, .text = "\x1b"},
                                           {0}};
    static const struct tc_probe no_url = {.size = sizeof no_url},
                                 crowded = {.size = sizeof crowded,
                                            .url = "https://a",
                                            .header_count = 99};
    char lengthy[2000];
    memset(lengthy, 'a', sizeof lengthy - 1);
    lengthy[sizeof lengthy - 1] = 0;
    const struct {
        struct tc_plugin p;
        const char *why, *what;
    } rows[] = {
        {{.options = outside}, "does not fit a structure of", "an option outside the structure"},
        {{.options = odd}, "does not fit a structure of", "an option between members"},
        {{.options = key}, "invalid key", "an invalid key"},
        {{.options = help}, "has more than one line", "a help text of two lines"},
        {{.options = dflt}, "expected an integer", "a default of another type"},
        {{.options = good, .rules = elsewhere}, "unknown option", "a rule for an unknown option"},
        {{.options = good, .rules = unsuited}, "does not suit", "a rule for another type"},
        {{.options = good, .rules = dirty},
         "contains control characters",
         "a rule with control characters"},
        {{.rates = slow}, "the interval must be 1 ms to 7 days", "an interval above the limit"},
        {{.summary = "\xff"}, "invalid UTF-8", "a summary that is not UTF-8"},
        {{.summary = "\u202Eback"},
         "contains control characters",
         "a summary with a direction override"},
        {{.version = lengthy}, "is longer than", "a version that is too long"},
        {{.name = "../x"}, "invalid .name", "a path as a name"},
        {{.major = 9}, "built for plugin API 9.0", "another major version"},
        {{.minor = 9}, "requires plugin API 1.9", "a newer minor version"},
        {{.size = 8}, "expected at least", "a structure that is too small"},
        {{.turn_size = ((size_t)1 << 26) + 1},
         "invalid plugin descriptor",
         "a state that is too large"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tc_plugin p = rows[i].p;
        p.size = p.size ? p.size : sizeof p;
        p.major = p.major ? p.major : TURNCAST_API_MAJOR;
        p.name = p.name ? p.name : "wrong";
        p.conf_size = sizeof(struct conf);
        check_refused(&p, rows[i].why, rows[i].what);
    }
    struct tc_plugin probed = {.size = sizeof probed, .major = TURNCAST_API_MAJOR, .name = "wrong"};
    probed.probe = &no_url;
    ok(descriptor_validate(&probed, &err) < 0, "a probe without a URL: %s", err.text);
    probed.probe = &crowded;
    ok(descriptor_validate(&probed, &err) < 0, "a probe with too many headers: %s", err.text);
}

int main(void)
{
    plan_lazy();
    test_round();
    test_bare();
    test_functions();
    test_cut();
    test_numbers();
    test_wrong();
}
