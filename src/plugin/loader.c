/* SPDX-License-Identifier: MIT
 * Owns the ABI: what of a plugin's constant is believed, and what is copied out of it. */
#include "plugin/loader.h"

#include <dirent.h>
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "conf/options.h"
#include "io/lane.h"
#include "plugin/loader_file.h"

#define SYMBOL "turncast_plugin"
#define SIZE_MAX_SANE ((size_t)65536)  /* of a struct of some later header */
#define STATE_MAX ((size_t)(64 << 20)) /* of the memory a plugin may declare */
#define RATE_MAX 1000000
#define INTERVAL_MAX ((int64_t)7 * 86400 * 1000)
#define SEARCHED_MAX ((size_t)512) /* of the text that lists directories */

/* size, major, minor, flags: where they are never changes, whatever the major. */
#define HEAD offsetof(struct tc_plugin, name)
/* Every header ever published has at least these members. */
#define PLUGIN_MIN offsetof(struct tc_plugin, pace_ms)
#define SINK_MIN offsetof(struct tc_sink, on_message)

/* dlerror's text without the name of the descriptor in front. */
static const char *link_error(void)
{
    const char *const text = dlerror();
    if (!text)
        return "unknown error";
    const char *const reason = strncmp(text, "/proc/self/fd/", 14) == 0 ? strstr(text, ": ") : NULL;
    return reason ? reason + 2 : text;
}

/* The symbol as the file describes it: the object must be as big as it says it is. */
static const struct tc_plugin *find_plugin(void *handle, const char *path, struct tc_err *err)
{
    const struct tc_plugin *const p = dlsym(handle, SYMBOL);
    if (!p) {
        err_set(err, path, "has no symbol %s: a plugin says TURNCAST_PLUGIN(…)", SYMBOL);
        return NULL;
    }
    Dl_info info;
    const ElfW(Sym) *symbol = NULL;
    if (!dladdr1(p, &info, (void **)(uintptr_t)&symbol, RTLD_DL_SYMENT) || !symbol ||
        ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT) {
        err_set(err, path, "%s is not a constant: a plugin says TURNCAST_PLUGIN(…)", SYMBOL);
        return NULL;
    }
    if (symbol->st_size < HEAD || p->size > symbol->st_size || p->size > SIZE_MAX_SANE) {
        err_set(err, path, "%s says it has %u bytes, the file has %zu of it", SYMBOL, p->size,
                (size_t)symbol->st_size);
        return NULL;
    }
    return p;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Members that the plugin was built without are clear. */
static struct tc_plugin complete(const struct tc_plugin *p)
{
    struct tc_plugin known = {0};
    memcpy(&known, p, least(p->size, sizeof known));
    return known;
}

/* The version comes first: another major may mean anything by the rest. */
static int check_version(const struct tc_plugin *p, const char *path, struct tc_err *err)
{
    if (p->major != TURNCAST_API_MAJOR)
        return err_set(err, path, "needs plugin API %u.%u, this host has %d.%d: build it again",
                       p->major, p->minor, TURNCAST_API_MAJOR, TURNCAST_API_LATEST);
    if (p->minor > TURNCAST_API_LATEST)
        return err_set(err, path,
                       "needs plugin API %u.%u, this host has %d.%d: use a newer turncast, or "
                       "build it with -DTURNCAST_API_MINOR=%d",
                       p->major, p->minor, TURNCAST_API_MAJOR, TURNCAST_API_LATEST,
                       TURNCAST_API_LATEST);
    if (p->size < PLUGIN_MIN)
        return err_set(err, path, "%s has %u bytes, at least %zu are expected", SYMBOL, p->size,
                       PLUGIN_MIN);
    return 0;
}

static bool name_is_sane(const char *name)
{
    const size_t n = strlen(name);
    return n > 0 && n <= 32 && name[0] >= 'a' && name[0] <= 'z' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") == n;
}

static int check_sizes(const struct tc_plugin *p, const char *path, struct tc_err *err)
{
    const struct {
        const char *what;
        size_t n;
    } sizes[] = {
        {"conf_size", p->conf_size}, {"state_size", p->state_size}, {"turn_size", p->turn_size}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i].n > STATE_MAX)
            return err_set(err, path, "%s is %zu, at most %zu is expected", sizes[i].what,
                           sizes[i].n, STATE_MAX);
    return 0;
}

static const char *fault_of_rate(const struct tc_rate *r)
{
    if (r->interval_ms < 1 || r->interval_ms > INTERVAL_MAX)
        return "has an interval that is none";
    if (r->count > RATE_MAX || r->burst > RATE_MAX)
        return "is too fast to be one";
    return r->per_lane == 0 || r->per_lane == 1 ? NULL : "has a per_lane that is neither 0 nor 1";
}

static int check_rates(const struct tc_rate *rates, const char *path, struct tc_err *err)
{
    for (int i = 0; rates && rates[i].count; i++) {
        if (i == LANE_MAX_RATES)
            return err_set(err, path, "has more than %d rates", LANE_MAX_RATES);
        const char *const fault = fault_of_rate(&rates[i]);
        if (fault)
            return err_set(err, path, "rate %d %s", i, fault);
    }
    return 0;
}

