/* SPDX-License-Identifier: MIT
 * The steps of a delivery, see chat_delivery.h. */
#include "chat/operation/chat_delivery.h"

#include <string.h>

#include "base/invariant.h"
#include "text/sentence/texts.h"

#define ERROR_MS INT64_C(1000)       /* delay between an error of the service and the next probe */
#define ERROR_DOUBLINGS 9            /* number of doublings of this delay */
#define ERROR_MAX_MS INT64_C(300000) /* maximum delay */

/* ---- the table ---- */

static const struct {
    unsigned char from, event, to;
} rows[] = {
#define ROW(state, event, next) {CHAT_##state, CHAT_ON_##event, CHAT_##next},
    CHAT_DELIVERY_TRANSITIONS(ROW)
#undef ROW
};

void chat_delivery_renew(struct chat_record *r, struct chat_delivery_policy *policy,
                         int64_t until_ms)
{
    r->tried.doubts = r->tried.errors = 0;
    r->until_ms = until_ms;
    policy->drops_doubts = false;
}

bool chat_delivery_permits_transition(enum chat_delivery_state from, enum chat_delivery_event event,
                                      enum chat_delivery_state to)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].from == from && rows[i].event == event && rows[i].to == to)
            return true;
    return false;
}

static enum chat_delivery_event chat_delivery_classify_result(const struct chat_result *r,
                                                              enum chat_delivery_state state)
{
    static const unsigned char events[TC_RESULTS] = {
        [TC_RESULT_DONE] = CHAT_ON_CONFIRMED,
        [TC_RESULT_NEXT_STEP] = CHAT_ON_CONFIRMED,
        [TC_RESULT_NOT_FOUND] = CHAT_ON_ABSENT,
        [TC_RESULT_IN_DOUBT] = CHAT_ON_LOST,
        [TC_RESULT_RETRY] = CHAT_ON_DELAYED,
        [TC_RESULT_BAD_FORMAT] = CHAT_ON_FORMAT,
        [TC_RESULT_TOO_LONG] = CHAT_ON_LONG,
        [TC_RESULT_EMPTY] = CHAT_ON_EMPTY,
        [TC_RESULT_REPLY_GONE] = CHAT_ON_NO_QUESTION,
        [TC_RESULT_THREAD_GONE] = CHAT_ON_NO_THREAD,
        [TC_RESULT_MESSAGE_GONE] = CHAT_ON_NO_MESSAGE,
        [TC_RESULT_CHAT_MOVED] = CHAT_ON_MOVED,
        [TC_RESULT_CHAT_GONE] = CHAT_ON_NO_CHAT,
        [TC_RESULT_UNSUPPORTED] = CHAT_ON_UNSUPPORTED,
        [TC_RESULT_UNAUTHORIZED] = CHAT_ON_LOCKED,
        [TC_RESULT_REFUSED] = CHAT_ON_REFUSED,
        [TC_RESULT_STOPPED] = CHAT_ON_REFUSED,
        [TC_RESULT_STREAM_OVER] = CHAT_ON_NO_MESSAGE,
    };
    enum chat_delivery_event event = (enum chat_delivery_event)events[r->result.kind];
    if (event == CHAT_ON_LOST && r->answered)
        event = CHAT_ON_UNCLEAR;
    /* A search and a probe contain no message of which a part could be refused. */
    const bool told = event <= CHAT_ON_UNCLEAR || event == CHAT_ON_LOCKED;
    const bool searched =
        event == CHAT_ON_ABSENT || event == CHAT_ON_UNSUPPORTED || event == CHAT_ON_NO_CHAT;
    if ((state == CHAT_PROBING && !told) || (state == CHAT_FINDING && !told && !searched))
        event = CHAT_ON_REFUSED;
    return event;
}

/* ---- steps ---- */

static struct chat_delivery_decision chat_delivery_give_up(struct chat_record *r,
                                                           const char *reason)
{
    r->state = CHAT_DEAD;
    return (struct chat_delivery_decision){.step = CHAT_STEP_DEAD, .reason = reason};
}

static struct chat_delivery_decision chat_delivery_let_host_repeat(const struct chat_result *result)
{
    return (struct chat_delivery_decision){
        .step = CHAT_STEP_AGAIN, .hold_ms = result->result.hold_ms, .scope = result->result.scope};
}

static struct chat_delivery_decision
chat_delivery_send_op(struct chat_record *r, enum chat_delivery_state state, enum tc_op_kind op)
{
    if (r->op != op) { /* otherwise completed steps are not repeated */
        r->step = 0;
        r->cursor = op == TC_OP_LOOKUP ? r->cursor : NULL;
    }
    r->state = state;
    r->op = op;
    return (struct chat_delivery_decision){.step = CHAT_STEP_SEND};
}

