/* SPDX-License-Identifier: MIT
 * Answers requests for hooks that no instance serves. Loop thread only. */
#ifndef CORE_HOST_UNSERVED_HOOK_H
#define CORE_HOST_UNSERVED_HOOK_H

#include "core/dispatch/dispatch.h"
#include "core/host/instance_changes.h"
#include "io/http/server/httpd.h"

/* While instances start, and where another host runs the instance, the service is asked to come
 * again: to many services a 404 would mean that the address is wrong for good. */
void unserved_hook_answer(const struct dispatch *dispatch, const struct changes *changes,
                          struct httpd_request *request);

#endif
