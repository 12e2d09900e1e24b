/* SPDX-License-Identifier: MIT
 * Owns the loading of libnats. */
#include "io/nats/libnats_dl.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

/* Its file name carries the minor version. */
static const char *const sonames[] = {
    "libnats.so.3.4", "libnats.so.3.9", "libnats.so.3.8", "libnats.so.3.7",
    "libnats.so.3.6", "libnats.so.3.5", "libnats.so",     NULL};

/* dlsym gives an object pointer; POSIX says that it holds a function's address. */
static bool libnats_dl_find(void *library, const char *name, void *function)
{
    void *const address = dlsym(library, name);
    memcpy(function, &address, sizeof address);
    return address;
}

/* It starts threads: it cannot leave again. */
static void *libnats_dl_open(void)
{
    void *library = NULL;
    for (size_t i = 0; !library && sonames[i]; i++)
        library = dlopen(sonames[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    return library;
}

int libnats_load(struct libnats *nats, struct tc_err *err)
{
    void *const library = libnats_dl_open();
    if (!library)
        return err_set(err, sonames[0], "cannot load: %s; install libnats3.4", dlerror());
#define LIBNATS_FIND(name)                                                                         \
    if (!libnats_dl_find(library, #name, &nats->name))                                             \
        return err_set(err, sonames[0], "has no " #name);
    LIBNATS_FUNCTIONS(LIBNATS_FIND)
#undef LIBNATS_FIND
    return 0;
}
