/* SPDX-License-Identifier: MIT
 * Locks of conversations on a bus whose servers are not there: which conversations go on, and that
 * all others wait for as long as it takes. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/sys/clock.h"
#include "core/conversation/host_reply.h"
#include "core/lock/turn_lock.h"
#include "io/loop/loop.h"
#include "tap/tap.h"

#define DEADLINE_MS 60000
#define DAY_MS 86400000

/* Nobody listens there. */
static char url[] = "nats://127.0.0.1:9", *urls[] = {url, NULL};
static char own_name[] = "h1", other_name[] = "h2", agent_name[] = "main", *hosts_of_agent[3];
static struct conf_agent agent = {.name = agent_name, .runners.hosts = hosts_of_agent};

static struct life {
    struct loop *loop;
    struct conf conf;
    struct journal_async *journal;
    struct settings_worker *settings;
    struct session_store *sessions;
    struct turnlog *turnlog;
    struct bus *bus;
    struct work_hosts *hosts;
    struct turn_locks *locks;
    unsigned changes;
} h;

static void on_changed(void *ctx, const char *conversation, enum turn_lock_state state)
{
    (void)ctx;
    (void)conversation;
    (void)state;
    h.changes++;
}

static void on_renewed(void *ctx, const char *conversation, int64_t until_ms)
{
    (void)ctx;
    (void)conversation;
    (void)until_ms;
}

static void on_lost(void *ctx, const char *conversation)
{
    (void)ctx;
    (void)conversation;
}

/* A host on the bus; others: what its journal says of other hosts, or NULL. */
static void life_begin(const char *others)
{
    static const struct turn_lock_events events = {on_changed, on_renewed, on_lost};
    static char dir[300];
    static unsigned n;
    struct tc_err err = {0};
    snprintf(dir, sizeof dir, "%s/h%u", tap_tmpdir(), n++);
    h = (struct life){.loop = loop_new(),
                      .conf = {.state_dir = dir,
                               .host_name = own_name,
                               .agents = &agent,
                               .n_agents = 1,
                               .bus = {.urls = urls,
                                       .prefix = "tc",
                                       .replicas = 1,
                                       .is_gateway = true,
                                       .is_runner = true,
                                       .lost_after_ms = 1000,
                                       .move_after_ms = 1000}}};
    h.journal = journal_async_open(h.loop, dir, NULL, NULL, &err);
    if (!h.journal)
        bail("%s", err_format(&err));
    if (others)
        journal_async_kv_put(h.journal, "lock:others", others, NULL, NULL);
    h.settings = settings_worker_new(h.loop, &h.conf);
    h.sessions = session_store_new(h.journal, h.settings);
    h.turnlog = turnlog_new(h.loop, NULL);
    h.bus =
        bus_new(&(struct bus_spec){.loop = h.loop, .conf = &h.conf, .turnlog = h.turnlog}, &err);
    if (!h.bus)
        bail("%s", err_format(&err));
    h.hosts = work_hosts_new(h.bus);
    h.locks = turn_locks_new(h.loop, h.journal, h.settings, h.sessions, own_name);
    turn_locks_set_bus(h.locks, h.bus, h.hosts, h.conf.bus.lost_after_ms);
    turn_locks_set_conf(h.locks, &h.conf);
    turn_locks_set_events(h.locks, &events, NULL);
}

static void life_end(void)
{
    turn_locks_close(h.locks);
    work_hosts_free(h.hosts);
    bus_free(h.bus);
    settings_worker_free(h.settings);
    journal_async_close(h.journal);
    turn_locks_free(h.locks);
    session_store_free(h.sessions);
    turnlog_free(h.turnlog);
    loop_free(h.loop);
}

/* The state of a lock once it was asked for. */
static enum turn_lock_state want(const char *conversation)
{
    const int64_t end = clock_mono_ms() + DEADLINE_MS;
    turn_lock_want(h.locks, conversation);
    while (turn_lock_state(h.locks, conversation) == TURN_LOCK_REQUESTED && clock_mono_ms() < end)
        loop_run_once(h.loop, 20);
    return turn_lock_state(h.locks, conversation);
}

/* ---- what is tested ---- */

static void test_waits(void)
{
    CLEANUP_BUF struct buf reply = {0};
    static char key[] = "new";
    life_begin("1");
    ok(turn_locks_are_on_bus(h.locks), "the locks are on the bus");
    is_int(want("new"), TURN_LOCK_UNREACHABLE, "a conversation that another host may have waits");
    host_reply_unlocked(&reply, &(struct conversation){.key = key, .n_waiting = 1}, h.locks);
    is_str(reply.p, "Queued until the connection to the other hosts is back.",
           "the notice has the reason");
    clock_fake_advance(DAY_MS);
    /* Each of them asks for all that wait once more. */
    want("second");
    want("third");
    is_int(turn_lock_state(h.locks, "new"), TURN_LOCK_UNREACHABLE,
           "the conversation still waits after a day");
    is_int((long)h.changes, 3, "the lock reports no other change");
    life_end();
}

static void test_goes_on(void)
{
    life_begin("1");
    journal_async_kv_put(h.journal, "here:own", "1", NULL, NULL);
    is_int(want("own"), TURN_LOCK_HELD, "a conversation that this host had last continues");
    life_end();
}

static void test_alone(void)
{
    life_begin(NULL);
    is_int(want("any"), TURN_LOCK_HELD, "a host that knows of no other host does not wait");
    hosts_of_agent[0] = own_name;
    turn_locks_set_conf(h.locks, &h.conf);
    is_int(want("own"), TURN_LOCK_HELD,
           "a host whose configuration names only itself does not wait");
    hosts_of_agent[1] = other_name;
    turn_locks_set_conf(h.locks, &h.conf);
    is_int(want("other"), TURN_LOCK_UNREACHABLE,
           "a host whose configuration names another host waits");
    hosts_of_agent[0] = hosts_of_agent[1] = NULL;
    turn_locks_set_conf(h.locks, &h.conf);
    is_int(want("later"), TURN_LOCK_HELD,
           "after the other host is removed from the configuration the host does not wait");
    life_end();
    life_begin("0");
    is_int(want("any"), TURN_LOCK_HELD, "a host that met no other host before does not wait");
    life_end();
}

int main(void)
{
    plan_lazy();
    clock_fake(0, 1795780800); /* 2026-11-27 12:00 UTC */
    test_waits();
    test_goes_on();
    test_alone();
    clock_fake_end();
    return 0;
}
