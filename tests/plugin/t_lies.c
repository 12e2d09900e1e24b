/* SPDX-License-Identifier: MIT
 * Tests of violations of the protocol by a connector process: each is logged once and ends the
 * process, and neither the host nor another instance is affected. */
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

#define HANGS_MS 100 /* the limit for processes that are detected as hanging */
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
    has_str(log, lie->obituary, "the log names the violation");
    is_int((long long)puppet_count(log, ": process "), 1, "the end of the process is logged once");
    c->ops->join(c, clock_mono_ms());
    if (kit_ask)
        host_call_complete(kit_ask, TC_ACCEPTED, "t", NULL);
    kit_ask = NULL;
    kit_holds_asks = false;
}

static void test_early(void)
{
    struct tc_err err;
    ok(!start_liar("early", false, &err),
       "a process that violates the protocol before its start is refused");
    has_str(err.text, "disabled: protocol violation: unexpected frame type",
            "the error names the violation");
}

/* A turn that has ended with its last batch is not delivered again. */
static void test_ended(void)
{
    struct tc_err err;
    kit_logged();
    struct channel *const c = start_liar("end-and-die", false, &err);
    void *const turn = puppet_open_turn(c, "t1");
    puppet_cast(c, turn, TC_START);
    puppet_cast(c, turn, TC_FINAL);
    puppet_cast(c, turn, TC_DONE);
    ok(kit_wait_log("; restarting in"), "a process exits when its turn is over");
    is_int(kit_stop(c, 100), 0, "the instance has no events left");
    is_int((long long)puppet_count(kit_logged(), "did not stop in time"), 0,
           "the instance ends at once");
}

/* More data than the process accepts: the memory of the host is limited. */
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
    ok(grown < 128, "a process that never reads: %ld MiB of 256 are kept in memory", grown);
    ok(kit_wait_log("killed after a hang"), "the process that never reads is killed");
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
    is_int(kit_stop(honest, KIT_DEADLINE_MS), 0, "another instance ends normally");
    is_int((long long)puppet_count(puppet_written(), "\"narration\""), n_lies,
           "the other instance has got all events");
    is_int((long long)puppet_count(puppet_written(), "init "), 1,
           "the other instance was not restarted");
    is_int(kit_count_children(), children, "no process is left");
    is_int(kit_count_fds(), fds, "no descriptor is left");
    kit_end();
}
