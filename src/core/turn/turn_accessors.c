/* SPDX-License-Identifier: MIT
 * Accessors of a turn: functions that only read or set members. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/sys/clock.h"
#include "core/turn/turn_internal.h"
#include "turn/agent_input.h"

void turn_set_line_cb(struct turn *t, void (*fn)(void *ctx, const char *line, size_t len),
                      void *ctx)
{
    t->watch = fn;
    t->watch_ctx = ctx;
}

const char *turn_acting_tool(const struct turn *t)
{
    return t->acting_tool;
}

void turn_ignore_outcome(struct turn *t)
{
    t->abandoned = true;
}

const char *turn_session_id(const struct turn *t)
{
    return t->guard.session_id ? t->guard.session_id : "";
}

void turn_set_spent(struct turn *t, const char *text)
{
    free(t->spent.before);
    t->spent.before = text ? xstrdup(text) : NULL;
}

const char *turn_spent(const struct turn *t)
{
    return t->spent.total;
}

const char *turn_id(const struct turn *t)
{
    return t->id;
}

const struct dialect *turn_dialect(const struct turn *t)
{
    return t->dialect;
}

bool turn_is_unmatched(const struct turn *t)
{
    return t->stream && translator_is_unmatched(&t->stream->translate);
}

const struct turn_result *turn_get_result(const struct turn *t)
{
    return &t->result;
}

int64_t turn_elapsed_ms(const struct turn *t)
{
    return (turn_has_ended(t) ? t->ended_ms : clock_mono_ms()) - t->began_ms;
}

bool turn_has_open_request(const struct turn *t)
{
    return guard_has_open_request(&t->guard) && agent_input_can_answer(t->dialect);
}

void turn_stop_at_outcome(struct turn *t)
{
    t->stops = true;
}

bool turn_is_flushed(const struct turn *t)
{
    return !turn_waits_for_commit(t);
}

struct dispatch_turn *turn_get_dispatch(const struct turn *t)
{
    return t->cast;
}

enum language turn_language(const struct turn *t)
{
    return t->owner.language;
}
