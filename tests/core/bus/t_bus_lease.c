/* SPDX-License-Identifier: MIT
 * Leases against Debian's nats-server, where one lasts for three seconds: of two hosts at most one
 * holds it, when it is free, given up, left by a host that died, and when the server stands still.
 */
#include "core/bus/bus_lease.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/sys/clock.h"
#include "io/nats_server.h"
#include "tap/tap.h"

#define TTL_MS 3000
#define DEADLINE_MS 60000

static struct loop *loop;
static struct nats_client *client;
static bool is_up, is_created;
static bool was_shared; /* two hosts have held it at once */

struct member {
    struct bus_link link;
    struct bus_lease *lease;
    bool is_held;
    unsigned lost;
    char lost_to[BUS_HOST_MAX + 1];
};
static struct member one = {.link = {.names = {"tc", "h1"}, .boot = "b1", .identity = "i1"}};
static struct member two = {.link = {.names = {"tc", "h2"}, .boot = "b2", .identity = "i2"}};

static void on_changed(void *ctx, bool connected, const char *text)
{
    (void)ctx;
    (void)text;
    is_up = connected;
}

static void on_created(void *ctx, enum nats_client_result result,
                       const struct nats_client_message *m)
{
    (void)ctx;
    is_created = result == NATS_CLIENT_REPLIED && m->data.len;
}

static void on_held(void *ctx)
{
    ((struct member *)ctx)->is_held = true;
}

static void on_lost(void *ctx, const char *host, const char *boot)
{
    struct member *const m = ctx;
    (void)boot;
    m->is_held = false;
    m->lost++;
    snprintf(m->lost_to, sizeof m->lost_to, "%s", host);
}

/* Until *flag is `wanted`, or for_ms is over; looks meanwhile that at most one holds the lease. */
static bool run(const bool *flag, bool wanted, int64_t for_ms)
{
    const int64_t end = clock_mono_ms() + for_ms;
    while ((!flag || *flag != wanted) && clock_mono_ms() < end) {
        loop_run_once(loop, 10);
        was_shared |=
            one.lease && two.lease && bus_lease_is_held(one.lease) && bus_lease_is_held(two.lease);
    }
    return flag && *flag == wanted;
}

static void join(struct member *m)
{
    m->link.loop = loop;
    m->link.client = client;
    m->link.lease_ms[BUS_LEADERS] = TTL_MS;
    m->lease = bus_lease_new(&(struct bus_lease_spec){.link = &m->link,
                                                      .bucket = BUS_LEADERS,
                                                      .key = "tg",
                                                      .is_patient = true,
                                                      .held = on_held,
                                                      .lost = on_lost,
                                                      .ctx = m});
    bus_lease_resume(m->lease);
}

/* Without giving anything up, as a host that dies. */
static void die(struct member *m)
{
    bus_lease_free(m->lease);
    m->lease = NULL;
    m->is_held = false;
}

static void create_bucket(void)
{
    CLEANUP_BUF struct buf config = {0};
    buf_add_str(&config, "{\"name\":\"KV_tc_lead\",\"subjects\":[\"$KV.tc_lead.>\"],"
                         "\"allow_direct\":true,\"max_msgs_per_subject\":1,\"discard\":\"new\","
                         "\"duplicate_window\":3000000000,\"max_age\":3000000000}");
    nats_client_request(
        client,
        &(struct nats_client_publication){.subject = "$JS.API.STREAM.CREATE.KV_tc_lead",
                                          .data = {config.p, config.len}},
        5000, on_created, NULL);
    if (!run(&is_created, true, DEADLINE_MS))
        bail("the bucket cannot be created");
}

static void test_free(void)
{
    const int64_t begin = clock_boot_ms();
    join(&one);
    ok(run(&one.is_held, true, DEADLINE_MS), "a free lease is taken");
    ok(clock_boot_ms() - begin >= TTL_MS,
       "a lease is taken after the time in which its holder would have renewed it");
    is_str(bus_lease_holder(one.lease), "h1", "the holder knows itself as the holder");
    join(&two);
    run(NULL, true, TTL_MS + TTL_MS / 2);
    ok(one.is_held && !one.lost && !two.is_held,
       "the lease is renewed, so another host does not get it");
    is_str(bus_lease_holder(two.lease), "h1", "a waiting host knows the holder");
}

static void test_given_up(void)
{
    const int64_t begin = clock_boot_ms();
    bus_lease_release(one.lease);
    die(&one);
    ok(run(&two.is_held, true, DEADLINE_MS), "a released lease is taken by the waiting host");
    ok(clock_boot_ms() - begin < TTL_MS, "a released lease is taken before it expires: %d ms",
       (int)(clock_boot_ms() - begin));
}

static void test_died(void)
{
    join(&one);
    die(&two);
    ok(run(&one.is_held, true, DEADLINE_MS),
       "the lease of a host that was killed is taken after it expires");
    die(&one);
    snprintf(one.link.boot, sizeof one.link.boot, "b3");
    const int64_t begin = clock_boot_ms();
    join(&one);
    ok(run(&one.is_held, true, DEADLINE_MS) && clock_boot_ms() - begin < TTL_MS,
       "a host that was killed takes its own lease at once after its restart");
}

static void test_stopped(struct nats_server *server)
{
    join(&two);
    run(NULL, true, TTL_MS / 3);
    nats_server_stop(server);
    const int64_t begin = clock_boot_ms();
    ok(run(&one.is_held, false, DEADLINE_MS) && !bus_lease_is_held(one.lease),
       "a holder that cannot renew the lease gives it up");
    ok(clock_boot_ms() - begin < TTL_MS, "the lease is given up before it expires: %d ms",
       (int)(clock_boot_ms() - begin));
    is_str(one.lost_to, "", "the new holder is unknown");
    run(NULL, true, TTL_MS / 2);
    kill(server->pid, SIGCONT);
    const int64_t end = clock_mono_ms() + DEADLINE_MS;
    while (!one.is_held && !two.is_held && clock_mono_ms() < end)
        run(NULL, true, 20);
    ok(one.is_held != two.is_held, "one of both hosts has the lease after the server continues");
}

/* A process that was stopped, or a machine that was suspended: the clock knows before any timer. */
static void test_late(void)
{
    struct member *const holder = one.is_held ? &one : &two;
    run(NULL, true, TTL_MS / 2);
    ok(bus_lease_is_held(holder->lease), "the holder has the lease");
    clock_fake(clock_boot_ms() + TTL_MS, 0);
    ok(holder->is_held && !bus_lease_is_held(holder->lease),
       "after a pause longer than the lease the holder does not hold it, although no timer has "
       "fired");
    clock_fake_end();
}

int main(void)
{
    struct nats_server server = {0};
    plan_lazy();
    loop = loop_new();
    client = nats_server_connect(&server, loop, on_changed);
    if (!client)
        return 0;
    ok(run(&is_up, true, DEADLINE_MS), "the client is connected");
    create_bucket();
    test_free();
    test_given_up();
    test_died();
    test_stopped(&server);
    test_late();
    ok(!was_shared, "both hosts never hold the lease at once");
    die(&one);
    die(&two);
    nats_client_free(client);
    loop_free(loop);
    return 0;
}
