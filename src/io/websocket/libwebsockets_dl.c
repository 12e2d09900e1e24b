/* SPDX-License-Identifier: MIT
 * Loads libwebsockets. */
#include "io/websocket/libwebsockets_dl.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

/* The library's structures differ between minor versions, and so does its name. */
#if LWS_LIBRARY_VERSION_MAJOR == 4 && LWS_LIBRARY_VERSION_MINOR == 1
#define SONAME "libwebsockets.so.17"
#elif LWS_LIBRARY_VERSION_MAJOR == 4 && LWS_LIBRARY_VERSION_MINOR == 2
#define SONAME "libwebsockets.so.18"
#elif LWS_LIBRARY_VERSION_MAJOR == 4 && LWS_LIBRARY_VERSION_MINOR == 3
#define SONAME "libwebsockets.so.19"
#else
#error "which libwebsockets.so is it?"
#endif

/* dlsym returns an object pointer; POSIX guarantees that it can hold a function's address. */
static bool libwebsockets_dl_find(void *library, const char *name, void *function)
{
    void *const address = dlsym(library, name);
    memcpy(function, &address, sizeof address);
    return address;
}

static bool libwebsockets_dl_is_header_version(const char *version)
{
    static const char built_with[] = LWS_LIBRARY_VERSION;
    return strncmp(version, built_with, sizeof "4.1." - 1) == 0;
}

int libwebsockets_load(struct libwebsockets *lib, struct tc_err *err)
{
    /* The TLS library registers exit handlers, so it cannot be unloaded. */
    void *const library = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library)
        return err_set(err, SONAME, "cannot load: %s", dlerror());
#define LIBWEBSOCKETS_FIND(name)                                                                   \
    if (!libwebsockets_dl_find(library, "lws_" #name, &lib->name))                                 \
        return err_set(err, SONAME, "has no lws_" #name);
    LIBWEBSOCKETS_FUNCTIONS(LIBWEBSOCKETS_FIND)
#undef LIBWEBSOCKETS_FIND
    if (!libwebsockets_dl_is_header_version(lib->get_library_version()))
        return err_set(err, SONAME, "has version %s; expected %s", lib->get_library_version(),
                       LWS_LIBRARY_VERSION);
    lib->set_log_level(0, NULL); /* errors are passed to the callback; the library's log may contain
                                  * URLs */
    return 0;
}
