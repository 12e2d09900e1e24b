/* SPDX-License-Identifier: MIT
 * Tests of plugin/abi/descriptor.h: what comes back from a record, and that no record is believed.
 */
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
    .summary = "what a plugin says of itself – in UTF-8",
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

static struct str packed(struct buf *out, const struct tc_plugin *p)
{
    buf_reset(out);
    descriptor_pack(out, p, HAS);
    return (struct str){out->p, out->len};
}

static bool same_option(const struct tc_option *a, const struct tc_option *b)
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
    is_int(descriptor_validate(&model, &err), 0, "a good one");
    const struct str text = packed(&record, &model);
    if (!ok(descriptor_unpack(&d, text, &err) == 0, "comes back: %s", err.text))
        return;
    memset(record.p, 'x', record.len); /* nothing of it is borrowed */
    const struct tc_plugin *const p = &d.plugin;
    ok(p->size == model.size && p->major == model.major && p->minor == 0 &&
           p->flags == TC_DELIVERS && p->pace_ms == 250,
       "its numbers");
    ok(p->conf_size == sizeof(struct conf) && p->state_size == 5 && p->turn_size == 7, "its sizes");
    is_str(p->name, "model", "its name");
    is_str(p->version, "1.2", "its version");
    is_str(p->summary, model.summary, "its summary");
    is_str(p->audience, "dashboard", "its audience");
    for (size_t i = 0; i < 4; i++)
        ok(same_option(&p->options[i], &options[i]), "option %s", options[i].key);
    ok(!p->options[4].key, "  and no more");
    ok(p->rates[0].count == 30 && p->rates[0].interval_ms == 1000 && p->rates[1].burst == 3 &&
           p->rates[1].per_lane == 1 && !p->rates[2].count,
       "its rates");
    ok(p->rules[0].kind == TC_RULE_URL && !p->rules[2].text && p->rules[2].min == -5 &&
           p->rules[2].max == INT64_MAX && !p->rules[3].key,
       "its rules");
    is_str(p->rules[1].key, "number", "  their options");
    is_str(p->rules[1].text, "ms", "  their texts");
    is_str(p->probe->url, "https://example.org/{option:text}", "its probe");
    ok(p->probe->header_count == 1 && strcmp(p->probe->headers->name, "Authorization") == 0 &&
           strcmp(p->probe->ok, "/ok") == 0 && !p->probe->account &&
           strcmp(p->probe->body, "{}") == 0 && strcmp(p->probe->header_list, "list") == 0 &&
           strcmp(p->probe->content_type, "text/plain") == 0,
       "  with all its members");
    ok(d.has == HAS && !p->init && !p->teardown && !p->sink, "which functions it has, not they");
    descriptor_fini(&d);
}

static void test_bare(void)
{
    static const struct tc_plugin bare = {
        .size = sizeof bare, .major = TURNCAST_API_MAJOR, .name = "b"};
    static const struct tc_option no_options[] = {{0}};
    CLEANUP_BUF struct buf record = {0};
    struct descriptor d;
    ok(descriptor_unpack(&d, packed(&record, &bare), &err) == 0, "one with a name only");
    is_str(d.plugin.version, "", "no version");
    is_str(d.plugin.summary, "", "no summary");
    ok(!d.plugin.options && !d.plugin.rates && !d.plugin.audience && !d.plugin.rules &&
           !d.plugin.probe,
       "the rest is not there");
    descriptor_fini(&d);
    static const struct tc_probe old = {
        .size = offsetof(struct tc_probe, body), .url = "https://a", .body = "{}"};
    struct tc_plugin older = bare;
    older.probe = &old;
    ok(descriptor_unpack(&d, packed(&record, &older), &err) == 0 && d.plugin.probe &&
           !d.plugin.probe->body && !d.plugin.probe->header_list && !d.plugin.probe->content_type,
       "a probe of a plugin built for 1.5 has no body");
    descriptor_fini(&d);
    struct tc_plugin empty = bare;
    empty.options = no_options;
    ok(descriptor_unpack(&d, packed(&record, &empty), &err) == 0 && d.plugin.options &&
           !d.plugin.options->key,
       "no options are not an absent table");
    descriptor_fini(&d);
}