static bool is_streamed(const struct chat_record *r)
{
    return strcmp(r->slot, CHAT_SLOT_STREAMED) == 0;
}

/* Sends the message as a new one; a file stays a file. The record of a stream has the text as
 * Markdown. */
static struct chat_delivery_decision chat_delivery_post(struct chat_record *r)
{
    if (is_streamed(r)) {
        r->state = CHAT_POSTING;
        return (struct chat_delivery_decision){.step = CHAT_STEP_WHOLE};
    }
    r->message = NULL;
    return r->file.name ? chat_delivery_send_op(r, CHAT_FILING, TC_OP_FILE)
                        : chat_delivery_send_op(r, CHAT_POSTING, TC_OP_POST);
}

/* After a definite refusal, the changed message gets a new key. */
static struct chat_delivery_decision chat_delivery_change(struct chat_record *r,
                                                          const struct chat_delivery_policy *policy)
{
    r->generation++;
    r->since_ms = policy->now_ms;
    return chat_delivery_send_op(r, r->state, r->op);
}

static struct chat_delivery_decision
chat_delivery_omit_part(struct chat_record *r, unsigned part, const char *reason,
                        const struct chat_delivery_policy *policy)
{
    if (r->omit & part)
        return chat_delivery_give_up(r, reason);
    r->omit |= part;
    return chat_delivery_change(r, policy);
}

/* Sends a new message, because the progress message cannot become the answer. */
static struct chat_delivery_decision
chat_delivery_post_instead(struct chat_record *r, enum chat_delivery_event event,
                           const struct chat_delivery_policy *policy)
{
    if (event == CHAT_ON_NO_MESSAGE)
        r->live = NULL; /* not after a later doubt either */
    r->generation++;
    r->since_ms = policy->now_ms;
    return chat_delivery_post(r);
}

static struct chat_delivery_decision
chat_delivery_shorten(struct chat_record *r, const char *reason,
                      const struct chat_delivery_policy *policy)
{
    r->message = NULL;
    r->generation++;
    r->since_ms = policy->now_ms;
    if (r->tried.cuts++ == 0) {
        r->omit |= TC_OMIT_FORMAT;
        chat_delivery_send_op(r, CHAT_POSTING, TC_OP_POST);
        return (struct chat_delivery_decision){.step = CHAT_STEP_CUT};
    }
    if (!policy->can_file)
        return chat_delivery_give_up(r, reason);
    r->file.name = "answer.md";
    r->file.type = "text/markdown; charset=utf-8";
    return chat_delivery_send_op(r, CHAT_FILING, TC_OP_FILE);
}

/* ---- doubts ---- */

static bool chat_delivery_has_key(const struct chat_record *r,
                                  const struct chat_delivery_policy *policy)
{
    return policy->idempotency == TC_IDEMPOTENCY_KEY &&
           (!policy->idempotency_ms || policy->now_ms - r->since_ms < policy->idempotency_ms);
}

/* Returns the delay before a resend. If several consecutive replies are lost, the service is
 * probably down. */
static int64_t chat_delivery_repeat_delay_ms(unsigned doubts)
{
    static const int64_t delays[CHAT_DOUBTS_MAX + 1] = {0, 0, 2000, 10000};
    return doubts <= CHAT_DOUBTS_MAX ? delays[doubts] : 0;
}

/* Returns the delay before the next probe, which grows with each error. */
static int64_t error_delay_of(unsigned errors)
{
    if (errors < 2)
        return 0;
    const unsigned doublings = errors - 2 < ERROR_DOUBLINGS ? errors - 2 : ERROR_DOUBLINGS;
    const int64_t ms = ERROR_MS << doublings;
    return ms < ERROR_MAX_MS ? ms : ERROR_MAX_MS;
}

/* Sends the message again with a mark, because the service cannot recognise a repeat; the number of
 * resends is limited. */
static struct chat_delivery_decision
chat_delivery_repeat_marked(struct chat_record *r, bool answered,
                            const struct chat_delivery_policy *policy)
{
    if (policy->drops_doubts)
        return chat_delivery_give_up(
            r, "delivery is uncertain: the service did not confirm the message");
    if (!answered && ++r->tried.doubts > CHAT_DOUBTS_MAX)
        return chat_delivery_give_up(
            r, "delivery is uncertain: too many replies of the service were lost");
    r->tried.marked = true;
    if (answered) {
        struct chat_delivery_decision probe =
            chat_delivery_send_op(r, CHAT_PROBING, TC_OP_IDENTIFY);
        probe.delay_ms = error_delay_of(++r->tried.errors);
        return probe;
    }
    if (r->part == 0 && r->live && policy->can_edit && !r->file.name &&
        strcmp(r->slot, CHAT_SLOT_ANSWER) == 0) {
        r->message = r->live;
        return chat_delivery_send_op(r, CHAT_EDITING, TC_OP_EDIT);
    }
    struct chat_delivery_decision d = chat_delivery_post(r);
    d.delay_ms = chat_delivery_repeat_delay_ms(r->tried.doubts);
    return d;
}

