/* SPDX-License-Identifier: MIT
 * Shared settings against a bucket that stands in for the servers (by the linker): the test says
 * when each request is answered, and what comes from another host in between. */
#include "core/shared/shared_settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/clock.h"
#include "core/bus/bus_kv.h"
#include "core/fake_ledger.h"
#include "tap/tap.h"

#define KEY "x.a"
#define DEADLINE_MS 60000

/* ---- the servers: one key ---- */

static struct bus_link own_link = {.names = {"tc", "h1"}, .boot = "b1"};
static char stored[300]; /* "": nothing */
static uint64_t revision;
static void (*on_active)(void *ctx);
static nats_client_on_message *on_stored;
static void *settings;

static struct request {
    enum { NONE, NEXT, GET, PUT } kind;
    char value[300];
    uint64_t revision;
    nats_client_on_reply *on_reply;
    void *ctx;
} asked;
static struct bus_kv_entry reply;

struct bus_link *bus_get_link(struct bus *b)
{
    (void)b;
    return &own_link;
}

struct bus_watcher *bus_watch(struct bus *b, void (*active)(void *ctx), void *ctx)
{
    (void)b;
    on_active = active;
    settings = ctx;
    return NULL;
}

void bus_watcher_free(struct bus_watcher *w)
{
    (void)w;
}

struct bus_origin bus_link_next_origin(struct bus_link *l)
{
    return (struct bus_origin){"h1", "b1", ++l->n};
}

struct nats_client_subscription *nats_client_subscribe(struct nats_client *c, const char *subject,
                                                       nats_client_on_message *on_message,
                                                       void *ctx)
{
    (void)c;
    (void)subject;
    (void)ctx;
    on_stored = on_message;
    return NULL;
}

void nats_client_unsubscribe(struct nats_client_subscription *s)
{
    (void)s;
}

void nats_client_forget(struct nats_client *c, const void *ctx)
{
    (void)c;
    (void)ctx;
}

static void ask(int kind, uint64_t at, nats_client_on_reply *on_reply, void *ctx)
{
    if (asked.kind != NONE)
        bail("two requests at once");
    asked = (struct request){.revision = at, .on_reply = on_reply, .ctx = ctx};
    asked.kind = kind;
}

void bus_kv_get(struct bus_link *l, enum bus_stream bucket, const char *key,
                nats_client_on_reply *reply_to, void *ctx)
{
    (void)l;
    (void)bucket;
    (void)key;
    ask(GET, 0, reply_to, ctx);
}

void bus_kv_next(struct bus_link *l, enum bus_stream bucket, const char *keys, uint64_t behind,
                 nats_client_on_reply *reply_to, void *ctx)
{
    (void)l;
    (void)bucket;
    (void)keys;
    ask(NEXT, behind, reply_to, ctx);
}

void bus_kv_put(struct bus_link *l, enum bus_stream bucket, const char *key, struct str value,
                uint64_t expected, nats_client_on_reply *reply_to, void *ctx)
{
    (void)l;
    (void)bucket;
    (void)key;
    ask(PUT, expected, reply_to, ctx);
    snprintf(asked.value, sizeof asked.value, "%.*s", (int)value.len, value.p);
}

void bus_kv_read_entry(const struct bus_link *l, enum bus_stream bucket,
                       enum nats_client_result result, const struct nats_client_message *m,
                       struct bus_kv_entry *entry)
{
    (void)l;
    (void)bucket;
    (void)result;
    (void)m;
    *entry = reply;
}

void bus_kv_read_written(enum nats_client_result result, const struct nats_client_message *m,
                         struct bus_kv_entry *entry)
{
    (void)result;
    (void)m;
    *entry = reply;
}

static void tell(struct bus_kv_entry entry)
{
    const struct request now = asked;
    asked.kind = NONE;
    reply = entry;
    now.on_reply(now.ctx, NATS_CLIENT_REPLIED, NULL);
}

static void answer_read(void)
{
    const bool has = *stored && (asked.kind == GET || revision > asked.revision);
    tell(has ? (struct bus_kv_entry){.result = BUS_KV_DONE,
                                     .revision = revision,
                                     .key = KEY,
                                     .value = {stored, strlen(stored)}}
             : (struct bus_kv_entry){.result = BUS_KV_NONE, .key = ""});
}

static void read_all(void)
{
    own_link.is_active = true;
    on_active(settings);
    while (asked.kind == NEXT)
        answer_read();
}