static void test_functions(void)
{
    unsigned named = 0;
    for (size_t i = 0; i < DESCRIPTOR_FUNCTIONS; i++)
        named += descriptor_function_name(i) != NULL;
    is_int(named, DESCRIPTOR_FUNCTIONS, "every function has a name");
    is_str(descriptor_function_name(TC_RAW), "on_raw", "that of a kind");
    ok(!descriptor_function_name(DESCRIPTOR_FUNCTIONS), "and no other has");
    struct tc_sink sink = {.size = sizeof sink};
    is_int(descriptor_callback_mask(&model, &sink), 0, "none are none");
    memset((char *)&sink + sizeof sink.size, 1, sizeof sink - sizeof sink.size);
    is_int(descriptor_callback_mask(&model, &sink),
           (UINT32_C(1) << DESCRIPTOR_FUNCTIONS) - 1 - (UINT32_C(1) << DESCRIPTOR_INIT) -
               (UINT32_C(1) << DESCRIPTOR_TEARDOWN),
           "all of the sink are all of the sink");
}

/* ---- hostile records ---- */

static bool refuses(struct str record)
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
    const struct str whole = packed(&record, &model);
    bool all = true;
    for (size_t len = 0; len < whole.len; len++)
        all = refuses((struct str){whole.p, len}) && all;
    ok(all, "cut anywhere within %zu bytes it is refused", whole.len);
    buf_add_char(&record, 0);
    ok(refuses((struct str){record.p, record.len}), "and with a byte too many");
    ok(refuses((struct str){NULL, 0}), "nothing is refused");
    CLEANUP_BUF struct buf big = {0};
    memset(buf_reserve(&big, DESCRIPTOR_MAX + 1), 0, DESCRIPTOR_MAX + 1);
    ok(refuses((struct str){big.p, DESCRIPTOR_MAX + 1}), "too much is refused");
}

/* A number anywhere becomes another one: refused, or a descriptor that passes. */
static void test_numbers(void)
{
    static const int64_t numbers[] = {-2, -1, 0, 1, 255, 65536, INT32_MAX, INT64_MAX, INT64_MIN};
    CLEANUP_BUF struct buf record = {0};
    const struct str whole = packed(&record, &model);
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
    ok(all, "what is taken passes the check, whatever its numbers");
}

static void refused(const struct tc_plugin *p, const char *why, const char *what)
{
    CLEANUP_BUF struct buf record = {0};
    ok(refuses(packed(&record, p)), "%s is refused", what);
    has_str(err.text, why, "  says why");
    ok(descriptor_validate(p, &err) < 0, "  before it is packed, too");
}

/* Records that are well formed, of what cannot be. */
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
        {{.options = outside}, "does not fit a structure of", "an option outside"},
        {{.options = odd}, "does not fit a structure of", "an option between members"},
        {{.options = key}, "invalid key", "a bad key"},
        {{.options = help}, "has more than one line", "a help of two lines"},
        {{.options = dflt}, "expected an integer", "a default of another type"},
        {{.options = good, .rules = elsewhere}, "unknown option", "a rule for no option"},
        {{.options = good, .rules = unsuited}, "does not suit", "one for another type"},
        {{.options = good, .rules = dirty}, "contains control characters", "one that is no text"},
        {{.rates = slow}, "the interval must be 1 ms to 7 days", "a rate for ever"},
        {{.summary = "\xff"}, "invalid UTF-8", "a summary that is no text"},
        {{.summary = "\u202Eback"}, "contains control characters", "one that turns around"},
        {{.version = lengthy}, "is longer than", "a version without end"},
        {{.name = "../x"}, "invalid .name", "a path as a name"},
        {{.major = 9}, "built for plugin API 9.0", "another major"},
        {{.minor = 9}, "requires plugin API 1.9", "a newer minor"},
        {{.size = 8}, "expected at least", "a short struct"},
        {{.turn_size = ((size_t)1 << 26) + 1}, "invalid plugin descriptor", "a state without end"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tc_plugin p = rows[i].p;
        p.size = p.size ? p.size : sizeof p;
        p.major = p.major ? p.major : TURNCAST_API_MAJOR;
        p.name = p.name ? p.name : "wrong";
        p.conf_size = sizeof(struct conf);
        refused(&p, rows[i].why, rows[i].what);
    }
    struct tc_plugin probed = {.size = sizeof probed, .major = TURNCAST_API_MAJOR, .name = "wrong"};
    probed.probe = &no_url;
    ok(descriptor_validate(&probed, &err) < 0, "a probe without a URL: %s", err.text);
    probed.probe = &crowded;
    ok(descriptor_validate(&probed, &err) < 0, "one with too many headers: %s", err.text);
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
