/* SPDX-License-Identifier: MIT
 * Loads a file and finds its exported constant. */
#include "plugin/abi/loader_module.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "plugin/abi/descriptor.h"

#define SYMBOL "turncast_plugin"
#define FD_NAME "/proc/self/fd/"
#define SIZE_MAX_SANE ((size_t)65536) /* limit of the struct of a later header */

/* size, major, minor, flags: their offsets never change, in any major version. */
#define HEAD offsetof(struct tc_plugin, name)
#define SINK_MIN offsetof(struct tc_sink, on_message)

/* ---- the linker ---- */

/* dlerror's text without the descriptor's path in front. */
static const char *link_error(void)
{
    const char *const text = dlerror();
    if (!text)
        return "unknown error";
    const char *const reason =
        strncmp(text, FD_NAME, strlen(FD_NAME)) == 0 ? strstr(text, ": ") : NULL;
    return reason ? reason + 2 : text;
}

struct module_search {
    struct stat file;
    int fd; /* descriptor through which it was first opened, or -1 */
};

static int loader_module_match(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct module_search *const s = arg;
    struct stat st;
    (void)size;
    if (strncmp(info->dlpi_name, FD_NAME, strlen(FD_NAME)) != 0)
        return 0;
    const int fd = atoi(info->dlpi_name + strlen(FD_NAME));
    if (fstat(fd, &st) < 0 || st.st_dev != s->file.st_dev || st.st_ino != s->file.st_ino)
        return 0;
    s->fd = fd;
    return 1;
}

/* The linker identifies a module by the names by which it was opened, so those descriptors must
 * stay open: another file with the same number would be mistaken for it. Uses one name per file;
 * returns the descriptor with that name. */
static int loader_module_find_open_fd(int fd)
{
    struct module_search s = {.fd = -1};
    if (fstat(fd, &s.file) == 0)
        dl_iterate_phdr(loader_module_match, &s);
    return s.fd >= 0 ? s.fd : fd;
}

static void *link_file(struct loader_module *m, int fd, struct tc_err *err)
{
    char name[64];
    const int known = loader_module_find_open_fd(fd);
    snprintf(name, sizeof name, FD_NAME "%d", known);
    void *const handle = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle)
        err_set(err, NULL, "cannot load: %s", link_error());
    m->keeps_file = handle && known == fd;
    return handle;
}

/* ---- the constant ---- */

/* The symbol in the file: the object must have the size that it declares. */
static const struct tc_plugin *find_plugin(void *handle, struct tc_err *err)
{
    const struct tc_plugin *const p = dlsym(handle, SYMBOL);
    if (!p) {
        err_set(err, NULL, "does not export %s; define the plugin with TURNCAST_PLUGIN(…)", SYMBOL);
        return NULL;
    }
    Dl_info info;
    const ElfW(Sym) *symbol = NULL;
    if (!dladdr1(p, &info, (void **)(uintptr_t)&symbol, RTLD_DL_SYMENT) || !symbol ||
        ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT) {
        err_set(err, NULL, "%s is not a constant; define the plugin with TURNCAST_PLUGIN(…)",
                SYMBOL);
        return NULL;
    }
    if (symbol->st_size < HEAD || p->size > symbol->st_size || p->size > SIZE_MAX_SANE) {
        err_set(err, NULL, "%s declares %u bytes, but the file contains %zu of them", SYMBOL,
                p->size, (size_t)symbol->st_size);
        return NULL;
    }
    return p;
}

static size_t loader_module_smaller_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

static int loader_module_copy_sink(struct loader_module *m, struct tc_err *err)
{
    const struct tc_sink *const sink = m->plugin.sink;
    if (!sink)
        return err_set(err, NULL, ".sink is missing; set .sink = TC_SINK(…)");
    if (sink->size < SINK_MIN || sink->size > SIZE_MAX_SANE)
        return err_set(err, NULL, ".sink has %zu bytes; expected at least %zu", sink->size,
                       SINK_MIN);
    memcpy(&m->sink, sink, loader_module_smaller_size(sink->size, sizeof m->sink));
    return 0;
}

int loader_module_open(struct loader_module *m, int fd, struct tc_err *err)
{
    *m = (struct loader_module){0};
    void *const handle = link_file(m, fd, err);
    const struct tc_plugin *const p = handle ? find_plugin(handle, err) : NULL;
    if (!p)
        return -1;
    memcpy(&m->plugin, p, loader_module_smaller_size(p->size, sizeof m->plugin));
    return descriptor_validate(&m->plugin, err) < 0 ? -1 : loader_module_copy_sink(m, err);
}
