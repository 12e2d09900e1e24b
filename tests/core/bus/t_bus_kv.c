/* SPDX-License-Identifier: MIT
 * Buckets of keys and values against Debian's nats-server: compare and set, deletion, going through
 * the entries, listening to changes, and no server. */
#include "core/bus/bus_kv.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/sys/clock.h"
#include "io/nats_server.h"
#include "tap/tap.h"

#define DEADLINE_MS 60000

static struct bus_link net = {.names = {"tc", "h1"}, .boot = "b1"};
static bool is_up;

static void on_changed(void *ctx, bool connected, const char *text)
{
    (void)ctx;
    (void)text;
    is_up = connected;
}

static bool await(const bool *flag, bool wanted)
{
    const int64_t end = clock_mono_ms() + DEADLINE_MS;
    while (*flag != wanted && clock_mono_ms() < end)
        loop_run_once(net.loop, 20);
    return *flag == wanted;
}

/* One reply, kept beyond the callback. */
struct answer {
    enum bus_stream bucket;
    bool is_read, is_there;
    struct bus_kv_entry entry;
    char key[100], value[100];
};

static void on_reply(void *ctx, enum nats_client_result result, const struct nats_client_message *m)
{
    struct answer *const a = ctx;
    a->is_there = true;
    if (a->is_read)
        bus_kv_read_entry(&net, a->bucket, result, m, &a->entry);
    else
        bus_kv_read_written(result, m, &a->entry);
    snprintf(a->key, sizeof a->key, "%s", a->entry.key);
    snprintf(a->value, sizeof a->value, "%.*s", (int)a->entry.value.len,
             a->entry.value.p ? a->entry.value.p : "");
}

static struct answer got(enum bus_stream bucket, const char *key)
{
    struct answer a = {.bucket = bucket, .is_read = true};
    bus_kv_get(&net, bucket, key, on_reply, &a);
    await(&a.is_there, true);
    return a;
}

static struct answer next(const char *keys, uint64_t revision)
{
    struct answer a = {.bucket = BUS_CONF, .is_read = true};
    bus_kv_next(&net, BUS_CONF, keys, revision, on_reply, &a);
    await(&a.is_there, true);
    return a;
}

static struct answer put(enum bus_stream bucket, const char *key, const char *value,
                         uint64_t revision)
{
    struct answer a = {0};
    bus_kv_put(&net, bucket, key, (struct str){value, strlen(value)}, revision, on_reply, &a);
    await(&a.is_there, true);
    return a;
}

static struct answer deleted(const char *key, uint64_t revision)
{
    struct answer a = {0};
    bus_kv_delete(&net, BUS_CONF, key, revision, on_reply, &a);
    await(&a.is_there, true);
    return a;
}

static void create_bucket(enum bus_stream bucket)
{
    struct answer a = {0};
    CLEANUP_BUF struct buf subject = {0}, config = {0};
    buf_add_str(&subject, "$JS.API.STREAM.CREATE.");
    bus_stream_name(&subject, &net.names, bucket);
    bus_stream_config(&config, &net.names, bucket, 1);
    const struct nats_client_publication p = {.subject = subject.p, .data = {config.p, config.len}};
    nats_client_request(net.client, &p, BUS_STORE_MS, on_reply, &a);
    await(&a.is_there, true);
    is_str(a.entry.why, "", "the bucket %s is created", subject.p);
}

static void test_compare_and_set(void)
{
    is_int(got(BUS_CONF, "vis.main").entry.result, BUS_KV_NONE,
           "a key that was never written has no entry");
    struct answer a = put(BUS_CONF, "vis.main", "one", 0);
    is_int(a.entry.result, BUS_KV_DONE, "an entry is created");
    const uint64_t first = a.entry.revision;
    is_int(put(BUS_CONF, "vis.main", "other", 0).entry.result, BUS_KV_CONFLICT,
           "an existing entry is not created again");
    a = got(BUS_CONF, "vis.main");
    ok(a.entry.result == BUS_KV_DONE && a.entry.revision == first,
       "the entry is read with its revision");
    is_str(a.value, "one", "the entry has its value");
    is_str(a.key, "vis.main", "the entry has its key");
    a = put(BUS_CONF, "vis.main", "two", first);
    ok(a.entry.result == BUS_KV_DONE && a.entry.revision > first,
       "the entry is updated with its revision");
    is_int(put(BUS_CONF, "vis.main", "late", first).entry.result, BUS_KV_CONFLICT,
           "an update with an old revision is refused");
    is_int(deleted("vis.main", first).entry.result, BUS_KV_CONFLICT,
           "a deletion with an old revision is refused");
    is_str(got(BUS_CONF, "vis.main").value, "two", "the last value is kept after refused requests");
}

