/* SPDX-License-Identifier: MIT
 * Inbound messages, permissions, cancellation and answers from people. */
#include "base/versioned.h"
#include "plugin/instance/services_internal.h"
#include "text/sentence/texts.h"

#define HOST_CALL_MS 30000 /* longer than any useful disk write takes */

static struct tc_inbound services_inbound_complete(const struct tc_inbound *given)
{
    struct tc_inbound in;
    versioned_copy(&in, sizeof in, given);
    in.text = in.text ? in.text : "";
    return in;
}

/* Fills the receipt even if the plugin passes NULL. The wait does not count as callback time in the
 * status page. */
static enum tc_accepted services_inbound_call_host(struct instance *in, struct host_call *a,
                                                   struct tc_receipt *receipt)
{
    struct tc_receipt ignored;
    in->host.ask(in->host.ctx, a);
    const enum tc_accepted accepted =
        host_call_wait(a, HOST_CALL_MS, &in->scratch, receipt ? receipt : &ignored);
    status_page_reset_timer(in->status);
    return accepted;
}

static void services_inbound_clear_receipt(struct tc_receipt *receipt)
{
    if (receipt)
        *receipt = (struct tc_receipt){0};
}

/* Default texts for people about an answer or a cancellation. */
struct inbound_texts {
    enum text_id done, known, denied, invalid, lost;
};
static const struct inbound_texts cancel_texts = {
    TEXT_STOPPING, TEXT_STOP_OVER, TEXT_STOP_NOT_ALLOWED, TEXT_STOP_INVALID, TEXT_STOP_LOST};
static const struct inbound_texts resend_texts = {
    TEXT_RESENDING, TEXT_RESEND_NONE, TEXT_RESEND_NOT_ALLOWED, TEXT_RESEND_NONE, TEXT_RESEND_LOST};
static const struct inbound_texts retry_texts = {
    TEXT_RETRYING, TEXT_RETRY_KNOWN, TEXT_RETRY_NOT_ALLOWED, TEXT_RETRY_NONE, TEXT_RETRY_LOST};
static const struct inbound_texts answer_texts = {TEXT_ANSWERED, TEXT_REQUEST_CLOSED,
                                                  TEXT_REQUEST_NOT_ALLOWED, TEXT_REQUEST_INVALID,
                                                  TEXT_REQUEST_LOST};

/* Each outcome has a text for the person, so that connectors need none. */
static enum tc_accepted services_inbound_explain(const struct inbound_texts *texts,
                                                 enum tc_accepted how, struct tc_receipt *receipt)
{
    if (receipt && !receipt->answer)
        receipt->answer = texts_get(how == TC_COMMAND   ? texts->done
                                    : how == TC_KNOWN   ? texts->known
                                    : how == TC_DENIED  ? texts->denied
                                    : how == TC_INVALID ? texts->invalid
                                                        : texts->lost);
    return how;
}

/* Maps newer results to older ones for a plugin built for an older version. */
static enum tc_accepted services_inbound_map_result(const struct instance *in, enum tc_accepted how)
{
    const uint32_t minor = in->loaded->plugin.minor;
    if (how == TC_INVALID)
        return minor >= 4 ? TC_INVALID : TC_DENIED;
    return minor >= 3 || (how != TC_GIVEN && how != TC_INTERRUPT) ? how : TC_QUEUED;
}

/* Invalid arguments do not cause TC_NOT_KEPT, because they would be invalid again. */
static enum tc_accepted services_inbound_refuse(const struct instance *in, const char *service,
                                                const char *fault)
{
    services_refuse(in, service, fault);
    return services_inbound_map_result(in, TC_INVALID);
}

enum tc_accepted service_submit(struct tc_turn *turn, const struct tc_inbound *inbound,
                                struct tc_receipt *receipt)
{
    services_inbound_clear_receipt(receipt);
    struct instance_turn *const t = instance_check_turn(turn, "tc_submit");
    if (!t || !services_check_offered(t->in, "tc_submit", t->in->host.ask, OFFER_ASK))
        return TC_NOT_KEPT;
    const struct tc_inbound in = services_inbound_complete(inbound);
    const char *const fault = validate_inbound(&in);
    if (fault)
        return services_inbound_refuse(t->in, "tc_submit", fault);
    return services_inbound_map_result(
        t->in, services_inbound_call_host(t->in, host_call_new_submit(t->in->name, &in), receipt));
}

enum tc_accepted service_cancel(struct tc_turn *turn, const char *id, const char *user,
                                struct tc_receipt *receipt)
{
    services_inbound_clear_receipt(receipt);
    struct instance_turn *const t = instance_check_turn(turn, "tc_cancel");
    if (!t || !services_check_offered(t->in, "tc_cancel", t->in->host.ask, OFFER_ASK))
        return services_inbound_explain(&cancel_texts, TC_NOT_KEPT, receipt);
    if (!validate_id(id) || !validate_id(user))
        return services_inbound_explain(
            &cancel_texts,
            services_inbound_refuse(t->in, "tc_cancel",
                                    "the turn or the user is missing or not valid"),
            receipt);
    struct host_call *const call = host_call_new_cancel(t->in->name, id, user);
    return services_inbound_explain(&cancel_texts, services_inbound_call_host(t->in, call, receipt),
                                    receipt);
}