static int check_plugin(const struct tc_plugin *p, const char *path, struct tc_err *err)
{
    if (!p->name || !name_is_sane(p->name))
        return err_set(err, path, "has a bad name: [a-z][a-z0-9_-]* of at most 32 is expected");
    if (!p->sink)
        return err_set(err, path, "has no sink: .sink = TC_SINK(…) is expected");
    if (p->sink->size < SINK_MIN || p->sink->size > SIZE_MAX_SANE)
        return err_set(err, path, "has a sink of %zu bytes, at least %zu are expected",
                       p->sink->size, SINK_MIN);
    if (check_sizes(p, path, err) < 0 || check_rates(p->rates, path, err) < 0)
        return -1;
    struct tc_err row = {0};
    if (options_check(p->options, p->conf_size, &row) < 0)
        return err_set(err, path, "%s", row.text);
    return 0;
}

static struct loader_file file_of(const struct stat *st)
{
    return (struct loader_file){
        .dev = st->st_dev,
        .ino = st->st_ino,
        .size = (uint64_t)st->st_size,
        .mtime_ns = st->st_mtim.tv_sec * INT64_C(1000000000) + st->st_mtim.tv_nsec,
    };
}

static struct loaded *copy_out(const struct tc_plugin *known, const char *path, int fd)
{
    struct stat st;
    struct loaded *const l = xcalloc(1, sizeof *l);
    l->path = xstrdup(path);
    if (fstat(fd, &st) == 0)
        l->file = file_of(&st);
    l->plugin = *known;
    memcpy(&l->sink, known->sink, least(known->sink->size, sizeof l->sink));
    l->plugin.sink = &l->sink;
    if (!l->plugin.version)
        l->plugin.version = "";
    if (!l->plugin.summary)
        l->plugin.summary = "";
    return l;
}

/* The descriptor stays open for ever: its number is the name under which the linker knows the
 * module, and a second file under the same name would be taken for the first. */
static void *link_file(int fd, const char *path, struct tc_err *err)
{
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    void *const handle = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle)
        err_set(err, path, "cannot be loaded: %s", link_error());
    return handle;
}

struct loaded *loader_open(const char *path, struct tc_err *err)
{
    const int fd = loader_file_open(path, err);
    if (fd < 0)
        return NULL;
    void *const handle = link_file(fd, path, err);
    if (!handle) {
        close(fd);
        return NULL;
    }
    const struct tc_plugin *const p = find_plugin(handle, path, err);
    if (!p || check_version(p, path, err) < 0)
        return NULL;
    const struct tc_plugin known = complete(p);
    return check_plugin(&known, path, err) < 0 ? NULL : copy_out(&known, path, fd);
}

static bool ends_in_so(const char *name)
{
    const size_t n = strlen(name);
    return n > 3 && strcmp(name + n - 3, ".so") == 0;
}

static char *not_found(const char *name, const char *const *dirs, struct tc_err *err)
{
    CLEANUP_BUF struct buf where = {0};
    for (size_t i = 0; dirs[i] && where.len < SEARCHED_MAX; i++)
        buf_printf(&where, "%s%s", i ? ", " : "", dirs[i]);
    err_set(err, name, "no such plugin: there is no %s.so in %s", name,
            where.p ? where.p : "any directory (none is configured)");
    return NULL;
}

char *loader_locate(const char *name, const char *const *dirs, struct tc_err *err)
{
    if (strchr(name, '/') || ends_in_so(name))
        return xstrdup(name);
    for (size_t i = 0; dirs[i]; i++) {
        char *const path = xasprintf("%s/%s.so", dirs[i], name);
        if (access(path, F_OK) == 0)
            return path;
        free(path);
    }
    return not_found(name, dirs, err);
}

struct loaded *loader_find(const char *name, const char *const *dirs, struct tc_err *err)
{
    CLEANUP_FREE char *path = loader_locate(name, dirs, err);
    return path ? loader_open(path, err) : NULL;
}

struct loaded *loader_copy(const struct loaded *l)
{
    struct loaded *const copy = xmalloc(sizeof *copy);
    *copy = *l;
    copy->path = xstrdup(l->path);
    copy->plugin.sink = &copy->sink;
    return copy;
}

bool loader_is_current(const struct loaded *l)
{
    struct stat st;
    if (stat(l->path, &st) < 0)
        return false;
    const struct loader_file now = file_of(&st);
    return now.dev == l->file.dev && now.ino == l->file.ino && now.size == l->file.size &&
           now.mtime_ns == l->file.mtime_ns;
}

bool loader_is_overwritten(const struct loaded *l)
{
    struct stat st;
    return stat(l->path, &st) == 0 && st.st_dev == l->file.dev && st.st_ino == l->file.ino &&
           !loader_is_current(l);
}

void loader_free(struct loaded *l)
{
    if (!l)
        return;
    free(l->path);
    free(l);
}

int loader_try_options(const struct loaded *l, const struct conf_instance *inst, const char *file,
                       struct tc_err *err)
{
    struct arena arena = {0};
    CLEANUP_FREE void *filled = xcalloc(1, l->plugin.conf_size + 1);
    const int rc =
        options_fill(filled, l->plugin.options, inst->options, file, inst->line, &arena, err);
    arena_fini(&arena);
    return rc;
}

static int is_module(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && ends_in_so(entry->d_name);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

void loader_scan(const char *const *dirs, void (*fn)(void *ctx, const char *path), void *ctx)
{
    for (size_t i = 0; dirs[i]; i++) {
        struct dirent **entries;
        const int n = scandir(dirs[i], &entries, is_module, by_name);
        for (int k = 0; k < n; k++) {
            CLEANUP_FREE char *path = xasprintf("%s/%s", dirs[i], entries[k]->d_name);
            free(entries[k]);
            fn(ctx, path);
        }
        if (n >= 0)
            free(entries);
    }
}
