/* SPDX-License-Identifier: MIT
 * Events that a plugin completes after their callback has returned (tc_hold), and descriptors that
 * it watches (tc_watch): for plugins with a child program.
 *
 * A held event keeps its turn alive, and keeps its outcome in the journal until it is released. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/invariant.h"
#include "plugin/instance/services_internal.h"

/* ---- held events ---- */

int64_t service_hold(struct tc_turn *turn)
{
    struct instance_turn *const t = instance_check_turn(turn, "tc_hold");
    if (!t || !services_check_offered(t->in, "tc_hold", t->in->host.has_process, OFFER_HOLD))
        return -1;
    struct instance *const in = t->in;
    if (t->held)
        return t->held;
    if (!t->delivering)
        return services_refuse(in, "tc_hold", "no event of this turn is being delivered");
    if (in->holds.n == INSTANCE_HOLDS)
        return services_refuse(in, "tc_hold", "too many events are held");
    if (!in->holds.held)
        in->holds.held = xcalloc(INSTANCE_HOLDS, sizeof *in->holds.held);
    const bool is_outcome = (in->loaded->plugin.flags & TC_DELIVERS) &&
                            (t->delivering->kind == TC_FINAL || t->delivering->kind == TC_ERROR);
    t->held = ++in->holds.last_number;
    in->holds.held[in->holds.n++] = (struct instance_hold){t->held, in->holds.task, t, is_outcome};
    t->requests++;
    return t->held;
}

static struct instance_hold *services_find_hold(struct instance *in, const struct instance_turn *t,
                                                int64_t number)
{
    for (size_t i = 0; i < in->holds.n; i++)
        if (in->holds.held[i].number == number && in->holds.held[i].turn == t)
            return &in->holds.held[i];
    return NULL;
}

static void services_remove_hold(struct instance *in, struct instance_hold *h)
{
    const size_t behind = in->holds.n - (size_t)(h - in->holds.held) - 1;
    ASSERT(h->turn->requests > 0);
    h->turn->requests--;
    memmove(h, h + 1, behind * sizeof *h);
    in->holds.n--;
}

void instance_drop_hold(struct instance_turn *t)
{
    struct instance_hold *const h = services_find_hold(t->in, t, t->held);
    t->held = 0;
    if (h)
        services_remove_hold(t->in, h);
}

/* Settled separately from the current callback's output, except requests of that turn, which
 * replace its outcome. */
static void services_end_hold(struct instance_turn *t, bool is_outcome, const char *failure)
{
    struct instance *const in = t->in;
    struct callback_batch *const own = is_outcome && !failure ? instance_take_requests(t) : NULL;
    struct callback_batch *const sending = in->sending;
    in->sending = own;
    instance_commit_batch(t, &(struct callback_outcome){
                                 .what = is_outcome ? BATCH_OUTCOME : BATCH_NOTHING,
                                 .failed = failure != NULL,
                                 .verdict = {.reason = failure},
                             });
    in->sending = sending;
}

int service_release(struct tc_turn *turn, int64_t number, const char *failure)
{
    struct instance_turn *const t = instance_check_turn(turn, "tc_release");
    struct instance_hold *const h = t ? services_find_hold(t->in, t, number) : NULL;
    if (!t)
        return -1;
    if (!h)
        return services_refuse(t->in, "tc_release", "no event is held by that number");
    if (t->held == number && failure)
        return services_refuse(t->in, "tc_release", "the callback of the event can return -1");
    const bool is_outcome = h->is_outcome, is_early = t->held == number;
    services_remove_hold(t->in, h);
    t->in->holds.has_released = true;
    if (is_early)
        t->held = 0; /* the return of its callback settles the event */
    else
        services_end_hold(t, is_outcome, failure);
    return 0;
}

void instance_set_task(struct instance *in, uint64_t task)
{
    in->holds.task = task;
}

uint64_t instance_oldest_held_task(const struct instance *in)
{
    return in->holds.n ? in->holds.held[0].task : UINT64_MAX;
}

bool instance_take_released(struct instance *in)
{
    const bool released = in->holds.has_released;
    in->holds.has_released = false;
    return released;
}

void service_pause(struct tc_instance *inst, bool on)
{
    struct instance *const in = instance_check_thread(inst, "tc_pause");
    if (in && services_check_offered(in, "tc_pause", in->host.has_process, OFFER_HOLD))
        in->holds.is_paused = on;
}

bool instance_is_paused(const struct instance *in)
{
    return in->holds.is_paused;
}

/* ---- watched descriptors ---- */

static size_t services_find_watched(const struct instance *in, int fd)
{
    size_t i = 0;
    while (i < in->holds.n_watched && in->holds.watched[i] != fd)
        i++;
    return i;
}

bool instance_is_watched(const struct instance *in, int fd)
{
    return services_find_watched(in, fd) < in->holds.n_watched;
}

int service_watch(struct tc_instance *inst, int fd)
{
    struct instance *const in = instance_check_thread(inst, "tc_watch");
    if (!in || !services_check_offered(in, "tc_watch", in->host.has_process, OFFER_WATCH))
        return -1;
    if (fd < 0)
        return services_refuse(in, "tc_watch", "the number is no descriptor");
    if (instance_is_watched(in, fd))
        return 0;
    if (in->holds.n_watched == INSTANCE_WATCHED)
        return services_refuse(in, "tc_watch", "too many descriptors are watched");
    in->holds.watched[in->holds.n_watched++] = fd;
    return 0;
}

void service_unwatch(struct tc_instance *inst, int fd)
{
    struct instance *const in = instance_check_thread(inst, "tc_unwatch");
    if (in && instance_is_watched(in, fd))
        in->holds.watched[services_find_watched(in, fd)] = in->holds.watched[--in->holds.n_watched];
}

size_t instance_watched_fds(const struct instance *in, int fds[INSTANCE_WATCHED])
{
    memcpy(fds, in->holds.watched, in->holds.n_watched * sizeof *fds);
    return in->holds.n_watched;
}
