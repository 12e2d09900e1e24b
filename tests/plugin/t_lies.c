/* SPDX-License-Identifier: MIT
 * Tests of what an instance's process may say: one that lies in each way there is ends with one
 * obituary that names the lie, and neither the host nor another instance is the worse for it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sys/clock.h"
#include "plugin/abi/connector_program.h"
#include "plugin/abi/probe_process.h"
#include "plugin/child/child.h"
#include "plugin/liar.h"
#include "plugin/puppet_kit.h"
#include "tap/tap.h"

#define HANGS_MS 100 /* of those that are to be found hanging */
#define QUEUE_BYTES (1 << 20)

static void drop_batch(void *ctx, struct callback_batch *b)
{
    (void)ctx;
    callback_batch_free(b);
}

static struct channel *start_liar(const char *name, bool hangs, struct tc_err *err)
{
    static struct conf_option options[2];
    struct channel_callbacks host = kit_host;
    host.batch = drop_batch;
    options[0] =
        (struct conf_option){(char[]){"path"}, (char[]){"/dev/null"}, NULL, 1, NULL, false};
    struct conf_instance spec = kit_spec(name, options);
    spec.queue_bytes = QUEUE_BYTES;
    spec.callback_ms = hangs ? HANGS_MS : KIT_DEADLINE_MS;
    return kit_try(&spec, "puppet", &host, err);
}

static long rss_mb(void)
{
    long size, pages = 0;
    FILE *const f = fopen("/proc/self/statm", "re");
    if (!f || fscanf(f, "%ld %ld", &size, &pages) != 2)
        pages = 0;
    if (f)
        fclose(f);
    return pages * (sysconf(_SC_PAGESIZE) >> 10) >> 10;
}

static void test_lie(const struct lie *lie)
{
    struct tc_err err;
    kit_logged();
    kit_holds_asks = true;
    struct channel *const c = start_liar(lie->name, strstr(lie->obituary, "hang"), &err);
    if (!ok(c != NULL, "%s: %s", lie->name, c ? "starts" : err_format(&err)))
        return;
    void *const turn = puppet_open_turn(c, "t1");
    puppet_cast(c, turn, TC_START);
    if (lie->events > 1)
        puppet_cast(c, turn, TC_FINAL);
    if (lie->events > 2)
        puppet_cast(c, turn, TC_DONE);
    kit_wait_log("; restarting in");
    const char *const log = kit_logged();
    has_str(log, lie->obituary, "  it is named");
    is_int((long long)puppet_count(log, ": process "), 1, "  in one obituary");
    c->ops->join(c, clock_mono_ms());
    if (kit_ask)
        host_call_complete(kit_ask, TC_ACCEPTED, "t", NULL);
    kit_ask = NULL;
    kit_holds_asks = false;
}

static void test_early(void)
{
    struct tc_err err;
    ok(!start_liar("early", false, &err), "one that lies before it has started");
    has_str(err.text, "disabled: protocol violation: unexpected frame type", "  is not started");
}

/* What ended with its last batch is not told again. */
static void test_ended(void)
{
    struct tc_err err;
    kit_logged();
    struct channel *const c = start_liar("end-and-die", false, &err);
    void *const turn = puppet_open_turn(c, "t1");
    puppet_cast(c, turn, TC_START);
    puppet_cast(c, turn, TC_FINAL);
    puppet_cast(c, turn, TC_DONE);
    ok(kit_wait_log("; restarting in"), "one that dies when its turn is over");
    is_int(kit_stop(c, 100), 0, "  has nothing left to do");
    is_int((long long)puppet_count(kit_logged(), "did not stop in time"), 0, "  and ends at once");
}

/* More than it could ever take: what the host keeps for it has a bound. */
static void test_never_reads(void)
{
    static char big[64 << 10];
    struct tc_err err;
    kit_logged();
    struct channel *const c = start_liar("never-reads", true, &err);
    memset(big, 'x', sizeof big - 1);
    void *const turn = puppet_open_turn(c, "t1");
    puppet_cast(c, turn, TC_START);
    const long before = rss_mb();
    for (int i = 0; i < 4096; i++) {
        puppet_say(c, turn, big);
        if (i % 64 == 0)
            kit_round(0);
    }
    const long grown = rss_mb() - before;
    ok(grown < 128, "one that never reads: %ld MiB kept of 256 told", grown);
    ok(kit_wait_log("killed after a hang"), "  until it is ended");
    c->ops->join(c, clock_mono_ms());
}

__attribute__((__noreturn__)) static void be_connector(int argc, char **argv)
{
    const pid_t host = (pid_t)strtol(argv[2], NULL, 10);
    if (strcmp(argv[1], CONNECTOR_PROBE) == 0)
        probe_process_main(host, argc - CONNECTOR_FIXED_ARGS);
    if (strcmp(argv[1], "honest") == 0)
        child_main(argv[1], host);
    liar_main(argv[1]);
}

int main(int argc, char **argv)
{
    if (argc >= CONNECTOR_FIXED_ARGS)
        be_connector(argc, argv);
    setenv(CONNECTOR_VARIABLE, "/proc/self/exe", 1);
    plan_lazy();
    kit_begin();
    const unsigned fds = kit_count_fds(), children = kit_count_children();
    struct channel *const honest = puppet_start("honest");
    void *const turn = puppet_open_turn(honest, "h1");
    puppet_cast(honest, turn, TC_START);
    const long before = rss_mb();
    for (size_t i = 0; i < n_lies; i++) {
        test_lie(&lies[i]);
        puppet_say(honest, turn, lies[i].name);
    }
    test_early();
    test_ended();
    test_never_reads();
    const long grown = rss_mb() - before;
    diag("%ld MiB more than before", grown);
    puppet_cast(honest, turn, TC_FINAL);
    puppet_cast(honest, turn, TC_DONE);
    is_int(kit_stop(honest, KIT_DEADLINE_MS), 0, "an honest one beside them ends well");
    is_int((long long)puppet_count(puppet_written(), "\"narration\""), n_lies,
           "  and was told all there was");
    is_int((long long)puppet_count(puppet_written(), "init "), 1, "  in one life");
    is_int(kit_count_children(), children, "no process is left");
    is_int(kit_count_fds(), fds, "no descriptor is left");
    kit_end();
}
