/* SPDX-License-Identifier: MIT
 * Enters events of another host's turn in the turn log. */
#include "core/bus/bus_follow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "core/bus/bus_reader.h"

struct bus_follow {
    struct turnlog *log;
    struct bus_reader *reader;
    char id[65];
    struct visibility visible;
    struct showing showing;
    bool is_complete;
};

/* How viewers see an event under the agent's visibility: hidden, or stripped. */
static struct shared_event *bus_follow_strip(const struct bus_follow *f, const struct event *ev,
                                             enum visibility_decision view)
{
    CLEANUP_BUF struct buf text = {0};
    struct event draft = *ev;
    draft.u.meta = &draft.meta;
    if (view == VIEW_STRIP)
        visibility_strip(&f->visible, &draft);
    else
        visibility_tell_failure(&draft, &text);
    return shared_event_new(&draft);
}

static void bus_follow_on_event(void *ctx, struct event *ev, struct str line)
{
    struct bus_follow *const f = ctx;
    (void)line;
    const enum visibility_decision view = view_pairing_view(&f->showing, &f->visible, NULL, ev);
    struct shared_event *const stripped =
        view == VIEW_STRIP || view == VIEW_FAILURE ? bus_follow_strip(f, ev, view) : NULL;
    turnlog_append_remote(f->log, f->id, shared_event_new(ev), view == VIEW_HIDE, stripped);
}

static void bus_follow_on_skip(void *ctx, uint64_t up_to)
{
    const struct bus_follow *const f = ctx;
    turnlog_skip_remote(f->log, f->id, up_to);
}

static void bus_follow_on_batch(void *ctx, const struct bus_origin *from)
{
    (void)ctx;
    (void)from;
}

static enum bus_reader_turn bus_follow_look(void *ctx)
{
    const struct bus_follow *const f = ctx;
    const struct turnlog_turn *const t = turnlog_find_turn(f->log, f->id);
    if (!t || !turnlog_turn_is_finished(t))
        return BUS_READER_RUNS;
    /* no outcome: cancelled before it started, or merged into another turn */
    return t->started_ms ? BUS_READER_OVER : BUS_READER_EMPTY;
}

static void bus_follow_on_complete(void *ctx)
{
    struct bus_follow *const f = ctx;
    f->is_complete = true;
    turnlog_complete_remote(f->log, f->id);
}

static const struct bus_reader_sink sink = {bus_follow_on_event, bus_follow_on_skip,
                                            bus_follow_on_batch, bus_follow_look,
                                            bus_follow_on_complete};

struct bus_follow *bus_follow_new(struct bus_link *link, const struct turnlog_turn *t)
{
    struct bus_follow *const f = xcalloc(1, sizeof *f);
    f->log = link->turnlog;
    f->visible = visibility_resolve(t->visible);
    snprintf(f->id, sizeof f->id, "%s", t->spec.id);
    turnlog_skip_remote(f->log, f->id, 0);
    f->reader = bus_reader_new(link, f->id, t->spec.host, &sink, f);
    return f;
}

void bus_follow_free(struct bus_follow *f)
{
    if (!f)
        return;
    bus_reader_free(f->reader);
    view_pairing_fini(&f->showing);
    free(f);
}

void bus_follow_repair(struct bus_follow *f)
{
    bus_reader_repair(f->reader);
}

const char *bus_follow_turn(const struct bus_follow *f)
{
    return f->id;
}

bool bus_follow_is_complete(const struct bus_follow *f)
{
    return f->is_complete;
}
