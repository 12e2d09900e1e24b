/* SPDX-License-Identifier: MIT
 * Owns loaded plugins: descriptor, file, and functions if linked. */
#include "plugin/abi/loader.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes/buf.h"
#include "base/cleanup.h"
#include "base/nearest_word.h"
#include "chat/chat_options.h"
#include "conf/options/plugin_options.h"
#include "plugin/abi/loader_internal.h"
#include "plugin/abi/loader_module.h"

#define SEARCHED_MAX ((size_t)512) /* limit of the text that lists directories */

/* ---- loaded plugins ---- */

static struct file_identity loader_identify_file(const struct stat *st)
{
    return (struct file_identity){
        .dev = st->st_dev,
        .ino = st->st_ino,
        .size = (uint64_t)st->st_size,
        .mtime_ns = st->st_mtim.tv_sec * INT64_C(1000000000) + st->st_mtim.tv_nsec,
    };
}

/* Adds the path of the file to the error; -1. */
static int loader_set_err_path(struct tc_err *err, const char *path)
{
    if (err)
        snprintf(err->place, sizeof err->place, "%s", path);
    return -1;
}

struct loaded_plugin *loader_new_plugin(int fd, const char *path, struct str record,
                                        struct tc_err *err)
{
    struct loaded_plugin *const l = xcalloc(1, sizeof *l);
    struct stat st;
    atomic_init(&l->others, 0);
    pthread_mutex_init(&l->linking, NULL);
    l->path = xstrdup(path);
    l->fd = fd;
    l->owns_fd = true;
    if (fstat(fd, &st) == 0)
        l->file = loader_identify_file(&st);
    if (descriptor_unpack(&l->said, record, err) < 0) {
        loader_set_err_path(err, path);
        loader_unref_plugin(l);
        return NULL;
    }
    l->plugin = l->said.plugin;
    l->plugin.sink = &l->sink;
    return l;
}

struct loaded_plugin *loader_ref_plugin(struct loaded_plugin *l)
{
    atomic_fetch_add_explicit(&l->others, 1, memory_order_relaxed);
    return l;
}

void loader_unref_plugin(struct loaded_plugin *l)
{
    if (!l || atomic_fetch_sub_explicit(&l->others, 1, memory_order_acq_rel) > 0)
        return;
    if (l->owns_fd)
        close(l->fd);
    descriptor_fini(&l->said);
    pthread_mutex_destroy(&l->linking);
    free(l->path);
    free(l);
}

static int link_module(struct loaded_plugin *l, struct tc_err *err)
{
    struct loader_module m;
    if (atomic_load(&l->linked))
        return 0;
    const int rc = loader_module_open(&m, l->fd, err);
    l->owns_fd = !m.keeps_file;
    if (rc < 0)
        return loader_set_err_path(err, l->path);
    l->plugin.init = m.plugin.init;
    l->plugin.teardown = m.plugin.teardown;
    l->plugin.chat = m.plugin.chat;
    l->sink = m.sink;
    atomic_store(&l->linked, true);
    return 0;
}

bool loader_has_chat(const struct loaded_plugin *l)
{
    return atomic_load(&l->linked) && l->plugin.chat;
}

int loader_load_code(struct loaded_plugin *l, struct tc_err *err)
{
    pthread_mutex_lock(&l->linking);
    const int rc = link_module(l, err);
    pthread_mutex_unlock(&l->linking);
    return rc;
}

int loader_describe_in_process(int fd, struct buf *record, struct tc_err *err)
{
    struct loader_module m;
    struct arena arena = {0};
    if (loader_module_open(&m, fd, err) < 0)
        return -1;
    const struct tc_plugin described = chat_options_extend(&m.plugin, &arena);
    descriptor_pack(record, &described, descriptor_callback_mask(&m.plugin, &m.sink));
    arena_fini(&arena);
    return 0;
}

struct loaded_plugin *loader_load_fd(int fd, const char *path, struct tc_err *err)
{
    CLEANUP_BUF struct buf record = {0};
    if (loader_describe_in_process(fd, &record, err) < 0) {
        loader_set_err_path(err, path);
        return NULL;
    }
    struct loaded_plugin *const l =
        loader_new_plugin(fd, path, (struct str){record.p, record.len}, err);
    if (!l || loader_load_code(l, err) == 0)
        return l;
    loader_unref_plugin(l);
    return NULL;
}

