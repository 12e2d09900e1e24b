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
        snprintf(out, size, "was killed because it hung");
    else if (connector_limits_death(g->conf.limits))
        snprintf(out, size, "was killed because it %s", connector_limits_death(g->conf.limits));
    else if (g->sup.exit.broke)
        snprintf(out, size, "was killed because it sent %s", g->sup.exit.broke);
    else if (g->sup.refused)
        snprintf(out, size, "would not start: %s", g->sup.refused);
    else if (e->by_signal && e->code == SIGKILL)
        snprintf(out, size, "closed its connection, or was killed");
    else if (e->by_signal)
        snprintf(out, size, "died by signal %d (%s)", e->code, strsignal(e->code));
    else if (e->code == CHILD_EXIT_BROKEN)
        snprintf(
            out, size,
            "ended with status %d because memory that it shares with the host was overwritten, "
            "most likely by the plugin,",
            e->code);
    else if (e->code == CHILD_EXIT_ALONE)
        snprintf(out, size,
                 "ended with status %d because its connection to the host was closed, most likely "
                 "by the plugin,",
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
              "its process %s in %s, turn %s (plugin %s %s, ABI %u.%u, pid %d, %" PRId64
              " ms old, %" PRId64 " ms CPU, %" PRId64 " MiB)%s",
              how, d->callback ? d->callback : "no callback", *d->turn ? d->turn : "(none)",
              p->name, p->version ? p->version : "", p->major, p->minor, (int)g->sup.child.pid,
              d->lived_ms, d->end.cpu_ms, g->sup.peak_bytes >> 20, then);
}
