/* SPDX-License-Identifier: MIT
 * Texts of instances that this host leads, against a bucket that stands in for the servers (by the
 * linker): the test says when each request is answered, what another leader has stored, and which
 * messages are on the servers. */
#include "core/host/instance_texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "core/bus/bus_kv.h"
#include "core/fake_ledger.h"
#include "core/shared/shared_texts.h"
#include "core/work/work_share.h"
#include "tap/tap.h"

#define DEADLINE_MS 60000
#define LATE_MS 100 /* for servers that do not answer */
#define VALUE_MAX (SHARED_TEXTS_BYTES + 200)

/* ---- the servers: one key ---- */

static struct bus_link own_link = {.names = {"tc", "h1"}, .boot = "b1"};
static char stored[VALUE_MAX]; /* "": nothing */
static uint64_t revision;
static void (*on_active)(void *ctx);
static void *watching;

static struct request {
    enum { NONE, GET, PUT } kind;
    char key[60], value[VALUE_MAX];
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
    watching = ctx;
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

void nats_client_forget(struct nats_client *c, const void *ctx)
{
    (void)c;
    (void)ctx;
    asked.kind = NONE;
}

static void ask(int kind, const char *key, uint64_t at, nats_client_on_reply *on_reply, void *ctx)
{
    if (asked.kind != NONE)
        bail("two requests at once");
    asked.revision = at;
    asked.on_reply = on_reply;
    asked.ctx = ctx;
    asked.kind = kind;
    snprintf(asked.key, sizeof asked.key, "%s", key);
}

void bus_kv_get(struct bus_link *l, enum bus_stream bucket, const char *key,
                nats_client_on_reply *reply_to, void *ctx)
{
    (void)l;
    (void)bucket;
    ask(GET, key, 0, reply_to, ctx);
}

void bus_kv_put(struct bus_link *l, enum bus_stream bucket, const char *key, struct str value,
                uint64_t expected, nats_client_on_reply *reply_to, void *ctx)
{
    (void)l;
    (void)bucket;
    ask(PUT, key, expected, reply_to, ctx);
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
    asked.kind = NONE;
    reply = entry;
    asked.on_reply(asked.ctx, NATS_CLIENT_REPLIED, NULL);
}

static void answer_get(void)
{
    tell(*stored ? (struct bus_kv_entry){.result = BUS_KV_DONE,
                                         .revision = revision,
                                         .key = "",
                                         .value = {stored, strlen(stored)}}
                 : (struct bus_kv_entry){.result = BUS_KV_NONE, .revision = revision, .key = ""});
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

static void host_stores(const char *host, int changes, const char *texts)
{
    snprintf(stored, sizeof stored,
             "{\"v\":1,\"from\":{\"host\":\"%s\",\"boot\":\"b2\",\"n\":1},\"changes\":%d,"
             "\"value\":%s}",
             host, changes, texts);
    revision++;
}

static bool is_put(const char *texts)
{
    char value[300];
    snprintf(value, sizeof value, "\"value\":%s}", texts);
    return asked.kind == PUT && strstr(asked.value, value);
}

/* ---- the other parts of the host ---- */

static struct journal_async disk;
static bool leads;
static uint64_t admitted, known; /* messages: in the journal, and on the servers */
static unsigned warnings;
static char warned[400];

bool instance_leaders_leads(const struct instance_leaders *l, const char *instance)
{
    (void)l;
    return leads && strcmp(instance, "mx") == 0;
}

uint64_t work_share_count(const struct work *w)
{
    (void)w;
    return admitted;
}

bool work_share_is_stored(const struct work *w, const char *source, uint64_t number)
{
    (void)w;
    return strcmp(source, "mx") != 0 || known >= number;
}

static void on_log(void *ctx, enum log_level level, const char *name, const char *text)
{
    (void)ctx;
    (void)name;
    warnings += level == LOG_WARN;
    if (level == LOG_WARN)
        snprintf(warned, sizeof warned, "%s", text);
}

/* ---- this host ---- */

static struct instance_texts *all;
static unsigned n_started;

static void on_prepared(void *ctx, const char *instance)
{
    (void)ctx;
    n_started += strcmp(instance, "mx") == 0;
}

static void save(const char *key, const char *text)
{
    char row[60];
    snprintf(row, sizeof row, CONNECTOR_STORED_ROW "mx:%s", key);
    journal_async_kv_put(&disk, row, text, NULL, NULL);
}

struct found {
    const char *key;
    char text[200];
};

static void on_row(void *ctx, const char *row, const char *text)
{
    struct found *const f = ctx;
    if (strcmp(row, f->key) == 0)
        snprintf(f->text, sizeof f->text, "%s", text);
}

static const char *row_of(const char *key)
{
    static struct found f;
    f = (struct found){.key = key};
    if (journal_async_kv_each(&disk, key, on_row, &f) == JOURNAL_FAILED)
        bail("the journal cannot be read");
    return f.text;
}

/* As the instance does: into the journal first. */
static void store(const char *key, const char *text)
{
    save(key, text);
    instance_texts_store(all, "mx", key, text);
}

static void lead_again(void)
{
    leads = true;
    n_started = 0;
    asked.kind = NONE;
    instance_texts_prepare(all, "mx", on_prepared, NULL);
}

static bool await_request(int kind)
{
    const int64_t until = clock_mono_ms() + DEADLINE_MS;
    while (asked.kind == NONE && clock_mono_ms() < until)
        loop_run_once(own_link.loop, 10);
    return (int)asked.kind == kind;
}

static void await_start(void)
{
    const int64_t until = clock_mono_ms() + DEADLINE_MS;
    while (!n_started && clock_mono_ms() < until)
        loop_run_once(own_link.loop, 10);
}

/* Longer than between two writes. */
static bool stays_silent(void)
{
    const int64_t until = clock_mono_ms() + 200;
    while (clock_mono_ms() < until)
        loop_run_once(own_link.loop, 10);
    return asked.kind == NONE;
}

static void begin(void)
{
    *stored = '\0';
    revision = 0;
    admitted = known = 0;
    warnings = 0;
    *warned = '\0';
    own_link.is_active = true;
    all = instance_texts_new(&(struct instance_texts_spec){
        .work = (struct work *)&admitted, .journal = &disk, .wait_ms = DEADLINE_MS});
    lead_again();
}

static void end(void)
{
    instance_texts_stop(all);
    instance_texts_free(all);
    while (disk.pending)
        loop_run_once(own_link.loop, 10);
    fake_ledger_fini(&disk);
    disk = (struct journal_async){.loop = own_link.loop};
}

/* It leads, and the servers have its first entry. */
static void begin_started(void)
{
    begin();
    await_request(GET);
    answer_get();
    await_request(PUT);
    answer_put(false);
}

/* ---- tests ---- */

static void test_first(void)
{
    begin();
    ok(await_request(GET) && strcmp(asked.key, "gw.mx") == 0 && !n_started,
       "a new leader reads the entry before its instance starts");
    answer_get();
    ok(await_request(PUT) && is_put("{}") && !asked.revision && !n_started,
       "a new leader writes its own entry before its instance starts");
    answer_put(false);
    is_int(n_started, 1, "the instance starts after the write");
    store("position", "1");
    ok(await_request(PUT) && is_put("{\"position\":\"1\"}") && asked.revision == 1,
       "a text that the instance stores is written");
    store("position", "2");
    store("position", "3");
    store("more", "x");
    store("more", NULL);
    answer_put(false);
    ok(asked.kind == NONE && await_request(PUT) && is_put("{\"position\":\"3\"}") &&
           asked.revision == 2,
       "the next write has the newest texts, without removed ones");
    answer_put(false);
    ok(stays_silent(), "nothing else is written");
    is_int((long)instance_texts_get_state(all).written, 3, "the state counts three writes");
    ok(!instance_texts_get_state(all).error, "the state has no error");
    instance_texts_store(all, "other", "k", "v");
    ok(stays_silent(), "texts of an instance without a leader are not written");
    end();
}

static void test_taken(void)
{
    begin();
    save("position", "old");
    save("gone", "x");
    lead_again();
    await_request(GET);
    host_stores("h2", 5, "{\"position\":\"new\",\"more\":\"y\"}");
    answer_get();
    ok(await_request(PUT) && asked.revision == 1 && strstr(asked.value, "\"changes\":6") &&
           is_put("{\"more\":\"y\",\"position\":\"new\"}"),
       "a new leader takes over the texts of the former leader");
    answer_put(false);
    ok(n_started == 1 && strcmp(row_of("stored:mx:position"), "new") == 0 &&
           strcmp(row_of("stored:mx:more"), "y") == 0 && !*row_of("stored:mx:gone"),
       "the journal has the texts when the instance starts");
    is_int(warnings, 0, "no warning is logged");
    end();
}

static void test_own(void)
{
    begin_started();
    store("position", "1");
    await_request(PUT);
    answer_put(false);
    save("position", "2"); /* not written any more in that life */
    lead_again();
    await_request(GET);
    answer_get();
    ok(await_request(PUT) && is_put("{\"position\":\"2\"}"),
       "a host that was the last leader uses its journal, which is newer");
    answer_put(false);
    journal_async_kv_put(&disk, "led:mx", NULL, NULL, NULL);
    save("position", NULL);
    lead_again();
    await_request(GET);
    answer_get();
    ok(await_request(PUT) && is_put("{\"position\":\"2\"}"),
       "a host that has lost its journal uses its entry on the servers");
    answer_put(false);
    end();
}

static void test_order(void)
{
    begin_started();
    admitted = 1;
    store("position", "1");
    ok(stays_silent(), "a position is not written before the message it follows is stored");
    admitted = 2;
    store("position", "2");
    known = 1;
    ok(await_request(PUT) && is_put("{\"position\":\"1\"}"),
       "a position is written when the message it follows is stored");
    answer_put(false);
    ok(stays_silent(), "the next position waits");
    known = 2;
    ok(await_request(PUT) && is_put("{\"position\":\"2\"}"),
       "the message of the next one releases it");
    answer_put(false);
    end();
}

static void test_fenced(void)
{
    begin_started();
    store("position", "1");
    await_request(PUT);
    host_stores("h2", 9, "{\"position\":\"8\"}");
    leads = false;
    answer_put(false);
    if (asked.kind == GET)
        answer_get();
    ok(stays_silent(), "a former leader does not replace the entry of the new leader");
    store("position", "2");
    ok(stays_silent(), "a former leader does not write texts that its instance still stores");
    lead_again();
    await_request(GET);
    answer_get();
    ok(await_request(PUT) && is_put("{\"position\":\"8\"}"),
       "after it leads again it uses the texts of the other leader");
    host_stores("h2", 10, "{\"position\":\"9\"}");
    answer_put(false);
    ok(await_request(GET) && !n_started,
       "after a conflict the entry is read again before the instance starts");
    answer_get();
    ok(await_request(PUT) && is_put("{\"position\":\"9\"}"), "the newer entry is taken over");
    answer_put(false);
    is_int(n_started, 1, "the instance starts after the second write");
    end();
}

static void test_waiting_former(void)
{
    begin_started();
    admitted = 1;
    store("position", "1");
    ok(stays_silent(), "a write waits for a message");
    leads = false;
    known = 1;
    ok(stays_silent(), "the waiting write is dropped when the lead is lost");
    end();
}

static void test_lost(void)
{
    begin_started();
    store("position", "1");
    await_request(PUT);
    answer_put(true);
    ok(await_request(GET), "after a lost answer the entry is read");
    answer_get();
    ok(await_request(PUT) && is_put("{\"position\":\"1\"}") && asked.revision == revision,
       "the write is repeated with the revision that was read");
    answer_put(false);
    *stored = '\0';
    revision = 0;
    on_active(watching);
    ok(await_request(PUT), "after an interruption the texts are written again");
    answer_put(false);
    ok(await_request(GET), "after the servers lost their data the entry is read");
    answer_get();
    ok(await_request(PUT) && !asked.revision && is_put("{\"position\":\"1\"}"),
       "the revision is 0");
    answer_put(false);
    own_link.is_active = false;
    store("position", "2");
    ok(stays_silent(), "without a connection nothing is written");
    own_link.is_active = true;
    on_active(watching);
    ok(await_request(PUT) && is_put("{\"position\":\"2\"}"), "the texts are written later");
    end();
}

static void test_late(void)
{
    begin();
    end();
    all = instance_texts_new(&(struct instance_texts_spec){.journal = &disk, .wait_ms = LATE_MS});
    save("position", "1");
    lead_again();
    await_request(GET);
    await_start();
    ok(n_started == 1 && warnings == 1, "an instance starts although the servers do not answer");
    has_str(warned, "instance mx: the NATS servers have not answered",
            "the log reports that the servers do not answer");
    host_stores("h2", 3, "{\"position\":\"9\"}");
    ok(await_request(PUT), "its texts are written later");
    answer_put(false);
    ok(await_request(GET), "after a conflict the entry is read");
    answer_get();
    ok(await_request(PUT) && is_put("{\"position\":\"1\"}") && n_started == 1,
       "the texts of the running instance replace the entry");
    answer_put(false);
    lead_again();
    await_request(GET);
    leads = false;
    (void)stays_silent();
    ok(!n_started && warnings == 1, "without the lead the instance does not start");
    end();
}

static void test_refused(void)
{
    begin_started();
    store("position", "1");
    await_request(PUT);
    tell((struct bus_kv_entry){.result = BUS_KV_REFUSED, .key = "", .why = "maximum bytes"});
    ok(warnings == 1 && strstr(warned, "maximum bytes"), "the reason of a refusal is logged");
    on_active(watching);
    await_request(PUT);
    tell((struct bus_kv_entry){.result = BUS_KV_REFUSED, .key = "", .why = "maximum bytes"});
    is_int(warnings, 1, "the refusal is logged once");
    const struct instance_texts_state state = instance_texts_get_state(all);
    ok(state.error && strstr(state.error, "instance mx: the NATS servers do not store its texts") &&
           state.error_ms > 0,
       "the refused write is the last error: %s", state.error ? state.error : "none");
    lead_again();
    await_request(GET);
    answer_get();
    await_request(PUT);
    tell((struct bus_kv_entry){.result = BUS_KV_REFUSED, .key = "", .why = "maximum bytes"});
    is_int(n_started, 1, "an instance starts although its write is refused");
    end();
}

static void test_unreadable(void)
{
    begin();
    save("position", "1");
    lead_again();
    await_request(GET);
    host_stores("h2", 3, "[]");
    answer_get();
    ok(warnings == 1 && await_request(PUT) && is_put("{\"position\":\"1\"}"),
       "an invalid entry is replaced, with a warning");
    answer_put(false);
    is_int(n_started, 1, "the instance starts after the replacement");
    end();
}

static void test_size(void)
{
    char *const text = xmalloc(SHARED_TEXTS_BYTES + 1);
    memset(text, 'x', SHARED_TEXTS_BYTES);
    text[SHARED_TEXTS_BYTES] = '\0';
    begin_started();
    instance_texts_store(all, "mx", "long", text);
    instance_texts_store(all, "mx", "position", "1");
    ok(await_request(PUT) && is_put("{\"position\":\"1\"}"), "a text that is too long stays here");
    answer_put(false);
    instance_texts_store(all, "mx", "position", "2");
    await_request(PUT);
    answer_put(false);
    ok(warnings == 1 && strstr(warned, "\"long\""), "an unwritten text causes one warning");
    free(text);
    end();
}

static void test_given(void)
{
    begin_started();
    store("position", "1");
    await_request(PUT);
    answer_put(false);
    store("position", "2");
    instance_texts_flush(all, "mx");
    ok(is_put("{\"position\":\"2\"}"), "a leader that releases its lead writes at once");
    answer_put(false);
    store("position", "3");
    instance_texts_drain(all, 0);
    ok(await_request(PUT) && is_put("{\"position\":\"3\"}"), "a host that exits writes at once");
    answer_put(false);
    end();
}

int main(void)
{
    own_link.loop = disk.loop = loop_new();
    log_divert(on_log, NULL);
    plan_lazy();
    test_first();
    test_taken();
    test_own();
    test_order();
    test_fenced();
    test_waiting_former();
    test_lost();
    test_late();
    test_refused();
    test_unreadable();
    test_size();
    test_given();
    loop_free(own_link.loop);
    return 0;
}
