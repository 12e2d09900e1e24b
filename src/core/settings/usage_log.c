/* SPDX-License-Identifier: MIT
 * Owns the sums of instances in memory, and their encoding in the journal: six numbers each. */
#include "core/settings/usage_log.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/bytes/buf.h"
#include "base/cleanup.h"
#include "base/sys/clock.h"
#include "event/json/json_reader.h"

#define DAY_KEY "usage-day:"
#define INSTANCES_MAX 1000
#define COST_MAX 1e9 /* dollars: a larger value is invalid */

/* Sums of instances are kept in memory, because several turns of an instance may end at once. */
struct usage_day {
    struct usage_day *next;
    char *instance;
    int64_t day; /* as 20261127 */
    struct usage_sum sum;
};

struct usage_log {
    struct journal_async *journal;
    struct usage_day *days;
    size_t n;
};

/* ---- encoding ---- */

static void usage_sum_add(struct usage_sum *to, const struct usage_sum *s)
{
    to->turns += s->turns;
    to->counted += s->counted;
    to->input += s->input;
    to->output += s->output;
    to->priced += s->priced;
    to->micros += s->micros;
}

static void usage_sum_write(struct buf *out, const struct usage_sum *s)
{
    buf_printf(out, "%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n",
               s->turns, s->counted, s->input, s->output, s->priced, s->micros);
}

/* Returns the remaining text. */
static char *usage_sum_parse(const char *text, struct usage_sum *s)
{
    int64_t *const numbers[] = {&s->turns,  &s->counted, &s->input,
                                &s->output, &s->priced,  &s->micros};
    char *end = (char *)(uintptr_t)text;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = strtoll(end, &end, 10);
    return end;
}

static int64_t read_number(struct str value)
{
    struct json j;
    int64_t n = 0;
    json_init(&j, value.p, value.len);
    return json_reader_read_int(&j, &n) && n > 0 && n < INT64_C(1) << 50 ? n : 0;
}

static int64_t read_micros(struct str value)
{
    struct json j;
    double cost = -1;
    json_init(&j, value.p, value.len);
    return json_reader_read_real(&j, &cost) && cost >= 0 && cost < COST_MAX
               ? (int64_t)(cost * 1e6 + 0.5)
               : -1;
}

struct usage_sum usage_log_read_turn(struct str usage)
{
    struct usage_sum s = {.turns = 1};
    struct json j;
    struct str key, value;
    int64_t cached = 0;
    bool counts_cached = false;
    json_reader_open_object(&j, usage);
    while (usage.len && json_reader_next_member(&j, &key, &value)) {
        if (str_is(key, "input_tokens"))
            s.input = read_number(value);
        else if (str_is(key, "output_tokens"))
            s.output = read_number(value);
        else if (str_is(key, "cache_read_tokens") || str_is(key, "cache_write_tokens"))
            cached += read_number(value);
        else if (str_is(key, "cache_counted"))
            counts_cached = str_is(value, "true");
        else if (str_is(key, "cost_usd"))
            s.micros = read_micros(value);
    }
    s.input += counts_cached ? 0 : cached;
    s.counted = s.input || s.output;
    s.priced = s.micros > 0;
    s.micros = s.priced ? s.micros : 0;
    return s;
}

/* ---- days of instances ---- */

static int64_t local_day(void)
{
    const time_t now = (time_t)clock_wall_s();
    struct tm t;
    localtime_r(&now, &t);
    return (t.tm_year + 1900) * INT64_C(10000) + (t.tm_mon + 1) * 100 + t.tm_mday;
}

/* NULL: too many. */
static struct usage_day *usage_log_find_day(struct usage_log *u, const char *instance)
{
    struct usage_day *d = u->days;
    while (d && strcmp(d->instance, instance) != 0)
        d = d->next;
    if (d || u->n >= INSTANCES_MAX)
        return d;
    d = xcalloc(1, sizeof *d);
    *d = (struct usage_day){.next = u->days, .instance = xstrdup(instance)};
    u->days = d;
    u->n++;
    return d;
}

