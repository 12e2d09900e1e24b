/* SPDX-License-Identifier: MIT
 * Revokes remembered approvals. */
#include <stdlib.h>
#include <string.h>

#include "api/control/control_internal.h"
#include "api/shared/api_http.h"
#include "base/alloc.h"
#include "core/request/approvals.h"

#define FORGET "forget"
#define AGENT "agent="

/* The number in "/approvals/ID/forget"; 0: another path. */
static int64_t approval_of(const char *path)
{
    const char *const id = path + strlen(CONTROL_APPROVALS);
    const size_t digits = strspn(id, "0123456789");
    return digits > 0 && digits < 19 && strcmp(id + digits, "/" FORGET) == 0 ? strtoll(id, NULL, 10)
                                                                             : 0;
}

/* Names of agents need no percent-decoding. */
static bool read_agent(const char *query, const char **agent)
{
    *agent = strncmp(query, AGENT, strlen(AGENT)) == 0 ? query + strlen(AGENT) : NULL;
    return !*query || (*agent && **agent && !strpbrk(*agent, "&%"));
}

struct forgetting {
    struct control *control;
    struct httpd_request *request;
    struct journal_approval_filter which; /* agent: may be freed after the call */
    size_t n;
};

static void control_approvals_send_deleted(const struct forgetting *f)
{
    CLEANUP_BUF struct buf body = {0};
    buf_printf(&body, "{\"forgotten\":%zu}\n", f->n);
    api_http_send_json(f->request, 200, &body);
}

static void on_forgotten(void *ctx, enum journal_status status, const char *text)
{
    struct forgetting *const f = ctx;
    (void)text;
    if (status != JOURNAL_DONE && status != JOURNAL_NO_CHANGE)
        api_http_error(f->request, 503, "not_kept",
                       "Cannot change the stored approvals; see the log of turncast.");
    else if (f->which.id && status == JOURNAL_NO_CHANGE && !f->n)
        api_http_error(f->request, 404, "no_such_approval", "Unknown approval.");
    else
        control_approvals_send_deleted(f);
    control_on_reply_sent(f->control);
    free(f);
}

void control_handle_approvals(void *control, struct httpd_request *r)
{
    struct control *const c = control;
    const bool all = strcmp(r->path, CONTROL_APPROVALS FORGET) == 0;
    struct journal_approval_filter which = {.id = all ? 0 : approval_of(r->path)};
    if ((!all && !which.id) || !read_agent(r->query, &which.agent)) {
        api_http_error(r, 404, "no_such_page", "There is nothing at this path.");
        return;
    }
    struct forgetting *const f = xmalloc(sizeof *f);
    *f = (struct forgetting){.control = c, .request = r, .which = which};
    c->asking++;
    f->n = approvals_revoke(host_get_parts(c->server).approvals, &which, on_forgotten, f);
}
