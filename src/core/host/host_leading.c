/* SPDX-License-Identifier: MIT
 * Owns the order in which an instance that this host leads is started and ended. */
#include "core/host/host_leading.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "core/host/begun_turns.h"
#include "core/host/unfinished_turns.h"

struct host_leading {
    struct work *work;
    struct changes *changes;
    struct instance_leaders *leaders; /* NULL: it was stopped */
    struct guest_turns *guests;
    struct request_forwarding *requests;
    struct outcome_forwarding *forwarding;
    struct adoption *adoption; /* or NULL */
    struct begun_turns *begun; /* or NULL */
    struct instance_texts *texts;
    struct unfinished_turns *unfinished;
};

static void host_leading_on_prepared(void *ctx, const char *instance)
{
    const struct host_leading *const l = ctx;
    instance_changes_lead(l->changes, instance);
}

static void host_leading_on_resolved(void *ctx, const char *instance)
{
    struct host_leading *const l = ctx;
    instance_texts_prepare(l->texts, instance, host_leading_on_prepared, l);
}

static void host_leading_on_checked(void *ctx, const char *instance)
{
    struct host_leading *const l = ctx;
    request_forwarding_prepare(l->requests, instance, host_leading_on_resolved, l);
}

static void host_leading_on_gained(void *ctx, const char *instance)
{
    struct host_leading *const l = ctx;
    adoption_prepare(l->adoption, instance, host_leading_on_checked, l);
}

static void host_leading_on_losing(void *ctx, const char *instance)
{
    const struct host_leading *const l = ctx;
    instance_texts_flush(l->texts, instance);
}

struct host_leading *host_leading_new(const struct leading_parts *parts)
{
    struct host_leading *const l = xcalloc(1, sizeof *l);
    l->work = parts->work;
    l->changes = parts->changes;
    l->leaders =
        instance_leaders_new(&(struct instance_leaders_spec){.bus = parts->bus,
                                                             .dispatch = parts->dispatch,
                                                             .changes = parts->changes,
                                                             .gained = host_leading_on_gained,
                                                             .losing = host_leading_on_losing,
                                                             .ctx = l});
    l->guests = guest_turns_new(&(struct guest_turns_spec){.loop = parts->loop,
                                                           .bus = parts->bus,
                                                           .hosts = parts->hosts,
                                                           .work = parts->work,
                                                           .turnlog = parts->turnlog,
                                                           .journal = parts->journal,
                                                           .dispatch = parts->dispatch,
                                                           .leaders = l->leaders});
    l->requests = request_forwarding_new(parts, l->leaders);
    l->forwarding = outcome_forwarding_new(parts, l->leaders, l->guests, l->requests);
    l->adoption = adoption_new(parts, l->leaders, l->guests);
    l->begun = begun_turns_new(parts);
    l->texts = instance_texts_new(&(struct instance_texts_spec){.bus = parts->bus,
                                                                .work = parts->work,
                                                                .journal = parts->journal,
                                                                .leaders = l->leaders,
                                                                .wait_ms = INSTANCE_TEXTS_WAIT_MS});
    l->unfinished = unfinished_turns_new(parts->bus, parts->journal);
    return l;
}

void host_leading_update(struct host_leading *l)
{
    if (!l || !l->leaders)
        return;
    instance_leaders_update(l->leaders);
    request_forwarding_update(l->requests);
    outcome_forwarding_update(l->forwarding);
}

bool host_leading_leads(const struct host_leading *l, const char *instance)
{
    return l && l->leaders && instance_leaders_leads(l->leaders, instance);
}

struct instance_leaders *host_leading_get_leaders(const struct host_leading *l)
{
    return l ? l->leaders : NULL;
}

const struct instance_texts *host_leading_get_texts(const struct host_leading *l)
{
    return l ? l->texts : NULL;
}

void host_leading_add_outcome(struct host_leading *l, const char *instance, const char *turn,
                              struct str line)
{
    if (l)
        outcome_forwarding_add(l->forwarding, instance, turn, line);
}

void host_leading_store(struct host_leading *l, const char *instance, const char *key,
                        const char *text)
{
    if (l)
        instance_texts_store(l->texts, instance, key, text);
}

void host_leading_remember(struct host_leading *l, const char *instance, const char *turn,
                           const char *text)
{
    if (!l)
        return;
    work_share_remember(l->work, instance, turn, text);
    guest_turns_remember(l->guests, instance, turn, text);
}

bool host_leading_begin_delivery(struct host_leading *l, const char *instance, const char *turn)
{
    return l && work_share_begin_delivery(l->work, instance, turn);
}

bool host_leading_is_adopted(const struct host_leading *l, const char *instance, const char *turn)
{
    return l && work_share_is_adopted(l->work, instance, turn);
}

void host_leading_set_aside(struct host_leading *l, bool is_aside)
{
    if (l && l->leaders)
        instance_leaders_set_aside(l->leaders, is_aside);
}

void host_leading_retire(struct host_leading *l)
{
    if (!l)
        return;
    adoption_stop(l->adoption);
    begun_turns_stop(l->begun);
    guest_turns_retire(l->guests);
    if (l->leaders)
        instance_leaders_retire(l->leaders);
}

void host_leading_drain(struct host_leading *l, int64_t ms)
{
    if (!l)
        return;
    instance_texts_drain(l->texts, ms);
    work_share_drain(l->work, ms);
}

void host_leading_stop(struct host_leading *l)
{
    if (!l)
        return;
    adoption_stop(l->adoption);
    begun_turns_stop(l->begun);
    request_forwarding_stop(l->requests);
    outcome_forwarding_stop(l->forwarding);
    instance_texts_stop(l->texts);
    unfinished_turns_stop(l->unfinished);
    guest_turns_stop(l->guests);
    instance_leaders_free(l->leaders);
    l->leaders = NULL;
}

void host_leading_free(struct host_leading *l)
{
    if (!l)
        return;
    outcome_forwarding_free(l->forwarding);
    request_forwarding_free(l->requests);
    guest_turns_free(l->guests);
    adoption_free(l->adoption);
    begun_turns_free(l->begun);
    instance_texts_free(l->texts);
    unfinished_turns_free(l->unfinished);
    free(l);
}