static void usage_log_read_day(void *ctx, const char *key, const char *value)
{
    struct usage_day *const d = usage_log_find_day(ctx, key + strlen(DAY_KEY));
    char *rest;
    if (!d)
        return;
    d->day = strtoll(value, &rest, 10);
    usage_sum_parse(rest, &d->sum);
}

static void usage_day_begin(struct usage_day *d)
{
    const int64_t today = local_day();
    if (d->day != today)
        d->sum = (struct usage_sum){0};
    d->day = today;
}

static void usage_log_add_day(struct usage_log *u, const char *instance,
                              const struct usage_sum *turn)
{
    struct usage_day *const d = usage_log_find_day(u, instance);
    CLEANUP_FREE char *key = xasprintf(DAY_KEY "%s", instance);
    CLEANUP_BUF struct buf text = {0};
    if (!d)
        return;
    usage_day_begin(d);
    usage_sum_add(&d->sum, turn);
    buf_printf(&text, "%" PRId64 " ", d->day);
    usage_sum_write(&text, &d->sum);
    journal_async_kv_put(u->journal, key, text.p, NULL, NULL);
}

/* ---- conversations ---- */

static char *usage_key(const char *conversation)
{
    return xasprintf("usage:%s", conversation);
}

struct usage_addition {
    struct usage_log *log;
    char *key;
    struct usage_sum turn;
};

/* The last turn, followed by the sum. */
static void usage_log_on_read(void *ctx, enum journal_status status, const char *text)
{
    struct usage_addition *const a = ctx;
    struct usage_sum last, sum = {0};
    CLEANUP_BUF struct buf out = {0};
    if (status == JOURNAL_DONE)
        usage_sum_parse(usage_sum_parse(text, &last), &sum);
    usage_sum_add(&sum, &a->turn);
    usage_sum_write(&out, &a->turn);
    usage_sum_write(&out, &sum);
    if (status == JOURNAL_DONE || status == JOURNAL_NO_CHANGE)
        journal_async_kv_put(a->log->journal, a->key, out.p, NULL, NULL);
    free(a->key);
    free(a);
}

void usage_log_add(struct usage_log *u, const char *instance, const char *conversation,
                   const struct usage_sum *turn)
{
    struct usage_addition *const a = xmalloc(sizeof *a);
    usage_log_add_day(u, instance, turn);
    *a = (struct usage_addition){.log = u, .key = usage_key(conversation), .turn = *turn};
    journal_async_kv_get(u->journal, a->key, usage_log_on_read, a);
}

struct usage_lookup {
    struct usage_report report;
    void (*done)(void *ctx, const struct usage_report *report);
    void *ctx;
};

static void usage_log_on_report(void *ctx, enum journal_status status, const char *text)
{
    struct usage_lookup *const q = ctx;
    if (status == JOURNAL_DONE)
        usage_sum_parse(usage_sum_parse(text, &q->report.last), &q->report.conversation);
    q->done(q->ctx, &q->report);
    free(q);
}

void usage_log_report(struct usage_log *u, const char *instance, const char *conversation,
                      void (*done)(void *ctx, const struct usage_report *report), void *ctx)
{
    struct usage_lookup *const q = xcalloc(1, sizeof *q);
    struct usage_day *const d = usage_log_find_day(u, instance);
    CLEANUP_FREE char *key = usage_key(conversation);
    if (d) {
        usage_day_begin(d);
        q->report.today = d->sum;
    }
    q->done = done;
    q->ctx = ctx;
    journal_async_kv_get(u->journal, key, usage_log_on_report, q);
}

struct usage_log *usage_log_new(struct journal_async *journal)
{
    struct usage_log *const u = xcalloc(1, sizeof *u);
    u->journal = journal;
    /* A read error is logged by the journal; the sums begin at zero. */
    (void)journal_async_kv_each(journal, DAY_KEY, usage_log_read_day, u);
    return u;
}

void usage_log_free(struct usage_log *u)
{
    for (struct usage_day *d = u ? u->days : NULL, *next; d; d = next) {
        next = d->next;
        free(d->instance);
        free(d);
    }
    free(u);
}