static void test_deletion(void)
{
    const struct answer a = put(BUS_CONF, "pair.x.1", "here", 0);
    is_int(deleted("pair.x.1", a.entry.revision).entry.result, BUS_KV_DONE, "an entry is deleted");
    const struct answer mark = got(BUS_CONF, "pair.x.1");
    ok(mark.entry.result == BUS_KV_NONE && mark.entry.revision > a.entry.revision,
       "a deleted entry reads as missing, with a revision");
    is_int(put(BUS_CONF, "pair.x.1", "again", 0).entry.result, BUS_KV_CONFLICT,
           "creating a deleted entry with revision 0 is refused");
    is_int(put(BUS_CONF, "pair.x.1", "again", mark.entry.revision).entry.result, BUS_KV_DONE,
           "a deleted entry is created with the revision of its deletion");
}

static void test_entries(void)
{
    put(BUS_CONF, "list.a", "1", 0);
    const struct answer b = put(BUS_CONF, "list.b", "1", 0);
    put(BUS_CONF, "list.b", "2", b.entry.revision);
    CLEANUP_BUF struct buf found = {0};
    struct answer a = next("list.*", 0);
    for (; a.entry.result == BUS_KV_DONE; a = next("list.*", a.entry.revision))
        buf_printf(&found, "%s=%s ", a.key, a.value);
    is_str(found.p, "list.a=1 list.b=1 list.b=2 ",
           "the iteration returns each version of each key in order");
    ok(a.entry.result == BUS_KV_NONE && !a.entry.revision, "the iteration ends");
}

struct heard {
    bool is_there;
    char text[100];
};

static void on_change(void *ctx, const struct nats_client_message *m)
{
    struct heard *const h = ctx;
    snprintf(h->text, sizeof h->text, "%s=%.*s", m->stored, (int)m->data.len, m->data.p);
    h->is_there = true;
}

static void test_changes(void)
{
    struct heard h = {0};
    CLEANUP_BUF struct buf subject = {0};
    bus_stream_stored_subject(&subject, &net.names, BUS_CONF, ">", NULL);
    struct nats_client_subscription *const s =
        nats_client_subscribe(net.client, subject.p, on_change, &h);
    put(BUS_CONF, "list.b", "refused", 1);
    put(BUS_CONF, "list.c", "1", 0);
    ok(await(&h.is_there, true), "a change is received");
    is_str(h.text, "$KV.tc_conf.list.c=1", "a refused write is not received");
    nats_client_unsubscribe(s);
}

static void test_leases(void)
{
    const struct answer a = put(BUS_LEADERS, "telegram", "h1", 0);
    is_int(a.entry.result, BUS_KV_DONE, "an entry is created in the bucket of leases");
    is_str(got(BUS_LEADERS, "telegram").value, "h1", "the lease has its value");
    is_int(got(BUS_CONF, "telegram").entry.result, BUS_KV_NONE,
           "the other bucket does not have the lease");
}

static void test_without_server(struct nats_server *server)
{
    nats_server_kill(server);
    await(&is_up, false);
    is_int(got(BUS_CONF, "vis.main").entry.result, BUS_KV_UNSENT,
           "without a server a read is not sent");
    is_int(put(BUS_CONF, "vis.main", "x", 0).entry.result, BUS_KV_UNSENT,
           "without a server a write is not sent");
}

int main(void)
{
    struct nats_server server = {0};
    plan_lazy();
    net.loop = loop_new();
    net.client = nats_server_connect(&server, net.loop, on_changed);
    if (!net.client)
        return 0;
    ok(await(&is_up, true), "the client is connected");
    is_int(put(BUS_CONF, "vis.main", "x", 0).entry.result, BUS_KV_REFUSED,
           "a write without a bucket is refused");
    create_bucket(BUS_CONF);
    create_bucket(BUS_LEADERS);
    test_compare_and_set();
    test_deletion();
    test_entries();
    test_changes();
    test_leases();
    test_without_server(&server);
    nats_client_free(net.client);
    loop_free(net.loop);
    return 0;
}