/* The servers decide about a write; `lost`: its answer does not arrive. */
static void answer_put(bool lost)
{
    const bool fits = asked.revision == revision;
    if (fits) {
        snprintf(stored, sizeof stored, "%s", asked.value);
        revision++;
    }
    tell((struct bus_kv_entry){.result = lost   ? BUS_KV_UNKNOWN
                                         : fits ? BUS_KV_DONE
                                                : BUS_KV_CONFLICT,
                               .revision = fits ? revision : 0,
                               .key = ""});
}

/* What another host has stored; told by its message. */
static void other_stores(int64_t n, int64_t changes, const char *value, bool is_told)
{
    snprintf(stored, sizeof stored,
             "{\"v\":1,\"from\":{\"host\":\"h2\",\"boot\":\"b2\",\"n\":%lld},\"changes\":%lld,"
             "\"value\":%s}",
             (long long)n, (long long)changes, value);
    revision++;
    if (is_told)
        on_stored(settings, &(struct nats_client_message){.subject = "tc.conf." KEY,
                                                          .sequence = revision,
                                                          .data = {stored, strlen(stored)}});
}

/* ---- this host ---- */

static struct journal_async disk;
static struct shared_settings *all;
static struct shared_user *user;
static char changed[100];
static unsigned n_changed;

static void on_known(void *ctx)
{
    (void)ctx;
}

static void on_changed(void *ctx, const char *key, const char *host, const char *value)
{
    (void)ctx;
    (void)host;
    n_changed += strcmp(key, KEY) == 0;
    snprintf(changed, sizeof changed, "%s", value ? value : "deleted");
}

static void begin(void)
{
    *stored = '\0';
    revision = 0;
    asked.kind = NONE;
    own_link.is_active = false;
    n_changed = 0;
    all = shared_settings_new(NULL, &disk, on_known, NULL);
    user = shared_user_join(
        all, &(struct shared_user_spec){.prefix = "x.", .changed = on_changed, .ctx = NULL});
}

static void end(void)
{
    shared_settings_free(all);
    journal_async_kv_put(&disk, "shared:" KEY, NULL, NULL, NULL);
    while (disk.pending)
        loop_run_once(own_link.loop, 10);
}

static bool await_request(int kind)
{
    const int64_t until = clock_mono_ms() + DEADLINE_MS;
    while (asked.kind == NONE && clock_mono_ms() < until)
        loop_run_once(own_link.loop, 50);
    return (int)asked.kind == kind;
}

static int64_t changes(void)
{
    return bus_message_number((struct str){asked.value, strlen(asked.value)}, "/changes");
}

/* ---- tests ---- */

static void test_away(void)
{
    begin();
    shared_put(user, KEY, "1");
    ok(asked.kind == NONE && strcmp(shared_get(user, KEY), "1") == 0,
       "a value stored without a connection is read");
    read_all();
    ok(asked.kind == PUT && !asked.revision && changes() == 1,
       "the value is written after the connection");
    shared_put(user, KEY, "2");
    answer_put(false);
    ok(asked.kind == PUT && asked.revision == 1 && changes() == 2,
       "a value stored meanwhile is written after it");
    answer_put(false);
    ok(asked.kind == NONE && strstr(stored, "\"value\":2"), "nothing else is written");
    other_stores(1, 3, "3", true);
    ok(n_changed == 1 && strcmp(changed, "3") == 0 && asked.kind == NONE,
       "a change of another host is reported");
    shared_put(user, KEY, "4");
    ok(asked.kind == PUT && asked.revision == 3 && changes() == 4,
       "the next local change has the next number");
    answer_put(false);
    shared_put(user, KEY, "4");
    ok(asked.kind == NONE, "an unchanged value is not written");
    revision = 1;
    other_stores(2, 9, "9", true);
    ok(n_changed == 1, "an older message is ignored");
    end();
}

static void test_numbers(void)
{
    begin();
    shared_put(user, KEY, "1");
    other_stores(1, 5, "1", false);
    read_all();
    ok(asked.kind == NONE && !n_changed, "a value that the servers already have is not written");
    shared_put(user, KEY, "2");
    ok(asked.kind == PUT && changes() == 6 && asked.revision == 1,
       "the next change has a higher number than the servers' entry");
    other_stores(2, 6, "3", false);
    answer_put(false);
    ok(asked.kind == GET, "after a conflict the entry is read");
    answer_read();
    ok(asked.kind == PUT && changes() == 7 && asked.revision == 2,
       "the later of two concurrent changes is written with a higher number");
    other_stores(3, 7, "4", false);
    answer_put(false);
    answer_read();
    ok(asked.kind == PUT && changes() == 8 && !n_changed,
       "the write is repeated after each conflict");
    answer_put(false);
    end();
}