static struct chat_delivery_decision chat_delivery_search(struct chat_record *r)
{
    struct chat_delivery_decision d = chat_delivery_send_op(r, CHAT_FINDING, TC_OP_LOOKUP);
    const int64_t ms = error_delay_of(++r->tried.errors);
    d.delay_ms = ms > CHAT_LATE_MS ? ms : CHAT_LATE_MS;
    return d;
}

static struct chat_delivery_decision
chat_delivery_handle_doubt(struct chat_record *r, const struct chat_result *result,
                           const struct chat_delivery_policy *policy)
{
    if (chat_delivery_has_key(r, policy))
        return chat_delivery_let_host_repeat(result);
    if (policy->idempotency != TC_IDEMPOTENCY_LOOKUP)
        return chat_delivery_repeat_marked(r, result->answered, policy);
    return chat_delivery_search(r);
}

/* ---- results in each state ---- */

static struct chat_delivery_decision
chat_delivery_handle_empty(struct chat_record *r, const char *reason,
                           const struct chat_delivery_policy *policy)
{
    if (r->tried.was_empty || r->file.name)
        return chat_delivery_give_up(r, reason);
    r->tried.was_empty = true;
    r->text = r->plain = texts_get(TEXT_CHAT_EMPTY);
    r->entities = NULL;
    return chat_delivery_change(r, policy);
}

static struct chat_delivery_decision
chat_delivery_handle_moved(struct chat_record *r, const struct tc_result *to,
                           const struct chat_delivery_policy *policy)
{
    if (r->tried.moved || !to->chat)
        return chat_delivery_give_up(r, to->reason);
    r->tried.moved = true;
    r->target.chat = to->chat;
    r->omit |= TC_OMIT_REPLY | TC_OMIT_THREAD; /* their ids belong to the old chat */
    return chat_delivery_change(r, policy);
}

static struct chat_delivery_decision
chat_delivery_handle_post_result(struct chat_record *r, enum chat_delivery_event event,
                                 const struct chat_result *result,
                                 const struct chat_delivery_policy *policy)
{
    const char *const reason = result->result.reason;
    switch ((int)event) {
    case CHAT_ON_DELAYED:
    case CHAT_ON_LOCKED:
        return chat_delivery_let_host_repeat(result);
    case CHAT_ON_LOST:
    case CHAT_ON_UNCLEAR:
        return chat_delivery_handle_doubt(r, result, policy);
    case CHAT_ON_LONG:
        return r->file.name ? chat_delivery_give_up(r, reason)
                            : chat_delivery_shorten(r, reason, policy);
    case CHAT_ON_EMPTY:
        return chat_delivery_handle_empty(r, reason, policy);
    case CHAT_ON_NO_QUESTION:
    case CHAT_ON_NO_MESSAGE:
        return chat_delivery_omit_part(r, TC_OMIT_REPLY, reason, policy);
    case CHAT_ON_NO_THREAD:
        return chat_delivery_omit_part(r, TC_OMIT_THREAD, reason, policy);
    case CHAT_ON_MOVED:
        return chat_delivery_handle_moved(r, &result->result, policy);
    case CHAT_ON_NO_CHAT:
        return chat_delivery_give_up(r, reason);
    default: /* FORMAT, ABSENT, UNSUPPORTED, REFUSED */
        return r->file.name && event != CHAT_ON_FORMAT && event != CHAT_ON_REFUSED
                   ? chat_delivery_give_up(r, reason)
                   : chat_delivery_omit_part(r, TC_OMIT_FORMAT, reason, policy);
    }
}

static struct chat_delivery_decision
chat_delivery_handle_edit_result(struct chat_record *r, enum chat_delivery_event event,
                                 const struct chat_result *result,
                                 const struct chat_delivery_policy *policy)
{
    const char *const reason = result->result.reason;
    const bool changes =
        ((event == CHAT_ON_FORMAT || event == CHAT_ON_REFUSED) && !(r->omit & TC_OMIT_FORMAT)) ||
        (event == CHAT_ON_EMPTY && !r->tried.was_empty) ||
        (event == CHAT_ON_MOVED && !r->tried.moved && result->result.chat);
    switch ((int)event) {
    case CHAT_ON_DELAYED:
    case CHAT_ON_LOCKED:
    case CHAT_ON_LOST:
    case CHAT_ON_UNCLEAR: /* an edit can be repeated safely */
        return chat_delivery_let_host_repeat(result);
    case CHAT_ON_NO_CHAT:
        return chat_delivery_give_up(r, reason);
    case CHAT_ON_LONG:
        return chat_delivery_shorten(r, reason, policy);
    default:
        return changes ? chat_delivery_handle_post_result(r, event, result, policy)
                       : chat_delivery_post_instead(r, event, policy);
    }
}

