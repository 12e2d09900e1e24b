/* SPDX-License-Identifier: MIT
 * The log line about a connector process that has ended: why, in which callback and turn, which
 * plugin, its age and what it used. Loop thread. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/sys/log.h"
#include "plugin/child/child.h"
#include "plugin/process/connector_process.h"

static void connector_exit_describe_cause(const struct connector_process *g, char *out, size_t size)
{
    const struct connector_exit_info *const e = &g->sup.exit.end;
    if (g->sup.hung)
        snprintf(out, size, "killed after a hang");
    else if (connector_limits_kill_reason(g->conf.limits))
        snprintf(out, size, "killed: %s", connector_limits_kill_reason(g->conf.limits));
    else if (g->sup.exit.broke)
        snprintf(out, size, "killed: protocol violation (%s)", g->sup.exit.broke);
    else if (g->sup.refused)
        snprintf(out, size, "failed to start: %s", g->sup.refused);
    else if (e->by_signal && e->code == SIGKILL)
        snprintf(out, size, "killed (SIGKILL; possibly out of memory) or closed its connection");
    else if (e->by_signal)
        snprintf(out, size, "terminated by signal %d (%s)", e->code, strsignal(e->code));
    else if (e->code == CHILD_EXIT_BROKEN)
        snprintf(out, size,
                 "exited with status %d (shared memory overwritten, probably by the plugin)",
                 e->code);
    else if (e->code == CHILD_EXIT_ALONE)
        snprintf(
            out, size,
            "exited with status %d (its connection to turncast was closed, probably by the plugin)",
            e->code);
    else
        snprintf(out, size, "exited with status %d", e->code);
}

void connector_exit_report(const struct connector_process *g, const char *then)
{
    const struct connector_exit *const d = &g->sup.exit;
    const struct tc_plugin *const p = &g->conf.plugin->plugin;
    char how[256];
    connector_exit_describe_cause(g, how, sizeof how);
    log_write(LOG_ERR, g->conf.label,
              "process %s%s%s%s%s (plugin %s %s, ABI %u.%u, pid %d, up %" PRId64 " ms, CPU %" PRId64
              " ms, memory %" PRId64 " MiB)%s",
              how, d->callback ? " in " : " while idle", d->callback ? d->callback : "",
              *d->turn ? ", turn " : "", d->turn, p->name, p->version ? p->version : "", p->major,
              p->minor, (int)g->sup.child.pid, d->lived_ms, d->end.cpu_ms, g->sup.peak_bytes >> 20,
              then);
}