/* ---- search ---- */

static bool ends_in_so(const char *name)
{
    const size_t n = strlen(name);
    return n > 3 && strcmp(name + n - 3, ".so") == 0;
}

struct loader_names {
    const char *name; /* name that is searched */
    char *nearest;    /* owned; or NULL */
};

static void loader_compare_name(void *ctx, const char *path)
{
    struct loader_names *const names = ctx;
    const char *const base = strrchr(path, '/') + 1;
    CLEANUP_FREE char *found = xstrndup(base, strlen(base) - strlen(".so"));
    const char *const known[] = {names->nearest ? names->nearest : found, found};
    const char *const near = nearest_word_find(names->name, known, 2);
    if (near == found) {
        free(names->nearest);
        names->nearest = xstrdup(found);
    }
}

static char *loader_describe_missing(const char *name, const char *const *dirs, struct tc_err *err)
{
    CLEANUP_BUF struct buf where = {0}, hint = {0};
    struct loader_names names = {.name = name};
    loader_list_files(dirs, loader_compare_name, &names);
    if (names.nearest)
        buf_printf(&hint, " (did you mean \"%s\"?)", names.nearest);
    else
        buf_add_str(&hint, "; run: turncast plugins");
    free(names.nearest);
    for (size_t i = 0; dirs[i] && where.len < SEARCHED_MAX; i++)
        buf_printf(&where, "%s%s", i ? ", " : "", dirs[i]);
    err_set(err, name, "plugin not found: no %s.so in %s%s", name,
            where.p ? where.p : "any directory (plugins.directory is not set)", hint.p);
    return NULL;
}

char *loader_find_path(const char *name, const char *const *dirs, struct tc_err *err)
{
    if (strchr(name, '/') || ends_in_so(name))
        return xstrdup(name);
    for (size_t i = 0; dirs[i]; i++) {
        char *const path = xasprintf("%s/%s.so", dirs[i], name);
        if (access(path, F_OK) == 0)
            return path;
        free(path);
    }
    return loader_describe_missing(name, dirs, err);
}

struct loaded_plugin *loader_probe_by_name(const char *name, const char *const *dirs,
                                           struct tc_err *err)
{
    CLEANUP_FREE char *path = loader_find_path(name, dirs, err);
    return path ? loader_probe_file(path, err) : NULL;
}

bool loader_is_current(const struct loaded_plugin *l)
{
    struct stat st;
    if (stat(l->path, &st) < 0)
        return false;
    const struct file_identity now = loader_identify_file(&st);
    return now.dev == l->file.dev && now.ino == l->file.ino && now.size == l->file.size &&
           now.mtime_ns == l->file.mtime_ns;
}

bool loader_is_overwritten(const struct loaded_plugin *l)
{
    struct stat st;
    return l->linked && stat(l->path, &st) == 0 && st.st_dev == l->file.dev &&
           st.st_ino == l->file.ino && !loader_is_current(l);
}

int loader_check_options(const struct loaded_plugin *l, const struct conf_instance *inst,
                         const char *file, struct tc_err *err)
{
    struct arena arena = {0};
    CLEANUP_FREE void *filled = xcalloc(1, l->plugin.conf_size + 1);
    const int rc = plugin_options_fill_instance(filled, &l->plugin, inst, file, &arena, err);
    arena_fini(&arena);
    return rc;
}

static int is_module(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && ends_in_so(entry->d_name);
}

static int loader_compare_entries(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

void loader_list_files(const char *const *dirs, void (*fn)(void *ctx, const char *path), void *ctx)
{
    for (size_t i = 0; dirs[i]; i++) {
        struct dirent **entries;
        const int n = scandir(dirs[i], &entries, is_module, loader_compare_entries);
        for (int k = 0; k < n; k++) {
            CLEANUP_FREE char *path = xasprintf("%s/%s", dirs[i], entries[k]->d_name);
            free(entries[k]);
            fn(ctx, path);
        }
        if (n >= 0)
            free(entries);
    }
}
