/* SPDX-License-Identifier: MIT
 * Owns how an operator has approvals forgotten that are remembered. */
#include <stdlib.h>
#include <string.h>

#include "api/control_impl.h"
#include "api/reply.h"
#include "core/approvals.h"

#define FORGET "forget"
#define AGENT "agent="

/* The number in "/approvals/ID/forget"; 0: it is something else. */
static int64_t approval_of(const char *path)
{
    const char *const id = path + strlen(CONTROL_APPROVALS);
    const size_t digits = strspn(id, "0123456789");
    return digits > 0 && digits < 19 && strcmp(id + digits, "/" FORGET) == 0 ? strtoll(id, NULL, 10)
                                                                             : 0;
}

/* Names of agents are never encoded. */
static bool read_agent(const char *query, const char **agent)
{
    *agent = strncmp(query, AGENT, strlen(AGENT)) == 0 ? query + strlen(AGENT) : NULL;
    return !*query || (*agent && **agent && !strpbrk(*agent, "&%"));
}

static void tell_forgotten(struct httpd_request *r, size_t n)
{
    CLEANUP_BUF struct buf body = {0};
    buf_printf(&body, "{\"forgotten\":%zu}\n", n);
    reply_json(r, 200, &body);
}

void control_forget_approvals(void *control, struct httpd_request *r)
{
    const struct control *const c = control;
    struct approvals *const approvals = server_parts(c->server).approvals;
    const bool all = strcmp(r->path, CONTROL_APPROVALS FORGET) == 0;
    const int64_t id = all ? 0 : approval_of(r->path);
    const char *agent = NULL;
    if ((!all && !id) || !read_agent(r->query, &agent)) {
        reply_error(r, 404, "no_such_page", "there is nothing here");
        return;
    }
    const size_t n = all ? approvals_forget_all(approvals, agent) : approvals_forget(approvals, id);
    if (all || n)
        tell_forgotten(r, n);
    else
        reply_error(r, 404, "no_such_approval", "there is no such approval");
}
