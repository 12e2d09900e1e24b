/* SPDX-License-Identifier: MIT
 * One guest turn (guest_turns.h).
 *
 *   step    | request                                               | next
 *   --------+-------------------------------------------------------+------------------------------
 *   ASK     | to the host of the turn: the route and the state of   | LOOK UP; or it ends
 *           | the instance, if the turn runs there                  |
 *   LOOK UP | to the journal: a turn that it knows was received     | READ; or it ends
 *           | with its outcome, or adopted                          |
 *   READ    | the events of the turn, from the first one on         | the outcome is there
 *
 * The outcome is dispatched when it is in the journal and the events before it have been read, but
 * at most OUTCOME_WAIT_MS later. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/invariant.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "core/host/guest_internal.h"
#include "event/codec.h"
#include "event/json/json_reader.h"
#include "event/json/json_writer.h"

#define OUTCOME_WAIT_MS 1000
#define LOST_MS 30000 /* longest wait for the outcome after the end of the events has been read */

/* ---- end ---- */

static void guest_turn_free(struct guest_turn *t)
{
    LIST_REMOVE(t, next);
    buf_fini(&t->outcome);
    free(t->memory);
    free(t->route);
    arena_fini(&t->arena);
    free(t);
}

/* Must not be called from a callback of the reader, which it frees. */
void guest_turn_end(struct guest_turn *t, bool is_suspended)
{
    ASSERT(!t->is_over);
    t->is_over = true;
    if (t->turn && is_suspended)
        dispatch_suspend_guest(t->turn);
    dispatch_close_turn(t->turn);
    t->turn = NULL;
    bus_reader_free(t->reader);
    t->reader = NULL;
    loop_timer_free(t->timer);
    if (!t->awaits_reply)
        guest_turn_free(t);
}

/* ---- the outcome ---- */

static void guest_turn_dispatch_outcome(struct guest_turn *t)
{
    struct arena arena = {0};
    struct event ev;
    const char *why = "";
    if (codec_decode(&ev, &arena, t->outcome.p, t->outcome.len, &why) == 0) {
        dispatch_end_guest(t->turn, &ev);
        guest_turn_end(t, false);
    } else {
        log_write(LOG_ERR, "host", "turn %s: the outcome of host \"%s\" is corrupt: %s", t->id,
                  t->host, why);
        guest_turn_end(t, true);
    }
    arena_fini(&arena);
}

static void guest_turn_on_timer(void *arg)
{
    struct guest_turn *const t = arg;
    if (t->outcome.len && t->turn && dispatch_has_guest(t->turn))
        guest_turn_dispatch_outcome(t);
    else
        guest_turn_end(t, true); /* an outcome in the journal is delivered at the next start */
}

bool guest_turn_set_outcome(struct guest_turn *t, struct str line)
{
    if (!t->turn || t->is_part || !line.len || !dispatch_has_guest(t->turn))
        return false;
    buf_reset(&t->outcome);
    buf_add(&t->outcome, line.p, line.len);
    loop_timer_set(t->timer, t->has_reached ? 0 : OUTCOME_WAIT_MS);
    return true;
}

static void guest_turn_reach(struct guest_turn *t)
{
    if (t->has_reached)
        return;
    t->has_reached = true;
    loop_timer_set(t->timer, t->outcome.len || t->is_part ? 0 : LOST_MS);
}

/* ---- events ---- */

static struct dispatch_turn *guest_turn_open_here(const struct guest_turn *t)
{
    const struct turnlog_turn *const known = turnlog_find_turn(t->all->spec.turnlog, t->id);
    if (!known || !known->spec.host)
        return NULL;
    return dispatch_open_guest(
        t->all->spec.dispatch,
        &(struct dispatch_guest_spec){.turn = {.id = t->id,
                                               .agent = known->spec.agent,
                                               .conversation = known->spec.conversation,
                                               .submitter = known->spec.source,
                                               .route = t->route,
                                               .visibility = visibility_resolve(known->visible)},
                                      .instance = t->instance,
                                      .memory = t->memory,
                                      .is_part = t->is_part});
}

static void guest_turn_pass(const struct guest_turn *t, struct event *ev)
{
    if (t->turn)
        dispatch_event(t->turn, ev);
}

/* After a restart of its host, a turn that runs on a third host is published from its beginning
 * again. Any other turn has only its outcome left, for which the instance needs no new start. */
static void guest_turn_start_again(struct guest_turn *t)
{
    struct event start;
    t->starts_again = false;
    if (!t->turn)
        return;
    dispatch_suspend_guest(t->turn);
    dispatch_close_turn(t->turn);
    t->turn = guest_turn_open_here(t);
    event_init_resumed(&start, t->id, clock_wall_s());
    guest_turn_pass(t, &start);
}

