/* SPDX-License-Identifier: MIT
 * Loads libcurl. */
#include "io/http/client/libcurl_dl.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#define SONAME "libcurl.so.4"

/* dlsym returns an object pointer; POSIX guarantees that it can hold a function's address. */
static bool libcurl_dl_find(void *library, const char *name, void *function)
{
    void *const address = dlsym(library, name);
    memcpy(function, &address, sizeof address);
    return address;
}

int libcurl_load(struct libcurl *curl, struct tc_err *err)
{
    /* libcurl starts threads and registers exit handlers, so it cannot be unloaded. */
    void *const library = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library)
        return err_set(err, SONAME, "cannot load: %s", dlerror());
#define LIBCURL_FIND(name)                                                                         \
    if (!libcurl_dl_find(library, "curl_" #name, &curl->name))                                     \
        return err_set(err, SONAME, "has no curl_" #name);
    LIBCURL_FUNCTIONS(LIBCURL_FIND)
#undef LIBCURL_FIND
    if (curl->global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return err_set(err, SONAME, "cannot initialise");
    return 0;
}
