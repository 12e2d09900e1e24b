/* SPDX-License-Identifier: MIT
 * Checks who may answer a request, and formats the name under which the answer is shown. */
#include "core/inbound/inbound_request.h"
#include "text/sentence/texts.h"

#include <string.h>

#include "base/bytes/utf8.h"
#include "base/sys/log.h"
#include "text/text_reveal.h"

#define NAME_SIZE 65 /* limit of a person's name in shown texts */

static void inbound_request_issue_ticket(struct request_registry *r,
                                         const struct inbound_remote *remote,
                                         const struct conf_instance *inst, struct host_call *a)
{
    char guest[REQUEST_TICKET_SIZE];
    const char *ticket = NULL;
    if ((inst->grants & CONF_ANSWER) && inbound_remote_has(remote, a->turn)) {
        request_make_guest_ticket(guest, inst->name, a->turn, a->request);
        ticket = guest;
    } else if (inst->grants & CONF_ANSWER) {
        ticket = request_issue_ticket(r, inst->name, a->turn, a->request);
    }
    host_call_complete(a, ticket ? TC_ACCEPTED : TC_KNOWN, NULL, ticket);
}

static void inbound_request_decide(struct request_registry *r, const struct conf_instance *inst,
                                   struct host_call *a, const struct request_decision *d)
{
    CLEANUP_BUF struct buf text = {0};
    const enum tc_accepted accepted = request_answer(r, d, &text);
    if (accepted != TC_COMMAND)
        log_write(LOG_INFO, "host", "instance %s: rejected an answer from user %s: %s", inst->name,
                  d->user, text.p);
    host_call_complete(a, accepted, d->turn, text.p);
}

/* A person without permission gets the same reply whether the request exists or not. */
static void inbound_request_apply_decision(struct request_registry *r,
                                           const struct inbound_remote *remote,
                                           const struct conf_instance *inst, struct host_call *a)
{
    const struct tc_decision *const d = a->decision;
    struct arena arena = {0};
    CLEANUP_BUF struct buf by = {0};
    char name[NAME_SIZE];
    struct request_decision decision = {
        .choice = d->choice,
        .text = d->text,
        .answers = d->answers,
        .instance = inst->name,
        .chat = d->chat,
        .thread = d->thread,
        .user = d->user,
    };
    const bool is_guest = inbound_remote_find(remote, &arena, &decision, d->ticket);
    if (!is_guest &&
        !request_find_ticket(r, inst->name, d->ticket, &decision.turn, &decision.request)) {
        log_write(LOG_INFO, "host",
                  "instance %s: ignored an answer from user %s: no such open request in this chat",
                  inst->name, d->user);
        host_call_complete(a, TC_KNOWN, NULL, texts_get(TEXT_REQUEST_CLOSED));
        return;
    }
    utf8_copy_truncated(name, sizeof name, d->name && *d->name ? d->name : d->user);
    text_reveal_line(&by, name, strlen(name));
    buf_printf(&by, " (%s)", inst->name);
    decision.by = by.p;
    if (is_guest)
        inbound_remote_decide(remote, a, &decision);
    else
        inbound_request_decide(r, inst, a, &decision);
    arena_fini(&arena);
}

void inbound_request_handle(struct request_registry *r, const struct inbound_remote *remote,
                            struct access_control *p, const struct conf_instance *inst,
                            struct host_call *a)
{
    if (a->kind == HOST_CALL_TICKET)
        inbound_request_issue_ticket(r, remote, inst, a);
    else if (access_control_allows_answer(p, inst, a->decision->user, a->decision->chat))
        inbound_request_apply_decision(r, remote, inst, a);
    else
        host_call_complete(a, TC_DENIED, NULL, texts_get(TEXT_REQUEST_NOT_ALLOWED));
}