enum tc_accepted instance_resend(struct instance *in, const char *turn, const char *user,
                                 const char *chat, struct tc_receipt *receipt)
{
    services_inbound_clear_receipt(receipt);
    if (!in->host.ask)
        return services_inbound_explain(&resend_texts, TC_NOT_KEPT, receipt);
    if (!validate_id(turn) || !validate_id(user) || !validate_id(chat))
        return services_inbound_explain(&resend_texts, TC_INVALID, receipt);
    struct host_call *const call = host_call_new_resend(in->name, turn, user, chat);
    return services_inbound_explain(&resend_texts, services_inbound_call_host(in, call, receipt),
                                    receipt);
}

static bool services_inbound_has_turn(enum tc_accepted how)
{
    return how == TC_ACCEPTED || how == TC_QUEUED || how == TC_GIVEN || how == TC_INTERRUPT;
}

enum tc_accepted instance_retry(struct instance *in, const struct tc_inbound *inbound,
                                const char *turn, struct tc_receipt *receipt)
{
    services_inbound_clear_receipt(receipt);
    if (!in->host.ask)
        return services_inbound_explain(&retry_texts, TC_NOT_KEPT, receipt);
    if (!validate_id(turn) || validate_inbound(inbound))
        return services_inbound_explain(&retry_texts, TC_INVALID, receipt);
    const enum tc_accepted how =
        services_inbound_call_host(in, host_call_new_retry(in->name, inbound, turn), receipt);
    services_inbound_explain(&retry_texts, services_inbound_has_turn(how) ? TC_COMMAND : how,
                             receipt);
    return how;
}

bool service_may_submit(struct tc_turn *turn, const char *user, const char *chat)
{
    struct instance_turn *const t = instance_check_turn(turn, "tc_may_submit");
    if (!t || !services_check_offered(t->in, "tc_may_submit", t->in->host.ask, OFFER_ASK))
        return false;
    if (!validate_id(user) || !validate_id(chat)) {
        services_refuse(t->in, "tc_may_submit", "the user or the chat is missing or not valid");
        return false;
    }
    return services_inbound_call_host(
               t->in, host_call_new_check_permission(t->in->name, user, chat), NULL) == TC_ACCEPTED;
}

bool service_knows(struct tc_turn *turn, const char *chat, const char *thread)
{
    struct instance_turn *const t = instance_check_turn(turn, "tc_knows");
    if (!t || !services_check_offered(t->in, "tc_knows", t->in->host.ask, OFFER_ASK))
        return false;
    if (!validate_id(chat) || (thread && !validate_id(thread))) {
        services_refuse(t->in, "tc_knows", "the chat or the thread is missing or not valid");
        return false;
    }
    return services_inbound_call_host(t->in, host_call_new_knows_chat(t->in->name, chat, thread),
                                      NULL) == TC_ACCEPTED;
}

const char *service_ticket(struct tc_turn *turn, const char *request)
{
    struct tc_receipt receipt = {0};
    struct instance_turn *const t = instance_check_turn(turn, "tc_ticket");
    if (!t || !services_check_offered(t->in, "tc_ticket", t->in->host.ask, OFFER_ASK))
        return NULL;
    if (!validate_id(turn->id) || !*turn->id || !validate_id(request)) {
        services_refuse(t->in, "tc_ticket", "the turn or the request is missing or not valid");
        return NULL;
    }
    const enum tc_accepted accepted = services_inbound_call_host(
        t->in, host_call_new_ticket(t->in->name, turn->id, request), &receipt);
    return accepted == TC_ACCEPTED && receipt.answer ? service_keep(turn, receipt.answer) : NULL;
}

enum tc_accepted service_answer(struct tc_turn *turn, const struct tc_decision *decision,
                                struct tc_receipt *receipt)
{
    services_inbound_clear_receipt(receipt);
    struct tc_decision d;
    struct instance_turn *const t = instance_check_turn(turn, "tc_answer");
    if (!t || !services_check_offered(t->in, "tc_answer", t->in->host.ask, OFFER_ASK))
        return services_inbound_explain(&answer_texts, TC_NOT_KEPT, receipt);
    versioned_copy(&d, sizeof d, decision);
    const char *const fault = validate_decision(&d);
    if (fault)
        return services_inbound_explain(
            &answer_texts, services_inbound_refuse(t->in, "tc_answer", fault), receipt);
    struct host_call *const call = host_call_new_answer(t->in->name, &d);
    return services_inbound_explain(&answer_texts, services_inbound_call_host(t->in, call, receipt),
                                    receipt);
}