static void guest_turn_on_event(void *ctx, struct event *ev, struct str line)
{
    struct guest_turn *const t = ctx;
    const bool is_root = !ev->meta.agent && !ev->meta.parent_id;
    (void)line;
    if (is_root && (ev->kind == TC_FINAL || ev->kind == TC_ERROR) && !t->is_part)
        guest_turn_reach(t);
    if (t->has_reached)
        return;
    if (is_root && ev->kind == TC_START && t->has_started) {
        t->starts_again = true;
        return;
    }
    if (t->starts_again)
        guest_turn_start_again(t);
    if (is_root && ev->kind == TC_START)
        ev->u.start.resumed |= t->memory != NULL;
    t->has_started = true;
    guest_turn_pass(t, ev);
    if (is_root && ev->kind == TC_DONE)
        guest_turn_reach(t);
}

static void guest_turn_on_skip(void *ctx, uint64_t up_to)
{
    (void)ctx, (void)up_to;
}

static void guest_turn_on_batch(void *ctx, const struct bus_origin *from)
{
    (void)ctx, (void)from;
}

static enum bus_reader_turn guest_turn_look(void *ctx)
{
    const struct guest_turn *const t = ctx;
    const struct turnlog_turn *const known = turnlog_find_turn(t->all->spec.turnlog, t->id);
    if (!known || !turnlog_turn_is_finished(known))
        return BUS_READER_RUNS;
    return known->started_ms ? BUS_READER_OVER : BUS_READER_EMPTY;
}

static void guest_turn_on_complete(void *ctx)
{
    guest_turn_reach(ctx);
}

static const struct bus_reader_sink sink = {guest_turn_on_event, guest_turn_on_skip,
                                            guest_turn_on_batch, guest_turn_look,
                                            guest_turn_on_complete};

/* ---- its beginning ---- */

static void guest_turn_open(struct guest_turn *t)
{
    t->turn = guest_turn_open_here(t);
    if (t->turn)
        t->reader = bus_reader_new(t->all->link, t->id, t->host, &sink, t);
    else
        guest_turn_end(t, false);
}

static void guest_turn_on_looked_up(void *ctx, enum journal_status status,
                                    const struct journal_turn *turn)
{
    struct guest_turn *const t = ctx;
    (void)turn;
    t->awaits_reply = false;
    if (t->is_over)
        guest_turn_free(t);
    else if (status == JOURNAL_NO_CHANGE)
        guest_turn_open(t);
    else
        guest_turn_end(t, false);
}

static char *guest_turn_read_text(struct guest_turn *t, struct str body, const char *pointer)
{
    const struct str raw = bus_message_text(body, pointer);
    return raw.len ? xstrdup(json_reader_unescape(&t->arena, raw, NULL)) : NULL;
}

static void guest_turn_on_answer(void *ctx, enum nats_client_result result, struct str body)
{
    struct guest_turn *const t = ctx;
    t->awaits_reply = false;
    if (t->is_over) {
        guest_turn_free(t);
    } else if (result == NATS_CLIENT_REPLIED &&
               str_is(json_reader_pointer(body, "/runs"), "true")) {
        t->route = guest_turn_read_text(t, body, "/route");
        t->memory = guest_turn_read_text(t, body, "/memory");
        t->awaits_reply = true;
        journal_async_look_up(t->all->spec.journal, t->id, guest_turn_on_looked_up, t);
    } else {
        guest_turn_end(t, false); /* it is looked at again soon */
    }
}

void guest_turn_new(struct guest_turns *g, const struct turnlog_turn *known, const char *instance,
                    bool is_part)
{
    CLEANUP_BUF struct buf body = {0};
    struct guest_turn *const t = xcalloc(1, sizeof *t);
    t->all = g;
    t->id = arena_strdup(&t->arena, known->spec.id);
    t->host = arena_strdup(&t->arena, known->spec.host);
    t->instance = arena_strdup(&t->arena, instance);
    t->is_part = is_part;
    t->timer = loop_timer_new(g->spec.loop, guest_turn_on_timer, t);
    LIST_INSERT_HEAD(&g->turns, t, next);
    buf_add_char(&body, '{');
    jsonw_member_str(&body, "turn", t->id);
    jsonw_member_str(&body, "instance", t->instance);
    buf_add_char(&body, '}');
    t->awaits_reply = true;
    bus_ask(g->spec.bus, t->host, GUEST_ABOUT, (struct str){body.p, body.len}, guest_turn_on_answer,
            t);
}