static struct chat_delivery_decision
chat_delivery_handle_search_result(struct chat_record *r, enum chat_delivery_event event,
                                   const struct chat_result *result,
                                   const struct chat_delivery_policy *policy)
{
    switch ((int)event) {
    case CHAT_ON_ABSENT:
        return chat_delivery_post(r);
    case CHAT_ON_NO_CHAT:
        return chat_delivery_give_up(r, result->result.reason);
    case CHAT_ON_UNSUPPORTED:
    case CHAT_ON_REFUSED: /* unknown: continue as with a service that cannot search */
        if (policy->drops_doubts || ++r->tried.doubts > CHAT_DOUBTS_MAX)
            return chat_delivery_give_up(
                r, "delivery is uncertain: the service cannot search for the message");
        r->tried.marked = true;
        return chat_delivery_post(r);
    default:
        return chat_delivery_let_host_repeat(result);
    }
}

static struct chat_delivery_decision
chat_delivery_handle_probe_result(struct chat_record *r, enum chat_delivery_event event,
                                  const struct chat_result *result)
{
    /* A refusal also shows that the service works. */
    return event == CHAT_ON_CONFIRMED || event == CHAT_ON_REFUSED
               ? chat_delivery_post(r)
               : chat_delivery_let_host_repeat(result);
}

/* Delivers the end of a stream, which is sent in one form only: after any refusal, the text is sent
 * as messages. */
static struct chat_delivery_decision chat_delivery_end(struct chat_record *r,
                                                       enum chat_delivery_event event,
                                                       const struct chat_result *result,
                                                       const struct chat_delivery_policy *policy)
{
    switch ((int)event) {
    case CHAT_ON_DELAYED:
    case CHAT_ON_LOCKED:
        return chat_delivery_let_host_repeat(result);
    case CHAT_ON_LOST:
    case CHAT_ON_UNCLEAR: /* a repeat with the same key would be refused, because the stream has
                             ended */
        if (policy->repeats_end)
            return chat_delivery_let_host_repeat(result);
        return policy->idempotency == TC_IDEMPOTENCY_LOOKUP
                   ? chat_delivery_search(r)
                   : chat_delivery_repeat_marked(r, result->answered, policy);
    default:
        return chat_delivery_post(r);
    }
}

/* Delivers the rest of the answer after the end of a stream was confirmed: an append before it may
 * not have been executed. */
static struct chat_delivery_decision
chat_delivery_post_rest(struct chat_record *r, const struct chat_delivery_policy *policy)
{
    r->tried.marked |= policy->shown == CHAT_SHOWN_UNKNOWN;
    return chat_delivery_post(r);
}

static struct chat_delivery_decision chat_delivery_complete(struct chat_record *r)
{
    r->state = CHAT_DELIVERED;
    return (struct chat_delivery_decision){.step = CHAT_STEP_DONE};
}

struct chat_delivery_decision chat_delivery_next(struct chat_record *r,
                                                 const struct chat_result *result,
                                                 const struct chat_delivery_policy *policy)
{
    const enum chat_delivery_state from = r->state;
    const enum chat_delivery_event event = chat_delivery_classify_result(result, from);
    struct chat_delivery_decision d;
    ASSERT(from != CHAT_DELIVERED && from != CHAT_DEAD);
    if (event == CHAT_ON_CONFIRMED && from != CHAT_PROBING)
        d = r->beside.append && policy->shown != CHAT_SHOWN_ALL ? chat_delivery_post_rest(r, policy)
                                                                : chat_delivery_complete(r);
    else if (from == CHAT_ENDING)
        d = chat_delivery_end(r, event, result, policy);
    else if (from == CHAT_EDITING)
        d = chat_delivery_handle_edit_result(r, event, result, policy);
    else if (from == CHAT_FINDING)
        d = chat_delivery_handle_search_result(r, event, result, policy);
    else if (from == CHAT_PROBING)
        d = chat_delivery_handle_probe_result(r, event, result);
    else
        d = chat_delivery_handle_post_result(r, event, result, policy);
    ASSERT(chat_delivery_permits_transition(from, event, r->state));
    return d;
}
