/* SPDX-License-Identifier: MIT
 * Finds connector files, has each one probed in a separate process, and loads those that passed.
 * The file that was checked (by descriptor) is the file that is loaded. */
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

/* Which file it was. */
struct file_identity {
    uint64_t dev, ino, size;
    int64_t mtime_ns;
};

/* A plugin that passed: what it says of itself, and (only where it was linked) its functions. All
 * of it is read only. */
struct loaded_plugin {
    char *path;
    int fd;             /* of the file that was checked, for a process that links it */
    atomic_bool linked; /* set last, when its functions are there */
    bool owns_fd;       /* else the linker has it for ever */
    pthread_mutex_t linking;
    struct file_identity file;
    struct tc_plugin plugin; /* not linked: its functions are NULL */
    struct tc_sink sink;     /* the same */
    struct descriptor said;
    atomic_uint others; /* references beside the first */
};

/* Whether it has that function, a kind or DESCRIPTOR_…, linked or not. */
static inline bool loader_has_callback(const struct loaded_plugin *l, unsigned function)
{
    return l->said.has & (UINT32_C(1) << function);
}

/* Checks the .so at `path` as a file, then what it says of itself: refused is what is not a
 * regular file of the right ELF class and machine, what others may write to (the file or a
 * directory above it), what a process that loads it does not survive, a missing turncast_plugin,
 * another major, a newer minor, a bad name or option table. This process loads nothing of it: a
 * child does, for at most 5 s. NULL with err: one line, what and why. */
struct loaded_plugin *loader_probe_file(const char *path, struct tc_err *err);
/* Whether the plugin has a chat table. Any thread; false until the code is loaded. */
bool loader_has_chat(const struct loaded_plugin *l);
/* Takes the code of one that was described into this process, from the very file that was checked;
 * it stays to the end, as threads that were abandoned may still run in it. Runs the constructors of
 * the file, however long they take. Any thread. -1 with err. */
int loader_load_code(struct loaded_plugin *l, struct tc_err *err) MUST_CHECK;
/* For a process that has nothing else to lose: links the file behind the descriptor, which it
 * keeps and whoever gave it has checked; `path` is what it is called. NULL with err. */
struct loaded_plugin *loader_load_fd(int fd, const char *path, struct tc_err *err);
struct loaded_plugin *loader_ref_plugin(struct loaded_plugin *l);
void loader_unref_plugin(
    struct loaded_plugin *l); /* of one reference, on any thread; NULL is fine */

/* Several files are tried at once, by one process: all are begun, then the trial runs, then each is
 * finished. A file that is begun again is tried once. */
struct loop;
struct probe_run;
struct probe_run *probe_run_new(void);
/* The trial's; what fails here is told as it is finished. */
struct probe_candidate *probe_run_add_file(struct probe_run *t, const char *path);
void probe_run_execute(struct probe_run *t);
/* Instead of waiting in probe_run_take_result: `done` is called once from the loop, when each file
 * has its verdict and the process is reaped; it may free the trial. probe_run_free cancels it.
 */
void loader_trial_watch(struct probe_run *t, struct loop *loop, void (*done)(void *ctx), void *ctx);
/* Like loader_probe_file, for a probe that was started. Waits for its result, unless it has ended.
 */
struct loaded_plugin *probe_run_take_result(const struct probe_run *t, struct probe_candidate *p,
                                            struct tc_err *err);
void probe_run_free(struct probe_run *t);

/* DIR/NAME.so in the first directory that has it; a name with a slash or ending in .so is a path.
 * Owned; NULL with err. */
char *loader_find_path(const char *name, const char *const *dirs, struct tc_err *err);
/* loader_probe_file of what loader_find_path finds. */
struct loaded_plugin *loader_probe_by_name(const char *name, const char *const *dirs,
                                           struct tc_err *err);
/* Whether the file at its path is still the one that was checked. */
bool loader_is_current(const struct loaded_plugin *l);
/* Whether a linked file was overwritten in place: the dynamic linker would return the old code. */
bool loader_is_overwritten(const struct loaded_plugin *l);
/* Checks that the options of the instance fit the plugin. -1 with err, its place file:line. */
int loader_check_options(const struct loaded_plugin *l, const struct conf_instance *inst,
                         const char *file, struct tc_err *err) MUST_CHECK;
/* Calls fn with the path of every *.so in the directories, sorted. */
void loader_list_files(const char *const *dirs, void (*fn)(void *ctx, const char *path), void *ctx);

#endif
