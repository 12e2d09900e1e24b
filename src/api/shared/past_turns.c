/* SPDX-License-Identifier: MIT
 * Journal lookups for API clients, and encoding of a stored turn as JSON and as events. The journal
 * may call back after past_turns_free, so a pending lookup keeps the struct alive. */
#include "api/shared/past_turns.h"

#include <stdlib.h>
#include <string.h>

#include "api/shared/api_internal.h"
#include "base/alloc.h"
#include "event/json/json_writer.h"
#include "io/journal/journal_async.h"

#define CANCELLED "{\"cancelled\":true," /* prefix of the result of a stopped turn */

struct past {
    const struct api_context *api;
    unsigned asking; /* of the journal */
    bool gone;       /* struct is kept until all pending lookups are freed */
};

struct past_lookup {
    struct past *past;
    char *principal;
    bool sees_all;
    past_found *found;
    void *ctx;
};

struct past *past_turns_new(struct api_context *a)
{
    struct past *const p = xcalloc(1, sizeof *p);
    p->api = a;
    return p;
}

void past_turns_free(struct past *p)
{
    if (!p)
        return;
    p->gone = true;
    if (!p->asking)
        free(p);
}

/* ---- looking up ---- */

static bool past_turns_may_see(const struct past_lookup *l, const struct journal_turn *t)
{
    const char *const owner = turn_scheduler_owner(t);
    return l->sees_all || (owner && strcmp(owner, l->principal) == 0);
}

static void on_found(void *ctx, enum journal_status status, const struct journal_turn *t)
{
    struct past_lookup *const l = ctx;
    struct past *const p = l->past;
    const bool shown =
        status == JOURNAL_DONE && !p->gone && t->ended_ms && past_turns_may_see(l, t);
    l->found(l->ctx, shown ? t : NULL);
    free(l->principal);
    free(l);
    p->asking--;
    if (p->gone && !p->asking)
        free(p);
}

void past_turns_find(struct past *p, const char *turn, const struct auth_principal *who,
                     past_found *found, void *ctx)
{
    struct past_lookup *const l = xmalloc(sizeof *l);
    *l = (struct past_lookup){.past = p,
                              .principal = xstrdup(who->name),
                              .sees_all = who->grants & CONF_WATCH,
                              .found = found,
                              .ctx = ctx};
    p->asking++;
    journal_async_look_up(p->api->host.journal, turn, on_found, l);
}

/* ---- as JSON ---- */

static void past_turns_add_time(struct buf *out, const char *key, int64_t ms)
{
    if (ms)
        jsonw_member_int(out, key, ms);
}

/* The journal stores a stopped turn as final; its text begins with a mark. */
static bool past_turns_was_cancelled(const struct journal_turn *t)
{
    return str_has_prefix(t->result, STR(CANCELLED));
}

/* For a merged turn, the journal's code is the id of the turn that absorbed it. */
void past_turns_add(struct buf *out, const struct journal_turn *t)
{
    const bool merged = strcmp(t->state, "merged") == 0;
    const size_t skipped = past_turns_was_cancelled(t) ? strlen(CANCELLED) : 1;
    buf_add_char(out, '{');
    jsonw_member_str(out, "id", t->id);
    jsonw_member_str(out, "agent", t->agent);
    jsonw_member_str(out, "conversation", t->conv);
    jsonw_member_str(out, "source", t->source);
    jsonw_member_str(out, "state", past_turns_was_cancelled(t) ? "cancelled" : t->state);
    jsonw_member_str(out, merged ? "into" : "code", t->code);
    past_turns_add_time(out, "created_ms", t->admitted_ms);
    past_turns_add_time(out, "started_ms", t->began_ms);
    past_turns_add_time(out, "ended_ms", t->ended_ms);
    if (t->result.len > skipped + 1) { /* a JSON object, whose members are appended to those of the
                                        * turn */
        buf_add_char(out, ',');
        buf_add(out, t->result.p + skipped, t->result.len - skipped - 1);
    }
    buf_add_char(out, '}');
}

/* ---- as events ---- */

struct telling {
    const struct journal_turn *turn;
    json_t *result; /* or NULL */
    void (*tell)(void *ctx, const struct event *ev);
    void *ctx;
};

static void begin_event(const struct telling *t, struct event *ev, enum tc_kind kind)
{
    event_init(ev, kind);
    ev->meta.ts = (double)t->turn->ended_ms / 1000;
    ev->meta.src = "turncast";
    ev->meta.correlation_id = t->turn->id;
    ev->u.meta = &ev->meta;
}

static int64_t past_turns_number_of(const json_t *object, const char *key)
{
    const json_t *const value = json_object_get(object, key);
    return json_is_integer(value) ? json_integer_value(value) : -1;
}

static void past_turns_emit_usage(const struct telling *t)
{
    struct event ev;
    const json_t *const usage = json_object_get(t->result, "usage");
    if (!usage)
        return;
    begin_event(t, &ev, TC_USAGE);
    ev.u.usage.scope = "turn";
    ev.u.usage.input_tokens = past_turns_number_of(usage, "input_tokens");
    ev.u.usage.output_tokens = past_turns_number_of(usage, "output_tokens");
    t->tell(t->ctx, &ev);
}

static void past_turns_emit_outcome(const struct telling *t)
{
    struct event ev;
    const json_t *const answer = json_object_get(t->result, "answer");
    const char *const error = json_string_value(json_object_get(t->result, "error"));
    const bool failed = strcmp(t->turn->state, "final") != 0;
    begin_event(t, &ev, failed ? TC_ERROR : TC_FINAL);
    if (failed) {
        ev.u.error.code = t->turn->code ? t->turn->code : t->turn->state;
        ev.u.error.message = error ? error : "The turn has no answer.";
    } else {
        ev.u.final.text = answer ? json_string_value(answer) : "";
        ev.u.final.text_len = json_string_length(answer);
    }
    t->tell(t->ctx, &ev);
}

void past_turns_emit_events(const struct journal_turn *turn,
                            void (*tell)(void *ctx, const struct event *ev), void *ctx)
{
    struct event ev;
    const struct telling t = {
        .turn = turn,
        .result = turn->result.len ? json_loadb(turn->result.p, turn->result.len, 0, NULL) : NULL,
        .tell = tell,
        .ctx = ctx,
    };
    begin_event(&t, &ev, TC_START);
    ev.u.start.resumed = true;
    tell(ctx, &ev);
    past_turns_emit_usage(&t);
    past_turns_emit_outcome(&t);
    begin_event(&t, &ev, TC_DONE);
    ev.u.done.reason = past_turns_was_cancelled(turn)      ? "cancelled"
                       : strcmp(turn->state, "final") == 0 ? "completed"
                                                           : "error";
    tell(ctx, &ev);
    json_decref(t.result);
}
