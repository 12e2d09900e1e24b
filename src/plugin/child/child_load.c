/* SPDX-License-Identifier: MIT
 * Restricts the process of an instance before it loads its plugin. */
#include "plugin/child/child_load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sys/log.h"
#include "io/sandbox/sandbox.h"
#include "plugin/abi/adjacent_libraries.h"
#include "plugin/child/child.h"

#define LISTED_PORTS 100
#define NICENESS 5
#define SPACE_PER_MEMORY 4 /* address space; much of it is never used */

static void child_load_log_warning(void *ctx, const char *text)
{
    const struct ipc_setup *const s = ctx;
    log_write(LOG_WARN, s->name, "%s", text);
}

static int child_load_prepare(const struct ipc_setup *s, pid_t parent, struct tc_err *err)
{
    static const int keep[] = {0, 1, 2, CHILD_SOCKET, CHILD_STATUS_PAGE, CHILD_PLUGIN};
    const struct sandbox_detach_spec start = {
        .parent = parent,
        .keep = keep,
        .n_keep = sizeof keep / sizeof *keep,
        .dir = s->dir,
    };
    /* Lowers the priority in favour of the host and the other instances. */
    errno = 0;
    if (nice(NICENESS) < 0 && errno)
        return err_set_errno(err, errno, s->name, "cannot lower the priority");
    if (s->dir)
        setenv("TMPDIR", s->dir, 1); /* temporary files are possible only there */
    return sandbox_detach_process(&start, err);
}

/* `more` may be NULL. */
static const char *const *add_path(struct arena *a, const char *const *paths, const char *more)
{
    size_t n = 0;
    while (paths[n])
        n++;
    const char **const to = arena_alloc(a, (n + 2) * sizeof *to);
    memcpy(to, paths, n * sizeof *to);
    to[n] = more;
    return to;
}

static int child_load_enter_sandbox(const struct ipc_setup *s, struct tc_err *err)
{
    uint16_t ports[LISTED_PORTS];
    size_t n = 0;
    for (; n < LISTED_PORTS && s->ports[n]; n++)
        ports[n] = (uint16_t)s->ports[n];
    struct arena arena = {0};
    const char *const *const own = (const char *const[]){s->dir, NULL};
    const struct sandbox_spec spec = {
        .label = s->name,
        .read_fd = CHILD_PLUGIN,
        .read_files = adjacent_libraries_list_libraries(CHILD_PLUGIN, &arena),
        .write_paths = s->dir_full ? s->write_paths : add_path(&arena, s->write_paths, s->dir),
        .shrink_paths = s->dir_full ? own : NULL,
        .ports = ports,
        .n_ports = n,
        .starts_programs = s->starts_programs,
        .run_paths = s->run_paths,
        /* Some programs reserve much more address space than they use. */
        .memory = s->starts_programs ? 0 : (size_t)s->memory * SPACE_PER_MEMORY,
        .data = s->starts_programs ? (size_t)s->memory : 0,
        .file_size = (size_t)s->file_size,
    };
    const int rc = sandbox_enter(&spec, child_load_log_warning, (void *)(uintptr_t)s, err);
    arena_fini(&arena);
    return rc;
}

struct loaded_plugin *child_load_plugin(const struct ipc_setup *s, pid_t parent, struct tc_err *err)
{
    if (child_load_prepare(s, parent, err) < 0 || child_load_enter_sandbox(s, err) < 0)
        return NULL;
    return loader_load_fd(CHILD_PLUGIN, s->path, err);
}
