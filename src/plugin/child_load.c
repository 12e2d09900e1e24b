/* SPDX-License-Identifier: MIT
 * Owns what the process of an instance gives up before it loads its plugin. */
#include "plugin/child_load.h"

#include <libgen.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "io/sandbox.h"
#include "plugin/child.h"

#define LISTED_PORTS 100
#define SPACE_PER_MEMORY 4 /* of addresses: much of it is never used */

static void warn(void *ctx, const char *text)
{
    const struct frame_setup *const s = ctx;
    log_line(LOG_WARN, s->name, "%s", text);
}

static int prepare(const struct frame_setup *s, pid_t parent, struct tc_err *err)
{
    static const int keep[] = {0, 1, 2, CHILD_SOCKET, CHILD_GAUGE, CHILD_PLUGIN};
    const struct sandbox_start start = {
        .parent = parent,
        .keep = keep,
        .n_keep = sizeof keep / sizeof *keep,
        .dir = s->dir,
    };
    if (s->dir)
        setenv("TMPDIR", s->dir, 1); /* no other folder for such files is open to it */
    return sandbox_prepare(&start, err);
}

static int enter(const struct frame_setup *s, struct tc_err *err)
{
    uint16_t ports[LISTED_PORTS];
    size_t n = 0;
    for (; n < LISTED_PORTS && s->ports[n]; n++)
        ports[n] = (uint16_t)s->ports[n];
    CLEANUP_FREE char *folder = xstrdup(s->path);
    const struct sandbox_spec spec = {
        .label = s->name,
        .read_paths = (const char *const[]){dirname(folder), NULL},
        .write_paths = s->write_paths,
        .ports = ports,
        .n_ports = n,
        .memory = (size_t)s->memory * SPACE_PER_MEMORY,
    };
    return sandbox_enter(&spec, warn, (void *)(uintptr_t)s, err);
}

struct loaded *child_load(const struct frame_setup *s, pid_t parent, struct tc_err *err)
{
    if (prepare(s, parent, err) < 0 || enter(s, err) < 0)
        return NULL;
    return loader_take(CHILD_PLUGIN, s->path, err);
}
