/* SPDX-License-Identifier: MIT
 * Chooses the answer by the state of the instance that the path names. */
#include "core/host/unserved_hook.h"

#include <string.h>

#include "io/http/server/httpd_error.h"

struct unserved_hook {
    const char *path; /* behind "/hooks/" */
    bool is_elsewhere;
};

static void unserved_hook_check_instance(void *ctx, const struct dispatch_instance *i)
{
    struct unserved_hook *const h = ctx;
    const size_t len = strlen(i->name);
    const bool is_named = strncmp(h->path, i->name, len) == 0 && strchr("/", h->path[len]);
    h->is_elsewhere |= is_named && i->stands_by;
}

void unserved_hook_answer(const struct dispatch *dispatch, const struct changes *changes,
                          struct httpd_request *request)
{
    static const struct httpd_error starting = {
        .status = 503,
        .code = "instance_starting",
        .message = "An instance that may serve this path is starting; try again later.",
    };
    static const struct httpd_error elsewhere = {
        .status = 503,
        .code = "instance_elsewhere",
        .message = "Another host runs the instance of this path; try again later.",
    };
    static const struct httpd_error unknown = {
        .status = 404,
        .code = "not_found",
        .message = "No instance serves this path.",
    };
    struct unserved_hook h = {.path = request->path + strlen("/hooks/")};
    if (instance_changes_is_busy(changes)) {
        httpd_answer_error(request, &starting);
        return;
    }
    dispatch_each_instance(dispatch, unserved_hook_check_instance, &h);
    httpd_answer_error(request, h.is_elsewhere ? &elsewhere : &unknown);
}
