/* SPDX-License-Identifier: MIT
 * Finds connector files, probes each in a separate process, and loads those that passed. The
 * checked file (by descriptor) is the file that is loaded. */
#ifndef PLUGIN_ABI_LOADER_H
#define PLUGIN_ABI_LOADER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <turncast/plugin.h>

#include "base/attr.h"
#include "base/sys/err.h"
#include "conf/conf.h"
#include "plugin/abi/descriptor.h"

/* Identity of a file. */
struct file_identity {
    uint64_t dev, ino, size;
    int64_t mtime_ns;
};

/* A plugin that passed: its descriptor and (only if linked) its functions. Read-only. */
struct loaded_plugin {
    char *path;
    int fd;             /* descriptor of the checked file, for a process that links it */
    atomic_bool linked; /* set last, when the functions are available */
    bool owns_fd;       /* otherwise the linker keeps it open for ever */
    pthread_mutex_t linking;
    struct file_identity file;
    struct tc_plugin plugin; /* not linked: functions are NULL */
    struct tc_sink sink;     /* likewise */
    struct descriptor said;
    atomic_uint others; /* references in addition to the first */
};

/* Whether it has that function, a kind or DESCRIPTOR_…, linked or not. */
static inline bool loader_has_callback(const struct loaded_plugin *l, unsigned function)
{
    return l->said.has & (UINT32_C(1) << function);
}

/* Checks the .so at `path`, then its descriptor. Refuses a file that is not a regular ELF file for
 * this machine, that others may write to (the file or a directory above it), that crashes a process
 * that loads it; a missing turncast_plugin, another major version, a newer minor, an invalid name
 * or option table. This process does not load it: a child does, for at most 5 s. NULL with err: one
 * line with the file and the reason. */
struct loaded_plugin *loader_probe_file(const char *path, struct tc_err *err);
/* Whether the plugin has a chat table. Any thread; false until the code is loaded. */
bool loader_has_chat(const struct loaded_plugin *l);
/* Links a probed plugin into this process, from the file that was checked; it is never unloaded,
 * because abandoned threads may still run in it. Runs the constructors of the file, however long
 * they take. Any thread. -1 with err. */
int loader_load_code(struct loaded_plugin *l, struct tc_err *err) MUST_CHECK;
/* For a sandboxed process: links the file behind the descriptor, which it keeps; the caller must
 * have checked it. `path` is its name in messages. NULL with err. */
struct loaded_plugin *loader_load_fd(int fd, const char *path, struct tc_err *err);
struct loaded_plugin *loader_ref_plugin(struct loaded_plugin *l);
void loader_unref_plugin(
    struct loaded_plugin *l); /* releases one reference, on any thread; NULL is allowed */

/* Probes several files with one process: start all, run the probe, then take the result of each. A
 * file that is started twice is probed once. */
struct loop;
struct probe_run;
struct probe_run *probe_run_new(void);
/* Starts the probe process; its failure is reported with the results. */
struct probe_candidate *probe_run_add_file(struct probe_run *t, const char *path);
void probe_run_execute(struct probe_run *t);
/* Instead of blocking in probe_run_take_result: calls `done` once from the loop, when all files
 * have results and the process is reaped; it may free the probe. probe_run_free cancels it. */
void probe_run_watch(struct probe_run *t, struct loop *loop, void (*done)(void *ctx), void *ctx);
/* Like loader_probe_file, for a file of a started probe. Waits for its result if necessary. */
struct loaded_plugin *probe_run_take_result(const struct probe_run *t, struct probe_candidate *p,
                                            struct tc_err *err);
void probe_run_free(struct probe_run *t);

/* DIR/NAME.so in the first directory that has it; a name with a slash, or ending in .so, is a path.
 * Owned; NULL with err. */
char *loader_find_path(const char *name, const char *const *dirs, struct tc_err *err);
/* loader_probe_file with the result of loader_find_path. */
struct loaded_plugin *loader_probe_by_name(const char *name, const char *const *dirs,
                                           struct tc_err *err);
/* Whether the file at its path is still the checked one. */
bool loader_is_current(const struct loaded_plugin *l);
/* Whether a linked file was overwritten in place: the dynamic linker would return the old code. */
bool loader_is_overwritten(const struct loaded_plugin *l);
/* Checks the options of the instance for the plugin. -1 with err, its place file:line. */
int loader_check_options(const struct loaded_plugin *l, const struct conf_instance *inst,
                         const char *file, struct tc_err *err) MUST_CHECK;
/* Calls fn with the path of every *.so in the directories, sorted. */
void loader_list_files(const char *const *dirs, void (*fn)(void *ctx, const char *path), void *ctx);

#endif
