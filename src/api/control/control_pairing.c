/* SPDX-License-Identifier: MIT
 * Lists paired people, adds one by a code and removes one, for the operator. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/control/control_internal.h"
#include "api/shared/api_http.h"
#include "base/alloc.h"
#include "core/inbound/pairing.h"
#include "event/json/json_writer.h"

static void append_person(struct buf *out, const struct pairing_person *person)
{
    buf_add_str(out, "{");
    jsonw_member_str(out, "instance", person->instance);
    jsonw_member_str(out, "user", person->user);
    jsonw_member_str(out, "name", person->name);
    buf_printf(out, ",\"since_ms\":%" PRId64 "}", person->since_ms);
}

static void control_pairing_add(void *ctx, const struct pairing_person *person)
{
    struct buf *const out = ctx;
    if (out->p[out->len - 1] != '[')
        buf_add_char(out, ',');
    append_person(out, person);
}

static void control_pairing_list(struct pairing *p, struct httpd_request *r)
{
    CLEANUP_BUF struct buf body = {0};
    buf_add_str(&body, "{\"people\":[");
    pairing_each(p, control_pairing_add, &body);
    buf_printf(&body, "],\"codes\":%zu}\n", pairing_count_codes(p));
    api_http_send_json(r, 200, &body);
}

/* ---- a change ---- */

struct pairing_change {
    struct control *control;
    struct httpd_request *request;
    struct buf body; /* HTTP status of the response */
};

static void pairing_change_on_written(void *ctx, enum journal_status status, const char *text)
{
    struct pairing_change *const ch = ctx;
    (void)text;
    if (ch->control->gone)
        httpd_answer(ch->request, 503, NULL, STR("")); /* frees the request: its client has
                                                        * disconnected */
    else if (status == JOURNAL_DONE || status == JOURNAL_NO_CHANGE)
        api_http_send_json(ch->request, 200, &ch->body);
    else
        api_http_error(ch->request, 503, "not_kept",
                       "The change is in effect until turncast restarts, but could not be stored; "
                       "see the log of turncast.");
    control_on_reply_sent(ch->control);
    buf_fini(&ch->body);
    free(ch);
}

static struct pairing_change *pairing_change_new(struct control *c, struct httpd_request *r)
{
    struct pairing_change *const ch = xcalloc(1, sizeof *ch);
    ch->control = c;
    ch->request = r;
    c->asking++;
    return ch;
}

static void pairing_change_drop(struct pairing_change *ch)
{
    control_on_reply_sent(ch->control);
    free(ch);
}

static void control_pairing_accept(struct control *c, struct httpd_request *r, const char *instance,
                                   const char *code)
{
    struct pairing_person person;
    struct pairing *const p = host_get_parts(c->server).pairing;
    struct pairing_change *const ch = pairing_change_new(c, r);
    const enum pairing_result how =
        pairing_accept(p, instance, code, &person, pairing_change_on_written, ch);
    switch (how) {
    case PAIRING_DONE:
        append_person(&ch->body, &person);
        buf_add_str(&ch->body, "\n");
        return;
    case PAIRING_WRONG:
        api_http_error(r, 404, "wrong_code", "Wrong pairing code, or it has expired.");
        break;
    case PAIRING_LIMITED:
        api_http_error(r, 429, "too_many_codes",
                       "Too many wrong pairing codes (limit: 10 per hour); try again later.");
        break;
    case PAIRING_FULL:
        api_http_error(r, 409, "too_many_people",
                       "Too many paired people (limit: 1000); revoke some first.");
        break;
    }
    pairing_change_drop(ch);
}

static void control_pairing_revoke(struct control *c, struct httpd_request *r, const char *instance,
                                   const char *user)
{
    struct pairing_change *const ch = pairing_change_new(c, r);
    buf_add_str(&ch->body, "{");
    jsonw_member_str(&ch->body, "revoked", user);
    buf_add_str(&ch->body, "}\n");
    if (pairing_revoke(host_get_parts(c->server).pairing, instance, user, pairing_change_on_written,
                       ch))
        return;
    buf_fini(&ch->body);
    api_http_error(r, 404, "not_paired", "This user is not paired with the instance.");
    pairing_change_drop(ch);
}

/* {"instance", "code"} or {"instance", "revoke"} */
static void control_pairing_handle_change(struct control *c, struct httpd_request *r,
                                          const json_t *body)
{
    bool bad = false;
    struct tc_err err = {0};
    const char *const instance = api_http_get_string(body, "instance", &bad);
    const char *const code = api_http_get_string(body, "code", &bad);
    const char *const user = api_http_get_string(body, "revoke", &bad);
    if (bad || !instance || !code == !user)
        api_http_error(r, 400, "invalid_value",
                       "instance and one of code and revoke must be strings.");
    else if (user)
        control_pairing_revoke(c, r, instance, user);
    else if (!dispatch_find_configured(host_get_parts(c->server).dispatch, instance, &err))
        api_http_error(r, 404, "no_such_instance", err_format(&err));
    else
        control_pairing_accept(c, r, instance, code);
}

void control_handle_pairing(void *control, struct httpd_request *r)
{
    struct control *const c = control;
    if (strcmp(r->method, "POST") != 0) {
        control_pairing_list(host_get_parts(c->server).pairing, r);
        return;
    }
    json_t *const body = api_http_parse_body(r);
    if (body)
        control_pairing_handle_change(c, r, body);
    json_decref(body);
}
