/* SPDX-License-Identifier: MIT
 * Identification at the service, and polls for events: repeated without end, with back-off, from a
 * cursor that is on disk. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/sys/log.h"
#include "chat/chat_internal.h"

#define BACKOFF_MS 1000
#define BACKOFF_MAX_MS 30000
#define LOCKED_MS 300000
#define NOT_KEPT_MS 2000
#define TELL_AFTER 3
#define CURSOR_KEY "chat.cursor"

static int64_t backoff(unsigned failures)
{
    int64_t ms = BACKOFF_MS;
    for (unsigned i = 1; i < failures && ms < BACKOFF_MAX_MS; i++)
        ms *= 2;
    return ms < BACKOFF_MAX_MS ? ms : BACKOFF_MAX_MS;
}

static void chat_receive_send_identify(struct chat *c, int64_t delay_ms)
{
    chat_send(c, c->inst->lobby,
              &(struct chat_record){.op = TC_OP_IDENTIFY,
                                    .slot = CHAT_SLOT_IDENTIFY,
                                    .generation = ++c->receiving.asked},
              &(struct chat_send_extra){.delay_ms = delay_ms});
}

static void chat_receive_send_poll(struct chat *c, int64_t delay_ms)
{
    if (chat_can(c, TC_OP_POLL))
        chat_send(c, c->inst->lobby,
                  &(struct chat_record){.op = TC_OP_POLL,
                                        .slot = CHAT_SLOT_POLL,
                                        .cursor = c->receiving.cursor,
                                        .generation = ++c->receiving.asked},
                  &(struct chat_send_extra){.delay_ms = delay_ms});
}

void chat_receive_begin(struct chat *c)
{
    c->receiving.cursor = xstrdup(tc_load(c->inst, CURSOR_KEY));
    c->receiving.asked = (unsigned)chat_unix_ms() & INT32_MAX;
    chat_receive_send_identify(c, 0);
}

void chat_receive_identify(struct chat *c)
{
    chat_receive_send_identify(c, 0);
}

bool chat_receive_is_stale(const struct chat *c, const struct chat_record *r)
{
    const bool receives =
        chat_record_is_slot(r, CHAT_SLOT_POLL) || chat_record_is_slot(r, CHAT_SLOT_IDENTIFY);
    return receives && r->generation != c->receiving.asked;
}

/* Counts a failure and returns the back-off; a series of failures is logged once. */
static int64_t chat_receive_count_failure(struct chat *c, const struct chat_result *result,
                                          const char *what)
{
    const struct tc_result *const r = &result->result;
    if (++c->receiving.failures == TELL_AFTER)
        tc_log(c->inst, TC_WARN, "%s does not succeed: %s; retrying", what,
               r->reason && *r->reason ? r->reason : "no reason given");
    return r->hold_ms > 0 ? r->hold_ms : backoff(c->receiving.failures);
}

static void chat_receive_reset_failures(struct chat *c)
{
    if (c->receiving.locked)
        tc_log(c->inst, TC_INFO, "the service accepts the credentials again");
    else if (c->receiving.failures >= TELL_AFTER)
        tc_log(c->inst, TC_INFO, "the service answers again");
    c->receiving.failures = 0;
    c->receiving.locked = false;
}

void chat_receive_lock(struct chat *c, const char *reason)
{
    if (!c->receiving.locked)
        tc_log(c->inst, TC_ERR,
               "the service refuses the credentials (%s); correct them and restart the instance; "
               "answers wait, the next attempt follows in %d min",
               reason && *reason ? reason : "no reason given", LOCKED_MS / 60000);
    c->receiving.locked = true;
}

/* Resets or counts failures. False: the request has failed, and another one follows later: `again`,
 * or an identification if the credentials are rejected. */
static bool chat_receive_check_result(struct chat *c, const struct chat_result *result,
                                      const char *what,
                                      void (*again)(struct chat *, int64_t delay_ms))
{
    const struct tc_result *const r = &result->result;
    if (r->kind == TC_RESULT_UNAUTHORIZED) {
        chat_receive_lock(c, r->reason);
        chat_receive_send_identify(c, LOCKED_MS);
    } else if (r->kind != TC_RESULT_DONE) {
        again(c, chat_receive_count_failure(c, result, what));
    } else {
        chat_receive_reset_failures(c);
    }
    return r->kind == TC_RESULT_DONE;
}

void chat_receive_handle_identity(struct chat *c, const struct chat_result *result)
{
    const struct tc_result *const r = &result->result;
    if (!chat_receive_check_result(c, result, "identification at the service",
                                   chat_receive_send_identify))
        return;
    free(c->receiving.self);
    c->receiving.self = xstrdup(r->message);
    chat_menu_publish(c);
    if (!c->table.ready || c->table.ready(c->inst->lobby, r) == 0)
        chat_receive_send_poll(c, 0);
}

static void chat_receive_store_cursor(struct chat *c, const char *cursor)
{
    if (!cursor || (c->receiving.cursor && strcmp(c->receiving.cursor, cursor) == 0))
        return;
    free(c->receiving.cursor);
    c->receiving.cursor = xstrdup(cursor);
    tc_store(c->inst, CURSOR_KEY, cursor);
}

void chat_receive_handle_poll(struct chat *c, const struct chat_result *result)
{
    const struct tc_result *const r = &result->result;
    const bool refused = c->receiving.not_kept;
    c->receiving.not_kept = false;
    if (!chat_receive_check_result(c, result, "polling", chat_receive_send_poll))
        return;
    chat_receive_store_cursor(c, r->cursor);
    chat_receive_send_poll(c, refused ? NOT_KEPT_MS : r->hold_ms);
}

void chat_receive_handle_drop(struct chat *c, const struct chat_record *r, const char *reason)
{
    const struct chat_result result = {
        .result = {.size = sizeof result.result, .kind = TC_RESULT_RETRY, .reason = reason}};
    if (chat_record_is_slot(r, CHAT_SLOT_POLL))
        chat_receive_handle_poll(c, &result);
    else if (chat_record_is_slot(r, CHAT_SLOT_IDENTIFY))
        chat_receive_handle_identity(c, &result);
}