static void test_late(void)
{
    begin();
    shared_put(user, KEY, "1");
    read_all();
    const uint64_t was = revision + 1;
    struct request own = asked;
    snprintf(stored, sizeof stored, "%s", own.value);
    revision = was;
    other_stores(1, 2, "2", true);
    tell((struct bus_kv_entry){.result = BUS_KV_DONE, .revision = was, .key = ""});
    ok(asked.kind == GET && !n_changed, "a change of another host before a late answer is read");
    answer_read();
    ok(n_changed == 1 && strcmp(changed, "2") == 0 && asked.kind == NONE,
       "the change of the other host is taken");
    end();
}

static void test_lost(void)
{
    begin();
    shared_put(user, KEY, "1");
    read_all();
    answer_put(true);
    ok(await_request(GET), "after a lost answer the entry is read");
    answer_read();
    ok(asked.kind == NONE && !n_changed, "a write found on the servers is not repeated");
    shared_put(user, KEY, "2");
    answer_put(true);
    other_stores(1, 3, "3", false);
    ok(await_request(GET), "after another lost answer the entry is read");
    answer_read();
    ok(asked.kind == NONE && n_changed == 1 && strcmp(changed, "3") == 0,
       "a write that another host has replaced is not repeated");
    end();
}

static void test_unsure(void)
{
    begin();
    shared_put(user, KEY, "1");
    read_all();
    answer_put(false);
    shared_put(user, KEY, "2");
    other_stores(1, 2, "3", false);
    answer_put(true);
    ok(await_request(GET), "after a lost write the entry is read");
    answer_read();
    ok(asked.kind == PUT && changes() == 3 && !n_changed,
       "a lost write is repeated after the change of another host");
    answer_put(false);
    shared_put(user, KEY, NULL);
    answer_put(true);
    shared_put(user, KEY, "4");
    ok(await_request(GET), "after a lost answer to a deletion the entry is read");
    answer_read();
    ok(asked.kind == PUT && strstr(asked.value, "\"value\":4") && !n_changed,
       "a value stored after the own deletion is written");
    answer_put(false);
    end();
}

static void test_reading(void)
{
    begin();
    other_stores(1, 3, "1", false);
    own_link.is_active = true;
    on_active(settings);
    shared_put(user, KEY, "2");
    ok(asked.kind == NEXT, "nothing is written before all entries are read");
    while (asked.kind == NEXT)
        answer_read();
    ok(asked.kind == PUT && asked.revision == 1 && changes() == 4,
       "the value is written after all entries are read");
    answer_put(false);
    end();
}

static void test_again(void)
{
    begin();
    shared_put(user, KEY, "1");
    read_all();
    answer_put(false);
    own_link.is_active = false;
    *stored = '\0';
    revision = 0;
    read_all();
    ok(asked.kind == PUT && !asked.revision && changes() == 1,
       "an entry that the servers have lost is written again with its number");
    answer_put(false);
    shared_settings_free(all);
    n_changed = 0;
    all = shared_settings_new(NULL, &disk, on_known, NULL);
    user = shared_user_join(
        all, &(struct shared_user_spec){.prefix = "x.", .changed = on_changed, .ctx = NULL});
    ok(strcmp(shared_get(user, KEY), "1") == 0, "a restarted host has the value");
    asked.kind = NONE;
    read_all();
    ok(asked.kind == NONE && !n_changed, "a restarted host writes nothing");
    end();
}

static void count_row(void *ctx, const char *row, const char *text)
{
    (void)row;
    (void)text;
    ++*(unsigned *)ctx;
}

static void test_texts(void)
{
    const char entry[] = "{\"v\":1,\"from\":{\"host\":\"h2\",\"boot\":\"b2\",\"n\":1},"
                         "\"changes\":1,\"value\":{\"k\":\"v\"}}";
    unsigned rows = 0;
    begin();
    own_link.is_active = true;
    on_active(settings);
    tell((struct bus_kv_entry){
        .result = BUS_KV_DONE, .revision = 1, .key = "gw.mx", .value = STR(entry)});
    while (asked.kind == NEXT)
        answer_read();
    on_stored(settings, &(struct nats_client_message){
                            .subject = "tc.conf.gw.mx", .sequence = 2, .data = STR(entry)});
    ok(journal_async_kv_each(&disk, "shared:gw.", count_row, &rows) == JOURNAL_DONE && !rows &&
           asked.kind == NONE,
       "stored texts of an instance are not shared settings");
    end();
}

int main(void)
{
    own_link.loop = disk.loop = loop_new();
    plan_lazy();
    test_away();
    test_numbers();
    test_late();
    test_lost();
    test_unsure();
    test_reading();
    test_again();
    test_texts();
    loop_free(own_link.loop);
    return 0;
}
